//! Indices, with names in mixed case, cut to 30 characters, and rarely an exchange.

use crate::dump::{Dump, Issue};
use crate::figis::YEARS;
use crate::rng::{Random, scramble};
use crate::row::{Column, Row};
use crate::{figis, names};

const VENDORS: [&str; 8] =
    ["Nasd", "STX", "Solact", "Bbg", "Markit", "Eurekahedge", "BarclayHdg", "PJM"];

const SUBJECTS: [&str; 16] = [
    "Globl Tech",
    "Eur 600",
    "Emerg Mkts",
    "US Small Cap",
    "Corp Bond 3-5Y",
    "Asia ex Jap",
    "Commodity",
    "Min Volatility",
    "Dividend Arist",
    "Clean Energy",
    "Treasury 10Y",
    "Real Estate",
    "Crude Oil",
    "CTA Hedge Fund",
    "Low Carbon",
    "Infrastructure",
];

const VARIANTS: [&str; 8] = ["TR", "PR", "NR", "EUR", "USD NTR", "ER", "JPY TR", "Genera"];

/// Writes the index with that ordinal.
pub(super) fn write(issue: &Issue, row: &mut Row, dump: &mut Dump) {
    let &Issue { seed, ordinal, .. } = issue;
    let mut random = Random::of(seed, 11, ordinal);
    let year = YEARS.start() + random.below(16);
    let security_type = match random.below(20) {
        0..14 => "Index",
        14..17 => "Equity Index",
        17..19 => "Fixed Income Index",
        _ => "Commodity Index",
    };
    let currency = random.pick(&["USD", "USD", "EUR", "JPY", "GBP"]);
    row.begin(["Index", security_type, "Index", currency]);
    row.set(Column::Figi, figis::INDICES.issue(year, ordinal).take());
    let (vendor, subject) = (random.pick_by_rank(&VENDORS), random.pick_by_rank(&SUBJECTS));
    let name = format!("{vendor} {subject} {} {}", random.pick(&VARIANTS), ordinal % 1000);
    row.set(Column::Name, names::cut_to(&name, 30));
    let symbol = names::letters(scramble(ordinal, 26, seed), 6);
    if random.one_in(2) {
        row.set(Column::Ticker, symbol);
        row.copy(Column::Name, Column::Description);
    } else {
        row.set(Column::Ticker, format_args!("{symbol} Index"));
        row.set(Column::Description, symbol);
    }
    if random.one_in(3) {
        row.set(Column::VendorIndexCode, 700_000 + ordinal);
    }
    if random.one_in(50) {
        row.set(Column::ExchCode, random.pick(&["EUX", "CME", "CBO"]));
    }
    if random.one_in(20) {
        row.set(Column::Alias, format_args!("former {}", names::coined(&mut random)));
    }
    dump.push(row);
}
