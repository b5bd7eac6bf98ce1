//! The rank of a row: a number that says which of two equally good matches people want first
//! (contract 10.3 to 10.6, 10.8). A smaller rank comes first.
//!
//! A rank does not depend on the question, so rows can be stored in the order of ranks. It follows
//! from the row's own fields, the other listings of its security, the sizes of the markets and the
//! importances of the generation. From the highest bit on, a [`Rank`] has:
//! - 4 bits for the [`Kind`];
//! - 1 bit, 0 for the best listing of a security. For kinds that end on a day, it is 0 for the
//!   listing classes 0 to 2. This bit comes before the importance. Otherwise the listings of the
//!   most important security, which all have the same importance, would fill the first page;
//! - 16 bits for the ordinal of the importance ([`super::importances`]), subtracted from 65,535;
//! - 3 bits for the listing, 0 for the best ones;
//! - 9 bits for a score. It is a sum of costs: for each word of the name, for few listings of the
//!   security, for a listing that is not known to be on the home market, and for a small market. A
//!   short name costs less because the same query words cover more of it. For kinds that end on a
//!   day, only that day decides the score.
//!
//! The ranks of the next generation may differ a little. A cursor then continues from the same rank
//! and the same importance.

use std::num::{NonZeroU16, NonZeroU64};

use crate::instrument::Instrument;
use crate::instrument::date::Date;
use crate::instrument::figi::Figi;
use crate::instrument::id_type::{IdType, IdValue};
use crate::instrument::importance::Importance;
use crate::instrument::kind::Kind;
use crate::instrument::markets::{Market, exchange, market};
use crate::instrument::vocabulary::Property;
use crate::mapped::u64_at;
use crate::words::words;

/// The number of bits of a rank.
pub(crate) const RANK_BITS: u32 = CLASS_SHIFT + CLASS_BITS;

/// The number of bits for the kind and the best listing.
pub(crate) const CLASS_BITS: u32 = 5;

/// The number of bits below the kind and the best listing.
const CLASS_SHIFT: u32 = IMPORTANCE_SHIFT + u16::BITS;

/// The number of bits below the importance: the listing and the score.
const IMPORTANCE_SHIFT: u32 = 12;
const REST_MAX: u16 = (1 << IMPORTANCE_SHIFT) - 1;

/// The number of bits below the listing.
const SCORE_BITS: u32 = 9;
const SCORE_MAX: u32 = (1 << SCORE_BITS) - 1;

/// The rank of a row. The order of ranks is the order of rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Rank(u64);

impl Rank {
    /// The rank of a row by its signals ([`Facts::signals`]) and the ordinal of its importance.
    pub(crate) fn new(signals: u16, ordinal: u16) -> Self {
        let (kind, rest) = (signals >> IMPORTANCE_SHIFT, signals & REST_MAX);
        let is_other = u32::from(rest) >> SCORE_BITS > 0;
        Self::of(kind << 1 | u16::from(is_other), ordinal, rest)
    }

    /// The rank with that class (kind and best listing), ordinal, and rest (listing and score).
    /// Excess high bits of the class and the rest are ignored.
    pub(crate) fn of(class: u16, ordinal: u16, rest: u16) -> Self {
        let class = u64::from(class) & ((1 << CLASS_BITS) - 1);
        let importance = u64::from(u16::MAX - ordinal);
        Self(class << CLASS_SHIFT | importance << IMPORTANCE_SHIFT | u64::from(rest & REST_MAX))
    }

    /// The smallest rank of the kind with this number in [`Kind::ALL`]. For the number after the
    /// last kind, a rank that is larger than all others.
    pub(crate) fn first_of(kind: usize) -> Self {
        Self((kind as u64) << (CLASS_SHIFT + 1))
    }

    /// The smallest rank of the listings of a kind that are not the best listing of their security.
    pub(crate) fn first_other_of(kind: usize) -> Self {
        Self((2 * kind as u64 + 1) << CLASS_SHIFT)
    }

    /// The rank in the sort key of a row (see [`Rank::sort_key`]).
    pub(crate) fn of_sort_key(sort_key: u64) -> Self {
        Self(sort_key & ((1 << RANK_BITS) - 1))
    }

    /// Whether a number is a sort key of a rank without a tier.
    pub(crate) fn is_sort_key(number: u64) -> bool {
        number < Self::first_of(Kind::ALL.len()).0
    }

    /// A number that sorts rows, first by `tier`, then by rank.
    pub(crate) fn sort_key(self, tier: u64) -> u64 {
        tier << RANK_BITS | self.0
    }

    /// The kind and whether it is not the best listing, as [`Rank::of`] takes them.
    pub(crate) fn class(self) -> u16 {
        (self.0 >> CLASS_SHIFT) as u16
    }

    pub(crate) fn kind(self) -> Kind {
        Kind::ALL[usize::from(self.class() >> 1)]
    }

    /// Whether no listing of the security is better.
    pub(crate) fn is_best(self) -> bool {
        self.class() & 1 == 0
    }

    /// The ordinal of the importance, 0 for none.
    pub(crate) fn ordinal(self) -> u16 {
        u16::MAX - (self.0 >> IMPORTANCE_SHIFT) as u16
    }

    /// The listing and the score.
    pub(crate) fn rest(self) -> u16 {
        self.0 as u16 & REST_MAX
    }

    /// The signals that the rank was made from.
    pub(crate) fn signals(self) -> u16 {
        self.class() >> 1 << IMPORTANCE_SHIFT | self.rest()
    }

    /// The distance from the best signals of the kind, from 0 to 686. It is weighed against other
    /// reasons for a suggestion.
    pub(crate) fn cost(self) -> i32 {
        i32::from(self.rest() >> SCORE_BITS) * 25 + self.score() as i32
    }

    /// The score, from 0 (the best) to 511. Scores of kinds that end on a day cannot be compared
    /// with those of other kinds.
    pub(crate) fn score(self) -> u32 {
        u32::from(self.rest()) & SCORE_MAX
    }
}

/// The facts about a row that decide its rank, taken from its own fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Facts {
    pub(crate) share_class: Option<Figi>,
    pub(crate) composite: Option<Figi>,
    /// The ISIN as a number, unless the instrument ends on a day.
    pub(crate) isin: Option<NonZeroU64>,
    pub(crate) kind: Kind,
    market: Market,
    /// The exchange code as a number, if it has two characters; other codes are not counted.
    pub(crate) exch_code: Option<NonZeroU16>,
    /// For an instrument that ends on a day, that day in steps of two months, 0 when it is unknown.
    /// For others, the number of words in the name or, without a name, in the ticker.
    measure: u16,
    /// Whether the ticker is one of those that the United States give foreign shares that are not
    /// listed there: five letters, the last of which is F or Y.
    pub(crate) is_foreign_line: bool,
    pub(crate) importance: Option<Importance>,
}

/// The bytes of [`Facts`] in a file.
pub(crate) const FACTS_BYTES: usize = 3 * 8 + 4 + 2 + 8 + 1;

/// The class of a listing where trades are only reported. It is never the best listing.
pub(crate) const REPORTING: u32 = 7;

/// The bits that stand for no importance.
const NO_IMPORTANCE: u64 = u64::MAX;

impl Facts {
    pub(crate) fn of(instrument: &Instrument) -> Self {
        let kind = Kind::of(instrument);
        let isin = instrument.identifiers_of(IdType::Isin).next();
        let exch_code = instrument.property(Property::ExchCode);
        let currency = instrument.property(Property::Currency);
        let composite = instrument.composite_figi;
        let measure = if kind.ends() {
            let [day, ..] = instrument.filter_dates();
            day.map_or(0, two_months)
        } else {
            let name = instrument.name.as_deref().or(instrument.ticker.as_deref());
            name.map_or(u16::MAX, |name| words(name).count() as u16)
        };
        Self {
            share_class: instrument.share_class_figi,
            composite,
            isin: isin.filter(|_| !kind.ends()).and_then(number),
            kind,
            market: market(exch_code, currency, isin.map(IdValue::as_str)),
            exch_code: exch_code.and_then(code_number),
            measure,
            is_foreign_line: exch_code.and_then(exchange).is_some_and(|it| it.country == "US")
                && instrument.ticker.as_deref().is_some_and(is_foreign_line),
            importance: instrument.importance,
        }
    }

    /// The facts as bytes, for a temporary file of the build.
    pub(crate) fn to_bytes(self) -> [u8; FACTS_BYTES] {
        let mut bytes = [0; FACTS_BYTES];
        let figi = |figi: Option<Figi>| figi.map_or(0, Figi::to_u64);
        let isin = self.isin.map_or(0, NonZeroU64::get);
        let numbers = [figi(self.share_class), figi(self.composite), isin];
        for (slot, number) in bytes.chunks_exact_mut(8).zip(numbers) {
            slot.copy_from_slice(&number.to_le_bytes());
        }
        let exch_code = self.exch_code.map_or(0, NonZeroU16::get);
        bytes[24..26].copy_from_slice(&[self.kind as u8, self.market as u8]);
        bytes[26..28].copy_from_slice(&exch_code.to_le_bytes());
        bytes[28..30].copy_from_slice(&self.measure.to_le_bytes());
        let importance = self.importance.map_or(NO_IMPORTANCE, Importance::to_bits);
        bytes[30..38].copy_from_slice(&importance.to_le_bytes());
        bytes[38] = self.is_foreign_line.into();
        bytes
    }

    /// The facts from [`Facts::to_bytes`].
    pub(crate) fn from_bytes(bytes: &[u8; FACTS_BYTES]) -> Self {
        let number = |at: usize| NonZeroU64::new(u64_at(bytes, at));
        let figi = |at: usize| number(at).map(|figi| Figi::from_u64(figi.get()));
        let markets = [Market::Home, Market::Unknown, Market::Foreign, Market::Reporting];
        Self {
            share_class: figi(0),
            composite: figi(8),
            isin: number(16),
            kind: Kind::ALL[usize::from(bytes[24])],
            market: markets[usize::from(bytes[25])],
            exch_code: NonZeroU16::new(u16::from_le_bytes([bytes[26], bytes[27]])),
            measure: u16::from_le_bytes([bytes[28], bytes[29]]),
            is_foreign_line: bytes[38] != 0,
            importance: Importance::from_bits(u64_at(bytes, 30)),
        }
    }

    /// Whether the market only reports trades.
    pub(super) fn is_reporting(&self) -> bool {
        self.market == Market::Reporting
    }

    /// Whether the row may be one of several listings of a security.
    pub(crate) fn has_siblings(&self) -> bool {
        !self.kind.ends() && (self.share_class.or(self.composite).is_some() || self.isin.is_some())
    }

    /// Whether the rank of another row may depend on this row.
    pub(super) fn decide_of_others(&self) -> bool {
        !self.kind.ends() || self.importance.is_some()
    }

    /// The class of the listing, from 0, the best, to [`REPORTING`]. `stands_for_market` is true
    /// when the row is its own composite or has none. If its kind does not end on a day, it is also
    /// true when the composite has no row, as on a market with a single venue.
    pub(crate) fn listing_class(&self, stands_for_market: bool) -> u32 {
        match (self.market, stands_for_market) {
            (Market::Home, true) => 0,
            (Market::Unknown, true) if self.exch_code.is_some() => 1,
            (Market::Unknown, true) => 2,
            (Market::Home, false) => 3,
            (Market::Foreign, true) => 4,
            (Market::Unknown, false) => 5,
            (Market::Foreign, false) => 6,
            (Market::Reporting, _) => REPORTING,
        }
    }

    /// The signals of the row without its importance: its kind, its listing and its score, in the
    /// order of the bits of its rank. `comparison` compares the row with the others.
    pub(crate) fn signals(&self, comparison: Comparison) -> u16 {
        let Comparison { listing_class, is_best, listings, halvings } = comparison;
        let (place, score) = if self.kind.ends() {
            // Later days come first, so that expired instruments come last on any day.
            (u32::from(listing_class > 2), SCORE_MAX - u32::from(self.measure).min(SCORE_MAX))
        } else {
            let place = match listing_class {
                0..REPORTING if is_best => 0,
                0..=2 => 2,
                4 => 3,
                3 => 4,
                worse => worse,
            };
            let words = WORD_COST * u32::from(self.measure).min(WORDS_MAX);
            let rarity = DOUBLING_GAIN * DOUBLINGS_MAX - popularity(listings);
            let abroad = LISTING_COST * u32::from(!matches!(listing_class, 0 | 3));
            let market = HALVING_COST * halvings.min(HALVINGS_MAX);
            (place, words + rarity + abroad + market)
        };
        debug_assert!(score <= SCORE_MAX && place < 8);
        (self.kind as u16) << IMPORTANCE_SHIFT | (place << SCORE_BITS | score) as u16
    }
}

/// See [`Facts::is_foreign_line`].
fn is_foreign_line(ticker: &str) -> bool {
    ticker.len() == 5
        && ticker.bytes().all(|byte| byte.is_ascii_uppercase())
        && ticker.ends_with(['F', 'Y'])
}

/// An ISIN as a number: its twelve characters in base 36.
fn number(isin: &IdValue<'_>) -> Option<NonZeroU64> {
    let mut digits = isin.as_str().chars().map(|c| c.to_digit(36).map(u64::from));
    NonZeroU64::new(digits.try_fold(0, |number, digit| Some(number * 36 + digit?))?)
}

/// The comparison of a row with the other listings of its security.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Comparison {
    /// The class of [`Facts::listing_class`].
    pub(crate) listing_class: u32,
    /// Whether no listing of the security is better.
    pub(crate) is_best: bool,
    /// The number of listings of the security.
    pub(crate) listings: u32,
    /// The size of the row's market: the number of times that the largest market must be halved to
    /// become as small.
    pub(crate) halvings: u32,
}

/// An exchange code as a number; `None` unless it has two bytes.
pub(crate) fn code_number(code: &str) -> Option<NonZeroU16> {
    let bytes: [u8; 2] = code.as_bytes().try_into().ok()?;
    NonZeroU16::new(u16::from_le_bytes(bytes))
}

/// The most words of a name that are counted.
const WORDS_MAX: u32 = 24;

/// The cost of a word in the name. Twice as many listings make up for ten more words in the name:
/// in all the data, the number of listings shows best which company is large.
const WORD_COST: u32 = 4;
const DOUBLING_GAIN: u32 = 40;
const DOUBLINGS_MAX: u32 = 8;

/// The cost of a listing that is not known to be on the home market.
const LISTING_COST: u32 = 12;

/// The cost of each halving of the market's size.
const HALVING_COST: u32 = 4;
const HALVINGS_MAX: u32 = 6;

/// The gain from a number of listings: [`DOUBLING_GAIN`] for each doubling, and a proportional
/// share of it in between.
fn popularity(listings: u32) -> u32 {
    let listings = listings.clamp(1, 1 << DOUBLINGS_MAX);
    let doublings = listings.ilog2();
    let beyond = listings - (1 << doublings);
    DOUBLING_GAIN * doublings + DOUBLING_GAIN * beyond / (1 << doublings)
}

/// The number of steps of 61 days since 1980 began, limited to the range of a score.
fn two_months(day: Date) -> u16 {
    (day.to_days() - 3652).clamp(0, i64::from(SCORE_MAX) * 61).div_euclid(61) as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figi(text: &str) -> Figi {
        Figi::parse(text).unwrap()
    }

    fn row(name: &str, properties: &[(Property, &str)]) -> Instrument {
        let mut instrument =
            Instrument { name: Some(name.to_owned()), ..Instrument::new(figi("BBG000BLNNH6")) };
        for (property, value) in properties {
            instrument.properties[*property as usize] = Some((*value).to_owned());
        }
        instrument
    }

    #[test]
    fn the_kind_of_an_instrument() {
        let sector = |value| (Property::MarketSecDes, value);
        let kind2 = |value| (Property::SecurityType2, value);
        for (name, properties, expected) in [
            ("IBM CORP", &[sector("Equity"), kind2("Common Stock")][..], Kind::Share),
            ("IBM CORP", &[sector("Corp"), kind2("Corp")], Kind::Bond),
            ("TOYOTA MOTOR CORP-SPON ADR", &[sector("Equity")], Kind::Receipt),
            ("Toyota Boshoku Unsp/Adr", &[sector("Equity"), kind2("Common Stock")], Kind::Receipt),
            ("SPDR S&P 500 ETF TRUST", &[sector("Equity")], Kind::Fund),
            ("INDEX FUND CORP", &[sector("Equity"), kind2("Common Stock")], Kind::Share),
            ("January 25 Calls on AAPL US", &[sector("Equity"), kind2("Option")], Kind::Option),
            ("Bitcoin", &[sector("Curncy")], Kind::Currency),
            ("Nasd CTA Globl C Tech TR", &[sector("Index")], Kind::Index),
            ("anything", &[], Kind::Other),
        ] {
            assert_eq!(Kind::of(&row(name, properties)), expected, "{name}");
        }
    }

    #[test]
    fn facts_come_back() {
        let mut instrument = row("A B C", &[(Property::MarketSecDes, "Corp")]);
        instrument.maturity = Some(Date::parse("2031-05-15").unwrap());
        instrument.composite_figi = Some(figi("BBG000BLNNV0"));
        let isin = IdType::Isin.admit("US4592001014").unwrap();
        instrument.identifiers.push(isin);
        instrument.properties[Property::ExchCode as usize] = Some("US".to_owned());
        instrument.ticker = Some("NSRGY".to_owned());
        assert!(Facts::of(&instrument).is_foreign_line);
        for (kind, sector) in [("Corp", "Corp"), ("Common Stock", "Equity")] {
            instrument.properties[Property::MarketSecDes as usize] = Some(sector.to_owned());
            instrument.properties[Property::SecurityType2 as usize] = Some(kind.to_owned());
            let facts = Facts::of(&instrument);
            assert_eq!(Facts::from_bytes(&facts.to_bytes()), facts);
            assert_eq!(facts.isin.is_some(), kind == "Common Stock");
        }
    }

    /// contract 10.3 to 10.6: the best listing before the others, securities with many listings
    /// before those with few, shares before bonds, later days before earlier ones.
    #[test]
    fn the_order_of_ranks() {
        let compared = |listing_class, is_best, listings| Comparison {
            listing_class,
            is_best,
            listings,
            halvings: 0,
        };
        let share = Facts::of(&row("APPLE INC", &[(Property::MarketSecDes, "Equity")]));
        let ranks = [
            share.signals(compared(0, true, 200)),
            share.signals(compared(4, true, 200)),
            share.signals(compared(0, true, 2)),
            share.signals(compared(0, true, 1)),
            share.signals(Comparison { halvings: 3, ..compared(0, true, 1) }),
            share.signals(compared(0, false, 200)),
            share.signals(compared(4, false, 200)),
            share.signals(compared(3, false, 200)),
            share.signals(compared(7, false, 200)),
        ];
        assert!(ranks.is_sorted_by(|a, b| a < b), "{ranks:?}");
        let matures = |day: &str| {
            let mut bond = row("APPLE INC", &[(Property::MarketSecDes, "Corp")]);
            bond.maturity = Some(Date::parse(day).unwrap());
            Facts::of(&bond).signals(compared(2, true, 1))
        };
        let bonds = [matures("2150-01-01"), matures("2040-05-01"), matures("2026-05-01")];
        assert!(ranks[8] < bonds[0] && bonds.is_sorted_by(|a, b| a < b), "{bonds:?}");
    }

    #[test]
    fn popularity_grows_with_the_listings() {
        let all: Vec<u32> = (0..400).map(popularity).collect();
        assert!(all.is_sorted());
        assert_eq!((all[1], all[2], all[256], all[399]), (0, 40, 320, 320));
    }
}
