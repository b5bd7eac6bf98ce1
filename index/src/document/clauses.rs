//! A search as conditions on documents. These modules apply the same rules to posting lists:
//! `search::plan`, `search::best` and `search::named`.

use std::convert::Infallible;

use super::stored::Fetched;
use super::{bounded_term, key};
use crate::instrument::figi::Figi;
use crate::instrument::id_type::IdType;
use crate::instrument::kind::Kind;
use crate::instrument::vocabulary::{Known, Vocabulary};
use crate::part::identifiers::KeyKind;
use crate::part::identifiers::keys::{is_identifier, spelling};
use crate::part::ranks::rank::Rank;
use crate::query::{Keywords, Word};
use crate::search::named::{BestListings, Exact, NAMES_MAX, begins_name, decide, naming_word};
use crate::search::whole_text::{is_plain, is_symbol};
use crate::search::{Hit, RowSource as _};
use crate::words::names::common_name;
use crate::words::squeeze;

/// The documents that match the key words of a search, and the tier of each (contract 10.2).
///
/// A document matches if it passes the filters, and either is identified (by `by_number`, `figi` or
/// `by_symbol`), or holds the words of one of the `alternatives` and passes the filter of that
/// alternative. Its [`Tier`](crate::Tier) is the first of these that applies:
///
/// - `Identifier`: it has a key of `by_number`, or is the `figi`;
/// - `Named`: it is the document that [`Clauses::named`] returns;
/// - `Exact`: it has a key of `exact`, or one of `by_symbol` when `symbols_are_exact`;
/// - `Joined`: it has a key of `by_symbol`;
/// - `Elsewhere`: it has a term of `elsewhere`, but only in its description or an alias;
/// - `OfKind`: its rank is in one of the ranges of `kinds`;
/// - `Words`: any other match.
///
/// Within a tier the smaller rank comes first, then the smaller FIGI.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Clauses {
    /// The keys of the whole text as a number, such as an ISIN. A document with one of them has it.
    pub by_number: Vec<String>,
    /// The FIGI, when the whole text is one.
    pub figi: Option<Figi>,
    /// The keys of the whole text as a symbol. A document with one of them has this symbol.
    pub by_symbol: Vec<String>,
    /// Whether a document with one of the `by_symbol` keys is an exact match.
    pub symbols_are_exact: bool,
    /// The keys that make a document an exact match; one of them is enough. They are the keys of
    /// the whole text as a ticker or a name. If the last word may be an exchange code, there are
    /// also the keys of the text before it; the document must then have that code.
    pub exact: Vec<(Vec<String>, Option<Known>)>,
    /// The words of each alternative, and the exchange code that the document must then have.
    pub alternatives: Vec<(Vec<WordTerms>, Option<Known>)>,
    /// The terms of the text's words. A document that has one of them only in its description or an
    /// alias is of the tier `Elsewhere`.
    pub elsewhere: Vec<String>,
    /// The ranges of ranks (end excluded) of the kinds that words of the text name. Empty when the
    /// text has only one word.
    pub kinds: Vec<(u64, u64)>,
    /// The ranges of ranks (end excluded) of the best listings of shares and of receipts, when the
    /// text is a word that may name a company (contract 10.9). See [`Clauses::named`].
    pub best_listings: Vec<(u64, u64)>,
    /// The word that may name a company.
    naming_word: Option<Word>,
}

/// A summary of the ranks of the documents that pass the filters and match the text exactly, by
/// ticker, name or symbol: those with a key of [`exact`](Clauses::exact), and, when
/// [`symbols_are_exact`](Clauses::symbols_are_exact), those with a key of
/// [`by_symbol`](Clauses::by_symbol) outside the tier `Identifier`. They need not hold the words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExactRanks {
    /// The smallest rank.
    pub first: u64,
    /// The largest ordinal of an importance.
    pub importance: u16,
    /// The smallest score.
    pub score: u32,
}

/// The ways in which a document may hold a word: it has all terms of one of these lists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WordTerms(pub Vec<Vec<String>>);

impl Clauses {
    /// The conditions of a text.
    pub fn of(keywords: &Keywords, vocabulary: &Vocabulary) -> Self {
        let words = keywords.words();
        let naming_word = naming_word(keywords);
        let mut clauses = Self {
            symbols_are_exact: is_plain(keywords.text()),
            elsewhere: elsewhere_terms(words),
            kinds: kinds(words),
            best_listings: naming_word.map(|_| COMPANIES.map(best_of).to_vec()).unwrap_or_default(),
            naming_word: naming_word.cloned(),
            ..Self::default()
        };
        clauses.add_identifiers(keywords.squeezed());
        clauses.exact.push((with_text(keywords.text(), keywords.squeezed()), None));
        if !words.is_empty() {
            clauses.alternatives.push((words.iter().map(WordTerms::of).collect(), None));
        }
        // The last of several words may be the exchange code (contract 9.10).
        if let Some((before, last)) = keywords.before_last() {
            for known in last.exch_codes(vocabulary) {
                clauses.exact.push((with_text(before, &squeeze(before)), Some(known)));
                let before = words[..words.len() - 1].iter().map(WordTerms::of).collect();
                clauses.alternatives.push((before, Some(known)));
            }
        }
        clauses
    }

    /// The hit of the document that the text names (contract 10.9); `None` when it names none.
    ///
    /// `best` are the first documents by rank and FIGI in each range of
    /// [`best_listings`](Self::best_listings) that pass the filters and match an alternative, up to
    /// [`NAMES_MAX`] per range; `exact` is `None` when no document is an exact match.
    ///
    /// # Panics
    /// When `rows` has no row of a hit.
    pub fn named(
        &self,
        exact: Option<ExactRanks>,
        rows: &Fetched,
        best: impl IntoIterator<Item = Hit>,
    ) -> Option<Hit> {
        let word = self.naming_word.as_ref()?;
        let exact = exact.filter(|exact| Rank::is_sort_key(exact.first))?;
        let first = Rank::of_sort_key(exact.first);
        let exact = Exact { first, ordinal: exact.importance, score: exact.score };
        let mut best: Vec<_> = best
            .into_iter()
            .map(|hit| (rows.stored(hit).rank(), rows.figi(hit), hit))
            .filter(|(rank, ..)| rank.is_best())
            .collect();
        best.sort_unstable();
        let [shares, receipts] = COMPANIES.map(|kind| {
            let of_kind = best.iter().filter(|(rank, ..)| rank.kind() == kind);
            of_kind.take(NAMES_MAX).map(|(rank, _, hit)| (*rank, *hit)).collect()
        });
        let begins = |hit| Ok::<_, Infallible>(begins_name(rows.row(hit), word));
        let Ok(named) = decide(exact, BestListings { shares, receipts }, begins);
        named
    }

    /// Adds the keys by which the whole text is an identifier (contract 9.9).
    fn add_identifiers(&mut self, squeezed: &str) {
        if squeezed.is_empty() {
            return;
        }
        for id_type in IdType::ALL.into_iter().filter(|id_type| is_identifier(*id_type)) {
            if let Some(value) = spelling(id_type, squeezed) {
                let key = key(KeyKind::Id(id_type), value.as_str());
                match is_symbol(id_type) {
                    true => self.by_symbol.push(key),
                    false => self.by_number.push(key),
                }
            }
        }
        self.by_symbol.push(key(KeyKind::Squeezed, squeezed));
        self.figi = Figi::parse(squeezed).ok();
    }
}

impl WordTerms {
    pub(super) fn of(word: &Word) -> Self {
        let runs = word.runs.iter().map(|run| bounded_term(run)).collect();
        match word.runs.len() {
            0 | 1 => Self(vec![runs]),
            _ => Self(vec![vec![bounded_term(&word.squeezed)], runs]),
        }
    }
}

/// The kinds of instruments that a word may mean when it names a company.
const COMPANIES: [Kind; 2] = [Kind::Share, Kind::Receipt];

/// The range of ranks (end excluded) of the best listings of a kind.
fn best_of(kind: Kind) -> (u64, u64) {
    let [first, end] = [Rank::first_of, Rank::first_other_of].map(|rank| rank(kind as usize));
    (first.sort_key(0), end.sort_key(0))
}

/// The keys of the documents that have this ticker or this name.
fn with_text(text: &str, squeezed: &str) -> Vec<String> {
    let mut keys = Vec::new();
    for text in [Some(text), is_plain(text).then_some(squeezed)].into_iter().flatten() {
        if let Ok(ticker) = IdType::Ticker.admit(text) {
            keys.push(key(KeyKind::Id(IdType::Ticker), ticker.as_str()));
        }
    }
    keys.push(key(KeyKind::SqueezedTicker, squeezed));
    for name in [&*common_name(text), squeezed] {
        if !name.is_empty() {
            keys.push(key(KeyKind::Name, name));
        }
    }
    keys.sort_unstable();
    keys.dedup();
    keys
}

fn elsewhere_terms(words: &[Word]) -> Vec<String> {
    let mut terms: Vec<String> = words
        .iter()
        .flat_map(|word| word.runs.iter().chain([&word.squeezed]))
        .map(|term| bounded_term(term))
        .collect();
    terms.sort_unstable();
    terms.dedup();
    terms
}

fn kinds(words: &[Word]) -> Vec<(u64, u64)> {
    if words.len() < 2 {
        return Vec::new();
    }
    let mut kinds: Vec<_> =
        words.iter().filter_map(|word| Kind::named_by(&word.squeezed)).collect();
    kinds.sort_unstable();
    kinds.dedup();
    let first = |kind| Rank::first_of(kind).sort_key(0);
    kinds.into_iter().map(|kind| (first(kind as usize), first(kind as usize + 1))).collect()
}
