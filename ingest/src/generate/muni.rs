//! Municipal bonds of the United States: series of a borrower, a row for each
//! maturity, known by state, borrower, coupon and the whole year.

use super::figis::{self, YEARS};
use super::identifiers::{self, Security};
use super::names;
use super::rng::Random;
use super::row::{Column, Row, push_number, push_thousandths};
use super::{Dump, Issue};

/// How many maturities a series has.
const SERIES: u64 = 12;

const STATES: [&str; 51] = [
    "CA", "NY", "TX", "FL", "IL", "PA", "NJ", "OH", "MA", "WA", "MI", "MN", "VA", "NC", "GA", "CT",
    "AZ", "CO", "MD", "WI", "IN", "MO", "TN", "SC", "OR", "KY", "LA", "AL", "OK", "IA", "KS", "NV",
    "UT", "AR", "MS", "NE", "NM", "WV", "ID", "HI", "ME", "NH", "RI", "MT", "DE", "SD", "ND", "AK",
    "DC", "VT", "WY",
];

/// What borrows, as the name and as the ticker have it.
const PURPOSES: [(&str, &str); 12] = [
    ("SCH DIST", "SCD"),
    ("CNTY", "CNT"),
    ("WTR & SWR", "WTR"),
    ("UNIV", "HGR"),
    ("HSG FIN", "HSG"),
    ("IMPT REF", "GEN"),
    ("TRANSN AUTH", "TRN"),
    ("HLTH FACS", "MED"),
    ("PUB IMPT", "IMP"),
    ("PWR AGY", "PWR"),
    ("ARPT", "APT"),
    ("CMNTY CLG", "EDU"),
];

/// Writes the maturity with that ordinal.
pub(super) fn write(issue: &Issue, row: &mut Row, dump: &mut Dump) {
    let &Issue { seed, ordinal, .. } = issue;
    let (series, place) = (ordinal / SERIES, ordinal % SERIES);
    // What the maturities share comes from a stream of the series.
    let mut shared = Random::of(seed, 7, series);
    let mut random = Random::of(seed, 17, ordinal);
    let year = YEARS.start() + shared.below(16);
    let (month, day) = (shared.pick(&[2, 3, 5, 6, 8, 9, 11, 12]), shared.pick(&[1, 15]));
    let maturity = super::day::Day { year: year + 1 + shared.below(6) + place, month, day };
    let state = shared.pick_by_rank(&STATES);
    let (purpose, code) = shared.pick_by_rank(&PURPOSES);
    let security_type = match shared.below(20) {
        0..14 => "FIXED",
        14..17 => "FIXED, OID",
        17 => "ADJUSTABLE",
        18 => "CASH FLOW",
        _ => "INTER. APPRECIATION",
    };
    let coupon = match security_type {
        "CASH FLOW" | "INTER. APPRECIATION" => 0,
        _ => 1_000 + 125 * shared.below(32) + 50 * random.below(4),
    };

    row.clear();
    row.set(Column::Figi, &figis::MUNIS.issue(year, ordinal).take());
    row.set(Column::MarketSector, b"Muni");
    row.set(Column::SecurityType, security_type.as_bytes());
    row.set(Column::SecurityType2, b"Muni");
    row.set(Column::StateCode, state.as_bytes());
    row.set(Column::Currency, b"USD");
    row.fill(Column::Name, |text| {
        let start = text.len();
        names::push_coined(text, &mut shared);
        text.push(b' ');
        text.extend_from_slice(purpose.as_bytes());
        names::push_suffix(text, start, ["", "-A", "-B", "-REF"][(series % 4) as usize]);
    });
    let initials: Vec<u8> = row.get(Column::Name).iter().copied().take(3).collect();
    row.fill(Column::Ticker, |text| {
        text.extend_from_slice(state.as_bytes());
        text.push(b' ');
        text.extend_from_slice(&initials);
        text.extend_from_slice(code.as_bytes());
        text.push(b' ');
        push_thousandths(text, coupon);
        text.push(b' ');
        for part in [maturity.month, maturity.day] {
            push_number(text, part, 2);
            text.push(b'/');
        }
        push_number(text, maturity.year, 4);
    });
    row.fill(Column::Coupon, |text| push_thousandths(text, coupon));
    row.fill(Column::Maturity, |text| maturity.push_iso(text));
    identifiers::fill(row, "US", Security::Muni(ordinal), seed);
    let cusip = row.get(Column::Cusip)[..8].to_vec();
    row.set(Column::Cusip8, &cusip);
    dump.push(row);
}
