//! The readings of a text: the identifiers that its form allows.
//!
//! | form | example | reading |
//! |---|---|---|
//! | OCC symbol, with any blanks | `AAPL 251219C00200000` | OCC_SYMBOL |
//! | option as brokers write it | `-AAPL251219C200`, `AAPL 12/19/2025 200.00 C` | OCC_SYMBOL |
//! | OPRA symbol, with any blanks | `AAPL L192500200000` | OPRA_SYMBOL |
//! | label and a number | `ISIN US4592001014` | the type of the label, alone |
//! | FIGI | `BBG000BLNNH6` | ID_BB_GLOBAL, else composite, else share class |
//! | ISIN, CUSIP, CINS, SEDOL | `US4592001014` | the same |
//! | CUSIP without its check digit | `45920010` | ID_CUSIP_8_CHR |
//! | nine digits | `012345678` | ID_COMMON |
//! | six characters | `851399` | ID_WERTPAPIER |
//! | five or six digits | `12345` | ID_ITALY |
//! | ticker, exchange code, market sector | `IBM US Equity`, `VOD LN`, `ES1 Index` | TICKER, filtered |
//! | ticker and MIC or exchange code | `VOD:XLON`, `XLON:VOD` | TICKER, filtered |
//! | exchange's name and ticker | `NASDAQ:AAPL` | TICKER, filtered |
//! | ticker and suffix | `VOD.L` | TICKER, filtered |
//! | ticker and class letter | `BRK-B`, `BRK.B` | TICKER with `/B` |
//! | any text | `IBM` | TICKER |
//!
//! Identifiers in groups of characters, such as `US 037833 1005`, or among other words, such as
//! `Apple Inc. (US0378331005)`, are read apart from these: they count only where no reading above
//! finds a row.
//!
//! All readings are looked up. They are ordered by their certainty. This order chooses a reading
//! only among those of a FIGI.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::LazyLock;

use super::finding::{
    Finding, is_like_figi, rounded, wrong_of_nine, wrong_of_seven, wrong_of_twelve,
};
use super::option_symbol::{occ, opra};
use super::spaced;
use super::trimmed::trimmed;
use crate::instrument::id_type::{ID_VALUE_BYTES_MAX, IdType, IdValue};
use crate::instrument::markets::whole_market;
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
    /// The readings of a text as an identifier in groups of characters or among other words. They
    /// count only if none of the `readings` finds a row.
    pub spaced: Vec<Reading<'static>>,
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

/// The readings of a text.
///
/// # Errors
/// [`NoIdentifier`] when the text cannot be any identifier.
pub fn recognise<'a>(
    text: &'a str,
    vocabulary: &Vocabulary,
) -> Result<Recognition<'a>, NoIdentifier> {
    match trimmed(text) {
        Cow::Borrowed(text) => recognise_trimmed(text, vocabulary),
        Cow::Owned(text) => recognise_trimmed(&text, vocabulary).map(Recognition::into_owned),
    }
}

/// The readings of the names of exchanges and of vendors' suffixes in a text, with the whole markets
/// of their countries in place of the exchanges: `NASDAQ:AAPL` on `US`. Lists do not read a text so.
pub(crate) fn on_whole_markets(text: &str, vocabulary: &Vocabulary) -> Vec<Reading<'static>> {
    let text = trimmed(text);
    if text.len() > ID_VALUE_BYTES_MAX {
        return Vec::new();
    }
    let mut readings = ReadingList { vocabulary, found: Vec::new() };
    let markets = |codes: &[&'static str]| -> Vec<&'static str> {
        codes.iter().filter_map(|code| whole_market(code)).collect()
    };
    if let Some((left, right)) = text.split_once(':') {
        let (left, right) = (left.trim(), right.trim());
        for (ticker, name) in [(left, right), (right, left)] {
            readings.add_on_exchanges(ticker, &markets(prefix_codes(name)));
        }
    } else if let Some((ticker, suffix)) = text.rsplit_once('.') {
        readings.add_on_exchanges(ticker, &markets(suffix_codes(suffix)));
    }
    readings.found.into_iter().map(Reading::into_owned).collect()
}

/// The readings of a text that is [`trimmed`].
pub(super) fn recognise_trimmed<'a>(
    text: &'a str,
    vocabulary: &Vocabulary,
) -> Result<Recognition<'a>, NoIdentifier> {
    if text.is_empty() {
        return Err(NoIdentifier::Blank);
    }
    if text.len() > ID_VALUE_BYTES_MAX {
        return Err(NoIdentifier::TooLong(text.len()));
    }
    let mut readings = ReadingList { vocabulary, found: Vec::with_capacity(4) };
    // Most texts of lists are one word, which names neither a label nor a market.
    let is_word = text.bytes().all(|c| c.is_ascii_alphanumeric());
    if !is_word && readings.add_labelled(text) {
        return Ok(Recognition { readings: readings.found, ..Recognition::default() });
    }
    let finding = readings.add_numbers(text);
    if !is_word {
        readings.add_marked_tickers(text);
    }
    readings.add(IdType::Ticker, text);
    let spaced = if is_word { Vec::new() } else { spaced_readings(text) };
    Ok(Recognition { readings: readings.found, spaced, finding })
}

/// The readings of an identifier in groups of characters, perhaps with a label, or among other words.
fn spaced_readings(text: &str) -> Vec<Reading<'static>> {
    // `WKN: 865985 / ISIN: US0378331005` begins with the label of another number.
    let label = labelled(text).filter(|_| spaced::among_words(text).is_none());
    let number = label.map_or(text, |(_, number)| number);
    let found = spaced::readings(number).filter_map(|(id_type, joined)| {
        let is_of_label = label.is_none_or(|(types, _)| types.contains(&id_type));
        let id_value = id_type.admit(&joined).ok().filter(|_| is_of_label)?.into_owned();
        Some(Reading { id_value, narrowing: KnownValues::default() })
    });
    found.collect()
}

/// The types that the label of a text names, and its number: `ISIN US4592001014`, `WKN: 851399`.
fn labelled(text: &str) -> Option<(&'static [IdType], &str)> {
    let (label, rest) = text.split_once([' ', ':'])?;
    let types: &[IdType] = match &*label.to_ascii_uppercase() {
        "ISIN" => &[IdType::Isin],
        "CUSIP" => &[IdType::Cusip, IdType::Cusip8],
        "SEDOL" => &[IdType::Sedol],
        "WKN" => &[IdType::Wertpapier],
        "FIGI" => &[IdType::BbGlobal, IdType::CompositeBbGlobal, IdType::ShareClassBbGlobal],
        _ => return None,
    };
    Some((types, rest.trim_start_matches([' ', ':'])))
}

impl Reading<'_> {
    fn into_owned(self) -> Reading<'static> {
        Reading { id_value: self.id_value.into_owned(), narrowing: self.narrowing }
    }
}

impl Recognition<'_> {
    fn into_owned(self) -> Recognition<'static> {
        let readings = self.readings.into_iter().map(Reading::into_owned).collect();
        Recognition { readings, spaced: self.spaced, finding: self.finding }
    }
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

    /// Reads `ISIN US4592001014` and `WKN: 851399`. Returns whether the text has this form.
    fn add_labelled(&mut self, text: &'a str) -> bool {
        let Some((types, number)) = labelled(text) else { return false };
        types.iter().filter(|id_type| self.add(**id_type, number)).count() > 0
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

    /// Adds the tickers that a text names with a market or a class letter.
    fn add_marked_tickers(&mut self, text: &str) {
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
                self.add_on_exchanges(ticker, prefix_codes(market));
            }
        }
        self.add_suffixed(text);
        self.add_class_letter(text, &KnownValues::default());
    }

    /// Reads `VOD.L`, `0700.HK`, `ERIC-B.ST`. Vendors pad numbers with zeros and put a dash before
    /// a class letter; the index does neither.
    fn add_suffixed(&mut self, text: &str) {
        let Some((ticker, suffix)) = text.rsplit_once('.') else { return };
        self.add_on_exchanges(ticker, suffix_codes(suffix));
    }

    /// Adds a ticker of a vendor on the exchanges with these codes, as far as the index has them.
    fn add_on_exchanges(&mut self, ticker: &str, codes: &[&str]) {
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
        self.add_class_letter(text, narrowing);
        self.add_spelled(IdType::Ticker, text, narrowing);
    }

    /// Adds a ticker with a class letter, if it has one, in the spelling of the index.
    fn add_class_letter(&mut self, text: &str, narrowing: &KnownValues) {
        if let Some(spelled) = with_class_letter(text) {
            self.add_spelled(IdType::Ticker, &spelled, narrowing);
        }
    }
}

/// Gives `BRK/B` for `BRK-B`, `BRK.B` and `BRK B`.
pub(super) fn with_class_letter(text: &str) -> Option<String> {
    let (rest, letter) = text.split_at_checked(text.len().checked_sub(1)?)?;
    let ticker = rest.strip_suffix(['-', '.', ' '])?;
    let is_ticker = !ticker.is_empty() && ticker.bytes().all(|c| c.is_ascii_alphanumeric());
    let is_letter = letter.bytes().all(|c| c.is_ascii_alphabetic());
    (is_ticker && is_letter).then(|| format!("{ticker}/{letter}"))
}

/// The exchange codes of a name before a colon, such as `NASDAQ` or `EPA`; none for other texts.
pub(crate) fn prefix_codes(name: &str) -> &'static [&'static str] {
    PREFIXES.get(&*name.to_ascii_uppercase()).map_or(&[], |codes| codes)
}

fn suffix_codes(suffix: &str) -> &'static [&'static str] {
    SUFFIXES.get(&*suffix.to_ascii_uppercase()).map_or(&[], |codes| codes)
}

type Codes = HashMap<&'static str, Vec<&'static str>>;

/// The exchange codes of each suffix, and of each prefix.
pub(super) static SUFFIXES: LazyLock<Codes> = LazyLock::new(|| codes(include_str!("suffixes.txt")));
static PREFIXES: LazyLock<Codes> = LazyLock::new(|| codes(include_str!("prefixes.txt")));

fn codes(table: &'static str) -> Codes {
    let lines = table.lines().filter(|line| !line.starts_with('#'));
    let entry = |line: &'static str| {
        let (name, codes) = line.split_once(' ')?;
        Some((name, codes.split(' ').collect()))
    };
    lines.filter_map(entry).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::instrument::markets::exchange;
    use crate::query::OneOf;

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
            ("etr:sap", &["TICKER SAP exchCode=GY", "TICKER ETR:SAP"]),
            (
                "LSE:BT.A",
                &["TICKER BT/A exchCode=LN", "TICKER BT.A exchCode=LN", "TICKER LSE:BT.A"],
            ),
            ("HKG:0700", &["TICKER 0700 exchCode=HK", "TICKER 700 exchCode=HK", "TICKER HKG:0700"]),
            ("EPA:TTE", &["TICKER EPA:TTE"]),
            ("ISIN US4592001014", &["ID_ISIN US4592001014"]),
            ("isin: us4592001014", &["ID_ISIN US4592001014"]),
            ("wkn 716460", &["ID_WERTPAPIER 716460"]),
            ("cusip 037833100", &["ID_CUSIP 037833100"]),
            ("ISIN US4592001015", &["TICKER ISIN US4592001015"]),
            ("ISIN", &["TICKER ISIN"]),
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
            ("\"ＩＢＭ　US\"", &["TICKER IBM exchCode=US", "TICKER IBM\u{3000}US"]),
        ];
        for (text, expected) in cases {
            assert_eq!(readings(text), *expected, "{text:?}");
        }
    }

    /// contract 16.17: suggestions also look in the whole market of the exchange.
    #[test]
    fn whole_markets() {
        let vocabulary = vocabulary();
        let on_market = |text: &str| -> Vec<String> {
            let readings = on_whole_markets(text, &vocabulary).into_iter();
            let codes = readings.flat_map(|reading| {
                let all: Vec<_> = reading.narrowing.iter().flat_map(OneOf::values).collect();
                let ticker = reading.id_value.as_str().to_owned();
                all.into_iter().map(move |code| (ticker.clone(), code))
            });
            codes.map(|(ticker, code)| format!("{ticker} {}", vocabulary.text(code))).collect()
        };
        assert_eq!(on_market("nasdaq:aapl"), ["AAPL US"]);
        assert_eq!(on_market("AAPL:NASDAQ"), ["AAPL US"]);
        assert_eq!(on_market("HKG: 0700"), ["0700 HK", "700 HK"]);
        assert_eq!(on_market("VOD.L"), ["VOD LN"]);
        for text in ["AAPL US", "XNAS:AAPL", "TYO:7974", "VOD", ":", "."] {
            assert!(on_market(text).is_empty(), "{text}");
        }
    }

    #[test]
    fn no_identifier() {
        assert_eq!(recognise(" \u{a0}\u{200b}", &vocabulary()), Err(NoIdentifier::Blank));
        let long = "x".repeat(65);
        assert_eq!(recognise(&long, &vocabulary()), Err(NoIdentifier::TooLong(65)));
    }

    #[test]
    fn suffixes_and_prefixes_are_read() {
        assert!(SUFFIXES.len() > 40 && PREFIXES.len() > 60);
        for (name, codes) in SUFFIXES.iter().chain(PREFIXES.iter()) {
            assert!(name.bytes().all(|c| c.is_ascii_uppercase()), "{name}");
            assert!(codes.iter().all(|code| exchange(code).is_some()), "{name}");
        }
    }

    /// The most readings of a text.
    const READINGS_MAX: usize = 12;

    proptest! {
        /// A word is spared the readings that name a label, a market or groups: it has none of them.
        #[test]
        fn a_word_names_no_market(text in "[A-Za-z0-9]{1,64}|Equity|Index|ISIN|US|US0378331005") {
            let vocabulary = vocabulary();
            let mut readings = ReadingList { vocabulary: &vocabulary, found: Vec::new() };
            prop_assert!(!readings.add_labelled(&text));
            readings.add_marked_tickers(&text);
            prop_assert!(readings.found.is_empty());
            prop_assert!(spaced_readings(&text).is_empty());
        }

        #[test]
        fn any_text_has_readings_or_none(text in any::<String>()) {
            if let Ok(recognition) = recognise(&text, &vocabulary()) {
                prop_assert!(recognition.readings.len() <= READINGS_MAX);
                let value = &*trimmed(&text);
                let is_ticker = IdType::Ticker.admit(value).is_ok();
                let last = recognition.readings.last().map(|reading| reading.id_value.as_str());
                let as_is = value.to_uppercase();
                prop_assert!(!is_ticker || last == Some(&*as_is), "{last:?} {as_is:?}");
            }
        }
    }
}
