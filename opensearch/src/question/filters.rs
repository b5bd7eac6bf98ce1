//! Filters as conditions on documents (contract 6).

use figdex_index::{Date, DateInterval, Filters, Level, NumberInterval, Vocabulary, bounded_term};
use serde_json::{Value, json};

use super::terms;
use crate::schema::field;

/// The conditions of filters. A document passes that fulfils all of them.
pub(super) fn conditions(filters: &Filters, vocabulary: &Vocabulary) -> Vec<Value> {
    let Filters {
        known,
        levels,
        strike,
        contract_size,
        coupon,
        expiration,
        maturity,
        include_unlisted_equities,
    } = filters;
    let mut all = Vec::new();
    for one_of in known.iter() {
        let values: Vec<String> =
            one_of.values().map(|known| bounded_term(vocabulary.text(known))).collect();
        all.push(terms(one_of.property().name(), &values));
    }
    if !levels.is_empty() {
        let names: Vec<&str> = levels.iter().map(Level::name).collect();
        all.push(terms(field::LEVEL, &names));
    }
    let numbers =
        [(field::STRIKE, strike), (field::CONTRACT_SIZE, contract_size), (field::COUPON, coupon)];
    for (name, interval) in numbers {
        all.extend(interval.map(|interval| number(name, interval)));
    }
    for (name, interval) in [(field::EXPIRATION, expiration), (field::MATURITY, maturity)] {
        all.extend(interval.map(|interval| days(name, interval)));
    }
    if !include_unlisted_equities {
        all.push(json!({"bool": {"must_not": {"term": {field::UNLISTED: true}}}}));
    }
    all
}

fn number(field: &str, interval: NumberInterval) -> Value {
    let mut range = json!({});
    if let Some(low) = interval.low() {
        range["gte"] = low.into();
    }
    if let Some(high) = interval.high() {
        range["lte"] = high.into();
    }
    json!({"range": {field: range}})
}

fn days(field: &str, interval: DateInterval) -> Value {
    let [first, last] = [interval.first(), interval.last()].map(Date::to_days);
    json!({"range": {field: {"gte": first, "lte": last}}})
}
