//! The reading of a typed question (contract 16.17), decided as in a local index.

use std::sync::Arc;

use figdex_index::{Asked, Candidates, QuestionReading, Search, Suggest, decide, readings};
use serde_json::{Value, json};

use super::filters::conditions;
use super::matching::Matching;
use super::{all, terms};
use crate::error::{Error, Result};
use crate::generation::Generation;
use crate::schema::field;

impl Generation {
    /// The reading of a typed text; `None` if the text is only searched for. `id` is the id of the
    /// request, for the log of the cluster.
    ///
    /// # Errors
    /// When the cluster does not answer.
    pub async fn read_typed(
        &self,
        typed: &Suggest,
        id: Option<&str>,
    ) -> Result<Option<Arc<QuestionReading>>> {
        let text = typed.keywords.text();
        let mut readings = readings(text, &typed.filters, self.vocabulary());
        if readings.is_empty() {
            return Ok(None);
        }
        let searches = readings.iter().map(QuestionReading::search);
        let searches = [typed.search()].into_iter().chain(searches);
        let mut bodies: Vec<Value> = searches.map(|search| self.any_row(&search)).collect();
        let mut named = conditions(&typed.filters, self.vocabulary());
        named.push(terms(field::KEYS, &Candidates::new(typed, self.vocabulary()).forms()));
        bodies.push(any_document(&all(named)));
        let found = self.several(&bodies, 0, id).await?;
        let finds: Vec<bool> = found.iter().map(|found| found.total() > 0).collect();
        let decision = decide(&readings, |asked| {
            Ok::<_, Error>(match asked {
                // The last question asks whether the whole text is a name.
                Asked::Words => finds[0] || finds[readings.len() + 1],
                Asked::Reading(number) => finds[number + 1],
            })
        })?;
        Ok(decision.taken.map(|taken| Arc::new(readings.swap_remove(taken))))
    }

    /// A question whether a search finds a document.
    fn any_row(&self, search: &Search) -> Value {
        let matching = Matching::of(search, self.vocabulary());
        any_document(&matching.query(Vec::new()))
    }
}

/// A question whether a query finds a document.
fn any_document(query: &Value) -> Value {
    json!({"query": query, "size": 0, "track_total_hits": 1})
}
