//! The other names and the aliases of the rows that have any, as suggestions compare them with a
//! typed text (contract 16.16). The extras have them too, but packed with a thousand other rows.
//!
//! Two files, with little-endian numbers. `names.rows` has an entry for each row with names,
//! ascending: its DocId and the place of its names in the other file, each as `u32`. `names.texts`
//! has each list of names once: their number, then each name; an alias is a byte and its text.

use std::path::Path;

use xxhash_rust::xxh3::xxh3_64;

use super::file_writer::write_file;
use super::hashed::ByHash;
use crate::error::{Error, Result};
use crate::instrument::Instrument;
use crate::instrument::encoding::{
    put_name, put_number, put_text, take_name, take_number, take_text,
};
use crate::instrument::names::NameKind;
use crate::mapped::{Mapped, first_index, u32_at};

const ROWS: &str = "names.rows";
const TEXTS: &str = "names.texts";

const ENTRY_BYTES: usize = 8;

/// The byte before an alias. No name of another kind begins with it.
const ALIAS: u8 = u8::MAX;

/// A name of a row besides its `name`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownAs {
    /// The kind of the name; `None` for an alias.
    pub kind: Option<NameKind>,
    /// The name.
    pub text: String,
}

impl KnownAs {
    /// The other names and then the aliases of an instrument.
    pub(crate) fn of(instrument: &Instrument) -> impl Iterator<Item = Self> {
        let names = instrument.names.iter();
        let names = names.map(|name| Self { kind: Some(name.kind), text: name.text.clone() });
        names.chain(instrument.alias.iter().map(|text| Self { kind: None, text: text.clone() }))
    }

    /// The name of the kind in answers.
    pub fn kind_name(&self) -> &'static str {
        self.kind.map_or("alias", NameKind::name)
    }
}

/// Writes the names of one part.
#[derive(Default)]
pub(crate) struct OtherNamesWriter {
    count: u32,
    rows: Vec<u8>,
    texts: Vec<u8>,
    /// The place of each list, by its hash.
    places: ByHash<(usize, usize)>,
}

impl OtherNamesWriter {
    pub(crate) fn add(&mut self, instrument: &Instrument) -> Result<()> {
        let doc = self.count;
        self.count += 1;
        let names = instrument.names.len() + instrument.alias.len();
        if names == 0 {
            return Ok(());
        }
        let mut list = Vec::new();
        put_number(&mut list, names);
        instrument.names.iter().for_each(|name| put_name(&mut list, name));
        for alias in &instrument.alias {
            list.push(ALIAS);
            put_text(&mut list, alias);
        }
        let hash = xxh3_64(&list);
        let known = self.places.get(&hash).filter(|(start, end)| self.texts[*start..*end] == list);
        let start = match known {
            Some((start, _)) => *start,
            None => {
                let start = self.texts.len();
                self.texts.extend_from_slice(&list);
                self.places.insert(hash, (start, self.texts.len()));
                start
            }
        };
        let start = u32::try_from(start).map_err(|_| Error::PartTooLarge("bytes of names"))?;
        self.rows.extend_from_slice(&doc.to_le_bytes());
        self.rows.extend_from_slice(&start.to_le_bytes());
        Ok(())
    }

    pub(crate) fn finish(self, part: &Path) -> Result<()> {
        write_file(&part.join(ROWS), &self.rows)?;
        write_file(&part.join(TEXTS), &self.texts)
    }
}

/// The names of one part.
pub(crate) struct OtherNames {
    rows: Mapped,
    texts: Mapped,
}

impl OtherNames {
    pub(crate) fn open(part: &Path) -> Result<Self> {
        let names =
            Self { rows: Mapped::open(&part.join(ROWS))?, texts: Mapped::open(&part.join(TEXTS))? };
        match names.rows.len().is_multiple_of(ENTRY_BYTES) {
            true => Ok(names),
            false => Err(Error::damaged(part, "names.rows is cut")),
        }
    }

    /// The names of a row, the aliases last. A damaged list counts as empty, so that suggestions go
    /// on without it; `verify` reports it.
    pub(crate) fn of(&self, doc: u32) -> Vec<KnownAs> {
        if self.rows.is_empty() {
            return Vec::new();
        }
        let count = self.count();
        let entry = first_index(0..count, |entry| self.doc(entry) >= doc);
        match entry < count && self.doc(entry) == doc {
            true => self.list(entry).unwrap_or_default(),
            false => Vec::new(),
        }
    }

    /// Checks that rows ascend and lists can be read.
    pub(crate) fn verify(&self, part: &Path, rows: u32) -> Result<()> {
        for entry in 0..self.count() {
            let is_after = entry == 0 || self.doc(entry - 1) < self.doc(entry);
            if !is_after || self.doc(entry) >= rows || self.list(entry).is_none() {
                return Err(Error::damaged(part, "names.rows: the names of a row cannot be read"));
            }
        }
        Ok(())
    }

    fn count(&self) -> u32 {
        (self.rows.len() / ENTRY_BYTES) as u32
    }

    fn doc(&self, entry: u32) -> u32 {
        u32_at(&self.rows, entry as usize * ENTRY_BYTES)
    }

    fn list(&self, entry: u32) -> Option<Vec<KnownAs>> {
        let start = u32_at(&self.rows, entry as usize * ENTRY_BYTES + 4) as usize;
        let mut bytes = self.texts.get(start..)?;
        let count = take_number(&mut bytes)?;
        let mut names = Vec::new();
        for _ in 0..count {
            names.push(match bytes.split_first()? {
                (&ALIAS, mut rest) => {
                    let text = take_text(&mut rest)?.to_owned();
                    bytes = rest;
                    KnownAs { kind: None, text }
                }
                _ => {
                    let name = take_name(&mut bytes)?;
                    KnownAs { kind: Some(name.kind), text: name.text }
                }
            });
        }
        Some(names)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::instrument::figi::Figi;
    use crate::instrument::names::OtherName;

    #[test]
    fn rows_have_their_names_and_equal_lists_are_kept_once() {
        let name = |text: &str| OtherName {
            text: text.to_owned(),
            kind: NameKind::Former,
            from: None,
            to: crate::instrument::date::Date::new(2022, 6, 8),
        };
        let plain = Instrument::new(Figi::parse("BBG000BLNNH6").unwrap());
        let named = Instrument {
            names: vec![name("FACEBOOK INC"), name("THEFACEBOOK")],
            alias: vec!["Big F".to_owned()],
            ..plain.clone()
        };
        let other = Instrument { alias: vec!["x".to_owned()], ..plain.clone() };
        let all = [&plain, &named, &plain, &named, &other];
        let mut writer = OtherNamesWriter::default();
        all.iter().for_each(|one| writer.add(one).unwrap());
        let folder = tempfile::tempdir().unwrap();
        writer.finish(folder.path()).unwrap();
        let names = OtherNames::open(folder.path()).unwrap();
        names.verify(folder.path(), 5).unwrap();
        assert!(names.verify(folder.path(), 4).is_err());
        for (doc, instrument) in (0..).zip(all) {
            assert_eq!(names.of(doc), KnownAs::of(instrument).collect::<Vec<_>>());
        }
        assert_eq!((names.rows.len(), names.texts.len()), (24, 47));
        let (kinds, of_five): (Vec<_>, _) =
            (names.of(1).iter().map(KnownAs::kind_name).collect(), names.of(5));
        assert_eq!((kinds, of_five), (vec!["former", "former", "alias"], Vec::new()));
    }
}
