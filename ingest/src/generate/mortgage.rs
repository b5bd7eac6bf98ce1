//! Mortgages and what is made of them: pools, collateralised obligations with
//! their tranches, other asset-backed securities, collateralised loans. Ticker,
//! name and description are one text.

use super::figis::{self, YEARS};
use super::identifiers::{self, Security};
use super::rng::Random;
use super::row::{Column, Row, push_number};
use super::terms::maturity;
use super::{Dump, Issue};

/// How many securities a deal has.
const DEAL: u64 = 8;

const AGENCIES: [&str; 4] = ["GNR", "FNR", "FHR", "SBA"];

/// Pools of the agencies: prefix, type.
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
    let sponsor: [u8; 5] = std::array::from_fn(|_| shared.pick(b"ABCDEFGHLMNPRST"));
    row.clear();
    row.set(Column::Figi, &figis::MORTGAGES.issue(year, ordinal).take());
    row.set(Column::MarketSector, b"Mtge");
    row.set(Column::Currency, b"USD");
    let kind = shared.below(10);
    let (security_type, security_type2) = match kind {
        0..4 => (random.pick(&POOLS).1, "Pool"),
        4..7 => (random.pick_by_rank(&CMO_TYPES), "CMO"),
        7..9 => (shared.pick_by_rank(&ABS_TYPES), "ABS"),
        _ => ("CF", "LL"),
    };
    row.set(Column::SecurityType, security_type.as_bytes());
    row.set(Column::SecurityType2, security_type2.as_bytes());
    row.fill(Column::Ticker, |text| match security_type2 {
        // `FN 3502345`
        "Pool" => {
            let prefix = POOLS.iter().find(|(_, of)| *of == security_type);
            text.extend_from_slice(prefix.expect("the type is of the list").0.as_bytes());
            text.push(b' ');
            push_number(text, 500_000 + ordinal, 6);
        }
        // `GNR 2003-92 CJ`
        "CMO" => {
            text.extend_from_slice(shared.pick(&AGENCIES[..3]).as_bytes());
            text.push(b' ');
            push_number(text, year, 4);
            text.push(b'-');
            push_number(text, 1 + deal % 400, 1);
            text.extend_from_slice(&[b' ', b'A' + (deal % 8) as u8, b'A' + tranche as u8]);
        }
        // `NAVSL 2014-CTA B`
        "ABS" => {
            text.extend_from_slice(&sponsor);
            text.push(b' ');
            push_number(text, year, 4);
            text.push(b'-');
            push_number(text, 1 + deal % 9, 1);
            text.extend_from_slice(&[b' ', b'A' + tranche as u8]);
        }
        // `PALMP 1X A2A`
        _ => {
            text.extend_from_slice(&sponsor);
            text.push(b' ');
            push_number(text, 1 + deal % 30, 1);
            text.extend_from_slice(b"X ");
            let classes: [&[u8]; DEAL as usize] =
                [b"A1", b"A2A", b"A2B", b"B1", b"B2", b"C", b"D", b"SUB"];
            text.extend_from_slice(classes[tranche as usize]);
        }
    });
    row.copy(Column::Ticker, Column::Name);
    row.copy(Column::Ticker, Column::Description);
    let matures = maturity(year + 15 + shared.below(16), &mut shared);
    row.fill(Column::Maturity, |text| matures.push_iso(text));
    identifiers::fill(row, "US", Security::Mortgage(ordinal), seed);
    dump.push(row);
}
