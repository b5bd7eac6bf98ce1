//! What `figdex config` prints can be fed back, and leaves nothing out.

use std::collections::BTreeSet;
use std::fs;

use clap::CommandFactory as _;

use super::*;
use crate::config::{Flags, ServeFlags};

fn with_file(text: &str) -> Config {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a file\nof two lines.toml");
    fs::write(&file, text).unwrap();
    let flags = ServeFlags { config: Some(file), ..ServeFlags::default() };
    Config::resolve(&flags).unwrap_or_else(|faults| panic!("{faults}\n{text}"))
}

fn values(listing: &Listing) -> Vec<(&str, &Held)> {
    listing.settings().iter().map(|setting| (&*setting.name, &setting.value)).collect()
}

#[test]
fn what_is_printed_can_be_fed_back() {
    let everything = r#"
        index = "src"
        listen = "[::]:9000"
        admin_listen = "127.0.0.1:9001"
        no_limits = true
        trust_proxy = true
        jobs_per_request = 5
        jobs_per_request_with_key = "10000"
        body_bytes_max = 2097152
        connections = 7
        search_envelope = "array"
        unknown_enum = "no-match"
        strict_contract = true
        cors = ["https://a.example", "http://localhost:3000"]
        public_url = "https://figi.example.com/"
        [limits.v3]
        mapping = { with_key = "500/1m" }
        [limits.v2.jobs]
        without_key = "none"
        [limits.suggest]
        rate = "9/1h"
    "#;
    for text in ["", "cors = '*'", "no_limits = false", everything] {
        let first = with_file(text).listing();
        let second = with_file(&first.to_string()).listing();
        assert_eq!(values(&first), values(&second), "{first}");
    }
    let printed = with_file(everything).listing().to_string();
    for line in [
        "listen = \"[::]:9000\"  # ",
        "connections_per_address = \"none\"  # derived: with trust_proxy all connections are the \
         proxy's\n",
        "hide_identifiers = true  # derived: [::]:9000 is no loopback address; \
         --hide-identifiers=false would show them\n",
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

/// A proxy on the same machine is asked by strangers.
#[test]
fn what_hides_identifiers() {
    let hidden = |text: &str| {
        let listing = with_file(text).listing();
        let mut settings = listing.settings().iter();
        let setting = settings.find(|setting| setting.name == "hide_identifiers").unwrap();
        (setting.value.clone(), setting.provenance.clone())
    };
    let derived = |reason: &str| {
        let reason = format!("{reason}; --hide-identifiers=false would show them");
        (Held::Value(true.into()), Provenance::Derived(reason))
    };
    assert_eq!(hidden(""), (Held::Value(false.into()), Provenance::Default));
    let of_proxy = derived("with trust_proxy the proxy's clients may be strangers");
    assert_eq!(hidden("trust_proxy = true"), of_proxy);
    let of_socket = derived("unix:/run/x is no loopback address");
    assert_eq!(hidden("listen = 'unix:/run/x'\ntrust_proxy = true"), of_socket);
    let (told, _) = hidden("trust_proxy = true\nhide_identifiers = false");
    assert_eq!(told, Held::Value(false.into()));
}

/// Every flag of `serve` is a setting, but for the one that names the file.
#[test]
fn nothing_is_left_out() {
    let listing = with_file("").listing();
    let names: BTreeSet<_> = listing.settings().iter().map(|setting| &*setting.name).collect();
    let command = Flags::command();
    let serve = command.find_subcommand("serve").unwrap();
    let flags = serve.get_arguments().filter(|flag| flag.get_long().is_some());
    let flags: BTreeSet<_> = flags.map(|flag| flag.get_id().as_str()).collect();
    let settings = flags.into_iter().filter(|name| !matches!(*name, "config" | "help" | "version"));
    let (limits, others): (BTreeSet<_>, BTreeSet<_>) =
        names.into_iter().partition(|name| name.starts_with("limits."));
    assert_eq!(others, settings.collect());
    assert_eq!(limits.len(), 2 * 7 + 1);
}

/// Of what changed, limits and keys are taken up; the rest waits, and is named again
/// the next time.
#[test]
fn what_is_taken_up() {
    let mut in_force = with_file("").listing();
    let text = "connections = 7\njobs_per_request = 2\njobs_per_request_with_key = 3\n\
                body_bytes_max = 200\nlimits.v3.search.with_key = '1/1s'";
    let now = with_file(text).listing();
    let of_a_request = ["jobs_per_request", "jobs_per_request_with_key", "body_bytes_max"];
    let taken_up: Vec<_> =
        of_a_request.into_iter().chain(["limits.v3.search.with_key"]).map(str::to_owned).collect();
    for taken_up in [taken_up, vec![]] {
        let changes = in_force.take_up(now.clone());
        assert_eq!(changes, Changes { taken_up, waiting: vec!["connections".to_owned()] });
    }
    let changes = in_force.take_up(with_file("no_limits = true").listing());
    let taken_up = ["no_limits"].into_iter().chain(of_a_request);
    let taken_up = taken_up.chain(["limits.v3.search.with_key"]).map(str::to_owned).collect();
    assert_eq!(changes, Changes { taken_up, waiting: Vec::new() });
    let told = "# What changes at once when a running server gets SIGHUP: [limits] and\n# keys, \
                no_limits, jobs_per_request, jobs_per_request_with_key, body_bytes_max; all else \
                waits for a restart.\n";
    assert!(in_force.to_string().contains(told), "{in_force}");
}
