//! The manifest of a generation: its parts, the dumps it was built from, and the checksum of
//! every file, so that an index of another format or a damaged one is refused, not misread.
//!
//! A manifest may come from a stranger. Its first line is the number of its format, in every
//! format. If the format is not this one, nothing else is parsed. Unknown keys are refused, and so
//! is a text that is larger than any that a build writes.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use figdex_io::{hex, unhex};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::folder::{Publication, sync};
use super::id::GenerationId;
use super::names::{FileName, PARQUET, PartFolder, below};
use super::past::{BEFORE_LOG, LOOKUP, PAST, VERSIONS_LOG};
use crate::error::{Error, Result};
use crate::instrument::date::Date;
use crate::instrument::vocabulary::{Property, Vocabulary};

/// The number of the format that this version writes.
pub(crate) const FORMAT: u32 = 10;

/// The first format that this version reads. An index is built again every night, but a past goes on
/// from the index before.
const FIRST_FORMAT: u32 = 9;

/// The first format in which the identifiers of rows have separate files.
const FIRST_FORMAT_WITH_IDENTIFIER_SETS: u32 = 10;

/// The first format whose generations may have a past.
const FIRST_FORMAT_WITH_PAST: u32 = 9;

/// The most bytes of a manifest. A part takes 4.4 KB, so that 1.3 billion instruments take 370 KB;
/// all lists of values and names of exchanges take 40 KB, and each dump takes about 150 bytes. A
/// format whose manifests are larger also needs another layout of the storage.
pub const MANIFEST_BYTES_MAX: usize = 512 << 10;

/// The most signs in a manifest. A sign is an ASCII character that is neither a letter nor a digit.
/// With the shortest text between signs, the parser takes 236 bytes for each. A part has 1,050.
pub(crate) const SIGNS_MAX: usize = 96 << 10;

/// The most bytes of a file that describes a segment. tantivy reads it as a whole. Usual files have
/// 4 KB.
const DESCRIPTION_BYTES_MAX: u64 = 256 << 10;

/// The most bytes of the first line of a manifest.
const FIRST_LINE_BYTES_MAX: usize = 100;

/// The name of the manifest in the folder of a generation.
const MANIFEST: &str = "manifest.toml";

/// The file with the checksum of the manifest, a line that `sha256sum --check` reads.
const MANIFEST_CHECKSUM: &str = "manifest.toml.sha256";

/// The description of a generation, in its folder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// The number of the index format.
    pub format: u32,
    /// The version of the library that wrote the manifest.
    pub library: String,
    /// The program that built the generation, with version and commit; empty when unknown.
    #[serde(default)]
    pub program: String,
    /// The number of the generation, larger than those of earlier ones: the number in the index
    /// folder of the build or, after a publication in object storage, the number there.
    pub generation: u64,
    /// The id of the generation, which publishing it elsewhere does not change.
    pub id: GenerationId,
    /// The id of the generation that was published when this one was built; `None` when there was
    /// none, or none of this format.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<GenerationId>,
    /// The day that the dumps describe.
    pub date: Date,
    /// The time when the generation was built, RFC 3339, UTC.
    pub built_at: String,
    /// The time when the generation was published in object storage, in the same form; `None`
    /// elsewhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub published_at: Option<String>,
    /// The number of instruments.
    pub instruments: u64,
    /// The significant bits, of 53, that the index keeps of each importance; set when there are
    /// more than 65,535 different ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub importance_bits: Option<u32>,
    /// The seed of the identifier directory's hash, hexadecimal.
    pub hash_seed: String,
    /// The dumps of the generation, in the order given.
    pub sources: Vec<SourceEntry>,
    /// The values of each enum-like property in the data and in the lists given at ingestion
    /// (contract 6.2), by the name of the property.
    pub values: BTreeMap<String, Vec<String>>,
    /// The names of exchanges, by their codes, for people.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub exchanges: BTreeMap<String, String>,
    /// The ISO 3166 codes of the countries of exchanges, by their codes, where the operator's table
    /// differs from the bundled one.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub countries: BTreeMap<String, String>,
    /// The number of instruments that have a value in each column, by the column's name in a dump,
    /// without empty columns. The map is empty when the numbers are unknown.
    #[serde(default)]
    pub filled: BTreeMap<String, u64>,
    /// The past of the instruments; `None` when it is not kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub past: Option<PastEntry>,
    /// The Parquet file of all instruments; `None` when the build wrote none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parquet: Option<ParquetEntry>,
    /// The parts, in FIGI order.
    pub parts: Vec<PartEntry>,
}

/// A manifest and the SHA-256 of its text, hexadecimal.
pub(crate) struct Checksummed {
    pub(crate) manifest: Manifest,
    pub(crate) sha256: String,
}

/// A dump that a generation was built from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SourceEntry {
    /// The file's name as given, or `-` for standard input.
    pub name: String,
    /// The size of the file in bytes, as given: compressed if the file is compressed.
    pub bytes: u64,
    /// The SHA-256 of those bytes, hexadecimal.
    pub sha256: String,
    /// The number of rows that were read from it.
    pub rows: u64,
}

/// A part of a generation: a range of FIGIs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PartEntry {
    /// The name of its folder, next to the manifest.
    pub folder: PartFolder,
    /// The number of instruments.
    pub instruments: u32,
    /// Its smallest FIGI.
    pub first_figi: String,
    /// Its largest FIGI.
    pub last_figi: String,
    /// Every file of the folder, in ascending order of their names.
    pub files: Vec<FileEntry>,
}

/// The past of a generation, in its own folder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PastEntry {
    /// The first day of the past.
    pub since: Date,
    /// The last day of the past, that of the generation.
    pub until: Date,
    /// The number of days on which the rows were observed.
    pub days: u64,
    /// The number of versions that have ended.
    pub versions: u64,
    /// The number of retired identifiers that the operator's files state of instruments.
    #[serde(default)]
    pub stated: u64,
    /// Every file of the folder, in ascending order of their names.
    pub files: Vec<FileEntry>,
}

/// The Parquet file of a generation, in its own folder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ParquetEntry {
    /// The names of the idTypes of which it has columns.
    pub identifiers: Vec<String>,
    /// The files of the folder: exactly one.
    pub files: Vec<FileEntry>,
}

/// A file of a part, of the past, or the Parquet file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileEntry {
    /// Its path in the part's folder.
    pub name: FileName,
    /// Its size in bytes.
    pub bytes: u64,
    /// The SHA-256 of its bytes, hexadecimal.
    pub sha256: String,
}

impl Manifest {
    /// The manifest of the published generation of an index folder. Reads no file of a part.
    ///
    /// # Errors
    /// The errors of [`Publication::of`]; [`Error::ForeignFormat`], [`Error::Damaged`] when the
    /// manifest is not valid or its checksum differs, and [`Error::Io`].
    pub fn published(index: &Path) -> Result<Self> {
        Ok(Self::read(&Publication::of(index)?.path(index))?.manifest)
    }

    pub(crate) fn read(generation: &Path) -> Result<Checksummed> {
        let path = generation.join(MANIFEST);
        // Reads one byte more than the maximum, so that a manifest that is too large is not read
        // whole.
        let file = File::open(&path).map_err(Error::io(&path))?.take(MANIFEST_BYTES_MAX as u64 + 1);
        let text = io::read_to_string(file).map_err(Error::io(&path))?;
        let manifest = Self::of_text(&text, &path)?;
        let checksum = generation.join(MANIFEST_CHECKSUM);
        let sha256 = hex(&Sha256::digest(&text));
        if fs::read(&checksum).map_err(Error::io(&checksum))? != checksum_line(&sha256).as_bytes() {
            return Err(Error::damaged(&path, "its checksum differs from manifest.toml.sha256"));
        }
        Ok(Checksummed { manifest, sha256 })
    }

    /// Whether the identifiers of the rows have separate files (`part::extras`).
    pub(crate) fn has_identifier_sets(&self) -> bool {
        self.format >= FIRST_FORMAT_WITH_IDENTIFIER_SETS
    }

    /// Parses a manifest. Errors name the manifest by `path`.
    ///
    /// # Errors
    /// [`Error::ForeignFormat`], and [`Error::Damaged`] when it is not a manifest.
    pub fn of_text(text: &str, path: &Path) -> Result<Self> {
        let first = text.split('\n').next().filter(|line| line.len() <= FIRST_LINE_BYTES_MAX);
        let number = first.and_then(|line| line.strip_prefix("format = ")?.trim_end().parse().ok());
        match number {
            Some(FIRST_FORMAT..=FORMAT) => {}
            Some(found) => {
                let path = path.to_owned();
                return Err(Error::ForeignFormat { path, found, supported: FIRST_FORMAT..=FORMAT });
            }
            None => {
                let what = "its first line is not the number of a format, such as `format = 10`";
                return Err(Error::damaged(path, what));
            }
        }
        let damaged = |what: String| Error::damaged(path, what);
        check_size(text).map_err(damaged)?;
        let manifest: Self =
            toml::from_str(text).map_err(|error| damaged(error.message().to_owned()))?;
        manifest.check_files().map_err(damaged)?;
        Ok(manifest)
    }

    /// Checks the parts and files: each is listed once and in order, each checksum has its form, no
    /// description of a segment is too large, and the sum of all sizes does not overflow.
    fn check_files(&self) -> Result<(), String> {
        let mut all: u64 = 0;
        for (number, part) in self.parts.iter().enumerate() {
            if part.folder != PartFolder::of(number) {
                let expected = PartFolder::of(number);
                return Err(format!("part {} is in place of {expected}", part.folder));
            }
            for (place, file) in part.files.iter().enumerate() {
                let fault = |what| Err(format!("{}/{} {what}", part.folder, file.name));
                if place > 0 && part.files[place - 1].name >= file.name {
                    return fault("comes twice, or is not in the order of names");
                }
                if unhex::<32>(&file.sha256).is_none() {
                    return fault("has a sha256 that is not 64 hexadecimal digits");
                }
                if file.name.is_description() && file.bytes > DESCRIPTION_BYTES_MAX {
                    return fault("describes a segment and has more than 256 KiB");
                }
                all = match all.checked_add(file.bytes) {
                    Some(all) => all,
                    None => return fault("has an impossible size"),
                };
            }
        }
        if let Some(past) = &self.past {
            let names = [BEFORE_LOG, LOOKUP, VERSIONS_LOG];
            if !past.files.iter().map(|file| file.name.as_str()).eq(names) {
                return Err(format!("the past has other files than {}", names.join(", ")));
            }
        }
        if let Some(parquet) = &self.parquet {
            parquet.check()?;
        }
        let past = self.past.iter().flat_map(|past| past.files.iter().map(|file| (PAST, file)));
        let parquet = self.parquet.iter().map(|parquet| (PARQUET, parquet.file()));
        for (folder, file) in past.chain(parquet) {
            let fault = |what| Err(format!("{folder}/{} {what}", file.name));
            if unhex::<32>(&file.sha256).is_none() {
                return fault("has a sha256 that is not 64 hexadecimal digits");
            }
            all = match all.checked_add(file.bytes) {
                Some(all) => all,
                None => return fault("has an impossible size"),
            };
        }
        Ok(())
    }

    /// The text of the manifest, as its file has it.
    pub fn text(&self) -> String {
        toml::to_string(self).expect("its fields are texts, numbers, lists and tables")
    }

    /// Writes the manifest and its checksum into the folder of the generation.
    ///
    /// # Errors
    /// [`Error::ManifestTooLarge`] when no server would read it, and [`Error::Io`].
    pub(crate) fn write(&self, generation: &Path) -> Result<()> {
        let path = generation.join(MANIFEST);
        let text = self.text();
        check_size(&text).map_err(Error::ManifestTooLarge)?;
        let checksum = generation.join(MANIFEST_CHECKSUM);
        let line = checksum_line(&hex(&Sha256::digest(&text)));
        for (path, text) in [(checksum, line), (path, text)] {
            fs::write(&path, text).map_err(Error::io(&path))?;
            sync(&path)?;
        }
        Ok(())
    }

    pub(crate) fn hash_seed(&self, generation: &Path) -> Result<u64> {
        u64::from_str_radix(&self.hash_seed, 16).map_err(|_| {
            Error::damaged(&generation.join(MANIFEST), "hash_seed is not a hexadecimal number")
        })
    }

    /// The values that the enum-like properties may have, and the countries of exchange codes.
    pub fn vocabulary(&self) -> Vocabulary {
        let vocabulary = Vocabulary::new(self.values.iter().flat_map(|(property, values)| {
            let property = Property::from_name(property);
            values.iter().filter_map(move |value| Some((property?, value.clone())))
        }));
        vocabulary.with_countries(self.countries.clone())
    }

    /// The time from which others could read the generation, RFC 3339, UTC: when it was published in
    /// object storage, or else built.
    pub fn available_at(&self) -> &str {
        self.published_at.as_ref().unwrap_or(&self.built_at)
    }

    /// The size of all files, in bytes.
    pub fn bytes(&self) -> u64 {
        self.files().map(|(_, file)| file.bytes).sum()
    }
}

impl PartEntry {
    /// The path of its folder.
    pub fn path(&self, generation: &Path) -> PathBuf {
        // The name is made of a number, so it is safe.
        generation.join(self.folder.to_string())
    }
}

impl FileEntry {
    /// The entry of a file as it is now.
    pub(crate) fn of(folder: &Path, name: FileName) -> Result<Self> {
        let path = below(folder, name.as_str())?;
        let (bytes, sha256) = checksum(&path).map_err(Error::io(&path))?;
        Ok(Self { name, bytes, sha256 })
    }

    /// The path of the file in its folder.
    ///
    /// # Errors
    /// [`Error::Damaged`] when the path would be outside of that folder. No checked name leads
    /// there.
    pub fn path(&self, part: &Path) -> Result<PathBuf> {
        below(part, self.name.as_str())
    }

    /// Reads the file and discards the bytes, so that the system has them in memory.
    pub(crate) fn read(&self, folder: &Path) -> Result<()> {
        let path = self.path(folder)?;
        read(&path, |_| ()).map_err(Error::io(&path))
    }

    /// Checks that the file still has this size and checksum.
    pub(crate) fn verify(&self, folder: &Path) -> Result<()> {
        let found = Self::of(folder, self.name.clone())?;
        let path = self.path(folder)?;
        if found.bytes != self.bytes {
            let what = format!("it has {} bytes instead of {}", found.bytes, self.bytes);
            return Err(Error::damaged(&path, what));
        }
        if found.sha256 != self.sha256 {
            return Err(Error::damaged(&path, "its checksum differs from the manifest"));
        }
        Ok(())
    }
}

/// Whether an error is about a generation of a format in which none had a past.
pub(crate) fn is_before_the_past(error: &Error) -> bool {
    matches!(error, Error::ForeignFormat { found, .. } if *found < FIRST_FORMAT_WITH_PAST)
}

/// Checks that a text is not larger than any manifest that is written. Runs before the text is
/// parsed.
fn check_size(text: &str) -> Result<(), String> {
    if text.len() > MANIFEST_BYTES_MAX {
        return Err(format!("it has more than {} KiB", MANIFEST_BYTES_MAX >> 10));
    }
    match signs(text) {
        0..=SIGNS_MAX => Ok(()),
        signs => Err(format!("it has {signs} signs, and at most {SIGNS_MAX} are expected")),
    }
}

/// The number of signs in a text.
pub(crate) fn signs(text: &str) -> usize {
    let is_sign = |byte: &&u8| byte.is_ascii() && !byte.is_ascii_alphanumeric();
    text.as_bytes().iter().filter(is_sign).count()
}

/// The content of [`MANIFEST_CHECKSUM`] for a manifest with that SHA-256.
fn checksum_line(sha256: &str) -> String {
    format!("{sha256}  {MANIFEST}\n")
}

/// The size and the SHA-256 of a file.
fn checksum(path: &Path) -> io::Result<(u64, String)> {
    let mut digest = Sha256::new();
    let mut bytes = 0;
    read(path, |read| {
        digest.update(read);
        bytes += read.len() as u64;
    })?;
    Ok((bytes, hex(&digest.finalize())))
}

/// Calls `each` with the bytes of a file, piece by piece.
fn read(path: &Path, mut each: impl FnMut(&[u8])) -> io::Result<()> {
    let mut file = File::open(path)?;
    let mut buffer = vec![0; 1 << 18];
    loop {
        let read = match file.read(&mut buffer) {
            // A signal interrupted the call.
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            read => read?,
        };
        if read == 0 {
            return Ok(());
        }
        each(&buffer[..read]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BuildOptions, Builder, Figi, Instrument};

    fn manifest() -> Manifest {
        let folder = tempfile::tempdir().unwrap();
        let mut builder = Builder::create(folder.path(), BuildOptions::default()).unwrap();
        builder.add(Instrument::new(Figi::parse("BBG000BLNNH6").unwrap())).unwrap();
        builder.publish(Vec::new()).unwrap()
    }

    fn refused(text: &str) -> String {
        Manifest::of_text(text, Path::new("x")).unwrap_err().to_string()
    }

    /// The number of the format is read before anything else, whatever else there is.
    #[test]
    fn the_format_is_first() {
        let text = manifest().text();
        assert!(text.starts_with("format = "), "every version looks for it there");
        for rest in ["", "\n", "\nnew = [1]\n", "\n{{{", &"\n[".repeat(1 << 20), "\r\nx = \u{1}"] {
            let error =
                Manifest::of_text(&format!("format = {}{rest}", FORMAT + 1), Path::new("x"));
            let error = error.unwrap_err();
            assert!(matches!(error, Error::ForeignFormat { found, .. } if found == FORMAT + 1));
        }
        let long = format!("format = {FORMAT}{}", " ".repeat(FIRST_LINE_BYTES_MAX));
        let after = format!("library = \"x\"\n{text}");
        for text in
            ["", "\n", "format", "format = ", "format = -1", "format = \"8\"", &long, &after]
        {
            assert!(refused(text).contains("first line is not the number of a format"), "{text}");
        }
    }

    /// A text of this format is refused unless it is as a build writes it. Each fault has its words.
    #[test]
    fn hostile_manifests_are_refused() {
        let right = manifest().text();
        Manifest::of_text(&right, Path::new("x")).unwrap();
        let changed = |from: &str, to: &str| {
            assert!(right.contains(from), "{from}");
            right.replacen(from, to, 1)
        };
        let first = right.find("[[parts]]").unwrap();
        let file = right.find("[[parts.files]]").unwrap();
        let two_parts = format!("{right}\n{}", &right[first..]);
        let two_files = format!("{}{}", &right[..file], &right[file..].repeat(2));
        let hash = &right[right.rfind("sha256 = \"").unwrap()..].trim_end();
        let filled = |unit: &str| {
            let count = (MANIFEST_BYTES_MAX - right.len()) / unit.len() - 10;
            changed("[values]", &format!("[values]\nx = [{}]", unit.repeat(count)))
        };
        let sized = |bytes: &str| {
            let files = right[file..].lines().map(|line| match line.starts_with("bytes = ") {
                true => format!("bytes = {bytes}\n"),
                false => format!("{line}\n"),
            });
            format!("{}{}", &right[..file], files.collect::<String>())
        };
        for (text, expected) in [
            (changed("library = ", "novel = 1\nlibrary = "), "unknown field"),
            (changed("folder = ", "novel = 1\nfolder = "), "unknown field"),
            (changed("folder = \"part-000\"", "folder = \"part-001\""), "in place of part-000"),
            (changed("folder = \"part-000\"", "folder = \"\""), "is not the name of a part"),
            (changed("name = \"rows.texts\"", "name = \"../x\""), "is not the name of a file"),
            (changed("name = \"rows.texts\"", "name = \"rows.lines\""), "comes twice"),
            (changed("name = \"rows.texts\"", "name = \"a.b\""), "not in the order"),
            (two_parts, "in place of part-001"),
            (two_files, "comes twice, or is not in the order"),
            (right.replace(hash, "sha256 = \"\""), "64 hexadecimal digits"),
            (right.replace(hash, &hash.to_uppercase().replace("SHA", "sha")), "64 hexadecimal"),
            (sized("9223372036854775807"), "an impossible size"),
            (sized("262145"), "more than 256 KiB"),
            (sized("-1"), "invalid value"),
            (sized("1e9"), "invalid type"),
            (right.replace("segment/.managed", "segment/.x"), "is not the name of a file"),
            (format!("{right}#{}", "x".repeat(MANIFEST_BYTES_MAX)), "more than 512 KiB"),
            (filled("'',"), "signs"),
            (filled("0,"), "signs"),
            (filled("["), "signs"),
            (changed("library = ", &format!("library = {}", "[".repeat(1000))), "recurse"),
            (format!("{right}\n{}", right.split_once('\n').unwrap().1), "duplicate key"),
            (right.replace(" = ", " "), "first line"),
            (right[..right.len() / 2].to_owned(), ""),
        ] {
            let error = refused(&text);
            assert!(error.contains(expected), "{expected}: {error}");
            assert!(error.len() < 600, "{} bytes: {expected}", error.len());
        }
    }

    /// The room for a manifest is that of 1.3 billion instruments, and more is not written.
    #[test]
    fn room_for_large_indexes() {
        let folder = tempfile::tempdir().unwrap();
        let small = manifest();
        let of_parts = |count| {
            let part =
                |number| PartEntry { folder: PartFolder::of(number), ..small.parts[0].clone() };
            Manifest { parts: (0..count).map(part).collect(), ..small.clone() }
        };
        let large = of_parts(82);
        Manifest::of_text(&large.text(), Path::new("x")).unwrap();
        large.write(folder.path()).unwrap();
        let error = of_parts(200).write(folder.path()).unwrap_err();
        assert!(matches!(error, Error::ManifestTooLarge(_)), "{error}");
    }
}
