//! Mortgage and asset-backed securities: pools, collateralised obligations with tranches, other
//! asset-backed securities, collateralised loans. Ticker, name and description are the same text.

use crate::dump::{Dump, Issue};
use crate::figis::YEARS;
use crate::identifiers::Security;
use crate::rng::Random;
use crate::row::{Column, Row};
use crate::terms::maturity;
use crate::{figis, identifiers};

/// Number of securities per deal.
const DEAL: u64 = 8;

const AGENCIES: [&str; 4] = ["GNR", "FNR", "FHR", "SBA"];

/// Pools of the agencies: prefix and security type.
const POOLS: [(&str, &str); 6] = [
    ("FN", "MBS 30yr"),
    ("FG", "MBS 30yr"),
    ("GN", "MBS 30yr"),
    ("FN", "MBS 15yr"),
    ("SBA", "SBA Pool"),
    ("FN", "MBS ARM"),
];

const CMO_TYPES: [&str; 5] =
    ["Agncy CMO Other", "Agncy CMO FLT", "Agncy CMO IO", "Agncy CMO Z", "Agncy CMO PO"];

const ABS_TYPES: [&str; 4] = ["ABS Other", "ABS Auto", "ABS Card", "ABS Home"];

/// Writes the security with that ordinal.
pub(super) fn write(issue: &Issue, row: &mut Row, dump: &mut Dump) {
    let &Issue { seed, ordinal, .. } = issue;
    let (deal, tranche) = (ordinal / DEAL, ordinal % DEAL);
    let mut shared = Random::of(seed, 8, deal);
    let mut random = Random::of(seed, 18, ordinal);
    let year = YEARS.start() + shared.below(16);
    let sponsor: String = (0..5).map(|_| char::from(shared.pick(b"ABCDEFGHLMNPRST"))).collect();
    let kind = shared.below(10);
    let (security_type, security_type2) = match kind {
        0..4 => (random.pick(&POOLS).1, "Pool"),
        4..7 => (random.pick_by_rank(&CMO_TYPES), "CMO"),
        7..9 => (shared.pick_by_rank(&ABS_TYPES), "ABS"),
        _ => ("CF", "LL"),
    };
    let letter = |place: u64| char::from(b'A' + place as u8);
    let text = match security_type2 {
        // `FN 3502345`
        "Pool" => {
            let prefix = POOLS.iter().find(|(_, of)| *of == security_type);
            let (prefix, _) = prefix.expect("the type is of the list");
            format!("{prefix} {}", 500_000 + ordinal)
        }
        // `GNR 2003-92 CJ`
        "CMO" => {
            let (agency, number) = (shared.pick(&AGENCIES[..3]), 1 + deal % 400);
            format!("{agency} {year}-{number} {}{}", letter(deal % 8), letter(tranche))
        }
        // `NAVSL 2014-CTA B`
        "ABS" => format!("{sponsor} {year}-{} {}", 1 + deal % 9, letter(tranche)),
        // `PALMP 1X A2A`
        _ => {
            let classes: [&str; DEAL as usize] = ["A1", "A2A", "A2B", "B1", "B2", "C", "D", "SUB"];
            format!("{sponsor} {}X {}", 1 + deal % 30, classes[tranche as usize])
        }
    };
    row.begin(["Mtge", security_type, security_type2, "USD"]);
    row.set(Column::Figi, figis::MORTGAGES.issue(year, ordinal).take());
    row.set(Column::Ticker, text);
    row.copy(Column::Ticker, Column::Name);
    row.copy(Column::Ticker, Column::Description);
    row.set(Column::Maturity, maturity(year + 15 + shared.below(16), &mut shared));
    identifiers::fill(row, "US", Security::Mortgage, issue);
    dump.push(row);
}
