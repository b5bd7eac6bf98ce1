//! Futures, options on them, generics and spreads; of indices, commodities,
//! currencies and single shares.
//!
//! One issue is a contract month of a product. Products take turns, 256 of them
//! at a time, from the latest month back, so that a small dump has many of them.

use super::day::Day;
use super::figis::{self, Figis, YEARS};
use super::issuer::Issuer;
use super::names;
use super::rng::{Random, scramble};
use super::row::{Column, Row, push_number, push_thousandths};
use super::{Dump, Issue};

/// Products that take turns, and the contract months of each.
const PRODUCTS: u64 = 256;
const MONTHS: u64 = 64;

/// The year of the latest contract. Contracts after [`YEARS`] are live: their
/// tickers have one digit of the year.
const LAST_YEAR: u64 = 2027;

/// A kind of product.
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

const PROFILES: [Profile; 7] = [
    Profile {
        sector: "Index",
        exch_code: "EUX",
        mic: "XEUR",
        currency: "EUR",
        future: "Physical index future.",
        generic: "Generic index future.",
        option: "Physical index option.",
        subjects: ["EURO 50", "MSCI JAPAN INDEX", "SECTOR BANKS", "DIVIDEND INDEX"],
    },
    Profile {
        sector: "Comdty",
        exch_code: "NYM",
        mic: "XNYM",
        currency: "USD",
        future: "Physical commodity future.",
        generic: "Physical commodity generic.",
        option: "Physical commodity option.",
        subjects: ["CRUDE OIL", "NATURAL GAS", "GASOLINE RBOB", "POWER PEAK"],
    },
    Profile {
        sector: "Comdty",
        exch_code: "CBT",
        mic: "XCBT",
        currency: "USD",
        future: "Financial commodity future.",
        generic: "Financial commodity generic.",
        option: "Financial commodity option.",
        subjects: ["US 10YR NOTE", "US LONG BOND", "FED FUND 30DAY", "SWAP 5YR"],
    },
    Profile {
        sector: "Index",
        exch_code: "CME",
        mic: "XCME",
        currency: "USD",
        future: "Financial index future.",
        generic: "Financial index generic.",
        option: "Financial index option.",
        subjects: ["S&P500 EMINI", "NASDAQ 100", "RUSSELL 2000", "HDD INDEX"],
    },
    Profile {
        sector: "Curncy",
        exch_code: "CME",
        mic: "XCME",
        currency: "USD",
        future: "Currency future.",
        generic: "Generic currency future.",
        option: "Currency option.",
        subjects: ["EURO FX", "JPN YEN", "C$ CURRENCY", "BP CURRENCY"],
    },
    Profile {
        sector: "Comdty",
        exch_code: "CMX",
        mic: "XCEC",
        currency: "USD",
        future: "Physical commodity future.",
        generic: "Physical commodity generic.",
        option: "Physical commodity option.",
        subjects: ["GOLD 100 OZ", "COPPER", "SILVER", "IRON ORE"],
    },
    // Single shares; the subject is a large issuer's, and there are no options.
    Profile {
        sector: "Equity",
        exch_code: "GR",
        mic: "XEUR",
        currency: "EUR",
        future: "SINGLE STOCK FUTURE",
        generic: "",
        option: "",
        subjects: [""; 4],
    },
];

/// A contract month of a product.
struct Contract<'a> {
    profile: &'a Profile,
    /// `SJI`, `998A=`
    root: Vec<u8>,
    /// `MSCI JAPAN INDEX`
    subject: Vec<u8>,
    expiration: Day,
    figis: Figis,
}

/// Writes the contract month with that ordinal.
pub(super) fn write(issue: &Issue, row: &mut Row, dump: &mut Dump) {
    let &Issue { seed, ordinal, .. } = issue;
    let (epoch, within) = (ordinal / (PRODUCTS * MONTHS), ordinal % (PRODUCTS * MONTHS));
    let (product, month) = (epoch * PRODUCTS + within % PRODUCTS, within / PRODUCTS);
    // What belongs to the product comes from a stream of the product.
    let mut random = Random::of(seed, 10, product);
    let profile = &PROFILES[(product % PROFILES.len() as u64) as usize];
    let (root, subject) = match profile.sector {
        "Equity" => {
            let issuer = Issuer::numbered(seed, product / PROFILES.len() as u64);
            let mut name = Vec::new();
            issuer.push_borrower(&mut name);
            ([issuer.ticker(), b"="].concat(), name)
        }
        _ => {
            let mut subject = random.pick(&profile.subjects).as_bytes().to_vec();
            if product >= PROFILES.len() as u64 {
                subject.push(b' ');
                names::push_coined(&mut subject, &mut random);
            }
            names::cut_to(&mut subject, 0, 22);
            (root(product, seed), subject)
        }
    };
    let expiration = Day {
        year: LAST_YEAR - month / 4,
        month: [12, 9, 6, 3][(month % 4) as usize],
        day: 15 + random.below(6),
    };
    let figis = figis::FUTURES.issue(expiration.year - 2, ordinal);
    let mut contract = Contract { profile, root, subject, expiration, figis };

    row.clear();
    row.set(Column::MarketSector, profile.sector.as_bytes());
    row.set(Column::Currency, profile.currency.as_bytes());
    row.set(Column::ExchCode, profile.exch_code.as_bytes());
    row.set(Column::Listed, b"true");
    contract.write_generics(month, row, dump);
    let size = random.pick(&[&b"10"[..], b"50", b"100", b"1000", b"25000"]);
    row.set(Column::MicCode, profile.mic.as_bytes());
    row.set(Column::ContractSize, size);
    row.fill(Column::Expiration, |text| expiration.push_iso(text));
    contract.write_future(row, dump);
    if !profile.option.is_empty() && product.is_multiple_of(2) {
        let step = random.pick(&[500, 1_000, 5_000, 25_000]);
        let least = 10 + random.below(80);
        contract.write_options((least..least + 8).map(|strike| strike * step), row, dump);
    }
}

/// Letters of a product: three, then four; each product has its own.
fn root(product: u64, seed: u64) -> Vec<u8> {
    let (length, mut rest) = match product < 1 << 14 {
        true => (3, scramble(product, 14, seed)),
        false => (4, scramble(product, 18, seed)),
    };
    let mut letters = Vec::with_capacity(5);
    for _ in 0..length {
        letters.push(b'A' + (rest % 26) as u8);
        rest /= 26;
    }
    letters
}

impl Contract<'_> {
    /// `M19`, or `M7` of a live one.
    fn push_month(&self, text: &mut Vec<u8>, years_later: u64) {
        const LETTERS: &[u8; 12] = b"FGHJKMNQUVXZ";
        text.push(LETTERS[(self.expiration.month - 1) as usize]);
        let year = self.expiration.year + years_later;
        match year > *YEARS.end() {
            true => push_number(text, year % 10, 1),
            false => push_number(text, year % 100, 2),
        }
    }

    /// The generics and the spread of a product; once for a product, with its
    /// latest month.
    fn write_generics(&mut self, month: u64, row: &mut Row, dump: &mut Dump) {
        if month > 0 || self.profile.generic.is_empty() {
            return;
        }
        for number in 1..=6 {
            row.set(Column::SecurityType, self.profile.generic.as_bytes());
            row.set(Column::SecurityType2, b"Future");
            row.fill(Column::Ticker, |text| {
                text.extend_from_slice(&self.root);
                push_number(text, number, 1);
            });
            row.fill(Column::Name, |text| {
                text.extend_from_slice(b"Generic ");
                push_number(text, number, 1);
                text.extend_from_slice(match number {
                    1 => b"st",
                    2 => b"nd",
                    3 => b"rd",
                    _ => b"th",
                });
                text.extend_from_slice(b" '");
                text.extend_from_slice(&self.root);
                text.extend_from_slice(b"' Future");
            });
            let ticker = row.get(Column::Ticker).to_vec();
            row.fill(Column::Description, |text| {
                text.extend_from_slice(&ticker);
                text.extend_from_slice(b" COMB");
            });
            row.set(Column::BaseTicker, &self.root);
            self.push(row, dump);
        }
        row.set(Column::SecurityType, self.profile.future.as_bytes());
        row.fill(Column::Ticker, |text| {
            for years_later in [0, 1] {
                text.extend_from_slice(&self.root);
                self.push_month(text, years_later);
            }
        });
        row.fill(Column::Name, |text| {
            text.extend_from_slice(&self.subject);
            text.extend_from_slice(b" Spr");
        });
        row.copy(Column::Ticker, Column::Description);
        self.push(row, dump);
    }

    fn write_future(&mut self, row: &mut Row, dump: &mut Dump) {
        row.set(Column::SecurityType, self.profile.future.as_bytes());
        row.set(Column::SecurityType2, b"Future");
        row.fill(Column::Ticker, |text| {
            text.extend_from_slice(&self.root);
            self.push_month(text, 0);
        });
        row.fill(Column::Name, |text| {
            text.extend_from_slice(&self.subject);
            text.push(b' ');
            text.extend_from_slice(&self.expiration.month_name().as_bytes()[..3]);
            push_number(text, self.expiration.year % 100, 2);
        });
        row.copy(Column::Ticker, Column::Description);
        row.set(Column::BaseTicker, b"");
        self.push(row, dump);
    }

    fn write_options(
        &mut self,
        strikes: impl Iterator<Item = u64>,
        row: &mut Row,
        dump: &mut Dump,
    ) {
        let future = row.get(Column::Ticker).to_vec();
        row.set(Column::SecurityType, self.profile.option.as_bytes());
        row.set(Column::SecurityType2, b"Option");
        row.set(Column::BaseTicker, &self.root);
        for strike in strikes {
            for option_type in ["Call", "Put"] {
                row.set(Column::OptionType, option_type.as_bytes());
                row.fill(Column::Strike, |text| push_thousandths(text, strike));
                row.fill(Column::Ticker, |text| {
                    text.extend_from_slice(&future);
                    text.extend_from_slice(&[option_type.as_bytes()[0], b' ']);
                    push_thousandths(text, strike);
                });
                row.fill(Column::Name, |text| {
                    text.extend_from_slice(self.expiration.month_name().as_bytes());
                    text.push(b' ');
                    push_number(text, self.expiration.year % 100, 2);
                    text.push(b' ');
                    text.extend_from_slice(option_type.as_bytes());
                    text.extend_from_slice(b"s on ");
                    text.extend_from_slice(&self.root);
                });
                row.copy(Column::Ticker, Column::Description);
                self.push(row, dump);
            }
        }
    }

    /// Writes the row, which the exchange knows by its ticker.
    fn push(&mut self, row: &mut Row, dump: &mut Dump) {
        row.set(Column::Figi, &self.figis.take());
        let ticker = row.get(Column::Ticker).to_vec();
        row.fill(Column::UniqueIdFutOpt, |text| {
            text.extend_from_slice(&ticker);
            text.push(b' ');
            text.extend_from_slice(self.profile.sector.as_bytes());
        });
        row.copy(Column::Ticker, Column::FullExchangeSymbol);
        dump.push(row);
    }
}
