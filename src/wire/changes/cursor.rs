//! The text of a cursor of changes: the place where a page ended (contract 19.6). Its bytes, written
//! as lower-case hexadecimal text:
//!
//! | bytes | content |
//! |---|---|
//! | 1 | version of this layout |
//! | 16 | id of the generation that the caller has |
//! | 4 | the idTypes that the caller may not see, as bits, big-endian |
//! | 16 | id of the generation up to which the changes go |
//! | 8 | its number, big-endian |
//! | 8 | its time in seconds since 1970, big-endian |
//! | 12 | the FIGI from which the next page begins |
//! | 8 | checksum of the bytes above |
//!
//! A cursor names both generations, so that a newer one that is served meanwhile changes nothing.
//! It holds no secret: a forged one only names generations by their ids, which are tokens.

use figdex_index::{Figi, GenerationId, Visible};
use figdex_io::{hex, unhex};
use jiff::Timestamp;
use sha2::{Digest as _, Sha256};

use super::Target;

/// Version of the layout.
const LAYOUT: u8 = 2;

/// A text that the checksum covers too, so that cursors of other routes are not read as these.
const ROUTE: &[u8] = b"/changes";

const CHECKSUM_BYTES: usize = 8;

const BYTES: usize = 1 + 16 + 4 + 16 + 8 + 8 + 12 + CHECKSUM_BYTES;

/// The place where a page of changes ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ChangesCursor {
    pub(super) since: GenerationId,
    /// The idTypes that the caller may see.
    pub(super) visible: Visible,
    pub(super) target: Target,
    /// The FIGI from which the next page begins.
    pub(super) first: Figi,
}

impl ChangesCursor {
    pub(super) fn encode(&self) -> String {
        let Self { since, visible, target: Target { id, number, time }, first } = self;
        let mut bytes = Vec::with_capacity(BYTES);
        bytes.push(LAYOUT);
        bytes.extend_from_slice(&since.to_bytes());
        bytes.extend_from_slice(&visible.to_bits().to_be_bytes());
        bytes.extend_from_slice(&id.to_bytes());
        bytes.extend_from_slice(&number.to_be_bytes());
        bytes.extend_from_slice(&time.as_second().to_be_bytes());
        bytes.extend_from_slice(&first.to_chars());
        bytes.extend_from_slice(&checksum(&bytes));
        debug_assert_eq!(bytes.len(), BYTES);
        hex(&bytes)
    }

    /// Decodes a cursor; `None` for any text that [`ChangesCursor::encode`] did not make.
    pub(super) fn decode(text: &str) -> Option<Self> {
        let bytes: [u8; BYTES] = unhex(text)?;
        let (content, last) = bytes.split_at(BYTES - CHECKSUM_BYTES);
        if last != checksum(content) {
            return None;
        }
        let ([LAYOUT], content) = content.split_first_chunk()? else { return None };
        let (since, content) = content.split_first_chunk()?;
        let (hidden, content) = content.split_first_chunk()?;
        let visible = Visible::from_bits(u32::from_be_bytes(*hidden))?;
        let (id, content) = content.split_first_chunk()?;
        let (number, content) = content.split_first_chunk()?;
        let (seconds, figi) = content.split_first_chunk()?;
        let target = Target {
            id: GenerationId::from_bytes(*id),
            number: u64::from_be_bytes(*number),
            time: Timestamp::from_second(i64::from_be_bytes(*seconds)).ok()?,
        };
        let first = Figi::parse(str::from_utf8(figi).ok()?).ok()?;
        Some(Self { since: GenerationId::from_bytes(*since), visible, target, first })
    }
}

fn checksum(content: &[u8]) -> [u8; CHECKSUM_BYTES] {
    let digest = Sha256::new().chain_update(ROUTE).chain_update(content).finalize();
    *digest.first_chunk().expect("a SHA-256 has 32 bytes")
}

#[cfg(test)]
mod tests {
    use figdex_index::IdType;
    use proptest::prelude::*;

    use super::*;

    fn cursor(number: u64, seconds: i64) -> ChangesCursor {
        let [since, id] = [GenerationId::random(), GenerationId::random()];
        let first = Figi::parse("BBG000BLNNH6").unwrap();
        let visible = Visible::without(|class| class == IdType::Sedol && number % 2 == 1);
        let time = Timestamp::from_second(seconds).unwrap();
        ChangesCursor { since, visible, target: Target { id, number, time }, first }
    }

    proptest! {
        /// contract 19.6: a cursor with any byte changed is invalid.
        #[test]
        fn a_changed_byte_is_noticed(at in 0..2 * BYTES, other in any::<u8>()) {
            let text = cursor(7, 1_700_000_000).encode();
            let mut bytes = text.clone().into_bytes();
            bytes[at] = other;
            if let Ok(changed) = String::from_utf8(bytes) && changed != text {
                prop_assert_eq!(ChangesCursor::decode(&changed), None);
            }
        }

        #[test]
        fn a_cursor_is_decoded_as_it_was_encoded(number: u64, seconds in 0..253_402_207_200_i64) {
            let cursor = cursor(number, seconds);
            prop_assert_eq!(ChangesCursor::decode(&cursor.encode()), Some(cursor));
        }

        #[test]
        fn any_text_is_refused(text in any::<String>()) {
            prop_assert_eq!(ChangesCursor::decode(&text), None);
        }
    }
}
