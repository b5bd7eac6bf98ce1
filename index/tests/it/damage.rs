//! Files with wrong contents and right checksums, as a fault of the builder would make them. Nothing
//! panics: opening or `verify` refuses them, or the change is harmless.
//! `fuzz/fuzz_targets/generation.rs` tries more changes.

use std::fs;
use std::path::{Path, PathBuf};

use figdex_index::{
    Catalogue, Filters, Importance, Keywords, Manifest, Meter, Property, RowSource as _, Search,
};
use figdex_io::hex;
use sha2::{Digest as _, Sha256};

use crate::support::{publish, universe};

/// The number of places that are changed in each file.
const PLACES: usize = 5;

/// Publishes an index with a word that is frequent enough for a list of ranks, and returns the files
/// of its generation without those of tantivy.
fn published(index: &Path) -> Vec<PathBuf> {
    let mut instruments = universe(140);
    for (number, instrument) in instruments.iter_mut().enumerate() {
        instrument.name = Some(format!("NAME \"{}\"", instrument.figi));
        instrument.importance = Importance::new((number % 7) as f64);
    }
    publish(index, &instruments, 1_000).verify().unwrap();
    let entries = fs::read_dir(index.join("generation-000001/part-000")).unwrap();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| fs::metadata(path).is_ok_and(|file| file.is_file() && file.len() > 0));
    files.sort_unstable();
    files
}

/// Changed and cut versions of a file.
fn changes(whole: &[u8]) -> impl Iterator<Item = Vec<u8>> {
    let flipped = (0..PLACES).map(|place| {
        let mut bytes = whole.to_vec();
        bytes[(whole.len() - 1) * place / (PLACES - 1)] ^= 0xff;
        bytes
    });
    let cut = [0, whole.len() / 2, whole.len() - 1].map(|length| whole[..length].to_vec());
    flipped.chain(cut)
}

/// Writes the length and checksum of the changed file into the manifest.
fn seal(index: &Path, path: &Path) {
    let generation = index.join("generation-000001");
    let manifest = generation.join("manifest.toml");
    let text = fs::read_to_string(&manifest).unwrap();
    let mut parsed: Manifest = toml::from_str(&text).unwrap();
    for part in &mut parsed.parts {
        let folder = part.path(&generation);
        for file in part.files.iter_mut().filter(|file| file.path(&folder).unwrap() == path) {
            let bytes = fs::read(path).unwrap();
            file.bytes = bytes.len() as u64;
            file.sha256 = hex(&Sha256::digest(bytes));
        }
    }
    let text = toml::to_string(&parsed).unwrap();
    let checksum = format!("{}  manifest.toml\n", hex(&Sha256::digest(&text)));
    fs::write(manifest, text).unwrap();
    fs::write(generation.join("manifest.toml.sha256"), checksum).unwrap();
}

/// Searches for words and for a value, and reads the rows that are found.
fn ask(catalogue: &Catalogue) {
    let keywords = |text| Some(Keywords::parse(text).unwrap());
    let mut filters = Filters::default();
    filters.known.require(catalogue.vocabulary().admit(Property::ExchCode, "US").unwrap());
    for search in [
        Search { keywords: keywords("name"), filters: Filters::default() },
        Search { keywords: keywords("name brk"), filters: filters.clone() },
        Search { keywords: None, filters },
    ] {
        let page = catalogue.search(&search, None, 100, &Meter::unlimited()).unwrap().unwrap();
        for hit in page.hits {
            assert!(catalogue.row(hit).name().unwrap().to_string().starts_with("NAME"));
            catalogue.instrument(hit).unwrap();
        }
    }
}

#[test]
fn a_changed_file_with_a_right_checksum_is_refused_or_harmless() {
    let folder = tempfile::tempdir().unwrap();
    let (mut refused, mut passed) = (0, 0);
    for path in published(folder.path()) {
        let whole = fs::read(&path).unwrap();
        for bytes in changes(&whole) {
            fs::write(&path, bytes).unwrap();
            seal(folder.path(), &path);
            match Catalogue::open(folder.path()) {
                Ok(catalogue) if catalogue.verify().is_ok() => {
                    ask(&catalogue);
                    passed += 1;
                }
                Ok(_) | Err(_) => refused += 1,
            }
        }
        fs::write(&path, whole).unwrap();
        seal(folder.path(), &path);
    }
    Catalogue::open(folder.path()).unwrap().verify().unwrap();
    // Only bytes that no row needs may be changed, such as a length that no key has.
    assert!(refused > 10 * passed, "{refused} refused, {passed} passed");
}
