//! The Parquet file of a generation: published, followed, damaged.

use figdex_index::{PARQUET, PARQUET_FILE, ParquetWriter};

use super::*;
use crate::contents::Described;

/// Builds a generation whose Parquet file has these bytes; without them it has none.
fn built(folder: &Path, name: &str, bytes: Option<&'static [u8]>) -> Manifest {
    let mut builder = Builder::create(folder, BuildOptions::default()).unwrap();
    if let Some(bytes) = bytes {
        let writer = ParquetWriter::new(Vec::new(), move |_, path| Ok(fs::write(path, bytes)?));
        builder.write_parquet(writer);
    }
    let figi = Figi::parse("BBG000BLNNH6").unwrap();
    builder.add(Instrument { name: Some(name.into()), ..Instrument::new(figi) }).unwrap();
    builder.publish(Vec::new()).unwrap()
}

/// The file is published and followed as the others are. Only contents with it have layout 4.
#[tokio::test(start_paused = true)]
async fn the_file_is_followed() {
    let (index, copy) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let storage = Faulty::new();
    let mut replica = Replica::open(storage.store(), copy.path(), None).unwrap();
    for (name, bytes, layout) in [
        ("ONE", Some(&b"first"[..]), "{\"layout\":4"),
        ("TWO", None, "{\"layout\":1"),
        ("THREE", Some(&b"second"[..]), "{\"layout\":4"),
    ] {
        let manifest = built(index.path(), name, bytes);
        assert_eq!(manifest.parquet.is_some(), bytes.is_some());
        published(&storage, index.path()).await.unwrap();
        let pointer = Pointer::read(&storage.store()).await.unwrap().unwrap();
        assert!(storage.object(&pointer.name.contents()).starts_with(layout.as_bytes()), "{name}");
        let described = Described::read(&storage.store(), pointer.name, None).await.unwrap();
        assert_eq!(described.files().count(), manifest.files().count());
        assert!(matches!(replica.look(false).await.unwrap(), Look::Taken(_)));
        let catalogue = Catalogue::open_checked(copy.path()).unwrap();
        catalogue.verify().unwrap();
        let file = catalogue.parquet_of(catalogue.manifest().generation).unwrap();
        let read = file.map(|file| {
            let mut read = vec![0; file.bytes() as usize];
            file.read_at(&mut read, 0).unwrap();
            read
        });
        assert_eq!(read.as_deref(), bytes, "{name}");
        verify(&storage.store()).await.unwrap();
    }
}

/// A manifest lists exactly this file, or none.
#[test]
fn other_files_are_refused() {
    let index = tempfile::tempdir().unwrap();
    let text = built(index.path(), "ONE", Some(b"first")).text();
    let refused = |from: &str, to: &str| {
        assert!(text.contains(from), "{text}");
        Manifest::of_text(&text.replace(from, to), Path::new("x")).unwrap_err().to_string()
    };
    let other = refused(PARQUET_FILE, "other.parquet");
    assert!(other.contains(&format!("{PARQUET} has other files than {PARQUET_FILE}")), "{other}");
    let unknown = refused("identifiers = []", "identifiers = [\"ID_NEW\"]");
    assert!(unknown.contains("identifiers that this version does not know"), "{unknown}");
}
