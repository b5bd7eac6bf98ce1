//! The readings of a text: the identifiers that its form allows.
//!
//! | form | example | reading |
//! |---|---|---|
//! | OCC symbol, with any blanks | `AAPL 251219C00200000` | OCC_SYMBOL |
//! | OPRA symbol, with any blanks | `AAPL L192500200000` | OPRA_SYMBOL |
//! | FIGI | `BBG000BLNNH6` | ID_BB_GLOBAL, else composite, else share class |
//! | ISIN, CUSIP, CINS, SEDOL | `US4592001014` | the same |
//! | CUSIP without its check digit | `45920010` | ID_CUSIP_8_CHR |
//! | nine digits | `012345678` | ID_COMMON |
//! | six characters | `851399` | ID_WERTPAPIER |
//! | five or six digits | `12345` | ID_ITALY |
//! | ticker, exchange code, market sector | `IBM US Equity`, `VOD LN`, `ES1 Index` | TICKER, filtered |
//! | ticker and MIC or exchange code | `VOD:XLON`, `XLON:VOD` | TICKER, filtered |
//! | ticker and suffix | `VOD.L` | TICKER, filtered |
//! | ticker and class letter | `BRK-B`, `BRK.B` | TICKER with `/B` |
//! | any text | `IBM` | TICKER |
//!
//! All readings are looked up. They are ordered by their certainty. This order chooses a reading
//! only among those of a FIGI.

use std::collections::HashMap;
use std::sync::LazyLock;

use figdex_io::is_hidden;

use super::finding::{
    Finding, is_like_figi, rounded, wrong_of_nine, wrong_of_seven, wrong_of_twelve,
};
use crate::instrument::id_type::{ID_VALUE_BYTES_MAX, IdType, IdValue};
use crate::instrument::vocabulary::{Known, Property, Vocabulary};
use crate::query::KnownValues;

/// One identifier that a text may be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reading<'a> {
    /// The identifier.
    pub id_value: IdValue<'a>,
    /// The exchange and the market sector that the text names.
    pub narrowing: KnownValues,
}

/// The result of recognising a text: its readings and its fault.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recognition<'a> {
    /// The readings, the surest first.
    pub readings: Vec<Reading<'a>>,
    /// The fault of a text that looks like an identifier.
    pub finding: Option<Finding>,
}

/// The reason why a text has no readings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoIdentifier {
    /// The text is blank.
    #[error("it is blank")]
    Blank,
    /// The text is longer than [`ID_VALUE_BYTES_MAX`].
    #[error("it has {0} bytes; an identifier has at most {ID_VALUE_BYTES_MAX}")]
    TooLong(usize),
}

/// The zero-width characters that texts from spreadsheets and web pages contain.
const ZERO_WIDTH: [char; 3] = ['\u{200b}', '\u{2060}', '\u{feff}'];

/// The text without the blanks and invisible characters that a paste puts around it.
pub(crate) fn trimmed(text: &str) -> &str {
    let is_invisible = |c: char| c.is_whitespace() || is_hidden(c) || ZERO_WIDTH.contains(&c);
    text.trim_matches(is_invisible)
}

/// The readings of a text.
///
/// # Errors
/// [`NoIdentifier`] when the text cannot be any identifier.
pub fn recognise<'a>(
    text: &'a str,
    vocabulary: &Vocabulary,
) -> Result<Recognition<'a>, NoIdentifier> {
    let text = trimmed(text);
    if text.is_empty() {
        return Err(NoIdentifier::Blank);
    }
    if text.len() > ID_VALUE_BYTES_MAX {
        return Err(NoIdentifier::TooLong(text.len()));
    }
    let mut readings = ReadingList { vocabulary, found: Vec::with_capacity(4) };
    let finding = readings.add_numbers(text);
    readings.add_tickers(text);
    Ok(Recognition { readings: readings.found, finding })
}

/// Whether a text has the complete form of a type of identifier, including the check digit. Tickers
/// have no form.
pub(crate) fn has_form(text: &str, id_type: IdType) -> bool {
    id_type != IdType::Ticker && id_type.admit(text).is_ok()
}

struct ReadingList<'a, 'v> {
    vocabulary: &'v Vocabulary,
    found: Vec<Reading<'a>>,
}

impl<'a> ReadingList<'a, '_> {
    fn add(&mut self, id_type: IdType, text: &'a str) -> bool {
        self.put(id_type.admit(text).ok(), KnownValues::default())
    }

    fn add_spelled(&mut self, id_type: IdType, text: &str, narrowing: &KnownValues) -> bool {
        self.put(id_type.admit(text).ok().map(IdValue::into_owned), narrowing.clone())
    }

    fn put(&mut self, id_value: Option<IdValue<'a>>, narrowing: KnownValues) -> bool {
        let Some(id_value) = id_value else { return false };
        let reading = Reading { id_value, narrowing };
        if !self.found.contains(&reading) {
            self.found.push(reading);
        }
        true
    }

    /// Adds the readings that have a form. Returns the fault of a text that almost has one.
    fn add_numbers(&mut self, text: &'a str) -> Option<Finding> {
        if !text.is_ascii() {
            return None;
        }
        if let Some(symbol) = occ(text) {
            self.add_spelled(IdType::Occ, &symbol, &KnownValues::default());
        }
        if let Some(symbol) = opra(text) {
            self.add_spelled(IdType::Opra, &symbol, &KnownValues::default());
        }
        match text.len() {
            12 => {
                let is_figi = self.add(IdType::BbGlobal, text);
                if is_figi {
                    self.add(IdType::CompositeBbGlobal, text);
                    self.add(IdType::ShareClassBbGlobal, text);
                }
                let is_isin = self.add(IdType::Isin, text);
                // By chance, one mistyped FIGI in ten is a valid ISIN.
                let is_right = is_figi || is_isin && !is_like_figi(text);
                if is_right { None } else { wrong_of_twelve(text) }
            }
            9 => {
                let is_cusip = self.add(IdType::Cusip, text);
                self.add(IdType::Cins, text);
                self.add(IdType::Common, text);
                if is_cusip { None } else { wrong_of_nine(text) }
            }
            8 => {
                if text.as_bytes()[..3].iter().all(u8::is_ascii_digit) {
                    self.add(IdType::Cusip8, text);
                }
                rounded(text)
            }
            7 => {
                if self.add(IdType::Sedol, text) {
                    None
                } else {
                    wrong_of_seven(text).or(rounded(text))
                }
            }
            6 => {
                // The letters I and O are not in a WKN.
                if !text.contains(['I', 'O', 'i', 'o']) {
                    self.add(IdType::Wertpapier, text);
                }
                self.add(IdType::Italy, text);
                rounded(text)
            }
            5 => {
                self.add(IdType::Italy, text);
                rounded(text)
            }
            _ => rounded(text),
        }
    }

    fn add_tickers(&mut self, text: &'a str) {
        let words: Vec<&str> = text.split_whitespace().collect();
        self.add_words(&words);
        if let Some((left, right)) = text.split_once(':') {
            let (left, right) = (left.trim(), right.trim());
            for (ticker, market) in [(left, right), (right, left)] {
                for property in [Property::MicCode, Property::ExchCode] {
                    if let Some(narrowing) = self.narrowing(property, market) {
                        self.add_ticker(ticker, &narrowing);
                    }
                }
            }
        }
        self.add_suffixed(text);
        self.add_ticker(text, &KnownValues::default());
    }

    /// Reads `VOD.L`, `0700.HK`, `ERIC-B.ST`. Vendors pad numbers with zeros and put a dash before
    /// a class letter; the index does neither.
    fn add_suffixed(&mut self, text: &str) {
        let Some((ticker, suffix)) = text.rsplit_once('.') else { return };
        let Some(codes) = SUFFIXES.get(&*suffix.to_ascii_uppercase()) else { return };
        let mut narrowing = KnownValues::default();
        let known = codes.iter().filter_map(|code| self.vocabulary.admit(Property::ExchCode, code));
        known.for_each(|known| narrowing.allow(known));
        if narrowing == KnownValues::default() {
            return;
        }
        self.add_ticker(ticker, &narrowing);
        if ticker.contains('-') {
            self.add_spelled(IdType::Ticker, &ticker.replace('-', ""), &narrowing);
        }
        if ticker.bytes().all(|c| c.is_ascii_digit()) {
            self.add_spelled(IdType::Ticker, ticker.trim_start_matches('0'), &narrowing);
        }
    }

    /// Reads `IBM US Equity`, `IBM US`, `ES1 Index`.
    fn add_words(&mut self, words: &[&str]) {
        let Some((last, before)) = words.split_last() else { return };
        let sectors = self.vocabulary.values(Property::MarketSecDes);
        let sector = sectors.into_iter().find(|sector| sector.eq_ignore_ascii_case(last));
        let sector =
            sector.and_then(|sector| self.vocabulary.admit(Property::MarketSecDes, sector));
        let before = if sector.is_some() { before } else { words };
        let mut narrowing = KnownValues::default();
        if let Some(sector) = sector {
            narrowing.require(sector);
        }
        if let [ticker @ .., code] = before
            && let (false, Some(exch_code)) =
                (ticker.is_empty(), self.admit(Property::ExchCode, code))
        {
            let mut narrowing = narrowing.clone();
            narrowing.require(exch_code);
            self.add_ticker(&ticker.join(" "), &narrowing);
        }
        if sector.is_some() && !before.is_empty() {
            self.add_ticker(&before.join(" "), &narrowing);
        }
    }

    fn narrowing(&self, property: Property, code: &str) -> Option<KnownValues> {
        let known = self.admit(property, code)?;
        let mut narrowing = KnownValues::default();
        narrowing.require(known);
        Some(narrowing)
    }

    /// Admits a code as it is spelled, or else in upper case.
    fn admit(&self, property: Property, code: &str) -> Option<Known> {
        let upper = || self.vocabulary.admit(property, &code.to_ascii_uppercase());
        self.vocabulary.admit(property, code).or_else(upper)
    }

    /// Adds a ticker as it is spelled and, if it has a class letter, in the spelling of the index.
    fn add_ticker(&mut self, text: &str, narrowing: &KnownValues) {
        if let Some(spelled) = with_class_letter(text) {
            self.add_spelled(IdType::Ticker, &spelled, narrowing);
        }
        self.add_spelled(IdType::Ticker, text, narrowing);
    }
}

/// Gives `BRK/B` for `BRK-B`, `BRK.B` and `BRK B`.
fn with_class_letter(text: &str) -> Option<String> {
    let (rest, letter) = text.split_at_checked(text.len().checked_sub(1)?)?;
    let ticker = rest.strip_suffix(['-', '.', ' '])?;
    let is_ticker = !ticker.is_empty() && ticker.bytes().all(|c| c.is_ascii_alphanumeric());
    let is_letter = letter.bytes().all(|c| c.is_ascii_alphabetic());
    (is_ticker && is_letter).then(|| format!("{ticker}/{letter}"))
}

/// An OCC symbol with its root padded to six characters. The text may contain any blanks.
fn occ(text: &str) -> Option<String> {
    let squeezed: String = text.split_ascii_whitespace().collect();
    let (root, rest) = squeezed.split_at_checked(squeezed.len().checked_sub(15)?)?;
    (1..=6).contains(&root.len()).then(|| format!("{root:6}{rest}"))
}

/// An OPRA symbol with one blank after its root. After the root come a letter for month and option
/// type, the day and the year with two digits each, and the strike with eight digits.
fn opra(text: &str) -> Option<String> {
    let squeezed: String = text.split_ascii_whitespace().collect();
    let (root, rest) = squeezed.split_at_checked(squeezed.len().checked_sub(13)?)?;
    let (letter, digits) = rest.split_at(1);
    let is_opra = (1..=5).contains(&root.len())
        && root.bytes().all(|c| c.is_ascii_alphabetic())
        && letter.bytes().all(|c| matches!(c.to_ascii_uppercase(), b'A'..=b'X'))
        && digits.bytes().all(|c| c.is_ascii_digit());
    is_opra.then(|| format!("{root} {rest}"))
}

/// The exchange codes of each suffix.
static SUFFIXES: LazyLock<HashMap<&str, Vec<&str>>> = LazyLock::new(|| {
    let lines = include_str!("suffixes.txt").lines().filter(|line| !line.starts_with('#'));
    let entry = |line: &'static str| {
        let (suffix, codes) = line.split_once(' ')?;
        Some((suffix, codes.split(' ').collect()))
    };
    lines.filter_map(entry).collect()
});

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn vocabulary() -> Vocabulary {
        let codes =
            ["US", "LN", "HK", "SS", "GY"].map(|code| (Property::ExchCode, code.to_owned()));
        let mics = ["XLON", "XNAS"].map(|code| (Property::MicCode, code.to_owned()));
        Vocabulary::new(codes.into_iter().chain(mics))
    }

    /// The readings as texts: `TICKER IBM exchCode=US`.
    fn readings(text: &str) -> Vec<String> {
        let vocabulary = vocabulary();
        let describe = |reading: Reading<'_>| {
            let mut words = vec![
                reading.id_value.id_type().name().to_owned(),
                reading.id_value.as_str().to_owned(),
            ];
            for one_of in reading.narrowing.iter() {
                let values: Vec<&str> =
                    one_of.values().map(|value| vocabulary.text(value)).collect();
                words.push(format!("{}={}", one_of.property().name(), values.join("|")));
            }
            words.join(" ")
        };
        recognise(text, &vocabulary).unwrap().readings.into_iter().map(describe).collect()
    }

    /// contract 17: every form, with the readings in their order.
    #[test]
    fn forms() {
        let cases: &[(&str, &[&str])] = &[
            ("us4592001014", &["ID_ISIN US4592001014", "TICKER US4592001014"]),
            (
                "BBG000BLNNH6",
                &[
                    "ID_BB_GLOBAL BBG000BLNNH6",
                    "COMPOSITE_ID_BB_GLOBAL BBG000BLNNH6",
                    "ID_BB_GLOBAL_SHARE_CLASS_LEVEL BBG000BLNNH6",
                    "TICKER BBG000BLNNH6",
                ],
            ),
            ("037833100", &["ID_CUSIP 037833100", "ID_COMMON 037833100", "TICKER 037833100"]),
            ("G0177J108", &["ID_CUSIP G0177J108", "ID_CINS G0177J108", "TICKER G0177J108"]),
            ("012345678", &["ID_COMMON 012345678", "TICKER 012345678"]),
            ("0263494", &["ID_SEDOL 0263494", "TICKER 0263494"]),
            ("45920010", &["ID_CUSIP_8_CHR 45920010", "TICKER 45920010"]),
            ("851399", &["ID_WERTPAPIER 851399", "ID_ITALY 851399", "TICKER 851399"]),
            ("A0B1C2", &["ID_WERTPAPIER A0B1C2", "TICKER A0B1C2"]),
            ("GOOGLE", &["TICKER GOOGLE"]),
            ("12345", &["ID_ITALY 12345", "TICKER 12345"]),
            (
                "aapl251219c00200000",
                &["OCC_SYMBOL AAPL  251219C00200000", "TICKER AAPL251219C00200000"],
            ),
            (
                "AAPL 251219C00200000",
                &["OCC_SYMBOL AAPL  251219C00200000", "TICKER AAPL 251219C00200000"],
            ),
            (
                "AAPL L192500200000",
                &["OPRA_SYMBOL AAPL L192500200000", "TICKER AAPL L192500200000"],
            ),
            (
                "ibm us equity",
                &[
                    "TICKER IBM exchCode=US marketSecDes=Equity",
                    "TICKER IBM US marketSecDes=Equity",
                    "TICKER IBM US EQUITY",
                ],
            ),
            ("VOD  LN", &["TICKER VOD exchCode=LN", "TICKER VOD  LN"]),
            ("ES1 Index", &["TICKER ES1 marketSecDes=Index", "TICKER ES1 INDEX"]),
            ("Equity", &["TICKER EQUITY"]),
            ("VOD:XLON", &["TICKER VOD micCode=XLON", "TICKER VOD:XLON"]),
            ("xnas:aapl", &["TICKER AAPL micCode=XNAS", "TICKER XNAS:AAPL"]),
            ("TSLA:US", &["TICKER TSLA exchCode=US", "TICKER TSLA:US"]),
            ("VOD.L", &["TICKER VOD exchCode=LN", "TICKER VOD/L", "TICKER VOD.L"]),
            ("0700.HK", &["TICKER 0700 exchCode=HK", "TICKER 700 exchCode=HK", "TICKER 0700.HK"]),
            (
                "ERIC-B.ST",
                &[
                    "TICKER ERIC/B exchCode=SS",
                    "TICKER ERIC-B exchCode=SS",
                    "TICKER ERICB exchCode=SS",
                    "TICKER ERIC-B.ST",
                ],
            ),
            ("X.PA", &["TICKER X.PA"]),
            ("BRK-B", &["TICKER BRK/B", "TICKER BRK-B"]),
            ("brk.b", &["TICKER BRK/B", "TICKER BRK.B"]),
            (
                "BRK-B US Equity",
                &[
                    "TICKER BRK/B exchCode=US marketSecDes=Equity",
                    "TICKER BRK-B exchCode=US marketSecDes=Equity",
                    "TICKER BRK-B US marketSecDes=Equity",
                    "TICKER BRK-B US EQUITY",
                ],
            ),
            ("\u{feff} IBM\u{a0}", &["TICKER IBM"]),
        ];
        for (text, expected) in cases {
            assert_eq!(readings(text), *expected, "{text:?}");
        }
    }

    #[test]
    fn no_identifier() {
        assert_eq!(recognise(" \u{a0}\u{200b}", &vocabulary()), Err(NoIdentifier::Blank));
        let long = "x".repeat(65);
        assert_eq!(recognise(&long, &vocabulary()), Err(NoIdentifier::TooLong(65)));
    }

    #[test]
    fn suffixes_are_read() {
        assert!(SUFFIXES.len() > 40);
        for (suffix, codes) in SUFFIXES.iter() {
            assert!(suffix.bytes().all(|c| c.is_ascii_uppercase()), "{suffix}");
            assert!(codes.iter().all(|code| code.len() == 2), "{suffix}");
        }
    }

    /// The most readings of a text.
    const READINGS_MAX: usize = 12;

    proptest! {
        #[test]
        fn any_text_has_readings_or_none(text in any::<String>()) {
            if let Ok(recognition) = recognise(&text, &vocabulary()) {
                prop_assert!(recognition.readings.len() <= READINGS_MAX);
                let value = trimmed(&text);
                let is_ticker = IdType::Ticker.admit(value).is_ok();
                let last = recognition.readings.last().map(|reading| reading.id_value.as_str());
                let as_is = value.to_uppercase();
                prop_assert!(!is_ticker || last == Some(&*as_is), "{last:?} {as_is:?}");
            }
        }
    }
}
