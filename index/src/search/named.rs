//! The company that a one-word text most likely names (contract 10.9).
//!
//! Many words are the ticker of one company and begin the name of another. People then want the
//! best listing of the more wanted company first, unless the ticker is nearly as likely.

use super::Hit;
use super::conditions::Conditions;
use super::prepared::Prepared;
use crate::error::Result;
use crate::instrument::kind::Kind;
use crate::meter::Meter;
use crate::part::ranks::rank::Rank;
use crate::part::rows::Row;
use crate::query::{Keywords, Search, Word};
use crate::words::words;

/// The most names that are read for each kind, shares and receipts.
pub const NAMES_MAX: usize = 8;

/// Units of work of reading a name.
const NAME_UNITS: u64 = 50;

/// If importances do not decide, the margin by which a company whose name begins with the word must
/// beat the rows with the word as ticker, name or symbol. It equals the gain from twice as many
/// listings.
const MARGIN: u32 = 40;

/// The margin in score by which a depositary receipt must beat a share of equal importance.
const RECEIPT_COST: u32 = 60;

/// A company whose name begins with the word.
#[derive(Clone, Copy)]
struct Company {
    rank: Rank,
    hit: Hit,
    score: u32,
}

/// A summary of the rows that pass the filters and have the word as their ticker, name or symbol.
/// `first` is the first rank of these rows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Exact {
    pub(crate) first: Rank,
    /// The largest importance ordinal of these rows. `score` is their best score.
    pub(crate) ordinal: u16,
    pub(crate) score: u32,
}

/// The first rows that hold the word, in the order of ranks and with their ranks. Only the best
/// listing of each security is included; at most [`NAMES_MAX`] of each kind.
pub(crate) struct BestListings {
    pub(crate) shares: Vec<(Rank, Hit)>,
    pub(crate) receipts: Vec<(Rank, Hit)>,
}

/// The best listing of the company that the text of a search names, if the text is one word and the
/// company comes before all rows that are not identified by a number. `None` when the order stays
/// as it is. `prepared` are the parts of the catalogue.
pub(crate) fn named(
    prepared: &mut [Prepared<'_>],
    search: &Search,
    meter: &Meter,
) -> Result<Option<Hit>> {
    let Some(word) = search.keywords.as_ref().and_then(naming_word) else { return Ok(None) };
    let mut exact = None;
    for prepared in &*prepared {
        add_exact(&mut exact, prepared, search, meter)?;
    }
    let Some(exact) = exact else { return Ok(None) };
    let mut first = [const { Vec::new() }; 2];
    for (number, prepared) in (0..).zip(&mut *prepared) {
        let of_part = prepared.first_of([Kind::Share, Kind::Receipt], NAMES_MAX, meter)?;
        for (first, rows) in first.iter_mut().zip(of_part) {
            first.extend(rows.into_iter().map(|(rank, doc)| (rank, Hit { part: number, doc })));
        }
    }
    // Keep the same rows as if there were only one part.
    for first in &mut first {
        first.sort_unstable();
        first.truncate(NAMES_MAX);
    }
    let [shares, receipts] = first;
    decide(exact, BestListings { shares, receipts }, |hit| {
        meter.charge(NAME_UNITS)?;
        let part = prepared[hit.part as usize].part;
        Ok(begins_name(part.rows.get(hit.doc), word))
    })
}

/// The word that may name a company: the only word of a text, unless it is written in capital
/// letters, like a ticker.
pub(crate) fn naming_word(keywords: &Keywords) -> Option<&Word> {
    match keywords.words() {
        [word] if !is_in_capitals(keywords.text()) => Some(word),
        _ => None,
    }
}

/// Decides from the found rows which company is named, and returns its best listing. The listings
/// are in the order of ranks. `begins` says whether the name of a listing begins with the word.
pub(crate) fn decide<E>(
    exact: Exact,
    listings: BestListings,
    mut begins: impl FnMut(Hit) -> Result<bool, E>,
) -> Result<Option<Hit>, E> {
    let mut company: Option<Company> = None;
    for (rows, cost) in [(listings.shares, 0), (listings.receipts, RECEIPT_COST)] {
        for (rank, hit) in rows {
            if begins(hit)? {
                let other = Company { rank, hit, score: rank.score() + cost };
                company = Some(company.map_or(other, |known| known.or(other)));
                break;
            }
        }
    }
    let company = company.filter(|company| company.is_before(&exact));
    Ok(company.map(|company| company.hit))
}

impl Company {
    /// The more wanted of two companies.
    fn or(self, other: Self) -> Self {
        let order = |company: &Self| {
            (std::cmp::Reverse(company.rank.ordinal()), company.score, company.rank)
        };
        if order(&other) < order(&self) { other } else { self }
    }

    /// Whether the company comes before the rows with the word as ticker, name or symbol.
    fn is_before(&self, exact: &Exact) -> bool {
        let Exact { first, ordinal, score } = *exact;
        if first.kind().ends() {
            // The scores of these kinds have another meaning.
            return false;
        }
        let own = self.rank.ordinal();
        // The data may lack importances for funds and currencies.
        let is_company = matches!(first.kind(), Kind::Share | Kind::Receipt);
        if ordinal > 0 || is_company && own > 0 {
            return own > first.ordinal() && own >= ordinal;
        }
        self.score + MARGIN <= first.score() && self.score <= score
    }
}

impl Exact {
    fn of(rank: Rank) -> Self {
        Self { first: rank, ordinal: rank.ordinal(), score: rank.score() }
    }

    fn and(self, rank: Rank) -> Self {
        Self {
            first: self.first.min(rank),
            ordinal: self.ordinal.max(rank.ordinal()),
            score: self.score.min(rank.score()),
        }
    }
}

/// Adds the rows of a part that pass the filters to `exact`.
fn add_exact(
    exact: &mut Option<Exact>,
    prepared: &Prepared<'_>,
    search: &Search,
    meter: &Meter,
) -> Result<()> {
    if prepared.exact.is_empty() {
        return Ok(());
    }
    meter.charge(search.filters.units())?;
    let conditions = Conditions::new(prepared.part, &search.filters);
    let row_units = 1 + conditions.row_units();
    meter.require(prepared.exact.len() as u64 * row_units)?;
    for doc in prepared.exact.iter() {
        meter.charge(row_units)?;
        if !conditions.pass(doc) {
            continue;
        }
        let rank = prepared.part.ranks.rank(doc);
        *exact = Some(exact.map_or(Exact::of(rank), |exact| exact.and(rank)));
    }
    Ok(())
}

/// Whether the name of a row begins with a word. People leave out an article at the beginning.
pub(crate) fn begins_name(row: Row<'_>, word: &Word) -> bool {
    let Some(name) = row.name() else { return false };
    let first = words(&name.to_string()).find(|first| !first.is("the"));
    first.is_some_and(|first| {
        first.pieces().next() == Some(&word.squeezed) || first.squeezed() == word.squeezed
    })
}

/// Whether a text is written in capital letters, like a ticker.
pub(crate) fn is_in_capitals(text: &str) -> bool {
    text.chars().any(char::is_uppercase) && !text.chars().any(char::is_lowercase)
}
