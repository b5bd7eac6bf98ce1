//! `--listen unix:PATH`: the socket file, its permissions, and the callers' limits.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::{FileTypeExt as _, PermissionsExt as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::process::Command;

use crate::support::process::{PATIENCE, Process, REQUEST, read_to_close};

fn ask(socket: &Path, headers: &str) -> String {
    let mut stream = UnixStream::connect(socket).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let request =
        REQUEST.replace("Connection: close\r\n", &format!("Connection: close\r\n{headers}"));
    stream.write_all(request.as_bytes()).unwrap();
    read_to_close(&mut stream)
}

fn remaining(answer: &str) -> &str {
    let (_, rest) =
        answer.split_once("ratelimit-remaining: ").unwrap_or_else(|| panic!("{answer}"));
    rest.split("\r\n").next().unwrap()
}

/// The socket exists while the server runs, and is open to its owner and its group.
#[test]
fn a_socket_comes_and_goes() {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("figdex.sock");
    let listen = format!("unix:{}", socket.display());
    // A socket that a killed server left behind is replaced.
    drop(UnixListener::bind(&socket).unwrap());
    assert!(socket.exists());
    let figdex = Process::of_one(&["--listen", &listen]);
    assert_eq!(figdex.place, listen);
    let metadata = fs::metadata(&socket).unwrap();
    assert!(metadata.file_type().is_socket());
    assert_eq!(metadata.permissions().mode() & 0o777, 0o660);
    let answer = ask(&socket, "");
    assert!(answer.starts_with("HTTP/1.1 200 ") && answer.contains("BBG000BLNNH6"), "{answer}");

    // A second server does not replace the socket of the first.
    let index = figdex.index().to_str().unwrap().to_owned();
    let second = |listen: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_figdex"));
        let output = command.args(["--index", &index, "--listen", listen]).output().unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    let (code, error) = second(&listen);
    assert_eq!(code, Some(1), "{error}");
    assert!(error.contains("another server listens there"), "{error}");
    assert!(ask(&socket, "").starts_with("HTTP/1.1 200 "));
    // A file that is not a socket belongs to the operator, and stays.
    let precious = folder.path().join("precious");
    fs::write(&precious, "precious").unwrap();
    let (code, error) = second(&format!("unix:{}", precious.display()));
    assert_eq!(code, Some(1), "{error}");
    assert!(error.contains("a file that is not a socket"), "{error}");
    assert_eq!(fs::read_to_string(&precious).unwrap(), "precious");

    figdex.stop();
    assert!(!socket.exists(), "it goes with the server");
}

/// contract 14.2: callers over the socket have no address: without a key they are one caller,
/// unless a trusted proxy names their addresses.
#[test]
fn callers_over_a_unix_socket() {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("figdex.sock");
    let listen = format!("unix:{}", socket.display());
    let forwarded = ["192.0.2.1", "192.0.2.2", "192.0.2.1"];
    let ask_as = |address: &str| ask(&socket, &format!("X-Forwarded-For: {address}\r\n"));

    let figdex = Process::of_one(&["--listen", &listen]);
    let left = forwarded.map(|address| remaining(&ask_as(address)).to_owned());
    assert_eq!(left, ["24", "23", "22"]);
    figdex.stop();

    let figdex = Process::of_one(&["--listen", &listen, "--trust-proxy"]);
    let left = forwarded.map(|address| remaining(&ask_as(address)).to_owned());
    assert_eq!(left, ["24", "24", "23"]);
    let without = ["", ""].map(|none| remaining(&ask(&socket, none)).to_owned());
    assert_eq!(without, ["24", "23"], "those of whom it says nothing are one");
    figdex.stop();
}
