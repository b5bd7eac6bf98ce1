//! The names of the folders and files of a generation. A manifest may come from a stranger, so the
//! name of a file is checked twice: by its type when it is read, and again when a path is made of
//! it.

use std::fmt;
use std::path::{Component, Path, PathBuf};

use figdex_io::escaped;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::part::segment::SEGMENT;

/// The folder of the Parquet file of all instruments, in that of a generation.
pub const PARQUET: &str = "parquet";

/// The name of that file.
pub const PARQUET_FILE: &str = "instruments.parquet";

/// The name of the file with the list of tantivy's files, the only name that begins with a dot.
const MANAGED: &str = ".managed.json";

/// The most bytes of the name of a file. The longest of this version has 42.
const FILE_NAME_BYTES_MAX: usize = 100;

/// The most characters of a refused name that a message shows.
const SHOWN_CHARS_MAX: usize = 60;

/// The name of the folder of a part: `part-` and the number of the part, such as `part-007`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct PartFolder(u32);

impl PartFolder {
    /// The folder of the part with that number, from 0.
    pub(crate) fn of(number: usize) -> Self {
        Self(u32::try_from(number).expect("a generation has a few hundred parts"))
    }
}

impl fmt::Display for PartFolder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "part-{:03}", self.0)
    }
}

impl TryFrom<String> for PartFolder {
    type Error = String;

    fn try_from(name: String) -> Result<Self, String> {
        let number = name.strip_prefix("part-").and_then(|digits| digits.parse().ok());
        let folder = number.map(Self).filter(|folder| folder.to_string() == name);
        folder
            .ok_or_else(|| format!("{} is not the name of a part, such as part-007", shown(&name)))
    }
}

impl From<PartFolder> for String {
    fn from(folder: PartFolder) -> Self {
        folder.to_string()
    }
}

/// The name of a file in the folder of a part: words of letters and digits with dots between them,
/// such as `rows.texts`. A file of the segment has `segment/` before its name; there, the name
/// `.managed.json` is also allowed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct FileName(String);

impl FileName {
    /// Whether the file describes the segment, so that it is read into memory as a whole.
    pub(crate) fn is_description(&self) -> bool {
        self.0.starts_with(SEGMENT) && self.0.ends_with(".json")
    }

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for FileName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl TryFrom<String> for FileName {
    type Error = String;

    fn try_from(name: String) -> Result<Self, String> {
        let (is_of_segment, file) = match name.split_once('/') {
            Some((SEGMENT, file)) => (true, file),
            _ => (false, &*name),
        };
        let is_word =
            |word: &str| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_alphanumeric());
        let is_small = |first: u8| first.is_ascii_lowercase() || first.is_ascii_digit();
        let is_plain = file.split('.').all(is_word)
            && file.contains('.')
            && file.bytes().next().is_some_and(is_small);
        let is_known = is_plain || is_of_segment && file == MANAGED;
        match is_known && name.len() <= FILE_NAME_BYTES_MAX {
            true => Ok(Self(name)),
            false => Err(format!("{} is not the name of a file, such as rows.texts", shown(&name))),
        }
    }
}

impl From<FileName> for String {
    fn from(name: FileName) -> Self {
        name.0
    }
}

/// A name from outside for a message: quoted, escaped and bounded.
fn shown(name: &str) -> String {
    match name.char_indices().nth(SHOWN_CHARS_MAX) {
        Some((end, _)) => format!("\"{}…\"", escaped(&name[..end])),
        None => format!("\"{}\"", escaped(name)),
    }
}

/// The path of a file or folder directly in a folder.
///
/// # Errors
/// [`Error::Damaged`] unless the name is exactly one ordinary component of a path.
pub(crate) fn within(folder: &Path, name: &str) -> Result<PathBuf> {
    let mut components = Path::new(name).components();
    let is_plain = matches!(
        (components.next(), components.next()),
        (Some(Component::Normal(only)), None) if only == name
    );
    match is_plain && !name.contains('\0') {
        true => Ok(folder.join(name)),
        false => Err(Error::damaged(folder, format!("{} is not a name in a folder", shown(name)))),
    }
}

/// The path of a file below a folder. Slashes separate the components of the name.
///
/// # Errors
/// As [`within`], for each component.
pub(crate) fn below(folder: &Path, name: &str) -> Result<PathBuf> {
    name.split('/').try_fold(folder.to_owned(), |path, component| within(&path, component))
}

/// Names that may never become a path: of other folders, with characters that no name of ours has,
/// of devices, and of files that are something else.
#[cfg(test)]
pub(super) fn wicked() -> Vec<String> {
    let names = [
        "",
        " ",
        ".",
        "..",
        "...",
        "/",
        "//",
        "/x",
        "/tmp/x",
        "/dev/null",
        "/dev/stdin",
        "/proc/self/mem",
        "x/",
        "/x/",
        "x//y",
        "./x",
        "x/.",
        "../x",
        "x/..",
        "x/../../y",
        "a/b/c.d",
        "tmp/x",
        "tmp/x.y",
        "segment/../x.y",
        "segment//x.y",
        "segment/",
        "segment/x/y.z",
        "segment/..",
        "part-000/x.y",
        "\\",
        "\\x",
        "..\\x",
        "C:\\x",
        "C:",
        "\\\\host\\x",
        "x\\y.z",
        "x\0.y",
        "\0",
        "x.y\0",
        "x\n.y",
        "x.y\n",
        "\x1b[2J.x",
        "x\u{7f}.y",
        "\u{202e}x.y",
        "x y.z",
        " x.y",
        "x.y ",
        "~",
        "~root",
        "~/x.y",
        "$HOME",
        "*",
        "?.x",
        "-rf",
        "x:y.z",
        "%2e%2e",
        "..%2fx",
        "ｘ.ｙ",
        "é.x",
        ".x",
        ".x.y",
        ".bashrc",
        ".managed.json",
        "x.",
        "x..y",
        ".segment/x.y",
        "segment/.x",
        "segment/.managed.jsonx",
        "CURRENT",
        "CURRENT.new",
        "LOCK",
        "REPLICA",
        "NUL",
        "CON",
        "COM1",
        "NUL.txt",
        "aux",
        "con",
        "segment",
        "generation-000001",
        "generation-000001.new",
        "generation-000001.verified",
        "receiving-x",
        "scratch",
        "part-0",
        "part-00",
        "part-0000",
        "part--01",
        "part-+01",
        "part-1",
        "PART-000",
        "part-000 ",
        "part-4294967296",
        "part-00a",
        "part-٣٣٣",
    ];
    let long = [
        "x".repeat(200) + ".y",
        "x.".repeat(200) + "y",
        "x".repeat(1 << 20),
        "../".repeat(1 << 18),
    ];
    names.map(str::to_owned).into_iter().chain(long).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// No wicked name is a name of a part or of a file.
    #[test]
    fn wicked_names_are_refused() {
        for name in wicked() {
            let error = FileName::try_from(name.clone()).unwrap_err();
            assert!(error.len() < 400 && !error.contains(figdex_io::is_hidden), "{error}");
            let error = PartFolder::try_from(name).unwrap_err();
            assert!(error.len() < 400 && !error.contains(figdex_io::is_hidden), "{error}");
        }
    }

    #[test]
    fn names_of_a_generation() {
        for name in [
            "rows.texts",
            "numbers.contractSize.ordinals",
            "segment/.managed.json",
            "segment/meta.json",
            "segment/4bf5178750614186a66d1c58744bf869.fieldnorm",
        ] {
            assert_eq!(FileName::try_from(name.to_owned()).unwrap().as_str(), name);
        }
        for (number, name) in [(0, "part-000"), (7, "part-007"), (1234, "part-1234")] {
            assert_eq!(PartFolder::of(number).to_string(), name);
            assert_eq!(PartFolder::try_from(name.to_owned()).unwrap(), PartFolder::of(number));
        }
    }

    /// A path that is made of any name at all lies in its folder.
    #[test]
    fn paths_stay_in_their_folder() {
        let folder = Path::new("/srv/copy");
        for name in wicked() {
            for path in [within(folder, &name), below(folder, &name)].into_iter().flatten() {
                let rest = path.strip_prefix(folder).unwrap();
                let is_normal = |component| matches!(component, Component::Normal(_));
                assert!(
                    rest.components().count() > 0 && rest.components().all(is_normal),
                    "{name}"
                );
            }
            if name.contains(['/', '\0']) || ["", ".", ".."].contains(&&*name) {
                within(folder, &name).unwrap_err();
            }
        }
        assert_eq!(
            below(folder, "part-000/rows.texts").unwrap(),
            folder.join("part-000/rows.texts")
        );
        for name in ["", "/", "/x", "x/", "x//y", "..", "x/..", "../x", "x/./y", "."] {
            below(folder, name).unwrap_err();
        }
    }
}
