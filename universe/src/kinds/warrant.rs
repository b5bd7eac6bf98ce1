//! Warrants and certificates on large issuers and on indices. Each has a composite and some
//! venues in Germany.

use crate::dump::{Dump, Issue};
use crate::figis::YEARS;
use crate::identifiers::Security;
use crate::issuer::Issuer;
use crate::markets::Venue;
use crate::rng::Random;
use crate::row::{Column, Row, thousandths};
use crate::terms::maturity;
use crate::{figis, identifiers, names};

/// The issuing houses, cut to the seven characters that a name has room for.
const HOUSES: [&str; 12] = [
    "NORDSEC", "RHEIN B", "HANSE T", "ALP BNK", "SOC PAR", "VALTORE", "GLOB SA", "UNI CRD",
    "CENT KA", "BQ LYON", "MERC   ", "TB     ",
];

const VENUES: [Venue; 3] = [Venue("GF", "XFRA"), Venue("GS", "XSTU"), Venue("GW", "")];

const INDICES: [&str; 8] = [
    "DAX INDEX",
    "EURO STOXX 50",
    "S&P 500",
    "NASDAQ 100",
    "TECDAX PERFORMANCE",
    "DOW INDUSTRIAL",
    "NIKKEI 225",
    "MDAX",
];

/// Writes the warrant with that ordinal.
pub(super) fn write(issue: &Issue, row: &mut Row, dump: &mut Dump) {
    let &Issue { seed, ordinal, .. } = issue;
    let mut random = Random::of(seed, 6, ordinal);
    let year = YEARS.start() + random.below(16);
    let mut figis = figis::WARRANTS.issue(year, ordinal);
    let (security_type, security_type2, on_index) = match random.below(20) {
        0..14 => ("Equity WRT", "Warrant", false),
        14..17 => ("Index WRT", "Warrant", true),
        _ => ("German Cert", "Certificate", random.one_in(2)),
    };
    let is_warrant = security_type2 == "Warrant";
    let is_call = !random.one_in(3);
    let expiration = maturity(year + 1 + random.below(2), &mut random);

    row.begin(["Equity", security_type, security_type2, "EUR"]);
    row.set(Column::Listed, true);
    let house = random.pick_by_rank(&HOUSES);
    let letters = match (is_warrant, is_call) {
        (true, true) => "CW",
        (true, false) => "PW",
        (false, _) => "CT",
    };
    let underlying = match on_index {
        true => random.pick_by_rank(&INDICES).to_owned(),
        false => Issuer::numbered(seed, random.rank(1 << 12)).name(),
    };
    let name = format!("{house}-{letters}{:02} {underlying}", expiration.year % 100);
    row.set(Column::Name, names::cut(name));
    row.set(Column::Expiration, expiration);
    if is_warrant {
        row.set(Column::OptionType, if is_call { "Call" } else { "Put" });
        row.set(Column::Strike, thousandths(500 * (1 + random.below(600))));
        row.set(Column::ContractSize, random.pick(&["0.1", "1", "0.01"]));
    }
    identifiers::fill(row, "DE", Security::Warrant, issue);
    row.copy(Column::Wertpapier, Column::Ticker);
    row.copy(Column::Ticker, Column::Description);
    row.copy(Column::Ticker, Column::ExchSymbol);

    let composite = figis.take();
    row.set(Column::Composite, &composite);
    let venues = 1 + random.below(3) as usize;
    for (place, Venue(exch_code, mic)) in
        [Venue("GR", "")].iter().chain(&VENUES[..venues]).enumerate()
    {
        row.set(Column::Figi, if place == 0 { composite.clone() } else { figis.take() });
        row.set(Column::ExchCode, exch_code);
        row.set(Column::MicCode, mic);
        row.set(Column::UniqueId, format_args!("EW{:016}", figis.running_number()));
        dump.push(row);
    }
}
