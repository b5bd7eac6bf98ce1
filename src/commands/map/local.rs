//! Answers from an index that this program opens.

use std::path::Path;

use figdex_index::{Catalogue, Field, Hit, Meter, RowSource as _, Status, Vocabulary};

use super::answerer::{Answer, Answerer, Asked};
use super::wanted::Wanted;
use crate::commands::open_folder;
use crate::config::map::MapFlags;

/// An index in a folder.
pub(super) struct Local {
    catalogue: Catalogue,
    wanted: Wanted,
}

impl Local {
    /// Opens the index.
    ///
    /// # Errors
    /// When there is none, or a file of it is damaged.
    pub(super) fn open(index: &Path, flags: &MapFlags) -> anyhow::Result<Self> {
        let catalogue = open_folder(index)?;
        Ok(Self { wanted: Wanted::of(flags, catalogue.vocabulary())?, catalogue })
    }
}

impl Answerer for Local {
    type Row = Hit;

    fn vocabulary(&self) -> &Vocabulary {
        self.catalogue.vocabulary()
    }

    fn generation(&self) -> Option<u64> {
        Some(self.catalogue.manifest().generation)
    }

    fn resolve(&self, asked: &[Asked<'_>]) -> anyhow::Result<Vec<Answer<Hit>>> {
        self.ask(asked, &self.wanted)
    }

    fn try_steps(
        &self,
        asked: &[Asked<'_>],
        steps: &[String],
    ) -> anyhow::Result<Option<Vec<Answer<Hit>>>> {
        let wanted = self.wanted.trying(steps, self.vocabulary())?;
        self.ask(asked, &wanted).map(Some)
    }

    fn field(&self, hit: &Hit, field: Field, out: &mut Vec<u8>) -> bool {
        let value = self.catalogue.row(*hit).value(field);
        if let Some(value) = value {
            value.write_json(out);
        }
        value.is_some()
    }
}

impl Local {
    fn ask(&self, asked: &[Asked<'_>], wanted: &Wanted) -> anyhow::Result<Vec<Answer<Hit>>> {
        let Self { catalogue, .. } = self;
        let questions = wanted.questions(asked, self.vocabulary());
        let meter = Meter::unlimited();
        let resolutions = catalogue.resolve(&questions, &wanted.policy, wanted.bounds(), &meter)?;
        let answers = resolutions.into_iter().map(|mut resolution| {
            let rows = std::mem::take(&mut resolution.hits);
            Answer { resolution, rows }
        });
        let answers: Vec<Answer<Hit>> = answers.collect();
        let resolved =
            answers.iter().filter(|answer| matches!(answer.resolution.status, Status::Resolved(_)));
        let hits: Vec<Hit> = resolved.flat_map(|answer| answer.rows.iter().copied()).collect();
        catalogue.read_ahead(&hits);
        Ok(answers)
    }
}
