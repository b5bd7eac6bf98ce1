//! Contract, chapter 5: the forms of identifiers, and those that follow from others. Which
//! rows each idType finds is tested with the mapping jobs.

use figdex_index::check_digit;
use serde_json::json;

use super::figi;
use crate::support::{Server, figis};

/// contract 5.9: a FIGI whose first two letters the standard reserves, since they look like
/// the code of a country, is accepted: in the data, and by each idType of a FIGI.
#[test]
fn a_figi_with_a_reserved_prefix_is_accepted() {
    let figis_of = ["BS", "BM", "GG", "GB", "GH", "KY", "VG"].map(|prefix| {
        let body = format!("{prefix}G000BLNNH");
        format!("{body}{}", check_digit::double_add_double(body.as_bytes()).unwrap())
    });
    let rows = figis_of.iter().map(|figi| format!("{figi},{figi},{figi}\n"));
    let dump = format!("figi,compositeFIGI,shareClassFIGI\n{}", rows.collect::<String>());
    let server = Server::of_dump(&dump);
    for figi in &figis_of {
        for id_type in ["ID_BB_GLOBAL", "COMPOSITE_ID_BB_GLOBAL", "ID_BB_GLOBAL_SHARE_CLASS_LEVEL"]
        {
            let answers = server.map(&json!([{"idType": id_type, "idValue": figi}]));
            assert_eq!(figis(&answers[0]), [figi.as_str()], "{id_type} {}", answers[0]);
        }
    }
}

/// contract 5.15: CUSIP and SEDOL are not taken out of an ISIN, although it holds them.
#[test]
fn an_isin_gives_no_cusip_and_no_sedol() {
    let [american, british] = [1, 2].map(figi);
    let server = Server::of_dump(&format!(
        "figi,ID_ISIN\n{american},US4592001014\n{british},GB0002634946\n"
    ));
    for (id_type, id_value, found) in [
        ("ID_ISIN", "US4592001014", Some(&american)),
        ("ID_CUSIP", "459200101", None),
        ("ID_CUSIP_8_CHR", "45920010", None),
        ("ID_ISIN", "GB0002634946", Some(&british)),
        ("ID_SEDOL", "0263494", None),
    ] {
        let answers = server.map(&json!([{"idType": id_type, "idValue": id_value}]));
        assert_eq!(figis(&answers[0]).first(), found, "{id_type} {id_value}");
        assert!(answers[0].get("error").is_none(), "{}", answers[0]);
    }
}
