//! `GET /generations/{generation}/instruments.parquet`: all instruments of a generation as one file,
//! and `GET /generations/latest/instruments.parquet`, which leads to that of the newest (contract
//! 22).

use std::sync::Arc;

use warp::Filter;
use warp::filters::BoxedFilter;
use warp::reply::Response;

use super::with;
use crate::callers::error::OpenError;
use crate::engine::{Turns, parquet_of};
use crate::gate::call::{Head, head};
use crate::gate::{self, ParquetAnswer};
use crate::state::State;

/// The name of the file.
const FILE: &str = figdex_index::PARQUET_FILE;

/// The name of the newest generation.
const LATEST: &str = "latest";

pub(super) fn route(state: Arc<State>) -> BoxedFilter<(Response,)> {
    warp::path!("generations" / String / "instruments.parquet")
        .and(head())
        .and(with(state))
        .then(handle)
        .boxed()
}

async fn handle(generation: String, head: Head, state: Arc<State>) -> Response {
    gate::parquet(&state, head, async |caller| {
        let engine = state.engine();
        let latest = engine.manifest().generation;
        if generation == LATEST {
            let is_there = engine.local().is_some_and(|index| index.parquet().is_some());
            return match is_there {
                true => Ok(ParquetAnswer::At(format!("../{latest}/{FILE}"))),
                false => Err(OpenError::NotFound(
                    "The index of this server has no Parquet file: it is built with --parquet.",
                )),
            };
        }
        let number =
            generation.parse().ok().filter(|number: &u64| number.to_string() == generation);
        let number = number.ok_or(OpenError::NotFound(
            "A generation has a number, such as /generations/7/instruments.parquet; the newest is \
             at /generations/latest/instruments.parquet.",
        ))?;
        let turns = Turns::new(&state.pools().parquet, caller);
        Ok(ParquetAnswer::File(number, parquet_of(engine, turns, number).await?))
    })
    .await
}
