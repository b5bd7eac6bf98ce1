//! The aliases of a part, as they were given. Searches find them as words of the
//! segment; this is for who reads an index back, from front to end.
//!
//! One file, empty where no instrument has an alias. For each instrument with some,
//! by DocId: the DocId and the count of texts as `u32`, then each text as its length
//! in bytes, a `u32`, and the bytes.

use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::Path;

use crate::error::{Error, Result};
use crate::mapped::Mapped;

/// The name of the file, which every part has.
pub(crate) const ALIASES: &str = "aliases";

/// Writes the aliases of one part.
pub(crate) struct AliasesWriter(BufWriter<File>);

impl AliasesWriter {
    pub(crate) fn create(part: &Path) -> Result<Self> {
        let path = part.join(ALIASES);
        File::create_new(&path).map(BufWriter::new).map(Self).map_err(Error::io(&path))
    }

    /// Adds the aliases of the next instrument that has any.
    pub(crate) fn add(&mut self, doc: u32, texts: &[String], part: &Path) -> Result<()> {
        if texts.is_empty() {
            return Ok(());
        }
        let number = |number: usize| {
            u32::try_from(number).map_err(|_| Error::PartTooLarge("bytes in one text"))
        };
        let mut bytes = [doc, number(texts.len())?].map(u32::to_le_bytes).concat();
        for text in texts {
            bytes.extend_from_slice(&number(text.len())?.to_le_bytes());
            bytes.extend_from_slice(text.as_bytes());
        }
        self.0.write_all(&bytes).map_err(Error::io(part))
    }

    pub(crate) fn finish(self, part: &Path) -> Result<()> {
        let done = self.0.into_inner().map_err(|error| Error::io(part)(error.into_error()));
        done.map(drop)
    }
}

/// The aliases of one part of a published generation.
pub(crate) struct Aliases(Mapped);

impl Aliases {
    pub(crate) fn open(part: &Path) -> Result<Self> {
        Mapped::open(&part.join(ALIASES)).map(Self)
    }

    /// The instruments that have aliases, by DocId.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u32, Vec<&str>)> {
        let mut rest = &*self.0;
        std::iter::from_fn(move || {
            if rest.is_empty() {
                return None;
            }
            let (doc, count) = (take_number(&mut rest), take_number(&mut rest));
            let mut text = || {
                let length = take_number(&mut rest) as usize;
                let (text, after) = rest.split_at(length);
                rest = after;
                str::from_utf8(text).expect("aliases were written from texts")
            };
            Some((doc, (0..count).map(|_| text()).collect()))
        })
    }
}

fn take_number(rest: &mut &[u8]) -> u32 {
    let (number, after) = rest.split_first_chunk().expect("a u32 inside the file");
    *rest = after;
    u32::from_le_bytes(*number)
}
