//! `GET /{version}/mapping/values/{key}`: the values that an enum-like field may
//! have now.

use std::sync::Arc;

use figdex_index::{IdType, Property};
use warp::Filter;
use warp::filters::BoxedFilter;
use warp::reply::Response;

use super::with;
use crate::error::ApiError;
use crate::gate::Action;
use crate::gate::call::{Call, call};
use crate::state::State;
use crate::version::Version;
use crate::{gate, wire};

/// The key is any text, so that a wrong one is the contract's 400 and not a 404.
/// It is compared as it stands in the path: no key needs percent-encoding.
pub(super) fn route(state: Arc<State>) -> BoxedFilter<(Response,)> {
    warp::path!(Version / "mapping" / "values" / String)
        .and(call())
        .and(with(state))
        .then(handle)
        .boxed()
}

async fn handle(version: Version, key: String, call: Call, state: Arc<State>) -> Response {
    gate::pass(&state, call, Action::Values(version), async |_call, _caller| {
        answer(version, &key, &state).await
    })
    .await
}

/// Values that are written on the thread that serves everyone: a few times as many as any
/// property has in the data that there are, and less than 0.2 ms. The data decide how many
/// there are.
const INLINE_VALUES_MAX: usize = 4_000;

async fn answer(version: Version, key: &str, state: &State) -> Result<Vec<u8>, ApiError> {
    if key == "idType" {
        return Ok(wire::values::values(id_types(version)));
    }
    let property = Property::from_name(key).filter(|property| version.has_values_of(*property));
    let property = property.ok_or(ApiError::BadRequest)?;
    let catalogue = state.catalogue();
    if catalogue.vocabulary().values(property).len() <= INLINE_VALUES_MAX {
        return Ok(wire::values::values(catalogue.vocabulary().values(property)));
    }
    state.blocking(move || wire::values::values(catalogue.vocabulary().values(property))).await
}

/// The names that this version accepts, in the order of every other list.
fn id_types(version: Version) -> impl Iterator<Item = &'static str> {
    let accepted = IdType::ALL.into_iter().filter(move |id_type| version.has_id_type(*id_type));
    let mut names: Vec<_> = accepted.map(IdType::name).collect();
    // They are capitals, digits and `_`, of which `_` alone stands elsewhere by lower case.
    names.sort_by_cached_key(|name| name.to_lowercase());
    names.into_iter()
}
