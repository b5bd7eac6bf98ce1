//! The kinds of instruments, and the proportion of each in the rows of a dump.

mod bond;
mod currency;
mod equity;
mod fund;
mod future;
mod govt;
mod indices;
mod loan;
mod money;
mod mortgage;
mod muni;
mod option;
mod preferred;
mod warrant;

use super::dump::{Dump, Issue};
use super::figis::Region;
use super::row::Row;
use super::{Mix, figis};

/// A kind of instrument.
pub(super) struct Kind {
    /// The name, for messages.
    pub(super) name: &'static str,
    /// The number of rows of this kind in a thousand rows of [`Mix::Firm`].
    firm: u64,
    /// The number of rows of this kind in a thousand rows of [`Mix::Full`].
    full: u64,
    /// The FIGIs of its issues.
    pub(super) region: Region,
    /// Writes the rows of one issue.
    pub(super) write: fn(&Issue, &mut Row, &mut Dump),
}

const fn kind(
    name: &'static str,
    firm: u64,
    full: u64,
    region: Region,
    write: fn(&Issue, &mut Row, &mut Dump),
) -> Kind {
    Kind { name, firm, full, region, write }
}

/// All kinds, with their rows in a thousand of [`Mix::Firm`] and of [`Mix::Full`].
pub(super) const KINDS: [Kind; 14] = [
    kind("options", 550, 850, figis::OPTIONS, option::write),
    kind("shares", 110, 15, figis::EQUITIES, equity::write),
    kind("funds", 40, 5, figis::FUNDS, fund::write),
    kind("warrants", 80, 30, figis::WARRANTS, warrant::write),
    kind("bonds", 62, 17, figis::BONDS, bond::write),
    kind("loans", 8, 3, figis::LOANS, loan::write),
    kind("munis", 60, 10, figis::MUNIS, muni::write),
    kind("mortgages", 30, 10, figis::MORTGAGES, mortgage::write),
    kind("futures", 40, 50, figis::FUTURES, future::write),
    kind("indices", 10, 5, figis::INDICES, indices::write),
    kind("governments", 4, 2, figis::GOVTS, govt::write),
    kind("money market", 2, 1, figis::MONEY, money::write),
    kind("preferreds", 2, 1, figis::PREFERREDS, preferred::write),
    kind("currencies", 2, 1, figis::CURRENCIES, currency::write),
];

impl Kind {
    /// Number of rows in a thousand.
    pub(super) const fn per_mille(&self, mix: Mix) -> u64 {
        match mix {
            Mix::Firm => self.firm,
            Mix::Full => self.full,
        }
    }
}

/// The proportion that a kind should have, and its issues and rows so far.
pub(super) struct Quota {
    per_mille: u64,
    pub(super) issues: u64,
    pub(super) rows: u64,
}

impl Quota {
    pub(super) const fn new(kind: &Kind, mix: Mix) -> Self {
        Self { per_mille: kind.per_mille(mix), issues: 0, rows: 0 }
    }

    /// The number of rows, in thousandths, by which the kind is behind its proportion after `made`
    /// rows of all kinds. The kind that is furthest behind is next.
    pub(super) const fn lag(&self, made: u64) -> i64 {
        (self.per_mille * (made + 1)) as i64 - (self.rows * 1000) as i64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_proportions_add_up_to_a_thousand() {
        for mix in [Mix::Firm, Mix::Full] {
            assert_eq!(KINDS.iter().map(|kind| kind.per_mille(mix)).sum::<u64>(), 1000);
        }
    }
}
