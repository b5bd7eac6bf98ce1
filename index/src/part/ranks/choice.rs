//! The best listing of a security: the row that stands for it in suggestions (contract 16.15).
//!
//! Each row has a **choice**, a number that sorts the listings of its security. The smallest is the
//! best listing. From the highest bit on, it has:
//! - 1 bit for a platform where trades are only reported;
//! - 1 bit, 0 for a composite in the country of the ISIN, if that country names the home market;
//! - 8 bits for the rank of such a composite's exchange in its country, all 1 for other rows;
//! - 1 bit, 0 for a composite;
//! - 16 bits for the ordinal of the importance, subtracted from 65,535;
//! - 4 bits for the kind: a common share comes before a receipt;
//! - 1 bit for the ticker of a foreign share that is not listed where it is traded;
//! - 5 bits for the place of the market among those where companies of the ISIN's country are
//!   usually listed;
//! - 3 bits for the class of the listing;
//! - 8 bits for the rank of the exchange in its country;
//! - 5 bits for the size of the market, if an ISIN is known.
//!
//! Rows of equal choice are in FIGI order. A part has a file `ranks.best` with four bits for each
//! DocId, from the lowest bits of each byte on. The first is 1 for the best listing of a security,
//! and for a row that can have no other listing. The second is 1 for the home listings of a
//! security: its composites in the country of the ISIN, of the first of their exchanges. There may
//! be none or several. The last two are the [`Distance`] of the row's market from home.

use std::num::{NonZeroU16, NonZeroU64};
use std::path::Path;

use super::rank::{Facts, REPORTING};
use crate::error::{Error, Result};
use crate::instrument::markets::{Countries, home, usual_place};
use crate::mapped::Mapped;

/// The name of the file.
pub(super) const BEST: &str = "ranks.best";

const ORDINAL_SHIFT: u32 = 26;
const COMPOSITE_SHIFT: u32 = ORDINAL_SHIFT + u16::BITS;
const HOME_RANK_SHIFT: u32 = COMPOSITE_SHIFT + 1;
const HOME_SHIFT: u32 = HOME_RANK_SHIFT + u8::BITS;
const REPORTING_SHIFT: u32 = HOME_SHIFT + 1;

/// The bits of a row in the file, and the rows of a byte.
const BEST_BIT: u8 = 1;
const HOME_BIT: u8 = 2;
const DISTANCE_SHIFT: u32 = 2;
const ROW_BITS: usize = 4;
const BYTE_ROWS: usize = 2;

/// The place of a market where companies of a country are not usually listed.
const USUAL_MAX: usize = 31;

/// The place of a row among the listings of its security, the smallest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Choice(u64);

/// The rule that chose the best listing of a security.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BestBy {
    /// The security has no other row.
    Only,
    /// It is the composite in the country of the ISIN.
    Home,
    /// It is the composite with the largest importance.
    Importance,
    /// A composite comes before a venue and a common share before a receipt; then the market, the
    /// exchange and the FIGI decide.
    Order,
}

impl BestBy {
    /// The rule as words for people, after `the best listing:`.
    pub fn text(self) -> &'static str {
        match self {
            Self::Only => "the only row of its security",
            Self::Home => "the composite in the country of the ISIN",
            Self::Importance => "the composite with the largest importance",
            Self::Order => "a composite before a venue, a share before a receipt, then the market",
        }
    }
}

/// The facts about a row that its fields do not show.
#[derive(Clone, Copy, Debug)]
pub(super) struct Among {
    /// Whether the row is its own composite, or its composite has no row.
    pub(super) has_own_market: bool,
    /// The ISIN of the row or, if it has none, that of another row of the security.
    pub(super) isin: Option<NonZeroU64>,
    /// The ordinal of the importance.
    pub(super) ordinal: u16,
    /// The class of the listing ([`Facts::listing_class`]).
    pub(super) class: u32,
    /// The number of times that the largest market must be halved to become as small as the row's.
    pub(super) halvings: u32,
}

impl Choice {
    pub(super) fn of(facts: &Facts, among: Among, countries: &Countries) -> Self {
        let code = facts.exch_code.map(NonZeroU16::get).map(u16::to_le_bytes);
        let code = code.as_ref().and_then(|code| std::str::from_utf8(code).ok());
        let exchange = code.and_then(|code| countries.exchange(code));
        let country = among.isin.map(country);
        let country = country.as_ref().and_then(|country| std::str::from_utf8(country).ok());
        // A row without a composite FIGI is a composite if its code stands for a whole market.
        let is_composite = among.has_own_market
            || facts.composite.is_none() && exchange.is_some_and(|exchange| exchange.rank == 0);
        let home = country.and_then(home);
        let is_home = is_composite && exchange.is_some_and(|it| home == Some(it.country));
        let usual = country.zip(code).and_then(|(country, code)| usual_place(country, code));
        let place = match among.class {
            3 => 4,
            4 => 3,
            class => class,
        };
        let rank = exchange.map_or(u8::MAX, |exchange| exchange.rank);
        // Without an ISIN nothing says that a security is not at home on a small market.
        let halvings = if country.is_some() { among.halvings } else { 0 };
        let is_reporting = among.class == REPORTING;
        Self(
            u64::from(is_reporting) << REPORTING_SHIFT
                | u64::from(!is_home) << HOME_SHIFT
                | u64::from(if is_home { rank } else { u8::MAX }) << HOME_RANK_SHIFT
                | u64::from(!is_composite) << COMPOSITE_SHIFT
                | u64::from(u16::MAX - among.ordinal) << ORDINAL_SHIFT
                | (facts.kind as u64) << 22
                | u64::from(facts.is_foreign_line) << 21
                | (usual.map_or(USUAL_MAX, |place| place.min(USUAL_MAX)) as u64) << 16
                | u64::from(place) << 13
                | u64::from(rank) << 5
                | u64::from(halvings.min(31)),
        )
    }

    /// Whether the row is a home listing, if `best` is the choice of the best listing.
    pub(super) fn is_home(self, best: Self) -> bool {
        self.0 >> HOME_SHIFT & 1 == 0 && self.0 >> HOME_RANK_SHIFT == best.0 >> HOME_RANK_SHIFT
    }

    /// The rule that chose this listing among several.
    pub(super) fn by(self) -> BestBy {
        let is_unset = |shift: u32| self.0 >> shift & 1 == 0;
        let has_importance = self.0 >> ORDINAL_SHIFT & u64::from(u16::MAX) < u64::from(u16::MAX);
        match () {
            () if !is_unset(REPORTING_SHIFT) => BestBy::Order,
            () if is_unset(HOME_SHIFT) => BestBy::Home,
            () if is_unset(COMPOSITE_SHIFT) && has_importance => BestBy::Importance,
            () => BestBy::Order,
        }
    }
}

/// The distance of a row's market from the home market of its security, the nearest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Distance {
    /// It is in the country of the ISIN.
    Home,
    /// Companies of the ISIN's country are usually listed there.
    Usual,
    /// It is in another country, or one of the two countries is unknown.
    Elsewhere,
    /// It only reports trades, or trades shares in the United States that are listed elsewhere.
    Unlisted,
}

impl Distance {
    const ALL: [Self; 4] = [Self::Home, Self::Usual, Self::Elsewhere, Self::Unlisted];

    /// `isin` is the ISIN of the row or, if it has none, that of another row of the security.
    pub(super) fn of(facts: &Facts, isin: Option<NonZeroU64>, countries: &Countries) -> Self {
        if facts.is_foreign_line || facts.is_reporting() {
            return Self::Unlisted;
        }
        let code = facts.exch_code.map(NonZeroU16::get).map(u16::to_le_bytes);
        let code = code.as_ref().and_then(|code| std::str::from_utf8(code).ok());
        let exchange = code.and_then(|code| countries.exchange(code));
        let country = isin.map(country);
        let country = country.as_ref().and_then(|country| std::str::from_utf8(country).ok());
        let (Some(code), Some(exchange), Some(country)) = (code, exchange, country) else {
            return Self::Elsewhere;
        };
        match home(country) {
            Some(home) if home == exchange.country => Self::Home,
            None if usual_place(country, code).is_some() => Self::Usual,
            _ => Self::Elsewhere,
        }
    }
}

/// The first two characters of an ISIN that [`Facts`] have as a number.
fn country(isin: NonZeroU64) -> [u8; 2] {
    let digit = |number: u64| {
        let digit = char::from_digit((number % 36) as u32, 36).unwrap_or('0');
        digit.to_ascii_uppercase() as u8
    };
    [digit(isin.get() / 36_u64.pow(11)), digit(isin.get() / 36_u64.pow(10))]
}

/// The standing of a row among the listings of its security.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Standing {
    /// Whether it is the best listing, or can have no other listing.
    pub(crate) is_best: bool,
    /// Whether it is a home listing: the composite in the country of the ISIN.
    pub(crate) is_home: bool,
    pub(crate) distance: Distance,
}

impl Standing {
    /// The standing of a row that can have no other listing.
    pub(crate) const ONLY: Self =
        Self { is_best: true, is_home: false, distance: Distance::Elsewhere };

    /// As the lowest bits of a byte.
    pub(crate) fn to_bits(self) -> u8 {
        let distance = (self.distance as u8) << DISTANCE_SHIFT;
        distance | (u8::from(self.is_best) * BEST_BIT) | (u8::from(self.is_home) * HOME_BIT)
    }

    /// From the lowest bits of a byte.
    pub(crate) fn from_bits(bits: u8) -> Self {
        Self {
            is_best: bits & BEST_BIT != 0,
            is_home: bits & HOME_BIT != 0,
            distance: Distance::ALL[usize::from(bits >> DISTANCE_SHIFT & 3)],
        }
    }
}

/// The standings of the rows of one part.
pub(super) struct Standings(Mapped);

impl Standings {
    pub(super) fn open(part: &Path, rows: usize) -> Result<Self> {
        let bits = Mapped::open(&part.join(BEST))?;
        if bits.len() != rows.div_ceil(BYTE_ROWS) {
            let what = "the best listings and the rows have different numbers of rows";
            return Err(Error::damaged(part, what));
        }
        Ok(Self(bits))
    }

    /// The standing of a row.
    pub(super) fn of(&self, doc: u32) -> Standing {
        let place = doc as usize;
        Standing::from_bits(self.0[place / BYTE_ROWS] >> (ROW_BITS * (place % BYTE_ROWS)))
    }

    /// Whether the bits after those of the last row are 0.
    pub(super) fn end_after(&self, rows: u32) -> bool {
        let in_last = rows as usize % BYTE_ROWS;
        in_last == 0 || self.0.last().is_some_and(|byte| byte >> (ROW_BITS * in_last) == 0)
    }
}

/// The bytes of the file for rows with these standings.
pub(super) fn bytes(standings: &[Standing]) -> Vec<u8> {
    let of_byte = |rows: &[Standing]| {
        let bits = rows.iter().map(|row| row.to_bits());
        (0..).zip(bits).fold(0, |byte, (place, bits)| byte | bits << (ROW_BITS * place))
    };
    standings.chunks(BYTE_ROWS).map(of_byte).collect()
}
