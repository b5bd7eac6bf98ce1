//! The guard against bad dumps: `figdex-ingest build --max-removed P% --max-changed P%`. The other
//! two limits, and each field, are in `guard_fields`.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use figdex_index::{Catalogue, Property, Publication};
use figdex_ingest::{Build, Comparison, GuardLimits, Input, Report};
use figdex_io::Layout;
use figdex_universe::Universe;

use crate::support::{build_of, figi, generated, ingest};

/// A row of a dump, of which an instrument has two identifiers.
#[derive(Clone)]
struct Given {
    number: u32,
    name: String,
    isins: &'static str,
    expiration: &'static str,
}

/// A hundred instruments, of which two expired long ago.
fn hundred() -> Vec<Given> {
    let given = |number: u32| Given {
        number,
        name: format!("COMPANY {number}"),
        isins: if number == 7 { "US4592001014;US0378331005" } else { "" },
        expiration: if number < 2 { "2001-01-01" } else { "" },
    };
    (0..100).map(given).collect()
}

fn dump(rows: &[Given]) -> String {
    let mut dump = "figi,name,ID_ISIN,expiration\n".to_owned();
    for Given { number, name, isins, expiration } in rows {
        writeln!(dump, "{},{name},{isins},{expiration}", figi(*number)).unwrap();
    }
    dump
}

fn build(
    dump: String,
    index: &Path,
    removed: &str,
    changed: &str,
) -> figdex_ingest::Result<Report> {
    let share = |text: &str| (!text.is_empty()).then(|| text.parse().unwrap());
    let guard =
        GuardLimits { removed: share(removed), changed: share(changed), ..GuardLimits::default() };
    let input = Input::Memory("dump", dump.into_bytes().into());
    Build { guard, ..build_of(vec![input], index) }.run(&mut |_| {})
}

fn generation(index: &Path) -> u64 {
    Catalogue::open(index).unwrap().manifest().generation
}

/// Three are missing, and two that had expired; four are different, one of them in an identifier.
fn half() -> Vec<Given> {
    let mut rows = hundred();
    rows.retain(|row| row.number > 1 && !(50..53).contains(&row.number));
    for row in &mut rows {
        match row.number {
            7 => row.isins = "US4592001014",
            10..13 => row.name.push_str(" AG"),
            _ => {}
        }
    }
    rows
}

/// Both shares are of the published instruments, and a share that is reached is not exceeded. Beyond
/// it nothing is published, and the message names both numbers, FIGIs and the flag.
#[test]
fn beyond_a_limit_nothing_is_published() {
    let folder = tempfile::tempdir().unwrap();
    let index = folder.path().join("index");
    build(dump(&hundred()), &index, "", "").unwrap();
    for (removed, changed, refused) in
        [("2.9%", "", true), ("", "3.9%", true), ("0%", "100%", true), ("3%", "4%", false)]
    {
        let before = Publication::of(&index).unwrap();
        let built = build(dump(&half()), &index, removed, changed);
        assert_eq!(built.is_err(), refused, "{removed} {changed}");
        if let Err(error) = built {
            assert_eq!(Publication::of(&index).unwrap(), before);
            assert!(error.says_what_is_published());
            let text = error.to_string();
            for part in [
                "nothing is published",
                "3 of 100 instruments would be removed, 3.00 %",
                "4 of 100 instruments would be changed, 4.00 %",
                &figi(50).to_string(),
                &figi(12).to_string(),
            ] {
                assert!(text.contains(part), "{part}: {text}");
            }
            assert_eq!(text.contains(&format!("--max-removed is {removed}")), !removed.is_empty());
            assert_eq!(text.contains(&format!("--max-changed is {changed}")), !changed.is_empty());
        }
    }
    assert_eq!(generation(&index), 2);
}

/// The report has the numbers. The order of identifiers does not count, nor does what is new.
#[test]
fn what_counts() {
    let folder = tempfile::tempdir().unwrap();
    let index = folder.path().join("index");
    let first = build(dump(&hundred()), &index, "1%", "1%").unwrap();
    assert_eq!(first.comparison, None);
    assert!(first.warnings[0].contains("nothing is published in this format yet"), "{first}");
    let mut same = hundred();
    same[7].isins = "US0378331005;US4592001014";
    same.push(Given { number: 500, ..same[9].clone() });
    let report = build(dump(&same), &index, "0%", "0%").unwrap();
    let expected = Comparison { generation: 1, instruments: 100, ..Comparison::default() };
    assert_eq!(report.comparison, Some(expected));
    let report = build(dump(&half()), &index, "50%", "50%").unwrap();
    let Comparison { generation, instruments, removed, expired, changed, .. } =
        report.comparison.clone().unwrap();
    // Also the instrument that the build before had added.
    assert_eq!((generation, instruments), (2, 101));
    assert_eq!((removed, expired, changed), (4, 2, 4), "{report}");
    assert!(report.to_string().contains("4 of 101 instruments were removed, 3.96 %"), "{report}");
    let none = build(dump(&half()[..2]), &index, "", "").unwrap();
    assert_eq!(none.comparison, None);
}

/// Built again from the same dump, no instrument of any kind is different, over all batches.
#[test]
fn the_same_dump_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let index = folder.path().join("index");
    let mut dump = Vec::new();
    Universe::new(5_000, 3).write(Layout::Csv, &mut dump).unwrap();
    let dump = String::from_utf8(dump).unwrap();
    build(dump.clone(), &index, "", "").unwrap();
    let comparison = build(dump.clone(), &index, "0%", "0%").unwrap().comparison.unwrap();
    assert!(comparison.instruments > 4_000, "{comparison:?}");
    assert_eq!((comparison.removed, comparison.expired, comparison.changed), (0, 0, 0));
    // Half of the dump.
    let end = dump[..dump.len() / 2].rfind('\n').unwrap();
    let error = build(dump[..=end].to_owned(), &index, "2%", "20%").unwrap_err();
    assert!(error.to_string().contains(" …"), "{error}");
    assert_eq!(generation(&index), 2);
}

/// An input that ends in the middle of a line, or has less than two thirds of its former rows, is
/// named; also when its name has changed.
#[test]
fn a_short_input_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let index = folder.path().join("index");
    let warnings = |dumps: &[(&'static str, String)]| {
        let input = |(name, dump): &(&'static str, String)| {
            Input::Memory(name, dump.clone().into_bytes().into())
        };
        let build = build_of(dumps.iter().map(input).collect(), &index);
        let report = build.run(&mut |_| {}).unwrap();
        assert!(report.warnings.iter().all(|warning| report.to_string().contains(warning)));
        report.warnings
    };
    let rows = |count: usize| dump(&hundred()[..count]);
    assert_eq!(warnings(&[("a", rows(90)), ("b", rows(30))]), [""; 0]);
    assert_eq!(warnings(&[("a", rows(60)), ("b", rows(90))]), [""; 0]);
    assert_eq!(
        warnings(&[("a", rows(39)), ("b", rows(60))]),
        ["a has 39 rows, and had 60 in the published generation"]
    );
    assert_eq!(
        warnings(&[("c", rows(65))]),
        ["the input has 65 rows, and had 99 in the published generation"]
    );
    let cut = rows(65).trim_end().to_owned();
    assert_eq!(warnings(&[("c", cut)]), ["c ends without a line end: was it cut off?"]);
    let json = format!("[{{\"figi\":\"{}\"}}]", figi(1));
    assert_eq!(
        warnings(&[("other", json)]),
        ["the input has 1 rows, and had 65 in the published generation"]
    );
}

/// A published generation that cannot be read does not turn the guard off.
#[test]
fn a_damaged_generation_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let index = folder.path().join("index");
    build(dump(&hundred()), &index, "", "").unwrap();
    let manifest = index.join("generation-000001/manifest.toml");
    let whole = fs::read_to_string(&manifest).unwrap();
    let format = whole.lines().find(|line| line.starts_with("format = ")).unwrap();
    fs::write(&manifest, format).unwrap();
    let error = build(dump(&hundred()), &index, "2%", "20%").unwrap_err();
    let text = error.to_string();
    for part in [
        "nothing is published: --max-removed, --max-expired, --max-changed and --max-column-loss \
         compare with the published index",
        "manifest.toml is damaged: ",
        "(roll back, or build the index again)\nto build without it, leave out these flags",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    build(dump(&hundred()), &index, "", "").unwrap();
}

/// The command: its exit code, and the spelling of a share.
#[test]
fn the_command() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("whole.csv"), dump(&hundred())).unwrap();
    fs::write(folder.path().join("half.csv"), dump(&hundred()[..50])).unwrap();
    let run = |name: &str, share: &str| {
        ingest(folder.path(), &["build", name, "--index", "index", "--max-removed", share])
    };
    let (code, printed, _) = run("whole.csv", "2%");
    assert_eq!(code, 0);
    assert!(printed.contains("warning: nothing is published in this format yet"), "{printed}");
    let (code, _, said) = run("half.csv", "2%");
    assert_eq!(code, 1);
    assert!(said.contains("50 of 100 instruments would be removed, 50.00 %"), "{said}");
    assert_eq!(run("half.csv", "50%").0, 0);
    for wrong in ["2", "101%", "-1%", "NaN%", "two%"] {
        let (code, _, said) = run("half.csv", wrong);
        assert_eq!(code, 2, "{wrong}: {said}");
    }
}

/// A column that far fewer instruments have than before is named with both numbers, as a warning and
/// in the JSON report, also without a limit; a refusal names it too.
#[test]
fn a_lost_column_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let index = folder.path().join("index");
    let whole = generated(1_000, Layout::Csv);
    let text = String::from_utf8(whole.clone()).unwrap();
    let header: Vec<_> = text.lines().next().unwrap().split(',').collect();
    let place = header.iter().position(|name| *name == "ID_ISIN").unwrap();
    let lost = text.replacen("ID_ISIN", "withheld", 1).into_bytes();
    let run = |dump: &[u8], limits: &[&str]| {
        fs::write(folder.path().join("dump.csv"), dump).unwrap();
        let build = ["build", "dump.csv", "--index", "index", "--report", "report.json"];
        ingest(folder.path(), &[&build[..], limits].concat())
    };
    let report = || -> serde_json::Value {
        serde_json::from_slice(&fs::read(folder.path().join("report.json")).unwrap()).unwrap()
    };
    assert!(place > 0 && run(&whole, &[]).0 == 0);
    assert_eq!(report()["less_filled"], serde_json::json!([]));
    let before = Catalogue::open(&index).unwrap().manifest().clone();
    let filled = before.filled["ID_ISIN"];
    assert!(filled > 100 && !before.filled.contains_key("alias"));

    let (code, _, error) = run(&lost, &["--max-changed", "1%"]);
    assert!(code == 1 && error.contains(" have ID_ISIN; in the published generation"), "{error}");
    let (code, printed, error) = run(&lost, &[]);
    assert_eq!(code, 0, "{error}");
    let share = filled as f64 * 100.0 / before.instruments as f64;
    let now = Catalogue::open(&index).unwrap().manifest().clone();
    let left = now.filled.get("ID_ISIN").copied().unwrap_or(0);
    let warning = format!(
        "have ID_ISIN; in the published generation {filled} of {} instruments ({share:.1} %) had it",
        figdex_io::grouped(before.instruments)
    );
    assert!(printed.contains(&warning), "{warning}\n{printed}");
    let json = report();
    let named = json["less_filled"].as_array().unwrap();
    let one = named.iter().find(|one| one["column"] == "ID_ISIN").unwrap();
    let expected = serde_json::json!({
        "column": "ID_ISIN", "filled": left, "instruments": now.instruments,
        "filled_before": filled, "instruments_before": before.instruments,
    });
    assert_eq!(*one, expected);
    assert_eq!(run(&whole, &[]).0, 0);
    let (code, printed, error) = run(&lost, &["--quiet"]);
    assert_eq!((code, &*printed), (0, ""), "{error}");
    assert!(error.starts_with("figdex-ingest: warning: only ") && error.contains(&warning));
    // The second such dump has lost nothing more.
    assert!(!run(&lost, &[]).1.contains("ID_ISIN; in the published"));
}

/// The manifest has the counts that reading all instruments gives.
#[test]
fn the_manifest_counts_as_the_inventory_does() {
    let folder = tempfile::tempdir().unwrap();
    let index = folder.path().join("index");
    let input = Input::Memory("dump", generated(1_500, Layout::Csv).into());
    build_of(vec![input], &index).run(&mut |_| {}).unwrap();
    let catalogue = Catalogue::open(&index).unwrap();
    let inventory: BTreeMap<_, _> = catalogue.inventory().unwrap().filled.into_iter().collect();
    let column_of = |name: &str| match Property::ALL.iter().find(|one| one.field_name() == name) {
        Some(property) => property.name().to_owned(),
        None => name.to_owned(),
    };
    let filled = &catalogue.manifest().filled;
    assert!(filled.len() > 20, "{filled:?}");
    for (name, count) in filled {
        assert_eq!(inventory.get(&*column_of(name)), Some(count), "{name}");
    }
}
