//! The rows that hold words, in the order of their ranks: posting lists as positions
//! (`ranks`), joined, and read only as far as somebody wants rows.

use tantivy::postings::TermInfo;
use tantivy::schema::IndexRecordOption;
use tantivy::{DocSet as _, TERMINATED, TantivyError};

use crate::error::Result;
use crate::part::Part;
use crate::query::Word;
use crate::ranks::ListCursor;

/// No position.
pub(crate) const END: u32 = u32::MAX;

/// Steps that may still be taken; who takes the last one ends early.
pub(crate) struct Steps(pub(crate) u32);

/// Positions, ascending.
pub(crate) enum Positions<'a> {
    /// Those of a frequent word.
    List(Box<ListCursor<'a>>),
    /// Those of a rare word, and how many of them were passed.
    Few(Vec<u32>, usize),
    /// Those that all of them have; at least one set.
    All(Vec<Positions<'a>>),
    /// Those that any of them has.
    Any(Vec<Positions<'a>>),
}

impl<'a> Positions<'a> {
    /// The rows of a part that hold a term.
    pub(crate) fn of_term(part: &'a Part, term: &str) -> Result<Self> {
        let inverted = part.segment.inverted_index(part.fields.words)?;
        let info = inverted.terms().get(term).map_err(TantivyError::from)?;
        info.map_or(Ok(Self::NONE), |info| Self::of_info(part, &info))
    }

    /// The same by what the segment says of the term.
    pub(crate) fn of_info(part: &'a Part, info: &TermInfo) -> Result<Self> {
        if let Some(list) = part.ranks.list(info) {
            return Ok(Self::List(Box::new(list)));
        }
        let inverted = part.segment.inverted_index(part.fields.words)?;
        let postings = inverted.read_postings_from_terminfo(info, IndexRecordOption::Basic);
        let mut postings = postings.map_err(TantivyError::from)?;
        let mut positions = Vec::with_capacity(info.doc_freq as usize);
        while postings.doc() != TERMINATED {
            positions.push(part.ranks.position(postings.doc()));
            postings.advance();
        }
        positions.sort_unstable();
        Ok(Self::Few(positions, 0))
    }

    /// The rows that hold a word: its squeezed form, or all its runs.
    pub(crate) fn of_word(part: &'a Part, word: &Word) -> Result<Self> {
        let runs = word.runs.iter().map(|run| Self::of_term(part, run));
        let runs = Self::all(runs.collect::<Result<_>>()?);
        if word.runs.len() < 2 {
            return Ok(runs);
        }
        Ok(Self::Any(vec![Self::of_term(part, &word.squeezed)?, runs]))
    }

    const NONE: Self = Self::Few(Vec::new(), 0);

    /// Those that all sets have; without a set, none.
    pub(crate) fn all(mut sets: Vec<Self>) -> Self {
        match sets.len() {
            0 => Self::NONE,
            1 => sets.remove(0),
            _ => {
                // The smallest leads.
                sets.sort_by_cached_key(Self::count_max);
                Self::All(sets)
            }
        }
    }

    /// There are not more of them than so many.
    pub(crate) fn count_max(&self) -> u32 {
        match self {
            Self::List(list) => list.count(),
            Self::Few(positions, _) => positions.len() as u32,
            Self::All(sets) => sets.iter().map(Self::count_max).min().unwrap_or(0),
            Self::Any(sets) => sets.iter().map(Self::count_max).fold(0, u32::saturating_add),
        }
    }

    /// Goes to the first position that is not before `target`, which never goes back.
    /// [`END`] when there is none, or no step is left.
    pub(crate) fn seek(&mut self, target: u32, steps: &mut Steps) -> u32 {
        match self {
            Self::List(list) => list.seek(target),
            Self::Few(positions, passed) => {
                *passed += positions[*passed..].partition_point(|position| *position < target);
                positions.get(*passed).copied().unwrap_or(END)
            }
            Self::All(sets) => seek_all(sets, target, steps),
            Self::Any(sets) => {
                sets.iter_mut().map(|set| set.seek(target, steps)).min().unwrap_or(END)
            }
        }
    }
}

fn seek_all(sets: &mut [Positions<'_>], mut target: u32, steps: &mut Steps) -> u32 {
    'target: while steps.0 > 0 {
        steps.0 -= 1;
        for set in &mut *sets {
            let position = set.seek(target, steps);
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
        fn joined_as_sets_are(a in set(), b in set(), c in set(), d in set()) {
            let mut joined = Positions::all(vec![
                Positions::Any(vec![few(&a), few(&b)]),
                Positions::Any(vec![Positions::all(vec![few(&c), few(&a)]), few(&d)]),
            ]);
            let first = &a | &b;
            let second = &(&c & &a) | &d;
            let expected = &first & &second;
            prop_assert!(joined.count_max() as usize >= expected.len());
            let mut found = BTreeSet::new();
            let mut steps = Steps(1_000);
            let mut position = joined.seek(0, &mut steps);
            while position != END {
                found.insert(position);
                position = joined.seek(position + 1, &mut steps);
            }
            prop_assert_eq!(found, expected);
        }
    }

    #[test]
    fn no_step_is_the_end() {
        let set: BTreeSet<u32> = (0..10).collect();
        let mut both = Positions::all(vec![few(&set), few(&set)]);
        let mut steps = Steps(1);
        assert_eq!(both.seek(3, &mut steps), 3);
        assert_eq!((both.seek(4, &mut steps), steps.0), (END, 0));
    }
}
