//! The advice about ambiguous rows at the end: the option that would decide, when one would.

use figdex_ingest::Input;

use super::Desk;
use crate::support::process::{Process, figdex};
use crate::support::{build_of, figi};

const LISTINGS: &str = " may mean several listings: ";

/// The line of the advice that contains this.
fn advice<'a>(said: &'a str, part: &str) -> Option<&'a str> {
    said.lines().find(|line| line.contains(part))
}

/// Two identifiers with many rows: the advice names the option that resolves both, and says so
/// before the sum, which stays the last line.
#[test]
fn the_deciding_option_is_named() {
    let desk = Desk::new();
    desk.write("in.csv", "isin\nUS4592001014\nUS0378331005\n");
    let mapped = desk.map(&["in.csv"]);
    assert_eq!(mapped.sum(), "2 rows = 0 resolved + 2 ambiguous + 0 unknown + 0 invalid");
    assert_eq!(
        advice(&mapped.said, LISTINGS).unwrap(),
        "2 rows may mean several listings: --prefer composite --prefer exchCode=US would resolve 2 \
         of 2; other exchange codes are GR, SW, EO"
    );
    let mapped = desk.map(&["in.csv", "--prefer", "composite", "--prefer", "exchCode=US"]);
    assert_eq!(mapped.sum(), "2 rows = 2 resolved + 0 ambiguous + 0 unknown + 0 invalid");
    assert_eq!(advice(&mapped.said, LISTINGS), None);
    // A step that is given is not named again.
    let mapped = desk.map(&["in.csv", "--prefer", "composite"]);
    let line = advice(&mapped.said, LISTINGS).unwrap();
    assert!(line.contains(": --prefer exchCode=US would resolve 2 of 2"), "{line}");
    let mapped = desk.map(&["in.csv", "--prefer", "exchCode=UN"]);
    let line = advice(&mapped.said, LISTINGS).unwrap();
    assert!(line.starts_with("1 row"), "{line}");
    assert!(line.contains(": --prefer composite --prefer exchCode=US would resolve 1 of 1"));
    // With all rows written, nothing has to be decided.
    let mapped = desk.map(&["in.csv", "--many", "all"]);
    assert_eq!(advice(&mapped.said, LISTINGS), None);
}

/// A server is not asked for advice, since the question would count in its rate limit.
#[test]
fn a_server_is_not_asked_for_advice() {
    let desk = Desk::new();
    let mut command = figdex();
    command.arg("--index").arg(desk.path("index")).args(["--listen", "127.0.0.1:0"]);
    let server = Process::start(&mut command);
    desk.write("in.csv", "isin\nUS4592001014\n");
    let mapped = desk.map(&["in.csv", "--url", &server.place]);
    assert_eq!(
        advice(&mapped.said, LISTINGS).unwrap(),
        "1 row may mean several listings: --prefer says which one is meant, such as --prefer \
         composite --prefer 'exchCode=US|LN'"
    );
}

/// No step decides between readings of a text, nor between rows that differ in no property.
#[test]
fn no_step_is_named_that_would_not_decide() {
    let desk = Desk(tempfile::tempdir().unwrap());
    let dump = format!(
        "figi,ticker,ID_WERTPAPIER,ID_ISIN,exchCode\n\
         {},851399,,US0378331005,US\n{},A,851399,,US\n{},B,,US0378331005,US\n",
        figi(0),
        figi(1),
        figi(2)
    );
    let dump = Input::Memory("dump", dump.into_bytes().into());
    build_of(vec![dump], &desk.path("index")).run(&mut |_| {}).unwrap();
    desk.write("in.csv", "my id,x\n851399,1\nUS0378331005,2\n");
    let mapped = desk.map(&["in.csv", "--id", "my id"]);
    assert_eq!(mapped.sum(), "2 rows = 0 resolved + 2 ambiguous + 0 unknown + 0 invalid");
    assert_eq!(
        advice(&mapped.said, LISTINGS).unwrap(),
        "1 row may mean several listings: no step that was tried decides; --many all writes all \
         of them"
    );
    assert_eq!(
        advice(&mapped.said, "several securities").unwrap(),
        "1 row may mean several securities, by the ways to read them: --id 'my id':ID_WERTPAPIER \
         says how the column is read"
    );
    desk.write("wkn.csv", "my id,x\n851399,1\n");
    let mapped = desk.map(&["wkn.csv", "--id", "my id:ID_WERTPAPIER"]);
    assert_eq!(mapped.sum(), "1 rows = 1 resolved + 0 ambiguous + 0 unknown + 0 invalid");
}

/// When no row of a file is found by its type of identifier, the command says what may be wrong.
#[test]
fn no_row_is_found() {
    let desk = Desk::new();
    let said = "no row is found by ID_SEDOL: the index may have no such identifiers; --id names \
                another column";
    let sedols = ["0798059", "B63H849", "0237400"].map(|sedol| format!("{sedol},x\n"));
    for (rows, is_said) in [(3, true), (2, false)] {
        let mapped =
            desk.map_file("in.csv", format!("Sedol,Name\n{}", sedols[..rows].concat()), &[]);
        assert_eq!(advice(&mapped.said, "no row is found").is_some(), is_said, "{}", mapped.said);
        assert!(!is_said || mapped.said.contains(said), "{}", mapped.said);
    }
    let texts = desk.map_file("in.csv", "Security\nZZZQA\nZZZQB\nZZZQC\n", &["--id", "Security"]);
    assert_eq!(advice(&texts.said, "no row is found"), None, "{}", texts.said);
}
