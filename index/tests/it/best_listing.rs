//! The best listing of a security (contract 16.15), over small hand-made universes.

use figdex_index::{
    Begun, BestBy, Catalogue, Filters, IdType, Importance, Instrument, Keywords, Level, Meter,
    Property, RowSource as _, Suggest,
};

use crate::support::{figi, publish};

/// The security of all rows, unless they name another.
const SHARE_CLASS: u32 = 90;

/// A row: its number, that of its composite, its exchange code and its ISIN.
fn row(
    number: u32,
    composite: Option<u32>,
    exch_code: &str,
    isin: Option<&'static str>,
) -> Instrument {
    let mut instrument = Instrument {
        name: Some("EXAMPLE HOLDING".to_owned()),
        ticker: Some(format!("EX{number}")),
        share_class_figi: Some(figi(SHARE_CLASS)),
        composite_figi: composite.map(figi),
        ..Instrument::new(figi(number))
    };
    let code = (!exch_code.is_empty()).then(|| exch_code.to_owned());
    instrument.properties[Property::ExchCode as usize] = code;
    instrument.properties[Property::MarketSecDes as usize] = Some("Equity".to_owned());
    instrument.properties[Property::SecurityType2 as usize] = Some("Common Stock".to_owned());
    instrument.identifiers.extend(isin.and_then(|isin| IdType::Isin.admit(isin).ok()));
    instrument
}

fn important(importance: f64, instrument: Instrument) -> Instrument {
    Instrument { importance: Importance::new(importance), ..instrument }
}

fn with(property: Property, value: &str, mut instrument: Instrument) -> Instrument {
    instrument.properties[property as usize] = Some(value.to_owned());
    instrument
}

/// The number of the best listing, the same for every row that is asked for, and the rule.
fn best(rows: &[Instrument]) -> (u32, BestBy) {
    let mut found = Vec::new();
    for size in [2, 100] {
        let folder = tempfile::tempdir().unwrap();
        let catalogue = publish(folder.path(), rows, size);
        catalogue.verify().unwrap();
        for asked in rows {
            let hit = catalogue.find(asked.figi).unwrap();
            let (best, by) = catalogue.best_by(hit).unwrap();
            assert!(catalogue.is_best_listing(best), "{}", asked.figi);
            let place = (0..100).find(|number| figi(*number) == catalogue.figi(best)).unwrap();
            found.push((place, by));
        }
    }
    found.dedup();
    assert_eq!(found.len(), 1, "the row that is asked for decides nothing: {found:?}");
    found[0]
}

const APPLE: Option<&str> = Some("US0378331005");
const ALIBABA: Option<&str> = Some("KYG017191142");
const DEUTSCHE_BANK: Option<&str> = Some("DE0005140008");

/// Rows without a share class are a security by their composite, also if their ISIN joins them with
/// others.
#[test]
fn each_composite_without_a_share_class_has_a_best_listing() {
    let alone = |row: Instrument| Instrument { share_class_figi: None, ..row };
    let rows = |first: Instrument| {
        [
            first,
            alone(row(2, Some(2), "GR", DEUTSCHE_BANK)),
            alone(row(3, Some(2), "GY", DEUTSCHE_BANK)),
        ]
    };
    for first in [alone(row(1, Some(1), "US", DEUTSCHE_BANK)), row(1, Some(1), "US", DEUTSCHE_BANK)]
    {
        let folder = tempfile::tempdir().unwrap();
        let catalogue = publish(folder.path(), &rows(first), 100);
        catalogue.verify().unwrap();
        let best = |number| catalogue.best_by(catalogue.find(figi(number)).unwrap()).unwrap().0;
        for (asked, expected) in [(1, 1), (2, 2), (3, 2)] {
            assert!(catalogue.is_best_listing(best(asked)), "{asked}");
            assert_eq!(catalogue.figi(best(asked)), figi(expected), "{asked}");
        }
    }
}

/// Rule 1: the composite in the country of the ISIN, whatever is important.
#[test]
fn the_home_market_comes_first() {
    let rows = [
        row(1, Some(1), "US", DEUTSCHE_BANK),
        row(2, Some(2), "GR", DEUTSCHE_BANK),
        row(3, Some(2), "GY", DEUTSCHE_BANK),
    ];
    assert_eq!(best(&rows), (2, BestBy::Home));
    let rows = [important(9.0, rows[0].clone()), rows[1].clone(), rows[2].clone()];
    assert_eq!(best(&rows), (2, BestBy::Home));
    // A row without an ISIN has that of its security; a row of a market without a row of its
    // composite stands for the market.
    let rows = [row(1, Some(1), "US", DEUTSCHE_BANK), row(2, Some(77), "GR", None)];
    assert_eq!(best(&rows), (2, BestBy::Home));
    // The first exchange of the country, before another composite there.
    let rows = [row(1, Some(1), "TH", DEUTSCHE_BANK), row(2, Some(2), "GR", DEUTSCHE_BANK)];
    assert_eq!(best(&rows), (2, BestBy::Home));
    // Without a composite FIGI, the code of the whole market is enough.
    let rows = [row(1, Some(1), "GR", APPLE), row(2, None, "US", APPLE)];
    assert_eq!(best(&rows), (2, BestBy::Home));
}

/// Rules 2 and 3 for a country where companies are registered that are listed elsewhere.
#[test]
fn a_holding_domicile_names_no_home() {
    let rows = [
        row(1, Some(1), "KY", ALIBABA),
        row(2, Some(2), "US", ALIBABA),
        row(3, Some(3), "HK", ALIBABA),
        row(4, Some(4), "GR", ALIBABA),
    ];
    assert_eq!(best(&rows), (3, BestBy::Order));
    let mut rows = rows.map(|row| important(1.0, row));
    rows[1] = important(2.0, rows[1].clone());
    assert_eq!(best(&rows), (2, BestBy::Importance));
}

#[test]
fn without_a_home_the_order_decides() {
    // Only venues: the first exchange of the home country.
    let rows = [
        row(1, Some(80), "US", DEUTSCHE_BANK),
        row(2, Some(81), "GF", DEUTSCHE_BANK),
        row(3, Some(81), "GY", DEUTSCHE_BANK),
    ];
    assert_eq!(best(&rows).0, 3);
    // A share before a receipt, a listing before a line of foreign shares.
    let receipt = Property::SecurityType2;
    let rows = [
        with(receipt, "Depositary Receipt", row(1, Some(1), "US", None)),
        row(2, Some(2), "LN", None),
    ];
    assert_eq!(best(&rows), (2, BestBy::Order));
    let line = Instrument { ticker: Some("EXMPF".to_owned()), ..row(1, Some(1), "US", None) };
    assert_eq!(best(&[line, row(2, Some(2), "GR", None)]), (2, BestBy::Order));
    // A platform that only reports trades comes last, and a single row is alone.
    let rows = [row(1, Some(1), "EO", APPLE), row(2, Some(80), "GF", APPLE)];
    assert_eq!(best(&rows), (2, BestBy::Order));
    assert_eq!(best(&[row(1, Some(1), "US", APPLE)]), (1, BestBy::Only));
}

/// The numbers of the rows that are suggested for a text.
fn suggested(catalogue: &Catalogue, text: &str, filters: Filters) -> Vec<u32> {
    let question = Suggest { keywords: Keywords::parse(text).unwrap(), filters };
    let found = catalogue.suggest(&question, 10, &mut Begun::default(), &Meter::unlimited());
    let figis = found.unwrap().unwrap().into_iter().map(|it| catalogue.figi(it.hit));
    figis.map(|of| (0..100).find(|number| figi(*number) == of).unwrap()).collect()
}

/// contract 16.15: suggestions show the best listing that passes the filters, unless the text names
/// an exchange or is the FIGI of a row.
#[test]
fn suggestions_show_the_best_listing() {
    let rows = [
        row(1, Some(1), "US", DEUTSCHE_BANK),
        row(2, Some(2), "GR", DEUTSCHE_BANK),
        row(3, Some(2), "GY", DEUTSCHE_BANK),
        Instrument { name: Some("ANOTHER".to_owned()), ..row(4, Some(4), "LN", DEUTSCHE_BANK) },
    ];
    for size in [1, 100] {
        let folder = tempfile::tempdir().unwrap();
        let catalogue = publish(folder.path(), &rows, size);
        let at = |code: &str| {
            let mut filters = Filters::default();
            filters.known.require(catalogue.vocabulary().admit(Property::ExchCode, code).unwrap());
            filters
        };
        let all = Filters::default;
        assert_eq!(suggested(&catalogue, "example", all()), [2]);
        assert_eq!(suggested(&catalogue, "another", all()), [2], "found by a name elsewhere");
        assert_eq!(suggested(&catalogue, "ex4", all()), [2]);
        assert_eq!(suggested(&catalogue, "ex1 us equity", all()), [1]);
        assert_eq!(suggested(&catalogue, "another ln", all()), [4]);
        assert_eq!(suggested(&catalogue, &figi(3).to_string(), all()), [3]);
        assert_eq!(suggested(&catalogue, "DE0005140008", all()), [2]);
        assert_eq!(suggested(&catalogue, "another", at("LN")), [4]);
        assert_eq!(suggested(&catalogue, "example", at("GY")), [3]);
        let mut levels = all();
        levels.levels.insert(Level::Venue);
        assert_eq!(suggested(&catalogue, "example", levels), [3]);
    }
}

/// A share comes before a receipt of the same name, although not all rows of the receipt are called
/// one; not when the text says so.
#[test]
fn a_share_comes_before_its_receipt() {
    let of =
        |number: u32, row: Instrument| Instrument { share_class_figi: Some(figi(number)), ..row };
    let receipt = |row| with(Property::SecurityType2, "Depositary Receipt", row);
    let rows = [
        of(91, row(1, None, "", None)),
        receipt(of(91, row(2, Some(2), "MM", None))),
        Instrument { name: Some("EXAMPLE HLDG NA".into()), ..of(92, row(3, Some(3), "GR", None)) },
        of(92, row(4, Some(3), "GY", None)),
    ];
    let folder = tempfile::tempdir().unwrap();
    let catalogue = publish(folder.path(), &rows, 100);
    assert_eq!(suggested(&catalogue, "example holding", Filters::default())[0], 3);
}
