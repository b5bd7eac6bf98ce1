//! The keys by which a search finds an instrument, besides its exact identifiers: squeezed
//! identifiers and names (contract 9.9, 10.2); and the forms of names, by which only suggestions and
//! lists find it (contract 16.16).

use crate::instrument::Instrument;
use crate::instrument::id_type::{IdType, IdValue, OCC_ROOT_BYTES, OCC_TAIL_BYTES};
use crate::instrument::kind::Kind;
use crate::part::identifiers::KeyKind;
use crate::words::forms::forms_of_name;
use crate::words::names::common_name;
use crate::words::squeeze;

/// The keys of an instrument besides those of [`Instrument::keys`].
pub(crate) fn keys(instrument: &Instrument) -> impl Iterator<Item = (KeyKind, String)> {
    let kind = Kind::of(instrument);
    // Options, bonds and the like share their name with all instruments that differ only in the end
    // day.
    let name = instrument.name.as_deref().filter(|_| !kind.ends());
    let name = name.map(common_name).filter(|name| !name.is_empty());
    // For a bond or a preferred share, the description writes the coupon as people do; the ticker
    // does not.
    let description = instrument.security_description.as_deref().filter(|description| {
        matches!(kind, Kind::Bond | Kind::Preferred)
            && instrument.ticker.as_deref() != Some(description)
    });
    let description = description.map(squeeze).filter(|text| !text.is_empty());
    let forms = match kind.ends() {
        true => Vec::new(),
        false => forms(instrument, kind, name.as_deref()),
    };
    let names = name.into_iter().chain(description).map(|name| (KeyKind::Name, name));
    let names = names.chain(forms.into_iter().map(|form| (KeyKind::Form, form)));
    let squeezed = instrument.keys().filter_map(|id_value| {
        let id_type = id_value.id_type();
        if is_plain(&id_value) {
            return None;
        }
        let key_kind = match id_type {
            // Tickers with blanks are those of derivatives and bonds. Only their exact spelling is
            // an exact match: a squeezed key for each would be one more key for nearly every
            // instrument.
            IdType::Ticker if id_value.as_str().contains(' ') => return None,
            IdType::Ticker => KeyKind::SqueezedTicker,
            _ if is_identifier(id_type) => KeyKind::Squeezed,
            _ => return None,
        };
        let squeezed = squeeze(id_value.as_str());
        let follows = spelling(id_type, &squeezed) == Some(id_value);
        (!follows && !squeezed.is_empty()).then_some((key_kind, squeezed))
    });
    squeezed.chain(names)
}

/// The forms of the name, the other names and the aliases of an instrument, each once, without its
/// common name.
fn forms(instrument: &Instrument, kind: Kind, common_name: Option<&str>) -> Vec<String> {
    // A third of all forms would be those of funds, whose long names people seldom type whole.
    let name = instrument.name.as_deref().filter(|name| kind != Kind::Fund || !name.is_ascii());
    let others = instrument.names.iter().map(|name| &*name.text);
    let texts = name.into_iter().chain(others);
    let texts = texts.chain(instrument.alias.iter().map(String::as_str));
    let mut forms: Vec<String> = texts.flat_map(forms_of_name).collect();
    forms.retain(|form| common_name != Some(form));
    forms.sort_unstable();
    forms.dedup();
    forms
}

/// Whether a value plainly follows from its squeezed text, which is then itself in lower case. This
/// spares most values the rules below.
fn is_plain(id_value: &IdValue<'_>) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit();
    id_value.as_str().bytes().all(is_plain)
}

/// Whether a search finds rows by values of this idType (contract 9.9). It does not for three: a
/// ticker is found by its words, a base ticker has too many rows, and a row's own FIGI has no key.
pub(crate) fn is_identifier(id_type: IdType) -> bool {
    !matches!(id_type, IdType::Ticker | IdType::BaseTicker | IdType::BbGlobal)
}

/// The value of an idType whose squeezed form is this text; `None` when the text does not determine
/// one value.
pub(crate) fn spelling(id_type: IdType, squeezed: &str) -> Option<IdValue<'_>> {
    if id_type == IdType::Occ {
        let root_bytes = squeezed.len().checked_sub(OCC_TAIL_BYTES)?;
        let (root, tail) = squeezed.split_at_checked(root_bytes)?;
        return id_type
            .admit(&format!("{root:<OCC_ROOT_BYTES$}{tail}"))
            .ok()
            .map(IdValue::into_owned);
    }
    id_type.admit(squeezed).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::instrument::figi::Figi;

    fn keys_of(id_type: IdType, text: &str) -> Vec<(KeyKind, String)> {
        keys(&Instrument {
            identifiers: vec![id_type.admit(text).unwrap().into_owned()],
            ..Instrument::new(Figi::parse("BBG000BLNNH6").unwrap())
        })
        .collect()
    }

    #[test]
    fn only_values_that_their_squeezed_text_does_not_determine_need_a_key() {
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

    /// The rule for most values says what the rules for all values say.
    #[test]
    fn a_plain_value_follows_from_its_squeezed_text() {
        let mut plain = 0;
        for id_type in IdType::ALL {
            for text in [
                "IBM",
                "US4592001014",
                "459200101",
                "2005973",
                "BBG000BLNNH6",
                "A1B2C3D4E5F6G7H8",
                "GOOGLL251219C00200000",
                "AAPL251219C00200000",
            ] {
                let Ok(value) = id_type.admit(text) else { continue };
                if is_plain(&value) {
                    let squeezed = squeeze(value.as_str());
                    assert!(!squeezed.is_empty());
                    assert_eq!(spelling(id_type, &squeezed), Some(value), "{}", id_type.name());
                    plain += 1;
                }
            }
        }
        assert!(plain > IdType::ALL.len(), "{plain}");
        for (id_type, text) in [
            (IdType::Occ, "AAPL  251219C00200000"),
            (IdType::Ticker, "BRK/B"),
            (IdType::Bb, "TSLA US"),
        ] {
            assert!(!is_plain(&id_type.admit(text).unwrap()), "{text}");
        }
    }
}
