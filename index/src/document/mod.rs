//! Instruments as documents of another search engine, and searches as conditions on such documents.
//! The engine only has to compare whole words, and need not know how a text is cut into words. It
//! finds the same rows in the same order as a [`Catalogue`](crate::Catalogue).
//!
//! A document has the terms, keys and ranks that a part of an index has for the row. `stored` is
//! its byte string, the source of its answers. `clauses` says which documents match a search, and
//! which of them come first. `resolve` and `suggest` say what must be fetched for lists and
//! suggestions, and decide with the same code as a catalogue.

pub(crate) mod clauses;
pub(crate) mod places;
pub(crate) mod resolve;
pub(crate) mod stored;
pub(crate) mod suggest;

use std::collections::BTreeSet;

use xxhash_rust::xxh3::xxh3_128;

use self::places::Places;
use self::stored::Stored;
use crate::catalogue::Catalogue;
use crate::error::{Error, Result};
use crate::instrument::Instrument;
use crate::instrument::id_type::IdValue;
use crate::part::beginnings::{first_word, is_kept, short_beginnings};
use crate::part::identifiers::KeyKind;
use crate::part::identifiers::keys;
use crate::part::ranks::Standing;
use crate::part::ranks::rank::Rank;
use crate::part::segment::document::{elsewhere, name_terms};
use crate::words::for_each_term;

/// The most bytes of a term or a key. Longer ones are replaced by a hash: engines refuse long
/// terms.
pub const TERM_BYTES_MAX: usize = 1024;

/// The contents of a document, besides the fields of its instrument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Document {
    /// The keys by which mapping jobs and whole texts find it ([`id_key`]), each once.
    pub keys: BTreeSet<String>,
    /// The terms of its ticker, name, description and aliases, each once.
    pub words: BTreeSet<String>,
    /// The terms of `words` that only the description or an alias has.
    pub elsewhere: BTreeSet<String>,
    /// The terms by which only suggestions find it: those of its other names, and the inner runs
    /// of names without spaces.
    pub names: BTreeSet<String>,
    /// The short beginnings by which suggestions find it: up to three letters of the first word of
    /// its ticker and of its names. Only the best listings of some kinds have any.
    pub beginnings: BTreeSet<String>,
    /// Its place in the order of a search without words. Smaller ranks come first; equal ranks are
    /// ordered by FIGI.
    pub rank: u64,
    /// The ordinal of its importance, 0 for none; larger ones are more important.
    pub importance: u16,
    /// Whether it is the best listing of its security (contract 16.15).
    pub is_best_listing: bool,
    /// The last part of the rank. It orders rows that are equal in all other parts; smaller scores
    /// are better.
    pub score: u32,
    /// The bytes that [`Stored::read`] takes.
    pub stored: Vec<u8>,
}

impl Document {
    pub(crate) fn of(instrument: &Instrument, rank: Rank, standing: Standing) -> Result<Self> {
        let of_ids = instrument.keys().map(|value| id_key(&value));
        let others = keys::keys(instrument).map(|(kind, text)| key(kind, &text));
        let mut words = BTreeSet::new();
        for text in instrument.words() {
            for_each_term(text, |term| _ = words.insert(bounded_term(term)));
        }
        let mut beginnings = BTreeSet::new();
        if is_kept(rank) {
            let others = instrument.names.iter().map(|name| &name.text);
            let texts = [&instrument.ticker, &instrument.name].into_iter().flatten().chain(others);
            for first in texts.filter_map(|text| first_word(text)) {
                beginnings.extend(short_beginnings(&first).map(str::to_owned));
            }
        }
        Ok(Self {
            keys: of_ids.chain(others).collect(),
            words,
            beginnings,
            elsewhere: elsewhere(instrument).iter().map(|term| bounded_term(term)).collect(),
            names: name_terms(instrument).iter().map(|term| bounded_term(term)).collect(),
            rank: rank.sort_key(0),
            importance: rank.ordinal(),
            is_best_listing: standing.is_best,
            score: rank.score(),
            stored: Stored::pack(instrument, rank, standing)?,
        })
    }
}

impl Catalogue {
    /// Calls `each` with every instrument and its document, in FIGI order.
    ///
    /// # Errors
    /// The first error of `each`, or [`Error::Damaged`].
    pub fn documents<E: From<Error>>(
        &self,
        mut each: impl FnMut(&Instrument, Document) -> Result<(), E>,
    ) -> Result<(), E> {
        for (part, entry) in self.generation.parts.iter().zip(&self.manifest().parts) {
            let path = entry.path(&self.generation.path);
            part.for_each(&path, |doc, instrument| {
                let (rank, standing) = (part.ranks.rank(doc), part.ranks.standing(doc));
                let document = Document::of(&instrument, rank, standing)?;
                each(&instrument, document)
            })?;
        }
        Ok(())
    }

    /// The importances of the generation. They convert ranks to places and back.
    ///
    /// # Errors
    /// [`Error::Damaged`] when they do not ascend.
    pub fn places(&self) -> Result<Places> {
        let bytes = self.generation.parts.first().map(|part| part.ranks.table().bytes().to_vec());
        // A generation has at least one part: a build without instruments publishes nothing.
        let places = bytes.and_then(Places::of_bytes);
        let damaged = || Error::damaged(&self.generation.path, "its importances do not ascend");
        places.ok_or_else(damaged)
    }
}

/// The key of an identifier.
pub fn id_key(value: &IdValue<'_>) -> String {
    key(KeyKind::Id(value.id_type()), value.as_str())
}

/// A key as a text: the number of its kind and its value, or a hash if that is too long.
fn key(kind: KeyKind, text: &str) -> String {
    bounded_term(&format!("{}:{text}", kind.code()))
}

/// The text itself, or a hash if the text is too long. A hash begins with `#`, which no term and no
/// key begins with, so no text equals a hash.
pub fn bounded_term(text: &str) -> String {
    match text.len() <= TERM_BYTES_MAX {
        true => text.to_owned(),
        false => format!("#{:032x}", xxh3_128(text.as_bytes())),
    }
}
