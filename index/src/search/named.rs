//! The company that a word alone most likely names (contract 10.9).
//!
//! Many words are the ticker of one company and begin the name of another. The row that a person
//! would want first is then the best listing of the company that is wanted most, unless the ticker
//! is nearly as likely.

use super::Hit;
use super::conditions::Conditions;
use super::prepared::Prepared;
use crate::error::Result;
use crate::instrument::kind::Kind;
use crate::meter::Meter;
use crate::part::Part;
use crate::part::ranks::rank::Rank;
use crate::query::{Search, Word};
use crate::words::words;

/// The most names that are read in a part, of shares and of receipts.
const NAMES_MAX: usize = 8;

/// Units of work of reading a name.
const NAME_UNITS: u64 = 50;

/// The score by which a company whose name begins with the word must be better than the rows of
/// which the word is the ticker, name or symbol. It is the score of twice as many listings.
const MARGIN: u32 = 40;

/// The score that a depositary receipt must be better by to come before a share.
const RECEIPT_COST: u32 = 60;

/// A company whose name begins with the word.
#[derive(Clone, Copy)]
struct Company {
    rank: Rank,
    hit: Hit,
    score: u32,
}

/// The rows of which the word is the ticker, the name or a symbol.
#[derive(Default)]
struct Exact {
    first: Option<Rank>,
    /// The largest ordinal of an importance among them, and the best score.
    ordinal: u16,
    score: Option<u32>,
}

/// The best listing of the company that the text of a search names, if that is one word and the
/// company comes before all rows that are not identified by a number; `None` when the order stays
/// as it is. `prepared` are the parts of the catalogue.
pub(crate) fn named(
    prepared: &mut [Prepared<'_>],
    search: &Search,
    meter: &Meter,
) -> Result<Option<Hit>> {
    let Some(keywords) = &search.keywords else { return Ok(None) };
    let [word] = keywords.words() else { return Ok(None) };
    if is_in_capitals(keywords.text()) {
        return Ok(None);
    }
    let mut exact = Exact::default();
    for prepared in &*prepared {
        exact.add(prepared, search, meter)?;
    }
    let Some(first) = exact.first else { return Ok(None) };
    let mut company: Option<Company> = None;
    for (number, prepared) in (0..).zip(prepared) {
        let [shares, receipts] =
            prepared.first_of([Kind::Share, Kind::Receipt], NAMES_MAX, meter)?;
        for (rows, cost) in [(shares, 0), (receipts, RECEIPT_COST)] {
            for (rank, doc) in rows {
                meter.charge(NAME_UNITS)?;
                if begins_name(prepared.part, doc, word) {
                    let hit = Hit { part: number, doc };
                    let other = Company { rank, hit, score: rank.score() + cost };
                    company = Some(company.map_or(other, |known| known.or(other)));
                    break;
                }
            }
        }
    }
    let company = company.filter(|company| company.is_before(first, &exact));
    Ok(company.map(|company| company.hit))
}

impl Company {
    /// The one of two companies that is wanted more.
    fn or(self, other: Self) -> Self {
        let order = |company: &Self| {
            (std::cmp::Reverse(company.rank.ordinal()), company.score, company.rank, company.hit)
        };
        if order(&other) < order(&self) { other } else { self }
    }

    /// Whether it comes before the rows of which the word is the ticker, the name or a symbol.
    /// `first` is the first of these.
    fn is_before(&self, first: Rank, exact: &Exact) -> bool {
        if first.kind().ends() {
            // The scores of these kinds say something else.
            return false;
        }
        let own = self.rank.ordinal();
        // The data may not say how important funds and currencies are.
        let is_company = matches!(first.kind(), Kind::Share | Kind::Receipt);
        if exact.ordinal > 0 || is_company && own > 0 {
            return own > first.ordinal() && own >= exact.ordinal;
        }
        self.score + MARGIN <= first.score() && exact.score.is_none_or(|score| self.score <= score)
    }
}

impl Exact {
    fn add(&mut self, prepared: &Prepared<'_>, search: &Search, meter: &Meter) -> Result<()> {
        if prepared.exact.is_empty() {
            return Ok(());
        }
        meter.charge(search.filters.units())?;
        let conditions = Conditions::new(prepared.part, &search.filters);
        meter.charge(prepared.exact.len() as u64 * (1 + conditions.row_units()))?;
        for doc in prepared.exact.iter().filter(|doc| conditions.pass(*doc)) {
            let rank = prepared.part.ranks.rank(doc);
            self.first = Some(self.first.map_or(rank, |first| first.min(rank)));
            self.ordinal = self.ordinal.max(rank.ordinal());
            self.score = Some(self.score.map_or(rank.score(), |score| score.min(rank.score())));
        }
        Ok(())
    }
}

/// Whether the name of a row begins with a word. People leave out an article at the beginning.
fn begins_name(part: &Part, doc: u32, word: &Word) -> bool {
    let Some(name) = part.rows.get(doc).name() else { return false };
    let first = words(&name.to_string()).find(|first| !first.is("the"));
    first.is_some_and(|first| {
        first.pieces().next() == Some(&word.squeezed) || first.squeezed() == word.squeezed
    })
}

/// Whether a text is written in capital letters, as tickers are.
fn is_in_capitals(text: &str) -> bool {
    text.chars().any(char::is_uppercase) && !text.chars().any(char::is_lowercase)
}
