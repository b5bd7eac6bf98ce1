//! The names of objects. Names in a bucket may come from a stranger. So each is parsed into a type
//! that can hold only names of Figdex, and is formatted from that type again.

use std::fmt;
use std::str::FromStr;

use figdex_io::{hex, unhex};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

pub(crate) const CURRENT: &str = "CURRENT";
pub(crate) const LEASE: &str = "LEASE";
const CONTENTS: &str = "contents.json";
const PATCHES: &str = "patches.json";
const PREFIX: &str = "generation-";
const NOTES: &str = "replicas/";
const NOTE_SUFFIX: &str = ".json";

/// The most characters of the machine's name in the name of a replica.
const HOST_CHARS_MAX: usize = 40;

/// The largest number of a generation. Every smaller number has a successor.
pub(crate) const NUMBER_MAX: u64 = 999_999_999_999;

/// The name of a generation: its number and random digits, so that no two publishers choose the
/// same name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub(crate) struct GenerationName {
    pub(crate) number: u64,
    random: [u8; 8],
}

impl GenerationName {
    /// A new name for a generation with that number.
    pub(crate) fn new(number: u64) -> Self {
        let mut random = [0; 8];
        getrandom::fill(&mut random).expect("the system has random numbers");
        Self { number, random }
    }

    /// The name of the contents of the generation.
    pub(crate) fn contents(self) -> String {
        format!("{self}/{CONTENTS}")
    }

    /// The name of the list of the generation's patches.
    pub(crate) fn patches(self) -> String {
        format!("{self}/{PATCHES}")
    }
}

impl fmt::Display for GenerationName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{PREFIX}{:06}-{}", self.number, hex(&self.random))
    }
}

impl FromStr for GenerationName {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, &'static str> {
        let parsed = || {
            let (digits, random) = text.strip_prefix(PREFIX)?.split_once('-')?;
            let number = digits.parse().ok().filter(|number| *number <= NUMBER_MAX)?;
            let name = Self { number, random: unhex(random)? };
            // A number has one form: without a sign and without extra zeros.
            (name.to_string() == text).then_some(name)
        };
        parsed()
            .ok_or("it is not the name of a generation, such as generation-000007-5f3c0a9be1d24c86")
    }
}

impl TryFrom<String> for GenerationName {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, &'static str> {
        text.parse()
    }
}

impl From<GenerationName> for String {
    fn from(name: GenerationName) -> Self {
        name.to_string()
    }
}

/// The SHA-256 of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub(crate) struct Checksum([u8; 32]);

impl Checksum {
    pub(crate) fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }
}

impl fmt::Display for Checksum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex(&self.0))
    }
}

impl TryFrom<String> for Checksum {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, &'static str> {
        unhex(&text).map(Self).ok_or("it is not a checksum, 64 hexadecimal digits")
    }
}

impl From<Checksum> for String {
    fn from(checksum: Checksum) -> Self {
        checksum.to_string()
    }
}

/// The name of a piece: the generation that it was sent for, and its checksum.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct PieceName {
    pub(crate) generation: GenerationName,
    pub(crate) sha256: Checksum,
}

impl fmt::Display for PieceName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.generation, self.sha256)
    }
}

/// The name of a replica: its machine and random digits, since a machine may have several replicas.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ReplicaName(String);

impl ReplicaName {
    /// The name of a replica on a host. The domain is left out.
    pub(crate) fn new(host: &str, random: [u8; 4]) -> Self {
        let label = host.split('.').next().unwrap_or_default().chars().take(HOST_CHARS_MAX);
        let label = label.map(|char| if char.is_ascii_alphanumeric() { char } else { '-' });
        let label: String = label.collect();
        let label = if label.is_empty() { "unnamed" } else { &label };
        Self(format!("{label}-{}", hex(&random)))
    }

    /// The replica with a note of that name.
    pub(crate) fn of_note(key: &str) -> Option<Self> {
        let name = key.strip_prefix(NOTES)?.strip_suffix(NOTE_SUFFIX)?;
        let (label, random) = name.rsplit_once('-')?;
        let formed = Self::new(label, unhex(random)?);
        (formed.0 == name).then_some(formed)
    }

    /// The name of the replica's note.
    pub(crate) fn note(&self) -> String {
        format!("{NOTES}{self}{NOTE_SUFFIX}")
    }
}

impl fmt::Display for ReplicaName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The kind of an object below the address, from its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// The contents of a generation.
    Contents(GenerationName),
    /// The list of the patches of a generation.
    Patches(GenerationName),
    /// A piece of a file, or a patch.
    Piece(PieceName),
}

impl Kind {
    /// The kind of the object with that name; `None` for an object that does not belong to a
    /// generation, which is left alone.
    pub(crate) fn of(key: &str) -> Option<Self> {
        let (name, rest) = key.split_once('/')?;
        let generation = name.parse().ok()?;
        match rest {
            CONTENTS => Some(Self::Contents(generation)),
            PATCHES => Some(Self::Patches(generation)),
            _ => Some(Self::Piece(PieceName { generation, sha256: Checksum(unhex(rest)?) })),
        }
    }

    /// The name of a piece; `None` for other names.
    pub(crate) fn piece(key: &str) -> Option<PieceName> {
        match Self::of(key)? {
            Self::Piece(piece) => Some(piece),
            Self::Contents(_) | Self::Patches(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Only names that this program forms are its own, and may be removed.
    #[test]
    fn names() {
        let name = GenerationName::new(7);
        assert_eq!(name.to_string().parse(), Ok(name));
        assert_ne!(GenerationName::new(7), name);
        for number in [0, 1_234_567, NUMBER_MAX] {
            let name = GenerationName::new(number);
            assert_eq!(name.to_string().parse(), Ok(name));
        }
        let piece = PieceName { generation: name, sha256: Checksum::of(b"x") };
        assert_eq!(Kind::of(&piece.to_string()), Some(Kind::Piece(piece)));
        assert_eq!(Kind::of(&name.contents()), Some(Kind::Contents(name)));
        assert_eq!(Kind::of(&name.patches()), Some(Kind::Patches(name)));
        assert_eq!(Kind::piece(&name.contents()), None);
        assert_eq!(Kind::piece(&name.patches()), None);
    }

    /// Every host name gives a replica a valid name. Only the key of a note gives a replica back.
    #[test]
    fn names_of_replicas() {
        let long = "x".repeat(1000);
        for (host, name) in [
            ("figdex-0", "figdex-0-0123abcd"),
            ("Ham.example.com", "Ham-0123abcd"),
            ("", "unnamed-0123abcd"),
            (".", "unnamed-0123abcd"),
            ("../\0ü", "unnamed-0123abcd"),
            ("a/b_ü", "a-b---0123abcd"),
            (&long, &format!("{}-0123abcd", &long[..HOST_CHARS_MAX])),
        ] {
            let formed = ReplicaName::new(host, [0x01, 0x23, 0xab, 0xcd]);
            assert_eq!(formed.to_string(), name);
            assert_eq!(ReplicaName::of_note(&formed.note()), Some(formed.clone()));
            // Earlier versions leave it alone.
            assert_eq!(Kind::of(&formed.note()), None);
        }
        for name in [
            "",
            "-0123abcd",
            "0123abcd",
            "a-0123abc",
            "a-0123abcD",
            "a-0123abcd.json",
            "a/b-0123abcd",
            "../a-0123abcd",
            "a.b-0123abcd",
            "a\n-0123abcd",
            "ü-0123abcd",
            &format!("{long}-0123abcd"),
        ] {
            assert_eq!(ReplicaName::of_note(&format!("{NOTES}{name}.json")), None, "{name:?}");
        }
        for key in ["CURRENT", "a-0123abcd", "replicas/a-0123abcd", "x/replicas/a-0123abcd.json"] {
            assert_eq!(ReplicaName::of_note(key), None, "{key:?}");
        }
    }

    /// No other name is one of ours, for a generation, its contents, a piece or a checksum.
    #[test]
    fn wicked_names_are_of_nothing() {
        let good = "generation-000007-0123456789abcdef";
        let piece = format!("{good}/{}", Checksum::of(b"x"));
        let mut names: Vec<String> = [
            "",
            "/",
            ".",
            "..",
            "../x",
            "/tmp/x",
            "tmp/x",
            "\\",
            "C:\\x",
            "\0",
            "\n",
            "CURRENT",
            "LEASE",
            "LOCK",
            "NUL",
            ".hidden",
            "generation-",
            "generation--",
            "generation-000007",
            "generation-000007-",
            "generation-7-0123456789abcdef",
            "generation-+00007-0123456789abcdef",
            "generation-0000007-0123456789abcdef",
            "generation--00007-0123456789abcdef",
            "generation-000007-0123456789abcdeF",
            "generation-000007-0123456789abcde",
            "generation-000007-0123456789abcdef0",
            "generation-000007-0123456789abcdef/",
            "generation-000007-0123456789abcdef/..",
            "generation-000007-../../../../x",
            "generation-000007-0123456789abcdef\0",
            "generation-000007-0123456789abcdef\n",
            " generation-000007-0123456789abcdef",
            "generation-1000000000000-0123456789abcdef",
            "generation-18446744073709551615-0123456789abcdef",
            "generation-18446744073709551616-0123456789abcdef",
            "generation-00000٧-0123456789abcdef",
            "backup/generation-000007-0123456789abcdef",
        ]
        .map(str::to_owned)
        .into();
        names.extend([piece.to_uppercase(), "x".repeat(1 << 20), "../".repeat(1 << 18)]);
        for name in &names {
            assert!(name.parse::<GenerationName>().is_err(), "{name:?}");
            assert!(Checksum::try_from(name.clone()).is_err(), "{name:?}");
            assert_eq!(Kind::of(name), None, "{name:?}");
            assert_eq!(Kind::of(&format!("{name}/contents.json")), None, "{name:?}");
            assert_eq!(Kind::of(&format!("{name}/{}", &piece[good.len() + 1..])), None, "{name:?}");
            assert_eq!(Kind::of(&format!("{good}/{name}")), None, "{name:?}");
        }
        for rest in
            ["notes", "x/contents.json", "contents.json/", "contents.json\0", "contents.jsonx"]
        {
            assert_eq!(Kind::of(&format!("{good}/{rest}")), None, "{rest:?}");
        }
        assert_eq!(Kind::of(&format!("{piece}0")), None);
    }
}
