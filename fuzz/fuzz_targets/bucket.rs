//! The documents of an index in object storage, as a stranger may have written them.
//!
//! The first character says which: `p` the pointer, `c` the contents of a generation, `d` its patches,
//! `m` a manifest.
//! A document that is accepted names only files below its folder, and fits into its bounds.

#![no_main]

use std::path::{Component, Path};

use figdex_index::{MANIFEST_BYTES_MAX, Manifest};
use figdex_storage::documents;
use libfuzzer_sys::fuzz_target;

/// The most change files and pieces that a generation may list.
const CHANGE_FILES_MAX: usize = 4 << 10;
const PIECES_MAX: usize = 80_000;

fuzz_target!(|input: &[u8]| {
    let Some((kind, text)) = input.split_first() else { return };
    match kind {
        b'p' => {
            if let Ok(name) = documents::pointer(text) {
                is_one_component(&name);
            }
        }
        b'c' => {
            if let Ok((manifest, pieces, changes)) = documents::contents(text) {
                is_within(&manifest);
                pieces.iter().for_each(|name| is_piece(name));
                assert!(changes.len() <= CHANGE_FILES_MAX && pieces.len() <= PIECES_MAX);
                assert!(changes.is_sorted_by(|a, b| a < b), "each is there once");
            }
        }
        b'd' => {
            // Each has a checksum of 64 digits.
            if let Ok((files, patches)) = documents::patches(text) {
                assert!((files + patches) * 64 <= text.len());
            }
        }
        b'm' => {
            let Ok(text) = str::from_utf8(text) else { return };
            if let Ok(manifest) = Manifest::of_text(text, Path::new("manifest")) {
                assert!(text.len() <= MANIFEST_BYTES_MAX);
                is_within(&manifest);
                let again = Manifest::of_text(&manifest.text(), Path::new("manifest"));
                assert_eq!(again.ok().as_ref(), Some(&manifest), "it is written as it was read");
            }
        }
        _ => {}
    }
});

/// Checks that all files of a manifest lie in the folders of their parts or in that of the past, and
/// each is there once.
fn is_within(manifest: &Manifest) {
    let mut names: Vec<_> = manifest.files().map(|(name, _)| name).collect();
    for name in &names {
        let is_of_part = name.starts_with("part-") && name.contains('/');
        assert!(is_of_part || name.starts_with("past/"), "{name}");
        let is_normal = |component| matches!(component, Component::Normal(_));
        assert!(Path::new(name).components().all(is_normal), "{name}");
        assert!(name.split('/').all(|part| !["", ".", ".."].contains(&part)), "{name}");
    }
    let count = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), count);
    // The sum of the sizes does not overflow.
    manifest.bytes();
}

fn is_piece(name: &str) {
    let (generation, sha256) = name.split_once('/').expect("a piece is below its generation");
    is_one_component(generation);
    assert!(sha256.len() == 64 && sha256.bytes().all(|byte| byte.is_ascii_hexdigit()), "{name}");
}

fn is_one_component(name: &str) {
    assert!(name.starts_with("generation-"), "{name}");
    assert!(name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-'), "{name}");
}
