//! Texts as they stand between the quotes of a JSON string (RFC 8259, 7). The rows keep
//! theirs so: an answer then copies bytes, and neither looks at each character nor asks
//! whether it is UTF-8. Nearly every text is the same in both forms.

/// Appends the form of `text`, as serde_json writes it.
pub(crate) fn escape(text: &str, out: &mut Vec<u8>) {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    for &byte in text.as_bytes() {
        match byte {
            b'"' | b'\\' => out.extend_from_slice(&[b'\\', byte]),
            0x08 => out.extend_from_slice(b"\\b"),
            0x0c => out.extend_from_slice(b"\\f"),
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\r' => out.extend_from_slice(b"\\r"),
            b'\t' => out.extend_from_slice(b"\\t"),
            0..0x20 => {
                out.extend_from_slice(b"\\u00");
                out.push(HEX[usize::from(byte >> 4)]);
                out.push(HEX[usize::from(byte & 0xf)]);
            }
            _ => out.push(byte),
        }
    }
}

/// Whether these bytes can stand between the quotes of a JSON string, and be read by
/// [`unescape`].
pub(crate) fn is_form(form: &[u8]) -> bool {
    let Ok(form) = str::from_utf8(form) else { return false };
    let mut rest = form.bytes();
    while let Some(byte) = rest.next() {
        match byte {
            b'"' | 0..0x20 => return false,
            b'\\' => match rest.next() {
                Some(b'"' | b'\\' | b'b' | b'f' | b'n' | b'r' | b't') => {}
                Some(b'u') => {
                    let is_control = rest.next() == Some(b'0')
                        && rest.next() == Some(b'0')
                        && matches!(rest.next(), Some(b'0' | b'1'))
                        && rest.next().is_some_and(|digit| digit.is_ascii_hexdigit());
                    if !is_control {
                        return false;
                    }
                }
                _ => return false,
            },
            _ => {}
        }
    }
    true
}

/// The text whose form [`escape`] made.
///
/// # Panics
/// When it is none that [`escape`] made.
pub(crate) fn unescape(form: &[u8]) -> String {
    let form = str::from_utf8(form).expect("the form of a text is UTF-8");
    let mut text = String::with_capacity(form.len());
    let mut pieces = form.split('\\');
    text.extend(pieces.next());
    while let Some(piece) = pieces.next() {
        let mut characters = piece.chars();
        match characters.next() {
            // What follows an escaped backslash begins the next piece.
            None => {
                text.push('\\');
                text.extend(pieces.next());
                continue;
            }
            Some('b') => text.push('\u{8}'),
            Some('f') => text.push('\u{c}'),
            Some('n') => text.push('\n'),
            Some('r') => text.push('\r'),
            Some('t') => text.push('\t'),
            Some('u') => {
                let (code, after) = piece[1..].split_at(4);
                let code = u32::from_str_radix(code, 16).ok().and_then(char::from_u32);
                text.push(code.expect("the code of a control character"));
                characters = after.chars();
            }
            Some(other) => text.push(other),
        }
        text.push_str(characters.as_str());
    }
    text
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn escaped(text: &str) -> Vec<u8> {
        let mut form = Vec::new();
        escape(text, &mut form);
        form
    }

    #[test]
    fn what_json_cannot_hold_is_escaped() {
        for (text, form) in [
            ("IBM", "IBM"),
            ("", ""),
            ("a\"b\\", "a\\\"b\\\\"),
            ("\\\\", "\\\\\\\\"),
            ("\u{8}\u{c}\n\r\t\u{1f}\u{7f}ü", "\\b\\f\\n\\r\\t\\u001f\u{7f}ü"),
        ] {
            assert_eq!(escaped(text), form.as_bytes());
            assert_eq!(unescape(form.as_bytes()), text);
            assert!(is_form(form.as_bytes()), "{form}");
        }
        for other in ["\"", "\n", "\\", "\\x", "\\u00", "\\u0020", "\\u000g", "\\ü"] {
            assert!(!is_form(other.as_bytes()), "{other}");
        }
        assert!(!is_form(b"\xff"));
    }

    proptest! {
        #[test]
        fn any_text_comes_back(text in "[\\\\\"nu0-9\u{0}-\u{20}ü]{0,12}") {
            prop_assert_eq!(unescape(&escaped(&text)), text);
        }
    }
}
