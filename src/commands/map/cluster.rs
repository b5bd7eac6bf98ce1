//! Answers from an index in a cluster.

use std::sync::Arc;

use anyhow::Context as _;
use figdex_index::{Fetched, Field, Hit, RowSource as _, Vocabulary};
use figdex_io::ClusterAddress;
use figdex_opensearch::Generation;
use figdex_opensearch::client::Client;
use tokio::runtime::Runtime;

use super::answerer::{Answer, Answerer, Asked};
use super::wanted::Wanted;
use crate::config::map::MapFlags;

/// The most calls at the same time, over all mapping threads.
const CALLS_MAX: usize = 16;

/// A generation in a cluster, and the runtime of the calls to it.
pub(super) struct InCluster {
    generation: Generation,
    runtime: Runtime,
    wanted: Wanted,
}

/// A row, as its place among the rows that were fetched with it.
pub(super) struct FetchedRow {
    rows: Arc<Fetched>,
    hit: Hit,
}

impl InCluster {
    /// Opens the generation that is published at an address.
    ///
    /// # Errors
    /// When there is none, or the cluster does not answer.
    pub(super) fn open(address: &ClusterAddress, flags: &MapFlags) -> anyhow::Result<Self> {
        let client = Arc::new(Client::new(address, &flags.cluster.client(CALLS_MAX))?);
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
        let opened = runtime.block_on(Generation::open(client, &address.name));
        let generation = opened.with_context(|| format!("opening {address}"))?;
        Ok(Self { wanted: Wanted::of(flags, generation.vocabulary())?, generation, runtime })
    }
}

impl Answerer for InCluster {
    type Row = FetchedRow;

    fn vocabulary(&self) -> &Vocabulary {
        self.generation.vocabulary()
    }

    fn generation(&self) -> Option<u64> {
        Some(self.generation.manifest().generation)
    }

    fn resolve(&self, asked: &[Asked<'_>]) -> anyhow::Result<Vec<Answer<FetchedRow>>> {
        self.ask(asked, &self.wanted)
    }

    fn try_steps(
        &self,
        asked: &[Asked<'_>],
        steps: &[String],
    ) -> anyhow::Result<Option<Vec<Answer<FetchedRow>>>> {
        let wanted = self.wanted.trying(steps, self.vocabulary())?;
        self.ask(asked, &wanted).map(Some)
    }

    fn field(&self, row: &FetchedRow, field: Field, out: &mut Vec<u8>) -> bool {
        let value = row.rows.row(row.hit).value(field);
        if let Some(value) = value {
            value.write_json(out);
        }
        value.is_some()
    }
}

impl InCluster {
    fn ask(&self, asked: &[Asked<'_>], wanted: &Wanted) -> anyhow::Result<Vec<Answer<FetchedRow>>> {
        let Self { generation, runtime, .. } = self;
        let questions = wanted.questions(asked, self.vocabulary());
        let resolved = generation.resolve_patiently(&questions, &wanted.policy, wanted.bounds());
        let (rows, resolutions) = runtime.block_on(resolved)?;
        let rows = Arc::new(rows);
        let answers = resolutions.into_iter().map(|mut resolution| {
            let hits = std::mem::take(&mut resolution.hits).into_iter();
            let rows = hits.map(|hit| FetchedRow { rows: rows.clone(), hit }).collect();
            Answer { resolution, rows }
        });
        Ok(answers.collect())
    }
}
