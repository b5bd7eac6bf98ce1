//! Bytes as lower-case hexadecimal text, and back: checksums, cursors, key hashes.

/// The hexadecimal text of `bytes`, two digits each.
pub fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digit = |half: u8| char::from(DIGITS[usize::from(half)]);
    let mut text = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        text.extend([digit(byte >> 4), digit(byte & 0xf)]);
    }
    text
}

/// The `COUNT` bytes of a text that [`hex`] made; `None` for any other text. Upper case is
/// refused as well, so that each sequence of bytes has exactly one text.
pub fn unhex<const COUNT: usize>(text: &str) -> Option<[u8; COUNT]> {
    let (pairs, rest) = text.as_bytes().as_chunks::<2>();
    if pairs.len() != COUNT || !rest.is_empty() {
        return None;
    }
    let mut bytes = [0; COUNT];
    for (byte, [high, low]) in bytes.iter_mut().zip(pairs) {
        *byte = digit(*high)? << 4 | digit(*low)?;
    }
    Some(bytes)
}

fn digit(character: u8) -> Option<u8> {
    match character {
        b'0'..=b'9' => Some(character - b'0'),
        b'a'..=b'f' => Some(character - b'a' + 10),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn bytes_have_one_text() {
        assert_eq!(hex(&[0, 0xaf, 9]), "00af09");
        assert_eq!(unhex("00af09"), Some([0, 0xaf, 9]));
        for text in ["", "00af0", "00af0909", "00AF09", "00af0g", " 0af09", "0ü0f0"] {
            assert_eq!(unhex::<3>(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn round_trip(bytes in any::<[u8; 8]>()) {
            prop_assert_eq!(unhex(&hex(&bytes)), Some(bytes));
        }
    }
}
