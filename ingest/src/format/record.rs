//! One record of a dump: the values that the format uses, as the dump spells them. A reader fills
//! the record, and the plan turns it into a row.

use std::collections::BTreeMap;

use crate::row::CellKind;

/// The number of a value that the format uses, from 0.
pub(crate) type Slot = usize;

/// The values of a record, by slot. It is reused for all records of a dump.
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
    /// Whether the value is an entry of an array.
    is_entry: bool,
    /// The next value of the same slot.
    next: Option<usize>,
}

/// One value of a record, trimmed and not empty.
#[derive(Clone, Copy)]
pub(crate) struct RecordValue<'a> {
    pub(crate) text: &'a str,
    pub(crate) kind: CellKind,
    pub(crate) is_entry: bool,
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

    /// Adds a value, unless it is blank, which means "unknown".
    pub(crate) fn put(&mut self, slot: Slot, text: &str, kind: CellKind, is_entry: bool) {
        let text = text.trim();
        if text.is_empty() || self.blank.iter().any(|word| word == text) {
            return;
        }
        let start = self.text.len();
        self.text.push_str(text);
        let place = self.values.len();
        self.values.push(Value { start, end: self.text.len(), kind, is_entry, next: None });
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
            is_entry: value.is_entry,
        })
    }
}

/// The names of the slots as a tree, with the nesting of the values in the dump.
#[derive(Clone, Debug, Default)]
pub(crate) struct Names {
    pub(crate) slot: Option<Slot>,
    /// Whether an object is a value of the slot, as JSON text.
    pub(crate) takes_objects: bool,
    pub(crate) members: BTreeMap<Box<str>, Names>,
}

impl Names {
    /// The tree of these names. The place of a name in `slot_names` is its slot. `codes.figi`
    /// stands for a column with that name, or for the member `figi` of the object `codes`.
    pub(crate) fn new(slot_names: &[String]) -> Self {
        let mut names = Self::default();
        for (slot, name) in slot_names.iter().enumerate() {
            let mut place = &mut names;
            for member in name.split('.') {
                place = place.members.entry(member.into()).or_default();
            }
            place.slot = Some(slot);
            names.members.entry(name.as_str().into()).or_default().slot = Some(slot);
        }
        names
    }

    /// Adds another spelling of a name, if there is such a name.
    pub(crate) fn add_spelling(&mut self, name: &str, spelling: &str) {
        if !self.members.contains_key(spelling)
            && let Some(names) = self.members.get(name).cloned()
        {
            self.members.insert(spelling.into(), names);
        }
    }

    /// Makes objects values of a slot, wherever the dump has it.
    pub(crate) fn take_objects(&mut self, slot: Slot) {
        self.takes_objects |= self.slot == Some(slot);
        self.members.values_mut().for_each(|member| member.take_objects(slot));
    }

    pub(crate) fn get(&self, name: &str) -> Option<&Self> {
        self.members.get(name)
    }

    /// Adds all slots of this subtree to `slots`.
    pub(crate) fn slots(&self, slots: &mut Vec<Slot>) {
        slots.extend(self.slot);
        for member in self.members.values() {
            member.slots(slots);
        }
    }
}
