//! Answers from an index that this program opens, in a folder or in a cluster.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context as _, bail, ensure};
use figdex_index::{
    Catalogue, Coverage, Crosswalk, Fetched, Field, FieldValue, Hit, ListColumns, ListField, Meter,
    Resolution, RowSource as _, Status, Visible, Vocabulary, WasRow,
};
use figdex_io::ClusterAddress;
use figdex_opensearch::Generation;
use figdex_opensearch::client::Client;
use tokio::runtime::Runtime;

use super::answerer::{Answer, Answerer, Asked, RowPast, SEVERAL};
use super::wanted::Wanted;
use crate::commands::open_folder;
use crate::config::map::MapFlags;

/// The most calls to a cluster at the same time, over all mapping threads.
const CALLS_MAX: usize = 16;

/// An opened index, and the options that apply to every identifier.
pub(super) struct OpenedIndex {
    place: IndexPlace,
    wanted: Wanted,
    /// The added fields.
    fields: Vec<ListField>,
}

/// The place of an opened index.
enum IndexPlace {
    Folder(Box<Catalogue>),
    /// A generation in a cluster, and the runtime of the calls to it.
    Cluster(Box<Generation>, Runtime),
}

/// A row of the index, or of its past.
pub(super) struct OpenedRow {
    found: FoundRow,
    /// The identifiers and symbols of the rows that were found together, if they were asked for.
    crosswalk: Option<Arc<Crosswalk>>,
}

enum FoundRow {
    /// A row of the index. For a cluster, all rows that one call fetched come with it.
    Now(Hit, Option<Arc<Fetched>>),
    /// A row as it was.
    Past(WasRow),
}

impl From<FoundRow> for OpenedRow {
    fn from(found: FoundRow) -> Self {
        Self { found, crosswalk: None }
    }
}

impl FoundRow {
    /// The row of today, if its values are those.
    fn hit(&self) -> Option<Hit> {
        match self {
            Self::Now(hit, _) | Self::Past(WasRow::AsToday(hit)) => Some(*hit),
            Self::Past(WasRow::Then(_)) => None,
        }
    }
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
        let (place, fields) = (IndexPlace::Folder(Box::new(catalogue)), flags.fields.clone());
        Ok(Self { place, wanted, fields })
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
        let is_symbol = |field: &&ListField| matches!(field, ListField::Symbol(_));
        if let Some(symbol) = flags.fields.iter().find(is_symbol) {
            bail!(
                "--fields {}: an index in a cluster does not answer it; ask for ticker and exchCode, or \
                 name the folder from which {address} was published",
                symbol.name()
            );
        }
        let client = Arc::new(Client::new(address, &flags.cluster.client(CALLS_MAX))?);
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
        let opened = runtime.block_on(Generation::open(client, &address.name));
        let generation = opened.with_context(|| format!("opening {address}"))?;
        let wanted = Wanted::of(flags, generation.vocabulary())?;
        let (place, fields) =
            (IndexPlace::Cluster(Box::new(generation), runtime), flags.fields.clone());
        Ok(Self { place, wanted, fields })
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
                let hits: Vec<Hit> = found.iter().flat_map(|one| &one.hits).copied().collect();
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
            let rows =
                hits.into_iter().map(|hit| FoundRow::Now(hit, fetched.clone()).into()).collect();
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

    /// Reads the identifiers and symbols of the rows of answers, if the fields ask for some.
    fn add_crosswalk(&self, answers: &mut [Answer<OpenedRow>]) -> anyhow::Result<()> {
        if self.fields.iter().all(|field| field.row_field().is_some()) {
            return Ok(());
        }
        let rows = || answers.iter().flat_map(|answer| &answer.rows);
        let hits: Vec<Hit> = rows().filter_map(|row| row.found.hit()).collect();
        let fetched = rows().find_map(|row| match &row.found {
            FoundRow::Now(_, fetched) => fetched.clone(),
            FoundRow::Past(_) => None,
        });
        let crosswalk = match (&self.place, fetched) {
            (IndexPlace::Folder(catalogue), _) => {
                catalogue.crosswalk(&hits, self.columns(), &Meter::unlimited())?
            }
            (IndexPlace::Cluster(..), Some(fetched)) => fetched.crosswalk(&hits, self.columns()),
            (IndexPlace::Cluster(..), None) => Crosswalk::default(),
        };
        let crosswalk = Arc::new(crosswalk);
        for row in answers.iter_mut().flat_map(|answer| &mut answer.rows) {
            row.crosswalk = Some(crosswalk.clone());
        }
        Ok(())
    }

    /// The columns of the fields. A person who can read the index sees all identifiers.
    fn columns(&self) -> ListColumns<'_> {
        ListColumns { fields: &self.fields, visible: Visible::ALL }
    }

    /// The value of a field of the row itself.
    fn row_field<'a>(&'a self, row: &'a FoundRow, field: Field) -> Option<FieldValue<'a>> {
        match (&self.place, row) {
            (IndexPlace::Folder(catalogue), FoundRow::Past(was)) => was.value(&**catalogue, field),
            (_, FoundRow::Now(hit, Some(rows))) => rows.row(*hit).value(field),
            (IndexPlace::Folder(catalogue), FoundRow::Now(hit, _)) => {
                catalogue.row(*hit).value(field)
            }
            (IndexPlace::Cluster(..), FoundRow::Now(_, None) | FoundRow::Past(_)) => None,
        }
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
        let mut answers = self.ask(asked, &self.wanted, false)?;
        self.add_crosswalk(&mut answers)?;
        Ok(answers)
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

    fn field(&self, row: &OpenedRow, field: ListField, out: &mut Vec<u8>) -> bool {
        let OpenedRow { found, crosswalk } = row;
        if let Some(field) = field.row_field() {
            let value = self.row_field(found, field);
            if let Some(value) = value {
                value.write_json(out);
            }
            return value.is_some();
        }
        let place = self.fields.iter().position(|asked| *asked == field);
        let (Some(crosswalk), Some(place)) = (crosswalk, place) else { return false };
        let texts = match found {
            FoundRow::Now(hit, _) => crosswalk.row(*hit).texts(place).map(str::to_owned).collect(),
            FoundRow::Past(was) => crosswalk.texts_of_past(was, self.columns(), place),
        };
        for (number, text) in texts.iter().enumerate() {
            if number > 0 {
                out.push(SEVERAL);
            }
            FieldValue::Plain(text).write_json(out);
        }
        !texts.is_empty()
    }
}

/// The answer as of a day: its rows are those that it had.
fn as_of(mut resolution: Resolution) -> Answer<OpenedRow> {
    let were = std::mem::take(&mut resolution.past);
    resolution.hits.clear();
    let past = were.iter().map(RowPast::from).collect();
    let rows = were.into_iter().map(|row| FoundRow::Past(row.row).into()).collect();
    Answer { past, ..Answer::new(resolution, rows) }
}
