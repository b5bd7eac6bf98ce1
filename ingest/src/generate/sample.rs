//! The sample of well-known instruments, which is written by hand and therefore
//! checked: a wrong digit in it would be copied into every first index.

use std::collections::HashSet;

use figdex_index::{Date, Figi, IdType};

const WELL_KNOWN: &str = include_str!("../../sample/well-known.csv");

#[test]
fn every_well_known_instrument_is_of_its_form() {
    let mut reader = csv::Reader::from_reader(WELL_KNOWN.as_bytes());
    let header = reader.headers().unwrap().clone();
    let mut figis = HashSet::new();
    for row in reader.records() {
        let row = row.unwrap();
        assert!(figis.insert(row[0].to_owned()), "{} twice", &row[0]);
        for (column, value) in header.iter().zip(&row).filter(|(_, value)| !value.is_empty()) {
            assert_eq!(value.trim(), value);
            match column {
                "figi" | "compositeFIGI" | "shareClassFIGI" => {
                    Figi::parse(value).unwrap();
                }
                "expiration" | "maturity" => {
                    Date::parse(value).unwrap();
                }
                "strike" | "contractSize" | "coupon" => {
                    value.parse::<f64>().unwrap();
                }
                "listed" => assert_eq!(value, "true"),
                _ => match IdType::from_name(column) {
                    Some(id_type) => {
                        id_type.admit(value).unwrap();
                    }
                    None => assert!(!column.starts_with("ID_") && !column.ends_with("_SYMBOL")),
                },
            }
        }
    }
    for figi in ["BBG000BLNNH6", "BBG000BLNQ16", "BBG000B9XRY4", "BBG019KNL404"] {
        assert!(figis.contains(figi), "{figi} is asked for in examples and tests");
    }
}
