//! A text of a list without the characters around its identifier that a paste, an export or a
//! keyboard adds (contract 17.2).

use std::borrow::Cow;

use figdex_io::is_hidden;

/// The zero-width characters that texts from spreadsheets and web pages contain.
const ZERO_WIDTH: [char; 3] = ['\u{200b}', '\u{2060}', '\u{feff}'];

/// The quotation marks. The first one is also the mark by which a spreadsheet keeps a cell as text.
const QUOTES: [char; 14] = ['\'', '"', '`', '´', '‘', '’', '‚', '‛', '“', '”', '„', '‟', '«', '»'];

/// The full-width forms of the printable ASCII characters, and their distance from these.
const FULL_WIDTH: std::ops::RangeInclusive<char> = '！'..='～';
const FULL_WIDTH_DISTANCE: u32 = '！' as u32 - '!' as u32;

/// The text in characters of usual width, without the blanks, invisible characters and quotation
/// marks around it. Spreadsheets also write an equals sign before the quotation mark of a text.
pub fn trimmed(text: &str) -> Cow<'_, str> {
    // Most texts begin and end with a letter or a digit, and are in ASCII.
    let bytes = text.as_bytes();
    let is_bare = |end: Option<&u8>| end.is_some_and(u8::is_ascii_alphanumeric);
    if is_bare(bytes.first()) && is_bare(bytes.last()) && text.is_ascii() {
        return Cow::Borrowed(text);
    }
    if text.is_ascii() || !text.contains(is_full_width) {
        return Cow::Borrowed(bare(text));
    }
    let usual: String = text.chars().map(of_usual_width).collect();
    Cow::Owned(bare(&usual).to_owned())
}

fn is_full_width(c: char) -> bool {
    FULL_WIDTH.contains(&c)
}

fn of_usual_width(c: char) -> char {
    let usual = is_full_width(c).then(|| char::from_u32(u32::from(c) - FULL_WIDTH_DISTANCE));
    usual.flatten().unwrap_or(c)
}

fn bare(text: &str) -> &str {
    let mut rest = text.trim_start_matches(is_around);
    // An equals sign is one of these characters before a quotation mark, or before nothing else.
    while let Some(inner) = rest.strip_prefix('=')
        && (inner.starts_with(QUOTES) || inner.chars().all(is_around))
    {
        rest = inner.trim_start_matches(is_around);
    }
    rest.trim_end_matches(is_around)
}

fn is_around(c: char) -> bool {
    c.is_whitespace() || is_hidden(c) || ZERO_WIDTH.contains(&c) || QUOTES.contains(&c)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::instrument::vocabulary::Vocabulary;
    use crate::resolve::recognise::recognise;

    /// contract 17.2: each way in which files and keyboards write the same ISIN.
    #[test]
    fn characters_around_an_identifier_do_not_count() {
        for text in [
            "US0378331005",
            "\u{feff} US0378331005\u{a0}",
            "ＵＳ０３７８３３１００５",
            "　US０378331005　",
            "\"US0378331005\"",
            "‘US0378331005’",
            "“US0378331005”",
            "„US0378331005“",
            "«\u{a0}US0378331005\u{a0}»",
            "'US0378331005",
            " ' US0378331005",
            "=\"US0378331005\"",
            "\"=\"\"US0378331005\"\"\"",
            "＝＂ＵＳ０３７８３３１００５＂",
            "US0378331005\"",
        ] {
            assert_eq!(trimmed(text), "US0378331005", "{text:?}");
        }
    }

    #[test]
    fn other_characters_count() {
        for text in ["=US0378331005", "US'0378331005", "Moody's Corp", "トヨタ", "(IBM)", "", "=="]
        {
            assert_eq!(trimmed(text), text, "{text:?}");
        }
        assert_eq!(trimmed("\"\""), "");
        assert_eq!(trimmed("=\"\""), "");
        assert_eq!(trimmed("="), "");
    }

    proptest! {
        /// contract 17.2: quoting a text, once or more, changes no reading of it.
        #[test]
        fn quoting_changes_nothing(text in ".{0,24}|[A-Z0-9 =.-]{0,14}", ways in prop::collection::vec(0..8_usize, 0..4)) {
            let once = trimmed(&text).into_owned();
            prop_assert_eq!(trimmed(&once), &*once);
            let mut quoted = once.clone();
            for way in ways {
                quoted = match way {
                    0 => format!("\"{quoted}\""),
                    1 => format!("'{quoted}"),
                    2 => format!("“{quoted}”"),
                    3 => format!("«{quoted}»"),
                    4 => format!("=\"{quoted}\""),
                    5 => format!(" {quoted}\u{a0}"),
                    6 => format!("‘{quoted}’"),
                    _ => {
                        let wide = |c: char| match c {
                            '!'..='~' => char::from_u32(u32::from(c) + FULL_WIDTH_DISTANCE),
                            _ => None,
                        };
                        quoted.chars().map(|c| wide(c).unwrap_or(c)).collect()
                    }
                };
            }
            prop_assert_eq!(trimmed(&quoted), &*once, "{:?}", quoted);
            let vocabulary = Vocabulary::new([]);
            prop_assert_eq!(recognise(&quoted, &vocabulary), recognise(&once, &vocabulary));
        }
    }
}
