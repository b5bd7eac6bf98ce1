//! A description, made ready for one dump: which slot of a record feeds which
//! column, and which records are left out.

use std::collections::HashMap;
use std::sync::Arc;

use super::description::{Conditions, Test, ValueFrom};
use super::record::{Names, Record, RecordValue, Slot};
use super::{Description, Transform};
use crate::row::{CellKind, Column, Row};

/// Separates the values of a delimited cell that may hold several.
const LIST_SEPARATOR: &str = ";";

/// The most `*` that a path to records may have.
const STARS_MAX: usize = 9;

/// What to do with each record of a dump.
pub(crate) struct Plan {
    description: Arc<Description>,
    sources: Vec<String>,
    names: Names,
    steps: Vec<PlannedFeed>,
    skip: Vec<Vec<SlotTest>>,
    separator: Option<&'static str>,
    absent: Vec<String>,
    /// The names of the dump's columns, where they are known beforehand.
    header: Vec<String>,
}

/// One column; it and its alternatives stand in the description.
struct PlannedFeed {
    feed: usize,
    alternatives: Vec<Alternative>,
}

struct Alternative {
    /// `None` for a constant.
    slot: Option<Slot>,
    conditions: Vec<SlotTest>,
    /// Values are taken as they are, as most are.
    plain: bool,
}

/// What must hold of a slot's values.
struct SlotTest {
    slot: Slot,
    test: Test,
}

impl Plan {
    pub(crate) fn new(description: Arc<Description>) -> Self {
        let mut sources = Slots::default();
        let steps = description
            .feeds
            .iter()
            .enumerate()
            .map(|(feed, told)| PlannedFeed {
                feed,
                alternatives: told
                    .alternatives
                    .iter()
                    .map(|alternative| Alternative {
                        slot: match &alternative.from {
                            ValueFrom::Column(name) => Some(sources.slot(name)),
                            ValueFrom::Constant(_) => None,
                        },
                        conditions: sources.asked(&alternative.conditions),
                        plain: alternative.transform.is_none(),
                    })
                    .collect(),
            })
            .collect();
        let skip = description.skip.iter().map(|rule| sources.asked(rule)).collect();
        let names = Names::new(&sources.names);
        Self {
            description,
            sources: sources.names,
            names,
            steps,
            skip,
            separator: None,
            absent: Vec::new(),
            header: Vec::new(),
        }
    }

    pub(crate) fn description(&self) -> &Description {
        &self.description
    }

    /// The names under which values are asked for.
    pub(crate) fn names(&self) -> &Names {
        &self.names
    }

    /// An empty record with a place for each of them.
    pub(crate) fn record(&self) -> Record {
        Record::new(self.sources.len(), self.description.blank.clone())
    }

    /// The slots of `$1`, `$2`, …: what stands for the stars of a record's path.
    pub(crate) fn stars(&self) -> Vec<(usize, Slot)> {
        (1..=STARS_MAX)
            .filter_map(|star| {
                let slot = self.sources.iter().position(|name| *name == format!("${star}"));
                slot.map(|slot| (star, slot))
            })
            .collect()
    }

    /// The highest of the columns that are asked for by number.
    pub(crate) fn last_number(&self) -> usize {
        let numbers = self.sources.iter().filter_map(|name| name.split('.').next()?.parse().ok());
        numbers.max().unwrap_or(0)
    }

    /// Cells are texts, and lists in them are separated.
    pub(crate) fn of_cells(&mut self) {
        self.separator = Some(LIST_SEPARATOR);
    }

    /// The dump has the columns of `header`, which are those slots: keeps only what
    /// any of them feeds, and constants.
    pub(crate) fn keep(&mut self, header: Vec<String>, present: &[Slot]) {
        self.header = header;
        let told = self.steps.iter().filter(|step| self.description.feeds[step.feed].told);
        let slots =
            told.flat_map(|step| &step.alternatives).filter_map(|alternative| alternative.slot);
        let absent = slots.filter(|slot| !present.contains(slot));
        self.absent = absent.map(|slot| self.sources[slot].clone()).collect();
        self.absent.sort_unstable();
        self.absent.dedup();
        let of_slot =
            |alternative: &Alternative| alternative.slot.is_none_or(|slot| present.contains(&slot));
        self.steps.retain(|step| step.alternatives.iter().any(of_slot));
        let first = |step: &PlannedFeed| {
            let places = step.alternatives.iter().filter_map(|alternative| {
                present.iter().position(|&slot| Some(slot) == alternative.slot)
            });
            places.min().unwrap_or(usize::MAX)
        };
        self.steps.sort_by_key(first);
    }

    /// The names of the dump's columns, where they are known beforehand.
    pub(crate) fn header(&self) -> &[String] {
        &self.header
    }

    /// What the description tells of and the dump lacks.
    pub(crate) fn absent(&self) -> &[String] {
        &self.absent
    }

    /// Whether anything feeds that column.
    pub(crate) fn feeds(&self, column: Column) -> bool {
        self.steps.iter().any(|step| self.description.feeds[step.feed].column == column)
    }

    /// The names of the dump's columns that feed that column of ours.
    pub(crate) fn sources_of(&self, column: Column) -> Vec<&str> {
        let feeds = self.description.feeds.iter().filter(|feed| feed.column == column);
        let alternatives = feeds.flat_map(|feed| &feed.alternatives);
        alternatives
            .filter_map(|alternative| match &alternative.from {
                ValueFrom::Column(name) => Some(name.as_str()),
                ValueFrom::Constant(_) => None,
            })
            .collect()
    }

    /// Makes a record a row; `false` when a rule says that it is none.
    pub(crate) fn row(&self, record: &Record, row: &mut Row) -> bool {
        if self.skip.iter().any(|rule| hold(rule, record)) {
            return false;
        }
        for step in &self.steps {
            let feed = &self.description.feeds[step.feed];
            for (alternative, told) in step.alternatives.iter().zip(&feed.alternatives) {
                if !hold(&alternative.conditions, record) {
                    continue;
                }
                let given = match (alternative.slot, &told.from) {
                    (None, ValueFrom::Constant(text)) => {
                        row.push(feed.column, text, CellKind::Text);
                        true
                    }
                    (Some(slot), _) => {
                        let separator = told.transform.separator.as_deref().or(self.separator);
                        let transform = (!alternative.plain).then_some(&told.transform);
                        let mut given = false;
                        for value in record.of(slot) {
                            given |= cells(row, feed.column, value, transform, separator);
                        }
                        given
                    }
                    (None, ValueFrom::Column(_)) => false,
                };
                if given {
                    break;
                }
            }
        }
        true
    }
}

/// Puts a value into a column, as one cell or several; whether it gave any.
fn cells(
    row: &mut Row,
    column: Column,
    value: RecordValue<'_>,
    transform: Option<&Transform>,
    separator: Option<&str>,
) -> bool {
    if let CellKind::Invalid(_) = value.kind {
        return row.push(column, value.text, value.kind);
    }
    if value.entry && !column.is_list() {
        return row.push(column, value.text, CellKind::Invalid("a nested value"));
    }
    let cell = |row: &mut Row, text: &str| match transform.map(|steps| steps.apply(text)) {
        None => row.push(column, text, value.kind),
        Some(Ok(cell)) => row.push(column, &cell, value.kind),
        Some(Err(fault)) => row.push(column, text, CellKind::Invalid(fault)),
    };
    match separator.filter(|_| column.is_list()) {
        Some(separator) => {
            let mut given = false;
            for text in value.text.split(separator) {
                given |= cell(row, text.trim());
            }
            given
        }
        None => cell(row, value.text),
    }
}

fn hold(asked: &[SlotTest], record: &Record) -> bool {
    asked.iter().all(|SlotTest { slot, test }| test.holds(record.of(*slot).map(|value| value.text)))
}

/// Names, each once, in the order in which they were asked for.
#[derive(Default)]
struct Slots {
    names: Vec<String>,
    slots: HashMap<String, Slot>,
}

impl Slots {
    fn slot(&mut self, name: &str) -> Slot {
        if let Some(&slot) = self.slots.get(name) {
            return slot;
        }
        let slot = self.names.len();
        self.names.push(name.to_owned());
        self.slots.insert(name.to_owned(), slot);
        slot
    }

    fn asked(&mut self, conditions: &Conditions) -> Vec<SlotTest> {
        let asked = conditions.0.iter();
        asked.map(|(name, test)| SlotTest { slot: self.slot(name), test: test.clone() }).collect()
    }
}
