//! `packaging/`: the units name commands, flags and files that exist, and their commands work.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command as Process;

use clap::Parser as _;
use figdex::ConnectionBounds;
use figdex::config::{Command, Flags};

use crate::support::{ingest, program};

const UNITS: [&str; 5] = [
    "figdex.service",
    "figdex.socket",
    "figdex-rebuild.service",
    "figdex-rebuild-failed.service",
    "figdex-rebuild.timer",
];

/// The highest exposure that `systemd-analyze security` may report, in tenths: a server that listens
/// is exposed a little, a build hardly.
const EXPOSURE_MAX: [(&str, &str); 2] =
    [("figdex.service", "20"), ("figdex-rebuild.service", "10")];

fn packaging() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("packaging")
}

/// The values of a key in a unit, in their order.
fn values(unit: &str, key: &str) -> Vec<String> {
    let text = fs::read_to_string(packaging().join(unit)).unwrap();
    let settings = text.lines().filter(|line| !line.starts_with(['#', '[']) && !line.is_empty());
    let pairs =
        settings.map(|line| line.split_once('=').unwrap_or_else(|| panic!("{unit}: {line}")));
    pairs.filter(|(found, _)| *found == key).map(|(_, value)| value.to_owned()).collect()
}

fn value(unit: &str, key: &str) -> String {
    match &values(unit, key)[..] {
        [value] => value.clone(),
        other => panic!("{unit}: {key}: {other:?}"),
    }
}

/// The words of the one command that a service runs.
fn command(unit: &str) -> Vec<String> {
    // In a unit `%%` is a per cent sign.
    value(unit, "ExecStart").replace("%%", "%").split(' ').map(str::to_owned).collect()
}

#[test]
fn the_service_runs_what_there_is() {
    let words = command("figdex.service");
    assert_eq!(words[0], "/usr/bin/figdex");
    let flags = Flags::try_parse_from(&words).unwrap_or_else(|error| panic!("{error}"));
    let Command::Serve(flags) = flags.into_command() else { panic!("{words:?}") };
    assert_eq!(flags.config.as_deref(), Some(Path::new("/etc/figdex/figdex.toml")));
    let index = value("figdex.service", "Environment");
    assert_eq!(index, "FIGDEX_INDEX=/var/lib/figdex/index");
    assert_eq!(value("figdex.service", "ExecReload"), "/bin/kill -HUP $MAINPID");
    // Without an index the server ends, and systemd starts it again until there is one, whichever
    // folder is set.
    assert_eq!(value("figdex.service", "Restart"), "on-failure");
    assert_eq!(value("figdex.service", "StartLimitIntervalSec"), "0");
    assert!(values("figdex.service", "ConditionPathExists").is_empty());
    let open_files: usize = value("figdex.service", "LimitNOFILE").parse().unwrap();
    assert!(open_files > figdex::ConnectionBounds::default().max + 256);
}

/// The service manager does not kill a server that drains.
#[test]
fn the_service_has_time_to_drain() {
    let ConnectionBounds { drain_wait, drain_timeout, .. } = ConnectionBounds::DEFAULT;
    let stop = value("figdex.service", "TimeoutStopSec");
    let stop: u64 = stop.strip_suffix('s').unwrap().parse().unwrap();
    assert!((drain_wait + drain_timeout).as_secs() < stop, "{stop} s");
}

/// The socket unit holds the address of the default settings, for the service of the same name. The
/// server understands the setting that the unit advises.
#[test]
fn the_socket_is_the_address_of_the_service() {
    // Another test compares that file with the defaults.
    let settings = fs::read_to_string(packaging().join("figdex.toml")).unwrap();
    let default = format!("\n#listen = \"{}\"\n", value("figdex.socket", "ListenStream"));
    assert!(settings.contains(&default), "{default}");
    assert_eq!(value("figdex.socket", "Accept"), "no");
    assert!(values("figdex.socket", "Service").is_empty());
    let text = fs::read_to_string(packaging().join("figdex.socket")).unwrap();
    for setting in ["systemd", "systemd:clients", "systemd:operators"] {
        assert!(text.contains(&format!("listen = \"{setting}\"")), "{setting}");
        assert!(matches!(setting.parse(), Ok(figdex::Listen::Passed(_))), "{setting}");
    }
    assert_eq!(value("figdex.socket", "FileDescriptorName"), "clients");
}

/// The configuration of the balancer fits the server's own times: HAProxy waits longer than the
/// server takes to answer, and closes a silent connection before the server does. A server that
/// drains for the advised time still accepts connections when HAProxy has noticed.
#[test]
fn the_balancer_fits_the_server() {
    let text = fs::read_to_string(packaging().join("haproxy/haproxy.cfg")).unwrap();
    let seconds = |name: &str| -> u64 {
        let line = text.lines().find_map(|line| line.trim().strip_prefix(name));
        let line = line.unwrap_or_else(|| panic!("{name}"));
        line.trim().strip_suffix('s').unwrap().parse().unwrap()
    };
    let bounds = ConnectionBounds::DEFAULT;
    assert!(seconds("timeout server") > bounds.answer_timeout.as_secs());
    assert!(seconds("timeout http-keep-alive") < bounds.idle_timeout.as_secs());
    assert!(seconds("timeout client") <= bounds.idle_timeout.as_secs());
    assert!(seconds("timeout http-request") >= bounds.head_timeout.as_secs());
    let checks = "default-server check inter 1s fastinter 500ms downinter 1s fall 2 rise 2";
    assert!(text.contains(checks));
    let (inter, fall, check) = (1, 2, seconds("timeout check"));
    let advised = "`drain_wait = \"5s\"`";
    assert!(text.contains(advised));
    assert!(inter * fall + check < 5);
    let stop: u64 =
        value("figdex.service", "TimeoutStopSec").trim_end_matches('s').parse().unwrap();
    assert!(5 + bounds.drain_timeout.as_secs() < stop);
}

/// The commands in the files for containers: `figdex-ingest` knows each flag, and they have the guard
/// of the nightly build.
#[test]
fn containers_run_what_there_is() {
    let unit = command("figdex-rebuild.service");
    let guard: Vec<_> = unit
        .windows(2)
        .filter(|words| words[0].starts_with("--max-"))
        .map(|words| words.join("="))
        .collect();
    assert!(guard.len() >= 2);
    let files = fs::read_dir(packaging()).unwrap().map(|entry| entry.unwrap().path());
    let mut commands = 0;
    for file in files.filter(|file| file.extension().is_some_and(|end| end == "yaml")) {
        let text = fs::read_to_string(&file).unwrap();
        let mut lines = text.lines().map(str::trim);
        while let Some(line) = lines.next() {
            if !["args:", "command:"].contains(&line) {
                continue;
            }
            let words = lines.by_ref().map_while(|line| line.strip_prefix("- "));
            // A program without the features refuses the addresses of clusters and of storages.
            let here = |word: &str| match word.strip_prefix("--index=") {
                Some(_) => "--index=index".to_owned(),
                None => word.to_owned(),
            };
            let words = words.map(here);
            let words: Vec<_> = ["figdex-ingest".to_owned()].into_iter().chain(words).collect();
            for flag in &guard {
                assert!(words.contains(flag), "{}: {flag}", file.display());
            }
            let parsed = figdex_ingest::flags::Flags::try_parse_from(&words);
            parsed.unwrap_or_else(|error| panic!("{}: {error}", file.display()));
            commands += 1;
        }
        for variable in text.split(|c: char| c != '_' && !c.is_ascii_alphanumeric()) {
            let Some(setting) =
                variable.strip_prefix("FIGDEX_").filter(|name| !["", "IMAGE"].contains(name))
            else {
                continue;
            };
            let settings = fs::read_to_string(packaging().join("figdex.toml")).unwrap();
            let line = format!("\n#{} = ", setting.to_lowercase());
            assert!(settings.contains(&line), "{}: {variable}", file.display());
        }
    }
    assert_eq!(commands, 4);
}

/// Operators reach the metrics of a server in a container from its machine. One volume is for one node
/// only: the build runs there, and a rollout ends the old server first.
#[test]
fn containers_fit_their_volumes_and_networks() {
    let read = |name: &str| fs::read_to_string(packaging().join(name)).unwrap();
    for name in ["compose.yaml", "compose.opensearch.yaml"] {
        let text = read(name);
        assert!(text.contains("FIGDEX_ADMIN_LISTEN: 0.0.0.0:8081\n"), "{name}");
        assert!(text.contains("\"127.0.0.1:8081:8081\"]\n"), "{name}");
    }
    let one = read("kubernetes.yaml");
    assert!(one.contains("strategy: {type: Recreate}"));
    let required = "podAffinity:\n              requiredDuringSchedulingIgnoredDuringExecution:\n";
    assert!(one.contains(required));
    let several = read("kubernetes.replicas.yaml");
    assert!(several.contains("volumeClaimTemplates:"), "a volume for each copy");
    let seconds = |before: &str| -> u64 {
        let (_, after) = several.split_once(before).unwrap_or_else(|| panic!("{before}"));
        let digits: String = after.chars().take_while(char::is_ascii_digit).collect();
        digits.parse().unwrap()
    };
    let drain = seconds("{name: FIGDEX_DRAIN_WAIT, value: ");
    let end = drain + ConnectionBounds::DEFAULT.drain_timeout.as_secs();
    assert!(end < seconds("terminationGracePeriodSeconds: "));
}

/// The command of the nightly rebuild, run in a folder that stands for the machine: it publishes
/// where the service reads, and writes only where its unit allows.
#[test]
fn the_rebuild_publishes_what_the_service_reads() {
    let folder = tempfile::tempdir().unwrap();
    let [dumps, state] = ["dumps", "state"].map(|name| folder.path().join(name));
    fs::create_dir_all(&dumps).unwrap();
    fs::create_dir_all(&state).unwrap();
    fs::write(dumps.join("day.csv"), "figi,ticker\nBBG000BLNNH6,IBM\n").unwrap();
    let words = command("figdex-rebuild.service");
    assert_eq!(words[0], "/usr/bin/figdex-ingest");
    assert_eq!(value("figdex-rebuild.service", "ReadWritePaths"), "/var/lib/figdex");
    // An index set in the environment file holds for both units, and so does the default.
    for key in ["Environment", "EnvironmentFile"] {
        assert_eq!(value("figdex-rebuild.service", key), value("figdex.service", key));
    }
    let index = value("figdex-rebuild.service", "Environment");
    let index = index.strip_prefix("FIGDEX_INDEX=").unwrap();
    let here = |word: &String| {
        word.replace("${FIGDEX_INDEX}", index)
            .replace("/srv/figdex/dumps", dumps.to_str().unwrap())
            .replace("/var/lib/figdex", state.to_str().unwrap())
    };
    let words: Vec<_> = words[1..].iter().map(here).collect();
    let words: Vec<_> = words.iter().map(String::as_str).collect();
    assert!(words.iter().all(|word| !word.starts_with('/') || word.starts_with(folder.path().to_str().unwrap())));
    for _ in 0..2 {
        let (code, printed, error) = ingest(folder.path(), &words);
        assert_eq!(code, 0, "{printed}{error}");
    }
    let index = here(&value("figdex.service", "Environment"));
    let index = Path::new(index.strip_prefix("FIGDEX_INDEX=").unwrap());
    let index = figdex_index::Catalogue::open(index).unwrap();
    assert_eq!(index.manifest().generation, 2);
    let report = fs::read(state.join("report.json")).unwrap();
    let report: serde_json::Value = serde_json::from_slice(&report).unwrap();
    assert_eq!(report["result"], "published");
    // A build that fails says so, and starts a unit that is installed.
    fs::write(dumps.join("day.csv"), "figi,ticker\nBBG000B9XRY4,AAPL\n").unwrap();
    let (code, _, error) = ingest(folder.path(), &words);
    assert!(code == 1 && error.contains("--max-removed is 2%"), "{error}");
    let report = fs::read(state.join("report.json")).unwrap();
    let report: serde_json::Value = serde_json::from_slice(&report).unwrap();
    assert_eq!(report["result"], "refused");
    assert!(UNITS.contains(&&*value("figdex-rebuild.service", "OnFailure")));
    let others: Vec<_> = fs::read_dir(folder.path()).unwrap().collect();
    assert_eq!(others.len(), 2, "{others:?}");
}

/// With the drop-ins for an index that is elsewhere, the build is that of the unit and publishes from
/// a work folder, which its unit lets it write; and the server has a folder for a copy.
#[test]
fn an_index_elsewhere() {
    let publish = "drop-ins/figdex-publish.conf";
    let commands = values(publish, "ExecStart");
    let [reset, command] = &commands[..] else { panic!("{commands:?}") };
    assert_eq!(reset, "");
    let here = value("figdex-rebuild.service", "ExecStart");
    assert_eq!(*command, format!("{here} --work /var/lib/figdex/work"));
    let words = command.replace("%%", "%").replace("${FIGDEX_INDEX}", "s3://bucket/figdex");
    let words = words.split(' ').skip(1).collect::<Vec<_>>();
    // A program without object storage refuses the address. One with it understands the flags, and
    // ends without its dumps.
    let folder = tempfile::tempdir().unwrap();
    let (code, _, error) = ingest(folder.path(), &words);
    let expected = match code {
        2 => "this program was built without object storage",
        _ => "/srv/figdex/dumps",
    };
    assert!(code == 1 || code == 2, "{code}: {error}");
    assert!(error.contains(expected), "{error}");
    let copy = "drop-ins/figdex-copy.conf";
    let cache = format!("FIGDEX_CACHE=/var/cache/{}/index", value(copy, "CacheDirectory"));
    assert_eq!(value(copy, "Environment"), cache);
}

/// The build parses files from elsewhere, so it runs as another user than the server: it can neither
/// read nor replace the server's keys, and does not see the settings and certificates. Both users
/// are made, in one group, through which the server reads the index.
#[test]
fn the_rebuild_is_kept_from_the_keys() {
    let (server, build) = ("figdex.service", "figdex-rebuild.service");
    assert_ne!(value(build, "User"), value(server, "User"));
    assert_eq!(value(build, "Group"), value(server, "Group"));
    let users = fs::read_to_string(packaging().join("figdex.sysusers")).unwrap();
    for line in ["\nu figdex - ", "\nu figdex-ingest -:figdex "] {
        assert!(users.contains(line), "{line}");
    }
    // With `StateDirectory` systemd would give the folder and its files to the unit's user.
    assert!(values(build, "StateDirectory").is_empty());
    assert_eq!(value(build, "InaccessiblePaths"), "-/etc/figdex");
    assert_eq!(value(server, "ReadOnlyPaths"), "/var/lib/figdex");
}

/// Memory is bounded by a share of the machine's memory. Pages of the mapped index count, so a small
/// bound would make the server read them from the disk again and again.
#[test]
fn memory_has_a_bound_that_leaves_room_for_the_index() {
    for unit in ["figdex.service", "figdex-rebuild.service"] {
        let bound = value(unit, "MemoryMax");
        let percent: u32 = bound.strip_suffix('%').unwrap_or_default().parse().unwrap();
        assert!((80..100).contains(&percent), "{unit}: {bound}");
    }
}

/// systemd's own checks of the units.
#[test]
fn systemd_finds_no_fault() {
    if Process::new("systemd-analyze").arg("--version").output().is_err() {
        let is_required = std::env::var_os("FIGDEX_REQUIRE_TOOLS").is_some();
        assert!(!is_required, "FIGDEX_REQUIRE_TOOLS is set, and systemd-analyze is missing");
        eprintln!("skipped: systemd-analyze is not installed");
        return;
    }
    // The programs are not installed at the paths in the units.
    let folder = tempfile::tempdir().unwrap();
    let units = UNITS.map(|unit| {
        let text = fs::read_to_string(packaging().join(unit)).unwrap();
        let text = text.replace("/usr/bin/figdex-ingest", program().to_str().unwrap());
        let text = text.replace("/usr/bin/figdex", env!("CARGO_BIN_EXE_figdex"));
        let path = folder.path().join(unit);
        fs::write(&path, text).unwrap();
        path
    });
    let run = |arguments: &[&str], units: &[PathBuf]| {
        let output = Process::new("systemd-analyze").args(arguments).args(units).output().unwrap();
        let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
        (output.status.success(), text(&output.stdout), text(&output.stderr))
    };
    let drop_ins =
        [("figdex.service", "figdex-copy.conf"), ("figdex-rebuild.service", "figdex-publish.conf")];
    let verify = |when: &str| {
        let (is_good, _, errors) = run(&["verify"], &units);
        let ours: Vec<_> = errors.lines().filter(|line| line.contains("figdex")).collect();
        assert!(is_good && ours.is_empty(), "{when}: {errors}");
    };
    verify("alone");
    for (unit, exposure_max) in EXPOSURE_MAX {
        let threshold = format!("--threshold={exposure_max}");
        let (is_safe, table, errors) = run(
            &["security", "--offline=true", "--no-pager", &threshold],
            &[folder.path().join(unit)],
        );
        assert!(is_safe, "{table}{errors}");
    }
    for (unit, drop_in) in drop_ins {
        let text = fs::read_to_string(packaging().join("drop-ins").join(drop_in)).unwrap();
        let text = text.replace("/usr/bin/figdex-ingest", program().to_str().unwrap());
        let into = folder.path().join(format!("{unit}.d"));
        fs::create_dir(&into).unwrap();
        fs::write(into.join(drop_in), text).unwrap();
    }
    verify("with the drop-ins");
}
