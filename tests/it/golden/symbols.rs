//! Symbols of vendors over real instruments: how many common shares of five markets have one, and
//! that each is read back as the same security (contract 21.6 to 21.9).

use std::collections::BTreeMap;

use figdex_index::{Catalogue, Figi, RowSource as _, Visible};
use figdex_index::{Filters, Hit, IdType, Lookup, Meter, Policy, Question, ResolveBounds, Vendor};

use super::recorded::instruments;
use crate::support::{Server, real_data};

/// The exchange code of each market's shares.
const MARKETS: [&str; 5] = ["US", "LN", "GR", "JP", "HK"];

const BOUNDS: ResolveBounds = ResolveBounds {
    identifier_rows_max: 15_000,
    rows_max: usize::MAX,
    candidates_max: usize::MAX,
    corrected: Visible::ALL,
};

/// The share class and the composite of a row.
fn security(catalogue: &Catalogue, hit: Hit) -> (Option<Figi>, Option<Figi>) {
    let row = catalogue.row(hit);
    (row.share_class_figi(), row.composite_figi().or(Some(row.figi())))
}

#[test]
fn symbols_of_real_instruments() {
    let Some(folder) = real_data() else { return };
    let dump = folder.join("real/instruments.csv.gz");
    let instruments = instruments(&dump);
    let server = Server::of_real_instruments().unwrap();
    let catalogue = server.catalogue();
    let policy = Policy::parse([""; 0], catalogue.vocabulary()).unwrap();
    let mut counts: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for (figi, row) in &instruments {
        let market = MARKETS.into_iter().find(|code| *code == row["exchCode"]);
        let is_share = row["securityType2"] == "Common Stock";
        let Some(market) = market.filter(|_| is_share) else { continue };
        let id_value = IdType::BbGlobal.admit(figi).unwrap();
        let all = Filters { include_unlisted_equities: true, ..Filters::default() };
        let hit = catalogue.lookup(&Lookup::new(id_value, all), 1).unwrap()[0];
        let (shares, with_yahoo) = counts.entry(market).or_default();
        *shares += 1;
        for vendor in Vendor::all() {
            let Some(symbol) = catalogue.symbol(hit, vendor, &Meter::unlimited()).unwrap() else {
                continue;
            };
            *with_yahoo += usize::from(vendor.name() == "symbol:yahoo");
            let question = Question::symbol(&symbol, vendor, catalogue.vocabulary(), None);
            let found = catalogue
                .resolve(std::slice::from_ref(&question), &policy, BOUNDS, &Meter::unlimited())
                .unwrap();
            assert!(!found[0].hits.is_empty(), "{figi} {symbol} is not found");
            for read in &found[0].hits {
                let same = security(&catalogue, *read) == security(&catalogue, hit);
                assert!(same, "{figi} {symbol} is read as {}", catalogue.figi(*read));
            }
        }
    }
    for market in MARKETS {
        let (shares, written) = counts[market];
        eprintln!("{market}: {written} of {shares}");
        assert!(shares > 400, "{market} has {shares} shares");
        assert!(written * 100 >= shares * 95, "{market}: {written} of {shares}");
    }
}
