//! Answers from an index that this program opens.

use anyhow::Context as _;
use figdex_index::{
    Catalogue, Field, Filters, Hit, Meter, Policy, Question, ResolveBounds, Status, Vocabulary,
    escaped_path,
};

use super::engine::{Answer, Asked, AskedAs, Engine, Narrowing};
use crate::config::map::{Many, MapFlags};
use crate::limits::JOB_ROWS_MAX;

/// An index, with what is asked of every identifier.
pub(super) struct Local {
    catalogue: Catalogue,
    policy: Policy,
    include_unlisted_equities: bool,
    /// Whether all rows of an ambiguous identifier are kept.
    keeps_all: bool,
}

impl Local {
    /// Opens the index.
    ///
    /// # Errors
    /// When there is none, or a file of it is damaged.
    pub(super) fn open(flags: &MapFlags) -> anyhow::Result<Self> {
        let index = flags.index();
        let catalogue = Catalogue::open(&index)
            .with_context(|| format!("opening the index at {}", escaped_path(&index)))?;
        Ok(Self {
            policy: Policy::parse(&flags.prefer, catalogue.vocabulary())?,
            include_unlisted_equities: flags.include_unlisted_equities,
            keeps_all: flags.many == Many::All,
            catalogue,
        })
    }

    fn filters(&self, narrowing: &Narrowing) -> Option<Filters> {
        let include_unlisted_equities = self.include_unlisted_equities;
        let mut filters = Filters { include_unlisted_equities, ..Filters::default() };
        narrowing.iter().flatten().for_each(|known| filters.known.require(*known));
        (filters != Filters::default()).then_some(filters)
    }
}

impl Engine for Local {
    type Row = Hit;

    fn vocabulary(&self) -> &Vocabulary {
        self.catalogue.vocabulary()
    }

    fn generation(&self) -> Option<u64> {
        Some(self.catalogue.manifest().generation)
    }

    fn resolve(&self, asked: &[Asked<'_>]) -> anyhow::Result<Vec<Answer<Hit>>> {
        let vocabulary = self.vocabulary();
        let mut last: Option<(Narrowing, Option<Filters>)> = None;
        let mut questions = Vec::with_capacity(asked.len());
        for Asked { text, reading, narrowing } in asked {
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
            });
        }
        let bounds = ResolveBounds {
            identifier_rows_max: JOB_ROWS_MAX,
            rows_max: usize::MAX,
            candidates_max: if self.keeps_all { usize::MAX } else { 0 },
        };
        let meter = Meter::unlimited();
        let resolutions = self.catalogue.resolve(&questions, &self.policy, bounds, &meter)?;
        let answers = resolutions.into_iter().map(|mut resolution| {
            let rows = std::mem::take(&mut resolution.hits);
            Answer { resolution, rows }
        });
        let answers: Vec<Answer<Hit>> = answers.collect();
        let resolved =
            answers.iter().filter(|answer| matches!(answer.resolution.status, Status::Resolved(_)));
        let hits: Vec<Hit> = resolved.flat_map(|answer| answer.rows.iter().copied()).collect();
        self.catalogue.read_ahead(&hits);
        Ok(answers)
    }

    fn field(&self, hit: &Hit, field: Field, out: &mut Vec<u8>) -> bool {
        let value = self.catalogue.row(*hit).value(field);
        if let Some(value) = value {
            value.write_json(out);
        }
        value.is_some()
    }
}
