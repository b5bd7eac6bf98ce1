//! The pieces of files in the contents of a generation. The parser keeps numbers and checksums,
//! and no text of the document.

use std::fmt;
use std::fs::File;
use std::marker::PhantomData;
use std::ops::Range;
use std::os::unix::fs::FileExt as _;

use serde::de::{self, DeserializeOwned, Deserializer, MapAccess, SeqAccess, Visitor};
use serde::ser::{SerializeSeq as _, Serializer};
use serde::{Deserialize, Serialize};

use crate::layout::PIECE_BYTES;
use crate::names::{Checksum, Kind, PieceName};

/// The most pieces of a generation. About as many fit into the most bytes of the contents. So an
/// error can give the number of pieces.
pub(crate) const PIECES_MAX: usize = 80_000;

/// A piece of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Piece {
    /// The name of the piece, which contains its checksum.
    pub(crate) name: PieceName,
    /// Its size in bytes, at most 16 MiB.
    pub(crate) bytes: u32,
}

impl Piece {
    /// Whether a file has the piece at an offset.
    pub(crate) fn is_in(self, file: &File, offset: u64) -> bool {
        let mut found = vec![0; self.bytes as usize];
        file.read_exact_at(&mut found, offset).is_ok() && Checksum::of(&found) == self.name.sha256
    }
}

/// The number of bytes of pieces.
pub(crate) fn bytes_of(pieces: &[Piece]) -> u64 {
    pieces.iter().map(|piece| u64::from(piece.bytes)).sum()
}

/// The key of a file in the contents.
pub(crate) trait FileKey: DeserializeOwned {
    /// The most files with such a key.
    const FILES_MAX: usize;

    /// The name of such files in messages.
    const FILES: &str;
}

/// The files of the contents that have a key of one kind, and their pieces.
pub(crate) struct PieceLists<K> {
    /// The pieces of all files, one file after the other.
    pub(crate) pieces: Vec<Piece>,
    /// The files in the order of the contents, each with the range of its pieces.
    pub(crate) files: Vec<(K, Range<usize>)>,
}

impl<K> Default for PieceLists<K> {
    fn default() -> Self {
        Self { pieces: Vec::new(), files: Vec::new() }
    }
}

impl<'de, K: FileKey> Deserialize<'de> for PieceLists<K> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_map(FilesVisitor(PhantomData))
    }
}

struct FilesVisitor<K>(PhantomData<K>);

impl<'de, K: FileKey> Visitor<'de> for FilesVisitor<K> {
    type Value = PieceLists<K>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the pieces of each file, by its name")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<PieceLists<K>, A::Error> {
        let mut found = PieceLists::default();
        while let Some(key) = map.next_key()? {
            if found.files.len() == K::FILES_MAX {
                let (most, files) = (K::FILES_MAX, K::FILES);
                return Err(de::Error::custom(format!("it has more than {most} {files}")));
            }
            let start = found.pieces.len();
            map.next_value_seed(Pieces(&mut found.pieces))?;
            found.files.push((key, start..found.pieces.len()));
        }
        Ok(found)
    }
}

/// Reads the pieces of a file, and appends them to those of earlier files.
struct Pieces<'a>(&'a mut Vec<Piece>);

impl<'de> de::DeserializeSeed<'de> for Pieces<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Pieces<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of pieces")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        while let Some(piece) = list.next_element()? {
            if self.0.len() == PIECES_MAX {
                return Err(de::Error::custom(format!("it has more than {PIECES_MAX} pieces")));
            }
            self.0.push(piece);
        }
        Ok(())
    }
}

/// A piece in the form of the contents.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenPiece {
    key: String,
    bytes: u64,
}

impl<'de> Deserialize<'de> for Piece {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let WrittenPiece { key, bytes } = WrittenPiece::deserialize(from)?;
        let name = Kind::piece(&key);
        let name = name.ok_or_else(|| de::Error::custom("a piece has no valid name"))?;
        match u32::try_from(bytes) {
            Ok(small) if small > 0 && bytes <= PIECE_BYTES => Ok(Self { name, bytes: small }),
            _ => Err(de::Error::custom(format!("a piece has no valid size, but {bytes} bytes"))),
        }
    }
}

/// Pieces in the form of the contents.
pub(crate) struct Written<'a>(pub(crate) &'a [Piece]);

impl Serialize for Written<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut list = to.serialize_seq(Some(self.0.len()))?;
        for Piece { name, bytes } in self.0 {
            let bytes = u64::from(*bytes);
            list.serialize_element(&WrittenPiece { key: name.to_string(), bytes })?;
        }
        list.end()
    }
}
