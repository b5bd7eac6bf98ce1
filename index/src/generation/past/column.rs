//! The columns that a version of a row has, and how two values of a column compare.

use std::collections::BTreeSet;

use crate::instrument::Instrument;
use crate::instrument::attribute::Attribute;
use crate::instrument::id_type::IdType;
use crate::instrument::value::{ColumnValue, Slot};
use crate::instrument::vocabulary::Property;
use crate::words::is_written_alike;

/// A column that a version has. Importance, metadata, aliases, other names, numbers and the vendor's
/// unique identifiers are not part of the past.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PastColumn {
    /// An attribute.
    Attribute(Attribute),
    /// An enum-like property.
    Property(Property),
    /// The identifiers of an idType.
    Identifiers(IdType),
}

const ATTRIBUTES: [Attribute; 8] = [
    Attribute::CompositeFigi,
    Attribute::ShareClassFigi,
    Attribute::Ticker,
    Attribute::Name,
    Attribute::SecurityDescription,
    Attribute::Expiration,
    Attribute::Maturity,
    Attribute::Listed,
];

/// The columns of texts that a value may be compared in: how a value differs from an earlier one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Difference {
    /// None, or only in the writing.
    None,
    /// A value came to those that were known.
    Learned,
    /// The value is blank now.
    Blank,
    /// A known value was replaced by another.
    Replaced,
}

impl Difference {
    /// Whether a known value is not there any more.
    pub(super) fn loses(self) -> bool {
        matches!(self, Self::Blank | Self::Replaced)
    }
}

impl PastColumn {
    /// All columns, in the order of a log.
    pub fn all() -> impl Iterator<Item = Self> {
        let is_kept = |one: &IdType| {
            !matches!(one, IdType::BbGlobal | IdType::BbUnique | IdType::UniqueFutOpt)
        };
        let attributes = ATTRIBUTES.into_iter().map(Self::Attribute);
        let properties = Property::ALL.into_iter().map(Self::Property);
        attributes
            .chain(properties)
            .chain(IdType::ALL.into_iter().filter(is_kept).map(Self::Identifiers))
    }

    /// The name as a column of a dump.
    pub fn name(self) -> &'static str {
        match self {
            Self::Attribute(attribute) => attribute.name(),
            Self::Property(property) => property.field_name(),
            Self::Identifiers(id_type) => id_type.name(),
        }
    }

    /// The column with this name.
    pub(crate) fn from_name(name: &str) -> Option<Self> {
        Self::all().find(|column| column.name() == name)
    }

    /// The column of the identifiers of an idType; `None` for the FIGI, which has none.
    pub(crate) fn of(id_type: IdType) -> Option<Self> {
        match id_type {
            IdType::BbGlobal => None,
            IdType::Ticker => Some(Self::Attribute(Attribute::Ticker)),
            IdType::CompositeBbGlobal => Some(Self::Attribute(Attribute::CompositeFigi)),
            IdType::ShareClassBbGlobal => Some(Self::Attribute(Attribute::ShareClassFigi)),
            other => Some(Self::Identifiers(other)),
        }
    }

    /// The value of the column, if it is known.
    pub fn value(self, image: &Instrument) -> Option<ColumnValue<'_>> {
        match self {
            Self::Attribute(attribute) => image.value(attribute),
            Self::Property(property) => image.property(property).map(ColumnValue::Text),
            Self::Identifiers(id_type) => image.identifier_set(id_type),
        }
    }

    /// Copies the value, known or not, from one image to another.
    pub(super) fn copy(self, from: &Instrument, to: &mut Instrument) {
        match self {
            Self::Attribute(attribute) => match (attribute, to.slot(attribute)) {
                (Attribute::CompositeFigi, Slot::Figi(to)) => *to = from.composite_figi,
                (_, Slot::Figi(to)) => *to = from.share_class_figi,
                (attribute, slot) => match (slot, from.value(attribute)) {
                    (Slot::Text(to), Some(ColumnValue::Text(text))) => *to = Some(text.to_owned()),
                    (Slot::Date(to), Some(ColumnValue::Date(day))) => *to = Some(day),
                    (Slot::Flag(to), Some(ColumnValue::Flag(flag))) => *to = Some(flag),
                    (Slot::Text(to), _) => *to = None,
                    (Slot::Date(to), _) => *to = None,
                    (Slot::Flag(to), _) => *to = None,
                    _ => unreachable!("the past has texts, days, flags and FIGIs"),
                },
            },
            Self::Property(property) => {
                let value = from.property(property).map(str::to_owned);
                to.properties[property as usize] = value;
            }
            Self::Identifiers(id_type) => {
                to.identifiers.retain(|value| value.id_type() != id_type);
                to.identifiers.extend(from.identifiers_of(id_type).cloned());
            }
        }
    }

    /// The difference of the value of `new` from that of `old`.
    ///
    /// Names and descriptions may be written differently, and an instrument may end on another day
    /// than was known: neither makes another row. An identifier leaves a set while others of its
    /// idType stay or come, which replaces a value.
    pub(super) fn difference(self, old: &Instrument, new: &Instrument) -> Difference {
        use Attribute::{Expiration, Maturity, Name, SecurityDescription};
        let (old, new) = match (self.value(old), self.value(new)) {
            (None, None) => return Difference::None,
            (None, Some(_)) => return Difference::Learned,
            (Some(_), None) => return Difference::Blank,
            (Some(old), Some(new)) => (old, new),
        };
        if old == new {
            return Difference::None;
        }
        if let (Some(old), Some(new)) = (old.list(), new.list()) {
            let [old, new] = [old, new].map(BTreeSet::from_iter);
            return match old.is_subset(&new) {
                true => Difference::Learned,
                false => Difference::Replaced,
            };
        }
        match (self, old, new) {
            (Self::Attribute(Expiration | Maturity), ..) => Difference::None,
            (
                Self::Attribute(Name | SecurityDescription),
                ColumnValue::Text(old),
                ColumnValue::Text(new),
            ) if is_written_alike(old, new) => Difference::None,
            _ => Difference::Replaced,
        }
    }
}

/// The columns of a version, of a whole row.
pub(crate) fn image_of(row: &Instrument) -> Instrument {
    let mut image = Instrument::new(row.figi);
    for column in PastColumn::all() {
        column.copy(row, &mut image);
    }
    image
}

/// The columns in which the version of a row differs from the row: values that the row lacks now,
/// or that a build did not take over.
pub(crate) fn held<'a>(
    image: &'a Instrument,
    row: &'a Instrument,
) -> impl Iterator<Item = PastColumn> + 'a {
    PastColumn::all().filter(|column| column.value(image) != column.value(row))
}
