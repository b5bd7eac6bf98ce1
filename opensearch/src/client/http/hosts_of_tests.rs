//! Hosts for tests: servers that answer as a test says.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use figdex_io::Address;

use crate::client::{Client, ClientSettings};

/// A server that treats each connection in one way, and counts them.
pub(super) struct Host {
    pub(super) address: SocketAddr,
    connections: Arc<AtomicUsize>,
}

impl Host {
    pub(super) fn new(treat: impl Fn(TcpStream) + Send + Clone + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let connections = Arc::new(AtomicUsize::new(0));
        let counted = connections.clone();
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                counted.fetch_add(1, Ordering::SeqCst);
                let treat = treat.clone();
                thread::spawn(move || treat(stream));
            }
        });
        Self { address, connections }
    }

    /// One that reads a request and writes these bytes.
    pub(super) fn answering(answer: impl Into<Vec<u8>>) -> Self {
        let answer = answer.into();
        Self::new(move |mut stream| {
            read_request(&mut stream);
            stream.write_all(&answer).ok();
        })
    }

    /// One that is not there.
    pub(super) fn absent() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        Self { address: listener.local_addr().unwrap(), connections: Arc::default() }
    }

    pub(super) fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }
}

/// Reads the head of a request and its body, which is small. A host that closes a connection before
/// it has read everything may lose its answer.
pub(super) fn read_request(stream: &mut TcpStream) -> String {
    let (mut request, mut byte) = (Vec::new(), [0]);
    while !request.ends_with(b"\r\n\r\n") && stream.read(&mut byte).is_ok_and(|read| read > 0) {
        request.push(byte[0]);
    }
    let head = String::from_utf8(request.clone()).unwrap().to_lowercase();
    let length = head.split("content-length: ").nth(1).and_then(|rest| rest.lines().next());
    let mut body = vec![0; length.map_or(0, |length| length.parse().unwrap())];
    stream.read_exact(&mut body).ok();
    request.extend_from_slice(&body);
    String::from_utf8(request).unwrap()
}

pub(super) fn with_status(status: u16, body: &str) -> String {
    format!(
        "HTTP/1.1 {status} X\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
        body.len()
    )
}

pub(super) fn client_with(hosts: &[&Host], calls_max: usize) -> Client {
    let hosts: Vec<String> = hosts.iter().map(|host| host.address.to_string()).collect();
    let address: Address = format!("opensearch+http://{}/name", hosts.join(",")).parse().unwrap();
    let Address::Cluster(address) = address else { panic!("{address:?}") };
    let settings = ClientSettings { ca_file: None, authorization_file: None, calls_max };
    Client::new(&address, &settings).unwrap()
}

pub(super) fn client(hosts: &[&Host]) -> Client {
    client_with(hosts, 8)
}
