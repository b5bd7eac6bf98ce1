//! The readings of a text: the identifiers that it may be, by its form.
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
//! All of them are looked up. How sure a reading is orders the readings, and chooses none.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::LazyLock;

use crate::instrument::check_digit;
use crate::instrument::id_type::{ID_VALUE_BYTES_MAX, IdType, IdValue};
use crate::instrument::vocabulary::{Property, Vocabulary};
use crate::printable::is_hidden;
use crate::query::KnownValues;

/// One identifier that a text may be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reading<'a> {
    /// The identifier.
    pub id_value: IdValue<'a>,
    /// What the text says besides: an exchange, a market sector.
    pub narrowing: KnownValues,
}

/// What a text may be.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recognition<'a> {
    /// The readings, the surest first.
    pub readings: Vec<Reading<'a>>,
    /// What is wrong, when the text looks like an identifier with a fault.
    pub finding: Option<Finding>,
}

/// A fault in a text that looks like an identifier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Finding {
    /// The last character of an identifier of this type should be this digit.
    CheckDigit(IdType, u8),
    /// A number as a spreadsheet shows it when it is too long, such as `3.78E+08`.
    Rounded,
}

/// Why a text has no readings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoIdentifier {
    /// Nothing but blanks.
    #[error("it is blank")]
    Blank,
    /// Longer than [`ID_VALUE_BYTES_MAX`].
    #[error("it has {0} bytes; an identifier has at most {ID_VALUE_BYTES_MAX}")]
    TooLong(usize),
}

/// The text without blanks and invisible characters around it, as they come with a paste.
pub(crate) fn trimmed(text: &str) -> &str {
    text.trim_matches(|character: char| character.is_whitespace() || is_hidden(character))
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
    let mut readings = Readings { vocabulary, found: Vec::with_capacity(4) };
    let finding = readings.add_numbers(text);
    readings.add_tickers(text);
    Ok(Recognition { readings: readings.found, finding })
}

/// Whether a text has the form of a type of identifier in full, check digit included. A ticker has
/// no form.
pub(crate) fn has_form(text: &str, id_type: IdType) -> bool {
    id_type != IdType::Ticker && id_type.admit(text).is_ok()
}

struct Readings<'a, 'v> {
    vocabulary: &'v Vocabulary,
    found: Vec<Reading<'a>>,
}

impl<'a> Readings<'a, '_> {
    fn add(&mut self, id_type: IdType, text: &'a str) -> bool {
        self.put(id_type.admit(text).ok(), KnownValues::default())
    }

    fn add_spelled(&mut self, id_type: IdType, text: &str, narrowing: KnownValues) -> bool {
        self.put(id_type.admit(text).ok().map(IdValue::into_owned), narrowing)
    }

    fn put(&mut self, id_value: Option<IdValue<'a>>, narrowing: KnownValues) -> bool {
        let Some(id_value) = id_value else { return false };
        let reading = Reading { id_value, narrowing };
        if !self.found.contains(&reading) {
            self.found.push(reading);
        }
        true
    }

    /// Adds the readings with a form of their own, and returns the fault of a text that nearly has
    /// one.
    fn add_numbers(&mut self, text: &'a str) -> Option<Finding> {
        if !text.is_ascii() {
            return None;
        }
        if let Some(symbol) = occ(text) {
            self.add_spelled(IdType::Occ, &symbol, KnownValues::default());
        }
        if let Some(symbol) = opra(text) {
            self.add_spelled(IdType::Opra, &symbol, KnownValues::default());
        }
        match text.len() {
            12 => {
                let is_figi = self.add(IdType::BbGlobal, text);
                if is_figi {
                    self.add(IdType::CompositeBbGlobal, text);
                    self.add(IdType::ShareClassBbGlobal, text);
                }
                let is_isin = self.add(IdType::Isin, text);
                if !is_figi && !is_isin { wrong_of_twelve(text) } else { None }
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
        if let Some((ticker, suffix)) = text.rsplit_once('.') {
            let suffix = suffix.to_ascii_uppercase();
            if let Some(codes) = SUFFIXES.get(&*suffix) {
                let mut narrowing = KnownValues::default();
                for code in codes {
                    if let Some(known) = self.vocabulary.admit(Property::ExchCode, code) {
                        narrowing.allow(known);
                    }
                }
                if narrowing != KnownValues::default() {
                    self.add_ticker(ticker, &narrowing);
                }
            }
        }
        self.add_ticker(text, &KnownValues::default());
    }

    /// `IBM US Equity`, `IBM US`, `ES1 Index`.
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
            && let (false, Some(exch_code)) = (
                ticker.is_empty(),
                self.vocabulary.admit(Property::ExchCode, &code.to_ascii_uppercase()),
            )
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
        let known = self.vocabulary.admit(property, &code.to_ascii_uppercase())?;
        let mut narrowing = KnownValues::default();
        narrowing.require(known);
        Some(narrowing)
    }

    /// Adds a ticker as it is spelled, and with a class letter as the index spells it.
    fn add_ticker(&mut self, text: &str, narrowing: &KnownValues) {
        if let Some(spelled) = with_class_letter(text) {
            self.add_spelled(IdType::Ticker, &spelled, narrowing.clone());
        }
        self.add_spelled(IdType::Ticker, text, narrowing.clone());
    }
}

/// `BRK/B` for `BRK-B`, `BRK.B` and `BRK B`.
fn with_class_letter(text: &str) -> Option<String> {
    let (rest, letter) = text.split_at_checked(text.len().checked_sub(1)?)?;
    let ticker = rest.strip_suffix(['-', '.', ' '])?;
    let is_ticker = !ticker.is_empty() && ticker.bytes().all(|c| c.is_ascii_alphanumeric());
    let is_letter = letter.bytes().all(|c| c.is_ascii_alphabetic());
    (is_ticker && is_letter).then(|| format!("{ticker}/{letter}"))
}

/// An OCC symbol with its root padded to six characters. It may be written with any blanks.
fn occ(text: &str) -> Option<String> {
    let squeezed: String = text.split_ascii_whitespace().collect();
    let (root, rest) = squeezed.split_at_checked(squeezed.len().checked_sub(15)?)?;
    (1..=6).contains(&root.len()).then(|| format!("{root:6}{rest}"))
}

/// An OPRA symbol, with one blank after its root: a letter for month and option type, the day and
/// the year as two digits each, and the strike as eight.
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

/// Suffixes of tickers, as data vendors use them, and the exchange codes that they stand for. Only
/// those are here whose meaning real data confirm.
static SUFFIXES: LazyLock<HashMap<&str, Vec<&str>>> = LazyLock::new(|| {
    let lines = include_str!("suffixes.txt").lines().filter(|line| !line.starts_with('#'));
    let entry = |line: &'static str| {
        let (suffix, codes) = line.split_once(' ')?;
        Some((suffix, codes.split(' ').collect()))
    };
    lines.filter_map(entry).collect()
});

fn wrong_of_twelve(text: &str) -> Option<Finding> {
    let text = upper(text);
    let (body, last) = split_last(&text)?;
    let starts_with_country = body[..2].iter().all(u8::is_ascii_uppercase);
    if !starts_with_country || !last.is_ascii_digit() {
        return None;
    }
    let is_figi = body[..3] == *b"BBG" || body[..3] == *b"KKG";
    let (id_type, digit) = match is_figi {
        true => (IdType::BbGlobal, check_digit::double_add_double(body)),
        false => (IdType::Isin, check_digit::isin(body)),
    };
    digit.map(|digit| Finding::CheckDigit(id_type, digit))
}

/// Words of nine characters are not taken for a CUSIP with a wrong digit: it has several digits.
fn wrong_of_nine(text: &str) -> Option<Finding> {
    let text = upper(text);
    let (body, last) = split_last(&text)?;
    let digits = text.bytes().filter(u8::is_ascii_digit).count();
    let digit = check_digit::double_add_double(body)?;
    (digits >= 4 && last.is_ascii_digit()).then_some(Finding::CheckDigit(IdType::Cusip, digit))
}

/// A SEDOL in use begins with a digit or B.
fn wrong_of_seven(text: &str) -> Option<Finding> {
    let text = upper(text);
    let (body, last) = split_last(&text)?;
    let digit = check_digit::sedol(body)?;
    let is_sedol = (body[0].is_ascii_digit() || body[0] == b'B')
        && body.iter().any(u8::is_ascii_digit)
        && last.is_ascii_digit();
    is_sedol.then_some(Finding::CheckDigit(IdType::Sedol, digit))
}

/// Whether it is a number that a spreadsheet rounded.
fn rounded(text: &str) -> Option<Finding> {
    let (number, exponent) = text.split_once(['E', 'e'])?;
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|c| c.is_ascii_digit());
    let number = match number.split_once(['.', ',']) {
        Some((whole, fraction)) => whole.len() == 1 && digits(whole) && digits(fraction),
        None => number.len() == 1 && digits(number),
    };
    (number && exponent.strip_prefix('+').is_some_and(digits)).then_some(Finding::Rounded)
}

fn upper(text: &str) -> Cow<'_, str> {
    match text.bytes().any(|c| c.is_ascii_lowercase()) {
        true => Cow::Owned(text.to_ascii_uppercase()),
        false => Cow::Borrowed(text),
    }
}

fn split_last(text: &str) -> Option<(&[u8], u8)> {
    text.as_bytes().split_last().map(|(last, body)| (body, *last))
}
