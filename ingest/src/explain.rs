//! How an index would answer a question: what drives, what verifies, who counts.
//!
//! The question is the body of a search or a filter request, or one mapping job. Only
//! its meaning is read here; how a server tells a caller of faults is the server's.

use figdex_index::{
    Catalogue, Date, DateInterval, Filters, IdType, IdValue, Keywords, Lookup, NumberInterval,
    OneOf, Property, Search, Vocabulary, escaped,
};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

/// Why a question cannot be explained.
#[derive(Debug, thiserror::Error)]
pub enum ExplainError {
    /// It is no question.
    #[error("the question is {0}")]
    Question(&'static str),
    /// One of its properties is none, or has a value that it cannot have.
    #[error("{}: {}", escaped(property), escaped(what))]
    Property {
        /// The property's name as given.
        property: String,
        /// What is wrong.
        what: String,
    },
    /// The index cannot be read.
    #[error(transparent)]
    Index(#[from] figdex_index::Error),
}

/// The plan of each part of an index for a question (JSON), for people.
///
/// # Errors
/// [`ExplainError`] when it is no question that a server would answer.
pub fn explain(catalogue: &Catalogue, question: &str) -> Result<String, ExplainError> {
    let question: Map<String, Value> = serde_json::from_str(question).map_err(|_| {
        ExplainError::Question("no JSON object: a search, a filter or a mapping job")
    })?;
    let mut asked = Asked::default();
    for (property, value) in question {
        asked
            .take(&property, value, catalogue.vocabulary())
            .map_err(|what| ExplainError::Property { property: property.clone(), what })?;
    }
    match (asked.id_type, asked.id_value, asked.keywords) {
        (Some(_), ..) if !asked.filters.known.iter().all(OneOf::is_alone) => {
            Err(ExplainError::Question("a mapping job with several values of one property"))
        }
        (Some(id_type), Some(id_value), None) => {
            let id_value = admit(id_type, &id_value)
                .map_err(|what| ExplainError::Property { property: "idValue".to_owned(), what })?;
            Ok(catalogue.explain_lookup(&Lookup::new(id_value, asked.filters)))
        }
        (None, None, keywords) => {
            Ok(catalogue.explain(&Search { keywords, filters: asked.filters })?)
        }
        (_, _, Some(_)) => Err(ExplainError::Question("both a search and a mapping job")),
        _ => Err(ExplainError::Question("a mapping job without idType or idValue")),
    }
}

#[derive(Default)]
struct Asked {
    keywords: Option<Keywords>,
    id_type: Option<IdType>,
    id_value: Option<Value>,
    filters: Filters,
}

impl Asked {
    fn take(
        &mut self,
        property: &str,
        value: Value,
        vocabulary: &Vocabulary,
    ) -> Result<(), String> {
        match property {
            "query" => {
                let text: String = read(value)?;
                self.keywords = Some(Keywords::parse(&text).map_err(|error| error.to_string())?);
            }
            // Where a page begins does not change the plan.
            "start" => {}
            "idType" => {
                let name: String = read(value)?;
                self.id_type = Some(IdType::from_name(&name).ok_or("there is no such idType")?);
            }
            "idValue" => self.id_value = Some(value),
            "includeUnlistedEquities" => self.filters.include_unlisted_equities = read(value)?,
            "strike" => self.filters.strike = Some(numbers(value)?),
            "contractSize" => self.filters.contract_size = Some(numbers(value)?),
            "coupon" => self.filters.coupon = Some(numbers(value)?),
            "expiration" => self.filters.expiration = Some(dates(value)?),
            "maturity" => self.filters.maturity = Some(dates(value)?),
            _ => {
                let property = Property::from_name(property).ok_or("there is no such property")?;
                // Several, of which the row must have one: in a search or a filter.
                let texts: Vec<String> = match value {
                    Value::Array(_) => read(value)?,
                    one => vec![read(one)?],
                };
                if texts.is_empty() {
                    return Err("there must be a value".to_owned());
                }
                for text in texts {
                    let known = vocabulary.admit(property, &text);
                    let what = || format!("{text:?} is no value that the index knows");
                    self.filters.known.allow(known.ok_or_else(what)?);
                }
            }
        }
        Ok(())
    }
}

fn admit(id_type: IdType, value: &Value) -> Result<IdValue<'_>, String> {
    let admitted = match value {
        Value::String(text) => id_type.admit(text),
        Value::Number(number) => id_type.admit_integer(&number.to_string()),
        _ => return Err("it is neither a text nor a number".to_owned()),
    };
    admitted.map_err(|error| error.to_string())
}

fn numbers(value: Value) -> Result<NumberInterval, String> {
    let [low, high] = read(value)?;
    NumberInterval::new(low, high).map_err(|error| error.to_string())
}

fn dates(value: Value) -> Result<DateInterval, String> {
    let ends: [Option<String>; 2] = read(value)?;
    let day = |text: &String| Date::parse(text).map_err(|error| error.to_string());
    let [first, last] =
        [ends[0].as_ref().map(day).transpose()?, ends[1].as_ref().map(day).transpose()?];
    DateInterval::new(first, last).map_err(|error| error.to_string())
}

fn read<T: DeserializeOwned>(value: Value) -> Result<T, String> {
    serde_json::from_value(value).map_err(|error| error.to_string())
}
