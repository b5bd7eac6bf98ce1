//! Hostile requests for changes: as many files, changes and bytes as a page may take.

use std::path::Path;

use figdex_index::{
    BuildLock, ChangeWriter, Changed, FILES_MAX, Figi, GenerationId, Instrument, Manifest,
};

use super::hostile::Hostile;
use crate::support::figi;

/// The instruments of the widest generation, more than a page may have.
const WIDE: u32 = 10_500;

/// The instruments that every other generation changes: a block of each file is full of them.
const TOGGLED: u32 = 1_000;

/// The id of a generation by its place on the way.
fn id(place: usize) -> GenerationId {
    GenerationId::from_bytes([place as u8; 16])
}

/// Keeps files of changes for generations that follow the published one, so that the way from them
/// leads back to it: one that changes many wide instruments, and as many as a way may have and one
/// more that change the same instruments again and again.
pub(super) fn keep(index: &Path) {
    let mut parent = Manifest::published(index).unwrap().id;
    let lock = BuildLock::acquire(index).unwrap();
    for place in 1..=FILES_MAX + 1 {
        let mut writer = ChangeWriter::create(lock.new_changes().unwrap()).unwrap();
        let numbers = if place == FILES_MAX { 1..WIDE } else { WIDE..WIDE + TOGGLED };
        for number in numbers {
            let image = |place: usize| {
                let figi = Figi::parse(&figi(number)).unwrap();
                let texts = if number < WIDE { 12 } else { 1 };
                Some(Instrument {
                    name: Some(format!("NAME {}", place % 2)),
                    alias: (0..texts)
                        .map(|text| format!("{text} \u{1}{}", "\"".repeat(40)))
                        .collect(),
                    ..Instrument::new(figi)
                })
            };
            let changed = Changed { before: image(place - 1), after: image(place) };
            writer.add(&changed).unwrap();
        }
        writer.finish(parent, id(place)).unwrap();
        lock.keep_changes(id(place)).unwrap();
        parent = id(place);
    }
}

pub(super) fn hostile() -> Vec<Hostile> {
    let mut all = Vec::new();
    let wide = format!("/changes?limit=10000&since={}", id(FILES_MAX));
    for form in ["application/x-ndjson", "application/json", "text/csv"] {
        let page = Hostile::get("/changes", &wide).with(&format!("Accept: {form}\r\n"));
        all.push(page.clone().named(format!("a wide page, {form}")));
        let name = format!("a wide page, {form}, packed");
        all.push(page.named(name).with("Accept-Encoding: gzip\r\n"));
    }
    // The changes of two generations cancel out, so that little is left of much work.
    for place in [FILES_MAX - 1, FILES_MAX - 2] {
        let path = format!("/changes?limit=10000&since={}", id(place));
        all.push(Hostile::get("/changes", &path).named(format!("/changes, {place} files")));
    }
    for (name, query) in [
        ("too many files", format!("since={}", id(FILES_MAX + 1))),
        ("an unknown token", format!("since={}", id(0))),
        ("a long token", format!("since={}", "0".repeat(8_000))),
        ("a long cursor", format!("cursor={}", "f".repeat(8_000))),
        ("many parameters", "limit=1&".repeat(900)),
    ] {
        let path = format!("/changes?{query}");
        all.push(Hostile::get("/changes", &path).named(format!("/changes, {name}")));
    }
    all
}
