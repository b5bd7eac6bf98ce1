//! Currencies: pairs at spot and forward, and crypto assets.

use crate::dump::{Dump, Issue};
use crate::figis::YEARS;
use crate::rng::{Random, scramble};
use crate::row::{Column, Row};
use crate::{figis, names};

const CURRENCIES: [&str; 24] = [
    "USD", "EUR", "JPY", "GBP", "CHF", "AUD", "CAD", "CNH", "SEK", "NOK", "NZD", "MXN", "SGD",
    "HKD", "PLN", "ZAR", "TRY", "INR", "KRW", "BRL", "CZK", "HUF", "ILS", "THB",
];

/// The tenors of forwards. A blank means spot.
const TENORS: [&str; 9] = ["", "1M", "3M", "6M", "1Y", "1W", "2M", "9M", "2Y"];

/// Exchanges of crypto assets.
const VENUES: [&str; 6] = ["bnce", "cbse", "gmni", "btrx", "bfnx", "cexi"];

/// Writes the pair or asset with that ordinal.
pub(super) fn write(issue: &Issue, row: &mut Row, dump: &mut Dump) {
    let &Issue { seed, ordinal, .. } = issue;
    let mut random = Random::of(seed, 16, ordinal);
    let year = YEARS.start() + random.below(16);
    // Two of three issues are pairs, until all pairs are used.
    let pair = ordinal / 3 * 2 + ordinal % 3;
    let count = CURRENCIES.len() as u64;
    let pairs = count * (count - 1);
    if ordinal % 3 < 2 && pair < pairs * TENORS.len() as u64 {
        let (tenor, pair) = (TENORS[(pair / pairs) as usize], pair % pairs);
        let (base, quote) = (pair / (count - 1), pair % (count - 1));
        let quote = if quote >= base { quote + 1 } else { quote };
        let (base, quote) = (CURRENCIES[base as usize], CURRENCIES[quote as usize]);
        let is_cross = base != "USD" && quote != "USD";
        let kind = match (tenor, is_cross) {
            ("", true) => "CROSS",
            ("", false) => "SPOT",
            (_, true) => "FORWARD CROSS",
            (_, false) => "FORWARD",
        };
        row.begin(["Curncy", kind, kind, quote]);
        row.set(Column::Ticker, format_args!("{base}{quote}{tenor}"));
        row.set(Column::Name, format!("{base}-{quote} X-RATE {tenor}").trim_end());
    } else {
        row.begin(["Curncy", "Crypto", "CRYPTO", "USD"]);
        // Names of crypto assets are not in upper case.
        let name = names::coined(&mut random);
        row.set(Column::Name, format_args!("{}{}", &name[..1], name[1..].to_ascii_lowercase()));
        let letters = if ordinal < 17_000 { 4 } else { 6 };
        row.set(Column::Ticker, names::letters(scramble(ordinal, 26, seed), letters));
        row.set(Column::ExchCode, random.pick(&VENUES));
    }
    row.set(Column::Figi, figis::CURRENCIES.issue(year, ordinal).take());
    row.copy(Column::Ticker, Column::Description);
    dump.push(row);
}
