//! Promises 9 and 10: how long a build takes, and how large its index is.

use figdex_index::Manifest;

use crate::Scale;
use crate::alone::{self, Identifiers};
use crate::side_by_side::{self, Way};

/// Of an index, all files, for each instrument.
const BYTES_PER_INSTRUMENT_MAX: f64 = 200.0;

pub(crate) fn measure(scale: &Scale) {
    let dump = scale.json_lines();
    let [ours, theirs] = [(); 2].map(|()| tempfile::tempdir().expect("a folder for an index"));
    let alone = |with| alone::index(&dump, theirs.path(), with);
    let mut ways: [Way<'_>; 4] = [
        ("JSON lines parsed, one thread", Box::new(|| parse(&dump))),
        ("dump to published generation", Box::new(|| scale.publish(&dump, ours.path()))),
        ("tantivy alone, identifiers as terms", Box::new(|| alone(Identifiers::Terms))),
        ("tantivy alone, without identifiers", Box::new(|| alone(Identifiers::None))),
    ];
    let times = side_by_side::measure(scale.rounds, &mut ways);
    side_by_side::tell("9, parsing / build", times[0], times[1], 0.10);
    side_by_side::tell("9, tantivy with / without identifiers", times[2], times[3], 3.0);
    side_by_side::tell("9, tantivy with identifiers / whole build", times[2], times[1], 3.0);
    let manifest = Manifest::published(ours.path()).expect("it was published");
    let bytes = manifest.bytes() as f64 / manifest.instruments as f64;
    let kept = if bytes <= BYTES_PER_INSTRUMENT_MAX { "kept" } else { "MISSED" };
    println!("  promise 10: {bytes:.1} bytes an instrument (at most 200) {kept}");
}

fn parse(dump: &[u8]) {
    alone::rows(dump).for_each(|row| assert!(std::hint::black_box(row).is_object()));
}
