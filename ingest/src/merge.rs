//! Rows with the same FIGI, within or across inputs, are one instrument: what
//! was read in any order leaves here in FIGI order, each FIGI once.

use figdex_index::Instrument;

use crate::conflicts::{Conflicts, Union};
use crate::derive::derive;
use crate::enrich::Enrichment;

/// What was read so far.
#[derive(Default)]
pub(crate) struct Merge {
    read: Vec<Read>,
}

/// An instrument and the input that it came from, by its place.
struct Read {
    input: usize,
    instrument: Instrument,
}

/// What became of the rows of one input.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Merged {
    /// Rows that are the first of their FIGI.
    pub(crate) instruments: u64,
    /// Rows that joined an earlier one.
    pub(crate) merged: u64,
}

impl Merge {
    /// Adds a row's instrument; inputs and their rows come in the order given.
    pub(crate) fn add(&mut self, input: usize, instrument: Instrument) {
        self.read.push(Read { input, instrument });
    }

    /// Hands every instrument to `each`, in FIGI order, whole: merged, enriched,
    /// with what derives from it. Tells what became of the rows, by input.
    pub(crate) fn finish<E>(
        mut self,
        inputs: usize,
        conflicts: &mut Conflicts,
        enrichment: &mut Enrichment,
        mut each: impl FnMut(Stage, &Instrument) -> Result<(), E>,
    ) -> Result<Vec<Merged>, E> {
        // Stable: rows of one FIGI stay in the order in which they were read.
        self.read.sort_by_key(|read| read.instrument.figi);
        let mut merged = vec![Merged::default(); inputs];
        let mut rows = self.read.into_iter().peekable();
        let mut instruments = Vec::new();
        while let Some(Read { input, instrument }) = rows.next() {
            merged[input].instruments += 1;
            let figi = instrument.figi;
            let mut union = Union::new(input, instrument);
            while let Some(later) = rows.next_if(|row| row.instrument.figi == figi) {
                merged[later.input].merged += 1;
                union.update(later.input, later.instrument, conflicts);
            }
            instruments.push(union.instrument);
        }
        if !enrichment.is_empty() {
            for instrument in &instruments {
                enrichment.observe(instrument);
                each(Stage::Joining, instrument)?;
            }
            enrichment.settle();
        }
        for mut instrument in instruments {
            enrichment.apply(&mut instrument, conflicts);
            derive(&mut instrument);
            each(Stage::Done, &instrument)?;
        }
        Ok(merged)
    }
}

/// How far an instrument has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    /// It was compared with the rows to enrich with.
    Joining,
    /// It is whole.
    Done,
}

#[cfg(test)]
mod tests {
    use figdex_index::Figi;

    use super::*;
    use crate::row::Column;

    #[test]
    fn rows_of_one_figi_are_one_instrument_and_later_inputs_win() {
        let row = |figi, name: &str| Instrument {
            name: Some(name.into()),
            ..Instrument::new(Figi::parse(figi).unwrap())
        };
        let mut merge = Merge::default();
        merge.add(0, row("BBG001S5S399", "share class"));
        merge.add(0, row("BBG000BLNNH6", "first"));
        merge.add(0, row("BBG000BLNNH6", "second"));
        merge.add(1, row("BBG000BLNNH6", "third"));
        merge.add(1, row("BBG000BLNQ16", "venue"));
        let mut names = Vec::new();
        let mut conflicts = Conflicts::new(["a", "b"].map(String::from).to_vec());
        let merged = merge
            .finish(2, &mut conflicts, &mut Enrichment::new(), |_, instrument| {
                names.push(instrument.name.clone().unwrap());
                Ok::<_, ()>(())
            })
            .unwrap();
        assert_eq!(names, ["third", "venue", "share class"]);
        let counts = merged.iter().map(|merged| (merged.instruments, merged.merged));
        assert_eq!(counts.collect::<Vec<_>>(), [(2, 1), (1, 1)]);
        assert_eq!(conflicts.finish()[&Column::Name].count, 2);
    }
}
