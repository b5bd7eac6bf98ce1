//! The documents of an index in object storage, and its objects:
//!
//! ```text
//! ADDRESS/CURRENT                               the pointer to the published generation
//! ADDRESS/LEASE                                 the lease of a publisher, while it publishes
//! ADDRESS/generation-000007-5f3c…/contents.json the generation's manifest, and each file's pieces
//! ADDRESS/generation-000007-5f3c…/SHA256        a piece of a file, named by its checksum
//! ADDRESS/replicas/figdex-0-5f3c0a9b.json       the note of a server: the generation it serves
//! ```
//! A file is divided into pieces of at most 16 MiB, so that memory is bounded, an interrupted
//! publication continues where it stopped, and each piece is checked when it is read. All objects
//! except the pointer, the lease and the notes are written once. A generation may use pieces of an
//! earlier one.
//!
//! The bucket is not trusted. A document begins with the number of its layout, in every layout. If
//! the layout is not this one, nothing else is read. Unknown keys are refused.

use figdex_io::escaped;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::names::{CURRENT, Checksum, GenerationName};
use crate::store::Store;

/// The number of the layout. Documents other than contents have no other one.
pub(crate) const LAYOUT: u32 = 1;

/// The layout of contents that list change files. An earlier version does not know them, and then
/// says that the contents are of a later version. Contents without change files keep [`LAYOUT`], so
/// an earlier version reads those.
pub(crate) const LAYOUT_WITH_CHANGES: u32 = 2;

/// The layout of contents whose generation has a past, with or without change files.
pub(crate) const LAYOUT_WITH_PAST: u32 = 3;

/// The layout of contents whose generation has a Parquet file, with or without the others.
pub(crate) const LAYOUT_WITH_PARQUET: u32 = 4;

/// The most bytes of a piece.
pub(crate) const PIECE_BYTES: u64 = 16 << 20;

/// The most bytes of the pointer and of the lease.
pub(crate) const SMALL_BYTES_MAX: u64 = 16 << 10;

/// The most characters of a parser's message that an error repeats.
const FAULT_CHARS_MAX: usize = 200;

/// The pointer to the published generation: the content of `CURRENT`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Pointer {
    /// The number of the layout.
    pub(crate) layout: u32,
    /// The number of the generation.
    pub(crate) generation: u64,
    /// The name of the generation below the address.
    pub(crate) name: GenerationName,
    /// The SHA-256 of the generation's `contents.json`.
    pub(crate) contents_sha256: Checksum,
    /// The highest number of a generation that was taken back to publish this one again.
    pub(crate) rolled_back_from: Option<u64>,
}

impl Pointer {
    pub(crate) fn to(name: GenerationName, contents: &[u8]) -> Self {
        Self {
            layout: LAYOUT,
            generation: name.number,
            name,
            contents_sha256: Checksum::of(contents),
            rolled_back_from: None,
        }
    }

    pub(crate) fn text(&self) -> Vec<u8> {
        serde_json::to_vec_pretty(self).expect("its fields are texts and numbers")
    }

    /// Reads the pointer; `None` when nothing is published.
    pub(crate) async fn read(store: &Store) -> Result<Option<Self>> {
        let Some(text) = store.read(CURRENT, SMALL_BYTES_MAX).await? else { return Ok(None) };
        Self::parse(&text, || store.place(CURRENT)).map(Some)
    }

    pub(crate) fn parse(text: &[u8], place: impl Fn() -> String) -> Result<Self> {
        check_layout(text, &place)?;
        let pointer: Self =
            serde_json::from_slice(text).map_err(|error| damaged(&place, "a pointer", &error))?;
        match pointer.name.number == pointer.generation {
            true => Ok(pointer),
            false => {
                let what = "it names another generation than its number".to_owned();
                Err(Error::Damaged { place: place(), what })
            }
        }
    }
}

/// Refuses a document of another layout: everything else in it may differ.
pub(crate) fn check_layout(text: &[u8], place: impl Fn() -> String) -> Result<()> {
    known_layout(text, LAYOUT, place)
}

/// Refuses a document of a layout after `supported`.
pub(crate) fn known_layout(text: &[u8], supported: u32, place: impl Fn() -> String) -> Result<()> {
    match layout_of(text) {
        Some(found) if (LAYOUT..=supported).contains(&found) => Ok(()),
        Some(found) => Err(Error::Newer { place: place(), found, supported }),
        None => {
            let what = "it is not a document of an index: it does not begin with {\"layout\": and \
                        a number";
            Err(Error::Damaged { place: place(), what: what.to_owned() })
        }
    }
}

/// The number of the layout at the beginning of a document. The rest is not read.
fn layout_of(text: &[u8]) -> Option<u32> {
    let mut rest = text;
    for token in [&b"{"[..], b"\"layout\"", b":"] {
        rest = rest.trim_ascii_start().strip_prefix(token)?;
    }
    rest = rest.trim_ascii_start();
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    str::from_utf8(&rest[..digits]).ok()?.parse().ok()
}

/// The error of a document that cannot be parsed. A parser's message may repeat any part of the
/// document.
pub(crate) fn damaged(
    place: impl Fn() -> String,
    expected: &str,
    error: &serde_json::Error,
) -> Error {
    let error = error.to_string();
    let error = match error.char_indices().nth(FAULT_CHARS_MAX) {
        Some((end, _)) => format!("{}…", escaped(&error[..end])),
        None => escaped(error).to_string(),
    };
    Error::Damaged { place: place(), what: format!("it is not {expected} ({error})") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Pointer> {
        Pointer::parse(text.as_bytes(), || "s3://test/CURRENT".to_owned())
    }

    /// The number of the layout is read before anything else, whatever else there is.
    #[test]
    fn the_layout_is_first() {
        for rest in ["}", ",\"new\":true}", "", ",\"layout\":1}", " nonsense", ",[[[[[[[[[[", "\0"]
        {
            for head in ["{\"layout\":2", "{\n  \"layout\" : 2", "\n{\t\"layout\":\r\n2"] {
                let error = parse(&format!("{head}{rest}")).unwrap_err();
                assert!(matches!(error, Error::Newer { found: 2, .. }), "{head}{rest}: {error}");
            }
        }
        for text in [
            "",
            "{",
            "[]",
            "{}",
            "1",
            "{\"layout\":\"2\"}",
            "{\"layout\":-2}",
            "{\"x\":1,\"layout\":2}",
        ] {
            let error = parse(text).unwrap_err().to_string();
            assert!(error.contains("does not begin with"), "{text}: {error}");
        }
        let error = parse("{\"layout\":99999999999999999999}").unwrap_err().to_string();
        assert!(error.contains("does not begin with"), "{error}");
    }

    /// A pointer is refused unless it is as a publisher writes it.
    #[test]
    fn hostile_pointers_are_refused() {
        let name = GenerationName::new(7);
        let right = String::from_utf8(Pointer::to(name, b"x").text()).unwrap();
        assert_eq!(parse(&right).unwrap().name, name);
        let name = name.to_string();
        let changed = |from: &str, to: &str| {
            assert!(right.contains(from), "{from}");
            right.replace(from, to)
        };
        let nested = format!("null,\n  \"x\": {}", "[".repeat(10_000));
        for (text, expected) in [
            (changed(&name, ""), "name of a generation"),
            (changed(&name, ".."), "name of a generation"),
            (changed(&name, &format!("../{name}")), "name of a generation"),
            (changed(&name, &format!("/{name}")), "name of a generation"),
            (changed(&name, &format!("{name}/x")), "name of a generation"),
            (changed(&name, &format!("tmp/{name}")), "name of a generation"),
            (changed(&name, "CURRENT"), "name of a generation"),
            (changed("\"generation\": 7", "\"generation\": 8"), "another generation"),
            (changed("\"generation\": 7", "\"generation\": -7"), "invalid value"),
            (
                changed("\"generation\": 7", "\"generation\": 7, \"generation\": 7"),
                "duplicate field",
            ),
            (changed("\"generation\": 7", "\"generation\": 7e0"), "invalid type"),
            (changed("null", "null,\n  \"novel\": 1"), "unknown field `novel`"),
            (changed("null", &format!("null,\n  \"{}\": 1", "x".repeat(9_000))), "unknown field"),
            (changed("null", &nested), "unknown field"),
            (changed("null", "\"x\""), "invalid type"),
            (changed("\"contents_sha256\": \"", "\"contents_sha256\": \"0"), "not a checksum"),
            (right[..right.len() - 2].to_owned(), "EOF"),
            (format!("{right}{right}"), "trailing"),
        ] {
            let error = parse(&text).unwrap_err().to_string();
            assert!(error.contains(expected), "{text}: {error}");
            assert!(error.len() < 500 && !error.contains('\n'), "{error}");
        }
    }
}
