//! The identity of a generation: random bytes that its build draws. A number does not identify a
//! generation, because an index that was removed is numbered from 1 again, and object storage
//! numbers by itself. The id stays with the generation wherever it is published or copied.

use std::fmt;
use std::str::FromStr;

use figdex_io::{hex, unhex};
use serde::{Deserialize, Serialize};

/// The bytes of an id.
const BYTES: usize = 16;

/// The id of a generation. As text, which clients call a token: 32 hexadecimal digits in lower
/// case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct GenerationId([u8; BYTES]);

/// The text is not the id of a generation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("it is not a token: 32 hexadecimal digits in lower case are expected")]
pub struct GenerationIdError;

impl GenerationId {
    /// A new id.
    ///
    /// # Panics
    /// When the system has no random numbers.
    pub fn random() -> Self {
        let mut random = [0; BYTES];
        getrandom::fill(&mut random).expect("the system has random numbers");
        Self(random)
    }

    /// The id with these bytes.
    pub fn from_bytes(bytes: [u8; BYTES]) -> Self {
        Self(bytes)
    }

    /// Its bytes.
    pub fn to_bytes(self) -> [u8; BYTES] {
        self.0
    }
}

impl fmt::Display for GenerationId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex(&self.0))
    }
}

impl FromStr for GenerationId {
    type Err = GenerationIdError;

    fn from_str(text: &str) -> Result<Self, GenerationIdError> {
        unhex(text).map(Self).ok_or(GenerationIdError)
    }
}

impl TryFrom<String> for GenerationId {
    type Error = GenerationIdError;

    fn try_from(text: String) -> Result<Self, GenerationIdError> {
        text.parse()
    }
}

impl From<GenerationId> for String {
    fn from(id: GenerationId) -> Self {
        id.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_one_form_is_an_id() {
        let id = GenerationId::random();
        assert_eq!(id.to_string().parse(), Ok(id));
        assert_ne!(GenerationId::random(), id);
        let (upper, short) = ("A".repeat(32), "0".repeat(31));
        for text in ["", "x", &*upper, &*short, "../../../../../../../../etc/passw"] {
            assert_eq!(text.parse::<GenerationId>(), Err(GenerationIdError), "{text}");
        }
    }
}
