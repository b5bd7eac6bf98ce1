//! The contents of a generation, `contents.json`: its manifest, the pieces of each file, and the
//! pieces of the change files that were published with it. They may come from a stranger, and a
//! server reads them while it answers. So they are bounded before they are parsed, the parser keeps
//! numbers instead of names, and the manifest is parsed after the text was freed. Reading takes at
//! most 64 MB, whatever the contents are.

use std::fmt;
use std::ops::Range;
use std::path::Path;

use figdex_index::{
    FileEntry, FileName, GenerationId, MANIFEST_BYTES_MAX, Manifest, PARQUET, PAST, PartFolder,
};
use serde::de::Deserializer;
use serde::ser::{SerializeMap as _, Serializer};
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::layout::{
    LAYOUT, LAYOUT_WITH_CHANGES, LAYOUT_WITH_PARQUET, LAYOUT_WITH_PAST, damaged, known_layout,
};
use crate::names::{Checksum, GenerationName};
use crate::pieces::{FileKey, PIECES_MAX, Piece, PieceLists, Written, bytes_of};
use crate::store::Store;

/// The most bytes of the contents: a terabyte has 65,536 pieces, of 125 bytes each.
pub(crate) const CONTENTS_BYTES_MAX: u64 = 10 << 20;

/// The most files of a generation.
const FILES_MAX: usize = 8 << 10;

/// The most change files that are published with a generation: eleven years of a file each night.
pub(crate) const CHANGE_FILES_MAX: usize = 4 << 10;

/// The most bytes of a text in the contents, including its escapes. The longest text is the
/// manifest.
const TEXT_BYTES_MAX: usize = 2 * MANIFEST_BYTES_MAX;

/// The depth of the contents: a piece in the list of a file, among the files.
const DEPTH_MAX: usize = 4;

/// A generation in the storage with checked contents.
#[derive(Debug)]
pub(crate) struct Described {
    pub(crate) manifest: Manifest,
    pieces: Vec<Piece>,
    /// The pieces of each file, in the order of the manifest.
    files: Vec<Range<usize>>,
    /// The pieces of each change file, in ascending order of the ids.
    changes: Vec<(GenerationId, Range<usize>)>,
}

impl Described {
    /// All pieces: in the order of the files, and then of the change files.
    pub(crate) fn pieces(&self) -> &[Piece] {
        &self.pieces
    }

    /// The files in the order of the manifest, each with its pieces.
    pub(crate) fn files(&self) -> impl Iterator<Item = (&FileEntry, &[Piece])> {
        let pieces = self.files.iter().map(|range| &self.pieces[range.clone()]);
        self.manifest.files().map(|(_, entry)| entry).zip(pieces)
    }

    /// The change files, each with the id of its generation and its pieces. Ids ascend.
    pub(crate) fn changes(&self) -> impl ExactSizeIterator<Item = (GenerationId, &[Piece])> {
        self.changes.iter().map(|(id, range)| (*id, &self.pieces[range.clone()]))
    }

    /// Reads the contents of a generation. If `expected` is given, they must have that checksum.
    pub(crate) async fn read(
        store: &Store,
        name: GenerationName,
        expected: Option<Checksum>,
    ) -> Result<Self> {
        let (described, found) = Self::read_with_checksum(store, name).await?;
        if expected.is_some_and(|expected| found != expected) {
            let what = "its checksum differs from the pointer".to_owned();
            return Err(Error::Damaged { place: store.place(&name.contents()), what });
        }
        Ok(described)
    }

    /// Reads the contents of a generation. Also returns their SHA-256.
    pub(crate) async fn read_with_checksum(
        store: &Store,
        name: GenerationName,
    ) -> Result<(Self, Checksum)> {
        let key = name.contents();
        let place = store.place(&key);
        let Some(text) = store.read(&key, CONTENTS_BYTES_MAX).await? else {
            return Err(Error::Damaged { place, what: "it is missing".to_owned() });
        };
        let parsed = tokio::task::spawn_blocking(move || {
            let checksum = Checksum::of(&text);
            Ok((Self::of(text, &place)?, checksum))
        });
        parsed.await.expect("it does not panic")
    }

    /// Parses the contents of a generation. Errors call them `place`. The text is freed before the
    /// manifest is parsed.
    pub(crate) fn of<T: AsRef<[u8]>>(text: T, place: &str) -> Result<Self> {
        let parsed = Parsed::of(text.as_ref(), place)?;
        drop(text);
        parsed.described(place)
    }
}

/// The contents before they are compared with the manifest.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Parsed {
    layout: u32,
    manifest: String,
    files: PieceLists<NameInFolder>,
    #[serde(default, deserialize_with = "required")]
    changes: Option<PieceLists<GenerationId>>,
}

/// Reads a member that may be missing, but is not `null`.
fn required<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
    from: D,
) -> Result<Option<T>, D::Error> {
    T::deserialize(from).map(Some)
}

impl Parsed {
    fn of(text: &[u8], place: &str) -> Result<Self> {
        let place = || place.to_owned();
        known_layout(text, LAYOUT_WITH_PARQUET, place)?;
        let damaged_as = |what| Error::Damaged { place: place(), what };
        check_shape(text, DEPTH_MAX, TEXT_BYTES_MAX).map_err(damaged_as)?;
        let parsed: Self = serde_json::from_slice(text)
            .map_err(|error| damaged(place, "the description of a generation", &error))?;
        if parsed.changes.as_ref().is_some_and(|lists| lists.files.is_empty()) {
            return Err(damaged_as("its list of change files is empty".to_owned()));
        }
        let has = |folder| parsed.files.files.iter().any(|(name, _)| name.0 == folder);
        let [has_past, has_parquet] = [Folder::Past, Folder::Parquet].map(has);
        let expected = layout_for(parsed.changes.is_some(), has_past, has_parquet);
        match parsed.layout {
            layout if layout == expected => Ok(parsed),
            layout => Err(damaged_as(format!(
                "it has layout {layout}, and contents with such files have layout {expected}"
            ))),
        }
    }

    /// Compares the files with those of the manifest, and checks the change files.
    fn described(self, place: &str) -> Result<Described> {
        let Self { manifest, files: PieceLists { mut pieces, mut files }, changes, .. } = self;
        let damaged = |what: String| Error::Damaged { place: place.to_owned(), what };
        let manifest = Manifest::of_text(&manifest, Path::new(place))?;
        // This is the order of the manifest.
        files.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
        let mut found = files.into_iter();
        let mut ranges = Vec::new();
        for (name, file) in manifest.files() {
            let range = match found.next() {
                Some((other, range)) if other.to_string() == name => range,
                Some((other, _)) => {
                    return Err(damaged(format!("it has {other} in place of {name}")));
                }
                None => return Err(damaged(format!("it does not have {name}"))),
            };
            let bytes = bytes_of(&pieces[range.clone()]);
            if bytes != file.bytes {
                let what = format!("{name} has {bytes} bytes, and {} in the manifest", file.bytes);
                return Err(damaged(what));
            }
            ranges.push(range);
        }
        if let Some((name, _)) = found.next() {
            return Err(damaged(format!("it has {name}, which the manifest does not have")));
        }
        let changes = match changes {
            Some(listed) => added(listed, &mut pieces).map_err(damaged)?,
            // Contents of the first layout list none.
            None => Vec::new(),
        };
        Ok(Described { manifest, pieces, files: ranges, changes })
    }
}

/// The layout of contents with or without change files, a past, and a Parquet file.
fn layout_for(has_changes: bool, has_past: bool, has_parquet: bool) -> u32 {
    match (has_changes, has_past) {
        _ if has_parquet => LAYOUT_WITH_PARQUET,
        (_, true) => LAYOUT_WITH_PAST,
        (true, false) => LAYOUT_WITH_CHANGES,
        (false, false) => LAYOUT,
    }
}

/// Checks the change files, and appends their pieces to those of the other files.
fn added(
    lists: PieceLists<GenerationId>,
    pieces: &mut Vec<Piece>,
) -> Result<Vec<(GenerationId, Range<usize>)>, String> {
    let PieceLists { pieces: more, mut files } = lists;
    if pieces.len() + more.len() > PIECES_MAX {
        return Err(format!("it has more than {PIECES_MAX} pieces"));
    }
    files.sort_unstable_by_key(|(id, _)| *id);
    if let Some([(id, _), _]) = files.array_windows().find(|[(a, _), (b, _)]| a == b) {
        return Err(format!("it has the change file {id} twice"));
    }
    if let Some((id, _)) = files.iter().find(|(_, range)| range.is_empty()) {
        return Err(format!("the change file {id} has no pieces"));
    }
    let start = pieces.len();
    pieces.extend(more);
    let moved = files.into_iter().map(|(id, range)| (id, start + range.start..start + range.end));
    Ok(moved.collect())
}

/// Checks the depth and the longest text of a document, so that a parser never keeps much of it.
pub(crate) fn check_shape(
    text: &[u8],
    depth_max: usize,
    text_bytes_max: usize,
) -> Result<(), String> {
    let (mut depth, mut start) = (0_usize, None);
    let mut bytes = text.iter().enumerate();
    while let Some((place, byte)) = bytes.next() {
        match (byte, start) {
            (b'"', None) => start = Some(place),
            (b'"', Some(begun)) => {
                if place - begun > text_bytes_max {
                    return Err(format!("it has a text of more than {text_bytes_max} bytes"));
                }
                start = None;
            }
            (b'\\', Some(_)) => _ = bytes.next(),
            (_, Some(_)) => {}
            (b'{' | b'[', None) => {
                depth += 1;
                if depth > depth_max {
                    return Err(format!("it is deeper than {depth_max} levels"));
                }
            }
            (b'}' | b']', None) => depth = depth.saturating_sub(1),
            (_, None) => {}
        }
    }
    match start {
        None => Ok(()),
        Some(_) => Err("a text in it does not end".to_owned()),
    }
}

/// A folder in that of a generation. The order is that of the manifest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Folder {
    Part(PartFolder),
    Past,
    Parquet,
}

impl fmt::Display for Folder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Part(folder) => folder.fmt(f),
            Self::Past => f.write_str(PAST),
            Self::Parquet => f.write_str(PARQUET),
        }
    }
}

/// The name of a file, after its folder.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(try_from = "String")]
struct NameInFolder(Folder, FileName);

impl fmt::Display for NameInFolder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.0, self.1)
    }
}

impl FileKey for NameInFolder {
    const FILES_MAX: usize = FILES_MAX;
    const FILES: &str = "files";
}

impl FileKey for GenerationId {
    const FILES_MAX: usize = CHANGE_FILES_MAX;
    const FILES: &str = "change files";
}

impl TryFrom<String> for NameInFolder {
    type Error = String;

    fn try_from(key: String) -> Result<Self, String> {
        let (folder, name) = key.split_once('/').unwrap_or((&key, ""));
        let folder = match folder {
            PAST => Folder::Past,
            PARQUET => Folder::Parquet,
            part => Folder::Part(part.to_owned().try_into()?),
        };
        Ok(Self(folder, name.to_owned().try_into()?))
    }
}

/// The contents for publishing a generation, with the pieces of each file in the order of the
/// manifest, and those of the change files.
#[derive(Debug)]
pub(crate) struct Contents<'a> {
    pub(crate) manifest: &'a Manifest,
    pub(crate) files: &'a [(String, Vec<Piece>)],
    pub(crate) changes: &'a [(GenerationId, Vec<Piece>)],
}

impl Contents<'_> {
    /// The text of the contents.
    ///
    /// # Errors
    /// [`Error::TooLarge`] when the text is larger than servers read.
    pub(crate) fn text(&self) -> Result<Vec<u8>> {
        let text = serde_json::to_vec(self).expect("its fields are texts and numbers");
        let of_files = self.files.iter().map(|(_, pieces)| pieces.len());
        let of_changes = self.changes.iter().map(|(_, pieces)| pieces.len());
        let pieces: usize = of_files.chain(of_changes).sum();
        let manifest = self.manifest.text();
        Manifest::of_text(&manifest, Path::new("the manifest"))?;
        match text.len() as u64 <= CONTENTS_BYTES_MAX
            && pieces <= PIECES_MAX
            && self.files.len() <= FILES_MAX
        {
            true => Ok(text),
            false => Err(Error::TooLarge(format!(
                "it has {} files and {pieces} pieces, whose description has {} bytes; servers read \
                 at most {FILES_MAX} files, {PIECES_MAX} pieces and {CONTENTS_BYTES_MAX} bytes",
                self.files.len(),
                text.len(),
            ))),
        }
    }
}

impl Serialize for Contents<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        struct Files<'a, K>(&'a [(K, Vec<Piece>)]);
        impl<K: Serialize> Serialize for Files<'_, K> {
            fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                to.collect_map(self.0.iter().map(|(name, pieces)| (name, Written(pieces))))
            }
        }
        let has_changes = !self.changes.is_empty();
        let mut map = to.serialize_map(Some(3 + usize::from(has_changes)))?;
        let Manifest { past, parquet, .. } = self.manifest;
        let layout = layout_for(has_changes, past.is_some(), parquet.is_some());
        map.serialize_entry("layout", &layout)?;
        map.serialize_entry("manifest", &self.manifest.text())?;
        map.serialize_entry("files", &Files(self.files))?;
        if has_changes {
            map.serialize_entry("changes", &Files(self.changes))?;
        }
        map.end()
    }
}

#[cfg(test)]
mod tests {
    use figdex_index::{BuildOptions, Builder, Figi, Instrument};

    use super::*;
    use crate::layout::PIECE_BYTES;
    use crate::names::PieceName;

    fn manifest() -> Manifest {
        let folder = tempfile::tempdir().unwrap();
        let mut builder = Builder::create(folder.path(), BuildOptions::default()).unwrap();
        builder.add(Instrument::new(Figi::parse("BBG000BLNNH6").unwrap())).unwrap();
        builder.publish(Vec::new()).unwrap()
    }

    fn described(text: &str) -> Result<Described> {
        Described::of(text, "s3://test/contents.json")
    }

    /// Contents as a publisher writes them.
    fn right() -> String {
        let manifest = manifest();
        let generation = GenerationName::new(7);
        let name = PieceName { generation, sha256: Checksum::of(b"x") };
        let pieces = |bytes: u64| match u32::try_from(bytes).unwrap() {
            0 => Vec::new(),
            bytes => vec![Piece { name, bytes }],
        };
        let files = manifest.files().map(|(name, file)| (name, pieces(file.bytes)));
        let files: Vec<_> = files.collect();
        let text = Contents { manifest: &manifest, files: &files, changes: &[] }.text().unwrap();
        String::from_utf8(text).unwrap()
    }

    /// Contents are read whatever the order of their files is: earlier versions had none.
    #[test]
    fn contents_are_read() {
        let right = right();
        let first = described(&right).unwrap();
        assert_eq!(first.files().count(), first.manifest.files().count());
        for (file, pieces) in first.files() {
            assert_eq!(pieces.iter().map(|piece| u64::from(piece.bytes)).sum::<u64>(), file.bytes);
        }
        // The files in any other order: the last one first.
        let (last, end) = (right.rfind(",\"part-000/").unwrap(), right.len() - "}}".len());
        let head = right.find("\"files\":{").unwrap() + "\"files\":{".len();
        let moved = &right[last + 1..end];
        let text = format!("{}{moved},{}}}}}", &right[..head], &right[head..last]);
        assert!(text != right && text.len() == right.len());
        let again = described(&text).unwrap();
        assert_eq!(again.manifest, first.manifest);
    }

    /// Contents are refused unless they are as a publisher writes them. Each fault has its words,
    /// which are few, whatever the contents hold.
    #[test]
    fn hostile_contents_are_refused() {
        let right = right();
        described(&right).unwrap();
        let changed = |from: &str, to: &str| {
            assert!(right.contains(from), "{from}");
            right.replacen(from, to, 1)
        };
        let files = right.find("\"files\":{").unwrap() + "\"files\":{".len();
        let added = |unit: &str, count: usize| {
            format!("{}{}{}", &right[..files], unit.repeat(count), &right[files..])
        };
        let key = &right[right.find("\"key\":\"").unwrap() + 7..][..right[files..].len().min(100)];
        let key = &key[..key.find('"').unwrap()];
        let piece = format!("{{\"key\":\"{key}\",\"bytes\":1}}");
        let many_files: String =
            (0..FILES_MAX + 1).map(|number| format!("\"part-000/x.{number}\":[],")).collect();
        let many_pieces =
            format!("\"part-000/x.y\":[{}{piece}],", format!("{piece},").repeat(PIECES_MAX));
        assert!(many_pieces.len() < CONTENTS_BYTES_MAX as usize, "the number is what is refused");
        let long = "x".repeat(TEXT_BYTES_MAX + 1);
        let escaped = "\\u0078".repeat(TEXT_BYTES_MAX / 6 + 1);
        let mut cases = vec![
            (changed("\"layout\":1", "\"layout\":5"), "upgrade this program first"),
            (changed("\"layout\":1", "\"layout\":3"), "such files have layout 1"),
            (added("\"past/x.y\":[],", 1), "it has layout 1, and contents with such files"),
            (changed("\"layout\":1,", ""), "does not begin with"),
            (changed("\"files\":", "\"novel\":1,\"files\":"), "unknown field `novel`"),
            (changed("\"files\":", "\"files\":{},\"files\":"), "duplicate field"),
            (changed("\"bytes\":", "\"novel\":1,\"bytes\":"), "unknown field `novel`"),
            (changed("format = 10", "format = 11"), "index format 11"),
            (changed("format = 10", "format = x"), "first line is not the number"),
            (changed(key, ""), "no valid name"),
            (changed(key, "../../x"), "no valid name"),
            (changed(key, &format!("/{key}")), "no valid name"),
            (changed(key, &format!("tmp/{key}")), "no valid name"),
            (changed(key, "CURRENT"), "no valid name"),
            (changed(key, &key.to_uppercase()), "no valid name"),
            (changed(key, &key[..key.len() - 1]), "no valid name"),
            (added("\"part-000/a.b\":[],", 1), "in place of"),
            (added("\"part-000/x.y\":[],", 1), "which the manifest does not have"),
            (added("\"part-001/x.y\":[],", 1), "which the manifest does not have"),
            (added("\"part-000/rows.texts\":[],", 1), "part-000/rows.texts"),
            (added(&many_files, 1), "more than 8192 files"),
            (added(&many_pieces, 1), "more than 80000 pieces"),
            (added("\"part-000/x.y\":[[[", 1), "deeper than 4 levels"),
            (added(&"[".repeat(1 << 20), 1), "deeper than 4 levels"),
            (added(&format!("\"{long}\":[],"), 1), "a text of more than 1048576 bytes"),
            (added(&format!("\"{escaped}\":[],"), 1), "a text of more than 1048576 bytes"),
            (added(&format!("\"{}\":[],", &long[9..]), 1), "is not the name of a"),
            (changed("\"files\":", &format!("\"{}\":1,\"files\":", &long[9..])), "unknown field"),
            (right.replace("\"files\":", "\"files"), "does not end"),
            (right[..right.len() - 1].to_owned(), "EOF"),
            (format!("{right}x"), "trailing"),
            ("{\"layout\":1,\"manifest\":\"\",\"files\":{}}".to_owned(), "first line"),
            ("{\"layout\":1}".to_owned(), "missing field"),
        ];
        for bytes in [
            "0",
            "-1",
            "16777217",
            "4294967297",
            "18446744073709551616",
            "1.5",
            "1e3",
            "\"1\"",
            "null",
        ] {
            let at = right.find("\"bytes\":").unwrap() + "\"bytes\":".len();
            let end = at + right[at..].find('}').unwrap();
            cases.push((
                format!("{}{bytes}{}", &right[..at], &right[end..]),
                "it is not the description",
            ));
        }
        for name in [
            "",
            "/",
            "..",
            "../x",
            "/tmp/x",
            "tmp/x.y",
            "part-000/",
            "part-000/..",
            "part-000/../x.y",
            "part-000/tmp/x.y",
            "part-000/.x",
            "part-000/x\\u0000.y",
            "part-000\\\\x.y",
            "part-1/x.y",
            "past",
            "past/",
            "past/../x.y",
            "past/past/x.y",
            "Past/x.y",
            "CURRENT",
            "part-000/LOCK",
            "/part-000/x.y",
            "part-000//x.y",
            "./part-000/x.y",
            "part-000/NUL",
            "part-000/x.y\\n",
        ] {
            cases.push((added(&format!("\"{name}\":[],"), 1), "is not the name of a"));
        }
        for (text, expected) in cases {
            let error = described(&text).unwrap_err().to_string();
            assert!(error.contains(expected), "{expected}: {error}");
            assert!(
                error.len() < 700 && !error.contains('\n'),
                "{expected}: {} bytes",
                error.len()
            );
        }
        let short = right.replace(&format!("[{piece}]"), "[]");
        if short != right {
            described(&short).unwrap_err();
        }
    }

    /// A publisher refuses what no server would read, before it sends anything.
    #[test]
    fn too_much_is_not_published() {
        let manifest = manifest();
        let name = PieceName { generation: GenerationName::new(7), sha256: Checksum::of(b"x") };
        let piece = Piece { name, bytes: PIECE_BYTES as u32 };
        let text = |count| {
            let files = [("part-000/rows.texts".to_owned(), vec![piece; count])];
            Contents { manifest: &manifest, files: &files, changes: &[] }.text()
        };
        // A terabyte.
        text(1 << 16).unwrap();
        let error = text(PIECES_MAX + 1).unwrap_err();
        assert!(matches!(error, Error::TooLarge(_)), "{error}");
    }
}
