//! Currencies: pairs at spot and forward, and crypto assets.

use super::figis::{self, YEARS};
use super::names;
use super::rng::{Random, scramble};
use super::row::{Column, Row};
use super::{Dump, Issue};

const CURRENCIES: [&[u8; 3]; 24] = [
    b"USD", b"EUR", b"JPY", b"GBP", b"CHF", b"AUD", b"CAD", b"CNH", b"SEK", b"NOK", b"NZD", b"MXN",
    b"SGD", b"HKD", b"PLN", b"ZAR", b"TRY", b"INR", b"KRW", b"BRL", b"CZK", b"HUF", b"ILS", b"THB",
];

/// Blank is spot.
const TENORS: [&str; 9] = ["", "1M", "3M", "6M", "1Y", "1W", "2M", "9M", "2Y"];

/// Exchanges of crypto assets.
const VENUES: [&str; 6] = ["bnce", "cbse", "gmni", "btrx", "bfnx", "cexi"];

/// Writes the pair or asset with that ordinal.
pub(super) fn write(issue: &Issue, row: &mut Row, dump: &mut Dump) {
    let &Issue { seed, ordinal, .. } = issue;
    let mut random = Random::of(seed, 16, ordinal);
    let year = YEARS.start() + random.below(16);
    row.clear();
    row.set(Column::Figi, &figis::CURRENCIES.issue(year, ordinal).take());
    row.set(Column::MarketSector, b"Curncy");
    // Two of three are pairs, as long as there are any.
    let pair = ordinal / 3 * 2 + ordinal % 3;
    let count = CURRENCIES.len() as u64;
    let pairs = count * (count - 1);
    if ordinal % 3 < 2 && pair < pairs * TENORS.len() as u64 {
        let (tenor, pair) = (TENORS[(pair / pairs) as usize], pair % pairs);
        let (base, quote) = (pair / (count - 1), pair % (count - 1));
        let quote = if quote >= base { quote + 1 } else { quote };
        let (base, quote) = (CURRENCIES[base as usize], CURRENCIES[quote as usize]);
        row.fill(Column::Ticker, |text| {
            text.extend_from_slice(base);
            text.extend_from_slice(quote);
            text.extend_from_slice(tenor.as_bytes());
        });
        row.fill(Column::Name, |text| {
            text.extend_from_slice(base);
            text.push(b'-');
            text.extend_from_slice(quote);
            text.extend_from_slice(b" X-RATE");
            if !tenor.is_empty() {
                text.push(b' ');
                text.extend_from_slice(tenor.as_bytes());
            }
        });
        let is_cross = base != b"USD" && quote != b"USD";
        let (kind, kind2) = match (tenor, is_cross) {
            ("", true) => ("CROSS", "CROSS"),
            ("", false) => ("SPOT", "SPOT"),
            (_, true) => ("FORWARD CROSS", "FORWARD CROSS"),
            (_, false) => ("FORWARD", "FORWARD"),
        };
        row.set(Column::SecurityType, kind.as_bytes());
        row.set(Column::SecurityType2, kind2.as_bytes());
        row.set(Column::Currency, quote);
    } else {
        row.fill(Column::Name, |text| {
            let start = text.len();
            names::push_coined(text, &mut random);
            // The names of assets are not shouted.
            text[start + 1..].make_ascii_lowercase();
        });
        row.fill(Column::Ticker, |text| {
            let mut rest = scramble(ordinal, 26, seed);
            for _ in 0..if ordinal < 17_000 { 4 } else { 6 } {
                text.push(b'A' + (rest % 26) as u8);
                rest /= 26;
            }
        });
        row.set(Column::SecurityType, b"Crypto");
        row.set(Column::SecurityType2, b"CRYPTO");
        row.set(Column::Currency, b"USD");
        row.set(Column::ExchCode, random.pick(&VENUES).as_bytes());
    }
    row.copy(Column::Ticker, Column::Description);
    dump.push(row);
}
