//! The versions of the interface and their differences (contract 1). One handler serves all
//! versions, and asks this module about the differences.

use std::str::FromStr;

use figdex_index::{IdType, Property};

/// The first segment of a versioned path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Version {
    /// The oldest version: mapping and values.
    V1,
    /// Mapping, values and search.
    V2,
    /// The current version: mapping, values, search and filter.
    V3,
}

impl FromStr for Version {
    type Err = ();

    /// Parses the segment of a path.
    fn from_str(segment: &str) -> Result<Self, ()> {
        match segment {
            "v1" => Ok(Self::V1),
            "v2" => Ok(Self::V2),
            "v3" => Ok(Self::V3),
            _ => Err(()),
        }
    }
}

impl Version {
    /// Its segment in a path.
    pub fn name(self) -> &'static str {
        match self {
            Self::V1 => "v1",
            Self::V2 => "v2",
            Self::V3 => "v3",
        }
    }

    /// Whether the endpoint `search` exists (contract 1.4).
    pub fn has_search(self) -> bool {
        self != Self::V1
    }

    /// Whether the endpoint `filter` exists (contract 1.5).
    pub fn has_filter(self) -> bool {
        self == Self::V3
    }

    /// Whether the property `stateCode` exists (contract 1.6).
    pub fn has_state_code(self) -> bool {
        self == Self::V3
    }

    /// Whether the values endpoint lists the values of a property (contract 7.1, 7.2). No version
    /// lists the two fixed values of `optionType`.
    pub fn has_values_of(self, property: Property) -> bool {
        match property {
            Property::OptionType => false,
            Property::StateCode => self.has_state_code(),
            _ => true,
        }
    }

    /// Whether mapping jobs may have this idType (contract 1.7).
    pub fn has_id_type(self, id_type: IdType) -> bool {
        let new = matches!(id_type, IdType::Bb8Chr | IdType::Trace | IdType::VendorIndexCode);
        !new || self == Self::V3
    }

    /// Whether the conditional properties of mapping jobs are required (contract 1.8).
    pub fn has_required_properties(self) -> bool {
        self != Self::V1
    }

    /// The member of a mapping job's result when nothing was found (contract 4.5).
    pub fn no_match_key(self) -> &'static str {
        if self == Self::V3 { "warning" } else { "error" }
    }

    /// Whether rows have `uniqueID` and `uniqueIDFutOpt` (contract 12.5).
    pub fn has_unique_ids(self) -> bool {
        self != Self::V3
    }
}
