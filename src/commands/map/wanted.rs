//! The options of a question to an index that are the same for all identifiers.

use std::sync::Arc;

use figdex_index::{Filters, Policy, Question, ResolveBounds, Visible, Vocabulary};

use super::answerer::{Asked, AskedAs, Narrowing};
use crate::callers::limits::JOB_ROWS_MAX;
use crate::config::map::{Many, MapFlags};

/// The part of all questions that comes from the flags.
pub(super) struct Wanted {
    pub(super) policy: Policy,
    include_unlisted_equities: bool,
    /// Whether each identifier is asked as of a day.
    pub(super) is_as_of: bool,
    /// Whether historical identifiers have the row that their FIGI has now.
    pub(super) accepts_historical: bool,
    /// Whether all rows of an ambiguous identifier are kept.
    keeps_all: bool,
}

impl Wanted {
    /// Reads the flags.
    ///
    /// # Errors
    /// When a step of the policy is invalid. A value that the index does not have is allowed.
    pub(super) fn of(flags: &MapFlags, vocabulary: &Vocabulary) -> anyhow::Result<Self> {
        Ok(Self {
            policy: Policy::parse(&flags.prefer, vocabulary)?,
            include_unlisted_equities: flags.include_unlisted_equities,
            is_as_of: flags.as_of.is_some(),
            accepts_historical: flags.accept.is_some(),
            keeps_all: flags.many == Many::All,
        })
    }

    /// The same options with other steps, and with all rows of an ambiguous identifier.
    ///
    /// # Errors
    /// When a step is invalid.
    pub(super) fn trying(&self, steps: &[String], vocabulary: &Vocabulary) -> anyhow::Result<Self> {
        Ok(Self { policy: Policy::parse(steps, vocabulary)?, keeps_all: true, ..*self })
    }

    /// The questions to an index.
    pub(super) fn questions<'a>(
        &self,
        asked: &'a [Asked<'_>],
        vocabulary: &Vocabulary,
    ) -> Vec<Question<'a>> {
        let mut last: Option<(Narrowing, Option<Arc<Filters>>)> = None;
        let mut questions = Vec::with_capacity(asked.len());
        for Asked { text, reading, narrowing, .. } in asked {
            let is_same = last.as_ref().is_some_and(|(of, _)| of == narrowing);
            if !is_same {
                last = Some((*narrowing, self.filters(narrowing)));
            }
            let filters = last.as_ref().and_then(|(_, filters)| filters.as_ref());
            questions.push(match reading {
                AskedAs::Text => Question::text(text, vocabulary, filters),
                AskedAs::OfColumn(id_type) => {
                    Question::of_column(text, *id_type, vocabulary, filters)
                }
                AskedAs::Given(id_type) => Question::given(*id_type, text, filters),
                AskedAs::Symbol(vendor) => Question::symbol(text, *vendor, vocabulary, filters),
            });
        }
        questions
    }

    /// The bounds of the answers.
    pub(super) fn bounds(&self) -> ResolveBounds {
        ResolveBounds {
            identifier_rows_max: JOB_ROWS_MAX,
            rows_max: usize::MAX,
            candidates_max: if self.keeps_all { usize::MAX } else { 0 },
            corrected: Visible::ALL,
        }
    }

    fn filters(&self, narrowing: &Narrowing) -> Option<Arc<Filters>> {
        let include_unlisted_equities = self.include_unlisted_equities;
        let mut filters = Filters { include_unlisted_equities, ..Filters::default() };
        narrowing.iter().flatten().for_each(|known| filters.known.require(*known));
        (filters != Filters::default()).then(|| Arc::new(filters))
    }
}
