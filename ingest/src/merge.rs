//! Rows with the same FIGI, within or across inputs, are one instrument: what
//! was read in any order leaves here in FIGI order, each FIGI once.

use figdex_index::Instrument;

use crate::derive::derive;

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

    /// Hands every instrument to `each`, in FIGI order, whole: merged, with what
    /// derives from it. Tells what became of the rows, by input.
    pub(crate) fn finish<E>(
        mut self,
        inputs: usize,
        mut each: impl FnMut(&mut Instrument) -> Result<(), E>,
    ) -> Result<Vec<Merged>, E> {
        // Stable: rows of one FIGI stay in the order in which they were read.
        self.read.sort_by_key(|read| read.instrument.figi);
        let mut merged = vec![Merged::default(); inputs];
        let mut rows = self.read.into_iter().peekable();
        while let Some(Read { input, mut instrument }) = rows.next() {
            merged[input].instruments += 1;
            while let Some(later) = rows.next_if(|row| row.instrument.figi == instrument.figi) {
                merged[later.input].merged += 1;
                instrument.update(later.instrument);
            }
            derive(&mut instrument);
            each(&mut instrument)?;
        }
        Ok(merged)
    }
}

#[cfg(test)]
mod tests {
    use figdex_index::Figi;

    use super::*;

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
        let merged = merge
            .finish(2, |instrument| {
                names.push(instrument.name.clone().unwrap());
                Ok::<_, ()>(())
            })
            .unwrap();
        assert_eq!(names, ["third", "venue", "share class"]);
        let counts = merged.iter().map(|merged| (merged.instruments, merged.merged));
        assert_eq!(counts.collect::<Vec<_>>(), [(2, 1), (1, 1)]);
    }
}
