//! The application of a description to one dump: the slots of a record that feed each canonical
//! column, and the records that are left out.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use figdex_index::Attribute;

use super::description::{Conditions, Test, ValueFrom};
use super::record::{Names, Record, RecordValue, Slot};
use super::{Description, Transform};
use crate::row::{CellKind, Column, Row};

/// Separates several values in a cell of delimited text, unless the format says otherwise.
const LIST_SEPARATOR: &str = ";";

/// The most stars in a path whose matches can be used, as `$1` to `$9`.
const STARS_MAX: usize = 9;

/// Turns the records of one dump into rows.
pub(crate) struct Plan {
    description: Arc<Description>,
    /// The name of each slot: a column of the dump, the path to a nested value, or a star such as
    /// `$1`.
    slot_names: Vec<String>,
    names: Names,
    feeds: Vec<PlannedFeed>,
    skip: Vec<Vec<SlotTest>>,
    separator: Option<&'static str>,
    absent: Vec<String>,
    /// The names of the dump's columns, if they are known before its records.
    header: Vec<String>,
}

/// A [`Feed`](super::description::Feed) of the description, with slots instead of names.
struct PlannedFeed {
    /// The place of the feed in the description.
    place: usize,
    alternatives: Vec<PlannedAlternative>,
}

/// An [`Alternative`](super::description::Alternative) of the description, in the same order.
struct PlannedAlternative {
    /// `None` for a constant.
    slot: Option<Slot>,
    conditions: Vec<SlotTest>,
    /// Whether values are used unchanged, as is usual.
    is_plain: bool,
}

/// A condition on the values of a slot.
struct SlotTest {
    slot: Slot,
    test: Test,
}

impl Plan {
    pub(crate) fn new(description: Arc<Description>) -> Self {
        let mut slots = Slots::default();
        let feeds = description
            .feeds
            .iter()
            .enumerate()
            .map(|(place, feed)| PlannedFeed {
                place,
                alternatives: feed
                    .alternatives
                    .iter()
                    .map(|alternative| PlannedAlternative {
                        slot: match &alternative.from {
                            ValueFrom::Column(name) => Some(slots.slot(name)),
                            ValueFrom::Constant(_) => None,
                        },
                        conditions: slots.tests(&alternative.conditions),
                        is_plain: alternative.transform.is_none(),
                    })
                    .collect(),
            })
            .collect::<Vec<PlannedFeed>>();
        let skip = description.skip.iter().map(|rule| slots.tests(rule)).collect();
        let mut names = Names::new(&slots.names);
        for (planned, feed) in feeds.iter().zip(&description.feeds) {
            if feed.column == Column::Attribute(Attribute::Names) {
                let slots = planned.alternatives.iter().filter_map(|alternative| alternative.slot);
                slots.for_each(|slot| names.take_objects(slot));
            }
        }
        Self {
            description,
            slot_names: slots.names,
            names,
            feeds,
            skip,
            separator: None,
            absent: Vec::new(),
            header: Vec::new(),
        }
    }

    pub(crate) fn description(&self) -> &Description {
        &self.description
    }

    /// The names of the slots, as a tree.
    pub(crate) fn names(&self) -> &Names {
        &self.names
    }

    /// An empty record with these slots.
    pub(crate) fn record(&self) -> Record {
        Record::new(self.slot_names.len(), self.description.blank.clone())
    }

    /// The numbers and slots of the used stars. `$1` is the member or entry that the first star of
    /// a record's path matched.
    pub(crate) fn stars(&self) -> Vec<(usize, Slot)> {
        (1..=STARS_MAX)
            .filter_map(|star| {
                let slot = self.slot_names.iter().position(|name| *name == format!("${star}"));
                slot.map(|slot| (star, slot))
            })
            .collect()
    }

    /// The highest number of a column that is named by number; 0 without such columns.
    pub(crate) fn last_number(&self) -> usize {
        let numbers =
            self.slot_names.iter().filter_map(|name| name.split('.').next()?.parse().ok());
        numbers.max().unwrap_or(0)
    }

    /// Matches the headings of a dump with names of the description that differ only in letter
    /// case, unless the dump also has that exact name. Returns the headings in the spelling of the
    /// description.
    ///
    /// # Errors
    /// A message when two headings match the same name of the description.
    pub(crate) fn take_headings(&mut self, headings: &[String]) -> Result<Vec<String>, String> {
        let exact: HashSet<&str> = headings.iter().map(String::as_str).collect();
        let mut by_case: HashMap<String, &str> = HashMap::new();
        // If two names differ only in letter case, such as ticker and TICKER, the first counts.
        for name in &self.slot_names {
            by_case.entry(name.to_lowercase()).or_insert(name);
            let column = name.split('.').next().unwrap_or(name);
            by_case.entry(column.to_lowercase()).or_insert(column);
        }
        let spelled = headings.iter().map(|heading| {
            let name = by_case.get(&heading.to_lowercase()).copied();
            match name.filter(|name| !exact.contains(name)) {
                Some(name) if self.names.get(heading).is_none() => name.to_owned(),
                _ => heading.clone(),
            }
        });
        let spelled: Vec<String> = spelled.collect();
        let mut taken = HashSet::new();
        for (heading, name) in headings.iter().zip(&spelled) {
            if self.names.get(name).is_some() && !taken.insert(name) {
                return Err(format!("the header names {name} twice"));
            }
            self.names.add_spelling(name, heading);
        }
        Ok(spelled)
    }

    /// Makes [`LIST_SEPARATOR`] the default separator of values in one cell, since delimited text
    /// has no arrays.
    pub(crate) fn split_lists(&mut self) {
        self.separator = Some(LIST_SEPARATOR);
    }

    /// Restricts the plan to a dump with the columns `header`, which fill the slots `present`. Only
    /// constants and columns that these slots feed remain, in the order of the dump's columns.
    pub(crate) fn keep(&mut self, header: Vec<String>, present: &[Slot]) {
        self.header = header;
        let named = self.feeds.iter().filter(|feed| self.description.feeds[feed.place].is_named);
        let slots =
            named.flat_map(|feed| &feed.alternatives).filter_map(|alternative| alternative.slot);
        let absent = slots.filter(|slot| !present.contains(slot));
        self.absent = absent.map(|slot| self.slot_names[slot].clone()).collect();
        self.absent.sort_unstable();
        self.absent.dedup();
        let is_present = |alternative: &PlannedAlternative| {
            alternative.slot.is_none_or(|slot| present.contains(&slot))
        };
        self.feeds.retain(|feed| feed.alternatives.iter().any(is_present));
        let first = |feed: &PlannedFeed| {
            let places = feed.alternatives.iter().filter_map(|alternative| {
                present.iter().position(|&slot| Some(slot) == alternative.slot)
            });
            places.min().unwrap_or(usize::MAX)
        };
        self.feeds.sort_by_key(first);
    }

    /// The names of the dump's columns, if they are known before its records.
    pub(crate) fn header(&self) -> &[String] {
        &self.header
    }

    /// The columns that the format names and the dump does not have.
    pub(crate) fn absent(&self) -> &[String] {
        &self.absent
    }

    /// Whether the dump can feed that canonical column.
    pub(crate) fn feeds(&self, column: Column) -> bool {
        self.feeds.iter().any(|feed| self.description.feeds[feed.place].column == column)
    }

    /// The columns of the dump that feed that canonical column, according to the description.
    pub(crate) fn feeding(&self, column: Column) -> Vec<&str> {
        let feeds = self.description.feeds.iter().filter(|feed| feed.column == column);
        let alternatives = feeds.flat_map(|feed| &feed.alternatives);
        alternatives
            .filter_map(|alternative| match &alternative.from {
                ValueFrom::Column(name) => Some(name.as_str()),
                ValueFrom::Constant(_) => None,
            })
            .collect()
    }

    /// Adds the cells of a record to `row`. Returns `false` if a rule leaves out the record.
    pub(crate) fn row(&self, record: &Record, row: &mut Row) -> bool {
        if self.skip.iter().any(|rule| all_hold(rule, record)) {
            return false;
        }
        for planned in &self.feeds {
            let feed = &self.description.feeds[planned.place];
            for (alternative, described) in planned.alternatives.iter().zip(&feed.alternatives) {
                if !all_hold(&alternative.conditions, record) {
                    continue;
                }
                let given = match (alternative.slot, &described.from) {
                    (None, ValueFrom::Constant(text)) => {
                        row.push(feed.column, text, CellKind::Text);
                        true
                    }
                    (Some(slot), _) => {
                        let separator = described.transform.separator.as_deref().or(self.separator);
                        let transform = (!alternative.is_plain).then_some(&described.transform);
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

/// Adds a value to the row, as one cell or several. Returns whether any of them is not blank.
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
    let takes_entries = column.is_list() || column == Column::Attribute(Attribute::Names);
    if value.is_entry && !takes_entries {
        return row.push(column, value.text, CellKind::Invalid("a nested value"));
    }
    let cell = |row: &mut Row, text: &str| match transform.map(|steps| steps.apply(text)) {
        None => row.push(column, text, value.kind),
        Some(Ok(cell)) => row.push(column, &cell, value.kind),
        Some(Err(reason)) => row.push(column, text, CellKind::Invalid(reason)),
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

fn all_hold(tests: &[SlotTest], record: &Record) -> bool {
    tests.iter().all(|SlotTest { slot, test }| test.holds(record.of(*slot).map(|value| value.text)))
}

/// Assigns slot numbers to names, one for each name.
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

    fn tests(&mut self, conditions: &Conditions) -> Vec<SlotTest> {
        let conditions = conditions.0.iter();
        conditions
            .map(|(name, test)| SlotTest { slot: self.slot(name), test: test.clone() })
            .collect()
    }
}
