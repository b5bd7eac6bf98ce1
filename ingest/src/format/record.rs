//! One record of a dump: the values that its description asks for, before they
//! are a row. Readers fill it; the plan makes the row.

use std::collections::BTreeMap;

use crate::row::CellKind;

/// A value's place among those that a description asks for.
pub(crate) type Slot = usize;

/// The values of a record, by slot. It is filled anew for each record.
#[derive(Default)]
pub(crate) struct Record {
    /// Words that mean "unknown".
    blank: Vec<String>,
    text: String,
    values: Vec<Value>,
    /// The first and the last value of each slot.
    ends: Vec<Option<(usize, usize)>>,
}

struct Value {
    start: usize,
    end: usize,
    kind: CellKind,
    /// It is one of an array's entries.
    entry: bool,
    /// The next value of the same slot.
    next: Option<usize>,
}

/// One value of a record, trimmed, never empty.
#[derive(Clone, Copy)]
pub(crate) struct RecordValue<'a> {
    pub(crate) text: &'a str,
    pub(crate) kind: CellKind,
    pub(crate) entry: bool,
}

impl Record {
    pub(crate) fn new(slots: usize, blank: Vec<String>) -> Self {
        Self { blank, ends: vec![None; slots], ..Self::default() }
    }

    pub(crate) fn clear(&mut self) {
        self.text.clear();
        self.values.clear();
        self.ends.fill(None);
    }

    /// Adds a value; a blank one means "unknown" and is none.
    pub(crate) fn put(&mut self, slot: Slot, text: &str, kind: CellKind, entry: bool) {
        let text = text.trim();
        if text.is_empty() || self.blank.iter().any(|word| word == text) {
            return;
        }
        let start = self.text.len();
        self.text.push_str(text);
        let place = self.values.len();
        self.values.push(Value { start, end: self.text.len(), kind, entry, next: None });
        match &mut self.ends[slot] {
            Some((_, last)) => {
                self.values[*last].next = Some(place);
                *last = place;
            }
            none => *none = Some((place, place)),
        }
    }

    /// The values of a slot, in the order of the record.
    pub(crate) fn of(&self, slot: Slot) -> impl Iterator<Item = RecordValue<'_>> {
        let first = self.ends[slot].map(|(first, _)| &self.values[first]);
        let next = |value: &&Value| value.next.map(|place| &self.values[place]);
        std::iter::successors(first, next).map(|value| RecordValue {
            text: &self.text[value.start..value.end],
            kind: value.kind,
            entry: value.entry,
        })
    }
}

/// The names that a description asks for, nested as the dump nests them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Names {
    pub(crate) slot: Option<Slot>,
    pub(crate) members: BTreeMap<Box<str>, Names>,
}

impl Names {
    /// The names of the slots, in their order. `codes.figi` is a column of that
    /// very name, or what is called `figi` inside of `codes`.
    pub(crate) fn new(sources: &[String]) -> Self {
        let mut names = Self::default();
        for (slot, source) in sources.iter().enumerate() {
            let mut place = &mut names;
            for member in source.split('.') {
                place = place.members.entry(member.into()).or_default();
            }
            place.slot = Some(slot);
            names.members.entry(source.as_str().into()).or_default().slot = Some(slot);
        }
        names
    }

    pub(crate) fn get(&self, name: &str) -> Option<&Self> {
        self.members.get(name)
    }

    /// Adds every slot of it to `slots`.
    pub(crate) fn slots(&self, slots: &mut Vec<Slot>) {
        slots.extend(self.slot);
        for member in self.members.values() {
            member.slots(slots);
        }
    }
}
