//! Texts and their readings.

use std::convert::Infallible;

use super::*;
use crate::instrument::vocabulary::Property;

fn vocabulary() -> Vocabulary {
    let codes = ["US", "LN", "GY", "GR", "GF", "HK", "NA"];
    let codes = codes.map(|code| (Property::ExchCode, code.to_owned()));
    let others = [(Property::MicCode, "XLON"), (Property::SecurityType2, "Option")];
    let others = others.map(|(property, value)| (property, value.to_owned()));
    Vocabulary::new(codes.into_iter().chain(others))
}

/// A reading as a text: `aapl | dec 2025: expiration 2025-12-01..2025-12-31`.
fn described(reading: &QuestionReading, vocabulary: &Vocabulary) -> String {
    let mut text = reading.keywords.text().to_owned();
    for Chip { text: piece, narrowing, .. } in &reading.chips {
        let narrowing = match narrowing {
            Narrowing::Values(values) => {
                let texts: Vec<_> = values.iter().map(|value| vocabulary.text(*value)).collect();
                format!("{} {}", values[0].property().name(), texts.join(" "))
            }
            Narrowing::Number(attribute, interval) => {
                format!("{} {}", attribute.name(), interval.low().unwrap())
            }
            Narrowing::Day(attribute, days) => {
                format!("{} {}..{}", attribute.name(), days.first(), days.last())
            }
        };
        text += &format!(" | {piece}: {narrowing}");
    }
    for piece in &reading.left_out {
        text += &format!(" | without {piece}");
    }
    text
}

fn all(text: &str) -> Vec<String> {
    let vocabulary = vocabulary();
    let readings = readings(text, &Filters::default(), &vocabulary);
    readings.iter().map(|reading| described(reading, &vocabulary)).collect()
}

/// contract 16.17: forms, terms and places, the likeliest reading first.
#[test]
fn texts_are_read() {
    for (text, expected) in [
        ("apple xetra", "apple | xetra: exchCode GY"),
        ("Apple Inc. (US0378331005)", "US0378331005 | without Apple Inc"),
        ("WKN: 865985 / ISIN: US0378331005", "US0378331005 | without WKN: 865985 / ISIN"),
        (
            "apple 4.2 2030 xetra",
            "apple xetra | 4.2: coupon 4.2 | 2030: maturity 2030-01-01..2030-12-31",
        ),
        ("HSBC Hong Kong", "HSBC | Hong Kong: exchCode HK"),
        (
            "aapl C155 call 2025",
            "aapl | C155: optionType Call | C155: strike 155 | call: optionType Call \
             | 2025: expiration 2025-01-01..2025-12-31",
        ),
        ("apple germany", "apple | germany: exchCode GR GY GF"),
        ("vod xlon", "vod | xlon: micCode XLON"),
        ("IBM US Equity", "IBM | US: exchCode US | Equity: marketSecDes Equity"),
        ("ibm equity", "IBM | equity: marketSecDes Equity"),
        ("VOD:XLON", "VOD | XLON: micCode XLON"),
        ("US:AAPL", "AAPL | US: exchCode US"),
        ("VOD.L", "VOD | .L: exchCode LN"),
        ("0700.HK", "0700 | .HK: exchCode HK"),
        ("apple 4.2 2030", "apple | 4.2: coupon 4.2 | 2030: maturity 2030-01-01..2030-12-31"),
        ("apple 4 1/4 2030", "apple | 4 1/4: coupon 4.25 | 2030: maturity 2030-01-01..2030-12-31"),
        ("t 4.25% 05/15/34", "t | 4.25%: coupon 4.25 | 05/15/34: maturity 2034-05-15..2034-05-15"),
        ("bund 2030-05-12", "bund | 2030-05-12: expiration 2030-05-12..2030-05-12"),
        ("apple 2030", "apple | 2030: maturity 2030-01-01..2030-12-31"),
        ("corn dec 25", "corn | dec 25: expiration 2025-12-01..2025-12-31"),
        ("corn Dec-25", "corn | Dec-25: expiration 2025-12-01..2025-12-31"),
        ("corn feb 2028", "corn | feb 2028: expiration 2028-02-01..2028-02-29"),
        ("sap 19 dec 2025", "sap | 19 dec 2025: expiration 2025-12-19..2025-12-19"),
        ("sap dec 19, 2025", "sap | dec 19, 2025: expiration 2025-12-19..2025-12-19"),
        ("sap 19.12.2025", "sap | 19.12.2025: expiration 2025-12-19..2025-12-19"),
        (
            "aapl dec 2025 200 call",
            "aapl | dec 2025: expiration 2025-12-01..2025-12-31 | 200: strike 200 \
             | call: optionType Call",
        ),
        (
            "aapl 12/19/25 P200",
            "aapl | 12/19/25: expiration 2025-12-19..2025-12-19 | P200: optionType Put \
             | P200: strike 200",
        ),
        (
            "aapl call C155 2025",
            "aapl | call: optionType Call | C155: strike 155 \
             | 2025: expiration 2025-01-01..2025-12-31",
        ),
        ("aapl options", "aapl | options: securityType2 Option"),
    ] {
        assert_eq!(all(text).first().map_or("", |first| first), expected, "{text}");
    }
}

/// contract 16.17: a text without a form, a term or a place has no reading; nor has one without a
/// word to search for.
#[test]
fn texts_are_words() {
    for text in [
        "",
        " ",
        "ibm",
        "apple",
        "nikkei 225",
        "xetra",
        "2030",
        "call",
        "dec 2025",
        "apple 500",
        "munich re",
        "xetra apple",
        "3m",
        "apple may",
        "may",
        "hong kong",
        "apple 1.2.3",
        "apple 99/99/99",
        "1/2",
        "apple 13/2025",
        "BRK.B",
        "$AAPL",
        "US0378331005",
    ] {
        assert_eq!(all(text), [""; 0], "{text}");
    }
    assert_eq!(all(&"apple xetra ".repeat(9)), [""; 0]);
    assert_eq!(all(&format!("{} xetra", "a".repeat(300))), [""; 0]);
}

/// contract 16.17: a term that nothing fits is searched for as a word, or left out.
#[test]
fn terms_are_left_out() {
    let of_option = all("aapl dec 2025 999 call");
    assert_eq!(
        of_option[1..],
        [
            "aapl 999 | dec 2025: expiration 2025-12-01..2025-12-31 | call: optionType Call",
            "aapl | dec 2025: expiration 2025-12-01..2025-12-31 | call: optionType Call \
             | without 999",
            "aapl | 999: strike 999 | call: optionType Call | without dec 2025",
        ]
    );
    // An option has no coupon.
    assert_eq!(
        all("ford 5% call 2030")[0],
        "ford | call: optionType Call | 2030: expiration 2030-01-01..2030-12-31 | without 5%"
    );
    assert!(all("apple germany 4.2 2030 xetra").len() <= READINGS_MAX);
}

/// contract 16.18: a chip goes with its text.
#[test]
fn a_chip_goes_with_its_text() {
    let vocabulary = vocabulary();
    let without = |text: &str| -> Vec<String> {
        let readings = readings(text, &Filters::default(), &vocabulary);
        readings[0].chips.iter().map(|chip| chip.without.clone()).collect()
    };
    assert_eq!(without("VOD.L"), ["VOD"]);
    assert_eq!(without(" US:AAPL"), ["AAPL"]);
    assert_eq!(without("AAPL:US "), ["AAPL"]);
    assert_eq!(without("IBM US Equity"), ["IBM Equity", "IBM US"]);
    assert_eq!(without("apple, 4.2, 2030"), ["apple 2030", "apple, 4.2"]);
}

/// contract 16.17: a reading never contradicts the filters of the caller.
#[test]
fn filters_are_kept() {
    let vocabulary = vocabulary();
    let known = |code| vocabulary.admit(Property::ExchCode, code).unwrap();
    let mut filters = Filters::default();
    filters.known.require(known("US"));
    assert_eq!(readings("apple xetra", &filters, &vocabulary), []);
    filters.known.allow(known("GY"));
    let narrowed = &readings("apple germany", &filters, &vocabulary)[0].filters.known;
    assert!(narrowed.allows(known("GY")) && !narrowed.allows(known("US")));
    let mut filters = Filters::default();
    filters.numbers[0] = NumberInterval::new(Some(100.0), None).ok();
    let strike =
        |text| readings(text, &filters, &vocabulary).first().map(|one| one.filters.numbers[0]);
    assert_eq!(strike("aapl C200"), Some(NumberInterval::new(Some(200.0), Some(200.0)).ok()));
    assert_eq!(strike("aapl C50 options"), None);
}

/// contract 16.17: words narrow only if the words as typed find nothing, and the reading something.
#[test]
fn the_first_reading_that_finds_something_is_taken() {
    let vocabulary = vocabulary();
    let taken = |text: &str, words_find: bool, finding: &[usize]| {
        let readings = readings(text, &Filters::default(), &vocabulary);
        let finds = |asked| {
            Ok::<_, Infallible>(match asked {
                Asked::Words => words_find,
                Asked::Reading(number) => finding.contains(&number),
            })
        };
        let Ok(ReadingDecision { taken, .. }) = decide(&readings, finds);
        taken
    };
    assert_eq!(taken("apple xetra", false, &[0]), Some(0));
    assert_eq!(taken("apple xetra", true, &[0]), None);
    assert_eq!(taken("apple xetra", false, &[]), None);
    assert_eq!(taken("apple 4.2 2030", true, &[0]), None);
    assert_eq!(taken("apple 4.2 2030", false, &[0, 1]), Some(0));
    assert_eq!(taken("aapl dec 2025 999 call", false, &[2]), Some(2));
    assert_eq!(taken("aapl dec 2025 999 call", true, &[2]), None);
}
