//! Texts as identifiers of every kind, FIGIs, dates and intervals. The normal form of an
//! admitted text is admitted again as itself, a check digit is less than 10, and quoting a text
//! changes nothing.

#![no_main]

use figdex_index::{
    Date, DateInterval, FIGI_CHARS, Figi, IdType, NumberInterval, check_digit, trimmed,
};
use figdex_io::{hex, unhex};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    for scheme in [check_digit::double_add_double, check_digit::isin, check_digit::sedol] {
        assert!(scheme(input).is_none_or(|digit| digit < 10));
    }
    assert_eq!(hex(input).len(), 2 * input.len());
    let Ok(text) = str::from_utf8(input) else { return };
    let bare = trimmed(text);
    assert_eq!(trimmed(&bare), bare);
    assert_eq!(trimmed(&format!("=\"{text}\"")), bare);
    for id_type in IdType::ALL {
        if let Ok(value) = id_type.admit(text) {
            assert_eq!(id_type.admit(value.as_str()), Ok(value.borrowed()));
        }
        if let Ok(value) = id_type.admit_integer(text) {
            assert_eq!(id_type.admit(value.as_str()), Ok(value.borrowed()));
        }
    }
    if let Ok(figi) = Figi::parse(text) {
        assert!(figi.to_string().eq_ignore_ascii_case(text));
        assert_eq!(text.len(), FIGI_CHARS);
        let (body, digit) = input.split_at(FIGI_CHARS - 1);
        let expected = check_digit::double_add_double(&body.to_ascii_uppercase());
        assert_eq!(expected.map(|digit| digit + b'0'), digit.first().copied());
    }
    if let Some(bytes) = unhex::<8>(text) {
        assert_eq!(hex(&bytes), text);
    }
    intervals(text);
});

/// Reads the text as `first,last`: two dates and two numbers.
fn intervals(text: &str) {
    let (first, last) = text.split_once(',').unwrap_or((text, ""));
    let dates = [first, last].map(|text| Date::parse(text).ok());
    for date in dates.into_iter().flatten() {
        assert_eq!(Date::parse(&date.to_string()), Ok(date));
        assert_eq!(Date::from_days(date.to_days()), Some(date));
    }
    if let Ok(interval) = DateInterval::new(dates[0], dates[1]) {
        assert!(interval.contains(interval.first()) && interval.contains(interval.last()));
        assert!(interval.last().to_days() - interval.first().to_days() <= 366);
    }
    let [low, high] = [first, last].map(|text| text.parse::<f64>().ok());
    if let Ok(interval) = NumberInterval::new(low, high) {
        let bounds = [interval.low(), interval.high()];
        assert!(bounds.into_iter().flatten().all(|bound| interval.contains(bound)));
    }
}
