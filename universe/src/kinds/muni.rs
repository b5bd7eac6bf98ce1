//! Municipal bonds of the United States: series of a borrower with a row per maturity, named by
//! state, borrower, coupon and maturity with the full year.

use crate::day::Day;
use crate::dump::{Dump, Issue};
use crate::figis::YEARS;
use crate::identifiers::Security;
use crate::rng::Random;
use crate::row::{Column, Row, thousandths};
use crate::{figis, identifiers, names};

/// Number of maturities per series.
const SERIES: u64 = 12;

const STATES: [&str; 51] = [
    "CA", "NY", "TX", "FL", "IL", "PA", "NJ", "OH", "MA", "WA", "MI", "MN", "VA", "NC", "GA", "CT",
    "AZ", "CO", "MD", "WI", "IN", "MO", "TN", "SC", "OR", "KY", "LA", "AL", "OK", "IA", "KS", "NV",
    "UT", "AR", "MS", "NE", "NM", "WV", "ID", "HI", "ME", "NH", "RI", "MT", "DE", "SD", "ND", "AK",
    "DC", "VT", "WY",
];

/// The kinds of borrowers, as written in the name and in the ticker.
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
    // The common values of the maturities depend only on the series.
    let mut shared = Random::of(seed, 7, series);
    let mut random = Random::of(seed, 17, ordinal);
    let year = YEARS.start() + shared.below(16);
    let (month, day) = (shared.pick(&[2, 3, 5, 6, 8, 9, 11, 12]), shared.pick(&[1, 15]));
    let maturity = Day { year: year + 1 + shared.below(6) + place, month, day };
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

    row.begin(["Muni", security_type, "Muni", "USD"]);
    row.set(Column::Figi, figis::MUNIS.issue(year, ordinal).take());
    row.set(Column::StateCode, state);
    let name = format!("{} {purpose}", names::coined(&mut shared));
    let suffix = ["", "-A", "-B", "-REF"][(series % 4) as usize];
    row.set(Column::Name, names::with_suffix(&name, suffix));
    let (initials, coupon) = (&name[..3], thousandths(coupon));
    let Day { year, month, day } = maturity;
    row.set(
        Column::Ticker,
        format_args!("{state} {initials}{code} {coupon} {month:02}/{day:02}/{year}"),
    );
    row.set(Column::Coupon, coupon);
    row.set(Column::Maturity, maturity);
    identifiers::fill(row, "US", Security::Muni, issue);
    let cusip = row.get(Column::Cusip)[..8].to_owned();
    row.set(Column::Cusip8, cusip);
    dump.push(row);
}
