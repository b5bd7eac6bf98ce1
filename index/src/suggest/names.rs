//! The rows whose other names hold a typed word (contract 16.16). The words of other names are few,
//! and have no lists in the order of ranks.

use std::ops::ControlFlow;

use tantivy::TantivyError;
use tantivy::postings::TermInfo;

use super::reading::QueryWord;
use super::typo::search_names;
use crate::error::Result;
use crate::meter::Meter;
use crate::part::Part;
use crate::search::plan::TERM_UNITS;
use crate::search::positions::Positions;

/// The most words of other names that the beginning of a word, or a word with typos, may stand for.
const WORDS_MAX: usize = 32;

/// The units of work of reading a word of the dictionary.
const WORD_UNITS: u64 = 4;

/// Adds the rows whose other names hold a typed word, by the ways in which it may be meant. A
/// beginning counts only with `as_beginning`.
pub(super) fn add<'a>(
    any: &mut Vec<Positions<'a>>,
    part: &'a Part,
    word: &QueryWord,
    as_beginning: bool,
    meter: &Meter,
) -> Result<()> {
    if part.name_words.is_empty() {
        return Ok(());
    }
    // As `Positions::of_word`: of `A:A`, the only run is `a`.
    let runs = word.word.runs.iter().map(|run| Positions::of_name_term(part, run, meter));
    any.push(Positions::all(runs.collect::<Result<_>>()?));
    if word.word.runs.len() > 1 {
        any.push(Positions::of_name_term(part, &word.word.squeezed, meter)?);
    }
    for other in &word.equivalents {
        any.push(Positions::of_name_term(part, other, meter)?);
    }
    let mut found = Vec::new();
    if word.is_unfinished && as_beginning {
        add_beginning(&mut found, part, word.word.squeezed.as_bytes(), meter)?;
    }
    if word.typos > 0 {
        add_neighbours(&mut found, part, word, meter)?;
    }
    for info in &found {
        any.push(Positions::of_name_info(part, info, meter)?);
    }
    Ok(())
}

/// Whether an other name of any row of a part holds the word, or with `is_beginning` a word that
/// begins with it.
pub(super) fn holds(part: &Part, word: &str, is_beginning: bool, meter: &Meter) -> Result<bool> {
    if part.name_words.is_empty() {
        return Ok(false);
    }
    let mut found = Vec::new();
    if is_beginning {
        add_beginning(&mut found, part, word.as_bytes(), meter)?;
    } else {
        meter.charge(TERM_UNITS)?;
        let terms = part.name_words.words.terms();
        found.extend(terms.get(word).map_err(TantivyError::from)?);
    }
    Ok(!found.is_empty())
}

/// Adds the first words that begin with a text.
fn add_beginning(
    found: &mut Vec<TermInfo>,
    part: &Part,
    beginning: &[u8],
    meter: &Meter,
) -> Result<()> {
    meter.charge(TERM_UNITS)?;
    let words = part.name_words.words.terms().range().ge(beginning).into_stream();
    let mut words = words.map_err(TantivyError::from)?;
    while found.len() < WORDS_MAX && words.advance() && words.key().starts_with(beginning) {
        meter.charge(WORD_UNITS)?;
        found.push(words.value().clone());
    }
    Ok(())
}

/// Adds the first words that differ by typos.
fn add_neighbours(
    found: &mut Vec<TermInfo>,
    part: &Part,
    word: &QueryWord,
    meter: &Meter,
) -> Result<()> {
    let text = &word.word.squeezed;
    let add = &mut |letters: &[u8], is_beginning: bool| {
        let added = match is_beginning {
            true => add_beginning(found, part, letters, meter),
            false => meter.charge(TERM_UNITS).map_err(Into::into).and_then(|()| {
                let terms = part.name_words.words.terms();
                found.extend(terms.get(letters).map_err(TantivyError::from)?);
                Ok(())
            }),
        };
        match added {
            Ok(()) if found.len() < WORDS_MAX => ControlFlow::Continue(()),
            Ok(()) => ControlFlow::Break(None),
            Err(error) => ControlFlow::Break(Some(error)),
        }
    };
    let walk = search_names(part, text, word.typos, word.is_unfinished, meter, add);
    match walk {
        ControlFlow::Break(Some(error)) => Err(error),
        _ => Ok(meter.check()?),
    }
}
