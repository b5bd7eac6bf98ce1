//! Identifiers and tickers as a person types them into a search: without the
//! blanks and punctuation that they are stored with (decisions, "Identifiers of a
//! row").
//!
//! The identifier directory holds each value in its own spelling. Most spellings
//! follow from the squeezed text, so asking the directory once for each kind finds
//! them. The others get a key of their own, under the squeezed text.

use crate::conditions::Conditions;
use crate::figi::Figi;
use crate::id_type::{IdType, IdValue};
use crate::identifiers::KeyKind;
use crate::instrument::Instrument;
use crate::part::Part;
use crate::query::{Filters, Keywords};
use crate::vocabulary::Vocabulary;
use crate::words::squeeze;

/// What follows the root in an OCC symbol: date, `C` or `P`, strike.
const OCC_TAIL_CHARS: usize = 15;

/// The keys that an instrument needs besides those of [`Instrument::keys`].
pub(crate) fn keys(instrument: &Instrument) -> impl Iterator<Item = (KeyKind, String)> {
    instrument.keys().filter_map(|(id_type, id_value)| {
        let kind = match id_type {
            // Of tickers with blanks, which are those of derivatives and bonds,
            // only the one that is typed just as it is spelled counts as exact: a
            // key for each would be a key for nearly every instrument.
            IdType::Ticker if id_value.as_str().contains(' ') => return None,
            IdType::Ticker => KeyKind::SqueezedTicker,
            _ if is_identifier(id_type) => KeyKind::Squeezed,
            _ => return None,
        };
        let squeezed = squeeze(id_value.as_str());
        let follows = spelling(id_type, &squeezed) == Some(id_value);
        (!follows && !squeezed.is_empty()).then_some((kind, squeezed))
    })
}

/// The rows that carry the whole text as an identifier, ascending.
pub(crate) fn identified(part: &Part, keywords: &Keywords) -> Vec<u32> {
    let squeezed = keywords.squeezed();
    if squeezed.is_empty() {
        return Vec::new();
    }
    let mut docs = Vec::new();
    for id_type in IdType::ALL.into_iter().filter(|id_type| is_identifier(*id_type)) {
        if let Some(id_value) = spelling(id_type, squeezed) {
            docs.extend(part.identifiers.find(KeyKind::Id(id_type), id_value.as_str()));
        }
    }
    docs.extend(part.identifiers.find(KeyKind::Squeezed, squeezed));
    docs.extend(Figi::parse(squeezed).ok().and_then(|figi| part.rows.find(figi)));
    docs.sort_unstable();
    docs.dedup();
    docs
}

/// The rows whose ticker is the whole text, or the text before a last word that is
/// their exchange code; ascending.
pub(crate) fn tickers(part: &Part, keywords: &Keywords, vocabulary: &Vocabulary) -> Vec<u32> {
    let mut docs = with_ticker(part, keywords.text(), keywords.squeezed());
    if let Some((ticker, exch_code)) = keywords.before_last() {
        let on_exchange = |known| {
            let mut filters = Filters { include_unlisted_equities: true, ..Filters::default() };
            filters.known.require(known);
            filters
        };
        let meant = exch_code.exch_codes(vocabulary).map(on_exchange);
        let meant: Vec<Conditions<'_>> =
            meant.map(|filters| Conditions::new(part, &filters)).collect();
        if !meant.is_empty() {
            let rows = with_ticker(part, ticker, &squeeze(ticker));
            let passes = |doc: &u32| meant.iter().any(|conditions| conditions.pass(*doc));
            docs.extend(rows.into_iter().filter(passes));
        }
    }
    docs.sort_unstable();
    docs.dedup();
    docs
}

/// The rows that have this ticker, in any spelling that the directory knows.
fn with_ticker(part: &Part, text: &str, squeezed: &str) -> Vec<u32> {
    let mut docs = Vec::new();
    for text in [text, squeezed] {
        if let Ok(ticker) = IdType::Ticker.admit(text) {
            docs.extend(part.identifiers.find(KeyKind::Id(IdType::Ticker), ticker.as_str()));
        }
    }
    docs.extend(part.identifiers.find(KeyKind::SqueezedTicker, squeezed));
    docs
}

/// Whether a search finds rows by values of this kind: not by tickers, which are
/// words, and not by the indistinct base ticker. A row's own FIGI has no key.
fn is_identifier(id_type: IdType) -> bool {
    !matches!(id_type, IdType::Ticker | IdType::BaseTicker | IdType::BbGlobal)
}

/// The value of a kind whose squeezed text this is, where the one follows from
/// the other.
fn spelling(id_type: IdType, squeezed: &str) -> Option<IdValue<'_>> {
    if id_type == IdType::Occ {
        let root_chars = squeezed.len().checked_sub(OCC_TAIL_CHARS)?;
        let (root, tail) = squeezed.split_at_checked(root_chars)?;
        return id_type.admit(&format!("{root:<6}{tail}")).ok().map(IdValue::into_owned);
    }
    id_type.admit(squeezed).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys_of(id_type: IdType, text: &str) -> Vec<(KeyKind, String)> {
        let id_value = id_type.admit(text).unwrap();
        keys(&Instrument {
            identifiers: vec![(id_type, id_value.into_owned())],
            ..Instrument::new(Figi::parse("BBG000BLNNH6").unwrap())
        })
        .collect()
    }

    #[test]
    fn only_spellings_that_do_not_follow_need_a_key() {
        for (id_type, text, key) in [
            (IdType::Isin, "US4592001014", None),
            (IdType::Occ, "AAPL  251219C00200000", None),
            (IdType::Bb, "TSLA:US", Some((KeyKind::Squeezed, "tslaus"))),
            (IdType::UniqueFutOpt, "HIJ0 ELEC Index", Some((KeyKind::Squeezed, "hij0elecindex"))),
            (IdType::Cusip, "38259P508", None),
            (IdType::Ticker, "IBM", None),
            (IdType::Ticker, "BRK/B", Some((KeyKind::SqueezedTicker, "brkb"))),
            (IdType::Ticker, "AAPL 01/17/25 C155", None),
            (IdType::BaseTicker, "IBM 3 P130", None),
            (IdType::Bb, "--", None),
        ] {
            let expected: Vec<_> =
                key.into_iter().map(|(kind, text)| (kind, text.to_owned())).collect();
            assert_eq!(keys_of(id_type, text), expected, "{text}");
        }
    }
}
