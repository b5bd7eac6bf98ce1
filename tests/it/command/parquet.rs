//! `figdex-ingest build --parquet`, and Parquet out of `export` and `diff`. `tests/tools/parquet`
//! reads such files with the engines that they are for.

use std::fs;
use std::path::Path;

use crate::support::ingest;

/// A folder with a dump.
fn desk() -> tempfile::TempDir {
    let desk = tempfile::tempdir().unwrap();
    let dump = "figi,ticker,strike,ID_ISIN\nBBG000BLNNH6,IBM,2.5,US4592001014\n";
    fs::write(desk.path().join("dump.csv"), dump).unwrap();
    desk
}

#[cfg(feature = "parquet")]
fn is_parquet(path: &Path) -> bool {
    let bytes = fs::read(path).unwrap();
    bytes.starts_with(b"PAR1") && bytes.ends_with(b"PAR1")
}

/// contract 22.2: the file of a generation is listed with its checksum, and has identifiers only of
/// the idTypes that were named.
#[cfg(feature = "parquet")]
#[test]
fn a_build_writes_a_file() {
    let desk = desk();
    let folder = desk.path();
    for (number, (flag, identifiers)) in
        [("--parquet", vec![]), ("--parquet=ID_ISIN", vec!["ID_ISIN"])].into_iter().enumerate()
    {
        let (code, _, said) = ingest(folder, &["build", "dump.csv", "--index", "index", flag]);
        assert_eq!(code, 0, "{said}");
        let manifest = figdex_index::Manifest::published(&folder.join("index")).unwrap();
        let entry = manifest.parquet.unwrap();
        assert_eq!(entry.identifiers, identifiers);
        let generation = folder.join(format!("index/generation-00000{}", number + 1));
        let file = generation.join("parquet/instruments.parquet");
        assert!(is_parquet(&file));
        assert_eq!(fs::metadata(&file).unwrap().len(), entry.file().bytes);
    }
    let (code, inspected, said) = ingest(folder, &["inspect", "index"]);
    assert_eq!(code, 0, "{said}");
    assert!(inspected.contains(", with ID_ISIN\n"), "{inspected}");
    let (code, _, said) = ingest(folder, &["verify", "index"]);
    assert_eq!(code, 0, "{said}");
    for (arguments, out) in [
        (vec!["export", "index", "--format", "parquet", "--out", "all.parquet"], "all.parquet"),
        (
            vec![
                "diff",
                "index/generation-000001",
                "index",
                "--format",
                "parquet",
                "--out",
                "diff.parquet",
            ],
            "diff.parquet",
        ),
    ] {
        let (code, _, said) = ingest(folder, &arguments);
        assert_eq!(code, 0, "{said}");
        assert!(is_parquet(&folder.join(out)));
    }
    // A file is a dump again.
    let build = ["build", "all.parquet", "--index", "again", "--strict"];
    let (code, _, said) = ingest(folder, &build);
    assert_eq!(code, 0, "{said}");
    let export = |index: &str| ingest(folder, &["export", index]).1;
    assert_eq!(export("again"), export("index"));
    let (code, _, said) =
        ingest(folder, &["build", "dump.csv", "--index", "index", "--parquet=ISIN"]);
    assert_eq!(code, 2);
    assert!(said.contains("\"ISIN\" is not an idType with a column"), "{said}");
}

/// A program without the feature says so before it reads or writes anything.
#[cfg(not(feature = "parquet"))]
#[test]
fn parquet_needs_the_feature() {
    let desk = desk();
    let folder = desk.path();
    assert_eq!(ingest(folder, &["build", "dump.csv", "--index", "index"]).0, 0);
    for arguments in [
        &["build", "dump.csv", "--index", "index", "--parquet"][..],
        &["export", "index", "--format", "parquet", "--out", "all.parquet"],
        &["diff", "index", "index", "--format", "parquet", "--out", "all.parquet"],
    ] {
        let (code, _, said) = ingest(folder, arguments);
        assert_eq!(code, 1, "{arguments:?}");
        assert!(said.contains("built without support for Parquet files"), "{said}");
    }
    assert!(!folder.join("all.parquet").exists());
    assert!(!Path::new(&folder.join("index/generation-000002")).exists());
}
