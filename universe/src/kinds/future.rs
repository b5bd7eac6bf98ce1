//! Futures, options on futures, generics and spreads, on indices, commodities, currencies and
//! single shares.
//!
//! One issue is a contract month of a product. The issues go through 256 products at a time,
//! beginning with the latest month, so that a small dump has many products.

use crate::day::Day;
use crate::dump::{Dump, Issue};
use crate::figis::{Figis, YEARS};
use crate::issuer::Issuer;
use crate::rng::{Random, scramble};
use crate::row::{Column, Row, thousandths};
use crate::{figis, names};

/// Number of products that alternate, and of contract months per product.
const PRODUCTS: u64 = 256;
const MONTHS: u64 = 64;

/// The year of the latest contract. Contracts after [`YEARS`] are live. Their tickers have one
/// digit of the year.
const LAST_YEAR: u64 = 2027;

/// A type of product.
struct Profile {
    sector: &'static str,
    exch_code: &'static str,
    mic: &'static str,
    currency: &'static str,
    future: &'static str,
    generic: &'static str,
    option: &'static str,
    subjects: [&'static str; 4],
}

macro_rules! profiles {
    ($($sector:literal $exch_code:literal $mic:literal $currency:literal
        [$future:literal, $generic:literal, $option:literal] $subjects:expr;)*) => {
        [$(Profile {
            sector: $sector,
            exch_code: $exch_code,
            mic: $mic,
            currency: $currency,
            future: $future,
            generic: $generic,
            option: $option,
            subjects: $subjects,
        },)*]
    };
}

/// The types of products. The last one is futures on single shares. Their subject is a large
/// issuer, and they have no options.
const PROFILES: [Profile; 7] = profiles! {
    "Index" "EUX" "XEUR" "EUR"
        ["Physical index future.", "Generic index future.", "Physical index option."]
        ["EURO 50", "MSCI JAPAN INDEX", "SECTOR BANKS", "DIVIDEND INDEX"];
    "Comdty" "NYM" "XNYM" "USD"
        ["Physical commodity future.", "Physical commodity generic.", "Physical commodity option."]
        ["CRUDE OIL", "NATURAL GAS", "GASOLINE RBOB", "POWER PEAK"];
    "Comdty" "CBT" "XCBT" "USD"
        ["Financial commodity future.", "Financial commodity generic.", "Financial commodity option."]
        ["US 10YR NOTE", "US LONG BOND", "FED FUND 30DAY", "SWAP 5YR"];
    "Index" "CME" "XCME" "USD"
        ["Financial index future.", "Financial index generic.", "Financial index option."]
        ["S&P500 EMINI", "NASDAQ 100", "RUSSELL 2000", "HDD INDEX"];
    "Curncy" "CME" "XCME" "USD"
        ["Currency future.", "Generic currency future.", "Currency option."]
        ["EURO FX", "JPN YEN", "C$ CURRENCY", "BP CURRENCY"];
    "Comdty" "CMX" "XCEC" "USD"
        ["Physical commodity future.", "Physical commodity generic.", "Physical commodity option."]
        ["GOLD 100 OZ", "COPPER", "SILVER", "IRON ORE"];
    "Equity" "GR" "XEUR" "EUR" ["SINGLE STOCK FUTURE", "", ""] [""; 4];
};

/// A contract month of a product.
struct FutureContract<'a> {
    profile: &'a Profile,
    /// `SJI`, `998A=`
    root: String,
    /// `MSCI JAPAN INDEX`
    subject: String,
    expiration: Day,
    figis: Figis,
}

/// Writes the contract month with that ordinal.
pub(super) fn write(issue: &Issue, row: &mut Row, dump: &mut Dump) {
    let &Issue { seed, ordinal, .. } = issue;
    let (epoch, within) = (ordinal / (PRODUCTS * MONTHS), ordinal % (PRODUCTS * MONTHS));
    let (product, month) = (epoch * PRODUCTS + within % PRODUCTS, within / PRODUCTS);
    // The values of the product depend only on the product.
    let mut random = Random::of(seed, 10, product);
    let profile = &PROFILES[(product % PROFILES.len() as u64) as usize];
    let (root, subject) = match profile.sector {
        "Equity" => {
            let issuer = Issuer::numbered(seed, product / PROFILES.len() as u64);
            (format!("{}=", issuer.ticker()), issuer.borrower())
        }
        _ => {
            let mut subject = random.pick(&profile.subjects).to_owned();
            if product >= PROFILES.len() as u64 {
                subject += &format!(" {}", names::coined(&mut random));
            }
            (root(product, seed), names::cut_to(&subject, 22).to_owned())
        }
    };
    let expiration = Day {
        year: LAST_YEAR - month / 4,
        month: [12, 9, 6, 3][(month % 4) as usize],
        day: 15 + random.below(6),
    };
    let figis = figis::FUTURES.issue(expiration.year - 2, ordinal);
    let mut contract = FutureContract { profile, root, subject, expiration, figis };

    row.clear();
    row.set(Column::MarketSector, profile.sector);
    row.set(Column::Currency, profile.currency);
    row.set(Column::ExchCode, profile.exch_code);
    row.set(Column::Listed, true);
    contract.write_generics(month, row, dump);
    row.set(Column::MicCode, profile.mic);
    row.set(Column::ContractSize, random.pick(&[10, 50, 100, 1_000, 25_000]));
    row.set(Column::Expiration, expiration);
    contract.write_future(row, dump);
    if !profile.option.is_empty() && product.is_multiple_of(2) {
        let step = random.pick(&[500, 1_000, 5_000, 25_000]);
        let least = 10 + random.below(80);
        contract.write_options((least..least + 8).map(|strike| strike * step), row, dump);
    }
}

/// The ticker root of a product: three letters, later four. It is unique.
fn root(product: u64, seed: u64) -> String {
    match product < 1 << 14 {
        true => names::letters(scramble(product, 14, seed), 3),
        false => names::letters(scramble(product, 18, seed), 4),
    }
}

impl FutureContract<'_> {
    /// `M19`, or `M7` for a live contract.
    fn month(&self, years_later: u64) -> String {
        const LETTERS: [char; 12] = ['F', 'G', 'H', 'J', 'K', 'M', 'N', 'Q', 'U', 'V', 'X', 'Z'];
        let letter = LETTERS[(self.expiration.month - 1) as usize];
        let year = self.expiration.year + years_later;
        match year > *YEARS.end() {
            true => format!("{letter}{}", year % 10),
            false => format!("{letter}{:02}", year % 100),
        }
    }

    /// Writes the generics and the spread of a product, once per product, with its latest month.
    fn write_generics(&mut self, month: u64, row: &mut Row, dump: &mut Dump) {
        if month > 0 || self.profile.generic.is_empty() {
            return;
        }
        let (root, subject) = (&self.root.clone(), &self.subject.clone());
        for number in 1..=6 {
            let ordinal = match number {
                1 => "st",
                2 => "nd",
                3 => "rd",
                _ => "th",
            };
            row.set(Column::SecurityType, self.profile.generic);
            row.set(Column::SecurityType2, "Future");
            row.set(Column::Ticker, format_args!("{root}{number}"));
            row.set(Column::Name, format_args!("Generic {number}{ordinal} '{root}' Future"));
            row.set(Column::Description, format_args!("{root}{number} COMB"));
            row.set(Column::BaseTicker, root);
            self.push(row, dump);
        }
        row.set(Column::SecurityType, self.profile.future);
        row.set(Column::Ticker, format_args!("{root}{}{root}{}", self.month(0), self.month(1)));
        row.set(Column::Name, format_args!("{subject} Spr"));
        row.copy(Column::Ticker, Column::Description);
        self.push(row, dump);
    }

    fn write_future(&mut self, row: &mut Row, dump: &mut Dump) {
        let (root, subject) = (&self.root, &self.subject);
        let (month, year) = (self.expiration.month_name(), self.expiration.year % 100);
        row.set(Column::SecurityType, self.profile.future);
        row.set(Column::SecurityType2, "Future");
        row.set(Column::Ticker, format_args!("{root}{}", self.month(0)));
        row.set(Column::Name, format_args!("{subject} {}{year:02}", &month[..3]));
        row.copy(Column::Ticker, Column::Description);
        row.set(Column::BaseTicker, "");
        self.push(row, dump);
    }

    fn write_options(
        &mut self,
        strikes: impl Iterator<Item = u64>,
        row: &mut Row,
        dump: &mut Dump,
    ) {
        let future = row.get(Column::Ticker).to_owned();
        let (month, year) = (self.expiration.month_name(), self.expiration.year % 100);
        row.set(Column::SecurityType, self.profile.option);
        row.set(Column::SecurityType2, "Option");
        row.set(Column::BaseTicker, &self.root);
        for strike in strikes.map(thousandths) {
            for option_type in ["Call", "Put"] {
                let root = &self.root;
                row.set(Column::OptionType, option_type);
                row.set(Column::Strike, &strike);
                row.set(Column::Ticker, format_args!("{future}{} {strike}", &option_type[..1]));
                row.set(Column::Name, format_args!("{month} {year:02} {option_type}s on {root}"));
                row.copy(Column::Ticker, Column::Description);
                self.push(row, dump);
            }
        }
    }

    /// Writes the row, with identifiers made from its ticker.
    fn push(&mut self, row: &mut Row, dump: &mut Dump) {
        row.set(Column::Figi, self.figis.take());
        let ticker = row.get(Column::Ticker).to_owned();
        row.set(Column::UniqueIdFutOpt, format_args!("{ticker} {}", self.profile.sector));
        row.copy(Column::Ticker, Column::FullExchangeSymbol);
        dump.push(row);
    }
}
