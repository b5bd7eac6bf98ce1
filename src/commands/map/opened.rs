//! Answers from an index that this program opens, in a folder or in a cluster.

use std::path::Path;
use std::sync::Arc;

use anyhow::Context as _;
use figdex_index::{Catalogue, Fetched, Field, Hit, Meter, RowSource as _, Status, Vocabulary};
use figdex_io::ClusterAddress;
use figdex_opensearch::Generation;
use figdex_opensearch::client::Client;
use tokio::runtime::Runtime;

use super::answerer::{Answer, Answerer, Asked};
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
    Folder(Catalogue),
    /// A generation in a cluster, and the runtime of the calls to it.
    Cluster(Generation, Runtime),
}

/// A row of the index. For a cluster, `fetched` holds all rows that one call fetched.
pub(super) struct OpenedRow {
    hit: Hit,
    fetched: Option<Arc<Fetched>>,
}

impl OpenedIndex {
    /// Opens the index in a folder.
    ///
    /// # Errors
    /// When there is no index, a file of it is damaged, or a step of the flags is invalid.
    pub(super) fn folder(index: &Path, flags: &MapFlags) -> anyhow::Result<Self> {
        let catalogue = open_folder(index)?;
        let wanted = Wanted::of(flags, catalogue.vocabulary())?;
        Ok(Self { place: IndexPlace::Folder(catalogue), wanted })
    }

    /// Opens the generation that is published at an address.
    ///
    /// # Errors
    /// When there is no generation, the cluster does not answer, or a flag is invalid.
    pub(super) fn cluster(address: &ClusterAddress, flags: &MapFlags) -> anyhow::Result<Self> {
        let client = Arc::new(Client::new(address, &flags.cluster.client(CALLS_MAX))?);
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
        let opened = runtime.block_on(Generation::open(client, &address.name));
        let generation = opened.with_context(|| format!("opening {address}"))?;
        let wanted = Wanted::of(flags, generation.vocabulary())?;
        Ok(Self { place: IndexPlace::Cluster(generation, runtime), wanted })
    }

    fn ask(
        &self,
        asked: &[Asked<'_>],
        wanted: &Wanted,
        has_candidates: bool,
    ) -> anyhow::Result<Vec<Answer<OpenedRow>>> {
        let questions = wanted.questions(asked, self.vocabulary());
        let (resolutions, fetched) = match &self.place {
            IndexPlace::Folder(catalogue) => {
                let (bounds, meter) = (wanted.bounds(), Meter::unlimited());
                let mut found = catalogue.resolve(&questions, &wanted.policy, bounds, &meter)?;
                if has_candidates {
                    catalogue.add_candidates(&questions, &mut found, &meter)?;
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
        let answers = resolutions.into_iter().map(|mut resolution| {
            let hits = std::mem::take(&mut resolution.hits).into_iter();
            let rows = hits.map(|hit| OpenedRow { hit, fetched: fetched.clone() }).collect();
            let candidates = std::mem::take(&mut resolution.candidates).into_iter();
            let figi = |hit| match (&self.place, &fetched) {
                (_, Some(rows)) => rows.row(hit).figi(),
                (IndexPlace::Folder(catalogue), _) => catalogue.figi(hit),
                (IndexPlace::Cluster(..), None) => unreachable!("rows of a cluster are fetched"),
            };
            let candidates = candidates.map(|hit| figi(hit).to_string()).collect();
            Answer { candidates, ..Answer::new(resolution, rows) }
        });
        Ok(answers.collect())
    }
}

impl Answerer for OpenedIndex {
    type Row = OpenedRow;

    fn vocabulary(&self) -> &Vocabulary {
        match &self.place {
            IndexPlace::Folder(catalogue) => catalogue.vocabulary(),
            IndexPlace::Cluster(generation, _) => generation.vocabulary(),
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
        let value = match (&self.place, &row.fetched) {
            (_, Some(rows)) => rows.row(row.hit).value(field),
            (IndexPlace::Folder(catalogue), _) => catalogue.row(row.hit).value(field),
            (IndexPlace::Cluster(..), None) => None,
        };
        if let Some(value) = value {
            value.write_json(out);
        }
        value.is_some()
    }
}
