//! Indices: names in mixed case, cut to thirty characters, and almost never an
//! exchange.

use super::figis::{self, YEARS};
use super::names;
use super::rng::{Random, scramble};
use super::row::{Column, Row, push_number};
use super::{Dump, Issue};

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
    row.clear();
    row.set(Column::Figi, &figis::INDICES.issue(year, ordinal).take());
    row.set(Column::MarketSector, b"Index");
    let security_type = match random.below(20) {
        0..14 => "Index",
        14..17 => "Equity Index",
        17..19 => "Fixed Income Index",
        _ => "Commodity Index",
    };
    row.set(Column::SecurityType, security_type.as_bytes());
    row.set(Column::SecurityType2, b"Index");
    row.set(Column::Currency, random.pick(&[&b"USD"[..], b"USD", b"EUR", b"JPY", b"GBP"]));
    row.fill(Column::Name, |text| {
        let start = text.len();
        for words in
            [random.pick_by_rank(&VENDORS), random.pick_by_rank(&SUBJECTS), random.pick(&VARIANTS)]
        {
            text.extend_from_slice(words.as_bytes());
            text.push(b' ');
        }
        push_number(text, ordinal % 1000, 1);
        names::cut_to(text, start, 30);
    });
    let symbol = |text: &mut Vec<u8>| {
        let mut rest = scramble(ordinal, 26, seed);
        for _ in 0..6 {
            text.push(b'A' + (rest % 26) as u8);
            rest /= 26;
        }
    };
    let is_plain = random.one_in(2);
    row.fill(Column::Ticker, |text| {
        symbol(text);
        if !is_plain {
            text.extend_from_slice(b" Index");
        }
    });
    match is_plain {
        true => row.copy(Column::Name, Column::Description),
        false => row.fill(Column::Description, symbol),
    }
    if random.one_in(3) {
        row.fill(Column::VendorIndexCode, |text| push_number(text, 700_000 + ordinal, 6));
    }
    if random.one_in(50) {
        row.set(Column::ExchCode, random.pick(&[&b"EUX"[..], b"CME", b"CBO"]));
    }
    if random.one_in(20) {
        row.fill(Column::Alias, |text| {
            text.extend_from_slice(b"former ");
            names::push_coined(text, &mut random);
        });
    }
    dump.push(row);
}
