//! The deadlines of a connection, by a clock that runs ahead.

use tokio::io::AsyncWriteExt as _;

use super::*;

const BOUNDS: ConnectionBounds = ConnectionBounds {
    head_timeout: Duration::from_secs(10),
    idle_timeout: Duration::from_secs(60),
    ..ConnectionBounds::DEFAULT
};

/// After how many seconds the connection is too slow, as it stands.
async fn seconds(pace: &Pace) -> u64 {
    let from = Instant::now();
    pace.too_slow(&BOUNDS).await;
    from.elapsed().as_secs()
}

/// contract 14.20: a head has its bound, and so has a silence.
#[tokio::test(start_paused = true)]
async fn heads_and_silence_have_bounds() {
    let pace = Pace::new();
    assert_eq!(seconds(&pace).await, 10, "the first head is awaited");

    let pace = Pace::new();
    let (mut client, server) = tokio::io::duplex(64);
    let mut server = Paced::new(server, pace.clone());
    pace.begin_answer();
    tokio::time::advance(Duration::from_secs(300)).await;
    pace.end_answer(0);
    assert!(pace.has_asked());
    assert_eq!(seconds(&pace).await, 60, "an answer may take its time; then it is idle");

    // A head that never ends, however diligently it is sent.
    pace.end_answer(0);
    let slowly = async {
        for _ in 0..100 {
            tokio::time::sleep(Duration::from_secs(1)).await;
            client.write_all(b"x").await.unwrap();
            server.read_u8().await.unwrap();
        }
    };
    let from = Instant::now();
    tokio::select! {
        () = pace.too_slow(&BOUNDS) => {}
        () = slowly => panic!("it was never too slow"),
    }
    // A second until its first byte.
    assert!((11..=13).contains(&from.elapsed().as_secs()), "{:?}", from.elapsed());
}

/// The first byte is waited for alone, and is read with the others.
#[tokio::test]
async fn the_first_byte_comes_first() {
    for sent in ["G", "GET /"] {
        let (mut client, server) = tokio::io::duplex(64);
        let mut server = Paced::new(server, Pace::new());
        client.write_all(sent.as_bytes()).await.unwrap();
        server.begin().await.unwrap();
        drop(client);
        let mut read = [0; 64];
        assert_eq!(server.read(&mut read).await.unwrap(), sent.len());
        assert_eq!(&read[..sent.len()], sent.as_bytes());
        assert_eq!(server.read(&mut read).await.unwrap(), 0);
    }
    let (client, server) = tokio::io::duplex(64);
    drop(client);
    assert!(Paced::new(server, Pace::new()).begin().await.is_err(), "the end is no byte");
}

#[tokio::test(start_paused = true)]
async fn whoever_does_not_read_is_idle() {
    let pace = Pace::new();
    let (_client, server) = tokio::io::duplex(4);
    let mut server = Paced::new(server, pace.clone());
    pace.begin_answer();
    pace.end_answer(14);
    tokio::select! {
        () = pace.too_slow(&BOUNDS) => {}
        written = server.write_all(b"more than fits") => panic!("{written:?}"),
    }
}

/// A client that takes so many bytes of an answer a second, over a small window, and
/// sends the next request meanwhile; after how many seconds it is too slow, if ever.
async fn too_slow_at(answer: u64, bytes_per_second: usize) -> Option<u64> {
    let pace = Pace::new();
    let (mut client, server) = tokio::io::duplex(bytes_per_second);
    let mut server = Paced::new(server, pace.clone());
    pace.begin_answer();
    pace.end_answer(answer);
    client.write_all(b"G").await.unwrap();
    server.read_u8().await.unwrap();
    let from = Instant::now();
    let answered = async {
        let body = vec![0; answer as usize];
        let taken = async {
            let mut taken = vec![0; bytes_per_second];
            while client.read(&mut taken).await.unwrap() > 0 {
                tokio::time::sleep(Duration::from_secs(1)).await;
            }
        };
        let written = async {
            server.write_all(&body).await.unwrap();
            drop(server);
        };
        tokio::join!(taken, written);
    };
    tokio::select! {
        () = pace.too_slow(&BOUNDS) => Some(from.elapsed().as_secs()),
        () = answered => None,
    }
}

/// contract 14.20: a client that takes an answer byte by byte does not keep it for ever; one that
/// takes it in time is not mistaken for one whose next head is slow.
#[tokio::test(start_paused = true)]
async fn answers_have_a_least_pace() {
    assert_eq!(too_slow_at(4 << 20, 32 << 10).await, None, "it takes 128 s");
    let slow = too_slow_at(4 << 20, 1 << 10).await.unwrap();
    // 60 s, and 4 MiB at 16 KiB a second.
    assert!((316..=319).contains(&slow), "{slow}");
    assert_eq!(too_slow_at(100, 1).await.map(|slow| slow / 4), Some(15), "after the silence");
}

/// A client that sends one request after another does not get the time for an answer again
/// with each: not when it reads nothing, and not when it reads too little.
#[tokio::test(start_paused = true)]
async fn more_requests_gain_no_time() {
    for (takes, expected) in [(false, 60..=63), (true, 316..=319)] {
        let pace = Pace::new();
        pace.begin_answer();
        pace.end_answer(4 << 20);
        let from = Instant::now();
        let more = async {
            for _ in 0..20 {
                tokio::time::sleep(Duration::from_secs(50)).await;
                if takes {
                    pace.wrote(1);
                }
                pace.begin_answer();
                pace.end_answer(1);
            }
        };
        tokio::select! {
            () = pace.too_slow(&BOUNDS) => {}
            () = more => panic!("it was never too slow"),
        }
        assert!(expected.contains(&from.elapsed().as_secs()), "{takes} {:?}", from.elapsed());
    }
}

/// Bytes that the kernel does not take have their deadline whatever else goes on: before any
/// answer, while one is made, and while the client sends more and more.
#[tokio::test(start_paused = true)]
async fn unread_bytes_have_a_deadline_in_every_state() {
    for (name, is_answering, sends) in [
        ("idle", false, false),
        ("answering", true, false),
        ("sending", false, true),
        ("answering and sending", true, true),
    ] {
        let pace = Pace::new();
        let (mut client, server) = tokio::io::duplex(64);
        let (mut read, mut write) = tokio::io::split(Paced::new(server, pace.clone()));
        pace.begin_answer();
        if !is_answering {
            pace.end_answer(0);
        }
        let continues = async {
            loop {
                write.write_all(b"HTTP/1.1 100 Continue\r\n\r\n").await.unwrap();
                write.flush().await.unwrap();
            }
        };
        let sending = async {
            if !sends {
                std::future::pending::<()>().await;
            }
            loop {
                tokio::time::sleep(Duration::from_secs(9)).await;
                client.write_all(b"x").await.unwrap();
                read.read_u8().await.unwrap();
            }
        };
        let from = Instant::now();
        tokio::select! {
            () = pace.too_slow(&BOUNDS) => {}
            () = continues => unreachable!("they are written for ever"),
            () = sending => unreachable!("they are sent for ever"),
        }
        assert!(pace.is_owed(), "{name}");
        assert!((60..=63).contains(&from.elapsed().as_secs()), "{name} {:?}", from.elapsed());
    }
}

/// Bytes that the kernel took, however late, are owed no more.
#[tokio::test(start_paused = true)]
async fn a_debt_ends_with_the_last_byte() {
    let pace = Pace::new();
    let (mut client, server) = tokio::io::duplex(4);
    let mut server = Paced::new(server, pace.clone());
    pace.begin_answer();
    pace.end_answer(8);
    let taken = async {
        tokio::time::sleep(Duration::from_secs(50)).await;
        client.read_exact(&mut [0; 12]).await.unwrap();
    };
    let written = async {
        server.write_all(b"headers body").await.unwrap();
        server.flush().await.unwrap();
    };
    tokio::join!(taken, written);
    assert!(!pace.is_owed());
    assert_eq!(seconds(&pace).await, 60, "it is idle");
}

/// contract 13.14: an answer that is not made in time becomes a 503; a connection that cannot even
/// make that ends.
#[tokio::test(start_paused = true)]
async fn answers_are_made_in_time() {
    let bounds = ConnectionBounds { answer_timeout: Duration::from_secs(100), ..BOUNDS };
    let pace = Pace::new();
    pace.begin_answer();
    let from = Instant::now();
    // In one task with the answer, as in a connection.
    let answered = std::future::poll_fn(|_| match pace.is_overdue() {
        true => Poll::Ready(()),
        false => Poll::Pending,
    });
    tokio::select! {
        biased;
        () = answered => {}
        () = pace.too_slow(&bounds) => panic!("it ended after {:?}", from.elapsed()),
    }
    assert!((100..=103).contains(&from.elapsed().as_secs()), "{:?}", from.elapsed());
    pace.end_answer(0);
    assert!(!pace.is_overdue());
    assert_eq!(seconds(&pace).await, 60, "it goes on, and is idle");

    pace.begin_answer();
    let from = Instant::now();
    pace.too_slow(&bounds).await;
    assert!((40..=43).contains(&from.elapsed().as_secs()), "{:?}", from.elapsed());
}
