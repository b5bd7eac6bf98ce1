//! Which of two rows that match equally well a person would want first.
//!
//! A rank is a number that follows from a row's own properties, and from what the whole
//! universe says of its security; it knows nothing of the question, so that rows can be
//! kept in its order (`ranks`). First comes what the row is ([`Kind`]), then where it is
//! listed, then how much of its security there is, and last how long its name is: of two
//! names that hold the same words, these make up more of the shorter one. The next
//! generation may count a listing more, and a cursor then goes on from the same rank.

use std::num::{NonZeroU16, NonZeroU64};

use crate::instrument::Instrument;
use crate::instrument::date::Date;
use crate::instrument::figi::Figi;
use crate::instrument::id_type::{IdType, IdValue};
use crate::instrument::kind::Kind;
use crate::instrument::markets::{Market, market};
use crate::instrument::vocabulary::Property;
use crate::mapped::u64_at;
use crate::words::words;

/// One more than the greatest rank.
pub(crate) const RANK_END: u32 = 1 << 16;

/// The bits of a rank below its kind.
pub(crate) const KIND_SHIFT: u32 = 12;

/// The bits of a rank below its place among the listings of its security.
const SCORE_BITS: u32 = 9;
const SCORE_MAX: u32 = (1 << SCORE_BITS) - 1;

/// What a row's rank is made of, as far as the row itself says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Facts {
    pub(crate) share_class: Option<Figi>,
    pub(crate) composite: Option<Figi>,
    /// The ISIN as a number, of what does not end on a day.
    pub(crate) isin: Option<NonZeroU64>,
    pub(crate) kind: Kind,
    market: Market,
    /// Its exchange code, as two bytes: all codes that count have two letters.
    pub(crate) exch_code: Option<NonZeroU16>,
    /// Of what ends on a day, two months each from long ago on, 0 without a day; of all
    /// else, words of the name.
    measure: u16,
}

/// Bytes of [`Facts`] when they are put aside.
pub(crate) const FACTS_BYTES: usize = 3 * 8 + 4 + 2;

impl Facts {
    pub(crate) fn of(instrument: &Instrument) -> Self {
        let kind = Kind::of(instrument);
        let isin = instrument.identifiers_of(IdType::Isin).next();
        let exch_code = instrument.property(Property::ExchCode);
        let currency = instrument.property(Property::Currency);
        let composite = instrument.composite_figi;
        let measure = if kind.ends() {
            let (day, _) = instrument.filter_dates();
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
        }
    }

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
        bytes[28..].copy_from_slice(&self.measure.to_le_bytes());
        bytes
    }

    /// The facts of bytes that [`Facts::to_bytes`] made.
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
        }
    }

    /// Whether the row is one of several of its security, as far as it shows: then the
    /// universe has something to say of it.
    pub(crate) fn has_siblings(&self) -> bool {
        !self.kind.ends() && (self.share_class.or(self.composite).is_some() || self.isin.is_some())
    }

    /// How good a listing of its security it is, the less the better, below 8.
    /// `is_alone`: the row of its composite is this one, or is not there (a market with a
    /// single venue has none).
    pub(crate) fn listing(&self, is_alone: bool) -> u32 {
        match (self.market, is_alone) {
            (Market::Home, true) => 0,
            (Market::Unknown, true) if self.exch_code.is_some() => 1,
            (Market::Unknown, true) => 2,
            (Market::Home, false) => 3,
            (Market::Foreign, true) => 4,
            (Market::Unknown, false) => 5,
            (Market::Foreign, false) => 6,
            (Market::Reporting, _) => 7,
        }
    }

    /// The rank of the row, by its family.
    pub(crate) fn rank(&self, comparison: Comparison) -> u16 {
        let Comparison { listing, is_best, listings, halvings } = comparison;
        let (place, score) = if self.kind.ends() {
            // Later days first: what has expired comes last, whatever today is.
            (u32::from(listing > 2), SCORE_MAX - u32::from(self.measure).min(SCORE_MAX))
        } else {
            let place = match listing {
                0..7 if is_best => 0,
                0..=2 => 2,
                4 => 3,
                3 => 4,
                worse => worse,
            };
            let words = WORD_COST * u32::from(self.measure).min(WORDS_MAX);
            let rarity = DOUBLING_GAIN * DOUBLINGS_MAX - popularity(listings);
            let abroad = LISTING_COST * u32::from(!matches!(listing, 0 | 3));
            let market = HALVING_COST * halvings.min(HALVINGS_MAX);
            (place, words + rarity + abroad + market)
        };
        let rank = (self.kind as u32) << KIND_SHIFT | place << SCORE_BITS | score;
        debug_assert!(score <= SCORE_MAX && place < 8 && rank < RANK_END);
        rank as u16
    }
}

/// An ISIN as a number: base 36 of its twelve characters.
fn number(isin: &IdValue<'_>) -> Option<NonZeroU64> {
    let mut digits = isin.as_str().chars().map(|c| c.to_digit(36).map(u64::from));
    NonZeroU64::new(digits.try_fold(0, |number, digit| Some(number * 36 + digit?))?)
}

/// The place of a rank's row among the listings of its security.
pub(crate) fn place(rank: u16) -> u32 {
    (u32::from(rank) & ((1 << KIND_SHIFT) - 1)) >> SCORE_BITS
}

/// What a rank costs within its kind when ranks are but one thing among others.
pub(crate) fn cost(rank: u16) -> i32 {
    let score = u32::from(rank) & SCORE_MAX;
    (place(rank) * 25 + score) as i32
}

/// What the universe says of a row.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Comparison {
    /// What [`Facts::listing`] says.
    pub(crate) listing: u32,
    /// Whether no listing of the security is better.
    pub(crate) is_best: bool,
    /// How many listings the security has.
    pub(crate) listings: u32,
    /// How often the largest market must be halved to be as small as the row's.
    pub(crate) halvings: u32,
}

/// An exchange code of two letters as a number.
pub(crate) fn code_number(code: &str) -> Option<NonZeroU16> {
    let bytes: [u8; 2] = code.as_bytes().try_into().ok()?;
    NonZeroU16::new(u16::from_le_bytes(bytes))
}

/// Beyond so many words a name is as long as any.
const WORDS_MAX: u32 = 24;

/// What one more word in the name costs: a share listed twice as often may have a name
/// that is three words longer.
const WORD_COST: u32 = 8;
const DOUBLING_GAIN: u32 = 24;
const DOUBLINGS_MAX: u32 = 8;

/// What it costs a security that none of its listings is known to be at home.
const LISTING_COST: u32 = 36;

/// What it costs to be listed on a smaller market.
const HALVING_COST: u32 = 4;
const HALVINGS_MAX: u32 = 6;

/// How often a security is listed, by doublings and what lies between them.
fn popularity(listings: u32) -> u32 {
    let listings = listings.clamp(1, 1 << DOUBLINGS_MAX);
    let doublings = listings.ilog2();
    let beyond = listings - (1 << doublings);
    DOUBLING_GAIN * doublings + DOUBLING_GAIN * beyond / (1 << doublings)
}

/// Steps of two months from 1980 on.
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
    fn what_a_row_is() {
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
        let compared =
            |listing, is_best, listings| Comparison { listing, is_best, listings, halvings: 0 };
        let share = Facts::of(&row("APPLE INC", &[(Property::MarketSecDes, "Equity")]));
        let ranks = [
            share.rank(compared(0, true, 200)),
            share.rank(compared(4, true, 200)),
            share.rank(compared(0, true, 2)),
            share.rank(compared(0, true, 1)),
            share.rank(Comparison { halvings: 3, ..compared(0, true, 1) }),
            share.rank(compared(0, false, 200)),
            share.rank(compared(4, false, 200)),
            share.rank(compared(3, false, 200)),
            share.rank(compared(7, false, 200)),
        ];
        assert!(ranks.is_sorted_by(|a, b| a < b), "{ranks:?}");
        let matures = |day: &str| {
            let mut bond = row("APPLE INC", &[(Property::MarketSecDes, "Corp")]);
            bond.maturity = Some(Date::parse(day).unwrap());
            Facts::of(&bond).rank(compared(2, true, 1))
        };
        let bonds = [matures("2150-01-01"), matures("2040-05-01"), matures("2026-05-01")];
        assert!(ranks[8] < bonds[0] && bonds.is_sorted_by(|a, b| a < b), "{bonds:?}");
    }

    #[test]
    fn popularity_grows_with_the_listings() {
        let all: Vec<u32> = (0..400).map(popularity).collect();
        assert!(all.is_sorted());
        assert_eq!((all[1], all[2], all[256], all[399]), (0, 24, 192, 192));
    }
}
