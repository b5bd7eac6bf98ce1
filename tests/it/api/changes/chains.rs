//! Random chains of generations with rollbacks between them: an export and the changes since then
//! are the next export.

use figdex_index::rollback;

use super::{Feed, Pages, applied};
use crate::support::figi;

/// A random number below `bound`.
fn random(state: &mut u64, bound: u64) -> u64 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*state >> 33) % bound
}

fn random_dump(state: &mut u64) -> String {
    let mut text = String::from("figi,ticker,name,ID_ISIN,importance,alias\n");
    for number in 1..=24 {
        if random(state, 4) > 0 {
            let ticker = ["A", "B", ""][random(state, 3) as usize];
            let name = ["ALPHA", "Alpha", "BETA, \"\"B\"\"", ""][random(state, 4) as usize];
            let isin = ["US4592001014", "US0378331005", "US0378331005;US4592001014", ""];
            let isin = isin[random(state, 4) as usize];
            let importance = ["1", "2.5", ""][random(state, 3) as usize];
            let alias = ["x", "x;y", "y;x", ""][random(state, 4) as usize];
            let figi = figi(number);
            text += &format!("{figi},{ticker},\"{name}\",{isin},{importance},{alias}\n");
        }
    }
    text
}

/// contract 19.4, 19.5: over random chains with rollbacks, old rows and the changes are the new rows.
#[test]
fn old_rows_and_changes_are_new_rows() {
    for seed in 1..=4 {
        let mut state = seed;
        let feed = Feed::of(&random_dump(&mut state));
        let mut known = vec![(feed.token(), feed.exported())];
        for step in 0..7 {
            let can_roll_back = feed.manifest().generation > 1;
            if can_roll_back && random(&mut state, 3) == 0 {
                rollback(&feed.index()).unwrap();
                feed.reload();
            } else {
                feed.build(&random_dump(&mut state));
                known.push((feed.token(), feed.exported()));
            }
            let rows = feed.exported();
            for (token, old) in &known {
                let limit = 1 + random(&mut state, 30) as usize;
                let Pages { lines, token: next, .. } = feed.since(token, limit);
                assert_eq!(applied(old.clone(), &lines), rows, "seed {seed}, step {step}");
                assert_eq!(next, feed.token());
            }
        }
    }
}
