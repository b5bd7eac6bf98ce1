//! The deadlines of a connection, tested with a paused clock.

use tokio::io::AsyncWriteExt as _;

use super::*;

const BOUNDS: ConnectionBounds = ConnectionBounds {
    head_timeout: Duration::from_secs(10),
    idle_timeout: Duration::from_secs(60),
    ..ConnectionBounds::DEFAULT
};

const RATE: u64 = ConnectionBounds::DEFAULT.answer_bytes_per_second;

/// The seconds after which the connection expires when nothing more happens on it.
async fn seconds(timeouts: &Timeouts) -> u64 {
    let from = Instant::now();
    timeouts.expired(&BOUNDS).await;
    from.elapsed().as_secs()
}

/// contract 14.20: reading a head has a deadline, and so has silence.
#[tokio::test(start_paused = true)]
async fn heads_and_silence_have_bounds() {
    let timeouts = Timeouts::new(RATE);
    assert_eq!(seconds(&timeouts).await, 10, "the first head is awaited");

    let timeouts = Timeouts::new(RATE);
    let (mut client, server) = tokio::io::duplex(64);
    let mut server = TimedStream::new(server, timeouts.clone());
    timeouts.begin_answer();
    tokio::time::advance(Duration::from_secs(300)).await;
    timeouts.end_answer(0);
    assert!(timeouts.has_had_head());
    assert_eq!(
        seconds(&timeouts).await,
        60,
        "an answer has no head's deadline; afterwards the connection is idle"
    );

    // A head that never ends, although its bytes keep coming.
    timeouts.end_answer(0);
    let slowly = async {
        for _ in 0..100 {
            tokio::time::sleep(Duration::from_secs(1)).await;
            client.write_all(b"x").await.unwrap();
            server.read_u8().await.unwrap();
        }
    };
    let from = Instant::now();
    tokio::select! {
        () = timeouts.expired(&BOUNDS) => {}
        () = slowly => panic!("it never expired"),
    }
    // Its first byte comes after a second.
    assert!((11..=13).contains(&from.elapsed().as_secs()), "{:?}", from.elapsed());
}

/// `begin` waits for the first byte only, and a read returns it with the others.
#[tokio::test]
async fn the_first_byte_comes_first() {
    for sent in ["G", "GET /"] {
        let (mut client, server) = tokio::io::duplex(64);
        let mut server = TimedStream::new(server, Timeouts::new(RATE));
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
    assert!(
        TimedStream::new(server, Timeouts::new(RATE)).begin().await.is_err(),
        "the connection ended before its first byte"
    );
}

#[tokio::test(start_paused = true)]
async fn a_client_that_does_not_read_expires() {
    let timeouts = Timeouts::new(RATE);
    let (_client, server) = tokio::io::duplex(4);
    let mut server = TimedStream::new(server, timeouts.clone());
    timeouts.begin_answer();
    timeouts.end_answer(14);
    tokio::select! {
        () = timeouts.expired(&BOUNDS) => {}
        written = server.write_all(b"more than fits") => panic!("{written:?}"),
    }
}

/// The seconds after which a connection expires whose client reads this many bytes a second,
/// through a small window, and sends the next request meanwhile. `None` when the client reads
/// the whole answer.
async fn expires_after(answer: u64, bytes_per_second: usize) -> Option<u64> {
    let timeouts = Timeouts::new(RATE);
    let (mut client, server) = tokio::io::duplex(bytes_per_second);
    let mut server = TimedStream::new(server, timeouts.clone());
    timeouts.begin_answer();
    timeouts.end_answer(answer);
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
        () = timeouts.expired(&BOUNDS) => Some(from.elapsed().as_secs()),
        () = answered => None,
    }
}

/// contract 14.20: a client that reads an answer byte by byte does not keep it for ever. One that
/// reads it in time is not mistaken for one whose next head is slow.
#[tokio::test(start_paused = true)]
async fn answers_have_a_minimum_rate() {
    assert_eq!(expires_after(4 << 20, 32 << 10).await, None, "reading it takes 128 s");
    let seconds = expires_after(4 << 20, 1 << 10).await.unwrap();
    // Each second 60 ms are paid for: after 63 s the client is 60 s behind.
    assert!((63..=66).contains(&seconds), "{seconds}");
    assert_eq!(expires_after(100, 1).await.map(|seconds| seconds / 4), Some(15), "as when idle");
}

/// contract 14.20: the rate holds at every moment, so that a client which read the beginning quickly
/// gains no time for the rest, and one which reads in bursts is not cut off.
#[tokio::test(start_paused = true)]
async fn the_minimum_rate_holds_at_every_moment() {
    let timeouts = Timeouts::new(RATE);
    timeouts.begin_answer();
    timeouts.end_answer(64 << 20);
    // An eighth of the answer in the first second, then less than the rate.
    tokio::time::advance(Duration::from_secs(1)).await;
    timeouts.on_written(8 << 20);
    let from = Instant::now();
    let slowly = async {
        loop {
            tokio::time::sleep(Duration::from_secs(10)).await;
            timeouts.on_written(10 * RATE as usize / 4);
        }
    };
    tokio::select! {
        () = timeouts.expired(&BOUNDS) => {}
        () = slowly => unreachable!("it reads for ever"),
    }
    let seconds = from.elapsed().as_secs();
    assert!((77..=80).contains(&seconds), "a quarter of the time is paid for: {seconds}");

    let timeouts = Timeouts::new(RATE);
    timeouts.begin_answer();
    timeouts.end_answer(64 << 20);
    let in_bursts = async {
        for _ in 0..20 {
            tokio::time::sleep(Duration::from_secs(50)).await;
            timeouts.on_written(50 * RATE as usize);
        }
    };
    tokio::select! {
        () = timeouts.expired(&BOUNDS) => panic!("it keeps up"),
        () = in_bursts => {}
    }
}

/// Further requests do not restart the time for reading an answer, neither for a client that
/// reads nothing nor for one that reads too little.
#[tokio::test(start_paused = true)]
async fn more_requests_gain_no_time() {
    for (reads, expected) in [(false, 60..=63), (true, 60..=63)] {
        let timeouts = Timeouts::new(RATE);
        timeouts.begin_answer();
        timeouts.end_answer(4 << 20);
        let from = Instant::now();
        let more = async {
            for _ in 0..20 {
                tokio::time::sleep(Duration::from_secs(50)).await;
                if reads {
                    timeouts.on_written(1);
                }
                timeouts.begin_answer();
                timeouts.end_answer(1);
            }
        };
        tokio::select! {
            () = timeouts.expired(&BOUNDS) => {}
            () = more => panic!("it never expired"),
        }
        assert!(expected.contains(&from.elapsed().as_secs()), "{reads} {:?}", from.elapsed());
    }
}

/// Unsent bytes have a deadline in every state: before any answer, while one is made, and
/// while the client keeps sending.
#[tokio::test(start_paused = true)]
async fn unsent_bytes_have_a_deadline_in_every_state() {
    for (name, is_answering, sends) in [
        ("idle", false, false),
        ("answering", true, false),
        ("sending", false, true),
        ("answering and sending", true, true),
    ] {
        let timeouts = Timeouts::new(RATE);
        let (mut client, server) = tokio::io::duplex(64);
        let (mut read, mut write) = tokio::io::split(TimedStream::new(server, timeouts.clone()));
        timeouts.begin_answer();
        if !is_answering {
            timeouts.end_answer(0);
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
            () = timeouts.expired(&BOUNDS) => {}
            () = continues => unreachable!("they are written for ever"),
            () = sending => unreachable!("they are sent for ever"),
        }
        assert!(timeouts.has_unsent(), "{name}");
        assert!((60..=63).contains(&from.elapsed().as_secs()), "{name} {:?}", from.elapsed());
    }
}

/// Bytes that the kernel has taken, however late, are no longer unsent.
#[tokio::test(start_paused = true)]
async fn nothing_is_unsent_after_the_last_byte() {
    let timeouts = Timeouts::new(RATE);
    let (mut client, server) = tokio::io::duplex(4);
    let mut server = TimedStream::new(server, timeouts.clone());
    timeouts.begin_answer();
    timeouts.end_answer(8);
    let taken = async {
        tokio::time::sleep(Duration::from_secs(50)).await;
        client.read_exact(&mut [0; 12]).await.unwrap();
    };
    let written = async {
        server.write_all(b"headers body").await.unwrap();
        server.flush().await.unwrap();
    };
    tokio::join!(taken, written);
    assert!(!timeouts.has_unsent());
    assert_eq!(seconds(&timeouts).await, 60, "it is idle");
}

/// contract 13.14: an answer that is not made in time becomes a 503. If even the 503 is not made,
/// the connection ends.
#[tokio::test(start_paused = true)]
async fn answers_are_made_in_time() {
    let bounds = ConnectionBounds { answer_timeout: Duration::from_secs(100), ..BOUNDS };
    let timeouts = Timeouts::new(RATE);
    timeouts.begin_answer();
    let from = Instant::now();
    // The answer is polled in the same task, as in a connection.
    let answered = std::future::poll_fn(|_| match timeouts.is_overdue() {
        true => Poll::Ready(()),
        false => Poll::Pending,
    });
    tokio::select! {
        biased;
        () = answered => {}
        () = timeouts.expired(&bounds) => panic!("it ended after {:?}", from.elapsed()),
    }
    assert!((100..=103).contains(&from.elapsed().as_secs()), "{:?}", from.elapsed());
    timeouts.end_answer(0);
    assert!(!timeouts.is_overdue());
    assert_eq!(seconds(&timeouts).await, 60, "the connection stays open, and is idle");

    timeouts.begin_answer();
    let from = Instant::now();
    timeouts.expired(&bounds).await;
    assert!((40..=43).contains(&from.elapsed().as_secs()), "{:?}", from.elapsed());
}
