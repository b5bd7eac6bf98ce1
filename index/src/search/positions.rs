//! The rows that hold words, in the order of ranks: posting lists as positions (`part::ranks`).
//! Sets of positions are intersected and united. They are read only until enough rows are found.

use tantivy::postings::TermInfo;
use tantivy::schema::IndexRecordOption;
use tantivy::{DocSet as _, TERMINATED, TantivyError};

use super::plan::TERM_UNITS;
use crate::error::Result;
use crate::meter::Meter;
use crate::part::Part;
use crate::part::ranks::{ListCursor, ListedWord};
use crate::part::segment::postings::BLOCK_ROWS;
use crate::query::Word;

/// The position after all others. It means that none is left.
pub(crate) const END: u32 = u32::MAX;

/// Units of work of a step in a set of positions.
pub(crate) const STEP_UNITS: u64 = 4;

/// The units of work of starting to read a list of the segment, and of comparing one of its rows
/// with a few others.
const POSTINGS_UNITS: u64 = 20;
const AMONG_UNITS: u64 = 2;

/// Units of work of finding the position of a row.
pub(crate) const POSITION_UNITS: u64 = 8;

/// A set of positions, which is read in ascending order.
pub(crate) enum Positions<'a> {
    /// The positions of a frequent word.
    List(Box<ListCursor<'a>>),
    /// A list of positions, such as those of a rare word, and the number of positions that were
    /// already passed.
    Few(Vec<u32>, usize),
    /// The positions that are in all of the sets. There is at least one set.
    All(Vec<Positions<'a>>),
    /// The positions that are in at least one of the sets.
    Any(AnyOf<'a>),
}

/// A union of sets.
pub(crate) struct AnyOf<'a> {
    /// The sets. Rare words share one set, so that a step looks into few sets.
    sets: Vec<Positions<'a>>,
    /// For each set, its first position that had not been passed at the last reading. Empty before
    /// the first reading.
    firsts: Vec<u32>,
    /// The number of sets that were united. Each step is charged for all of them, so that the point
    /// where a search is abandoned does not depend on how many of its words are rare.
    made_of: u64,
}

/// A small number of rows, ascending, each with its position.
pub(crate) struct FewRows(Vec<(u32, u32)>);

impl FewRows {
    /// The most rows.
    const MAX: u32 = 256;

    /// The rows of a set; `None` when there may be more than [`FewRows::MAX`]. The set must not
    /// have been read yet.
    pub(crate) fn of(part: &Part, set: &mut Positions<'_>, meter: &Meter) -> Option<Self> {
        if set.count_max() > Self::MAX {
            return None;
        }
        let mut rows = Vec::new();
        let mut position = set.seek(0, meter);
        while position != END && meter.charge(STEP_UNITS).is_ok() {
            rows.push((part.ranks.doc(position), position));
            position = set.seek(position + 1, meter);
        }
        set.rewind();
        rows.sort_unstable();
        Some(Self(rows))
    }

    fn position(&self, doc: u32) -> Option<u32> {
        let place = self.0.binary_search_by_key(&doc, |(doc, _)| *doc).ok()?;
        Some(self.0[place].1)
    }
}

/// A word of the dictionary of a part.
#[derive(Clone)]
pub(crate) enum DictionaryWord {
    /// A frequent word, which has a list in the order of ranks.
    Listed(ListedWord),
    /// A word with its entry in the dictionary.
    Read(TermInfo),
}

impl DictionaryWord {
    /// The number of rows that hold the word.
    pub(crate) fn rows(&self) -> u32 {
        match self {
            Self::Listed(word) => word.rows,
            Self::Read(info) => info.doc_freq,
        }
    }

    /// The start of the word's posting list in the segment.
    pub(crate) fn postings(&self) -> usize {
        match self {
            Self::Listed(word) => word.start as usize,
            Self::Read(info) => info.postings_range.start,
        }
    }
}

impl<'a> Positions<'a> {
    /// The rows of a part that hold a term.
    pub(crate) fn of_term(part: &'a Part, term: &str, meter: &Meter) -> Result<Self> {
        meter.charge(TERM_UNITS)?;
        let info = part.words.terms().get(term).map_err(TantivyError::from)?;
        info.map_or(Ok(Self::NONE), |info| Self::of_info(part, &info, None, meter))
    }

    /// The rows of a part that hold a term. `info` is the entry of the term in the dictionary. If
    /// `among` is given and the term is rare, only the rows in `among` are returned.
    fn of_info(
        part: &'a Part,
        info: &TermInfo,
        among: Option<&FewRows>,
        meter: &Meter,
    ) -> Result<Self> {
        if let Some(list) = part.ranks.list(info) {
            meter.charge(TERM_UNITS)?;
            return Ok(Self::List(Box::new(list)));
        }
        // A rare word has no list in the order of ranks, so its rows are sorted here.
        let units = if among.is_some() { AMONG_UNITS } else { POSITION_UNITS };
        meter.charge(POSTINGS_UNITS + units * u64::from(info.doc_freq))?;
        let rows = part.rare_postings.rows(info);
        let mut positions: Vec<u32> = match among {
            None => rows.map(|doc| part.ranks.position(doc)).collect(),
            Some(others) => rows.filter_map(|doc| others.position(doc)).collect(),
        };
        positions.sort_unstable();
        Ok(Self::Few(positions, 0))
    }

    /// The rows of a part that hold a word of its dictionary. If `among` is given and the word is
    /// rare, only the rows in `among` are returned.
    pub(crate) fn of_dictionary(
        part: &'a Part,
        word: &DictionaryWord,
        among: Option<&FewRows>,
        meter: &Meter,
    ) -> Result<Self> {
        match word {
            DictionaryWord::Listed(word) => {
                meter.charge(TERM_UNITS)?;
                Ok(Self::List(Box::new(part.ranks.list_of(*word))))
            }
            DictionaryWord::Read(info) => Self::of_info(part, info, among, meter),
        }
    }

    /// The rows that hold a word: its squeezed form, or all its runs.
    pub(crate) fn of_word(part: &'a Part, word: &Word, meter: &Meter) -> Result<Self> {
        let runs = word.runs.iter().map(|run| Self::of_term(part, run, meter));
        let runs = Self::all(runs.collect::<Result<_>>()?);
        if word.runs.len() < 2 {
            return Ok(runs);
        }
        Ok(Self::any(vec![Self::of_term(part, &word.squeezed, meter)?, runs]))
    }

    /// The rows of a part that hold a term in an other name.
    pub(crate) fn of_name_term(part: &'a Part, term: &str, meter: &Meter) -> Result<Self> {
        meter.charge(TERM_UNITS)?;
        let info = part.name_words.words.terms().get(term).map_err(TantivyError::from)?;
        info.map_or(Ok(Self::NONE), |info| Self::of_name_info(part, &info, meter))
    }

    /// As [`Self::of_name_term`], of a term with its entry in the dictionary.
    pub(crate) fn of_name_info(part: &'a Part, info: &TermInfo, meter: &Meter) -> Result<Self> {
        meter.charge(POSTINGS_UNITS + POSITION_UNITS * u64::from(info.doc_freq))?;
        let names = &part.name_words;
        let mut positions = Vec::new();
        if info.doc_freq < BLOCK_ROWS {
            positions.extend(names.rare_postings.rows(info).map(|doc| part.ranks.position(doc)));
        } else {
            let rows = names.words.read_postings_from_terminfo(info, IndexRecordOption::Basic);
            let mut rows = rows.map_err(TantivyError::from)?;
            while rows.doc() != TERMINATED {
                positions.push(part.ranks.position(rows.doc()));
                rows.advance();
            }
        }
        positions.sort_unstable();
        Ok(Self::Few(positions, 0))
    }

    pub(crate) const NONE: Self = Self::Few(Vec::new(), 0);

    /// The positions that are in all of the sets; empty without sets.
    pub(crate) fn all(mut sets: Vec<Self>) -> Self {
        match sets.len() {
            0 => Self::NONE,
            1 => sets.remove(0),
            _ => {
                // The smallest set leads.
                sets.sort_by_cached_key(Self::count_max);
                Self::All(sets)
            }
        }
    }

    /// The positions that are in at least one of the sets.
    pub(crate) fn any(sets: Vec<Self>) -> Self {
        let made_of = sets.len() as u64;
        let mut all = Vec::with_capacity(sets.len());
        let mut few = Vec::new();
        for set in sets {
            match set {
                Self::Few(positions, 0) => few.extend(positions),
                other => all.push(other),
            }
        }
        few.sort_unstable();
        all.push(Self::Few(few, 0));
        Self::Any(AnyOf { sets: all, firsts: Vec::new(), made_of })
    }

    /// An upper bound of the number of positions.
    pub(crate) fn count_max(&self) -> u32 {
        match self {
            Self::List(list) => list.count(),
            Self::Few(positions, _) => positions.len() as u32,
            Self::All(sets) => sets.iter().map(Self::count_max).min().unwrap_or(0),
            Self::Any(any) => any.sets.iter().map(Self::count_max).fold(0, u32::saturating_add),
        }
    }

    /// The units of work of a seek that finds its position at once.
    pub(crate) fn seek_units(&self) -> u64 {
        let of_all = |sets: &[Self]| sets.iter().map(Self::seek_units).sum::<u64>();
        match self {
            Self::List(_) | Self::Few(..) => 0,
            Self::All(sets) => STEP_UNITS * sets.len() as u64 + of_all(sets),
            Self::Any(any) => any.made_of + of_all(&any.sets),
        }
    }

    /// Goes to the first position at or after `target`, which must not be smaller than in the
    /// previous call. Returns [`END`] when there is none, or when the meter refuses a charge.
    pub(crate) fn seek(&mut self, target: u32, meter: &Meter) -> u32 {
        match self {
            Self::List(list) => list.seek(target),
            Self::Few(positions, passed) => {
                if positions.get(*passed).is_some_and(|position| *position < target) {
                    *passed += positions[*passed..].partition_point(|position| *position < target);
                }
                positions.get(*passed).copied().unwrap_or(END)
            }
            Self::All(sets) => seek_all(sets, target, meter),
            Self::Any(AnyOf { sets, firsts, made_of }) => {
                if meter.charge(*made_of).is_err() {
                    return END;
                }
                if firsts.is_empty() {
                    firsts.extend(sets.iter_mut().map(|set| set.seek(target, meter)));
                } else {
                    for (first, set) in firsts.iter_mut().zip(sets) {
                        // Most sets are already at a later position.
                        if *first < target {
                            *first = set.seek(target, meter);
                        }
                    }
                }
                firsts.iter().copied().min().unwrap_or(END)
            }
        }
    }

    /// Goes back to the first position.
    pub(crate) fn rewind(&mut self) {
        match self {
            Self::List(list) => list.rewind(),
            Self::Few(_, passed) => *passed = 0,
            Self::All(sets) => sets.iter_mut().for_each(Self::rewind),
            Self::Any(any) => {
                any.sets.iter_mut().for_each(Self::rewind);
                any.firsts.clear();
            }
        }
    }

    /// Whether a position is in the set. Call it with ascending positions. Unlike
    /// [`Positions::seek`], it does not look for the next position that several sets share.
    pub(crate) fn holds(&mut self, position: u32, meter: &Meter) -> bool {
        match self {
            Self::List(_) | Self::Few(..) => {
                meter.charge(STEP_UNITS).is_ok() && self.seek(position, meter) == position
            }
            Self::All(sets) => sets.iter_mut().all(|set| set.holds(position, meter)),
            Self::Any(any) => any.sets.iter_mut().any(|set| set.holds(position, meter)),
        }
    }
}

/// Goes to the first position at or after `target` that is in all of the sets.
fn seek_all(sets: &mut [Positions<'_>], mut target: u32, meter: &Meter) -> u32 {
    'target: while meter.charge(STEP_UNITS * sets.len() as u64).is_ok() {
        for set in &mut *sets {
            let position = set.seek(target, meter);
            if position > target {
                target = position;
                if target == END {
                    return END;
                }
                continue 'target;
            }
        }
        return target;
    }
    END
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    fn set() -> impl Strategy<Value = BTreeSet<u32>> {
        proptest::collection::btree_set(0_u32..60, 0..40)
    }

    fn few(set: &BTreeSet<u32>) -> Positions<'static> {
        Positions::Few(set.iter().copied().collect(), 0)
    }

    proptest! {
        #[test]
        fn sets_are_intersected_and_united(a in set(), b in set(), c in set(), d in set()) {
            let mut joined = Positions::all(vec![
                Positions::any(vec![few(&a), few(&b)]),
                Positions::any(vec![Positions::all(vec![few(&c), few(&a)]), few(&d)]),
            ]);
            let first = &a | &b;
            let second = &(&c & &a) | &d;
            let expected = &first & &second;
            prop_assert!(joined.count_max() as usize >= expected.len());
            let mut found = BTreeSet::new();
            let meter = Meter::unlimited();
            for _ in 0..2 {
                let mut position = joined.seek(0, &meter);
                while position != END {
                    found.insert(position);
                    position = joined.seek(position + 1, &meter);
                }
                prop_assert_eq!(&std::mem::take(&mut found), &expected);
                joined.rewind();
            }
        }
    }

    proptest! {
        #[test]
        fn holds_agrees_with_sets(a in set(), b in set(), c in set()) {
            let one = vec![few(&a), few(&b)];
            let mut joined = Positions::all(vec![Positions::any(one), few(&c)]);
            let meter = Meter::unlimited();
            for position in 0..60 {
                let expected = (a.contains(&position) || b.contains(&position)) && c.contains(&position);
                prop_assert_eq!(joined.holds(position, &meter), expected);
            }
        }
    }

    #[test]
    fn a_refused_charge_is_the_end() {
        let set: BTreeSet<u32> = (0..10).collect();
        let mut both = Positions::all(vec![few(&set), few(&set)]);
        let meter = Meter::of(2 * STEP_UNITS);
        assert_eq!(both.seek(3, &meter), 3);
        assert_eq!((both.seek(4, &meter), meter.left()), (END, 0));
    }
}
