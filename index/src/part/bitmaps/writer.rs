//! Writing the bitmaps of a part, chunk by chunk.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use super::{
    BITS_BYTES, CHUNK_DOCS, CONTAINERS, KEYS, LEVELS, LOW_HALVES_MAX, ROWS, UNLISTED_EQUITIES,
};
use crate::error::Result;
use crate::instrument::Instrument;
use crate::instrument::encoding::{put_number, put_text};
use crate::instrument::level::Level;
use crate::instrument::vocabulary::Property;
use crate::part::file_writer::{FileWriter, write_file};

/// Writes the bitmaps of one part. Instruments are added in FIGI order.
pub(crate) struct BitmapsWriter {
    part: PathBuf,
    rows: FileWriter,
    rows_bytes: u64,
    /// For each property and value, the place of its bitmap in `bitmaps`.
    known: [HashMap<Box<str>, usize>; Property::COUNT],
    /// For each property, the place of the bitmap of the last row that has a value.
    last: [usize; Property::COUNT],
    unlisted_equities: Option<usize>,
    levels: [Option<usize>; Level::COUNT],
    bitmaps: Vec<BitmapWriter>,
    /// The bitmaps with rows in the current chunk.
    touched: Vec<usize>,
    doc: u32,
}

struct BitmapWriter {
    code: usize,
    value: Box<str>,
    rows: u32,
    /// The chunk, the number of DocIds and the start of the bytes of each container.
    containers: Vec<(u32, u32, u64)>,
    /// The low halves of the DocIds of the current chunk.
    low_halves: Vec<u16>,
}

impl BitmapsWriter {
    pub(crate) fn create(part: &Path) -> Result<Self> {
        Ok(Self {
            part: part.to_owned(),
            rows: FileWriter::create(part.join(ROWS))?,
            rows_bytes: 0,
            known: Default::default(),
            last: [0; Property::COUNT],
            unlisted_equities: None,
            levels: [None; Level::COUNT],
            bitmaps: Vec::new(),
            touched: Vec::new(),
            doc: 0,
        })
    }

    /// Adds the next row.
    pub(crate) fn add(&mut self, instrument: &Instrument) -> Result<()> {
        for property in Property::ALL {
            let Some(value) = instrument.property(property) else { continue };
            let bitmap = self.bitmap(property as usize, value);
            put(&mut self.bitmaps, &mut self.touched, bitmap, self.doc);
        }
        let level = instrument.level() as usize;
        let unlisted = instrument.is_unlisted_equity();
        let others = [
            Some((&mut self.levels[level], LEVELS + level)),
            unlisted.then_some((&mut self.unlisted_equities, UNLISTED_EQUITIES)),
        ];
        for (bitmap, code) in others.into_iter().flatten() {
            let bitmap = *bitmap.get_or_insert_with(|| {
                self.bitmaps.push(BitmapWriter::new(code, ""));
                self.bitmaps.len() - 1
            });
            put(&mut self.bitmaps, &mut self.touched, bitmap, self.doc);
        }
        self.doc += 1;
        if self.doc.is_multiple_of(CHUNK_DOCS) { self.write_chunk() } else { Ok(()) }
    }

    /// The place of the bitmap of a value of a property.
    fn bitmap(&mut self, property: usize, value: &str) -> usize {
        // Rows next to each other often have the same value.
        let last = self.last[property];
        let of_last = self.bitmaps.get(last);
        if of_last.is_some_and(|last| last.code == property && *last.value == *value) {
            return last;
        }
        let bitmap = match self.known[property].get(value) {
            Some(&bitmap) => bitmap,
            None => {
                let bitmap = self.bitmaps.len();
                self.known[property].insert(value.into(), bitmap);
                self.bitmaps.push(BitmapWriter::new(property, value));
                bitmap
            }
        };
        self.last[property] = bitmap;
        bitmap
    }

    pub(crate) fn finish(mut self) -> Result<()> {
        self.write_chunk()?;
        let (mut keys, mut containers) = (Vec::new(), Vec::new());
        for bitmap in &self.bitmaps {
            put_number(&mut keys, bitmap.code);
            put_text(&mut keys, &bitmap.value);
            put_number(&mut keys, bitmap.containers.len());
            put_number(&mut keys, bitmap.rows as usize);
            for (chunk, count, start) in &bitmap.containers {
                containers.extend_from_slice(&chunk.to_le_bytes());
                containers.extend_from_slice(&count.to_le_bytes());
                containers.extend_from_slice(&start.to_le_bytes());
            }
        }
        write_file(&self.part.join(KEYS), &keys)?;
        write_file(&self.part.join(CONTAINERS), &containers)?;
        self.rows.finish()
    }

    /// Writes the containers of the chunk of the last row.
    fn write_chunk(&mut self) -> Result<()> {
        let Some(last) = self.doc.checked_sub(1) else { return Ok(()) };
        let chunk = last / CHUNK_DOCS;
        for bitmap in self.touched.drain(..) {
            let bitmap = &mut self.bitmaps[bitmap];
            let count = bitmap.low_halves.len();
            bitmap.containers.push((chunk, count as u32, self.rows_bytes));
            bitmap.rows += count as u32;
            let mut bytes = Vec::new();
            if count <= LOW_HALVES_MAX {
                bytes.extend(bitmap.low_halves.iter().flat_map(|half| half.to_le_bytes()));
            } else if count < CHUNK_DOCS as usize {
                bytes.resize(BITS_BYTES, 0);
                for &low in &bitmap.low_halves {
                    bytes[usize::from(low) / 8] |= 1 << (low % 8);
                }
            }
            bitmap.low_halves.clear();
            self.rows.write(&bytes)?;
            self.rows_bytes += bytes.len() as u64;
        }
        Ok(())
    }
}

/// Adds a row to a bitmap, and adds the bitmap to those with rows in the current chunk.
fn put(bitmaps: &mut [BitmapWriter], touched: &mut Vec<usize>, bitmap: usize, doc: u32) {
    let low_halves = &mut bitmaps[bitmap].low_halves;
    if low_halves.is_empty() {
        touched.push(bitmap);
    }
    low_halves.push(doc as u16);
}

impl BitmapWriter {
    fn new(code: usize, value: &str) -> Self {
        let (containers, low_halves) = (Vec::new(), Vec::new());
        Self { code, value: value.into(), rows: 0, containers, low_halves }
    }
}
