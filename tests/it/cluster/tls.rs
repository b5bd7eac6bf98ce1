//! A cluster behind HAProxy, which wants TLS and a user, and lets through only the requests that the
//! least rights of `docs/cluster.md` allow.

use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rcgen::{CertificateParams, KeyPair, date_time_ymd};

use super::in_cluster;
use crate::support::process::{PATIENCE, Process, REQUEST, build_index, figdex, run};
use crate::support::program;

/// The header of a user, whose password is `secret`.
const USER: &str = "Basic ZmlnZGV4OnNlY3JldA==";

/// HAProxy in front of a node, with a folder for its files.
struct Proxy {
    child: Child,
    desk: tempfile::TempDir,
    port: u16,
}

impl Proxy {
    /// Starts it. `allows` are the conditions under which a request passes.
    fn start(node: &str, certificate: &str, allows: &str) -> Self {
        let desk = tempfile::tempdir().unwrap();
        // Another program may take the port meanwhile, which is rare.
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let [config, pem] = ["haproxy.cfg", "server.pem"].map(|file| desk.path().join(file));
        fs::write(&pem, certificate).unwrap();
        let text = format!(
            "defaults\n  mode http\n  timeout connect 5s\n  timeout client 60s\n  timeout server \
             60s\nfrontend all\n  bind 127.0.0.1:{port} ssl crt {}\n  http-request deny \
             deny_status 401 unless {{ req.hdr(authorization) -m str \"{USER}\" }}\n{allows}\n  \
             default_backend node\nbackend node\n  server one {node}\n",
            pem.display()
        );
        fs::write(&config, text).unwrap();
        let mut command = Command::new("haproxy");
        command.arg("-db").arg("-f").arg(&config).stdout(Stdio::null()).stderr(Stdio::null());
        let child = command.spawn().unwrap();
        let start = Instant::now();
        while std::net::TcpStream::connect(("127.0.0.1", port)).is_err() {
            assert!(start.elapsed() < PATIENCE, "HAProxy does not listen");
            std::thread::sleep(Duration::from_millis(20));
        }
        Self { child, desk, port }
    }

    fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.desk.path().join(name);
        fs::write(&path, text).unwrap();
        path
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

/// A certificate for `localhost`, as a client trusts it, and with its key, as HAProxy reads it. It
/// ends in that year.
fn certificate(last_year: i32) -> (String, String) {
    let mut parameters = CertificateParams::new(["localhost".to_owned()]).unwrap();
    parameters.not_before = date_time_ymd(2020, 1, 1);
    parameters.not_after = date_time_ymd(last_year, 1, 1);
    let key = KeyPair::generate().unwrap();
    let certificate = parameters.self_signed(&key).unwrap().pem();
    let both = format!("{certificate}{}", key.serialize_pem());
    (certificate, both)
}

/// Whether HAProxy is there.
fn has_haproxy() -> bool {
    let has = Command::new("haproxy").arg("-v").output().is_ok();
    if !has {
        assert!(std::env::var_os("FIGDEX_REQUIRE_TOOLS").is_none(), "HAProxy is missing");
        eprintln!("skipped: there is no haproxy");
    }
    has
}

/// The flags by which a program reaches the cluster.
fn flags(ca: &Path, user: &Path) -> [String; 4] {
    let text = |path: &Path| path.to_str().unwrap().to_owned();
    [
        "--cluster-ca-file".to_owned(),
        text(ca),
        "--cluster-authorization-file".to_owned(),
        text(user),
    ]
}

#[test]
fn a_cluster_behind_tls_with_a_user() {
    let Some(cluster) = in_cluster() else { return };
    if !has_haproxy() {
        return;
    }
    let name = &cluster.address.name;
    let node = cluster.address.hosts[0].to_string();
    let (trusted, both) = certificate(2100);
    let of_name = format!("  http-request deny unless {{ path_reg ^/{name}(-[0-9]+|-\\*)?/ }}");

    // The rights of a publisher: its own indexes, the alias, and the state of its index.
    let publisher = format!(
        "  acl own path_reg ^/{name}(-[0-9]+(~filling)?|-\\*)?(/|$)\n  acl alias path /_aliases\n  acl health \
         path_beg /_cluster/health/{name}-\n  http-request deny unless own or alias or health"
    );
    let proxy = Proxy::start(&node, &both, &publisher);
    let address = format!("opensearch+https://localhost:{}/{name}", proxy.port);
    let ca = proxy.file("ca.pem", &trusted);
    let user = proxy.file("user.txt", &format!("{USER}\n"));
    let index = proxy.desk.path().join("index");
    build_index(&index);
    let publish = |ca: &Path, user: &Path| {
        let mut command = Command::new(program());
        command.args(["publish", index.to_str().unwrap(), &address, "--replicas", "0"]);
        run(command.args(flags(ca, user)))
    };
    let (_, other) = certificate(2100);
    let wrong_ca = proxy.file("other.pem", &other);
    let wrong_user = proxy.file("wrong.txt", "Basic bm9ib2R5Ondyb25n\n");
    let many_lines = proxy.file("lines.txt", "Basic a\nBasic b\n");
    for (ca, user, expected) in [
        (&wrong_ca, &user, "invalid peer certificate"),
        (&ca, &wrong_user, "with status 401"),
        (&ca, &many_lines, "lines.txt"),
    ] {
        let (code, printed, error) = publish(ca, user);
        assert_eq!(code, Some(1), "{error}");
        assert!(error.contains(expected), "{error}");
        assert!(!printed.contains("published") && !error.contains("bm9ib2R5"), "{error}");
    }
    let (code, _, error) = publish(&ca, &user);
    assert_eq!(code, Some(0), "{error}");

    // The rights of a server: to read its own indexes.
    let reader = format!(
        "{of_name}\n  acl reads method GET\n  acl question path_end /_search /_msearch\n  \
         http-request deny unless reads or question"
    );
    let proxy = Proxy::start(&node, &both, &reader);
    let address = format!("opensearch+https://localhost:{}/{name}", proxy.port);
    let serve = |ca: &Path, user: &Path| {
        let mut command = figdex();
        command.args(["--index", &address, "--listen", "127.0.0.1:0"]);
        command.args(flags(ca, user));
        command
    };
    let served = Process::start(&mut serve(&ca, &user));
    assert!(served.exchange(REQUEST).contains("BBG000BLNNH6"));
    for path in ["facets?query=ibm", "suggest?query=ib", "instruments/BBG000BLNNH6"] {
        let request = format!("GET /{path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
        let answer = served.exchange(request);
        assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
    }
    let arguments = fs::read_to_string(format!("/proc/{}/cmdline", served.child.id()));
    let environment = fs::read_to_string(format!("/proc/{}/environ", served.child.id()));
    let log = served.stop();
    for text in [arguments.unwrap_or_default(), environment.unwrap_or_default(), log] {
        assert!(!text.contains("ZmlnZGV4"), "{text}");
    }
    for arguments in [["inspect", &address], ["export", &address], ["verify", &address]] {
        let mut command = Command::new(program());
        let (code, _, error) = run(command.args(arguments).args(flags(&ca, &user)));
        assert_eq!(code, Some(0), "{arguments:?} {error}");
    }

    // A certificate that has expired, and one of another host.
    let (expired, both) = certificate(2021);
    let proxy = Proxy::start(&node, &both, &reader);
    let ca = proxy.file("ca.pem", &expired);
    for (host, ca, expected) in
        [("localhost", &ca, "certificate expired"), ("127.0.0.1", &ca, "invalid peer certificate")]
    {
        let address = format!("opensearch+https://{host}:{}/{name}", proxy.port);
        let mut command = figdex();
        command.args(["--index", &address, "--listen", "127.0.0.1:0"]).args(flags(ca, &user));
        let (code, _, error) = run(&mut command);
        assert_eq!(code, Some(1), "{error}");
        assert!(error.contains(expected), "{error}");
    }
}
