//! The guard against bad dumps, field by field: with the limits of the nightly unit, no field of an
//! instrument may be wrong or gone in all rows, and no half of the rows gone in any way.

use std::fmt::Write as _;
use std::path::Path;

use figdex_index::{Catalogue, Figi, IdType, Instrument, Property, Sort};
use figdex_ingest::{Build, Column, Comparison, Error, GuardLimits, Input, Report};

use crate::support::{build_of, figi};

const ROWS: u32 = 100;

/// The limits of `packaging/figdex-rebuild.service`.
fn limits() -> GuardLimits {
    let share = |text: &str| Some(text.parse().unwrap());
    GuardLimits {
        removed: share("2%"),
        expired: share("30%"),
        changed: share("20%"),
        column_loss: share("20%"),
    }
}

fn build(dump: String, index: &Path, guard: GuardLimits) -> figdex_ingest::Result<Report> {
    let input = Input::Memory("dump", dump.into_bytes().into());
    Build { guard, ..build_of(vec![input], index) }.run(&mut |_| {})
}

/// A dump of the rows of these numbers with one more column; the rows are equities with a name.
fn dump(numbers: impl Iterator<Item = u32>, column: &str, value: impl Fn(u32) -> String) -> String {
    let mut dump = format!("figi,otherName,marketSector,name,{column}\n");
    if column == "name" || column == "marketSector" {
        dump = format!("figi,a,b,c,{column}\n");
    }
    for number in numbers {
        writeln!(dump, "{},,Equity,COMPANY {number},{}", figi(number), value(number)).unwrap();
    }
    dump
}

/// Two values of a column. A new field does not compile or has no name here, until it has two.
fn two_values(name: &str) -> [String; 2] {
    let column = Column::from_name(name).unwrap_or_else(|| panic!("{name} is not a column"));
    let two = |a: &str, b: &str| [a.to_owned(), b.to_owned()];
    match column {
        Column::Attribute(attribute) => match attribute.sort() {
            Sort::Figi => [figi(900), figi(901)],
            Sort::Text | Sort::Texts => two("ONE", "TWO"),
            Sort::Number | Sort::Importance => two("1", "2"),
            Sort::Date => two("2035-01-01", "1999-01-01"),
            Sort::Flag => two("true", "false"),
            Sort::Names => ["ONE", "TWO"].map(|name| {
                format!("\"[{{\"\"name\"\":\"\"{name}\"\",\"\"kind\"\":\"\"brand\"\"}}]\"")
            }),
        },
        Column::Property(Property::OptionType) => two("Put", "Call"),
        Column::Figi | Column::Property(_) | Column::Name(_) => two("ONE", "TWO"),
        Column::Identifier(id_type) => match id_type {
            IdType::Isin => two("US4592001014", "US0378331005"),
            IdType::Sedol => two("2005973", "2046251"),
            IdType::Common => two("012345678", "012345679"),
            IdType::Wertpapier => two("851399", "865985"),
            IdType::Cusip => two("459200101", "037833100"),
            IdType::Cins => two("G0177J108", "N07059210"),
            IdType::Cusip8 => two("45920010", "03783310"),
            IdType::Italy => two("12345", "12346"),
            IdType::Occ => two("IBM   271210C00335000", "IBM   271210P00335000"),
            IdType::BbGlobal | IdType::CompositeBbGlobal | IdType::ShareClassBbGlobal => {
                [figi(900), figi(901)]
            }
            IdType::BbUnique
            | IdType::Bb
            | IdType::ExchSymbol
            | IdType::FullExchangeSymbol
            | IdType::BbSecNumDes
            | IdType::Ticker
            | IdType::UniqueFutOpt
            | IdType::Opra
            | IdType::TradingSystem
            | IdType::ShortCode
            | IdType::BaseTicker
            | IdType::VendorIndexCode
            | IdType::Bb8Chr
            | IdType::Trace => two("ONE", "TWO"),
        },
    }
}

/// The names of all stored fields, as the index itself lists them.
fn stored() -> Vec<&'static str> {
    let instrument = Instrument::new(Figi::parse(&figi(1)).unwrap());
    // The column of an instrument's own FIGI: a row with another one is another instrument.
    let names = instrument.columns().map(|(name, _)| name);
    names.filter(|name| *name != IdType::BbGlobal.name()).collect()
}

/// The field that holds the values of a column of a dump.
fn field(column: &str) -> &str {
    match column {
        "COMPOSITE_ID_BB_GLOBAL" => "compositeFIGI",
        "ID_BB_GLOBAL_SHARE_CLASS_LEVEL" => "shareClassFIGI",
        "TICKER" => "ticker",
        field => field,
    }
}

/// The message of a refusal, after which the first generation is still published.
fn refused(built: figdex_ingest::Result<Report>, index: &Path, what: &str) -> String {
    let Err(Error::Guarded { refusal, .. }) = built else {
        panic!("{what} is published: {built:?}")
    };
    assert_eq!(Catalogue::open(index).unwrap().manifest().generation, 1, "{what}");
    refusal
}

/// A wrong value of any field in all rows is refused with the number and the flag. Only the
/// importance, which follows from market data, and other names may change in every row.
#[test]
fn a_wrong_value_of_any_field_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    for name in stored() {
        let index = folder.path().join(name);
        let [right, wrong] = two_values(name);
        let rows = |value: &str| dump(0..ROWS, name, |_| value.to_owned());
        build(rows(&right), &index, GuardLimits::default()).unwrap();
        let built = build(rows(&wrong), &index, limits());
        if name == "importance" || name == "names" {
            let Comparison { changed, changed_columns, .. } = built.unwrap().comparison.unwrap();
            assert_eq!((changed, changed_columns), (0, vec![]));
            continue;
        }
        let refusal = refused(built, &index, name);
        let expected = "100 of 100 instruments would be changed, 100.00 % (--max-changed is 20%)";
        assert!(refusal.contains(expected), "{name}: {refusal}");
        assert!(refusal.contains(&format!("{} 100", field(name))), "{name}: {refusal}");
    }
}

/// A field that all rows have lost is refused by its name, with both numbers and the flag.
#[test]
fn a_lost_column_of_any_field_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let others = ["names", "marketSector"];
    for name in stored().into_iter().filter(|name| !others.contains(name)) {
        let index = folder.path().join(name);
        let [value, _] = two_values(name);
        let rows = |value: &str| dump(0..ROWS, name, |_| value.to_owned());
        build(rows(&value), &index, GuardLimits::default()).unwrap();
        let refusal = refused(build(rows(""), &index, limits()), &index, name);
        let expected = format!(
            "  100 of 100 values of {} are lost, 100.00 % (--max-column-loss is 20%)",
            field(name)
        );
        assert!(refusal.lines().any(|line| line == expected), "{name}: {refusal}");
    }
}

/// A column that has lost a third of its values is refused, one that has lost an eighth is not; nor
/// one of which fewer than ten values are lost.
#[test]
fn a_loss_is_a_share_of_the_values() {
    let folder = tempfile::tempdir().unwrap();
    let index = folder.path().join("index");
    let guard = GuardLimits { column_loss: limits().column_loss, ..GuardLimits::default() };
    let of = |from: u32, to: u32| {
        let value = |row| if (from..to).contains(&row) { "459200101" } else { "" }.to_owned();
        dump(0..ROWS, "ID_CUSIP", value)
    };
    build(of(0, 100), &index, GuardLimits::default()).unwrap();
    let refusal = refused(build(of(34, 100), &index, guard), &index, "a third");
    assert!(refusal.contains("  34 of 100 values of ID_CUSIP are lost, 34.00 % ("));
    assert!(build(of(12, 100), &index, guard).is_ok());
    build(of(91, 100), &index, GuardLimits::default()).unwrap();
    assert!(build(of(100, 100), &index, guard).is_ok());
}

/// New instruments with a value do not make up for those that lost theirs.
#[test]
fn new_rows_do_not_hide_a_loss() {
    let folder = tempfile::tempdir().unwrap();
    let index = folder.path().join("index");
    let guard = GuardLimits { column_loss: limits().column_loss, ..GuardLimits::default() };
    let cusip = |has: bool| if has { "459200101" } else { "" }.to_owned();
    let before = dump(0..ROWS, "ID_CUSIP", |_| cusip(true));
    build(before, &index, GuardLimits::default()).unwrap();
    let after = dump(0..2 * ROWS, "ID_CUSIP", |row| cusip(row >= ROWS));
    let refusal = refused(build(after, &index, guard), &index, "ID_CUSIP");
    assert!(refusal.contains("  100 of 100 values of ID_CUSIP are lost, 100.00 % ("), "{refusal}");
}

/// Half of the rows that leave as expired are refused by the limit of these, however they got their
/// dates; half that are not listed any more, by that of changes.
#[test]
fn half_of_the_rows_gone_in_another_way() {
    let folder = tempfile::tempdir().unwrap();
    let expired = |row: u32| if row < 50 { "2001-01-01".to_owned() } else { String::new() };
    for date in ["expiration", "maturity"] {
        let index = folder.path().join(date);
        build(dump(0..ROWS, date, expired), &index, GuardLimits::default()).unwrap();
        let refusal = refused(build(dump(50..ROWS, date, expired), &index, limits()), &index, date);
        let expected = "50 of 100 instruments have expired and would be left out, 50.00 % \
                        (--max-expired is 30%)";
        assert!(refusal.contains(expected), "{refusal}");
        assert!(
            refusal.contains(&figi(0)) && !refusal.contains("--max-column-loss is"),
            "{refusal}"
        );
        // A large expiry passes: its instruments take their columns along.
        let report = build(dump(30..ROWS, date, expired), &index, limits()).unwrap();
        assert_eq!(report.comparison.unwrap().expired, 30);
    }
    let index = folder.path().join("listed");
    let listed = |row: u32| (row >= 50).to_string();
    build(dump(0..ROWS, "listed", |_| "true".to_owned()), &index, GuardLimits::default()).unwrap();
    let refusal = refused(build(dump(0..ROWS, "listed", listed), &index, limits()), &index, "");
    let expected = "50 of 100 instruments would be changed, 50.00 % (--max-changed is 20%)";
    assert!(refusal.contains(expected), "{refusal}");
}

/// A dump that loses importances, aliases or other names is warned of without any limit.
#[test]
fn lost_importances_and_aliases_are_warned_of() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["importance", "alias", "names"] {
        let index = folder.path().join(name);
        let [value, _] = two_values(name);
        let whole = dump(0..ROWS, name, |_| value.clone());
        build(whole, &index, GuardLimits::default()).unwrap();
        let lost = dump(0..ROWS, name, |_| String::new());
        let report = build(lost, &index, GuardLimits::default()).unwrap();
        let expected = format!("only 0 of 100 instruments (0.0 %) have {name}; ");
        assert!(report.warnings.iter().any(|one| one.starts_with(&expected)), "{report}");
    }
}
