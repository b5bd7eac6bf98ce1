//! Answers from an index that this program opens, in a folder or in a cluster.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context as _, ensure};
use figdex_index::{
    Catalogue, Coverage, Fetched, Field, Hit, Meter, Resolution, RowSource as _, Status,
    Vocabulary, WasRow,
};
use figdex_io::ClusterAddress;
use figdex_opensearch::Generation;
use figdex_opensearch::client::Client;
use tokio::runtime::Runtime;

use super::answerer::{Answer, Answerer, Asked, RowPast};
use super::wanted::Wanted;
use crate::commands::open_folder;
use crate::config::map::MapFlags;

/// The most calls to a cluster at the same time, over all mapping threads.
const CALLS_MAX: usize = 16;

/// An opened index, and the options that apply to every identifier.
pub(super) struct OpenedIndex {
    place: IndexPlace,
    wanted: Wanted,
}

/// The place of an opened index.
enum IndexPlace {
    Folder(Box<Catalogue>),
    /// A generation in a cluster, and the runtime of the calls to it.
    Cluster(Box<Generation>, Runtime),
}

/// A row of the index, or of its past.
pub(super) enum OpenedRow {
    /// A row of the index. For a cluster, all rows that one call fetched come with it.
    Now(Hit, Option<Arc<Fetched>>),
    /// A row as it was.
    Past(WasRow),
}

impl OpenedIndex {
    /// Opens the index in a folder.
    ///
    /// # Errors
    /// When there is no index, a file of it is damaged, or a step of the flags is invalid.
    pub(super) fn folder(index: &Path, flags: &MapFlags) -> anyhow::Result<Self> {
        let catalogue = open_folder(index)?;
        ensure!(
            flags.as_of.is_none() || catalogue.coverage().is_some(),
            "{} keeps no past, which --as-of asks for: build it with --history",
            figdex_io::escaped_path(index)
        );
        let vocabulary = match flags.as_of {
            Some(_) => catalogue.past_vocabulary(),
            None => catalogue.vocabulary(),
        };
        let wanted = Wanted::of(flags, vocabulary)?;
        Ok(Self { place: IndexPlace::Folder(Box::new(catalogue)), wanted })
    }

    /// Opens the generation that is published at an address.
    ///
    /// # Errors
    /// When there is no generation, the cluster does not answer, or a flag is invalid.
    pub(super) fn cluster(address: &ClusterAddress, flags: &MapFlags) -> anyhow::Result<Self> {
        ensure!(
            flags.as_of.is_none(),
            "{address}: an index in a cluster has no past, which --as-of asks for; name the folder \
             from which it was published"
        );
        let client = Arc::new(Client::new(address, &flags.cluster.client(CALLS_MAX))?);
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
        let opened = runtime.block_on(Generation::open(client, &address.name));
        let generation = opened.with_context(|| format!("opening {address}"))?;
        let wanted = Wanted::of(flags, generation.vocabulary())?;
        Ok(Self { place: IndexPlace::Cluster(Box::new(generation), runtime), wanted })
    }

    fn ask(
        &self,
        asked: &[Asked<'_>],
        wanted: &Wanted,
        has_candidates: bool,
    ) -> anyhow::Result<Vec<Answer<OpenedRow>>> {
        let questions = wanted.questions(asked, self.vocabulary());
        // Whether no row has an identifier now, but rows had it.
        let mut is_former = Vec::new();
        let (resolutions, fetched) = match &self.place {
            IndexPlace::Folder(catalogue) if wanted.is_as_of => {
                let days = asked.iter().map(|asked| asked.day.context("a row without a day"));
                let days = days.collect::<anyhow::Result<Vec<_>>>()?;
                let questions: Vec<_> = questions.iter().zip(days).collect();
                let (bounds, meter) = (wanted.bounds(), Meter::unlimited());
                let found = catalogue.resolve_as_of(&questions, &wanted.policy, bounds, &meter)?;
                return Ok(found.into_iter().map(as_of).collect());
            }
            IndexPlace::Folder(catalogue) => {
                let (bounds, meter) = (wanted.bounds(), Meter::unlimited());
                let mut found = catalogue.resolve(&questions, &wanted.policy, bounds, &meter)?;
                if has_candidates {
                    catalogue.add_candidates(&questions, &mut found, &meter)?;
                } else {
                    let policy = &wanted.policy;
                    let was_unknown = |one: &Resolution| one.status == Status::Unknown;
                    let unknown: Vec<bool> = found.iter().map(was_unknown).collect();
                    catalogue.add_former(&questions, &mut found, policy, bounds, &meter)?;
                    let now_known = unknown.iter().zip(&found);
                    is_former = now_known.map(|(was, now)| *was && !was_unknown(now)).collect();
                }
                let resolved = found.iter().filter(|one| matches!(one.status, Status::Resolved(_)));
                let hits: Vec<Hit> = resolved.flat_map(|one| one.hits.iter().copied()).collect();
                catalogue.read_ahead(&hits);
                (found, None)
            }
            IndexPlace::Cluster(generation, runtime) => {
                let found =
                    generation.resolve_patiently(&questions, &wanted.policy, wanted.bounds());
                let mut found = runtime.block_on(found)?;
                if has_candidates {
                    let added = generation.add_candidates_patiently(&questions, found);
                    found = runtime.block_on(added)?;
                }
                let (rows, found) = found;
                (found, Some(Arc::new(rows)))
            }
        };
        let answers = resolutions.into_iter().enumerate().map(|(place, mut resolution)| {
            let is_historical = resolution.status == Status::Historical;
            let is_accepted = is_historical && wanted.accepts_historical;
            let mut hits = std::mem::take(&mut resolution.hits);
            if is_accepted {
                hits.extend(resolution.past.iter().filter_map(|row| row.today));
            }
            let rows = hits.into_iter().map(|hit| OpenedRow::Now(hit, fetched.clone())).collect();
            let candidates = std::mem::take(&mut resolution.candidates).into_iter();
            let figi = |hit| match (&self.place, &fetched) {
                (_, Some(rows)) => rows.row(hit).figi(),
                (IndexPlace::Folder(catalogue), _) => catalogue.figi(hit),
                (IndexPlace::Cluster(..), None) => unreachable!("rows of a cluster are fetched"),
            };
            let candidates = candidates.map(|hit| figi(hit).to_string()).collect();
            let past: Vec<RowPast> = resolution.past.iter().map(RowPast::from).collect();
            let is_former = is_former.get(place).is_some_and(|is_former| *is_former);
            Answer { past, is_former, is_accepted, candidates, ..Answer::new(resolution, rows) }
        });
        Ok(answers.collect())
    }
}

impl Answerer for OpenedIndex {
    type Row = OpenedRow;

    fn vocabulary(&self) -> &Vocabulary {
        match &self.place {
            IndexPlace::Folder(catalogue) if self.wanted.is_as_of => catalogue.past_vocabulary(),
            IndexPlace::Folder(catalogue) => catalogue.vocabulary(),
            IndexPlace::Cluster(generation, _) => generation.vocabulary(),
        }
    }

    fn coverage(&self) -> Option<Coverage> {
        match &self.place {
            IndexPlace::Folder(catalogue) => catalogue.coverage(),
            IndexPlace::Cluster(..) => None,
        }
    }

    fn generation(&self) -> Option<u64> {
        let manifest = match &self.place {
            IndexPlace::Folder(catalogue) => catalogue.manifest(),
            IndexPlace::Cluster(generation, _) => generation.manifest(),
        };
        Some(manifest.generation)
    }

    fn resolve(&self, asked: &[Asked<'_>]) -> anyhow::Result<Vec<Answer<OpenedRow>>> {
        self.ask(asked, &self.wanted, false)
    }

    fn candidates(&self, asked: &[Asked<'_>]) -> anyhow::Result<Vec<Answer<OpenedRow>>> {
        self.ask(asked, &self.wanted, true)
    }

    fn try_steps(
        &self,
        asked: &[Asked<'_>],
        steps: &[String],
    ) -> anyhow::Result<Option<Vec<Answer<OpenedRow>>>> {
        let wanted = self.wanted.trying(steps, self.vocabulary())?;
        self.ask(asked, &wanted, false).map(Some)
    }

    fn field(&self, row: &OpenedRow, field: Field, out: &mut Vec<u8>) -> bool {
        let value = match (&self.place, row) {
            (IndexPlace::Folder(catalogue), OpenedRow::Past(was)) => was.value(&**catalogue, field),
            (_, OpenedRow::Now(hit, Some(rows))) => rows.row(*hit).value(field),
            (IndexPlace::Folder(catalogue), OpenedRow::Now(hit, _)) => {
                catalogue.row(*hit).value(field)
            }
            (IndexPlace::Cluster(..), OpenedRow::Now(_, None) | OpenedRow::Past(_)) => None,
        };
        if let Some(value) = value {
            value.write_json(out);
        }
        value.is_some()
    }
}

/// The answer as of a day: its rows are those that it had.
fn as_of(mut resolution: Resolution) -> Answer<OpenedRow> {
    let were = std::mem::take(&mut resolution.past);
    resolution.hits.clear();
    let past = were.iter().map(RowPast::from).collect();
    let rows = were.into_iter().map(|row| OpenedRow::Past(row.row)).collect();
    Answer { past, ..Answer::new(resolution, rows) }
}
