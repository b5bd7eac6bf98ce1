//! An instrument as a compact byte string: for sorting more instruments than fit in memory,
//! and for the extras of a part.

use super::attribute::{Attribute, Home, Instrument};
use super::date::Date;
use super::figi::Figi;
use super::id_type::{IdType, IdValue};
use super::importance::Importance;
use super::names::{NameKind, OtherName};
use super::value::{ColumnValue, Slot, Sort};
use super::vocabulary::Property;

/// Writes the known fields one after the other, and sets the bit of each in `present`.
struct Writer<'a> {
    out: &'a mut Vec<u8>,
    present: u32,
    field: u32,
}

/// Reads the fields that a [`Writer`] wrote.
struct Reader<'a> {
    bytes: &'a [u8],
    present: u32,
    field: u32,
}

/// The place of the presence bits, right after the FIGI.
const PRESENT: std::ops::Range<usize> = 8..12;

impl Instrument {
    /// Appends the encoded instrument to `out`.
    pub fn encode(&self, out: &mut Vec<u8>) {
        self.encode_fields(out, true, &self.identifiers);
    }

    /// Appends the instrument without the fields that its row and its rank hold.
    pub(crate) fn encode_extras(&self, out: &mut Vec<u8>) {
        self.encode_fields(out, false, &self.identifiers);
    }

    /// As [`Self::encode_extras`], without the identifiers either.
    pub(crate) fn encode_without_identifiers(&self, out: &mut Vec<u8>) {
        self.encode_fields(out, false, &[]);
    }

    fn encode_fields(&self, out: &mut Vec<u8>, whole: bool, identifiers: &[IdValue<'static>]) {
        let start = out.len();
        out.extend_from_slice(&self.figi.to_u64().to_le_bytes());
        out.extend_from_slice(&[0; PRESENT.end - PRESENT.start]);
        let mut writer = Writer { out, present: 0, field: 0 };
        for attribute in single(true) {
            writer.field(self.value(attribute).filter(|_| whole), put_value);
        }
        for property in Property::ALL {
            let value = self.property(property);
            writer.field(
                value.filter(|_| whole || !Property::IN_RESULT.contains(&property)),
                put_text,
            );
        }
        for attribute in single(false) {
            let is_kept = whole || attribute.home() == Home::Extras;
            writer.field(self.value(attribute).filter(|_| is_kept), put_value);
        }
        let present = writer.present;
        put_number(out, identifiers.len());
        for id_value in identifiers {
            out.push(id_value.id_type() as u8);
            put_text(out, id_value.as_str());
        }
        for attribute in lists() {
            // An empty list of names has the same bytes as one of texts.
            put_value(out, self.value(attribute).unwrap_or(ColumnValue::Texts(&[])));
        }
        out[start..][PRESENT].copy_from_slice(&present.to_le_bytes());
    }

    /// Decodes an instrument that [`Instrument::encode`] or another of these wrote. `None` when the
    /// bytes cannot be decoded; some changed bytes are not noticed.
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        let (figi, rest) = bytes.split_first_chunk()?;
        let (present, rest) = rest.split_first_chunk()?;
        let present = u32::from_le_bytes(*present);
        let mut reader = Reader { bytes: rest, present, field: 0 };
        let mut instrument = Self::new(Figi::from_u64(u64::from_le_bytes(*figi)));
        for attribute in single(true) {
            reader.field(|bytes| take_value(bytes, instrument.slot(attribute)))?;
        }
        for text in &mut instrument.properties {
            *text = reader.field(|bytes| take_text(bytes).map(str::to_owned))?;
        }
        for attribute in single(false) {
            reader.field(|bytes| take_value(bytes, instrument.slot(attribute)))?;
        }
        let mut bytes = reader.bytes;
        for _ in 0..take_number(&mut bytes)? {
            let [code] = take(&mut bytes)?;
            let id_type = IdType::from_code(code)?;
            let id_value = IdValue::from_index(id_type, take_text(&mut bytes)?);
            instrument.identifiers.push(id_value.into_owned());
        }
        for attribute in lists() {
            take_value(&mut bytes, instrument.slot(attribute))?;
        }
        bytes.is_empty().then_some(instrument)
    }
}

// Each property, and each attribute with one value, has a presence bit.
const _: () = assert!(Attribute::ALL.len() + Property::COUNT <= 32);

/// The attributes with one value that are in the row, or those that are not. The encoding has the
/// former before the properties and the latter after them. Lists have no presence bit; they come
/// last, after the identifiers.
fn single(is_in_row: bool) -> impl Iterator<Item = Attribute> {
    let single = Attribute::ALL.iter().copied().filter(|one| !is_list(one.sort()));
    single.filter(move |one| (one.home() == Home::Row) == is_in_row)
}

fn lists() -> impl Iterator<Item = Attribute> {
    Attribute::ALL.iter().copied().filter(|one| is_list(one.sort()))
}

fn is_list(sort: Sort) -> bool {
    matches!(sort, Sort::Texts | Sort::Names)
}

impl Writer<'_> {
    fn field<T>(&mut self, value: Option<T>, put: impl FnOnce(&mut Vec<u8>, T)) {
        if let Some(value) = value {
            self.present |= 1 << self.field;
            put(self.out, value);
        }
        self.field += 1;
    }
}

impl<'a> Reader<'a> {
    /// Takes the next field: `Some(None)` when it is not present, `None` when its bytes are cut off
    /// or invalid.
    fn field<T>(&mut self, take: impl FnOnce(&mut &'a [u8]) -> Option<T>) -> Option<Option<T>> {
        let present = self.present & 1 << self.field != 0;
        self.field += 1;
        if present { take(&mut self.bytes).map(Some) } else { Some(None) }
    }
}

/// Appends a number, seven bits per byte, the lowest bits first. The high bit of a byte marks that
/// more bytes follow.
pub(crate) fn put_number(out: &mut Vec<u8>, mut number: usize) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// Appends a text after its length in bytes.
pub(crate) fn put_text(out: &mut Vec<u8>, text: &str) {
    put_number(out, text.len());
    out.extend_from_slice(text.as_bytes());
}

fn take<const COUNT: usize>(bytes: &mut &[u8]) -> Option<[u8; COUNT]> {
    let (taken, rest) = bytes.split_first_chunk()?;
    *bytes = rest;
    Some(*taken)
}

/// Takes a number below 2^35 off the front; `None` when it is cut off or larger.
pub(crate) fn take_number(bytes: &mut &[u8]) -> Option<usize> {
    let mut number = 0;
    for shift in (0..u32::BITS).step_by(7) {
        let [byte] = take(bytes)?;
        number |= usize::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Some(number);
        }
    }
    None
}

/// Takes a text off the front; `None` when it is cut off or not UTF-8.
pub(crate) fn take_text<'a>(bytes: &mut &'a [u8]) -> Option<&'a str> {
    let length = take_number(bytes)?;
    let (text, rest) = bytes.split_at_checked(length)?;
    *bytes = rest;
    str::from_utf8(text).ok()
}

/// Appends the value of an attribute.
fn put_value(out: &mut Vec<u8>, value: ColumnValue<'_>) {
    match value {
        ColumnValue::Figi(figi) => out.extend_from_slice(&figi.to_u64().to_le_bytes()),
        ColumnValue::Text(text) => put_text(out, text),
        ColumnValue::Number(number) => out.extend_from_slice(&number.to_le_bytes()),
        ColumnValue::Date(date) => out.extend_from_slice(&date.to_days().to_le_bytes()),
        ColumnValue::Flag(flag) => out.push(u8::from(flag)),
        ColumnValue::Importance(one) => out.extend_from_slice(&one.to_bits().to_le_bytes()),
        ColumnValue::Texts(texts) => {
            put_number(out, texts.len());
            texts.iter().for_each(|text| put_text(out, text));
        }
        ColumnValue::Names(names) => {
            put_number(out, names.len());
            names.iter().for_each(|name| put_name(out, name));
        }
        ColumnValue::Identifiers(_) => unreachable!("identifiers are not an attribute"),
    }
}

/// Takes the value of an attribute off the front; `None` when it is cut or wrong.
fn take_value(bytes: &mut &[u8], slot: Slot<'_>) -> Option<()> {
    match slot {
        Slot::Figi(slot) => *slot = Some(Figi::from_u64(u64::from_le_bytes(take(bytes)?))),
        Slot::Text(slot) => *slot = Some(take_text(bytes)?.to_owned()),
        Slot::Number(slot) => *slot = Some(f64::from_le_bytes(take(bytes)?)),
        Slot::Date(slot) => *slot = Some(Date::from_days(i64::from_le_bytes(take(bytes)?))?),
        Slot::Flag(slot) => *slot = Some(take(bytes)? != [0]),
        Slot::Importance(slot) => {
            *slot = Some(Importance::from_bits(u64::from_le_bytes(take(bytes)?))?);
        }
        Slot::Texts(slot) => {
            for _ in 0..take_number(bytes)? {
                slot.push(take_text(bytes)?.to_owned());
            }
        }
        Slot::Names(slot) => {
            for _ in 0..take_number(bytes)? {
                slot.push(take_name(bytes)?);
            }
        }
    }
    Some(())
}

/// The bits of the byte before a name: two for its kind, and one for each day that is known.
const KIND: u8 = 0b11;
const HAS_FROM: u8 = 1 << 2;
const HAS_TO: u8 = 1 << 3;

/// Appends another name: a byte for its kind and its days, the days, the text.
pub(crate) fn put_name(out: &mut Vec<u8>, name: &OtherName) {
    let day = |day: Option<Date>, bit| if day.is_some() { bit } else { 0 };
    out.push(name.kind as u8 | day(name.from, HAS_FROM) | day(name.to, HAS_TO));
    for day in [name.from, name.to].into_iter().flatten() {
        out.extend_from_slice(&(day.to_days() as i32).to_le_bytes());
    }
    put_text(out, &name.text);
}

/// Takes another name off the front; `None` when it is cut or wrong.
pub(crate) fn take_name(bytes: &mut &[u8]) -> Option<OtherName> {
    let [head] = take(bytes)?;
    let kind = NameKind::from_code(head & KIND)?;
    let mut day = |bit| match head & bit != 0 {
        true => Date::from_days(i32::from_le_bytes(take(bytes)?).into()).map(Some),
        false => Some(None),
    };
    let (from, to) = (day(HAS_FROM)?, day(HAS_TO)?);
    let text = take_text(bytes)?.to_owned();
    (head >> 4 == 0).then_some(OtherName { text, kind, from, to })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A value of each attribute, in the order of [`Attribute::ALL`]; `None` where it is not known.
    /// The values follow from the table, so that a new attribute is among them.
    #[derive(Clone, Debug)]
    enum Drawn {
        Figi(Option<Figi>),
        Text(Option<String>),
        Number(Option<f64>),
        Date(Option<Date>),
        Flag(Option<bool>),
        Importance(Option<Importance>),
        Texts(Vec<String>),
        Names(Vec<OtherName>),
    }

    fn figis() -> impl Strategy<Value = Figi> {
        (0_u64..1 << 60).prop_map(Figi::from_u64)
    }

    fn dates() -> impl Strategy<Value = Option<Date>> {
        let days = (-700_000_i64..700_000).prop_map(|days| Date::from_days(days).unwrap());
        proptest::option::of(days)
    }

    fn names() -> impl Strategy<Value = OtherName> {
        (".{0,40}", 0_u8..4, dates(), dates()).prop_map(|(text, code, from, to)| OtherName {
            text,
            kind: NameKind::from_code(code).unwrap(),
            from,
            to,
        })
    }

    /// Values of the sort of an attribute.
    fn drawn(attribute: Attribute) -> BoxedStrategy<Drawn> {
        match attribute.sort() {
            Sort::Figi => proptest::option::of(figis()).prop_map(Drawn::Figi).boxed(),
            Sort::Text => proptest::option::of(".{0,200}").prop_map(Drawn::Text).boxed(),
            Sort::Number => proptest::option::of(-1e9..1e9).prop_map(Drawn::Number).boxed(),
            Sort::Date => dates().prop_map(Drawn::Date).boxed(),
            Sort::Flag => any::<Option<bool>>().prop_map(Drawn::Flag).boxed(),
            Sort::Importance => {
                let numbers = (0.0..1e15).prop_map(|number| Importance::new(number).unwrap());
                proptest::option::of(numbers).prop_map(Drawn::Importance).boxed()
            }
            Sort::Texts => proptest::collection::vec(".*", 0..4).prop_map(Drawn::Texts).boxed(),
            Sort::Names => proptest::collection::vec(names(), 0..4).prop_map(Drawn::Names).boxed(),
        }
    }

    fn instruments() -> impl Strategy<Value = Instrument> {
        let values: Vec<_> = Attribute::ALL.iter().map(|attribute| drawn(*attribute)).collect();
        let properties = proptest::collection::vec(
            proptest::option::of(".{0,200}"),
            Property::COUNT..=Property::COUNT,
        );
        let id_value = (0_u8..26, ".{1,60}").prop_map(|(code, text)| {
            IdValue::from_index(IdType::from_code(code).unwrap(), &text).into_owned()
        });
        let identifiers = proptest::collection::vec(id_value, 0..5);
        (figis(), values, properties, identifiers).prop_map(
            |(figi, values, properties, identifiers)| {
                let mut instrument = Instrument::new(figi);
                for (attribute, value) in Attribute::ALL.iter().zip(values) {
                    match (instrument.slot(*attribute), value) {
                        (Slot::Figi(slot), Drawn::Figi(value)) => *slot = value,
                        (Slot::Text(slot), Drawn::Text(value)) => *slot = value,
                        (Slot::Number(slot), Drawn::Number(value)) => *slot = value,
                        (Slot::Date(slot), Drawn::Date(value)) => *slot = value,
                        (Slot::Flag(slot), Drawn::Flag(value)) => *slot = value,
                        (Slot::Importance(slot), Drawn::Importance(value)) => *slot = value,
                        (Slot::Texts(slot), Drawn::Texts(value)) => *slot = value,
                        (Slot::Names(slot), Drawn::Names(value)) => *slot = value,
                        (_, value) => panic!("{value:?} is not of the sort of {attribute:?}"),
                    }
                }
                instrument.properties = properties.try_into().unwrap();
                instrument.identifiers = identifiers;
                instrument
            },
        )
    }

    proptest! {
        #[test]
        fn round_trip(instrument in instruments()) {
            let mut bytes = b"before".to_vec();
            instrument.encode(&mut bytes);
            prop_assert_eq!(Instrument::decode(&bytes[6..]), Some(instrument));
            for cut in 6..bytes.len() {
                prop_assert_eq!(Instrument::decode(&bytes[6..cut]), None);
            }
        }

        #[test]
        fn any_bytes_are_answered(bytes in any::<Vec<u8>>()) {
            let _ = Instrument::decode(&bytes);
        }
    }
}
