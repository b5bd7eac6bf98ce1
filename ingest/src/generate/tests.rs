use std::collections::{BTreeMap, HashMap, HashSet};

use figdex_index::{Date, Figi, IdType};

use super::*;

type Cells = HashMap<String, String>;

fn text(count: u64, seed: u64, format: Format) -> String {
    let mut out = Vec::new();
    write(&Universe { count, seed }, format, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

/// The rows of a dump, without blank cells.
fn rows(count: u64, seed: u64) -> Vec<Cells> {
    let text = text(count, seed, Format::Csv);
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let rows = reader.deserialize().map(|row: csv::Result<Cells>| {
        let mut row = row.unwrap();
        row.retain(|_, value| !value.is_empty());
        row
    });
    rows.collect()
}

fn of<'a>(row: &'a Cells, column: &str) -> &'a str {
    row.get(column).map_or("", String::as_str)
}

/// Fowler, Noll, Vo: FNV-1a of 64 bits. Enough to notice a change.
fn digest(text: &str) -> u64 {
    text.bytes().fold(0xCBF2_9CE4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3)
    })
}

/// Who changes what a seed gives changes every recorded measurement: the digest
/// makes that a decision.
#[test]
fn a_seed_gives_the_same_bytes_for_ever() {
    assert_eq!(text(2_000, 1, Format::Csv), text(2_000, 1, Format::Csv));
    assert_ne!(text(2_000, 1, Format::Csv), text(2_000, 2, Format::Csv));
    let digests = [Format::Csv, Format::JsonLines].map(|format| digest(&text(2_000, 1, format)));
    assert_eq!(digests, [0, 0], "{digests:#X?}");
}

#[test]
fn the_count_is_exact() {
    for count in [0, 1, 2, 17, 1_000, 50_000] {
        assert_eq!(rows(count, 7).len() as u64, count);
        assert_eq!(text(count, 7, Format::JsonLines).lines().count() as u64, count);
    }
}

#[test]
fn a_smaller_dump_is_the_beginning_of_a_larger_one() {
    let larger = text(5_000, 3, Format::Csv);
    for count in [0, 1, 100, 4_999] {
        assert!(larger.starts_with(&text(count, 3, Format::Csv)), "{count}");
    }
}

#[test]
fn both_layouts_say_the_same() {
    let lines = text(5_000, 3, Format::JsonLines);
    for (line, row) in lines.lines().zip(rows(5_000, 3)) {
        let object: serde_json::Map<String, serde_json::Value> =
            serde_json::from_str(line).unwrap();
        assert_eq!(object.len(), row.len());
        for (key, value) in object {
            let is_bare = matches!(key.as_str(), "strike" | "contractSize" | "coupon" | "listed");
            assert_ne!(value.is_string(), is_bare, "{key}");
            let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            assert_eq!(value, row[&key]);
        }
    }
}

#[test]
fn every_cell_is_of_its_form_and_figis_are_unique() {
    let mut figis = HashSet::new();
    for row in rows(50_000, 11) {
        let figi = Figi::parse(of(&row, "figi")).unwrap();
        assert!(figis.insert(figi), "{figi} twice");
        for (column, value) in &row {
            match column.as_str() {
                "figi" | "compositeFIGI" | "shareClassFIGI" => {
                    Figi::parse(value).unwrap();
                    assert!(value.starts_with("FDG"), "never taken for an issued one");
                }
                "expiration" | "maturity" => {
                    Date::parse(value).unwrap();
                }
                "strike" | "contractSize" | "coupon" => {
                    let number: f64 = value.parse().unwrap();
                    assert!(number >= 0.0 && (column == "coupon" || number > 0.0));
                }
                "listed" => assert!(value == "true" || value == "false"),
                _ => {
                    assert_eq!(value.trim(), value, "{column}");
                    let id_type = match column.as_str() {
                        "uniqueID" => Some(IdType::BbUnique),
                        "uniqueIDFutOpt" => Some(IdType::UniqueFutOpt),
                        "ticker" => Some(IdType::Ticker),
                        other => IdType::from_name(other),
                    };
                    let wants_form = column.starts_with("ID_") || column.ends_with("_SYMBOL");
                    assert!(id_type.is_some() || !wants_form, "{column}");
                    if let Some(id_type) = id_type {
                        id_type.admit(value).unwrap();
                    }
                }
            }
        }
    }
}

/// Composite and share class are levels of the same security: all rows of a
/// composite agree, and the composite's own row comes before its venues'.
#[test]
fn levels_are_referenced_properly() {
    let rows = rows(50_000, 11);
    let mut composites: HashMap<&str, &Cells> = HashMap::new();
    let mut classes: HashMap<&str, &Cells> = HashMap::new();
    let figis: HashSet<&str> = rows.iter().map(|row| of(row, "figi")).collect();
    for row in rows.iter().filter(|row| of(row, "marketSector") == "Equity") {
        let class = of(row, "shareClassFIGI");
        let is_option = of(row, "securityType2") == "Option";
        assert_eq!(class.is_empty(), is_option, "options have no share class");
        assert!(!figis.contains(class), "a share class is no row");
        if !is_option {
            let first = *classes.entry(class).or_insert(row);
            for column in ["name", "ID_ISIN", "uniqueID", "securityType"] {
                assert_eq!(of(row, column), of(first, column));
            }
        }
        let composite = of(row, "compositeFIGI");
        let is_unlisted = of(row, "listed") == "false";
        assert_eq!(composite.is_empty(), is_unlisted);
        assert_eq!(of(row, "exchCode").is_empty(), is_unlisted);
        if !is_unlisted {
            let first = *composites.entry(composite).or_insert(row);
            for column in ["ticker", "name", "shareClassFIGI", "currency"] {
                assert_eq!(of(row, column), of(first, column));
            }
            if figis.contains(composite) {
                assert_eq!(of(first, "figi"), composite, "the composite comes first");
                assert_eq!(of(first, "micCode"), "");
            }
        }
    }
    assert!(composites.keys().any(|composite| !figis.contains(composite)));
}

#[test]
fn a_contract_has_a_composite_and_sixteen_venues() {
    let mut contracts: BTreeMap<String, Vec<Cells>> = BTreeMap::new();
    for row in rows(20_000, 5) {
        if let Some(symbol) = row.get("OCC_SYMBOL") {
            contracts.entry(symbol.clone()).or_default().push(row);
        }
    }
    // The dump may end within the last contract.
    let cut = contracts.values().filter(|rows| rows.len() != 17).count();
    assert!(cut <= 1 && contracts.len() > 500, "{cut} of {}", contracts.len());
    for rows in contracts.values().filter(|rows| rows.len() == 17) {
        let codes: HashSet<&str> = rows.iter().map(|row| of(row, "exchCode")).collect();
        assert!(codes.len() == 17 && codes.contains("US"));
        for row in rows {
            assert_eq!(of(row, "compositeFIGI"), of(&rows[0], "figi"));
            let (root, terms) = of(row, "ticker").split_once(' ').unwrap();
            assert_eq!(
                of(row, "securityDescription"),
                format!("{root} {} {terms}", of(row, "exchCode"))
            );
            let strike: f64 = of(row, "strike").parse().unwrap();
            assert!(
                of(row, "OCC_SYMBOL").ends_with(&format!("{:08}", (strike * 1000.0) as u64)),
                "the strike in thousandths"
            );
        }
    }
}

/// Identifiers of a share class or a bond are its own.
#[test]
fn an_isin_is_of_one_security() {
    let mut owners: HashMap<String, String> = HashMap::new();
    for row in rows(50_000, 11) {
        if let Some(isin) = row.get("ID_ISIN") {
            let owner = row.get("shareClassFIGI").unwrap_or(&row["figi"]).clone();
            assert_eq!(*owners.entry(isin.clone()).or_insert(owner.clone()), owner);
        }
    }
    assert!(owners.len() > 5_000);
}

#[test]
fn every_beginning_has_the_mix_of_the_whole() {
    let rows = rows(100_000, 42);
    for count in [5_000, 20_000, 100_000] {
        let share = |column: &str, value: &str| {
            let hits = rows[..count].iter().filter(|row| of(row, column) == value).count();
            hits * 100 / count
        };
        let (options, bonds) = (share("securityType2", "Option"), share("marketSector", "Corp"));
        assert!((60..=70).contains(&options), "{options} % options of {count}");
        assert!((8..=12).contains(&bonds), "{bonds} % bonds of {count}");
    }
}

/// Most share classes have a row or two, one in a hundred has ten and more, and
/// some are traded everywhere.
#[test]
fn listings_are_skewed() {
    let mut sizes: HashMap<String, u32> = HashMap::new();
    for row in rows(200_000, 42) {
        if let Some(class) = row.get("shareClassFIGI") {
            *sizes.entry(class.clone()).or_default() += 1;
        }
    }
    let mut sizes: Vec<u32> = sizes.into_values().collect();
    sizes.sort_unstable();
    let at = |per_mille: usize| sizes[sizes.len() * per_mille / 1000];
    let tenths = sizes.iter().sum::<u32>() * 10 / sizes.len() as u32;
    let summary = (tenths, at(500), at(900), at(990), at(999), sizes[sizes.len() - 1]);
    assert!((20..=27).contains(&tenths), "{summary:?}");
    assert!(at(500) <= 2 && at(990) >= 10 && sizes[sizes.len() - 1] >= 180, "{summary:?}");
}

/// Dumps are not sorted by FIGI; readers must not count on it.
#[test]
fn file_order_is_not_figi_order() {
    let rows = rows(2_000, 1);
    assert!(!rows.is_sorted_by_key(|row| of(row, "figi").to_owned()));
}
