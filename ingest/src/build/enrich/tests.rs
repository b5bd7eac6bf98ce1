use figdex_index::Property;

use super::*;

fn row_of(cells: &[(&str, &str)]) -> Row {
    let mut row = Row::default();
    for (column, value) in cells {
        row.push(Column::from_name(column).unwrap(), value, CellKind::Text);
    }
    row.raw = format!("{cells:?}").into_bytes();
    row
}

fn instrument(figi: &str, cells: &[(&str, &str)]) -> Instrument {
    let mut dropped = Vec::new();
    let instrument = describe(Figi::parse(figi).unwrap(), &row_of(cells), &mut dropped);
    assert!(dropped.is_empty());
    instrument
}

/// IBM in the United States and in London, Apple, and a bond without share class or composite.
fn instruments() -> Vec<Instrument> {
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

/// The outcome of each row, the enriched instruments, and the conflicts.
fn enriched(rows: &[&[(&str, &str)]]) -> (Vec<MatchOutcome>, Vec<Instrument>, Conflicts) {
    let mut enrichment = Enrichment::new();
    enrichment.begin("more.csv".into());
    for cells in rows {
        enrichment.add(&row_of(cells), &mut Vec::new()).unwrap().unwrap();
        enrichment.report().counts.read += 1;
    }
    let mut enriched = instruments();
    enriched.iter().for_each(|instrument| enrichment.observe(instrument));
    enrichment.settle();
    let mut conflicts = Conflicts::default();
    for instrument in &mut enriched {
        enrichment.apply(instrument, &mut conflicts);
    }
    let outcomes = (0..rows.len()).map(|row| enrichment.rows.state(row).outcome).collect();
    assert!(enrichment.finish().0.iter().all(|input| input.counts.add_up()));
    (outcomes, enriched, conflicts)
}

/// A row with an ISIN fills the fields of the issue in every instrument that has the ISIN, and
/// no field of a venue.
#[test]
fn an_isin_enriches_the_issue() {
    let (outcomes, instruments, conflicts) = enriched(&[&[
        ("ID_ISIN", "us4592001014"),
        ("name", "INTL BUSINESS MACHINES CORP"),
        ("currency", "USD"),
        ("micCode", "XNYS"),
        ("ID_CUSIP", "459200101"),
        ("ID_SEDOL", "2005973"),
    ]]);
    assert!(outcomes == [MatchOutcome::Enriches] && conflicts.finish().is_empty());
    for ibm in &instruments[..2] {
        assert_eq!(ibm.name.as_deref(), Some("INTL BUSINESS MACHINES CORP"));
        assert_eq!(ibm.property(Property::Currency), None);
        assert_eq!(ibm.property(Property::MicCode), None);
        assert_eq!(ibm.identifiers.len(), 2, "the CUSIP is added, the SEDOL is not");
    }
    assert_eq!(instruments[2..], self::instruments()[2..]);
}

/// Exchange code and ticker, or a FIGI, identify one instrument, all of whose fields are filled.
#[test]
fn a_listing_key_enriches_only_that_listing() {
    let by_codes = [("exchCode", "LN"), ("ticker", "IBM"), ("currency", "GBp")];
    let by_figi = [("figi", "BBG000BLNQ16"), ("micCode", "XLON")];
    let (outcomes, instruments, _) = enriched(&[&by_codes, &by_figi]);
    assert_eq!(outcomes, [MatchOutcome::Enriches; 2]);
    assert_eq!(instruments[1].property(Property::Currency), Some("GBp"));
    assert_eq!(instruments[1].property(Property::MicCode), Some("XLON"));
    assert_eq!(instruments[0], self::instruments()[0]);
    let other = [("figi", "BBG000BLNQ16"), ("ticker", "OTHER")];
    let (_, instruments, conflicts) = enriched(&[&other]);
    assert_eq!(instruments[1].ticker.as_deref(), Some("IBM"), "a value is not overwritten");
    assert_eq!(
        conflicts.finish()[&Column::Attribute(Attribute::Ticker)].samples[0].lost.value,
        "OTHER"
    );
}

/// A value of the instrument is kept, and a different value of a row is a conflict.
#[test]
fn blank_fields_are_filled_and_others_kept() {
    let row = [("ID_CUSIP", "037833100"), ("coupon", "5.5"), ("maturity", "2030-01-01")];
    let (_, instruments, conflicts) = enriched(&[&row]);
    assert_eq!(instruments[3].coupon, Some(5.0));
    assert_eq!(instruments[3].maturity.unwrap().to_string(), "2030-01-01");
    let conflicts = conflicts.finish();
    let sample = &conflicts[&Column::Attribute(Attribute::Coupon)].samples[0];
    assert_eq!((sample.kept.value.as_str(), sample.kept.input.as_deref()), ("5", None));
    assert_eq!(
        (sample.lost.value.as_str(), sample.lost.input.as_deref()),
        ("5.5", Some("more.csv"))
    );
    let same = [("ID_CUSIP", "037833100"), ("coupon", "5.00")];
    assert!(enriched(&[&same]).2.finish().is_empty(), "the same number is not a conflict");
}

#[test]
fn rows_that_identify_no_security_or_several_are_not_used() {
    let [ibm, aapl, bond] =
        ["BBG001S5S399", "BBG000B9XRY4", "BBG000BPH459"].map(|figi| Figi::parse(figi).unwrap());
    for (row, outcome) in [
        (&[("ID_ISIN", "JP3633400001"), ("name", "x")][..], MatchOutcome::Unmatched),
        (&[("exchCode", "US"), ("ticker", "ibm"), ("name", "x")], MatchOutcome::Unmatched),
        (
            &[("ID_ISIN", "US4592001014"), ("exchCode", "US"), ("ticker", "AAPL"), ("name", "x")],
            MatchOutcome::SeveralSecurities([ibm, aapl]),
        ),
        (
            &[("ID_ISIN", "US4592001014"), ("ID_CUSIP", "037833100"), ("name", "x")],
            MatchOutcome::SeveralSecurities([ibm, bond]),
        ),
    ] {
        let (outcomes, instruments, _) = enriched(&[row]);
        assert_eq!(outcomes, [outcome], "{row:?}");
        assert_eq!(instruments, self::instruments());
    }
}

/// Only the rows that contradict each other are left out, not a third row for the same security.
#[test]
fn rows_that_contradict_each_other_are_not_used() {
    let isin = ("ID_ISIN", "US4592001014");
    let (outcomes, instruments, _) = enriched(&[
        &[isin, ("name", "a")],
        &[("exchCode", "LN"), ("ticker", "IBM"), ("name", "b")],
        &[isin, ("securityType", "Common Stock")],
        &[isin, ("micCode", "XNYS")],
        &[isin, ("micCode", "XLON")],
    ]);
    let contradicted = MatchOutcome::Contradicted(Column::Attribute(Attribute::Name));
    let expected = [
        contradicted,
        contradicted,
        MatchOutcome::Enriches,
        MatchOutcome::Enriches,
        MatchOutcome::Enriches,
    ];
    assert_eq!(
        outcomes, expected,
        "a micCode is not filled by ISIN, so two different ones do not contradict each other"
    );
    assert!(instruments.iter().take(2).all(|ibm| ibm.name.is_none()));
    assert_eq!(instruments[0].property(Property::SecurityType), Some("Common Stock"));
}

#[test]
fn a_row_needs_a_key_and_room() {
    let mut enrichment = Enrichment::bounded(1000);
    enrichment.begin("more.csv".into());
    let mut dropped = Vec::new();
    let row = row_of(&[("ticker", "IBM"), ("figi", "TCS00A103X66"), ("name", "x")]);
    assert_eq!(enrichment.add(&row, &mut dropped).unwrap(), Err(Reject::NoKey));
    assert_eq!(dropped[0].reason, "not a FIGI");
    let row = row_of(&[("ID_ISIN", "US4592001014"), ("name", "x")]);
    let added = (0..100).find_map(|_| enrichment.add(&row, &mut dropped).err());
    let message = added.unwrap().to_string();
    assert!(
        message.starts_with("more.csv, line 0: the rows of the --enrich dumps take"),
        "{message}"
    );
}

fn importances(instruments: &[Instrument]) -> Vec<Option<f64>> {
    instruments.iter().map(|it| it.importance.map(Importance::number)).collect()
}

/// A row with a share class gives its importance to all listings; one that names a listing comes
/// first for it, and of several the largest counts.
#[test]
fn a_share_class_gives_all_listings_its_importance() {
    const IBM: (&str, &str) = ("shareClassFIGI", "BBG001S5S399");
    let (outcomes, instruments, conflicts) = enriched(&[&[IBM, ("importance", "7")]]);
    assert_eq!(outcomes, [MatchOutcome::Enriches]);
    assert_eq!(importances(&instruments), [Some(7.0), Some(7.0), None, None]);
    assert!(conflicts.finish().is_empty());

    let us = ("figi", "BBG000BLNNH6");
    let (outcomes, instruments, conflicts) = enriched(&[
        &[IBM, ("importance", "9"), ("name", "x")],
        &[us, IBM, ("importance", "3"), ("name", "INTL BUSINESS MACHINES")],
        &[us, IBM, ("importance", "2")],
        &[IBM, ("importance", "10.5")],
    ]);
    assert_eq!(outcomes, [MatchOutcome::Enriches; 4], "importances do not contradict each other");
    assert_eq!(importances(&instruments), [Some(3.0), Some(10.5), None, None]);
    assert_eq!(instruments[1].name.as_deref(), Some("x"), "only the row without a FIGI names it");
    assert_eq!(
        conflicts.finish().keys().collect::<Vec<_>>(),
        [&Column::Attribute(Attribute::Name)]
    );
}

/// A row that matches by its share class alone fills what all listings have in common.
#[test]
fn a_share_class_fills_what_listings_have_in_common() {
    const IBM: (&str, &str) = ("shareClassFIGI", "BBG001S5S399");
    let row = [IBM, ("name", "IBM CORP"), ("ID_ISIN", "JP3633400001"), ("currency", "USD")];
    let (outcomes, instruments, _) = enriched(&[&row]);
    assert_eq!(outcomes, [MatchOutcome::Enriches]);
    for ibm in &instruments[..2] {
        assert_eq!(ibm.name.as_deref(), Some("IBM CORP"));
        assert_eq!((ibm.identifiers.len(), ibm.property(Property::Currency)), (1, None));
    }
    assert_eq!(instruments[2..], self::instruments()[2..]);
    let contradiction = [&[IBM, ("name", "a")][..], &[IBM, ("name", "b")]];
    assert_eq!(
        enriched(&contradiction).0,
        [MatchOutcome::Contradicted(Column::Attribute(Attribute::Name)); 2]
    );
    assert_eq!(
        enriched(&[&[("shareClassFIGI", "BBG001S5N8V8"), ("name", "x")]]).0,
        [MatchOutcome::Unmatched]
    );
}

/// However many rows have the same key, its instruments look at those that give them something:
/// the work is not the product of rows and instruments.
#[test]
fn many_rows_of_one_key_are_looked_at_once() {
    let isin = ("ID_ISIN", "US4592001014");
    let mut enrichment = Enrichment::new();
    enrichment.begin("more.csv".into());
    for number in 0..2_000 {
        let importance = ((number * 7) % 2_000).to_string();
        let more = match number {
            500 => ("coupon", "5"),
            _ => ("name", "IBM"),
        };
        let row = row_of(&[isin, ("importance", &importance), more]);
        enrichment.add(&row, &mut Vec::new()).unwrap().unwrap();
    }
    let mut enriched = instruments();
    enriched.iter().for_each(|instrument| enrichment.observe(instrument));
    enrichment.settle();
    let [key] = enrichment.rows.find(&enriched[0])[..] else { panic!("one key") };
    // 7 × 857 = 5,999 = 1,999 beyond twice 2,000.
    assert_eq!(enrichment.rows.givers(key), [0, 500, 857]);
    let mut conflicts = Conflicts::default();
    let bytes: Vec<usize> =
        enriched.iter_mut().map(|one| enrichment.apply(one, &mut conflicts)).collect();
    assert_eq!(bytes, [8, 8, 0, 0], "name, coupon and importance");
    assert_eq!(importances(&enriched), [Some(1_999.0), Some(1_999.0), None, None]);
    assert_eq!(enriched[1].coupon, Some(5.0));
}
