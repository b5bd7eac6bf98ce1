//! A published generation in a cluster, open for questions.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use figdex_index::{Manifest, Places, Vocabulary};
use serde::Deserialize;

use crate::client::{Client, Request};
use crate::error::{Error, Result};
use crate::names;
use crate::schema::{ABOUT_BYTES_MAX, About};
use crate::settings::settings;

/// The most bytes of the mapping of an index, including the description in it. Reading a mapping
/// takes several times as much memory.
const MAPPING_BYTES_MAX: usize = ABOUT_BYTES_MAX + (64 << 10);

/// The publication that the alias of a name refers to.
///
/// Two publications are equal if nothing was published between reading them. An index that was
/// removed and created again has a different id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClusterPublication {
    /// The number of the generation.
    pub generation: u64,
    index: String,
    id: String,
}

impl ClusterPublication {
    /// The index of the generation.
    pub fn index(&self) -> &str {
        &self.index
    }

    /// The current publication of a name.
    ///
    /// # Errors
    /// [`Error::NothingPublished`] when there is none, [`Error::Foreign`] when the name is not an
    /// alias of one generation of Figdex, and the errors of the client.
    pub async fn of(client: &Client, name: &str) -> Result<Self> {
        let found = match settings(client, name, "index.uuid").await {
            Err(error) if error.is_absent() => {
                return Err(Error::NothingPublished { name: name.to_owned() });
            }
            found => found?,
        };
        let mut found = found.into_iter();
        let foreign = |what: String| Error::Foreign { name: name.to_owned(), what };
        let (Some((index, mut settings)), None) = (found.next(), found.next()) else {
            return Err(foreign("it is an alias of several indexes".to_owned()));
        };
        let generation = names::generation(name, &index).ok_or_else(|| {
            foreign(match index == name {
                true => "it is an index, and must be an alias".to_owned(),
                false => format!("it is an alias of {}", client.quoted(&index)),
            })
        })?;
        let id = settings.remove("index.uuid");
        let id = id.ok_or_else(|| foreign(format!("{index} has no index.uuid")))?;
        Ok(Self { generation, index, id })
    }
}

/// One generation of an index in a cluster, open for questions. It never changes.
pub struct Generation {
    pub(crate) client: Arc<Client>,
    pub(crate) index: String,
    name: String,
    publication: ClusterPublication,
    manifest: Manifest,
    vocabulary: Vocabulary,
    pub(crate) places: Places,
    /// Whether the last [`Generation::probe`] got a complete answer.
    pub(crate) answers: AtomicBool,
}

impl Generation {
    /// Opens the generation that is published under a name.
    ///
    /// # Errors
    /// The errors of [`ClusterPublication::of`], and [`Error::Foreign`] when the index is not one
    /// that this version reads.
    pub async fn open(client: Arc<Client>, name: &str) -> Result<Self> {
        let publication = ClusterPublication::of(&client, name).await?;
        let index = publication.index.clone();
        let about = about(&client, name, &index).await?;
        let foreign = |what: String| Error::Foreign { name: name.to_owned(), what };
        about.check().map_err(foreign)?;
        let places = about.places();
        let places = places.ok_or_else(|| foreign("its importances are damaged".to_owned()))?;
        let About { manifest, .. } = about;
        let vocabulary = manifest.vocabulary();
        let name = name.to_owned();
        let answers = AtomicBool::new(false);
        Ok(Self { client, index, name, publication, manifest, vocabulary, places, answers })
    }

    /// Whether the last [`Generation::probe`] got a complete answer; `false` before the first one.
    pub fn answers(&self) -> bool {
        self.answers.load(Ordering::Relaxed)
    }

    /// The index of the generation.
    pub fn index(&self) -> &str {
        &self.index
    }

    /// The name that the generation was published under.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The publication that the generation was opened from.
    pub fn publication(&self) -> &ClusterPublication {
        &self.publication
    }

    /// The manifest of the generation. It has no parts.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// The values that the enum-like properties may have.
    pub fn vocabulary(&self) -> &Vocabulary {
        &self.vocabulary
    }

    /// The client of the cluster.
    pub fn client(&self) -> &Client {
        &self.client
    }
}

/// The description of an index, from its mapping.
pub(crate) async fn about(client: &Client, name: &str, index: &str) -> Result<About> {
    #[derive(Deserialize)]
    struct Mapped {
        mappings: Mappings,
    }
    #[derive(Deserialize)]
    struct Mappings {
        #[serde(default, rename = "_meta")]
        meta: Option<Meta>,
    }
    #[derive(Deserialize)]
    struct Meta {
        figdex: About,
    }
    let request = Request::get(&[index, "_mapping"]).up_to(MAPPING_BYTES_MAX);
    let mut found: HashMap<String, Mapped> = client.ask(&request).await?;
    let meta = found.remove(index).and_then(|found| found.mappings.meta);
    let foreign = || Error::Foreign {
        name: name.to_owned(),
        what: format!("Figdex did not make its index {index}"),
    };
    Ok(meta.ok_or_else(foreign)?.figdex)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster_of_tests::{Cluster, INDEX, NAME, wait_for};

    /// The description of an index is bounded: reading it takes several times its size.
    #[test]
    fn a_long_description_is_refused() {
        let cluster = Cluster::of_one_instrument();
        let mut mapping = cluster.mapping();
        let names: Vec<String> = (0..300_000).map(|number| number.to_string()).collect();
        mapping[INDEX]["mappings"]["_meta"]["figdex"]["manifest"]["values"]["exchCode"] =
            names.into();
        cluster.answer("_mapping", 200, mapping.to_string());
        let error = wait_for(Generation::open(cluster.client(), NAME)).err().unwrap();
        assert!(error.to_string().contains("longer than the 2162688 bytes"), "{error}");
    }
}
