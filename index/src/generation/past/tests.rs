//! Random sequences of days against the past by brute force.

pub(crate) mod reference;
pub(crate) mod sequence;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use self::reference::{Night, Row, instrument, lost, seen, written};
use self::sequence::{Sequence, Step};
use super::column::PastColumn;
use super::log::{LogSummary, LogWriter, ObservedDays, PastLog, UnpackedBlocks};
use super::lookup::{LookupWriter, PastLookup};
use super::observe::Observation;
use super::{LOOKUP, OpenVersion, VERSIONS_LOG, Version, VersionEnd, Versions};
use crate::error::Result;
use crate::instrument::date::Date;
use crate::instrument::figi::Figi;
use crate::instrument::id_type::IdType;
use crate::instrument::value::ColumnValue;
use crate::instrument::vocabulary::Property;
use crate::instrument::{Instrument, check_digit};

/// The nights of a generation, and the versions after the last of them and before it.
#[derive(Clone, Default)]
pub(crate) struct State {
    pub(crate) nights: Vec<Night>,
    pub(crate) versions: BTreeMap<Figi, Versions>,
    before: BTreeMap<Figi, Versions>,
}

impl State {
    /// The state after a night.
    pub(crate) fn after(mut self, night: Night) -> Self {
        // A second build of a day begins with the state before that day.
        match self.nights.pop() {
            Some(last) if last.day == night.day => self.versions = self.before,
            last => self.nights.extend(last),
        }
        self.before = self.versions.clone();
        let unfilled = self.nights.last().map(|last| lost(last, &night)).unwrap_or_default();
        let observation = Observation {
            day: night.day,
            before: self.nights.last().map_or(night.day, |last| last.day),
            mend_days: night.mend_days.into(),
            unfilled: PastColumn::all().filter(|it| unfilled.contains(it.name())).collect(),
        };
        let figis: Vec<Figi> = self.versions.keys().chain(night.rows.keys()).copied().collect();
        let has_derivatives = self.nights.iter().chain([&night]).any(|it| it.has_derivatives);
        for figi in figis {
            let versions = self.before.get(&figi).cloned().unwrap_or(Versions::none(figi));
            let goes_on = versions.open.is_some();
            let is_kept = |row: &&Row| has_derivatives || goes_on || !reference::is_derivative(row);
            let row = night.rows.get(&figi).filter(is_kept).map(|row| instrument(figi, row));
            self.versions.insert(figi, observation.of(versions, row.as_ref()));
        }
        self.nights.push(night);
        self
    }
}

/// The state of each FIGI goes on from day to day, and is what the whole list of days gives.
/// `FIGDEX_PAST_SEQUENCES` sets the number of sequences.
#[test]
fn the_versions_are_those_of_all_days() {
    let sequences = std::env::var("FIGDEX_PAST_SEQUENCES").map(|text| text.parse().unwrap());
    let (mut ends, mut lost_columns) = ([0; 4], 0);
    for seed in 0..sequences.unwrap_or(1_000) {
        let mut sequence = Sequence::new(seed);
        let mut published = vec![State::default()];
        for _ in 0..4 + sequence.below(10) {
            let state = &published[published.len() - 1];
            match sequence.step(&state.nights) {
                Step::Build(night) => published.push(state.clone().after(night)),
                Step::Rollback if published.len() > 2 => _ = published.pop(),
                Step::Rollback => continue,
            }
            let state = &published[published.len() - 1];
            for figi in sequence.figis() {
                let found = state.versions.get(&figi).map(written).unwrap_or_default();
                let expected = seen(&state.nights, figi);
                let rows = state.nights.iter().map(|night| (night.day, night.rows.get(&figi)));
                let rows: Vec<_> = rows.collect();
                assert_eq!(found, expected, "seed {seed}, {figi}: {rows:?}");
            }
        }
        let State { nights, versions, .. } = &published[published.len() - 1];
        let closed = versions.values().flat_map(|versions| &versions.closed);
        closed.for_each(|version| ends[version.end as usize] += 1);
        lost_columns += nights.windows(2).map(|two| lost(&two[0], &two[1]).len()).sum::<usize>();
    }
    let least = ends.into_iter().chain([lost_columns]).min();
    assert!(least > Some(0), "{ends:?} ends, {lost_columns} lost columns");
    println!("{ends:?} ends, {lost_columns} lost columns");
}

/// The state after some random nights with many records.
fn state(seed: u64) -> State {
    let mut sequence = Sequence::new(seed);
    let mut state = State::default();
    while state.nights.len() < 8 {
        if let Step::Build(night) = sequence.step(&state.nights) {
            state = state.after(night);
        }
    }
    state
}

/// Writes a whole log of the state, and the lookup file next to it.
fn write(state: &State, folder: &Path) -> (PathBuf, PathBuf) {
    let (log, lookup) = (folder.join(VERSIONS_LOG), folder.join(LOOKUP));
    let mut days = ObservedDays::default();
    state.nights.iter().for_each(|night| days.push(night.day));
    let summary = LogSummary { days, is_whole: true, ..LogSummary::default() };
    let mut writer = LogWriter::create(log.clone(), summary).unwrap();
    let mut keys = LookupWriter::default();
    for versions in state.versions.values() {
        writer.add(versions, None).unwrap();
        keys.add(versions, row_of(versions));
    }
    writer.finish().unwrap();
    keys.finish(&lookup).unwrap();
    (log, lookup)
}

/// A row of today, which is that of the open version.
fn row_of(versions: &Versions) -> Option<&Instrument> {
    versions.open.as_ref().map(|open| &open.image)
}

fn read(path: &Path) -> Result<Vec<Versions>> {
    let mut all = Vec::new();
    let log = PastLog::open(path)?;
    let mut records = log.records();
    while let Some(record) = records.next()? {
        all.push(record.versions(None));
    }
    Ok(all)
}

/// A log gives back what was written. Any changed or cut byte is noticed, at opening or when the
/// records are read.
#[test]
fn a_damaged_log() {
    let folder = tempfile::tempdir().unwrap();
    let state = state(3);
    let (log, _) = write(&state, folder.path());
    let expected: Vec<_> = state.versions.values().map(written).collect();
    assert_eq!(read(&log).unwrap().iter().map(written).collect::<Vec<_>>(), expected);
    let right = fs::read(&log).unwrap();
    for place in 0..right.len() {
        let mut wrong = right.clone();
        wrong[place] ^= 1 << (place % 8);
        for bytes in [&wrong[..], &right[..place]] {
            fs::write(&log, bytes).unwrap();
            assert!(read(&log).is_err(), "{place}");
        }
    }
}

/// Records with wrong bytes and right checksums, as a fault or a stranger would make them, are
/// refused or give other versions: nothing panics, and a record that is read can be written.
#[test]
fn a_log_with_wrong_records() {
    let folder = tempfile::tempdir().unwrap();
    let state = state(3);
    let (log, _) = write(&state, folder.path());
    let log = PastLog::open(&log).unwrap();
    let mut random = Sequence::new(0);
    let (mut refused, mut read) = (0, 0);
    for versions in state.versions.values() {
        let encoded = super::log::encoded(versions);
        assert!(log.decoded(versions.figi, &encoded).is_some());
        for round in 0..2_000 {
            let mut wrong = encoded.clone();
            for _ in 0..=round % 3 {
                let place = random.below(wrong.len());
                wrong[place] = [0, 1, 0x7f, 0x80, 0xff, random.below(256) as u8][random.below(6)];
            }
            wrong.truncate(wrong.len() - random.below(8).saturating_sub(6));
            match log.decoded(versions.figi, &wrong) {
                Some(versions) => {
                    super::log::encoded(&versions);
                    read += 1;
                }
                None => refused += 1,
            }
        }
    }
    assert!(refused > 100 && read > 100, "{refused} refused, {read} read");
}

/// A lookup file with wrong bytes is refused or differs from what follows from the log: nothing
/// panics when it is asked.
#[test]
fn a_damaged_lookup_file() {
    let folder = tempfile::tempdir().unwrap();
    let state = state(3);
    let (_, path) = write(&state, folder.path());
    let right = fs::read(&path).unwrap();
    let keys = || {
        let mut keys = LookupWriter::default();
        state.versions.values().for_each(|versions| keys.add(versions, row_of(versions)));
        keys
    };
    let lookup = PastLookup::open(&path).unwrap();
    assert!(lookup.is_of(keys()));
    let since = |versions: &Versions| versions.settled_since(row_of(versions));
    for versions in state.versions.values() {
        assert_eq!(lookup.record(versions.figi).unwrap().since, since(versions));
    }
    assert!(state.versions.values().any(|versions| since(versions).is_some()));
    let isin = IdType::Isin.admit("US4592001014").unwrap();
    for place in 0..right.len() {
        let mut wrong = right.clone();
        wrong[place] ^= 1 << (place % 8);
        for bytes in [&wrong[..], &right[..place]] {
            fs::write(&path, bytes).unwrap();
            let Ok(lookup) = PastLookup::open(&path) else { continue };
            state.versions.keys().for_each(|figi| _ = lookup.record(*figi));
            assert!(lookup.owners(&isin).count() <= state.versions.len());
            assert!(!lookup.is_of(keys()), "{place}");
        }
    }
}

/// Neighbours are read from one block, and blocks take a bounded number of bytes.
#[test]
fn unpacked_blocks() {
    let mut blocks = UnpackedBlocks::default();
    let mut unpacked = 0;
    let mut get = |number: usize| {
        let unpack = || {
            unpacked += 1;
            Ok(vec![number as u8; 16 << 10])
        };
        assert_eq!(blocks.get(number, unpack).unwrap()[0], number as u8);
        (unpacked, blocks.bytes())
    };
    assert_eq!([0, 0, 1, 0].map(|number| get(number).0), [1, 1, 2, 2]);
    let (_, most) = (2..40).map(&mut get).last().unwrap();
    assert_eq!(most, 17 * (16 << 10));
    assert_eq!(get(39).0, 40);
    assert_eq!(get(0).0, 41, "it was left out for later ones");
    let large = || Ok(vec![0; 1 << 20]);
    blocks.get(100, large).unwrap();
    blocks.get(101, large).unwrap();
    blocks.get(102, large).unwrap();
    assert_eq!(blocks.bytes(), 1 << 20, "a large one is kept only until the next");
}
