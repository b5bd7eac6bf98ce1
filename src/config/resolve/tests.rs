//! Settings: a flag wins over the environment, and the environment over the file; unknown keys are
//! an error; all faults are reported together.

use std::fs;

use super::*;
use crate::limits::Span;

fn with_file(text: &str, mut flags: ServeFlags) -> Result<Config, Vec<String>> {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("figdex.toml");
    fs::write(&file, text).unwrap();
    flags.config = Some(file.clone());
    Config::resolve(&flags).map_err(|Faults(faults)| {
        let place = file.display().to_string();
        faults.into_iter().map(|fault| fault.replace(&place, "FILE")).collect()
    })
}

fn some(text: &str) -> Option<String> {
    Some(text.to_owned())
}

#[test]
fn nothing_said() {
    let config = Config::resolve(&ServeFlags::default()).unwrap();
    assert_eq!((config.index, config.listen), (None, LISTEN.parse().unwrap()));
    assert_eq!(config.log_format, LogFormat::Human);
    let settings = config.settings;
    assert!(settings.access_log);
    assert_eq!(settings.rates, Some(Rates::default()));
    assert_eq!((settings.jobs_per_request, settings.jobs_per_request_with_key), (10, 100));
    assert_eq!(settings.body_bytes_max, 1 << 20);
    assert_eq!(settings.public_url, None);
    assert!(!settings.trust_proxy && !settings.strict_contract && !settings.hide_identifiers);
}

/// Every setting of the file, under the flag's name; and a flag beats it.
#[test]
fn everything_in_the_file() {
    let text = r#"
        index = "src"
        listen = "0.0.0.0:9000"
        no_limits = false
        trust_proxy = true
        jobs_per_request = 5
        jobs_per_request_with_key = 1000
        body_bytes_max = 2097152
        search_envelope = "array"
        unknown_enum = "no-match"
        strict_contract = true
        hide_identifiers = true
        log_format = "json"
        access_log = false
        cors = ["https://a.example", "http://localhost:3000"]
        public_url = "https://figi.example.com/"

        [limits.v3]
        mapping = { with_key = "500/1s" }
        [limits.v2.jobs]
        without_key = "none"
    "#;
    let config = with_file(text, ServeFlags::default()).unwrap();
    assert_eq!(config.index, Some("src".into()));
    assert_eq!(config.listen, "0.0.0.0:9000".parse().unwrap());
    let settings = config.settings;
    assert!(settings.trust_proxy);
    assert_eq!((settings.jobs_per_request, settings.jobs_per_request_with_key), (5, 1000));
    assert_eq!(settings.body_bytes_max, 2 << 20);
    assert_eq!(settings.search_envelope, SearchEnvelope::Array);
    assert_eq!(settings.unknown_enum, UnknownEnum::NoMatch);
    assert!(settings.strict_contract && settings.hide_identifiers && !settings.access_log);
    assert_eq!(settings.public_url.as_deref(), Some("https://figi.example.com"));
    let mut expected = Rates::default();
    for line in expected.lines_mut() {
        match (line.version, line.span) {
            (Version::V3, Span::Mapping) => line.with_key = Some(Rate::new(500, 1)),
            (Version::V2, Span::Jobs) => line.without_key = None,
            _ => {}
        }
    }
    assert_eq!(settings.rates, Some(expected));

    let flags = ServeFlags {
        listen: some("127.0.0.1:1"),
        no_limits: some("true"),
        trust_proxy: some("false"),
        jobs_per_request: some("7"),
        cors: vec!["*".into()],
        public_url: some("http://x"),
        ..ServeFlags::default()
    };
    let config = with_file(text, flags).unwrap();
    assert_eq!(config.listen, "127.0.0.1:1".parse().unwrap());
    assert_eq!(config.settings.rates, None);
    assert!(!config.settings.trust_proxy);
    assert_eq!(config.settings.jobs_per_request, 7);
    assert_eq!(config.settings.public_url.as_deref(), Some("http://x"));
}

#[test]
fn all_faults_together() {
    let text = r#"
        lisen = "127.0.0.1:80"
        jobs_per_request = 0
        body_bytes_max = 1.5
        search_envelope = "list"
        trust_proxy = "yes"
        cors = ["https://a.example/", 7]

        [limits.v3.filter]
        with_key = "1/1s"
        [limits.v3.search]
        without_key = "5 a minute"
        with_keys = "1/1s"
        [limits.v4]
    "#;
    let flags = ServeFlags {
        listen: some("8080"),
        keys: some("/nowhere/keys.toml"),
        jobs_per_request_with_key: some("9"),
        public_url: some("figi.example.com"),
        ..ServeFlags::default()
    };
    let mut faults = with_file(text, flags).unwrap_err();
    faults.sort();
    let expected = [
        "--keys: there is no keys file at /nowhere/keys.toml; make one with: \
         figdex keys add NAME --keys /nowhere/keys.toml",
        "--listen: `8080` is no address and port such as `127.0.0.1:8080`, nor \
         `unix:` and a path",
        "--public-url: `figi.example.com` is no address such as \
         `https://figi.example.com`",
        "FILE: body_bytes_max: must be one value",
        "FILE: cors: `7` is no origin such as `https://app.example.com`, nor `*`",
        "FILE: cors: `https://a.example/` is no origin such as `https://app.example.com`, nor `*`",
        "FILE: jobs_per_request: `0` is no whole number of at least 1",
        "FILE: limits.v3.filter: there is no such setting",
        "FILE: limits.v3.search.with_keys: there is no such setting",
        "FILE: limits.v3.search.without_key: `5 a minute` is no rate such as `25/60s`, `500/1m` \
         or `10000/24h` (at most a day), nor `none`",
        "FILE: limits.v4: there is no such setting",
        "FILE: lisen: there is no such setting",
        "FILE: search_envelope: `list` is neither `object` nor `array`",
        "FILE: trust_proxy: `yes` is neither `true` nor `false`",
        "jobs_per_request: 10 would be more than with a key, 9",
    ];
    assert_eq!(faults, expected);
}

/// contract 14.19, 14.20: the defaults of connections and their times: an address may have a tenth
/// of the connections, but a trusted proxy all.
#[test]
fn connections_and_their_times() {
    let resolve = |text: &str| with_file(text, ServeFlags::default());
    let default = resolve("").unwrap().settings;
    assert_eq!(default.connections, ConnectionBounds::default());
    assert_eq!(default.connections.per_address, Some(1_000));
    let of_proxy = resolve("trust_proxy = true").unwrap().settings;
    assert_eq!(of_proxy.connections.per_address, None);
    let told = resolve(
        r#"
        connections = 50
        connections_per_address = 7
        head_timeout = "1500ms"
        body_timeout = "2m"
        idle_timeout = "1h"
        "#,
    );
    let told = told.unwrap().settings;
    let connections = ConnectionBounds {
        max: 50,
        per_address: Some(7),
        head_timeout: Duration::from_millis(1_500),
        idle_timeout: Duration::from_secs(3_600),
        // A body may take 90 s more than unless told otherwise.
        answer_timeout: ConnectionBounds::DEFAULT.answer_timeout + Duration::from_secs(90),
        ..ConnectionBounds::DEFAULT
    };
    assert_eq!((told.connections, told.body_wait), (connections, Duration::from_secs(120)));
    let any = resolve("connections_per_address = \"none\"").unwrap().settings;
    assert_eq!(any.connections.per_address, None);
    let faults = resolve(
        r#"
        trust_proxy = true
        connections_per_address = 7
        head_timeout = "15"
        body_timeout = "0s"
        idle_timeout = "2d"
        "#,
    );
    let expected = [
        "connections_per_address: with trust_proxy all connections are the proxy's",
        "FILE: head_timeout: `15` is no time such as `15s`, `500ms` or `2m`, up to a day",
        "FILE: idle_timeout: `2d` is no time such as `15s`, `500ms` or `2m`, up to a day",
        "FILE: body_timeout: `0s` is no time such as `15s`, `500ms` or `2m`, up to a day",
    ];
    assert_eq!(faults.unwrap_err(), expected);
}

/// Numbers that a server could not run with are faults like any other, told together.
#[test]
fn numbers_that_are_too_great() {
    let flags = ServeFlags::default;
    let most = with_file("connections = 1000000", flags()).unwrap().settings;
    assert_eq!(most.connections.max, 1_000_000);
    let most = with_file("body_bytes_max = 33554432", flags()).unwrap().settings;
    assert_eq!(most.body_bytes_max, most.bodies_bytes_max / 8);
    let text = "connections = 9223372036854775807\nhead_timeout = '15'\n\
                body_bytes_max = 33554433\njobs_per_request = 10001\n\
                jobs_per_request_with_key = 10000";
    let expected = [
        "FILE: connections: `9223372036854775807` is more than 1000000, the most that there may be",
        "FILE: head_timeout: `15` is no time such as `15s`, `500ms` or `2m`, up to a day",
        "FILE: jobs_per_request: `10001` is more than 10000, the most that one request may carry",
        "FILE: body_bytes_max: `33554433` is more than 33554432, which all bodies of one address together may have",
    ];
    assert_eq!(with_file(text, flags()).unwrap_err(), expected);
    assert!(with_file("connections = 1000001", flags()).is_err());
}

#[test]
fn where_to_listen() {
    let of = |text: &str| with_file(&format!("listen = {text:?}"), ServeFlags::default());
    let listen = |text: &str| of(text).unwrap().listen;
    assert_eq!(listen("unix:/run/figdex.sock"), Listen::Unix("/run/figdex.sock".into()));
    assert_eq!(listen("unix:/run/figdex.sock").to_string(), "unix:/run/figdex.sock");
    assert_eq!(listen("[::1]:80").to_string(), "[::1]:80");
    for text in ["unix:", "unix", "localhost:80", "127.0.0.1", ""] {
        assert!(of(text).is_err(), "{text}");
    }
}

#[test]
fn a_file_that_is_none() {
    let faults = with_file("listen = ", ServeFlags::default()).unwrap_err();
    assert!(faults[0].starts_with("FILE: TOML parse error at line 1"), "{faults:?}");
    let flags = ServeFlags { config: Some("/nowhere/figdex.toml".into()), ..Default::default() };
    let Faults(faults) = Config::resolve(&flags).unwrap_err();
    assert_eq!(faults.len(), 1);
    assert!(faults[0].starts_with("/nowhere/figdex.toml: No such file"), "{faults:?}");
}

#[test]
fn values_one_by_one() {
    for text in ["http://h", "https://h.example:8443/base", "https://h/"] {
        assert!(public_url(text).is_ok(), "{text}");
    }
    for text in ["", "h", "ftp://h", "https://", "https://h?x=1", "https://h#x", "https://a b"] {
        assert!(public_url(text).is_err(), "{text}");
    }
    assert!(path("").is_err() && count("-1").is_err() && count("").is_err());
    assert_eq!((truth("1"), truth("false")), (Ok(true), Ok(false)));
}
