//! Other names of an instrument, as people use them (contract 16.16).

use serde::ser::SerializeMap as _;
use serde::{Serialize, Serializer};

use super::date::Date;

/// The most other names of an instrument.
pub const OTHER_NAMES_MAX: usize = 50;

/// The most bytes of another name.
pub const OTHER_NAME_BYTES_MAX: usize = 256;

/// The kind of another name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum NameKind {
    /// The name of a product or of the business, such as Google.
    Brand,
    /// A name that the issuer had before, such as FACEBOOK INC.
    Former,
    /// The name in another script or spelling.
    Transliteration,
    /// A short form, such as VW.
    Short,
}

/// Another name of an instrument, and the days on which it came and went, if they are known.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct OtherName {
    /// The name: not empty, at most [`OTHER_NAME_BYTES_MAX`] bytes.
    pub text: String,
    /// Its kind.
    pub kind: NameKind,
    /// Its first day.
    pub from: Option<Date>,
    /// Its last day.
    pub to: Option<Date>,
}

impl NameKind {
    /// All kinds.
    pub const ALL: [Self; 4] = [Self::Brand, Self::Former, Self::Transliteration, Self::Short];

    /// The kind as dumps and answers have it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Brand => "brand",
            Self::Former => "former",
            Self::Transliteration => "transliteration",
            Self::Short => "short",
        }
    }

    /// The kind with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    pub(super) fn from_code(code: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| *kind as u8 == code)
    }
}

/// Adds a name to others. A name with the same text and kind is the same name: it gets the days
/// that it lacks. Returns whether there was room: [`OTHER_NAMES_MAX`] names are the most.
pub fn unite(names: &mut Vec<OtherName>, name: OtherName) -> bool {
    let is_same = |other: &&mut OtherName| other.text == name.text && other.kind == name.kind;
    if let Some(known) = names.iter_mut().find(is_same) {
        known.from = known.from.or(name.from);
        known.to = known.to.or(name.to);
        return true;
    }
    if names.len() >= OTHER_NAMES_MAX {
        return false;
    }
    names.push(name);
    true
}

/// An object with the members `name`, `kind`, and `from` and `to` where they are known.
impl Serialize for OtherName {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut object = serializer.serialize_map(None)?;
        object.serialize_entry("name", &self.text)?;
        object.serialize_entry("kind", self.kind.name())?;
        for (member, day) in [("from", self.from), ("to", self.to)] {
            if let Some(day) = day {
                object.serialize_entry(member, &day.to_string())?;
            }
        }
        object.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(text: &str, kind: NameKind, to: Option<&str>) -> OtherName {
        let to = to.map(|day| Date::parse(day).unwrap());
        OtherName { text: text.to_owned(), kind, from: None, to }
    }

    #[test]
    fn names_are_united() {
        let mut names = Vec::new();
        assert!(unite(&mut names, name("FACEBOOK INC", NameKind::Former, None)));
        assert!(unite(&mut names, name("FACEBOOK INC", NameKind::Brand, None)));
        assert!(unite(&mut names, name("FACEBOOK INC", NameKind::Former, Some("2022-06-08"))));
        assert_eq!(names.len(), 2);
        assert_eq!(names[0].to, Date::parse("2022-06-08").ok());
        for number in 0..OTHER_NAMES_MAX {
            let is_room = names.len() < OTHER_NAMES_MAX;
            assert_eq!(
                unite(&mut names, name(&number.to_string(), NameKind::Short, None)),
                is_room
            );
        }
    }

    #[test]
    fn a_kind_is_found_by_its_name_and_code() {
        for kind in NameKind::ALL {
            assert_eq!(NameKind::from_name(kind.name()), Some(kind));
            assert_eq!(NameKind::from_code(kind as u8), Some(kind));
        }
        assert_eq!(NameKind::from_name("Former"), None);
    }
}
