//! Another engine holds the instruments as documents and fetches them. Here it is a list that is
//! scanned; its answers must be those of the catalogue that the documents are from.

mod clauses;
mod resolve;
mod suggest;

use figdex_index::{
    Catalogue, Clauses, Document, Error, Fetched, Figi, Filters, Hit, IdType, Instrument, Known,
    Lookup, RowSource, Stored, id_key,
};

use crate::search::passes;

/// The documents of a catalogue, all of which were fetched.
pub(crate) struct Documents<'a> {
    pub(crate) catalogue: &'a Catalogue,
    pub(crate) all: Vec<Fetch>,
    pub(crate) rows: Fetched,
}

/// A document, and the hit by which it was fetched.
pub(crate) struct Fetch {
    pub(crate) instrument: Instrument,
    pub(crate) document: Document,
    pub(crate) hit: Hit,
}

impl<'a> Documents<'a> {
    pub(crate) fn of(catalogue: &'a Catalogue) -> Self {
        let mut documents = Vec::new();
        let each = |instrument: &Instrument, document: Document| {
            documents.push((instrument.clone(), document));
            Ok::<_, Error>(())
        };
        catalogue.documents(each).unwrap();
        let mut rows = Fetched::default();
        // In another order than that of FIGIs, since an engine may fetch them in any.
        let all = documents.into_iter().rev().map(|(instrument, document)| {
            let hit = rows.add(Stored::read(document.stored.clone()).unwrap());
            Fetch { instrument, document, hit }
        });
        Self { catalogue, all: all.collect(), rows }
    }

    pub(crate) fn passing(&self, filters: &Filters) -> impl Iterator<Item = &Fetch> {
        self.all.iter().filter(|one| passes(self.catalogue, filters, &one.instrument))
    }

    /// The rows that a lookup finds.
    pub(crate) fn lookup(&self, lookup: &Lookup<'_>) -> Vec<Hit> {
        let value = &lookup.id_value;
        let filters = lookup.filters().cloned().unwrap_or_default();
        let has = |one: &&Fetch| match value.id_type() {
            IdType::BbGlobal => one.instrument.figi.to_string() == value.as_str(),
            _ => one.document.keys.contains(&id_key(value)),
        };
        self.passing(&filters).filter(has).map(|one| one.hit).collect()
    }

    /// Whether the text is the ticker or the name of a document.
    fn is_exact(&self, clauses: &Clauses, one: &Fetch) -> bool {
        let mut exact = clauses.exact.iter();
        exact.any(|(keys, known)| has_key(one, keys) && self.has(one, *known))
    }

    /// Whether a document has a value, if one is demanded.
    fn has(&self, one: &Fetch, known: Option<Known>) -> bool {
        known.is_none_or(|known| {
            let text = self.catalogue.vocabulary().text(known);
            one.instrument.property(known.property()) == Some(text)
        })
    }
}

fn has_key(one: &Fetch, keys: &[String]) -> bool {
    keys.iter().any(|key| one.document.keys.contains(key))
}

fn is_identifier(clauses: &Clauses, one: &Fetch) -> bool {
    has_key(one, &clauses.by_number) || clauses.figi == Some(one.instrument.figi)
}

pub(crate) fn figis(rows: &impl RowSource, hits: &[Hit]) -> Vec<Figi> {
    hits.iter().map(|hit| rows.figi(*hit)).collect()
}
