//! `figdex config`: every setting in force and where it comes from; the example file; and the
//! settings that follow from the address.

use std::fs;
use std::net::SocketAddr;
use std::path::Path;

use clap::CommandFactory as _;
use figdex::callers::auth::file;
use figdex::config::Flags;
use rcgen::CertifiedKey;
use toml::{Table, Value};

use crate::support::process::{Process, build_index, figdex, get, run};

const EXAMPLE: &str = include_str!("../../../packaging/figdex.toml");

/// The output of `figdex config` for a configuration file, run in a folder.
fn listed(folder: &Path, text: &str) -> String {
    let path = folder.join("figdex.toml");
    fs::write(&path, text).unwrap();
    let mut command = figdex();
    let (code, printed, faults) =
        run(command.current_dir(folder).args(["config", "--config", "figdex.toml"]));
    assert_eq!(code, Some(0), "{faults}\n{text}");
    printed
}

/// The settings of a TOML text, by their names in dots.
fn flat(text: &str) -> Vec<(String, Value)> {
    fn walk(path: &str, table: Table, into: &mut Vec<(String, Value)>) {
        for (key, value) in table {
            match value {
                Value::Table(table) => walk(&format!("{path}{key}."), table, into),
                value => into.push((format!("{path}{key}"), value)),
            }
        }
    }
    let mut settings = Vec::new();
    walk("", text.parse().unwrap(), &mut settings);
    settings
}

/// Each value is listed with its source: a flag, a variable, the file or the default. The output
/// used as a configuration file gives the same output. Of the keys only their file is printed.
#[test]
fn settings_and_their_origins() {
    let desk = tempfile::tempdir().unwrap();
    let key = file::add(&desk.path().join("keys.toml"), "desk").unwrap();
    let hash = fs::read_to_string(desk.path().join("keys.toml")).unwrap();
    let hash = hash.split("sha256 = \"").nth(1).unwrap().split('"').next().unwrap();
    let text = "listen = '127.0.0.1:1'\nkeys = 'keys.toml'\ncors = ['https://a.example']\n\
                connections = 9\n[limits.v3.mapping]\nwithout_key = '7/30s'\n";
    fs::write(desk.path().join("figdex.toml"), text).unwrap();
    let mut command = figdex();
    command.current_dir(desk.path()).env("FIGDEX_CONFIG", "figdex.toml");
    command.env("FIGDEX_LISTEN", "127.0.0.1:2").env("FIGDEX_CONNECTIONS", "8");
    let (code, printed, _) =
        run(command.args(["config", "--listen", "127.0.0.1:3", "--no-limits"]));
    assert_eq!(code, Some(0));
    for line in [
        "listen = \"127.0.0.1:3\"  # --listen\n",
        "no_limits = true  # --no-limits\n",
        "connections = 8  # FIGDEX_CONNECTIONS\n",
        "keys = \"keys.toml\"  # figdex.toml: keys\n",
        "cors = [\"https://a.example\"]  # figdex.toml: cors\n",
        "body_bytes_max = 1048576  # default\n",
        "# public_url is not set: the address that a request was sent to\n",
        "without_key = \"7/30s\"  # figdex.toml: limits.v3.mapping.without_key; lifted by \
         no_limits\n",
    ] {
        assert!(printed.contains(line), "{line}\n{printed}");
    }
    assert!(!printed.contains(&key) && !printed.contains(hash), "{printed}");
    assert_eq!(flat(&listed(desk.path(), &printed)), flat(&printed));
}

/// `figdex config` reports the same faults as `serve`, all of them, with exit code 1.
#[test]
fn the_command_reports_all_faults() {
    let desk = tempfile::tempdir().unwrap();
    fs::write(desk.path().join("figdex.toml"), "lisen = 1\n[limits.v3.maping]\n[bucket]\n")
        .unwrap();
    let [config, serve] = ["config", "serve"].map(|name| {
        let mut command = figdex();
        command.current_dir(desk.path()).env("FIGDEX_ADMIN_LISTEN", "127.0.0.1:9");
        // Kubernetes sets the second one for a service of this name.
        command.env("FIGDEX_CONNECTONS", "9").env("FIGDEX_PORT", "tcp://192.0.2.1:80");
        let arguments = [name, "--config", "figdex.toml", "--listen", "127.0.0.1:9", "--cors", "x"];
        run(command.args(arguments))
    });
    assert_eq!(config, serve);
    assert_eq!((config.0, &*config.1), (Some(1), ""));
    assert_eq!(
        config.2,
        "figdex: 6 errors in the settings\n  \
         --cors: invalid origin `x`: expected one such as `https://app.example.com`, or `*`\n  \
         admin_listen: 127.0.0.1:9 is the address of listen\n  \
         figdex.toml: bucket: unknown setting\n  \
         figdex.toml: limits.v3.maping: unknown setting; did you mean limits.v3.mapping?\n  \
         figdex.toml: lisen: unknown setting; did you mean listen?\n  \
         FIGDEX_CONNECTONS: unknown variable; did you mean FIGDEX_CONNECTIONS?\n"
    );
}

/// The configuration file that the package installs changes nothing. With every key uncommented it
/// states the defaults, and it has a key for every flag.
#[test]
fn the_example_file_is_the_defaults() {
    let desk = tempfile::tempdir().unwrap();
    fs::create_dir_all(desk.path().join("data/index")).unwrap();
    file::add(&desk.path().join("keys.toml"), "desk").unwrap();
    let defaults = listed(desk.path(), EXAMPLE);
    assert_eq!(defaults, listed(desk.path(), ""));

    // Comments that are sentences have a blank after their `#`.
    let is_setting = |rest: &str| rest.starts_with(|c: char| c == '[' || c.is_ascii_alphabetic());
    let uncomment = |line: &str| match line.strip_prefix('#').filter(|rest| is_setting(rest)) {
        Some(setting) => format!("{setting}\n"),
        None => format!("{line}\n"),
    };
    let text: String = EXAMPLE.lines().map(uncomment).collect();
    let CertifiedKey { cert, signing_key } =
        rcgen::generate_simple_self_signed(["figdex.test".to_owned()]).unwrap();
    fs::write(desk.path().join("cert.pem"), cert.pem()).unwrap();
    fs::write(desk.path().join("key.pem"), signing_key.serialize_pem()).unwrap();
    fs::write(desk.path().join("symbols.txt"), "[desk]\nhome US\n").unwrap();
    let text = text.replace("\"/etc/figdex/tls/", "\"").replace("\"/var/lib/figdex/", "\"");
    let text = text.replace("\"/etc/figdex/symbols", "\"symbols");
    // The example of `cache` is for such an index.
    let in_storage = text.replace("\nindex = \"data/index\"\n", "\nindex = \"s3://bucket/x\"\n");
    let printed = listed(desk.path(), &in_storage);
    assert!(!printed.contains("# default"), "{printed}");
    let examples = [
        "index",
        "cluster_ca_file",
        "cluster_authorization_file",
        "cache",
        "storage_endpoint",
        "storage_region",
        "storage_ca_file",
        "storage_keys_file",
        "admin_listen",
        "tls_cert",
        "tls_key",
        "keys",
        "symbols",
        "public_url",
    ];
    let mut settings = flat(&printed);
    settings.retain(|(name, _)| !examples.contains(&&**name));
    assert_eq!(
        settings,
        flat(&defaults),
        "the value of a setting that has a default is the default"
    );
    assert!(text.contains("\nindex = \"data/index\"\n"), "the only file that need not exist");

    let keys: Vec<_> = flat(&text).into_iter().map(|(name, _)| name).collect();
    let command = Flags::command();
    for flag in command.get_arguments().filter(|flag| flag.get_long().is_some()) {
        let name = flag.get_id().as_str();
        let is_setting = !matches!(name, "config" | "help" | "version");
        assert_eq!(keys.iter().any(|key| key == name), is_setting, "{name}");
    }
}

/// contract 16.7: a server that listens beyond this machine, or behind a proxy, hides identifiers
/// unless its settings say otherwise.
#[test]
fn identifiers_are_hidden_beyond_loopback() {
    let desk = tempfile::tempdir().unwrap();
    let index = desk.path().join("index");
    build_index(&index);
    let derived = "hide_identifiers = true  # derived: 0.0.0.0:0 is not a loopback address";
    let of_proxy = "hide_identifiers = true  # derived: with trust_proxy";
    let shown = "hide_identifiers = false  # default";
    let [shown_as_set, hidden_as_set] =
        [false, true].map(|hide| format!("hide_identifiers = {hide}  # FIGDEX_HIDE_IDENTIFIERS"));
    for (listen, trust_proxy, hide, is_hidden, listing) in [
        ("0.0.0.0:0", false, None, true, derived),
        ("0.0.0.0:0", false, Some("false"), false, &*shown_as_set),
        ("127.0.0.1:0", false, None, false, shown),
        ("127.0.0.1:0", true, None, true, of_proxy),
        ("127.0.0.1:0", true, Some("false"), false, &*shown_as_set),
        ("[::ffff:127.0.0.1]:0", false, None, false, shown),
        ("127.0.0.1:0", false, Some("true"), true, &*hidden_as_set),
    ] {
        let command = |arguments: &[&str]| {
            let mut command = figdex();
            command.args(arguments).args(["--listen", listen, "--index"]).arg(&index);
            command.envs(hide.map(|hide| ("FIGDEX_HIDE_IDENTIFIERS", hide)));
            command.envs(trust_proxy.then_some(("FIGDEX_TRUST_PROXY", "true")));
            command
        };
        let (_, printed, _) = run(&mut command(&["config"]));
        assert!(printed.contains(listing), "{printed}");
        if listen.starts_with('[') {
            // Some machines have no IPv6.
            continue;
        }
        let process = Process::start(&mut command(&[]));
        let address = SocketAddr::from(([127, 0, 0, 1], process.address().port()));
        let (status, instrument) = get(address, "/instruments/BBG000BLNNH6");
        assert_eq!((status, &instrument["instrument"]["ticker"]), (200, &"IBM".into()));
        assert_eq!(instrument["instrument"].get("identifiers").is_none(), is_hidden);
        let log = process.stop();
        let is_logged = log.contains("identifiers of instruments are hidden");
        assert_eq!(is_logged, is_hidden && hide.is_none(), "{log}");
    }
}

/// An index of a kind that the program was built without is refused by `serve`, before it listens.
/// `config` lists such settings too.
#[test]
fn an_address_that_cannot_be_served() {
    for (address, is_supported, kind) in [
        ("s3://bucket/figdex", cfg!(feature = "object-storage"), "object storage"),
        ("opensearch+http://host:9200/name", cfg!(feature = "opensearch"), "clusters"),
    ] {
        let desk = tempfile::tempdir().unwrap();
        let command = |name: &str| {
            let mut command = figdex();
            command.current_dir(desk.path()).args([name, "--index", address]);
            command.args(address.starts_with("s3:").then_some("--cache=copy"));
            run(&mut command)
        };
        let (code, printed, faults) = command("config");
        assert!(code == Some(0) && printed.contains(address), "{faults}");
        if is_supported {
            continue;
        }
        let (code, _, faults) = command("serve");
        let expected = format!("this program was built without {kind}; build it with");
        assert!(code == Some(1) && faults.contains(&expected), "{code:?} {faults}");
    }
}
