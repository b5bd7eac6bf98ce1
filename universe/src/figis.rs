//! The FIGIs of the synthetic universe. Arithmetic makes them unique, and different from issued
//! FIGIs.
//!
//! Each issue owns a block of consecutive numbers, and blocks do not overlap. So no two rows share
//! a FIGI, and nothing has to be stored. The year of registration is the most significant part, so
//! that, as in reality, later issues have higher FIGIs. A dump lists issues in another order.

use figdex_index::{FIGI_CHARS, check_digit};

use super::identifiers::SECURITIES_MAX;

/// The provider prefix of synthetic FIGIs. Issued ones begin with `BBG` (or `KKG`, for crypto
/// assets). So people and programs can recognise a row that leaks from a test into a database. The
/// prefix has the form of a FIGI: two consonants and G.
const PREFIX: [u8; 3] = *b"FDG";

/// The characters of the eight places after the prefix, ascending.
const PLACES: &[u8; 31] = b"0123456789BCDFGHJKLMNPQRSTVWXYZ";

/// The first and the last year in which issues are registered.
pub(crate) const YEARS: std::ops::RangeInclusive<u64> = 2010..=2025;

/// A range of each year's numbers, for one kind of issue.
#[derive(Clone, Copy)]
pub(crate) struct Region {
    /// The start of the range within the year.
    start: u64,
    /// The most issues of this kind.
    pub(crate) issues_max: u64,
    /// The most FIGIs of one issue.
    block: u64,
}

pub(crate) const OPTIONS: Region = Region { start: 0, issues_max: 1 << 26, block: 1 << 7 };
pub(crate) const LARGE_EQUITIES: Region = OPTIONS.followed_by(1 << 20, 1 << 9);
pub(crate) const EQUITIES: Region = LARGE_EQUITIES.followed_by(SECURITIES_MAX, 1 << 5);
pub(crate) const BONDS: Region = EQUITIES.followed_by(SECURITIES_MAX, 1);
pub(crate) const FUNDS: Region = BONDS.followed_by(SECURITIES_MAX, 1 << 4);
pub(crate) const WARRANTS: Region = FUNDS.followed_by(SECURITIES_MAX, 1 << 3);
pub(crate) const LOANS: Region = WARRANTS.followed_by(1 << 26, 1);
pub(crate) const MUNIS: Region = LOANS.followed_by(SECURITIES_MAX, 1);
pub(crate) const MORTGAGES: Region = MUNIS.followed_by(SECURITIES_MAX, 1);
pub(crate) const FUTURES: Region = MORTGAGES.followed_by(1 << 24, 1 << 6);
pub(crate) const INDICES: Region = FUTURES.followed_by(1 << 26, 1);
pub(crate) const GOVTS: Region = INDICES.followed_by(SECURITIES_MAX, 1);
pub(crate) const MONEY: Region = GOVTS.followed_by(1 << 26, 1);
pub(crate) const PREFERREDS: Region = MONEY.followed_by(SECURITIES_MAX, 1);
pub(crate) const CURRENCIES: Region = PREFERREDS.followed_by(1 << 26, 1);

const YEAR_FIGIS: u64 = CURRENCIES.followed_by(0, 0).start;

const _: () = assert!((*YEARS.end() - *YEARS.start() + 1) * YEAR_FIGIS <= 31_u64.pow(8));

impl Region {
    const fn followed_by(self, issues_max: u64, block: u64) -> Self {
        Self { start: self.start + self.issues_max * self.block, issues_max, block }
    }

    /// The FIGIs of the issue `ordinal` of this kind, registered in `year`. A year outside
    /// [`YEARS`] counts as the nearest of them.
    pub(crate) fn issue(self, year: u64, ordinal: u64) -> Figis {
        assert!(ordinal < self.issues_max, "more issues than FIGIs");
        let year = year.clamp(*YEARS.start(), *YEARS.end()) - YEARS.start();
        let next = year * YEAR_FIGIS + self.start + ordinal * self.block;
        Figis { next, end: next + self.block }
    }
}

/// The FIGIs of one issue, in ascending order.
pub(crate) struct Figis {
    next: u64,
    end: u64,
}

impl Figis {
    /// A number below 10^12 for identifiers that only have to be unique. It differs after each FIGI
    /// that is taken, across all issues.
    pub(crate) const fn running_number(&self) -> u64 {
        self.next
    }

    /// The next FIGI.
    pub(crate) fn take(&mut self) -> String {
        assert!(self.next < self.end, "more FIGIs than the issue owns");
        let mut figi = [b'0'; FIGI_CHARS - 1];
        figi[..3].copy_from_slice(&PREFIX);
        let mut rest = self.next;
        for place in figi[3..].iter_mut().rev() {
            *place = PLACES[(rest % 31) as usize];
            rest /= 31;
        }
        let digit = check_digit::double_add_double(&figi)
            .expect("generated characters are in the alphabet");
        self.next += 1;
        format!("{}{digit}", str::from_utf8(&figi).expect("the alphabet is ASCII"))
    }
}

#[cfg(test)]
mod tests {
    use figdex_index::Figi;

    use super::*;

    fn parse(figi: String) -> Figi {
        Figi::parse(&figi).unwrap()
    }

    #[test]
    fn figis_ascend_with_the_year_and_within_an_issue() {
        let mut older = BONDS.issue(2012, BONDS.issues_max - 1);
        let mut newer = OPTIONS.issue(2013, 0);
        let last = parse(older.take());
        let figis = [parse(newer.take()), parse(newer.take()), parse(newer.take())];
        assert!(last < figis[0] && figis.is_sorted());
    }

    #[test]
    fn blocks_do_not_overlap() {
        for region in [OPTIONS, LARGE_EQUITIES, EQUITIES, BONDS, FUTURES, CURRENCIES] {
            assert_eq!(region.issue(2010, 0).end, region.issue(2010, 1).next);
        }
        let last = CURRENCIES.issue(2010, CURRENCIES.issues_max - 1);
        assert_eq!(last.end, OPTIONS.issue(2011, 0).next);
    }

    #[test]
    #[should_panic(expected = "more FIGIs than the issue owns")]
    fn an_issue_cannot_leave_its_block() {
        let mut bond = BONDS.issue(2020, 5);
        bond.take();
        bond.take();
    }
}
