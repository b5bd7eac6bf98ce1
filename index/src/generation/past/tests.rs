//! Random sequences of days against the past by brute force.

mod reference;
mod sequence;

use std::collections::BTreeMap;

use self::reference::{Night, Row, instrument, lost, seen, written};
use self::sequence::{Sequence, Step};
use super::column::PastColumn;
use super::observe::Observation;
use super::{OpenVersion, Version, VersionEnd, Versions};
use crate::instrument::date::Date;
use crate::instrument::figi::Figi;
use crate::instrument::id_type::IdType;
use crate::instrument::value::ColumnValue;
use crate::instrument::vocabulary::Property;
use crate::instrument::{Instrument, check_digit};

/// The nights of a generation, and the versions after the last of them and before it.
#[derive(Clone, Default)]
struct State {
    nights: Vec<Night>,
    versions: BTreeMap<Figi, Versions>,
    before: BTreeMap<Figi, Versions>,
}

impl State {
    /// The state after a night.
    fn after(mut self, night: Night) -> Self {
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
    }
}
