use std::collections::{HashMap, HashSet};

use csv::StringRecord;
use figdex_index::{Date, Figi, IdType};

use super::row::Column;
use super::*;

/// The rows of a dump.
fn rows(count: u64, seed: u64) -> Vec<StringRecord> {
    rows_of(&Universe::new(count, seed))
}

fn rows_of(universe: &Universe) -> Vec<StringRecord> {
    let text = text_of(universe, Layout::Csv);
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    assert!(reader.headers().unwrap().iter().eq(Column::ALL.iter().map(|column| column.name())));
    reader.records().map(Result::unwrap).collect()
}

fn text(count: u64, seed: u64, layout: Layout) -> String {
    text_of(&Universe::new(count, seed), layout)
}

fn text_of(universe: &Universe, layout: Layout) -> String {
    let mut out = Vec::new();
    universe.write(layout, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn of(row: &StringRecord, column: Column) -> &str {
    &row[column as usize]
}

/// The 64-bit FNV-1a hash (Fowler, Noll, Vo), which is enough to notice a change.
fn digest(text: &str) -> u64 {
    text.bytes().fold(0xCBF2_9CE4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3)
    })
}

/// Other bytes for the same seed would invalidate every recorded measurement. The digests make
/// sure that they do not change by accident.
#[test]
fn a_seed_always_gives_the_same_bytes() {
    assert_eq!(text(2_000, 1, Layout::Csv), text(2_000, 1, Layout::Csv));
    assert_ne!(text(2_000, 1, Layout::Csv), text(2_000, 2, Layout::Csv));
    let digests = [Layout::Csv, Layout::JsonLines].map(|layout| digest(&text(2_000, 1, layout)));
    assert_eq!(digests, [0xBE79_3ED0_13F0_676F, 0xE8F3_89E9_D49B_496F], "{digests:#X?}");
}

#[test]
fn the_count_is_exact() {
    for count in [0, 1, 2, 17, 1_000, 50_000] {
        assert_eq!(rows(count, 7).len() as u64, count);
        assert_eq!(text(count, 7, Layout::JsonLines).lines().count() as u64, count);
    }
}

#[test]
fn a_smaller_dump_is_the_beginning_of_a_larger_one() {
    let larger = text(5_000, 3, Layout::Csv);
    for count in [0, 1, 100, 4_999] {
        assert!(larger.starts_with(&text(count, 3, Layout::Csv)), "{count}");
    }
}

#[test]
fn both_layouts_have_the_same_values() {
    let lines = text(5_000, 3, Layout::JsonLines);
    for (line, row) in lines.lines().zip(rows(5_000, 3)) {
        let mut object: serde_json::Map<String, serde_json::Value> =
            serde_json::from_str(line).unwrap();
        for &column in Column::ALL {
            let value = match object.remove(column.name()) {
                None => String::new(),
                Some(serde_json::Value::String(value)) => value,
                Some(value) => {
                    use Column::{ContractSize, Coupon, Listed, Strike};
                    assert!(matches!(column, Strike | ContractSize | Coupon | Listed));
                    value.to_string()
                }
            };
            assert_eq!(value, of(&row, column), "{column:?}");
        }
        assert!(object.is_empty(), "the other layout has all keys: {object:?}");
    }
}

/// The idType of a column, if it has one.
fn id_type(column: Column) -> Option<IdType> {
    match column {
        Column::Ticker => Some(IdType::Ticker),
        Column::Composite => Some(IdType::CompositeBbGlobal),
        Column::ShareClass => Some(IdType::ShareClassBbGlobal),
        Column::UniqueId => Some(IdType::BbUnique),
        Column::UniqueIdFutOpt => Some(IdType::UniqueFutOpt),
        _ => IdType::from_name(column.name()),
    }
}

#[test]
fn every_cell_is_valid_and_figis_are_unique() {
    let (mut figis, mut unique_ids) = (HashSet::new(), HashSet::new());
    let mut filled = HashSet::new();
    // Every row has a FIGI.
    let mut id_types = HashSet::from([IdType::BbGlobal]);
    for row in rows(50_000, 11) {
        assert!(figis.insert(of(&row, Column::Figi).to_owned()), "{row:?} twice");
        let unique_id = of(&row, Column::UniqueId);
        assert!(unique_id.is_empty() || unique_ids.insert(unique_id.to_owned()), "{unique_id}");
        for &column in Column::ALL {
            let value = of(&row, column);
            assert_eq!(value.trim(), value, "{column:?}");
            if value.is_empty() {
                assert_ne!(column, Column::Figi);
                continue;
            }
            filled.insert(column.name());
            match column {
                Column::Figi | Column::Composite | Column::ShareClass => {
                    Figi::parse(value).unwrap();
                    id_types.extend(id_type(column));
                    assert!(value.starts_with("FDG"), "it differs from issued ones");
                }
                Column::Expiration | Column::Maturity => {
                    Date::parse(value).unwrap();
                }
                Column::Strike | Column::ContractSize | Column::Coupon => {
                    let number: f64 = value.parse().unwrap();
                    assert!(number > 0.0 || (number == 0.0 && column == Column::Coupon));
                }
                Column::Listed => assert!(value == "true" || value == "false"),
                _ => {
                    let is_identifier = column.name().starts_with("ID_");
                    assert!(id_type(column).is_some() || !is_identifier, "{column:?}");
                    if let Some(id_type) = id_type(column) {
                        assert!(id_type.admit(value).is_ok(), "{row:?}: {value}");
                        id_types.insert(id_type);
                    }
                }
            }
        }
    }
    assert_eq!(filled.len(), Column::ALL.len(), "every column is used: {filled:?}");
    for id_type in IdType::ALL {
        assert!(id_types.contains(&id_type), "no instrument has a {}", id_type.name());
    }
}

/// All rows of a share class agree, and so do all rows of a composite. The row of a composite
/// comes before those of its venues.
#[test]
fn composites_and_share_classes_are_consistent() {
    let rows = rows(50_000, 11);
    let mut composites: HashMap<&str, &StringRecord> = HashMap::new();
    let mut classes: HashMap<&str, &StringRecord> = HashMap::new();
    let figis: HashSet<&str> = rows.iter().map(|row| of(row, Column::Figi)).collect();
    for row in rows.iter().filter(|row| of(row, Column::MarketSector) == "Equity") {
        let class = of(row, Column::ShareClass);
        let type2 = of(row, Column::SecurityType2);
        let is_derivative = matches!(type2, "Option" | "Warrant" | "Certificate" | "Future");
        assert_eq!(class.is_empty(), is_derivative, "derivatives have no share class: {row:?}");
        assert!(!figis.contains(class), "a share class has no row");
        if type2 == "Future" {
            assert_eq!(of(row, Column::Composite), "");
            continue;
        }
        if !is_derivative {
            let first = *classes.entry(class).or_insert(row);
            for column in [Column::Name, Column::Isin, Column::SecurityType] {
                assert_eq!(of(row, column), of(first, column));
            }
        }
        let composite = of(row, Column::Composite);
        let is_unlisted = of(row, Column::Listed) == "false";
        assert_eq!(composite.is_empty(), is_unlisted);
        assert_eq!(of(row, Column::ExchCode).is_empty(), is_unlisted);
        if !is_unlisted {
            let first = *composites.entry(composite).or_insert(row);
            for column in [Column::Ticker, Column::Name, Column::ShareClass, Column::Currency] {
                assert_eq!(of(row, column), of(first, column));
            }
            if figis.contains(composite) {
                assert_eq!(of(first, Column::Figi), composite, "the composite comes first");
                assert_eq!(of(first, Column::MicCode), "");
            }
        }
    }
    let without_row = composites.keys().filter(|composite| !figis.contains(*composite)).count();
    assert!(without_row > 1_000, "markets of one venue: {without_row}");
    let unlisted = rows.iter().filter(|row| of(row, Column::Listed) == "false").count();
    assert!(unlisted > 0);
}

#[test]
fn a_contract_has_a_composite_and_its_venues() {
    for (mix, size) in [(Mix::Firm, 6), (Mix::Full, 17)] {
        check_contracts(&rows_of(&Universe { mix, ..Universe::new(20_000, 5) }), size);
    }
}

fn check_contracts(rows: &[StringRecord], size: usize) {
    let mut contracts: HashMap<&str, Vec<&StringRecord>> = HashMap::new();
    for row in rows.iter().filter(|row| of(row, Column::SecurityType) == "Equity Option") {
        contracts.entry(of(row, Column::Occ)).or_default().push(row);
    }
    // The dump may end within a contract.
    let cut = contracts.values().filter(|rows| rows.len() != size).count();
    assert!(cut <= 1 && contracts.len() > 500, "{cut} of {}", contracts.len());
    for rows in contracts.values().filter(|rows| rows.len() == size) {
        let codes: HashSet<&str> = rows.iter().map(|row| of(row, Column::ExchCode)).collect();
        assert!(codes.len() == size && of(rows[0], Column::ExchCode) == "US");
        for row in rows {
            assert_eq!(of(row, Column::Composite), of(rows[0], Column::Figi));
            let (root, terms) = of(row, Column::Ticker).split_once(' ').unwrap();
            assert_eq!(
                of(row, Column::Description),
                format!("{root} {} {terms}", of(row, Column::ExchCode))
            );
            let strike: f64 = of(row, Column::Strike).parse().unwrap();
            let thousandths = format!("{:08}", (strike * 1000.0) as u64);
            assert!(of(row, Column::Occ).ends_with(&thousandths), "{row:?}");
        }
    }
}

/// The underlying of every option is in the dump.
#[test]
fn underlyings_are_in_the_dump() {
    for (mix, count) in [(Mix::Firm, 50_000), (Mix::Full, 100_000)] {
        let rows = rows_of(&Universe { mix, ..Universe::new(count, 5) });
        let is_us_share = |row: &&StringRecord| {
            of(row, Column::ExchCode) == "US" && !of(row, Column::ShareClass).is_empty()
        };
        let shares: HashSet<&str> =
            rows.iter().filter(is_us_share).map(|row| of(row, Column::Ticker)).collect();
        let underlyings: HashSet<&str> = rows
            .iter()
            .filter(|row| of(row, Column::SecurityType) == "Equity Option")
            .filter_map(|row| of(row, Column::Ticker).split(' ').next())
            .collect();
        assert!(underlyings.len() >= 6, "{}", underlyings.len());
        assert!(underlyings.is_subset(&shares), "{:?}", underlyings.difference(&shares));
    }
}

/// No two share classes or bonds have the same ISIN.
#[test]
fn an_isin_belongs_to_one_security() {
    let rows = rows(50_000, 11);
    let mut owners: HashMap<&str, &str> = HashMap::new();
    for row in rows.iter().filter(|row| !of(row, Column::Isin).is_empty()) {
        let class = of(row, Column::ShareClass);
        let levels = [class, of(row, Column::Composite), of(row, Column::Figi)];
        let owner = levels.into_iter().find(|figi| !figi.is_empty()).unwrap();
        assert_eq!(*owners.entry(of(row, Column::Isin)).or_insert(owner), owner);
    }
    assert!(owners.len() > 5_000);
}

/// The name of a row's kind, as in [`KINDS`].
fn kind(row: &StringRecord) -> &'static str {
    let (sector, type2) = (of(row, Column::MarketSector), of(row, Column::SecurityType2));
    match (sector, of(row, Column::SecurityType), type2) {
        (_, "Equity Option", _) => "options",
        ("Equity", _, "Mutual Fund") => "funds",
        ("Equity", _, "Warrant" | "Certificate") => "warrants",
        (_, _, "Future" | "Option") => "futures",
        ("Equity", ..) => "shares",
        ("Corp", ..) if of(row, Column::Ticker).contains(" L ") => "loans",
        ("Corp", ..) => "bonds",
        ("Muni", ..) => "munis",
        ("Mtge", ..) => "mortgages",
        ("Index", ..) => "indices",
        ("Govt", ..) => "governments",
        ("M-Mkt", ..) => "money market",
        ("Pfd", ..) => "preferreds",
        ("Curncy", ..) => "currencies",
        other => panic!("unknown kind: {other:?}"),
    }
}

/// The beginning of a dump has the mix of the whole, to within the rows of the largest issue of
/// each kind.
#[test]
fn every_beginning_has_the_mix_of_the_whole() {
    for mix in [Mix::Firm, Mix::Full] {
        let rows = rows_of(&Universe { mix, ..Universe::new(60_000, 42) });
        for count in [5_000, 20_000, 60_000] {
            let mut counts: HashMap<&str, u64> = HashMap::new();
            for row in &rows[..count as usize] {
                *counts.entry(kind(row)).or_default() += 1;
            }
            for kind in &KINDS {
                let wanted = kind.per_mille(mix) * count / 1000;
                let found = counts.get(kind.name).copied().unwrap_or(0);
                let issue = if kind.name == "shares" { 300 } else { 68 };
                assert!(found.abs_diff(wanted) <= issue, "{}: {found} of {wanted}", kind.name);
                assert!(found > 0, "{} of {count}", kind.name);
            }
        }
    }
}

/// The requested proportion of rows has defects, and the others are unchanged.
#[test]
fn dirt_has_the_requested_proportion() {
    let clean = rows(50_000, 7);
    let dirty = rows_of(&Universe { dirt: "4%".parse().unwrap(), ..Universe::new(50_000, 7) });
    assert_eq!(dirty.len(), 50_000, "a repeated row counts twice");
    let known: HashSet<Vec<&str>> = clean.iter().map(|row| row.iter().collect()).collect();
    let other = dirty.iter().filter(|row| !known.contains(&row.iter().collect::<Vec<_>>())).count();
    // A row that is repeated unchanged is not counted here.
    assert!((1_200..2_000).contains(&other), "{other}");
    let count = |has_defect: &dyn Fn(&StringRecord) -> bool| {
        dirty.iter().filter(|row| has_defect(row)).count()
    };
    let figis: HashSet<&str> = dirty.iter().map(|row| of(row, Column::Figi)).collect();
    for (defect, found) in [
        ("no name", count(&|row| of(row, Column::Name).is_empty())),
        ("twice", dirty.len() - figis.len()),
        ("blanks", count(&|row| of(row, Column::Name).ends_with("   "))),
        ("mojibake", count(&|row| of(row, Column::Name).contains("Ã"))),
        ("stand-in", count(&|row| !of(row, Column::Figi).starts_with("FDG"))),
        ("figi", count(&|row| Figi::parse(of(row, Column::Figi)).is_err())),
        (
            "isin",
            count(&|row| {
                let isin = of(row, Column::Isin);
                !isin.is_empty() && IdType::Isin.admit(isin).is_err()
            }),
        ),
    ] {
        assert!(found > 10, "{defect}: {found}");
    }
}

/// Most share classes have one or two rows, one in a hundred has ten or more, and some have
/// hundreds.
#[test]
fn listings_are_skewed() {
    let rows = rows(150_000, 42);
    let mut sizes: HashMap<&str, u32> = HashMap::new();
    for row in rows.iter().filter(|row| kind(row) == "shares") {
        *sizes.entry(of(row, Column::ShareClass)).or_default() += 1;
    }
    let mut sizes: Vec<u32> = sizes.into_values().collect();
    sizes.sort_unstable();
    let at = |per_mille: usize| sizes[sizes.len() * per_mille / 1000];
    let mean_tenths = sizes.iter().sum::<u32>() * 10 / sizes.len() as u32;
    let largest = sizes[sizes.len() - 1];
    assert!((20..=27).contains(&mean_tenths), "{mean_tenths}");
    assert!(at(500) <= 2 && at(990) >= 10 && largest >= 180, "{} {largest}", at(990));
}

/// Real dumps are not sorted by FIGI, and readers must not rely on it.
#[test]
fn file_order_is_not_figi_order() {
    let rows = rows(2_000, 1);
    assert!(!rows.is_sorted_by_key(|row| of(row, Column::Figi).to_owned()));
}
