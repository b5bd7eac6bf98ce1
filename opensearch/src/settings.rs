//! The settings of indexes, as the cluster lists them.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::client::{CallResult, Client, Request};

/// The settings of an index, by their names.
pub(crate) type IndexSettings = BTreeMap<String, String>;

/// The wanted settings of the indexes that a name, an alias or a pattern means, by the names of the
/// indexes. An index that has none of these settings may be missing.
///
/// # Errors
/// Those of the client: the name may mean no index.
pub(crate) async fn settings(
    client: &Client,
    name: &str,
    wanted: &str,
) -> CallResult<BTreeMap<String, IndexSettings>> {
    #[derive(Deserialize)]
    struct WithSettings {
        #[serde(default)]
        settings: IndexSettings,
    }
    let request = Request::get(&[name, "_settings", wanted])
        .with("flat_settings", true)
        .with("expand_wildcards", "all");
    let found: BTreeMap<String, WithSettings> = client.ask(&request).await?;
    Ok(found.into_iter().map(|(index, with)| (index, with.settings)).collect())
}
