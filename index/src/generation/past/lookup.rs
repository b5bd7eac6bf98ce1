//! The FIGIs that have a past, and those that had an identifier which they no longer have.
//!
//! ```text
//! magic     8 bytes
//! counts    the number of FIGIs and of keys, u64 each
//! figis     the FIGIs with a record in the log, ascending, u64 each
//! hashes    the hash of each key, ascending, u64 each
//! owners    the FIGI of each key, u64 each
//! settled   the day since which each FIGI is settled, in days since 1970, or `u32::MAX`, u32 each
//! values    JSON: the values of properties that rows had, by the name of the property
//! ```
//! A key is an idType and a value. Two keys may have one hash: the reader compares the versions.
//!
//! A FIGI is settled since a day when the log says nothing of that day and later ones but that the
//! row was as it is now. Questions about these days do not read its record.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use xxhash_rust::xxh3::xxh3_64;

use super::VersionEnd;
use super::Versions;
use crate::error::{Error, Result};
use crate::instrument::Instrument;
use crate::instrument::date::Date;
use crate::instrument::figi::Figi;
use crate::instrument::id_type::IdValue;
use crate::instrument::vocabulary::Property;
use crate::mapped::{Mapped, u32_at, u64_at};
use crate::part::file_writer::write_file;

const MAGIC: [u8; 8] = *b"FGDXPST\x01";
const HEADER_BYTES: usize = 8 + 2 * 8;

/// The day of a FIGI whose record must be read for all days.
const UNSETTLED: u32 = u32::MAX;

/// A lookup file that is being made.
#[derive(Default)]
pub(crate) struct LookupWriter {
    figis: Vec<u64>,
    keys: Vec<(u64, u64)>,
    settled: Vec<u32>,
    values: BTreeMap<&'static str, BTreeSet<String>>,
}

impl LookupWriter {
    /// Adds a FIGI with a record, and the row that it has now.
    pub(crate) fn add(&mut self, versions: &Versions, row: Option<&Instrument>) {
        let figi = versions.figi.to_u64();
        self.figis.push(figi);
        let settled = versions.settled_since(row).and_then(|day| u32::try_from(day.to_days()).ok());
        self.settled.push(settled.unwrap_or(UNSETTLED));
        let today: BTreeSet<IdValue<'_>> = row.into_iter().flat_map(Instrument::keys).collect();
        let mut former = BTreeSet::new();
        // A value that only the open version still has is not found by today's row either.
        let open = versions.open.iter().map(|open| &open.image);
        let closed = versions.closed.iter().filter(|version| version.end != VersionEnd::Revised);
        for image in closed.map(|version| &version.image).chain(open) {
            former.extend(image.keys().filter(|key| !today.contains(key)));
            for property in Property::ALL {
                if let Some(value) = image.property(property) {
                    self.values.entry(property.name()).or_default().insert(value.to_owned());
                }
            }
        }
        former.extend(versions.stated.iter().map(|retired| retired.id_value.borrowed()));
        self.keys.extend(former.iter().map(|key| (hash_of(key), figi)));
    }

    pub(crate) fn finish(self, path: &Path) -> Result<()> {
        write_file(path, &self.bytes())
    }

    fn bytes(mut self) -> Vec<u8> {
        self.keys.sort_unstable();
        let mut bytes =
            Vec::with_capacity(HEADER_BYTES + 12 * self.figis.len() + 16 * self.keys.len());
        bytes.extend_from_slice(&MAGIC);
        for count in [self.figis.len(), self.keys.len()] {
            bytes.extend_from_slice(&(count as u64).to_le_bytes());
        }
        let hashes = self.keys.iter().map(|key| key.0);
        let owners = self.keys.iter().map(|key| key.1);
        for number in self.figis.iter().copied().chain(hashes).chain(owners) {
            bytes.extend_from_slice(&number.to_le_bytes());
        }
        self.settled.iter().for_each(|day| bytes.extend_from_slice(&day.to_le_bytes()));
        let values = serde_json::to_vec(&self.values).expect("its keys and values are texts");
        bytes.extend_from_slice(&values);
        bytes
    }
}

fn hash_of(key: &IdValue<'_>) -> u64 {
    let mut bytes = Vec::with_capacity(1 + key.as_str().len());
    bytes.push(key.id_type() as u8);
    bytes.extend_from_slice(key.as_str().as_bytes());
    xxh3_64(&bytes)
}

/// The day since which the row of a FIGI with a record is as it is now, and was observed so.
pub(crate) struct Settled {
    /// `None` when the record must be read for all days.
    pub(crate) since: Option<Date>,
}

/// A lookup file, open for reading.
pub(crate) struct PastLookup {
    map: Mapped,
    figis: usize,
    keys: usize,
    values: Vec<(Property, String)>,
}

impl PastLookup {
    pub(crate) fn open(path: &Path) -> Result<Self> {
        let map = Mapped::open(path)?;
        let damaged = |what: &str| Error::damaged(path, what);
        if map.len() < HEADER_BYTES || map[..8] != MAGIC {
            return Err(damaged("it is not a lookup file of the past"));
        }
        let [figis, keys] = [8, 16].map(|at| usize::try_from(u64_at(&map, at)).ok());
        let places = || {
            let (figis, keys) = (figis?, keys?);
            let bytes = figis.checked_mul(12)?.checked_add(keys.checked_mul(16)?)?;
            let end = bytes.checked_add(HEADER_BYTES).filter(|end| *end <= map.len())?;
            Some((figis, keys, end))
        };
        let (figis, keys, end) = places().ok_or_else(|| damaged("its counts are impossible"))?;
        let listed: BTreeMap<String, Vec<String>> = serde_json::from_slice(&map[end..])
            .map_err(|_| damaged("its values cannot be read"))?;
        let values = listed.into_iter().flat_map(|(property, values)| {
            let property = Property::from_name(&property);
            values.into_iter().filter_map(move |value| Some((property?, value)))
        });
        Ok(Self { values: values.collect(), map, figis, keys })
    }

    /// Whether the file is the one that this writer would write.
    pub(crate) fn is_of(&self, writer: LookupWriter) -> bool {
        self.map[..] == writer.bytes()
    }

    /// The values of properties that rows had.
    pub(crate) fn values(&self) -> &[(Property, String)] {
        &self.values
    }

    /// Whether a FIGI has a record in the log.
    pub(crate) fn has(&self, figi: Figi) -> bool {
        self.place(figi).is_some()
    }

    /// Whether a FIGI has a record in the log, and since when it is settled.
    pub(crate) fn record(&self, figi: Figi) -> Option<Settled> {
        let place = self.place(figi)?;
        let settled = HEADER_BYTES + 8 * self.figis + 16 * self.keys + 4 * place;
        let since = match u32_at(&self.map, settled) {
            UNSETTLED => None,
            days => Date::from_days(days.into()),
        };
        Some(Settled { since })
    }

    fn place(&self, figi: Figi) -> Option<usize> {
        let at = |place: usize| self.number(0, place);
        let place = first(self.figis, |place| at(place) >= figi.to_u64());
        (place < self.figis && at(place) == figi.to_u64()).then_some(place)
    }

    /// The FIGIs that perhaps had an identifier which they no longer have, in ascending order.
    pub(crate) fn owners(&self, key: &IdValue<'_>) -> impl Iterator<Item = Figi> {
        let hash = hash_of(key);
        let hash_at = move |place: usize| self.number(self.figis, place);
        let place = first(self.keys, |place| hash_at(place) >= hash);
        (place..self.keys)
            .take_while(move |place| hash_at(*place) == hash)
            .map(|place| Figi::from_u64(self.number(self.figis + self.keys, place)))
    }

    fn number(&self, base: usize, place: usize) -> u64 {
        u64_at(&self.map, HEADER_BYTES + 8 * (base + place))
    }
}

/// The first place below `count` for which `holds`; `count` when there is none.
fn first(count: usize, holds: impl Fn(usize) -> bool) -> usize {
    let (mut low, mut high) = (0, count);
    while low < high {
        let middle = low + (high - low) / 2;
        if holds(middle) { high = middle } else { low = middle + 1 }
    }
    low
}
