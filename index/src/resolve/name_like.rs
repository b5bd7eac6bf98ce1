//! Texts that are written like a name and found only as a ticker: `Nestle` is the ticker of Nestle
//! Pakistan. Such a text is not resolved (contract 17.14).
//!
//! The doubt has two parts. The rows that were found answer the first one: whether their names
//! begin with the text. The second one needs a lookup: whether the text is the whole name of
//! another security.

use super::footer::is_footer_word;
use super::policy::Candidate;
use super::recognise::{Reading, with_class_letter};
use crate::instrument::figi::Figi;
use crate::instrument::id_type::IdType;
use crate::meter::{Meter, TakesMore};
use crate::query::KnownValues;
use crate::words::names::common_name;
use crate::words::words;

/// The units of work of reading the name of a row.
const NAME_UNITS: u64 = 50;

/// The units of work of looking up a name.
pub(crate) const LOOKUP_UNITS: u64 = 100;

/// Whether a text with these readings is written like a name: without a digit, and either as
/// several words or as a capital that a small letter follows. A text that names a market or a share
/// class is not. The last reading must be the text as a ticker.
pub(super) fn is_name_like(text: &str, readings: &[Reading<'_>]) -> bool {
    let mut first = text.chars();
    let begins_like_name = first.next().is_some_and(char::is_uppercase)
        && first.next().is_some_and(char::is_lowercase);
    if !begins_like_name && !text.contains(char::is_whitespace) {
        return false;
    }
    let is_bare = readings.iter().all(|reading| reading.narrowing == KnownValues::default());
    let is_ticker = |reading: &Reading<'_>| reading.id_value.id_type() == IdType::Ticker;
    is_bare
        && readings.last().is_some_and(is_ticker)
        && !text.contains(|c: char| c.is_numeric() || c == '/')
        && with_class_letter(text).is_none()
}

/// A name as it is compared with the names of rows.
pub(crate) struct SoughtName {
    pieces: Vec<String>,
    common: String,
    /// Whether the text is a word for "total", which is never the name of an instrument.
    is_footer: bool,
    /// The security of the first row, once it is known that the names of all rows begin with the
    /// text.
    security: Option<Figi>,
}

impl SoughtName {
    pub(crate) fn new(text: &str) -> Self {
        Self {
            pieces: pieces(text),
            common: common_name(text),
            is_footer: is_footer_word(text),
            security: None,
        }
    }

    /// Whether some of these rows have a name that does not begin with the text.
    ///
    /// # Errors
    /// [`TakesMore`] when reading the names takes more work than the meter allows.
    pub(super) fn is_strange_to<C: Candidate>(
        &mut self,
        rows: &[C],
        meter: &Meter,
    ) -> Result<bool, TakesMore> {
        if self.is_footer {
            return Ok(true);
        }
        for row in rows {
            meter.charge(NAME_UNITS)?;
            if !row.name().is_some_and(|name| self.begins(&name)) {
                return Ok(true);
            }
        }
        self.security = rows.first().and_then(|row| row.security());
        Ok(false)
    }

    /// The question that is left when all rows have names that begin with the text.
    pub(super) fn elsewhere(self) -> Option<NamedElsewhere> {
        let security = self.security?;
        Some(NamedElsewhere { name: self.common, security })
    }

    fn begins(&self, name: &str) -> bool {
        let own = pieces(name);
        let own = own.strip_prefix(&["the".to_owned()][..]).unwrap_or(&own);
        let sought = self.pieces.strip_prefix(&["the".to_owned()][..]).unwrap_or(&self.pieces);
        !sought.is_empty() && own.starts_with(sought) || common_name(name) == self.common
    }
}

fn pieces(text: &str) -> Vec<String> {
    words(text).flat_map(|word| word.pieces().map(str::to_owned).collect::<Vec<_>>()).collect()
}

/// A question whether a text is the whole name of another security.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NamedElsewhere {
    /// The name without its legal form, squeezed.
    pub(crate) name: String,
    /// The security whose rows do not count.
    pub(crate) security: Figi,
}

impl NamedElsewhere {
    /// Whether a row with the name is of another security. `figis` are its own FIGI, that of its
    /// composite and that of its share class.
    pub(crate) fn is_other(&self, figis: [Option<Figi>; 3]) -> bool {
        !figis.contains(&Some(self.security))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::instrument::vocabulary::{Property, Vocabulary};
    use crate::resolve::recognise::recognise;

    /// contract 17.14: which texts are written like a name.
    #[test]
    fn shapes() {
        let codes = ["US", "LN", "GY", "IN"].map(|code| (Property::ExchCode, code.to_owned()));
        let mics = ["XLON"].map(|code| (Property::MicCode, code.to_owned()));
        let vocabulary = Vocabulary::new(codes.into_iter().chain(mics));
        let is_name_like = |text: &str| {
            let recognition = recognise(text, &vocabulary).unwrap();
            is_name_like(text, &recognition.readings)
        };
        for text in [
            "Nestle",
            "Total",
            "Apple",
            "Ibm",
            "Deutsche Telekom",
            "deutsche telekom",
            "DEUTSCHE TELEKOM",
            "Coca-Cola",
            "McDonalds",
            "Moody's",
            "Électricité",
            "Procter & Gamble",
            "Société Générale SA",
        ] {
            assert!(is_name_like(text), "{text:?}");
        }
        for text in [
            "aapl",
            "IBM",
            "AAPL",
            "vod.l",
            "VOD.L",
            "Vod.l",
            "ibm us equity",
            "IBM US Equity",
            "IBM US",
            "VOD LN",
            "Total IN",
            "BRK B",
            "Brk b",
            "brk.b",
            "Brk-B",
            "BRK/B",
            "Brk/b",
            "EuU2",
            "Es1 Index",
            "QNET Index",
            "VOD:XLON",
            "Vod:Xlon",
            "AAPL 12/19/25 C200",
            "T 4 1/4 05/15/39",
            "CTA 2.69 PERP",
            "US0378331005",
            "BACpA",
            "eBay",
            "Apple 2030",
        ] {
            assert!(!is_name_like(text), "{text:?}");
        }
    }

    #[test]
    fn names_that_begin_with_a_text() {
        let begins = |text: &str, name: &str| SoughtName::new(text).begins(name);
        for (text, name) in [
            ("Uber", "UBER TECHNOLOGIES INC"),
            ("Nestle", "Nestlé S.A."),
            ("Boeing", "The Boeing Company"),
            ("The Boeing", "BOEING CO/THE"),
            ("Deutsche Telekom", "DEUTSCHE TELEKOM AG-REG"),
            ("Coca Cola", "COCA-COLA CO/THE"),
            ("Amazon", "AMAZON.COM INC"),
        ] {
            assert!(begins(text, name), "{text}: {name}");
        }
        for (text, name) in [
            ("Total", "TOTALENERGIES MARKETING NIGERIA PLC"),
            ("Ibm", "INTL BUSINESS MACHINES CORP"),
            ("Telekom", "DEUTSCHE TELEKOM AG-REG"),
            ("The", "The Boeing Company"),
            ("-", "UBER TECHNOLOGIES INC"),
        ] {
            assert!(!begins(text, name), "{text}: {name}");
        }
    }
}
