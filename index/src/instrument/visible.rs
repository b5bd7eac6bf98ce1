//! The idTypes whose values a caller may see (contract 23). The server makes the set once for each
//! request, from its settings and the caller's key. Whatever writes identifiers asks the set.

use std::fmt;

use super::Instrument;
use super::id_type::IdType;

/// A set of idTypes: those whose values a caller may see. It always contains the idTypes that rows
/// show as fields ([`IdType::licensed_as`]).
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Visible {
    /// The hidden idTypes, a bit for each discriminant.
    hidden: u32,
}

impl IdType {
    /// The idType whose class holds for the values of this one; `None` for those that every row
    /// shows as fields, or that follow from its ticker: they have no class.
    ///
    /// Each `ID_CUSIP` has an `ID_CUSIP_8_CHR`, and an `ID_CINS` is an `ID_CUSIP` (contract 5.16,
    /// 5.17). So they share a class: a separate one would hide nothing.
    pub const fn licensed_as(self) -> Option<Self> {
        match self {
            Self::BbGlobal
            | Self::CompositeBbGlobal
            | Self::ShareClassBbGlobal
            | Self::Ticker
            | Self::BaseTicker
            | Self::BbUnique
            | Self::UniqueFutOpt => None,
            Self::Cusip8 | Self::Cins => Some(Self::Cusip),
            other => Some(other),
        }
    }
}

impl Visible {
    /// All idTypes: for the commands of an operator, and where nothing is hidden.
    pub const ALL: Self = Self { hidden: 0 };

    /// The bits of the idTypes that have a class.
    const LICENSED: u32 = {
        let (mut bits, mut place) = (0, 0);
        while place < IdType::ALL.len() {
            if IdType::ALL[place].licensed_as().is_some() {
                bits |= 1 << place;
            }
            place += 1;
        }
        bits
    };

    /// The set without the values of those idTypes for whose class `is_hidden` holds. It is asked
    /// for the idTypes that name a class ([`IdType::licensed_as`]).
    pub fn without(is_hidden: impl Fn(IdType) -> bool) -> Self {
        let is_hidden = |id_type: &IdType| id_type.licensed_as().is_some_and(&is_hidden);
        let hidden = IdType::ALL.into_iter().filter(is_hidden);
        Self { hidden: hidden.fold(0, |bits, id_type| bits | bit(id_type)) }
    }

    /// Whether values of the idType may be seen.
    pub fn has(self, id_type: IdType) -> bool {
        self.hidden & bit(id_type) == 0
    }

    /// Whether the values of all idTypes may be seen.
    pub fn is_all(self) -> bool {
        self.hidden == 0
    }

    /// Whether no values of the idTypes that have a class may be seen.
    pub fn is_least(self) -> bool {
        self.hidden == Self::LICENSED
    }

    /// The idTypes whose values may not be seen.
    pub fn hidden(self) -> impl Iterator<Item = IdType> {
        IdType::ALL.into_iter().filter(move |id_type| !self.has(*id_type))
    }

    /// The hidden idTypes as bits, from which [`Self::from_bits`] makes the set.
    pub fn to_bits(self) -> u32 {
        self.hidden
    }

    /// The set with these bits; `None` for bits that [`Self::to_bits`] never returns.
    pub fn from_bits(hidden: u32) -> Option<Self> {
        let is_hidden = |class: IdType| hidden & bit(class) != 0;
        Some(Self::without(is_hidden)).filter(|set| set.hidden == hidden)
    }
}

const fn bit(id_type: IdType) -> u32 {
    1 << id_type as u32
}

impl fmt::Debug for Visible {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Visible without ")?;
        f.debug_set().entries(self.hidden().map(IdType::name)).finish()
    }
}

impl Instrument {
    /// Removes the identifiers whose idTypes are hidden.
    pub fn hide(&mut self, visible: Visible) {
        self.identifiers.retain(|value| visible.has(value.id_type()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// contract 23.1, 23.2: fields of rows have no class, and the forms of a CUSIP have its class.
    #[test]
    fn a_class_covers_the_forms_of_an_identifier() {
        let all_hidden = Visible::without(|_| true);
        assert!(all_hidden.is_least() && !all_hidden.is_all() && Visible::ALL.is_all());
        for id_type in [IdType::BbGlobal, IdType::Ticker, IdType::BaseTicker, IdType::BbUnique] {
            assert!(all_hidden.has(id_type) && id_type.licensed_as().is_none(), "{id_type:?}");
        }
        let no_cusip = Visible::without(|class| class == IdType::Cusip);
        let hidden: Vec<_> = no_cusip.hidden().collect();
        assert_eq!(hidden, [IdType::Cusip, IdType::Cusip8, IdType::Cins]);
    }

    #[test]
    fn a_set_is_made_again_from_its_bits() {
        for class in IdType::ALL {
            let set = Visible::without(|other| other == class);
            assert_eq!(Visible::from_bits(set.to_bits()), Some(set));
        }
        // A field of each row, and a bit without an idType.
        assert_eq!(Visible::from_bits(bit(IdType::Ticker)), None);
        assert_eq!(Visible::from_bits(1 << 31), None);
    }
}
