//! The tantivy document of an instrument.

use std::collections::HashSet;

use tantivy::TantivyDocument;
use tantivy::tokenizer::{PreTokenizedString, Token};

use super::schema::Fields;
use crate::instrument::Instrument;
use crate::instrument::kind::Kind;
use crate::words::for_each_term;
use crate::words::forms::inner_runs;

/// The document of an instrument: the values that filters compare, and the words.
pub(crate) fn document(fields: &Fields, instrument: &Instrument) -> TantivyDocument {
    let mut document = TantivyDocument::new();
    document.add_u64(fields.figi, instrument.figi.to_u64());
    for (field, value) in fields.properties.iter().zip(&instrument.properties) {
        if let Some(value) = value {
            document.add_text(*field, value);
        }
    }
    for (field, number) in fields.numbers.into_iter().zip(instrument.filter_numbers()) {
        if let Some(number) = number {
            document.add_f64(field, number);
        }
    }
    for (field, date) in fields.dates.into_iter().zip(instrument.filter_dates()) {
        if let Some(date) = date {
            document.add_i64(field, date.to_days());
        }
    }
    for text in instrument.words() {
        document.add_text(fields.words, text);
    }
    let own = [(fields.elsewhere, elsewhere(instrument)), (fields.names, name_terms(instrument))];
    for (field, terms) in own {
        if !terms.is_empty() {
            let token = |(position, text)| Token { position, text, ..Token::default() };
            let tokens = terms.into_iter().enumerate().map(token).collect();
            let text = PreTokenizedString { text: String::new(), tokens };
            document.add_pre_tokenized_text(field, text);
        }
    }
    if instrument.is_unlisted_equity() {
        document.add_bool(fields.unlisted_equity, true);
    }
    document
}

/// The terms of the description and the aliases that neither ticker nor name has.
pub(crate) fn elsewhere(instrument: &Instrument) -> Vec<String> {
    let first = || [&instrument.ticker, &instrument.name].into_iter().flatten();
    let others = instrument.security_description.iter().chain(&instrument.alias);
    // Most descriptions repeat the ticker.
    let is_new = |word: &&str| !first().any(|text| text.split_whitespace().any(|w| w == *word));
    let words: Vec<&str> = others.flat_map(|text| text.split_whitespace()).filter(is_new).collect();
    let mut terms = Vec::new();
    if !words.is_empty() {
        let mut known = HashSet::new();
        for text in first() {
            for_each_term(text, |term| {
                known.insert(term.to_owned());
            });
        }
        for word in words {
            for_each_term(word, |term| {
                if known.insert(term.to_owned()) {
                    terms.push(term.to_owned());
                }
            });
        }
    }
    terms
}

/// The terms by which only suggestions find an instrument: those of its other names, and the inner
/// runs of names without spaces.
pub(crate) fn name_terms(instrument: &Instrument) -> Vec<String> {
    // An option has its name in common with thousands of others.
    let name =
        instrument.name.as_deref().filter(|name| !name.is_ascii() && !Kind::of(instrument).ends());
    let others = instrument.names.iter().map(|name| &*name.text);
    let mut terms: Vec<String> =
        name.into_iter().chain(others.clone()).flat_map(inner_runs).collect();
    for text in others {
        for_each_term(text, |term| terms.push(term.to_owned()));
    }
    terms.sort_unstable();
    terms.dedup();
    terms
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::instrument::figi::Figi;

    #[test]
    fn terms_that_only_descriptions_and_aliases_have() {
        let instrument = Instrument {
            ticker: Some("IBM 7.625 10/15/18".into()),
            name: Some("IBM CORP".into()),
            security_description: Some("IBM 7 5/8 10/15/18".into()),
            alias: vec!["Big Blue IBM".into()],
            ..Instrument::new(Figi::parse("BBG000BLNNH6").unwrap())
        };
        assert_eq!(elsewhere(&instrument), ["58", "5", "8", "big", "blue"]);
        let description = instrument.ticker.clone();
        let plain =
            Instrument { security_description: description, alias: Vec::new(), ..instrument };
        assert_eq!(elsewhere(&plain), [] as [&str; 0]);
    }
}
