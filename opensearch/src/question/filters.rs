//! Filters as conditions on documents (contract 6).

use figdex_index::{
    Attribute, Date, DateInterval, Filters, Level, NumberInterval, Vocabulary, bounded_term,
};
use serde_json::{Value, json};

use super::terms;
use crate::schema::field;

/// The conditions of filters. A document passes if it fulfils all of them.
pub(super) fn conditions(filters: &Filters, vocabulary: &Vocabulary) -> Vec<Value> {
    let Filters { known, levels, numbers, dates, include_unlisted_equities } = filters;
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
    for (attribute, interval) in Attribute::NUMBERS.into_iter().zip(numbers) {
        all.extend(interval.map(|interval| number(attribute.name(), interval)));
    }
    for (attribute, interval) in Attribute::DATES.into_iter().zip(dates) {
        all.extend(interval.map(|interval| days(attribute.name(), interval)));
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
