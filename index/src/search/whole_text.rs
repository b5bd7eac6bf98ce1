//! Searches whose whole text is an identifier, a ticker or a name. People leave out blanks and
//! punctuation of the stored value, and the legal form of a name.
//!
//! The identifier directory holds each value in its own spelling. Usually the spelling follows from
//! the squeezed text, so one question to the directory for each kind of identifier finds it. A
//! value with another spelling has a second key in the directory: its squeezed text.

use super::conditions::Conditions;
use super::row_set::RowSet;
use crate::error::Result;
use crate::instrument::figi::Figi;
use crate::instrument::id_type::{IdType, IdValue};
use crate::instrument::vocabulary::{Property, Vocabulary};
use crate::meter::Meter;
use crate::part::Part;
use crate::part::identifiers::keys::{is_identifier, spelling};
use crate::part::identifiers::{KeyKind, Postings};
use crate::query::{Filters, Keywords};
use crate::words::names::common_name;
use crate::words::squeeze;

/// The units of work of looking up a text in the directory as every kind of identifier, as a ticker
/// and as a name.
const ALL_KINDS_UNITS: u64 = 150;
const NAMES_UNITS: u64 = 100;

/// The units of work of reading a row of a list and adding it to a set.
const LISTED_UNITS: u64 = 1;

/// The lists of rows that carry the whole text as an identifier.
#[derive(Default)]
pub(crate) struct Identified<'a> {
    /// The rows that carry the text as a number, which identifies one security.
    pub(crate) by_number: Vec<Postings<'a>>,
    /// The rows that carry the text as a symbol, which other securities may have too.
    pub(crate) by_symbol: Vec<Postings<'a>>,
}

/// Looks up the whole text as every kind of identifier in contract 9.9, and as a FIGI.
pub(crate) fn identified<'a>(
    part: &'a Part,
    keywords: &Keywords,
    meter: &Meter,
) -> Result<Identified<'a>> {
    let squeezed = keywords.squeezed();
    let mut found = Identified::default();
    if squeezed.is_empty() {
        return Ok(found);
    }
    meter.charge(ALL_KINDS_UNITS + text_units(squeezed))?;
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
    let own = Figi::parse(squeezed).ok().and_then(|figi| part.rows.find(figi));
    found.by_number.extend(own.map(Postings::one));
    Ok(found)
}

/// The list of rows that have this identifier.
pub(crate) fn with_identifier<'a>(part: &'a Part, id_value: &IdValue<'_>) -> Vec<Postings<'a>> {
    let rows = find(part, KeyKind::Id(id_value.id_type()), id_value.as_str());
    rows.into_iter().collect()
}

/// The rows of a key; `None` when there are none. The directory is read only if it has a key of
/// that kind and length.
fn find<'a>(part: &'a Part, kind: KeyKind, text: &str) -> Option<Postings<'a>> {
    let found = part.lengths.have(kind, text).then(|| part.identifiers.find(kind, text))?;
    (found.len() > 0).then_some(found)
}

/// The rows of some lists that pass the conditions.
pub(crate) fn rows_of(
    part: &Part,
    lists: &[Postings<'_>],
    conditions: &Conditions<'_>,
    meter: &Meter,
) -> Result<RowSet> {
    let mut rows = RowSet::new(part.rows.len() as u32);
    add_all(&mut rows, lists, conditions, meter)?;
    Ok(rows)
}

/// Adds to a set the rows of some lists that pass the conditions.
pub(crate) fn add_all(
    rows: &mut RowSet,
    lists: &[Postings<'_>],
    conditions: &Conditions<'_>,
    meter: &Meter,
) -> Result<()> {
    for list in lists {
        add(rows, list, Some(conditions), meter)?;
    }
    rows.sort();
    Ok(())
}

/// Adds to a set the rows of a list that pass the conditions. Without conditions, adds all rows of
/// the list.
fn add(
    rows: &mut RowSet,
    list: &Postings<'_>,
    conditions: Option<&Conditions<'_>>,
    meter: &Meter,
) -> Result<()> {
    let units = LISTED_UNITS + conditions.map_or(0, Conditions::row_units);
    meter.require(list.len() as u64 * units)?;
    for doc in meter.each(list.clone(), units) {
        if conditions.is_none_or(|conditions| conditions.pass(doc)) {
            rows.insert(doc);
        }
    }
    Ok(meter.check()?)
}

/// The rows whose ticker or name is the whole text, or is the text before a last word that is their
/// exchange code. Neither filters nor words are verified, so some of these rows may not match the
/// search. Instruments that end on a day, such as options, are not found by name, since many of
/// them share one.
pub(crate) fn exact(
    part: &Part,
    keywords: &Keywords,
    vocabulary: &Vocabulary,
    meter: &Meter,
) -> Result<RowSet> {
    let mut docs = RowSet::new(part.rows.len() as u32);
    for list in with_text(part, keywords.text(), keywords.squeezed(), meter)? {
        add(&mut docs, &list, None, meter)?;
    }
    if let Some((text, exch_code)) = keywords.before_last() {
        meter.charge(exch_code_units(vocabulary))?;
        let on_exchange = |known| {
            let mut filters = Filters { include_unlisted_equities: true, ..Filters::default() };
            filters.known.require(known);
            filters
        };
        let meant: Vec<Filters> = exch_code.exch_codes(vocabulary).map(on_exchange).collect();
        if !meant.is_empty() {
            let lists = with_text(part, text, &squeeze(text), meter)?;
            for filters in &meant {
                let conditions = Conditions::new(part, filters);
                for list in &lists {
                    add(&mut docs, list, Some(&conditions), meter)?;
                }
            }
        }
    }
    docs.sort();
    Ok(docs)
}

/// The lists of rows that have this ticker, in any spelling that the directory holds, or this
/// name.
fn with_text<'a>(
    part: &'a Part,
    text: &str,
    squeezed: &str,
    meter: &Meter,
) -> Result<Vec<Postings<'a>>> {
    meter.charge(NAMES_UNITS + text_units(text) + text_units(squeezed))?;
    let mut lists = Vec::new();
    for text in [Some(text), is_plain(text).then_some(squeezed)].into_iter().flatten() {
        if let Ok(ticker) = IdType::Ticker.admit(text) {
            lists.extend(find(part, KeyKind::Id(IdType::Ticker), ticker.as_str()));
        }
    }
    lists.extend(find(part, KeyKind::SqueezedTicker, squeezed));
    let name = common_name(text);
    for name in [&*name, squeezed] {
        if !name.is_empty() {
            lists.extend(find(part, KeyKind::Name, name));
        }
    }
    Ok(lists)
}

/// The lists of rows that have a name with one of these forms, for suggestions and lists (contract
/// 16.16). A form that is the common name of a row has the key of that name.
pub(crate) fn formed<'a>(
    part: &'a Part,
    forms: &[String],
    meter: &Meter,
) -> Result<Vec<Postings<'a>>> {
    let mut lists = Vec::new();
    for form in forms {
        meter.charge(NAMES_UNITS + text_units(form))?;
        for kind in [KeyKind::Form, KeyKind::Name] {
            lists.extend(find(part, kind, form));
        }
    }
    Ok(lists)
}

/// The units of work of folding a text and of hashing it for several kinds of keys.
fn text_units(text: &str) -> u64 {
    text.len() as u64
}

/// The units of work of comparing a word with every exchange code.
pub(crate) fn exch_code_units(vocabulary: &Vocabulary) -> u64 {
    vocabulary.values(Property::ExchCode).len() as u64
}

/// Whether a text is one word of letters, digits and the punctuation that occurs in tickers.
pub(crate) fn is_plain(text: &str) -> bool {
    text.trim().chars().all(|c| c.is_alphanumeric() || "./-*:=".contains(c))
}

/// Whether values of this kind are symbols, which two venues may give to two instruments.
pub(crate) fn is_symbol(id_type: IdType) -> bool {
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
