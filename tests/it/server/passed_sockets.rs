//! `--listen systemd`: the server listens on sockets that are passed to it, as systemd does.

use std::io::Write as _;
use std::net::{TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::process::{Command, Stdio};

use crate::support::process::{PATIENCE, Process, REQUEST, build_index, read_to_close, run};

/// The program with these sockets from descriptor 3 on, and their names.
fn figdex_with(sockets: Vec<OwnedFd>, names: &str, arguments: &[&str]) -> Command {
    let count = sockets.len();
    // The variables need the number of the process, which a shell knows before it becomes the
    // program.
    let mut command = Command::new("sh");
    let script = match count {
        0 => "LISTEN_PID=$$ exec \"$0\" \"$@\"",
        1 => "LISTEN_PID=$$ exec \"$0\" \"$@\" 3<&0 0</dev/null",
        _ => "LISTEN_PID=$$ exec \"$0\" \"$@\" 3<&0 4<&1 0</dev/null 1>/dev/null",
    };
    command.env_clear().args(["-c", script, env!("CARGO_BIN_EXE_figdex")]).args(arguments);
    command.env("LISTEN_FDS", count.to_string()).env("LISTEN_FDNAMES", names);
    let mut sockets = sockets.into_iter();
    if let Some(socket) = sockets.next() {
        command.stdin(Stdio::from(socket));
    }
    if let Some(socket) = sockets.next() {
        command.stdout(Stdio::from(socket));
    }
    command
}

fn ask(mut client: TcpStream) -> String {
    client.set_read_timeout(Some(PATIENCE)).unwrap();
    client.write_all(REQUEST.as_bytes()).unwrap();
    read_to_close(&mut client)
}

fn assert_found(answer: &str) {
    assert!(answer.starts_with("HTTP/1.1 200 ") && answer.contains("BBG000BLNNH6"), "{answer}");
}

/// A client that connects while no server runs is answered by the next one.
#[test]
fn connections_wait_for_the_next_server() {
    let folder = tempfile::tempdir().unwrap();
    let index = folder.path().join("index");
    build_index(&index);
    let socket = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = socket.local_addr().unwrap();
    for _ in 0..2 {
        let early = TcpStream::connect(address).unwrap();
        let passed = socket.try_clone().unwrap().into();
        let arguments = ["--index", index.to_str().unwrap(), "--listen", "systemd"];
        let figdex = Process::start(&mut figdex_with(vec![passed], "figdex.socket", &arguments));
        assert_eq!(figdex.place, format!("http://{address}"));
        assert_found(&ask(early));
        assert_found(&ask(TcpStream::connect(address).unwrap()));
        figdex.stop();
    }
}

/// The sockets are told apart by their names, and the file of a Unix socket stays when the server
/// ends: it is systemd's.
#[test]
fn sockets_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let index = folder.path().join("index");
    build_index(&index);
    let file = folder.path().join("figdex.sock");
    let clients = UnixListener::bind(&file).unwrap();
    let operators = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = operators.local_addr().unwrap();
    let arguments = [
        "--index",
        index.to_str().unwrap(),
        "--listen=systemd:clients",
        "--admin-listen=systemd:operators",
    ];
    let sockets = vec![operators.into(), clients.into()];
    let figdex = Process::start(&mut figdex_with(sockets, "operators:clients", &arguments));
    assert_eq!(figdex.place, format!("unix:{}", file.display()));
    assert_eq!(figdex.operators(), address);
    let mut client = UnixStream::connect(&file).unwrap();
    client.set_read_timeout(Some(PATIENCE)).unwrap();
    client.write_all(REQUEST.as_bytes()).unwrap();
    assert_found(&read_to_close(&mut client));
    figdex.stop();
    assert!(file.exists());
}

/// Every mistake ends the program with a message that says what was passed and what to do.
#[test]
fn mistakes_are_explained() {
    let folder = tempfile::tempdir().unwrap();
    let fault = |sockets: Vec<OwnedFd>, names: &str, arguments: &[&str]| {
        let mut command = figdex_with(sockets, names, arguments);
        let (code, _, error) = run(command.args(["--index", "."]).current_dir(folder.path()));
        assert_eq!(code, Some(1), "{error}");
        error.lines().last().unwrap().to_owned()
    };
    let tcp = || OwnedFd::from(TcpListener::bind("127.0.0.1:0").unwrap());

    let systemd = "--listen=systemd";
    assert_eq!(
        fault(vec![], "", &[systemd]),
        "figdex: --listen systemd: systemd passed no socket: start the server by a socket unit, \
         such as figdex.socket, or name an address"
    );
    assert_eq!(
        fault(vec![tcp()], "a", &["--listen=systemd:b"]),
        "figdex: --listen systemd:b: systemd passed no socket of that name, but `a`: name one of \
         them, or set FileDescriptorName= in the socket unit"
    );
    let too_many = "figdex: systemd passed `a`, `b`, which --listen and --admin-listen do not all \
                    take: set --listen to `systemd` or, with several sockets, each to `systemd:` \
                    and a name; or stop the socket unit";
    assert_eq!(fault(vec![tcp(), tcp()], "a:b", &[systemd]), too_many);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = format!("--listen={}", listener.local_addr().unwrap());
    let left = fault(vec![listener.into()], "a", &[&taken]);
    assert!(left.starts_with("figdex: systemd passed `a`, which"), "{left}");
    assert_eq!(
        fault(vec![tcp(), tcp()], "a:b", &[systemd, "--admin-listen=systemd:a"]),
        "figdex: --listen systemd: systemd passed `a`, `b`: name one of them, such as `systemd:a`"
    );
    assert_eq!(
        fault(vec![tcp(), tcp()], "a:a", &["--listen=systemd:a", "--admin-listen=systemd:b"]),
        "figdex: --listen systemd:a: systemd passed 2 sockets of that name: give each its own \
         socket unit and FileDescriptorName="
    );
    let (client, _other) = UnixStream::pair().unwrap();
    assert_eq!(
        fault(vec![client.into()], "a", &[systemd]),
        "figdex: --listen systemd: systemd passed the socket `a`, which does not listen for \
         connections: the socket unit needs ListenStream= and Accept=no"
    );
    let mut absent = figdex_with(vec![], "a", &[systemd]);
    let (code, _, error) = run(absent.env("LISTEN_FDS", "1"));
    let expected = "figdex: the socket `a`, which LISTEN_FDS counts, was not passed\n";
    assert_eq!((code, &*error), (Some(1), expected));
    // A file, which is not a socket at all.
    let file = std::fs::File::open(folder.path()).unwrap();
    let refused = fault(vec![file.into()], "a", &[systemd]);
    assert!(refused.contains("systemd passed the socket `a`, which cannot be used"), "{refused}");
}

/// Variables for another process, such as those of the shell that started the server, are ignored.
#[test]
fn sockets_of_another_process_are_not_taken() {
    let index = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let mut command = Command::new(env!("CARGO_BIN_EXE_figdex"));
    command.env_clear().env("LISTEN_FDS", "1").env("LISTEN_PID", "1").arg("--index").arg(index);
    let (code, _, error) = run(command.arg("--listen=systemd"));
    assert!(code == Some(1) && error.contains("systemd passed no socket"), "{error}");
    let (code, _, error) = run(command.env("LISTEN_PID", "one"));
    assert!(code == Some(1) && error.contains("are not numbers"), "{error}");
}
