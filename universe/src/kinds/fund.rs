//! Funds. Open-end funds have one row with the exchange code of a country; exchange-traded and
//! closed-end funds are listed like shares.

use super::equity::ShareClass;
use crate::dump::{Dump, Issue};
use crate::figis::YEARS;
use crate::identifiers::Security;
use crate::markets::{GERMANY, Tickers, US_LISTED, Venue};
use crate::rng::{Random, scramble};
use crate::row::{Column, Row};
use crate::{figis, names};

/// The homes of open-end funds: exchange code, ISIN prefix, currency, and whether tickers have the
/// American form.
const HOMES: [(&str, &str, &str, bool); 8] = [
    ("US", "US", "USD", true),
    ("LX", "LU", "EUR", false),
    ("ID", "IE", "EUR", false),
    ("KS", "KR", "KRW", false),
    ("GR", "DE", "EUR", false),
    ("FP", "FR", "EUR", false),
    ("CN", "CA", "CAD", false),
    ("LN", "GB", "GBp", false),
];

/// The strategies of funds, the most frequent first.
const STRATEGIES: [&str; 20] = [
    "GLOBAL EQUITY",
    "MSCI WORLD",
    "GROWTH",
    "HIGH YIELD BOND",
    "INCOME",
    "BALANCED",
    "SMALL CAP VALUE",
    "EMERGING MKTS",
    "S&P 500",
    "MONEY MARKET",
    "DIVIDEND",
    "SHORT DURATION",
    "TECHNOLOGY",
    "EURO CORP BOND",
    "TARGET 2040",
    "MANAGED FUTURES",
    "GOLD MINERS",
    "REAL ESTATE",
    "TREASURY 7-10",
    "ASIA PACIFIC",
];

const CLASSES: [&str; 10] =
    ["-A", "-I", "-A EUR", "-C", "-R6", "-INST", "-A USD", "-I EUR HDG", "-B", "-D ACC"];

/// Writes the fund with that ordinal.
pub(super) fn write(issue: &Issue, row: &mut Row, dump: &mut Dump) {
    let &Issue { seed, ordinal, .. } = issue;
    let mut random = Random::of(seed, 5, ordinal);
    let year = YEARS.start() + random.below(16);
    let figis = figis::FUNDS.issue(year, ordinal);
    let kind = random.below(100);
    row.clear();
    row.set(Column::MarketSector, "Equity");
    row.set(Column::SecurityType2, "Mutual Fund");
    let name = |row: &mut Row, random: &mut Random, suffix: &str| {
        let name = format!("{} {}", names::coined(random), random.pick_by_rank(&STRATEGIES));
        row.set(Column::Name, names::with_suffix(&name, suffix));
    };
    let security = Security::Fund;
    if kind < 60 {
        let (exch_code, country, currency, is_american) = random.pick_by_rank(&HOMES);
        let class = random.pick(&CLASSES);
        name(row, &mut random, class);
        row.set(Column::SecurityType, "Open-End Fund");
        row.set(Column::ExchCode, exch_code);
        row.set(Column::Currency, currency);
        let mut fund = ShareClass { issue, security, row, figis, random, rows: 0, dump };
        fund.fill_identifiers(country);
        let length = if is_american { 4 } else { 7 };
        let mut ticker = fund.ticker(Tickers::Letters { least: length, most: length });
        if is_american {
            ticker.push('X');
        }
        let figi = fund.figis.take();
        fund.row.set(Column::Composite, &figi);
        fund.row.set(Column::Ticker, ticker);
        fund.row.copy(Column::Ticker, Column::Description);
        fund.row.copy(Column::Ticker, Column::SecNumDes);
        return fund.push(&figi);
    }
    let is_closed = kind >= 95;
    name(row, &mut random, if is_closed { " FUND" } else { "" });
    row.set(Column::SecurityType, if is_closed { "Closed-End Fund" } else { "ETP" });
    row.set(Column::Listed, true);
    let mut fund = ShareClass { issue, security, row, figis, random, rows: 0, dump };
    let ticker = |fund: &mut ShareClass<'_>| fund.ticker(Tickers::Letters { least: 3, most: 4 });
    match fund.random.below(10) {
        0..4 => {
            fund.fill_identifiers("US");
            let (symbol, count) = (ticker(&mut fund), 1 + fund.random.below(10) as usize);
            fund.write_line("US", &US_LISTED.venues[7..8 + count], "USD", &symbol);
        }
        4..6 => {
            fund.fill_identifiers("IE");
            let (symbol, count) = (ticker(&mut fund), 2 + fund.random.below(6) as usize);
            fund.write_line("GR", &GERMANY.venues[..count], "EUR", &symbol);
            let letter = names::letters(scramble(ordinal, 20, seed), 1);
            let symbol = format!("X{letter}{}", ordinal % 10);
            fund.write_line("LN", &[Venue("LN", "XLON")], "GBp", &symbol);
        }
        6..8 => {
            fund.fill_identifiers("KY");
            let symbol = fund.ticker(Tickers::Number);
            fund.write_line("HK", &[Venue("HK", "XHKG")], "HKD", &symbol);
        }
        _ => {
            fund.fill_identifiers("FR");
            let symbol = ticker(&mut fund);
            fund.write_line("FP", &[Venue("FP", "XPAR")], "EUR", &symbol);
        }
    }
}
