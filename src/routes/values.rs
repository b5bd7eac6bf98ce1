//! `GET /{version}/mapping/values/{key}`: the values that an enum-like property may have now
//! (contract 7).

use std::sync::Arc;

use figdex_index::{IdType, Meter, Property};
use warp::Filter;
use warp::filters::BoxedFilter;
use warp::reply::Response;

use super::with;
use crate::callers::error::ApiError;
use crate::callers::version::Version;
use crate::engine::Turns;
use crate::gate::Action;
use crate::gate::call::{Incoming, incoming};
use crate::state::State;
use crate::{gate, wire};

/// The key may be any text, so that an invalid one is a 400, not a 404 (contract 7.2). It is
/// compared as sent: no key needs percent-encoding (contract 2.3).
pub(super) fn route(state: Arc<State>) -> BoxedFilter<(Response,)> {
    warp::path!(Version / "mapping" / "values" / String)
        .and(incoming())
        .and(with(state))
        .then(handle)
        .boxed()
}

async fn handle(version: Version, key: String, request: Incoming, state: Arc<State>) -> Response {
    gate::pass(&state, request, Action::Values(version), async |call| {
        if key == "idType" {
            return Ok(wire::values(id_types(version)));
        }
        let property =
            Property::from_name(&key).filter(|property| version.has_values_of(*property));
        let property = property.ok_or(ApiError::BadRequest)?;
        let engine = state.engine();
        let write = move |meter: &Meter| {
            let values = engine.vocabulary().values(property);
            let is_allowed = meter.charge(VALUE_UNITS * values.len() as u64).is_ok();
            Ok(is_allowed.then(|| wire::values(values)))
        };
        Turns::new(&state.pools().answers, call.admitted.caller).work(write).await
    })
    .await
}

/// Units of work of writing a value. A serving thread may write about 4,000 values: a few times as
/// many as any property has in known data. A request cannot raise their number; only the data can.
const VALUE_UNITS: u64 = 6;

/// The idTypes of a version, sorted like all lists of values (contract 7.4, 7.6).
fn id_types(version: Version) -> impl Iterator<Item = &'static str> {
    let accepted = IdType::ALL.into_iter().filter(move |id_type| version.has_id_type(*id_type));
    let mut names: Vec<_> = accepted.map(IdType::name).collect();
    // The names consist of capitals, digits and `_`. Only `_` sorts differently in lower case.
    names.sort_by_cached_key(|name| name.to_lowercase());
    names.into_iter()
}
