//! A dump, after a letter for its format, is built into an index, verified, queried and
//! exported. The export must build the same instruments again.

#![no_main]

use figdex_fuzz::{dump, questions};
use figdex_index::{Catalogue, IdValue, Instrument};
use figdex_ingest::inspect::export;
use figdex_ingest::{Build, Error, Format, Input, MEMORY_BYTES_MIN, MaxRejects};
use figdex_io::RowLayout;
use libfuzzer_sys::fuzz_target;
use tempfile::TempDir;

fuzz_target!(|input: &[u8]| {
    let Some((choice, content)) = input.split_first() else { return };
    let Some((_folder, first)) = build(content, dump::format(*choice)) else { return };
    questions::ask(&first);
    let mut exported = Vec::new();
    export::write(&first, RowLayout::JsonLines, &mut exported)
        .expect("JSON Lines can hold every instrument");
    let format = "jsonl".parse().expect("a built-in format");
    let (_folder, second) = build(&exported, Some(format)).expect("an export can be built");
    assert_eq!(instruments(&first), instruments(&second));
});

/// The index of a dump; `None` when the dump has a fault or no instrument. Any other error,
/// such as a full disk, ends the run.
fn build(content: &[u8], format: Option<Format>) -> Option<(TempDir, Catalogue)> {
    let folder = tempfile::tempdir().expect("a folder for an index");
    let build = Build {
        format,
        max_rejects: MaxRejects::Percent(100.0),
        checks_space: false,
        memory_bytes: MEMORY_BYTES_MIN,
        ..Build::new(vec![Input::Memory("input", content.into())], folder.path().join("index"))
    };
    match build.run(&mut |_| {}) {
        Ok(_) => {}
        Err(Error::Input { .. } | Error::Nothing { .. }) => return None,
        Err(error) => panic!("{error}"),
    }
    let catalogue = Catalogue::open(&build.index).expect("a published index can be opened");
    catalogue.verify().expect("a published index is valid");
    Some((folder, catalogue))
}

fn instruments(catalogue: &Catalogue) -> Vec<Instrument> {
    let mut all = Vec::new();
    let read = catalogue.instruments(|instrument| {
        let mut instrument = instrument.clone();
        // An export keeps the order within a kind, and orders the kinds by column.
        instrument.identifiers.sort_by_key(IdValue::id_type);
        all.push(instrument);
        Ok::<_, figdex_index::Error>(())
    });
    read.expect("a verified index can be read");
    all
}
