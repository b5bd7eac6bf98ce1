//! Identifiers that are written in groups of characters, `US 037833 1005` and `037833-10-0`, or among
//! other words, `Apple Inc. (US0378331005)` (contract 17.2).

use figdex_io::is_hidden;

use super::trimmed::trimmed;
use crate::instrument::id_type::IdType;

/// The types that are read in groups. Each has a check digit and more characters than most tickers.
const TYPES: [IdType; 6] = [
    IdType::BbGlobal,
    IdType::CompositeBbGlobal,
    IdType::ShareClassBbGlobal,
    IdType::Isin,
    IdType::Cusip,
    IdType::Cins,
];

/// The sizes of the groups in which CUSIPs are written: issuer, issue and check digit.
const CUSIP_GROUPS: [&[usize]; 3] = [&[6, 2, 1], &[6, 3], &[8, 1]];

/// The fewest digits of an identifier in groups. Names in several words have fewer.
const DIGITS_MIN: usize = 4;

/// The longest identifier of [`TYPES`].
const CHARS_MAX: usize = 12;

/// The identifier in a text, without the blanks and hyphens between its characters or the words
/// around it. `None` for a text without any, and for one that is not an identifier of this type with
/// its right check digit.
pub fn joined(text: &str, id_type: IdType) -> Option<String> {
    if !is_in_groups(id_type) {
        return None;
    }
    identifier_in(&trimmed(text)).filter(|joined| id_type.admit(joined).is_ok())
}

/// Whether identifiers of this type are read in groups.
pub(super) fn is_in_groups(id_type: IdType) -> bool {
    TYPES.contains(&id_type)
}

/// The ISIN or FIGI among the words of a text, between blanks or punctuation; `None` if it has none
/// or several different ones. Words rarely have the form of either: twelve characters with at least
/// four digits and the right check digit.
pub(crate) fn among_words(text: &str) -> Option<&str> {
    // Nearly all texts of lists are no longer than an identifier.
    if text.len() <= CHARS_MAX {
        return None;
    }
    let words = text.split(|c: char| !c.is_alphanumeric());
    let is_identifier = |word: &&str| {
        word.len() == CHARS_MAX
            && word.bytes().filter(u8::is_ascii_digit).count() >= DIGITS_MIN
            && [IdType::Isin, IdType::BbGlobal].iter().any(|id_type| id_type.admit(word).is_ok())
    };
    let mut found = words.filter(is_identifier);
    let only = found.next()?;
    found.all(|other| other.eq_ignore_ascii_case(only)).then_some(only)
}

/// The characters of the identifier in a text in groups or among other words.
pub(super) fn identifier_in(text: &str) -> Option<String> {
    joined_any(text).or_else(|| among_words(text).map(str::to_owned))
}

/// The types of which the identifier in a text may be, with its characters.
pub(super) fn readings(text: &str) -> impl Iterator<Item = (IdType, String)> {
    let joined = identifier_in(text);
    let types = joined.is_some().then_some(TYPES).into_iter().flatten();
    types.filter_map(move |id_type| {
        let joined = joined.as_ref().filter(|joined| id_type.admit(joined).is_ok())?;
        Some((id_type, joined.clone()))
    })
}

/// The characters of a text in groups, if they are as many as those of an identifier.
pub(super) fn joined_any(text: &str) -> Option<String> {
    // Nearly all texts have no groups. A separator has at most four bytes.
    if !text.contains(is_separator) || text.len() > 5 * CHARS_MAX {
        return None;
    }
    let groups = text.split(is_separator).filter(|group| !group.is_empty());
    let sizes: Vec<usize> = groups.clone().map(str::len).collect();
    let joined: String = groups.collect();
    let is_grouped = match joined.len() {
        12 => true,
        9 => CUSIP_GROUPS.contains(&&*sizes),
        _ => false,
    };
    let digits = joined.bytes().filter(u8::is_ascii_digit).count();
    let is_plain = joined.bytes().all(|c| c.is_ascii_alphanumeric());
    (is_grouped && is_plain && digits >= DIGITS_MIN).then_some(joined)
}

/// A blank of any width, an invisible character, a hyphen or a short dash.
fn is_separator(c: char) -> bool {
    matches!(c, '-' | '\u{ad}' | '\u{2010}'..='\u{2013}' | '\u{2212}' | '\u{200b}' | '\u{2060}')
        || c.is_whitespace()
        || is_hidden(c)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// contract 17.2.
    #[test]
    fn identifiers_in_groups() {
        use IdType::{BbGlobal, Cins, Cusip, Isin};
        for (text, id_type, expected) in [
            ("CH 001 222 171 6", Isin, "CH0012221716"),
            ("us 037833 1005", Isin, "us0378331005"),
            ("US\u{a0}0378331005", Isin, "US0378331005"),
            ("US\u{2009}037833\u{202f}100\u{3000}5", Isin, "US0378331005"),
            ("DE-000716460-0", Isin, "DE0007164600"),
            ("DE‑000 716460–0", Isin, "DE0007164600"),
            (" 'DE 000 716460 0'", Isin, "DE0007164600"),
            ("ＵＳ　０３７８３３　１００５", Isin, "US0378331005"),
            ("037833 10 0", Cusip, "037833100"),
            ("037833-10-0", Cusip, "037833100"),
            ("037833 100", Cusip, "037833100"),
            ("03783310 0", Cusip, "037833100"),
            ("G0177J 10 8", Cins, "G0177J108"),
            ("BBG 000 BLN NH6", BbGlobal, "BBG000BLNNH6"),
            ("DE0007164600 / 716460", Isin, "DE0007164600"),
            ("Apple Inc. (US0378331005)", Isin, "US0378331005"),
            ("WKN: 865985 / ISIN: US0378331005", Isin, "US0378331005"),
            ("us0378331005, US0378331005", Isin, "us0378331005"),
            ("IBM US (BBG000BLNNH6)", BbGlobal, "BBG000BLNNH6"),
        ] {
            assert_eq!(joined(text, id_type).as_deref(), Some(expected), "{text:?}");
        }
        for text in [
            "US0378331005",
            "US 0378331006",
            "US 037833100",
            "US/037833/1005",
            "0378 33100",
            "037 833 100",
            "123-456-789",
            "IBM US Equity",
            "AAPL 251219C00200000",
            "US0378331005 or DE0007164600",
            "SAP SE DE0007164601",
            "Aktiengesellschaft der Bank",
            "",
            "- -",
        ] {
            for id_type in IdType::ALL {
                assert_eq!(joined(text, id_type), None, "{text:?}");
            }
        }
        // A SEDOL and a WKN are so short that names have their form.
        assert_eq!(joined("026349 4", IdType::Sedol), None);
    }

    proptest! {
        /// Only the characters between those of an identifier are left out.
        #[test]
        fn joined_texts_have_the_form_of_their_type(text in "[A-Z]{2}[ -]?[0-9]{3}[ -]?[0-9]{3}[ -]?[0-9]{3}[ -]?[0-9]|.{0,20}|.{0,5}US0378331005.{0,5}") {
            for id_type in IdType::ALL {
                if let Some(joined) = joined(&text, id_type) {
                    prop_assert!(id_type.admit(&joined).is_ok());
                    prop_assert_eq!(super::joined(&joined, id_type), None);
                }
            }
        }
    }
}
