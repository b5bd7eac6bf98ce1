//! Chapter "Versioning": versions are data. One handler serves them all, and asks
//! its version where they differ.

use std::str::FromStr;

use figdex_index::{IdType, Property};

/// The first segment of a versioned path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Version {
    /// The oldest: mapping and values.
    V1,
    /// Mapping, values and search.
    V2,
    /// The current one.
    V3,
}

impl FromStr for Version {
    type Err = ();

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
    /// The segment that names it.
    pub fn name(self) -> &'static str {
        match self {
            Self::V1 => "v1",
            Self::V2 => "v2",
            Self::V3 => "v3",
        }
    }

    /// Whether the endpoint `search` exists.
    pub fn has_search(self) -> bool {
        self != Self::V1
    }

    /// Whether the endpoint `filter` exists.
    pub fn has_filter(self) -> bool {
        self == Self::V3
    }

    /// Whether the property `stateCode` exists.
    pub fn has_state_code(self) -> bool {
        self == Self::V3
    }

    /// Whether the values endpoint has a list of that property. `optionType` is no
    /// key of it in any version: the contract names its two values.
    pub fn has_values_of(self, property: Property) -> bool {
        match property {
            Property::OptionType => false,
            Property::StateCode => self.has_state_code(),
            _ => true,
        }
    }

    /// Whether a job of this version may ask by that idType.
    pub fn has_id_type(self, id_type: IdType) -> bool {
        let new = matches!(id_type, IdType::Bb8Chr | IdType::Trace | IdType::VendorIndexCode);
        !new || self == Self::V3
    }

    /// Whether securityType2, expiration and maturity are demanded where the
    /// contract calls them conditional.
    pub fn has_required_properties(self) -> bool {
        self != Self::V1
    }

    /// The key under which a mapping job says that nothing was found.
    pub fn no_match_key(self) -> &'static str {
        if self == Self::V3 { "warning" } else { "error" }
    }

    /// Whether result rows carry `uniqueID` and `uniqueIDFutOpt`.
    pub fn has_unique_ids(self) -> bool {
        self != Self::V3
    }
}
