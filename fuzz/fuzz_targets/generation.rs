//! The files of a published index with changed bytes.
//!
//! An input is a mode and up to [`EDITS_MAX`] edits of [`EDIT_BYTES`] each. In mode 0 the
//! manifest stays as it is, and opening must refuse every changed file. In mode 1 the manifest
//! is made to match the changed files, as if a faulty builder had written them: opening or
//! `verify` may refuse the index, and an index that both accept answers every question. In
//! mode 2 the rest of the input is the content of the file that names the generation.

#![no_main]

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use figdex_fuzz::{index, questions};
use figdex_index::{Catalogue, Manifest};
use figdex_io::hex;
use libfuzzer_sys::fuzz_target;
use sha2::{Digest as _, Sha256};
use tempfile::TempDir;

const EDITS_MAX: usize = 4;
const EDIT_BYTES: usize = 6;

const POINTER: &str = "CURRENT";
const MANIFEST: &str = "manifest.toml";
const CHECKSUM: &str = "manifest.toml.sha256";

/// The folder of tantivy's files, which only mode 0 changes: tantivy trusts files whose
/// checksum is right.
const SEGMENT: &str = "segment";

fuzz_target!(|input: &[u8]| {
    let Some((mode, rest)) = input.split_first() else { return };
    INDEX.with_borrow(|index| match mode % 3 {
        0 => index.refuses(rest),
        1 => index.verifies(rest),
        _ => index.points(rest),
    });
});

thread_local! {
    static INDEX: RefCell<Index> = RefCell::new(Index::new());
}

/// The index, and its files as they were published.
struct Index {
    folder: TempDir,
    generation: PathBuf,
    files: Vec<(PathBuf, Vec<u8>)>,
    /// Places in `files` of the files that belong neither to the manifest nor to tantivy.
    companions: Vec<usize>,
}

impl Index {
    fn new() -> Self {
        let folder = index::build();
        let pointer = fs::read_to_string(folder.path().join(POINTER)).expect("a pointer");
        let generation = folder.path().join(pointer.trim_end());
        let mut files = Vec::new();
        gather(&generation, &mut files);
        files.sort_unstable();
        let is_companion = |path: &Path| {
            let folder = path.parent().unwrap_or(path);
            folder != generation && !folder.ends_with(SEGMENT)
        };
        let companions = (0..files.len()).filter(|place| is_companion(&files[*place].0)).collect();
        Self { folder, generation, files, companions }
    }

    fn refuses(&self, edits: &[u8]) {
        let all: Vec<usize> = (0..self.files.len()).collect();
        let changed = self.change(&all, edits);
        assert_eq!(self.open().is_err(), !changed.is_empty());
        self.restore(changed.into_keys());
    }

    fn verifies(&self, edits: &[u8]) {
        let changed = self.change(&self.companions, edits);
        self.seal(&changed);
        if let Ok(catalogue) = self.open()
            && catalogue.verify().is_ok()
        {
            questions::ask(&catalogue);
        }
        let of_manifest = |place: &usize| self.files[*place].0.parent() == Some(&*self.generation);
        self.restore(changed.into_keys().chain((0..self.files.len()).filter(of_manifest)));
    }

    fn points(&self, pointer: &[u8]) {
        let path = self.folder.path().join(POINTER);
        let original = fs::read(&path).expect("a pointer");
        fs::write(&path, pointer).expect("a file that can be written");
        if let Ok(catalogue) = self.open() {
            assert!(pointer.starts_with(original.trim_ascii_end()));
            assert_eq!(catalogue.publication().generation, catalogue.manifest().generation);
        }
        fs::write(&path, original).expect("a file that can be written");
    }

    fn open(&self) -> figdex_index::Result<Catalogue> {
        Catalogue::open(self.folder.path())
    }

    /// Edits files, and returns the new content of those that differ from the published ones.
    fn change(&self, among: &[usize], edits: &[u8]) -> BTreeMap<usize, Vec<u8>> {
        let mut changed = BTreeMap::new();
        for edit in edits.as_chunks::<EDIT_BYTES>().0.iter().take(EDITS_MAX) {
            let place = among[usize::from(edit[0]) % among.len()];
            apply(edit, changed.entry(place).or_insert_with(|| self.files[place].1.clone()));
        }
        changed.retain(|place, bytes| *bytes != self.files[*place].1);
        for (place, bytes) in &changed {
            fs::write(&self.files[*place].0, bytes).expect("a file that can be written");
        }
        changed
    }

    /// Makes the manifest and its checksum match the changed files.
    fn seal(&self, changed: &BTreeMap<usize, Vec<u8>>) {
        let path = self.generation.join(MANIFEST);
        let text = fs::read_to_string(&path).expect("a manifest");
        let mut manifest: Manifest = toml::from_str(&text).expect("a manifest as it was written");
        for (place, bytes) in changed {
            let path = &self.files[*place].0;
            let of_file = manifest.parts.iter_mut().find_map(|part| {
                let folder = part.path(&self.generation);
                part.files
                    .iter_mut()
                    .find(|file| file.path(&folder).is_ok_and(|found| found == *path))
            });
            let of_file = of_file.expect("the manifest lists every file");
            of_file.bytes = bytes.len() as u64;
            of_file.sha256 = hex(&Sha256::digest(bytes));
        }
        let text = toml::to_string(&manifest).expect("a manifest can be written");
        let checksum = format!("{}  {MANIFEST}\n", hex(&Sha256::digest(&text)));
        fs::write(path, text).expect("a file that can be written");
        let path = self.generation.join(CHECKSUM);
        fs::write(path, checksum).expect("a file that can be written");
    }

    fn restore(&self, places: impl Iterator<Item = usize>) {
        for (path, original) in places.map(|place| &self.files[place]) {
            fs::write(path, original).expect("a file that can be written");
        }
    }
}

/// Adds every file below a folder, with its bytes.
fn gather(folder: &Path, files: &mut Vec<(PathBuf, Vec<u8>)>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            gather(&path, files);
        } else {
            let bytes = fs::read(&path).expect("a file");
            files.push((path, bytes));
        }
    }
}

/// Applies one edit: a file (chosen by the caller), a kind of change, a place and a value.
fn apply(edit: &[u8; EDIT_BYTES], bytes: &mut Vec<u8>) {
    let [_, how, low, middle, high, value] = *edit;
    let at = usize::from(low) | usize::from(middle) << 8 | usize::from(high) << 16;
    let at = at % (bytes.len() + 1);
    let number = (value as i8 as u32).to_le_bytes();
    match how % 6 {
        0 => bytes[at..].iter_mut().take(1).for_each(|byte| *byte = value),
        1 => bytes[at..].iter_mut().take(1).for_each(|byte| *byte ^= value),
        2 => bytes[at..].iter_mut().zip(number).for_each(|(byte, other)| *byte = other),
        3 => bytes.truncate(at),
        4 => bytes.insert(at, value),
        _ => bytes.extend_from_slice(&number),
    }
}
