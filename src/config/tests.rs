//! Settings: a flag overrides the environment, which overrides the file; unknown keys are errors;
//! all errors are reported together; and what is printed or documented is the whole table.

use std::fs;
use std::path::Path;

use clap::{CommandFactory as _, Parser as _};
use toml::Value;

use super::table::Setting;
use super::*;
use crate::callers::limits::Span;
use crate::callers::version::Version;

const FILE: &str = include_str!("../../packaging/figdex.toml");

/// Examples in that file for settings without a default.
const EXAMPLES: [(&str, &str); 14] = [
    ("index", "data/index"),
    ("cluster_ca_file", "/etc/figdex/cluster-ca.pem"),
    ("cluster_authorization_file", "/etc/figdex/cluster-authorization.txt"),
    ("cache", "/var/cache/figdex"),
    ("storage_endpoint", "https://storage.example.com"),
    ("storage_region", "eu-central-1"),
    ("storage_ca_file", "/etc/figdex/storage-ca.pem"),
    ("storage_keys_file", "/etc/figdex/storage-keys.toml"),
    ("admin_listen", "127.0.0.1:8081"),
    ("tls_cert", "/etc/figdex/tls/cert.pem"),
    ("tls_key", "/etc/figdex/tls/key.pem"),
    ("keys", "/var/lib/figdex/keys.toml"),
    ("symbols", "/etc/figdex/symbols.txt"),
    ("public_url", "https://figi.example.com"),
];

fn flags(arguments: &[&str]) -> SettingFlags {
    Flags::try_parse_from([&["figdex"], arguments].concat()).unwrap().serve
}

/// The configuration of a file and of flags, or the errors, in which the file is `FILE`.
fn resolved(text: &str, arguments: &[&str]) -> Result<Config, Vec<String>> {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a file\nof two lines.toml");
    fs::write(&file, text).unwrap();
    let flags = SettingFlags { config: Some(file.clone()), ..flags(arguments) };
    Config::resolve(&flags).map_err(|Faults(faults)| {
        let place = figdex_io::escaped_path(&file).to_string();
        faults.into_iter().map(|fault| fault.replace(&place, "FILE")).collect()
    })
}

fn with_file(text: &str) -> Config {
    resolved(text, &[]).unwrap_or_else(|faults| panic!("{faults:?}\n{text}"))
}

/// The value and the origin of a setting.
fn listed(config: &Config, name: &str) -> (Option<Value>, Provenance) {
    let provenance = config.provenance.get(name).cloned().unwrap_or(Provenance::Default);
    (SETTINGS.iter().find(|setting| setting.name == name).and_then(|s| (s.get)(config)), provenance)
}

#[test]
fn nothing_is_set() {
    let config = Config::resolve(&SettingFlags::default()).unwrap();
    assert_eq!((config.index, config.listen), (None, DEFAULT_LISTEN.parse().unwrap()));
    assert_eq!(config.log_format, LogFormat::Human);
    let settings = config.settings;
    assert!(settings.access_log);
    assert_eq!(settings.rates, Some(Rates::default()));
    assert_eq!((settings.jobs_per_request, settings.jobs_per_request_with_key), (10, 100));
    assert_eq!(settings.body_bytes_max, 1 << 20);
    assert_eq!(settings.public_url, None);
    assert!(!settings.trust_proxy && !settings.strict_contract && !settings.hide_identifiers);
}

const EVERYTHING: &str = r#"
    index = "src"
    listen = "[::]:9000"
    admin_listen = "127.0.0.1:9001"
    no_limits = false
    trust_proxy = true
    jobs_per_request = 5
    jobs_per_request_with_key = "1000"
    body_bytes_max = 2097152
    connections = 7
    search_envelope = "array"
    unknown_enum = "no-match"
    strict_contract = true
    hide_identifiers = true
    log_format = "json"
    access_log = false
    cors = ["https://a.example", "http://localhost:3000"]
    public_url = "https://figi.example.com/"
    [limits.v3]
    mapping = { with_key = "500/1m" }
    [limits.v2.jobs]
    without_key = "none"
    [limits.suggest]
    rate = "9/1h"
"#;

#[test]
fn everything_in_the_file_and_a_flag_overrides_it() {
    let config = with_file(EVERYTHING);
    assert_eq!(config.index, Some(Address::Folder("src".into())));
    assert_eq!(config.listen, "[::]:9000".parse().unwrap());
    let settings = config.settings;
    assert!(settings.trust_proxy);
    assert_eq!((settings.jobs_per_request, settings.jobs_per_request_with_key), (5, 1000));
    assert_eq!((settings.body_bytes_max, settings.connections.max), (2 << 20, 7));
    assert_eq!(settings.search_envelope, SearchEnvelope::Array);
    assert_eq!(settings.unknown_enum, UnknownEnum::NoMatch);
    assert!(settings.strict_contract && settings.hide_identifiers && !settings.access_log);
    assert_eq!(settings.public_url.as_deref(), Some("https://figi.example.com"));
    let mut expected = Rates::default();
    for line in expected.lines_mut() {
        match (line.version, line.span) {
            (Version::V3, Span::Mapping) => line.with_key = Some(Rate::new(500, 60)),
            (Version::V2, Span::Jobs) => line.without_key = None,
            (_, Span::Suggest) => line.without_key = Some(Rate::new(9, 3_600)),
            _ => {}
        }
    }
    assert_eq!(settings.rates, Some(expected));

    let arguments = [
        "--listen=127.0.0.1:1",
        "--no-limits",
        "--trust-proxy=false",
        "--jobs-per-request=7",
        "--cors=*",
        "--public-url=http://x",
    ];
    let config = resolved(EVERYTHING, &arguments).unwrap();
    assert_eq!(config.listen, "127.0.0.1:1".parse().unwrap());
    assert_eq!(config.settings.rates, None);
    assert!(!config.settings.trust_proxy);
    assert_eq!(config.settings.jobs_per_request, 7);
    assert_eq!(config.settings.public_url.as_deref(), Some("http://x"));
    assert_eq!(config.provenance["cors"], Provenance::Flag("cors"));
}

#[test]
fn all_errors_are_reported_together() {
    let text = r#"
        lisen = "127.0.0.1:80"
        jobs_per_request = 0
        body_bytes_max = 1.5
        search_envelope = "list"
        trust_proxy = "yes"
        cors = ["https://a.example/", 7]
        log_format = {}

        [limits.v3.filter]
        with_key = "1/1s"
        [limits.v3.search]
        without_key = "5 a minute"
        with_keys = "1/1s"
        [limits.v4]
        [limits]
        v1 = 1
    "#;
    let arguments = [
        "--listen=8080",
        "--keys=/nowhere/keys.toml",
        "--jobs-per-request-with-key=9",
        "--public-url=figi.example.com",
    ];
    let mut faults = resolved(text, &arguments).unwrap_err();
    faults.sort();
    let expected = [
        "--keys: there is no keys file at /nowhere/keys.toml; make one with: \
         figdex keys add NAME --keys /nowhere/keys.toml",
        "--listen: invalid address `8080`: expected an address or a name with a port, such as \
         `127.0.0.1:8080` or `localhost:8080`, `unix:` and a path, `systemd`, or `systemd:` and a \
         name",
        "--public-url: invalid URL `figi.example.com`: expected `http` or `https`, a host and \
         nothing behind `?` or `#`, such as `https://figi.example.com`",
        "FILE: body_bytes_max: expected a single value",
        "FILE: cors: invalid origin `7`: expected one such as `https://app.example.com`, or `*`",
        "FILE: cors: invalid origin `https://a.example/`: expected one such as `https://app.example.com`, or `*`",
        "FILE: jobs_per_request: invalid number `0`: expected a whole number of at least 1",
        "FILE: limits.v1: expected a table",
        "FILE: limits.v3.filter: unknown setting",
        "FILE: limits.v3.search.with_keys: unknown setting; did you mean limits.v3.search.with_key?",
        "FILE: limits.v3.search.without_key: invalid rate `5 a minute`: expected a number and a \
         window, such as `25/60s`, `500/1m` or `10000/24h` (at most 24h), or `none`",
        "FILE: limits.v4: unknown setting",
        "FILE: lisen: unknown setting; did you mean listen?",
        "FILE: log_format: expected a single value",
        "FILE: search_envelope: invalid value `list`: expected `object` or `array`",
        "FILE: trust_proxy: invalid value `yes`: expected `true` or `false`",
        "jobs_per_request: 10 is more than jobs_per_request_with_key, 9",
    ];
    assert_eq!(faults, expected);
}

/// contract 14.19, 14.20: the defaults of connections and their times: an address may have a tenth
/// of the connections, but a trusted proxy all.
#[test]
fn connections_and_their_times() {
    let default = with_file("").settings;
    assert_eq!(default.connections, ConnectionBounds::default());
    assert_eq!(default.connections.per_address, Some(1_000));
    let of_proxy = with_file("trust_proxy = true").settings;
    assert_eq!(of_proxy.connections.per_address, None);
    let text = r#"
        connections = 50
        connections_per_address = 7
        head_timeout = "1500ms"
        body_timeout = "2m"
        idle_timeout = "1h"
        drain_wait = "20s"
        drain_timeout = "10s"
    "#;
    let settings = with_file(text).settings;
    let connections = ConnectionBounds {
        max: 50,
        per_address: Some(7),
        head_timeout: Duration::from_millis(1_500),
        idle_timeout: Duration::from_secs(3_600),
        drain_wait: Duration::from_secs(20),
        drain_timeout: Duration::from_secs(10),
        // A body may take 90 s more than by default.
        answer_timeout: ConnectionBounds::DEFAULT.answer_timeout + Duration::from_secs(90),
        ..ConnectionBounds::DEFAULT
    };
    assert_eq!(settings.connections, connections);
    assert_eq!(settings.body_timeout, Duration::from_secs(120));
    let at_once = with_file("drain_wait = \"0s\"").settings;
    assert_eq!(at_once.connections.drain_wait, Duration::ZERO);
    let unlimited = with_file("connections_per_address = \"none\"").settings;
    assert_eq!(unlimited.connections.per_address, None);
    let text = r#"
        trust_proxy = true
        connections_per_address = 7
        head_timeout = "15"
        body_timeout = "0s"
        idle_timeout = "2d"
        drain_wait = "5"
        drain_timeout = "0s"
    "#;
    let invalid = |name: &str, text: &str| {
        format!(
            "FILE: {name}: invalid duration `{text}`: expected a number with a unit, such as \
             `15s`, `500ms` or `2m` (at most 24h)"
        )
    };
    let expected = [
        invalid("head_timeout", "15"),
        invalid("body_timeout", "0s"),
        invalid("idle_timeout", "2d"),
        invalid("drain_wait", "5"),
        invalid("drain_timeout", "0s"),
        "connections_per_address: must be `none`, since with trust_proxy all connections come from \
         the proxy"
            .to_owned(),
    ];
    assert_eq!(resolved(text, &[]).unwrap_err(), expected);
}

/// Numbers that a server could not run with are errors, reported with all others.
#[test]
fn numbers_that_are_too_large() {
    assert_eq!(with_file("connections = 1000000").settings.connections.max, 1_000_000);
    let largest = with_file("body_bytes_max = 33554432").settings;
    assert_eq!(largest.body_bytes_max, largest.bodies_bytes_max / 8);
    let text = "connections = 9223372036854775807\nhead_timeout = 15\n\
                body_bytes_max = 33554433\njobs_per_request = 10001\n\
                jobs_per_request_with_key = 10000";
    let expected = [
        "FILE: jobs_per_request: `10001` is more than 10000, the limit for one request",
        "FILE: body_bytes_max: `33554433` is more than 33554432, the limit for all bodies of one \
         address together",
        "FILE: connections: `9223372036854775807` is more than 1000000, the limit for connections",
        "FILE: head_timeout: invalid duration `15`: expected a number with a unit, such as `15s`, \
         `500ms` or `2m` (at most 24h)",
    ];
    assert_eq!(resolved(text, &[]).unwrap_err(), expected);
    assert!(resolved("connections = 1000001", &[]).is_err());
}

#[test]
fn addresses_to_listen_on() {
    let listen = |text: &str| with_file(&format!("listen = {text:?}")).listen;
    assert_eq!(listen("unix:/run/figdex.sock"), Listen::Unix("/run/figdex.sock".into()));
    assert_eq!(listen("unix:/run/figdex.sock").to_string(), "unix:/run/figdex.sock");
    assert_eq!(listen("[::1]:80").to_string(), "[::1]:80");
    assert_eq!(listen("localhost:80").to_string(), "localhost:80");
    assert_eq!(listen("systemd"), Listen::Passed(None));
    assert_eq!(listen("systemd:web"), Listen::Passed(Some("web".into())));
    assert_eq!(listen("systemd:web").to_string(), "systemd:web");
    for text in ["unix:", "unix", "systemd:", "Systemd", "localhost", "127.0.0.1", ""] {
        assert!(values::listen(text).is_err(), "{text}");
    }
}

#[test]
fn invalid_files() {
    let faults = resolved("listen = ", &[]).unwrap_err();
    assert!(faults[0].starts_with("FILE: TOML parse error at line 1"), "{faults:?}");
    let Faults(faults) = Config::resolve(&flags(&["--config=/nowhere/figdex.toml"])).unwrap_err();
    assert_eq!(faults.len(), 1);
    assert!(faults[0].starts_with("/nowhere/figdex.toml: No such file"), "{faults:?}");
}

#[test]
fn values_one_by_one() {
    for text in ["http://h", "https://h.example:8443/base", "https://h/"] {
        assert!(values::url(text).is_ok(), "{text}");
    }
    for text in ["", "h", "ftp://h", "https://", "https://h?x=1", "https://h#x", "https://a b"] {
        assert!(values::url(text).is_err(), "{text}");
    }
    assert!(values::path("").is_err() && values::count_or_none("-1").is_err());
    assert_eq!((values::truth("1"), values::truth("false")), (Ok(true), Ok(false)));
}

/// A proxy on the same machine passes on the requests of strangers.
#[test]
fn identifiers_are_hidden_from_strangers() {
    let hidden = |text: &str| listed(&with_file(text), "hide_identifiers");
    let derived = |reason: &str| {
        let reason = format!("{reason}; --hide-identifiers=false shows them");
        (Some(true.into()), Provenance::Derived(reason))
    };
    assert_eq!(hidden(""), (Some(false.into()), Provenance::Default));
    let of_proxy = derived("with trust_proxy the clients of the proxy may be strangers");
    assert_eq!(hidden("trust_proxy = true"), of_proxy);
    let of_socket = derived("unix:/run/x is not a loopback address");
    assert_eq!(hidden("listen = 'unix:/run/x'\ntrust_proxy = true"), of_socket);
    let (shown, _) = hidden("trust_proxy = true\nhide_identifiers = false");
    assert_eq!(shown, Some(false.into()));
}

/// contract 23.1, 23.2: the classes of idTypes, and those that they cannot have.
#[test]
fn classes_of_identifiers() {
    use figdex_index::{IdType, Visible};
    let text = "[identifiers]\nID_CUSIP = 'internal'\nID_SEDOL = 'hidden'\nID_ISIN = 'open'";
    let settings = with_file(text).settings;
    let hidden = |classes: &[IdType]| Visible::without(|class| classes.contains(&class));
    assert_eq!(settings.visible(false), hidden(&[IdType::Cusip, IdType::Sedol]));
    assert_eq!(settings.visible(true), hidden(&[IdType::Sedol]));
    let strict = with_file(&format!("hide_identifiers = true\n{text}")).settings;
    assert_eq!(strict.visible(false), Visible::without(|class| class != IdType::Isin));
    assert_eq!(strict.visible(true), hidden(&[IdType::Sedol]));
    assert!(with_file("").settings.visible(false).is_all());
    assert!(with_file("trust_proxy = true").settings.visible(false).is_least());

    let wrong = "[identifiers]\nID_CUSP = 'open'\nid_isin = 'open'\nID_SEDOL = 'secret'\n\
                 ID_CINS = 'hidden'\nID_CUSIP_8_CHR = 'internal'\nTICKER = 'hidden'\nWKN = 'open'\n\
                 ID_BB = true";
    let mut faults = resolved(wrong, &[]).unwrap_err();
    faults.sort();
    let covered =
        "it has the class of ID_CUSIP, which contains it: give ID_CUSIP a class in its place";
    let invalid = "expected `open`, `internal` or `hidden`";
    let expected = [
        format!("FILE: identifiers.ID_BB: invalid class `true`: {invalid}"),
        format!("FILE: identifiers.ID_CINS: {covered}"),
        "FILE: identifiers.ID_CUSP: unknown setting; did you mean identifiers.ID_CUSIP?".to_owned(),
        format!("FILE: identifiers.ID_CUSIP_8_CHR: {covered}"),
        format!("FILE: identifiers.ID_SEDOL: invalid class `secret`: {invalid}"),
        "FILE: identifiers.TICKER: every row shows it, so it is always open: leave it out"
            .to_owned(),
        "FILE: identifiers.WKN: unknown setting".to_owned(),
        "FILE: identifiers.id_isin: unknown setting; did you mean identifiers.ID_ISIN?".to_owned(),
    ];
    let mut expected = expected.to_vec();
    expected.sort();
    assert_eq!(faults, expected);

    let listing = with_file(&format!("hide_identifiers = true\n{text}")).listing().to_string();
    for line in [
        "\n[identifiers]\nID_ISIN = \"open\"  # ",
        "\nID_COMMON = \"internal\"  # derived: hide_identifiers is on\n",
        "lines.toml: identifiers.ID_SEDOL\n",
    ] {
        assert!(listing.contains(line), "{line}\n{listing}");
    }
    assert!(!listing.contains("ID_CINS") && !listing.contains("TICKER"), "{listing}");
    let again = with_file(&listing).settings;
    assert_eq!(
        (again.visible(false), again.visible(true)),
        (strict.visible(false), strict.visible(true))
    );
}

#[test]
fn a_listing_can_be_read_as_a_file() {
    let lifted = &EVERYTHING.replace("no_limits = false", "no_limits = true");
    let values = |config: &Config| {
        let settings = SETTINGS.iter().map(|setting| (setting.get)(config)).collect::<Vec<_>>();
        (settings, config.rates.clone())
    };
    for text in ["", "cors = '*'", "no_limits = false", lifted] {
        let first = with_file(text);
        let second = with_file(&first.listing().to_string());
        assert_eq!(values(&first), values(&second), "{text}");
    }
    let printed = with_file(&lifted.replace("hide_identifiers = true", "")).listing().to_string();
    for line in [
        "listen = \"[::]:9000\"  # ",
        "connections_per_address = \"none\"  # derived: with trust_proxy all connections come \
         from the proxy\n",
        "hide_identifiers = true  # derived: [::]:9000 is not a loopback address; \
         --hide-identifiers=false shows them\n",
        "\n# keys is not set: a request with a key is refused\n",
        "\n[limits.v2.search]\nwithout_key = \"5/60s\"  # default; lifted by no_limits\n",
        "with_key = \"500/60s\"  # ",
        "lines.toml: limits.v3.mapping.with_key; lifted by no_limits\n",
        "\nwithout_key = \"none\"  # ",
        "\n[limits.suggest]\nrate = \"9/3600s\"  # ",
    ] {
        assert!(printed.contains(line), "{line}\n{printed}");
    }
}

/// A reload applies changes of limits and keys. Changes of other settings wait for a restart, and
/// the next reload names them again.
#[test]
fn changes_that_a_reload_applies() {
    let mut in_force = with_file("").listing();
    let text = "connections = 7\njobs_per_request = 2\njobs_per_request_with_key = 3\n\
                body_bytes_max = 200\nlimits.v3.search.with_key = '1/1s'";
    let now = with_file(text).listing();
    let of_a_request = ["jobs_per_request", "jobs_per_request_with_key", "body_bytes_max"];
    let applied: Vec<_> =
        of_a_request.into_iter().chain(["limits.v3.search.with_key"]).map(str::to_owned).collect();
    for applied in [applied, vec![]] {
        let changes = in_force.apply(now.clone());
        assert_eq!(changes, Changes { applied, waiting: vec!["connections".to_owned()] });
    }
    let changes = in_force.apply(with_file("no_limits = true").listing());
    let applied = ["no_limits"].into_iter().chain(of_a_request);
    let applied = applied.chain(["limits.v3.search.with_key"]).map(str::to_owned).collect();
    assert_eq!(changes, Changes { applied, waiting: Vec::new() });
    let live = "on SIGHUP: [limits],\n# keys, no_limits, jobs_per_request\n\
                # jobs_per_request_with_key, jobs_per_list, jobs_per_list_with_key\n\
                # body_bytes_max\n";
    assert!(in_force.to_string().contains(live), "{in_force}");
}

/// Every setting has a flag, a variable that follows from its name, help and a default.
#[test]
fn every_setting_has_a_flag() {
    let command = Flags::command();
    command.clone().debug_assert();
    let serve = command.find_subcommand("serve").unwrap();
    for Setting { name, .. } in SETTINGS {
        let flag = serve.get_arguments().find(|flag| flag.get_id() == name).unwrap();
        assert_eq!(flag.get_long().unwrap().replace('-', "_"), *name);
        let variable = format!("FIGDEX_{}", name.to_uppercase());
        assert_eq!(flag.get_env(), Some(variable.as_ref()));
        let help = flag.get_help().unwrap().to_string();
        assert!(help.len() > 20 && help.contains(" [default: "), "{help}");
    }
}

/// `packaging/figdex.toml` has every setting, with the help and the default of the table.
/// `FIGDEX_BLESS=1 cargo test -p figdex --lib config` writes it.
#[test]
fn the_example_file_follows_the_table() {
    let (head, rest) = FILE.split_at(FILE.find("\n\n").unwrap() + 2);
    let limits = &rest[rest.find("# The request rates").unwrap()..];
    let defaults = Config::default();
    let settings: String = SETTINGS.iter().map(|setting| paragraph(setting, &defaults)).collect();
    let expected = format!("{head}{settings}{limits}");
    if std::env::var_os("FIGDEX_BLESS").is_some() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("packaging/figdex.toml");
        fs::write(path, &expected).unwrap();
    }
    assert!(FILE == expected, "FIGDEX_BLESS=1 writes packaging/figdex.toml\n{expected}");
    let running = include_str!("../../docs/running.md");
    for setting in SETTINGS.iter().filter(|setting| setting.is_live) {
        assert!(running.contains(&format!("`{}`", setting.name)), "{}", setting.name);
    }
}

/// A setting in the example file: its help in comments, and a line to take out of its comment.
fn paragraph(setting: &Setting, defaults: &Config) -> String {
    let Setting { name, help, note, .. } = setting;
    let default = (setting.get)(defaults);
    let mut words = format!("{help}.");
    if !note.is_empty() {
        let value = default.as_ref().map(|value| format!("{}; ", values::plain(value)));
        words += &format!(" Default: {}{note}.", value.unwrap_or_default());
    }
    if setting.is_live {
        words += " SIGHUP applies a change.";
    }
    let value = default.unwrap_or_else(|| {
        let (_, example) = EXAMPLES.iter().find(|(named, _)| named == name).unwrap();
        words += " An example:";
        values::text(example)
    });
    let mut lines = vec!["#".to_owned()];
    for word in words.split(' ') {
        if lines[lines.len() - 1].len() + 1 + word.len() > 90 {
            lines.push("#".to_owned());
        }
        let last = lines.len() - 1;
        lines[last] += &format!(" {word}");
    }
    format!("{}\n#{name} = {value}\n\n", lines.join("\n"))
}

/// The server that `figdex ready` asks.
fn asked(arguments: &[&str]) -> Result<String, String> {
    let flags = Flags::try_parse_from([&["figdex", "ready"], arguments].concat()).unwrap();
    let Command::Ready(flags) = flags.into_command() else { panic!("another command") };
    flags.asked().map(|asked| asked.to_string()).map_err(|faults| faults.to_string())
}

#[test]
fn the_server_of_the_settings_is_asked() {
    for (arguments, expected) in [
        (&[][..], "http://127.0.0.1:8080"),
        (&["--listen=0.0.0.0:9000"], "http://127.0.0.1:9000"),
        (&["--listen=[::]:9000", "--tls-cert=x"], "https://[::1]:9000"),
        (&["--listen=[::]:9000", "--admin-listen=10.0.0.1:1"], "http://10.0.0.1:1"),
        (&["--tls-cert=x", "--admin-listen=127.0.0.1:1"], "http://127.0.0.1:1"),
        (&["--listen=unix:/run/x"], "unix:/run/x"),
        (&["https://a.example/b/", "--listen=0.0.0.0:9000"], "https://a.example/b"),
    ] {
        assert_eq!(asked(arguments).as_deref(), Ok(expected));
    }
    assert!(asked(&["--listen=[::]:0"]).unwrap_err().contains("name the URL"));
    assert!(asked(&["--config=absent.toml"]).unwrap_err().contains("absent.toml"));
}
