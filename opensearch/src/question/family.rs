//! One instrument and its family (contract 16.5).

use std::collections::BTreeMap;

use figdex_index::{
    FAMILY_ROWS_MAX, Family, Fetched, Figi, Hit, IdValue, RowSource as _, Stored, id_key,
};
use serde_json::{Value, json};

use super::{all, by_rank, number, question};
use crate::error::Result;
use crate::generation::Generation;
use crate::schema::field;

/// The number of rows in which an example is looked for.
const EXAMPLES_READ: usize = 1_000;

impl Generation {
    /// The row with a FIGI.
    ///
    /// # Errors
    /// When the cluster does not answer.
    pub async fn find(&self, figi: Figi, id: Option<&str>) -> Result<Option<Stored>> {
        self.first(has_figi(figi), id).await
    }

    /// The first row, in FIGI order, whose share class has this FIGI. If there is none, the first
    /// one whose composite has it.
    ///
    /// # Errors
    /// When the cluster does not answer.
    pub async fn find_kin(&self, figi: Figi, id: Option<&str>) -> Result<Option<Stored>> {
        let values = [IdValue::share_class(figi), IdValue::composite(figi)];
        let bodies = values.map(|value| question(carries(&value), 1));
        let found = self.several(&bodies, 1, id).await?;
        let first = found.iter().find_map(|found| found.hits.hits.first());
        first.map(|document| document.stored(&self.index)).transpose()
    }

    /// A row that most people know, for examples (contract 16.14).
    ///
    /// # Errors
    /// When the cluster does not answer.
    pub async fn example(&self, id: Option<&str>) -> Result<Option<Stored>> {
        let body = by_rank(json!({"match_all": {}}), EXAMPLES_READ);
        for document in &self.found(&body, EXAMPLES_READ, id).await?.hits.hits {
            let stored = document.stored(&self.index)?;
            let row = stored.row();
            if row.ticker().is_some() && row.name().is_some() && row.share_class_figi().is_some() {
                return Ok(Some(stored));
            }
        }
        Ok(None)
    }

    /// The rows of a row's family, the hit of the row itself, and the family.
    ///
    /// # Errors
    /// When the cluster does not answer.
    pub async fn family(&self, of: Stored, id: Option<&str>) -> Result<(Fetched, Hit, Family)> {
        let row = of.row();
        let own = row.figi();
        let composite = row.composite_figi().unwrap_or(own);
        let share_class = row.share_class_figi();
        let mut must = BTreeMap::from([(own, of)]);
        let mut others = BTreeMap::new();
        let values = [Some(IdValue::composite(composite)), share_class.map(IdValue::share_class)];
        // One row more than the maximum shows whether there are more.
        let of_value = |value| question(all(vec![carries(&value)]), FAMILY_ROWS_MAX + 1);
        let mut bodies = vec![question(has_figi(composite), 1)];
        bodies.extend(values.into_iter().flatten().map(of_value));
        let mut found = self.several(&bodies, FAMILY_ROWS_MAX, id).await?.into_iter();
        let of_composite = found.next();
        if let Some(document) = of_composite.iter().flat_map(|found| &found.hits.hits).next() {
            must.insert(composite, document.stored(&self.index)?);
        }
        for found in found {
            for document in &found.hits.hits {
                let stored = document.stored(&self.index)?;
                let figi = stored.row().figi();
                if !must.contains_key(&figi) {
                    others.insert(figi, stored);
                }
            }
        }
        let is_truncated = must.len() + others.len() > FAMILY_ROWS_MAX;
        let room = FAMILY_ROWS_MAX - must.len();
        let mut kin = must;
        kin.extend(others.into_iter().take(room));
        let mut rows = Fetched::default();
        let hits: Vec<Hit> = kin.into_values().map(|stored| rows.add(stored)).collect();
        let hit = hits.iter().copied().find(|hit| rows.figi(*hit) == own);
        let hit = hit.expect("the row is one of its family");
        let family = Family::of(&rows, hit, hits, is_truncated);
        Ok((rows, hit, family))
    }

    /// The first document of a query, in FIGI order.
    async fn first(&self, query: Value, id: Option<&str>) -> Result<Option<Stored>> {
        let found = self.found(&question(query, 1), 1, id).await?;
        found.hits.hits.first().map(|document| document.stored(&self.index)).transpose()
    }
}

/// The documents with a FIGI.
fn has_figi(figi: Figi) -> Value {
    json!({"term": {field::FIGI: number(figi)}})
}

/// The documents that carry an identifier.
fn carries(value: &IdValue<'_>) -> Value {
    json!({"term": {field::KEYS: id_key(value)}})
}
