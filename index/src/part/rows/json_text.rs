//! Texts escaped as JSON strings are, without the quotes (RFC 8259, 7). The rows keep their texts
//! in this form, so that an answer copies bytes without looking at the characters (engine 5).
//! Nearly every text is the same with and without escapes.

/// Appends the escaped form of `text`.
pub(crate) fn escape(text: &str, out: &mut Vec<u8>) {
    let start = out.len();
    serde_json::to_writer(&mut *out, text).expect("writing into memory does not fail");
    out.pop();
    out.remove(start);
}

/// Decodes an escaped text; `None` when the bytes are not an escaped text.
pub(crate) fn unescape(form: &[u8]) -> Option<String> {
    serde_json::from_slice(&[b"\"", form, b"\""].concat()).ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn escaped(text: &str) -> Vec<u8> {
        let mut form = b"before".to_vec();
        escape(text, &mut form);
        form.split_off(6)
    }

    /// These bytes are part of the index format.
    #[test]
    fn characters_that_json_escapes() {
        for (text, form) in [
            ("IBM", "IBM"),
            ("", ""),
            ("a\"b\\", "a\\\"b\\\\"),
            ("\\\\", "\\\\\\\\"),
            ("/\u{8}\u{c}\n\r\t\u{1f}\u{7f}ü", "/\\b\\f\\n\\r\\t\\u001f\u{7f}ü"),
        ] {
            assert_eq!(escaped(text), form.as_bytes());
            assert_eq!(unescape(form.as_bytes()).as_deref(), Some(text));
        }
        for other in ["\"", "\n", "\\", "\\x", "\\u00", "\\ud800", "\\u000g", "\\ü", "\",\""] {
            assert_eq!(unescape(other.as_bytes()), None, "{other}");
        }
        assert_eq!(unescape(b"\xff"), None);
    }

    proptest! {
        #[test]
        fn any_text_comes_back(text in "[\\\\\"nu0-9\u{0}-\u{20}ü]{0,12}") {
            prop_assert_eq!(unescape(&escaped(&text)), Some(text));
        }
    }
}
