//! US listed equity options: chains of contracts. A contract has seventeen rows. With [`Mix::Firm`]
//! it has six: the composite and five venues.
//!
//! One issue is a stretch of a chain: one expiration, two neighbouring strikes, calls and puts.
//! The underlying, the expiration and the strikes are computed from the ordinal of the issue, so
//! that no contract is repeated. Many consecutive stretches have the same underlying, and half of
//! all stretches belong to fewer than a thousand underlyings, like real trading.

use crate::day::Day;
use crate::dump::{Dump, Issue};
use crate::issuer::{Issuer, TIERS};
use crate::markets::OPTION_VENUES;
use crate::rng::Random;
use crate::row::{Column, Row, thousandths};
use crate::{Mix, figis};

/// Number of underlyings per tier. Every second stretch belongs to the first tier, every fourth to
/// the second, every eighth to each of the others.
const UNDERLYINGS: [u64; TIERS as usize] = [3072, 640, 256, 64];

/// Number of consecutive stretches of one underlying. Every four of them share an expiration, and
/// each of the four has a different pair of strikes. The number is so large that a dump has the
/// shares of a large issuer before options on it.
const fn visit(mix: Mix) -> u64 {
    match mix {
        Mix::Firm => 96,
        Mix::Full => 256,
    }
}

/// Number of venues per contract.
const fn venues(mix: Mix) -> usize {
    match mix {
        Mix::Firm => 5,
        Mix::Full => OPTION_VENUES.len(),
    }
}

/// The bands of eight strikes, from the spot price outwards.
const BANDS: [u64; 8] = [4, 3, 5, 2, 6, 1, 7, 0];

/// 2028-01-21, a third Friday, in days since 1970-01-01: the last expiration.
const LAST_EXPIRATION: i64 = 21_204;

/// Distances between strikes, in thousandths of a dollar.
const STRIKE_STEPS: [u64; 6] = [500, 1_000, 2_500, 2_500, 5_000, 5_000];

/// A stretch of a chain: the common values of the contracts of one issue.
struct Stretch {
    tier: u64,
    /// The underlying within its tier.
    place: u64,
    /// The number of the expiration, from 0.
    expiration: u64,
    /// The first of the two strikes, as a number of steps, from 0 to 62.
    strike: u64,
}

impl Stretch {
    /// The stretch with that ordinal. This is a bijection: ordinal + 1 is an odd number times a
    /// power of two. The power gives the tier, and the odd number counts the stretches of the tier.
    fn new(ordinal: u64, mix: Mix) -> Self {
        let number = ordinal + 1;
        let tier = u64::from(number.trailing_zeros()).min(TIERS - 1);
        let stretch = if tier < TIERS - 1 { number >> (tier + 1) } else { (number >> tier) - 1 };
        let underlyings = UNDERLYINGS[tier as usize];
        let length = visit(mix);
        let (slice, visits) = (stretch % length, stretch / length);
        let (place, visit) = (visits % underlyings, visits / underlyings);
        let band = BANDS[(visit % 8) as usize];
        Self {
            tier,
            place,
            expiration: visit / 8 * (length / 4) + slice / 4,
            strike: band * 8 + slice % 4 * 2,
        }
    }
}

/// Writes the rows of the stretch with that ordinal.
pub(super) fn write(issue: &Issue, row: &mut Row, dump: &mut Dump) {
    let &Issue { seed, mix, ordinal } = issue;
    let stretch = Stretch::new(ordinal, mix);
    let issuer = Issuer::at(seed, stretch.tier, stretch.place);
    // The values of the underlying depend only on the underlying.
    let mut random = Random::of(seed, 2, stretch.place * TIERS + stretch.tier);
    let step = random.pick(&STRIKE_STEPS);
    let least_strike = 1 + random.below(120);
    let expiration = expiration(stretch.expiration, random.next());
    let mut figis = figis::OPTIONS.issue(expiration.year - 1, ordinal);

    row.begin(["Equity", "Equity Option", "Option", "USD"]);
    row.set(Column::ContractSize, 100);
    row.set(Column::Listed, true);
    row.set(Column::Expiration, expiration);
    for strike in [stretch.strike, stretch.strike + 1] {
        for option_type in ["Call", "Put"] {
            let contract = OptionContract::new(
                issuer.ticker(),
                expiration,
                option_type,
                (least_strike + strike) * step,
            );
            contract.fill(row);
            let composite = figis.take();
            row.set(Column::Figi, &composite);
            row.set(Column::Composite, &composite);
            contract.fill_venue(row, "US", "");
            dump.push(row);
            for venue in &OPTION_VENUES[..venues(mix)] {
                row.set(Column::Figi, figis.take());
                contract.fill_venue(row, venue.0, venue.1);
                dump.push(row);
            }
        }
    }
}

/// The expiration with that number, a Friday. The first 256 numbers are the weeks of the last five
/// years. They go in steps of 37 weeks, so that even a few expirations are spread over these years.
/// The next 256 numbers are the weeks of the five years before.
fn expiration(number: u64, offset: u64) -> Day {
    let weeks = number / 256 * 256 + (number % 256 * 37).wrapping_add(offset) % 256;
    Day::from_days(LAST_EXPIRATION - 7 * weeks as i64)
}

/// One contract.
struct OptionContract<'a> {
    root: &'a str,
    expiration: Day,
    option_type: &'static str,
    /// In thousandths of a dollar.
    strike: u64,
    /// ` 01/17/25 C155`: the text after the root and the exchange code.
    terms: String,
    /// `AAPL250117C00155000`
    symbol: String,
}

impl<'a> OptionContract<'a> {
    fn new(root: &'a str, expiration: Day, option_type: &'static str, strike: u64) -> Self {
        let letter = &option_type[..1];
        let terms = format!(" {} {letter}{}", expiration.american(), thousandths(strike));
        let symbol = format!("{root}{}{letter}{strike:08}", expiration.compact());
        Self { root, expiration, option_type, strike, terms, symbol }
    }

    /// Fills the values that all rows of the contract share.
    fn fill(&self, row: &mut Row) {
        let Self { root, expiration: Day { year, month, day }, option_type, strike, .. } = *self;
        let (year, month_name) = (year % 100, self.expiration.month_name());
        row.set(Column::OptionType, option_type);
        row.set(Column::Strike, thousandths(strike));
        row.set(Column::Ticker, format_args!("{root}{}", self.terms));
        row.set(Column::Name, format_args!("{month_name} {year:02} {option_type}s on {root} US"));
        // Symbol of the Options Clearing Corporation: the root is padded to six characters.
        row.set(Column::Occ, format_args!("{root:<6}{}", &self.symbol[root.len()..]));
        row.set(Column::FullExchangeSymbol, &self.symbol);
        // Symbol of the Options Price Reporting Authority: the letter of the month is A to L for
        // calls and M to X for puts.
        let first = if option_type == "Call" { b'A' } else { b'M' };
        let letter = char::from(first + (month - 1) as u8);
        row.set(Column::Opra, format_args!("{root} {letter}{day:02}{year:02}{strike:08}"));
    }

    /// Fills the values that differ between the rows of the contract.
    fn fill_venue(&self, row: &mut Row, exch_code: &str, mic: &str) {
        let Self { root, terms, symbol, .. } = self;
        row.set(Column::ExchCode, exch_code);
        row.set(Column::MicCode, mic);
        row.set(Column::Description, format_args!("{root} {exch_code}{terms}"));
        row.set(Column::UniqueIdFutOpt, format_args!("{root} {exch_code}{terms} Equity"));
        match mic {
            "" => row.set(Column::TradingSystem, ""),
            mic => row.set(Column::TradingSystem, format_args!("{symbol} {mic}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use figdex_index::Date;

    use super::*;

    #[test]
    fn no_stretch_is_repeated() {
        let mut seen = HashSet::new();
        for mix in [Mix::Firm, Mix::Full] {
            for ordinal in 0..300_000 {
                let s = Stretch::new(ordinal, mix);
                assert!(s.strike <= 62 && s.strike.is_multiple_of(2));
                assert!(seen.insert((s.tier, s.place, s.expiration, s.strike)), "{ordinal}");
            }
            seen.clear();
        }
    }

    #[test]
    fn no_expiration_is_repeated() {
        let days: HashSet<_> = (0..1024)
            .map(|number| expiration(number, 99))
            .map(|day| (day.year, day.month, day.day))
            .collect();
        assert_eq!(days.len(), 1024);
        assert_eq!(Date::new(2028, 1, 21).unwrap().to_days(), LAST_EXPIRATION);
    }
}
