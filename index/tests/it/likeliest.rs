//! The security that a typed text most likely means (contract 16.1, 16.15), over small hand-made
//! universes, in one part and in parts of one row.

use figdex_index::{
    Begun, Filters, IdType, Importance, Instrument, Keywords, Matched, Meter, NameKind, OtherName,
    Property, RowSource as _, Suggest,
};

use crate::support::{figi, publish};

/// A common share of a separate share class, without an ISIN.
fn share(number: u32, ticker: &str, exch_code: &str, name: &str) -> Instrument {
    let mut instrument = Instrument {
        name: Some(name.to_owned()),
        ticker: Some(ticker.to_owned()),
        share_class_figi: Some(figi(100 + number)),
        composite_figi: Some(figi(number)),
        ..Instrument::new(figi(number))
    };
    instrument.properties[Property::ExchCode as usize] = Some(exch_code.to_owned());
    instrument.properties[Property::MarketSecDes as usize] = Some("Equity".to_owned());
    instrument.properties[Property::SecurityType as usize] = Some("Common Stock".to_owned());
    instrument.properties[Property::SecurityType2 as usize] = Some("Common Stock".to_owned());
    instrument
}

fn important(importance: f64, instrument: Instrument) -> Instrument {
    Instrument { importance: Importance::new(importance), ..instrument }
}

fn known_as(kind: NameKind, name: &str, mut instrument: Instrument) -> Instrument {
    instrument.names.push(OtherName { text: name.to_owned(), kind, from: None, to: None });
    instrument
}

/// The other half of a security: with an ISIN, without a share class.
fn half(isin: &'static str, instrument: Instrument) -> Instrument {
    let mut instrument = Instrument { share_class_figi: None, ..instrument };
    instrument.identifiers.extend(IdType::Isin.admit(isin).ok());
    instrument
}

fn receipt(mut instrument: Instrument) -> Instrument {
    instrument.properties[Property::SecurityType as usize] = Some("ADR".to_owned());
    instrument.properties[Property::SecurityType2 as usize] = Some("Depositary Receipt".to_owned());
    instrument
}

/// The numbers of the rows that are suggested for a text, and the reasons for the first.
fn suggested(rows: &[Instrument], text: &str) -> (Vec<u32>, Matched) {
    let mut answers = Vec::new();
    for size in [1, 100] {
        let folder = tempfile::tempdir().unwrap();
        let catalogue = publish(folder.path(), rows, size);
        let question =
            Suggest { keywords: Keywords::parse(text).unwrap(), filters: Filters::default() };
        let found = catalogue.suggest(&question, 10, &mut Begun::default(), &Meter::unlimited());
        let found = found.unwrap().unwrap();
        let matched = found.first().map_or_else(Matched::default, |it| it.matched);
        let figis = found.into_iter().map(|it| catalogue.figi(it.hit));
        let numbers = figis.map(|of| (0..100).find(|number| figi(*number) == of).unwrap());
        answers.push((numbers.collect::<Vec<_>>(), matched));
    }
    assert_eq!(answers[0], answers[1], "{text}");
    answers.remove(0)
}

fn first(rows: &[Instrument], text: &str) -> Option<u32> {
    suggested(rows, text).0.first().copied()
}

/// A ticker as it was typed comes before words that begin with it, unless the name of a more
/// important company does and the text is not written like a ticker.
#[test]
fn a_ticker_as_typed() {
    let rows = [
        important(5.0, share(1, "GE", "US", "General Electric")),
        known_as(NameKind::Brand, "Geico", important(6.0, share(2, "BRK/B", "US", "Berkshire"))),
        important(2.0, share(3, "TOY", "CN", "Spin Master")),
        important(6.0, share(4, "7203", "JP", "Toyota Motor")),
        important(6.0, share(5, "GEX", "US", "Another")),
    ];
    for text in ["GE", "ge"] {
        assert_eq!(first(&rows, text), Some(1), "{text}");
    }
    assert_eq!(first(&rows, "gei"), Some(2), "nothing else begins with it");
    assert_eq!(first(&rows, "toy"), Some(4));
    assert_eq!(first(&rows, "TOY"), Some(3));
    // A piece of a ticker is not the ticker, and a word of a name is not the name.
    let rows = [
        important(6.0, share(1, "BRK/B", "US", "Berkshire Hathaway")),
        important(2.0, share(2, "B", "US", "Xarrick Mining")),
        important(5.0, share(3, "BAC", "US", "Bank of America")),
    ];
    assert_eq!(first(&rows[1..], "b"), Some(3));
    assert_eq!(suggested(&rows, "b").0, [3, 2, 1]);
    // An index has a ticker, too.
    let mut dax = important(3.0, share(1, "DAX", "GR", "German shares"));
    dax.properties[Property::MarketSecDes as usize] = Some("Index".to_owned());
    dax.properties[Property::SecurityType2 as usize] = Some("Index".to_owned());
    let rows = [dax, important(6.0, share(3, "DAXY", "US", "Ten Corp"))];
    assert_eq!(first(&rows, "DAX"), Some(1));
    assert_eq!(first(&rows, "dax"), Some(1));
    // It is the ticker of another company on a foreign market.
    let mut abroad = share(6, "GIS", "GR", "Gilead Sciences");
    abroad.share_class_figi = Some(figi(107));
    let rows = [
        abroad,
        half("US3755581036", share(7, "GILD", "US", "Gilead Sciences")),
        share(8, "GIS", "US", "General Mills"),
    ];
    let rows = rows.map(|row| Instrument {
        share_class_figi: row.share_class_figi.or(Some(figi(107))),
        ..important(5.0, row)
    });
    assert_eq!(suggested(&rows, "gis").0, [8, 7]);
    // Where others have an importance, the beginning of an unknown name is not more likely.
    let rows = [
        share(1, "SPYR", "US", "Spyr Inc"),
        share(2, "SPY", "US", "Index Trust"),
        important(6.0, share(3, "ABC", "US", "Spyre Therapeutics")),
    ];
    assert_eq!(suggested(&rows[..2], "spy").0, [1, 2], "no importances");
    assert_eq!(suggested(&rows, "spy").0, [3, 2, 1]);
}

/// A word with a typo counts only in the name that is compared: other brands of a company say nothing
/// about it.
#[test]
fn a_typo_in_another_brand() {
    let brand = |name, row| known_as(NameKind::Brand, name, row);
    let drinks = brand("Gold Peak", brand("Extra Gum", share(1, "KO", "US", "Drinks Company")));
    let rows = [important(6.0, drinks), share(2, "4GLD", "GR", "Xetra-Gold")];
    assert_eq!(first(&rows, "xetra gold"), Some(2));
    // A brand with a typo is found by its own words.
    assert_eq!(suggested(&rows, "gold paek").0, [1]);
}

/// The name of a share means that share, whatever other companies have as a brand.
#[test]
fn a_brand_with_the_name_of_a_company() {
    let named = share(1, "RRU", "GR", "Rolls-Royce Holdings PLC");
    let brand = known_as(NameKind::Brand, "Rolls-Royce", share(2, "BMW", "GR", "Bay. Motoren"));
    let rows = [named.clone(), important(6.0, brand.clone())];
    assert_eq!(suggested(&rows, "rolls royce").0, [1, 2]);
    assert_eq!(first(&rows[1..], "rolls royce"), Some(2));
    let words = Instrument { name: Some("Royce Rolls Storage".to_owned()), ..named.clone() };
    assert_eq!(first(&[words, important(6.0, brand.clone())], "rolls royce"), Some(2));
    // Its own name is not only a brand.
    let own = known_as(NameKind::Brand, "Rolls and Royce", important(6.0, named));
    assert_eq!(first(&[own, important(6.0, brand)], "rolls and royce"), Some(1));
}

/// The half of a security that is nearer to home comes before the other one.
#[test]
fn two_halves_of_a_security() {
    const IRISH: &str = "IE00B4BNMY34";
    const GERMAN: &str = "DE0005140008";
    const BRITISH: &str = "GB0031274896";
    let known = |number| important(5.0, share(number, "CSA", "GR", "Accenture Plc Class A"));
    let home = half(IRISH, share(1, "ACN", "US", "Accenture plc"));
    for text in ["accenture", "accentur", "accenture plc"] {
        assert_eq!(suggested(&[home.clone(), known(2)], text).0, [1, 2], "{text}");
    }
    // Ireland names no home, but companies from there are usually listed in the United States.
    let rows = [half(IRISH, share(1, "ACN", "SW", "Accenture plc")), known(2)];
    assert_eq!(first(&rows, "accenture"), Some(2));
    // A row without a type may be a certificate, and another class is another security.
    let mut untyped = home.clone();
    untyped.properties[Property::SecurityType as usize] = None;
    assert_eq!(first(&[untyped, known(2)], "accenture"), Some(2));
    let other = Instrument { name: Some("Accenture plc Class B".to_owned()), ..home.clone() };
    assert_eq!(first(&[other, known(2)], "accenture"), Some(2));
    // With share classes the data say what is one security.
    let complete = Instrument { share_class_figi: Some(figi(99)), ..home };
    assert_eq!(first(&[complete, known(2)], "accenture"), Some(2));
    // A share at home comes before a receipt, a receipt before a share elsewhere, and last comes a
    // line that is not listed. A ticker means its row.
    let adr = important(5.0, receipt(share(3, "DBX", "US", "Deutsche Bank ADR")));
    let share_of = |exch_code| half(GERMAN, share(1, "DBK", exch_code, "Deutsche Bank AG"));
    assert_eq!(suggested(&[share_of("GR"), adr.clone()], "deutsche bank").0, [1, 3]);
    let ticker = important(5.0, share(2, "DEUTSCHE", "LN", "Deutsche Bank"));
    assert_eq!(suggested(&[share_of("GR"), ticker.clone()], "deutsche bank").0, [1, 2]);
    assert_eq!(first(&[share_of("GR"), ticker], "deutsche"), Some(2));
    for name in ["DEUTSCHE BANK AG-SPON ADR", "DEUTSCHE BANK-ADR", "Deutsche Bank Sp.ADR 1"] {
        let adr = Instrument { name: Some(name.to_owned()), ..adr.clone() };
        assert_eq!(suggested(&[share_of("GR"), adr], "deutsche bank").0, [1, 3], "{name}");
    }
    assert_eq!(suggested(&[share_of("LN"), adr], "deutsche bank").0, [3, 1]);
    let line = important(5.0, share(6, "MAKSY", "US", "Marks & Spencer Group Plc"));
    let rows = [half(BRITISH, share(5, "MKS", "", "Marks and Spencer Group PLC")), line];
    let rows = rows.map(|mut row| {
        row.properties[Property::ExchCode as usize].take_if(|code| code.is_empty());
        row
    });
    assert_eq!(suggested(&rows, "marks & spencer").0, [5, 6]);
}

/// Names that are alike but for their legal forms may be those of two companies. An article
/// does not count.
#[test]
fn legal_forms_of_namesakes() {
    let known = |name| important(5.0, share(2, "XX", "GR", name));
    for (isin, exch_code, half_name, other, text, expected) in [
        ("INE003A01024", "IN", "Siemens Ltd", "SIEMENS AG-REG", "siemens", 2),
        ("US58933Y1055", "US", "Merck & Co", "MERCK KGAA O.N.", "merck", 2),
        ("US0970231058", "US", "The Boeing Company", "BOEING CO/THE", "boeing", 1),
        ("US0970231058", "US", "Boeing", "BOEING CO/THE", "boeing", 1),
    ] {
        let rows = [half(isin, share(1, "YY", exch_code, half_name)), known(other)];
        let found = first(&rows, text);
        assert_eq!(found, Some(expected), "{half_name}");
    }
    // A text with a class means that class.
    let rows = [
        half("US02079K1079", share(1, "GOOG", "US", "Alphabet Inc")),
        important(5.0, share(2, "ABEA", "GR", "ALPHABET INC-CL A")),
    ];
    assert_eq!(first(&rows, "alphabet class a"), Some(2));
    assert_eq!(first(&rows, "alphabet"), Some(1));
    // A ticker among several words does not mean its row.
    let rows = [
        half("DE0007037129", share(1, "RWE", "GR", "RWE AG")),
        important(5.0, share(2, "RWE", "SW", "RWE AG")),
    ];
    assert_eq!(first(&rows, "rwe ag"), Some(1));
}

/// When nothing is found, a phrase or a word of the text may be a whole name: the row is a guess.
#[test]
fn a_name_within_a_text() {
    let rows = [
        share(1, "AAPL", "US", "APPLE INC"),
        share(2, "2357", "TT", "ASUSTeK Computer Inc."),
        share(3, "GS", "US", "Goldman Sachs Group Inc"),
        share(4, "FNB", "US", "First National Bank"),
        share(5, "KO", "US", "COCA-COLA CO"),
    ];
    for (text, expected) in [
        ("apple computer company", &[1][..]),
        ("apple xyzzy", &[1]),
        ("goldman sachs bank corp", &[3]),
        ("buy goldman sachs now", &[3]),
        ("buy apple stock", &[1]),
        // A part of a name is not enough.
        ("sachs apple goldman", &[1]),
        ("sachs goldmann first", &[]),
        ("national computers", &[]),
        ("cola xyzzy", &[]),
        ("xyzzy qwertz", &[]),
        ("xyzzyqwertz inc", &[]),
    ] {
        let (numbers, matched) = suggested(&rows, text);
        assert_eq!(numbers, expected, "{text}");
        assert_eq!(matched.guess, !expected.is_empty(), "{text}");
        assert!(!matched.exact, "{text}");
    }
    // Only when nothing is found.
    assert_eq!(suggested(&rows, "computer inc").0, [2]);
    assert!(!suggested(&rows, "apple inc").1.guess);
}
