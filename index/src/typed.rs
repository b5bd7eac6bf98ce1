//! Identifiers, tickers and whole names as a person types them into a search: without
//! the blanks and punctuation that they are stored with (decisions, "Identifiers of a
//! row"), and names without their legal form.
//!
//! The identifier directory holds each value in its own spelling. Most spellings
//! follow from the squeezed text, so asking the directory once for each kind finds
//! them. The others get a key of their own, under the squeezed text.

use crate::conditions::Conditions;
use crate::figi::Figi;
use crate::id_type::{IdType, IdValue};
use crate::identifiers::KeyKind;
use crate::instrument::Instrument;
use crate::names::said_name;
use crate::part::Part;
use crate::query::{Filters, Keywords};
use crate::rank::{Kind, kind};
use crate::vocabulary::Vocabulary;
use crate::words::squeeze;

/// What follows the root in an OCC symbol: date, `C` or `P`, strike.
const OCC_TAIL_CHARS: usize = 15;

/// The keys that an instrument needs besides those of [`Instrument::keys`].
pub(crate) fn keys(instrument: &Instrument) -> impl Iterator<Item = (KeyKind, String)> {
    // What ends on a day shares its name with all that end on others.
    let name = instrument.name.as_deref().filter(|_| !kind(instrument).ends());
    let name = name.map(said_name).filter(|name| !name.is_empty());
    // A bond's description says its coupon as people do, and its ticker does not.
    let description = instrument.security_description.as_deref().filter(|description| {
        matches!(kind(instrument), Kind::Bond | Kind::Preferred)
            && instrument.ticker.as_deref() != Some(description)
    });
    let description = description.map(squeeze).filter(|text| !text.is_empty());
    let names = name.into_iter().chain(description).map(|name| (KeyKind::Name, name));
    let squeezed = instrument.keys().filter_map(|id_value| {
        let id_type = id_value.id_type();
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
    });
    squeezed.chain(names)
}

/// The rows that carry the whole text as an identifier, each list ascending.
#[derive(Debug, Default)]
pub(crate) struct Identified {
    /// Those that carry it as a number, which means this instrument and no other.
    pub(crate) by_number: Vec<u32>,
    /// Those that carry it as a symbol: as a ticker it may be another's too.
    pub(crate) by_symbol: Vec<u32>,
}

pub(crate) fn identified(part: &Part, keywords: &Keywords) -> Identified {
    let squeezed = keywords.squeezed();
    let mut found = Identified::default();
    if squeezed.is_empty() {
        return found;
    }
    for id_type in IdType::ALL.into_iter().filter(|id_type| is_identifier(*id_type)) {
        if let Some(id_value) = spelling(id_type, squeezed) {
            let docs = find(part, KeyKind::Id(id_type), id_value.as_str());
            match is_symbol(id_type) {
                true => found.by_symbol.extend(docs),
                false => found.by_number.extend(docs),
            }
        }
    }
    found.by_symbol.extend(find(part, KeyKind::Squeezed, squeezed));
    found.by_number.extend(Figi::parse(squeezed).ok().and_then(|figi| part.rows.find(figi)));
    for docs in [&mut found.by_number, &mut found.by_symbol] {
        docs.sort_unstable();
        docs.dedup();
    }
    found
}

/// The rows with a key, if it is as long as any of its kind.
fn find<'a>(part: &'a Part, kind: KeyKind, text: &str) -> impl Iterator<Item = u32> + use<'a> {
    part.lengths.have(kind, text).then(|| part.identifiers.find(kind, text)).into_iter().flatten()
}

/// The rows whose ticker or name is the whole text, or the text before a last word that
/// is their exchange code; ascending. Such a name is the one of a share, a fund, an index:
/// of what has but one row in a market.
pub(crate) fn exact(part: &Part, keywords: &Keywords, vocabulary: &Vocabulary) -> Vec<u32> {
    let mut docs = with_text(part, keywords.text(), keywords.squeezed());
    if let Some((text, exch_code)) = keywords.before_last() {
        let on_exchange = |known| {
            let mut filters = Filters { include_unlisted_equities: true, ..Filters::default() };
            filters.known.require(known);
            filters
        };
        let meant = exch_code.exch_codes(vocabulary).map(on_exchange);
        let meant: Vec<Conditions<'_>> =
            meant.map(|filters| Conditions::new(part, &filters)).collect();
        if !meant.is_empty() {
            let rows = with_text(part, text, &squeeze(text));
            let passes = |doc: &u32| meant.iter().any(|conditions| conditions.pass(*doc));
            docs.extend(rows.into_iter().filter(passes));
        }
    }
    docs.sort_unstable();
    docs.dedup();
    docs
}

/// The rows that have this ticker, in any spelling that the directory knows, or this name.
fn with_text(part: &Part, text: &str, squeezed: &str) -> Vec<u32> {
    let mut docs = Vec::new();
    for text in [Some(text), is_plain(text).then_some(squeezed)].into_iter().flatten() {
        if let Ok(ticker) = IdType::Ticker.admit(text) {
            docs.extend(find(part, KeyKind::Id(IdType::Ticker), ticker.as_str()));
        }
    }
    docs.extend(find(part, KeyKind::SqueezedTicker, squeezed));
    let name = said_name(text);
    for name in [&*name, squeezed] {
        if !name.is_empty() {
            docs.extend(find(part, KeyKind::Name, name));
        }
    }
    docs
}

/// Whether a text is one word with nothing in it but what parts the pieces of tickers.
pub(crate) fn is_plain(text: &str) -> bool {
    text.trim().chars().all(|c| c.is_alphanumeric() || "./-*:=".contains(c))
}

/// Whether values of this kind are symbols, which one venue gives to one instrument and
/// another venue to another.
fn is_symbol(id_type: IdType) -> bool {
    matches!(
        id_type,
        IdType::ExchSymbol
            | IdType::FullExchangeSymbol
            | IdType::BbSecNumDes
            | IdType::TradingSystem
            | IdType::ShortCode
            | IdType::VendorIndexCode
            | IdType::Bb
            | IdType::Bb8Chr
            | IdType::Opra
    )
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
        keys(&Instrument {
            identifiers: vec![id_type.admit(text).unwrap().into_owned()],
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
