//! The Parquet file of a generation (contract 22). Only an index on this machine has one.

use std::sync::Arc;

use figdex_index::{Catalogue, Meter, ParquetFile};

use super::turn::Turns;
use super::which::Engine;
use crate::callers::error::OpenError;

/// The Parquet file of the generation with that number. The file stays readable as long as it is
/// held, also when its generation is removed.
///
/// # Errors
/// - [`OpenError::NotFound`] when there is none.
/// - The errors of [`Turns::work`], and a 500 when it cannot be read.
pub(crate) async fn parquet_of(
    engine: Engine,
    turns: Turns<'_>,
    generation: u64,
) -> Result<Arc<ParquetFile>, OpenError> {
    let Engine::Local(index) = engine else {
        return Err(OpenError::NotFound("An index in a cluster has no Parquet file."));
    };
    let found = match generation == index.manifest().generation {
        true => index.parquet().cloned(),
        // The manifests of other generations are read.
        false => {
            let read = move |_: &Meter| opened(&index, generation).map(Some);
            turns.beyond(0).work(read).await?
        }
    };
    found.ok_or(OpenError::NotFound(
        "There is no Parquet file of this generation, or not any more. The newest is at \
         /generations/latest/instruments.parquet.",
    ))
}

fn opened(index: &Catalogue, generation: u64) -> Result<Option<Arc<ParquetFile>>, OpenError> {
    Ok(index.parquet_of(generation)?)
}
