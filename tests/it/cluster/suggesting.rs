//! Suggestions over a cluster: the same as over a folder, except guesses.

use figdex_index::{Begun, Catalogue, Filters, Keywords, Meter, RowSource as _, Suggest};
use figdex_ingest::Input;
use figdex_io::Layout;

use super::in_cluster;
use crate::support::cluster::wait_for;
use crate::support::{build_of, generated};

const LIMIT: usize = 8;

/// Contract 16.1: a word of up to three letters counts, after other words and alone.
#[test]
fn short_words_count() {
    let Some(cluster) = in_cluster() else { return };
    let folder = tempfile::tempdir().unwrap();
    let index = folder.path().join("index");
    let dump = generated(3_000, Layout::Csv);
    let input = Input::Memory("dump", dump.clone().into());
    build_of(vec![input], &index).run(&mut |_| {}).unwrap();
    cluster.publish(&index);
    let (catalogue, generation) = (Catalogue::open(&index).unwrap(), cluster.open());

    let mut table = csv::Reader::from_reader(&dump[..]);
    let place = table.headers().unwrap().iter().position(|column| column == "name").unwrap();
    let names = table.records().map(|row| row.unwrap()[place].to_lowercase());
    let names = names.step_by(40).filter(|name| name.contains(' '));
    let texts = names.enumerate().flat_map(|(number, name)| {
        let (first, rest) = name.split_once(' ').unwrap();
        let letters = |text: &str, count| text.chars().take(count).collect::<String>();
        let (short, shorter) = (letters(rest, 1 + number % 3), letters(first, 1 + number % 3));
        [format!("{first} {short}"), shorter.clone(), format!("{shorter} {short}")]
    });
    let (mut asked, mut different) = (0, Vec::new());
    for text in texts.take(90) {
        let keywords = Keywords::parse(&text).unwrap();
        let question = Suggest { keywords, filters: Filters::default() };
        let (begun, meter) = (&mut Begun::default(), &Meter::unlimited());
        let ours = catalogue.suggest(&question, LIMIT, begun, meter).unwrap().unwrap();
        if ours.iter().any(|suggestion| suggestion.matched.guess) {
            continue;
        }
        let (rows, theirs) = wait_for(generation.suggest(&question, LIMIT, None)).unwrap();
        let ours: Vec<_> =
            ours.iter().map(|found| (catalogue.row(found.hit).figi(), found.listings)).collect();
        let theirs: Vec<_> =
            theirs.iter().map(|found| (rows.row(found.hit).figi(), found.listings)).collect();
        asked += 1;
        if ours != theirs {
            different.push((text, ours, theirs));
        }
    }
    assert!(asked > 50, "{asked}");
    assert!(different.is_empty(), "{} of {asked}: {different:#?}", different.len());
}
