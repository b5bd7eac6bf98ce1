use figdex_index::Property;

use super::*;

fn cells_of(cells: &[(&str, &str)]) -> Row {
    let mut row = Row::default();
    for (column, value) in cells {
        row.push(Column::from_name(column).unwrap(), value, CellKind::Text);
    }
    row.raw = format!("{cells:?}").into_bytes();
    row
}

fn instrument(figi: &str, cells: &[(&str, &str)]) -> Instrument {
    let mut dropped = Vec::new();
    let instrument = describe(Figi::parse(figi).unwrap(), &cells_of(cells), &mut dropped);
    assert!(dropped.is_empty());
    instrument
}

/// IBM in the United States and in London, Apple, and a bond without levels.
fn universe() -> Vec<Instrument> {
    const IBM: (&str, &str) = ("shareClassFIGI", "BBG001S5S399");
    const ISIN: (&str, &str) = ("ID_ISIN", "US4592001014");
    vec![
        instrument("BBG000BLNNH6", &[IBM, ISIN, ("exchCode", "US"), ("ticker", "IBM")]),
        instrument("BBG000BLNQ16", &[IBM, ISIN, ("exchCode", "LN"), ("ticker", "IBM")]),
        instrument(
            "BBG000B9XRY4",
            &[("exchCode", "US"), ("ticker", "AAPL"), ("name", "APPLE INC")],
        ),
        instrument("BBG000BPH459", &[("ID_CUSIP", "037833100"), ("coupon", "5")]),
    ]
}

/// What became of each row, and of the universe.
fn enriched(rows: &[&[(&str, &str)]]) -> (Vec<Outcome>, Vec<Instrument>, Conflicts) {
    let mut enrichment = Enrichment::new();
    enrichment.begin("more.csv".into());
    for cells in rows {
        enrichment.add(&cells_of(cells), &mut Vec::new()).unwrap().unwrap();
        enrichment.account().counts.read += 1;
    }
    let mut universe = universe();
    universe.iter().for_each(|instrument| enrichment.observe(instrument));
    enrichment.settle();
    let mut conflicts = Conflicts::new(Vec::new());
    universe.iter_mut().for_each(|instrument| enrichment.apply(instrument, &mut conflicts));
    let outcomes = (0..rows.len()).map(|row| enrichment.rows.state(row).outcome).collect();
    assert!(enrichment.finish().0.iter().all(|input| input.counts.add_up()));
    (outcomes, universe, conflicts)
}

/// An ISIN gives what is of the issue to every row that carries it, and nothing
/// of a venue.
#[test]
fn an_isin_enriches_the_issue() {
    let (outcomes, universe, conflicts) = enriched(&[&[
        ("ID_ISIN", "us4592001014"),
        ("name", "INTL BUSINESS MACHINES CORP"),
        ("currency", "USD"),
        ("micCode", "XNYS"),
        ("ID_CUSIP", "459200101"),
        ("ID_SEDOL", "2005973"),
    ]]);
    assert!(outcomes == [Outcome::Enriches] && conflicts.finish().is_empty());
    for ibm in &universe[..2] {
        assert_eq!(ibm.name.as_deref(), Some("INTL BUSINESS MACHINES CORP"));
        assert_eq!(ibm.property(Property::Currency), None);
        assert_eq!(ibm.property(Property::MicCode), None);
        assert_eq!(ibm.identifiers.len(), 2, "the CUSIP, and no SEDOL");
    }
    assert_eq!(universe[2..], self::universe()[2..]);
}

/// Exchange code and ticker, or a FIGI, name one row, which is given all.
#[test]
fn a_listing_is_enriched_alone() {
    let by_codes = [("exchCode", "LN"), ("ticker", "IBM"), ("currency", "GBp")];
    let by_figi = [("figi", "BBG000BLNQ16"), ("micCode", "XLON")];
    let (outcomes, universe, _) = enriched(&[&by_codes, &by_figi]);
    assert_eq!(outcomes, [Outcome::Enriches; 2]);
    assert_eq!(universe[1].property(Property::Currency), Some("GBp"));
    assert_eq!(universe[1].property(Property::MicCode), Some("XLON"));
    assert_eq!(universe[0], self::universe()[0]);
    let other = [("figi", "BBG000BLNQ16"), ("ticker", "OTHER")];
    let (_, universe, conflicts) = enriched(&[&other]);
    assert_eq!(universe[1].ticker.as_deref(), Some("IBM"), "what stands is not overridden");
    assert_eq!(conflicts.finish()[&Column::Ticker].samples[0].lost.value, "OTHER");
}

/// What an instrument has stands, and where a row says otherwise it is told.
#[test]
fn it_fills_and_never_overrides() {
    let row = [("ID_CUSIP", "037833100"), ("coupon", "5.5"), ("maturity", "2030-01-01")];
    let (_, universe, conflicts) = enriched(&[&row]);
    assert_eq!(universe[3].coupon, Some(5.0));
    assert_eq!(universe[3].maturity.unwrap().to_string(), "2030-01-01");
    let conflicts = conflicts.finish();
    let sample = &conflicts[&Column::Coupon].samples[0];
    assert_eq!((sample.kept.value.as_str(), sample.kept.input.as_deref()), ("5", None));
    assert_eq!(
        (sample.lost.value.as_str(), sample.lost.input.as_deref()),
        ("5.5", Some("more.csv"))
    );
    let same = [("ID_CUSIP", "037833100"), ("coupon", "5.00")];
    assert!(enriched(&[&same]).2.finish().is_empty(), "the same number is no conflict");
}

#[test]
fn what_identifies_nothing_or_too_much_joins_nothing() {
    let [ibm, aapl, bond] =
        ["BBG001S5S399", "BBG000B9XRY4", "BBG000BPH459"].map(|figi| Figi::parse(figi).unwrap());
    for (row, outcome) in [
        (&[("ID_ISIN", "JP3633400001"), ("name", "x")][..], Outcome::Unmatched),
        (&[("exchCode", "US"), ("ticker", "ibm"), ("name", "x")], Outcome::Unmatched),
        (
            &[("ID_ISIN", "US4592001014"), ("exchCode", "US"), ("ticker", "AAPL"), ("name", "x")],
            Outcome::SeveralSecurities([ibm, aapl]),
        ),
        (
            &[("ID_ISIN", "US4592001014"), ("ID_CUSIP", "037833100"), ("name", "x")],
            Outcome::SeveralSecurities([ibm, bond]),
        ),
    ] {
        let (outcomes, universe, _) = enriched(&[row]);
        assert_eq!(outcomes, [outcome], "{row:?}");
        assert_eq!(universe, self::universe());
    }
}

/// Rows that contradict each other are of no use; a third that does not is.
#[test]
fn rows_that_contradict_each_other_join_nothing() {
    let isin = ("ID_ISIN", "US4592001014");
    let (outcomes, universe, _) = enriched(&[
        &[isin, ("name", "a")],
        &[("exchCode", "LN"), ("ticker", "IBM"), ("name", "b")],
        &[isin, ("securityType", "Common Stock")],
        &[isin, ("micCode", "XNYS")],
        &[isin, ("micCode", "XLON")],
    ]);
    let contradicted = Outcome::Contradicted(Column::Name);
    let expected =
        [contradicted, contradicted, Outcome::Enriches, Outcome::Enriches, Outcome::Enriches];
    assert_eq!(outcomes, expected, "of a venue, an ISIN says nothing: that is no contradiction");
    assert!(universe.iter().take(2).all(|ibm| ibm.name.is_none()));
    assert_eq!(universe[0].property(Property::SecurityType), Some("Common Stock"));
}

#[test]
fn a_row_needs_a_key_and_room() {
    let mut enrichment = Enrichment::bounded(1000);
    enrichment.begin("more.csv".into());
    let mut dropped = Vec::new();
    let row = cells_of(&[("ticker", "IBM"), ("figi", "TCS00A103X66"), ("name", "x")]);
    assert_eq!(enrichment.add(&row, &mut dropped).unwrap(), Err(Reject::NoKey));
    assert_eq!(dropped[0].reason, "not a FIGI");
    let row = cells_of(&[("ID_ISIN", "US4592001014"), ("name", "x")]);
    let added = (0..100).find_map(|_| enrichment.add(&row, &mut dropped).err());
    let message = added.unwrap().to_string();
    assert!(
        message.starts_with("more.csv, line 0: the rows to enrich with take more"),
        "{message}"
    );
}
