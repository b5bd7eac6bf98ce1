//! Forms of tickers that narrow a question: `AAPL US Equity`, `AAPL:XNAS`, `VOD.L`. They are those
//! that a list reads.

use std::ops::Range;

use super::pieces::{Piece, joined};
use super::{Draft, Narrowing, TypedText};
use crate::instrument::id_type::IdType;
use crate::instrument::markets::whole_market;
use crate::instrument::vocabulary::{Known, Property};
use crate::query::OneOf;
use crate::resolve::recognise::{on_whole_markets, prefix_codes, recognise};
use crate::words::squeeze;

/// The readings of the text as a ticker with an exchange or a market sector.
pub(super) fn forms(typed: TypedText<'_>) -> Vec<Draft> {
    let may_be_form = typed.pieces.len() > 1 || typed.text.contains([':', '.']);
    if !may_be_form {
        return Vec::new();
    }
    let Ok(recognition) = recognise(typed.text, typed.vocabulary) else { return Vec::new() };
    let on_market = on_whole_markets(typed.text, typed.vocabulary);
    let readings = recognition.readings.into_iter().chain(on_market);
    let tickers = readings.filter(|reading| reading.id_value.id_type() == IdType::Ticker);
    let drafts = tickers.filter_map(|reading| {
        let chip = |one_of: OneOf<'_>| {
            let values: Vec<Known> = one_of.values().collect();
            Some((place_of(typed, one_of.property(), &values)?, Narrowing::Values(values)))
        };
        let chips = reading.narrowing.iter().map(chip).collect::<Option<Vec<_>>>()?;
        let is_rest =
            |piece: &&Piece<'_>| chips.iter().all(|(place, _)| !place.contains(&piece.start));
        let rest = joined(typed.pieces.iter().filter(is_rest));
        let ticker = reading.id_value.as_str();
        let words = if squeeze(&rest) == squeeze(ticker) { rest } else { ticker.to_owned() };
        // Capitals say that it is a ticker, and no word of a name (contract 10.9).
        let words = words.to_uppercase();
        Some(Draft { words, chips, left_out: Vec::new() })
    });
    drafts.collect()
}

/// The place in the text that names the values of a property.
fn place_of(typed: TypedText<'_>, property: Property, values: &[Known]) -> Option<Range<usize>> {
    let names = |text: &str| {
        let mut texts = values.iter().map(|known| typed.vocabulary.text(*known));
        texts.any(|value| value.eq_ignore_ascii_case(text))
    };
    let named = typed.pieces.iter().rev().find(|piece| names(piece.text));
    if let Some(piece) = named {
        return Some(piece.range());
    }
    if property == Property::MarketSecDes {
        return None;
    }
    if let Some((left, right)) = typed.text.split_once(':') {
        let of = |side: &str, start: usize| {
            let from = start + (side.len() - side.trim_start().len());
            let is_name = |side| {
                let codes = prefix_codes(side);
                values.iter().all(|known| {
                    let value = typed.vocabulary.text(*known);
                    codes.iter().any(|code| *code == value || whole_market(code) == Some(value))
                })
            };
            (names(side.trim()) || is_name(side.trim())).then(|| from..from + side.trim().len())
        };
        return of(right, left.len() + 1).or_else(|| of(left, 0));
    }
    let end = typed.text.trim_end().len();
    typed.text.rfind('.').map(|dot| dot..end)
}
