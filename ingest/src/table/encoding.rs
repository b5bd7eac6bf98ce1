//! Converts text of other encodings to UTF-8.

use std::io::{self, Read};
use std::ops::Range;

use encoding_rs::{
    Decoder, DecoderResult, Encoding, MACINTOSH, SHIFT_JIS, UTF_16BE, UTF_16LE, WINDOWS_1252,
};

use crate::source::SNIFF_BYTES;

const BUFFER_BYTES: usize = 64 << 10;

/// The encoding of a text that is not UTF-8, from its first bytes, and the length of its byte order
/// mark. Without a mark, a text that begins with two ASCII characters in UTF-16 counts as UTF-16.
/// Any other text that is not UTF-8 is Shift_JIS, Macintosh or Windows-1252, which includes the
/// printable characters of Latin-1. The page does the same (`src/site/page/shared/decode.js`).
pub(super) fn encoding_of(head: &[u8]) -> Option<(&'static Encoding, usize)> {
    match head {
        [0xff, 0xfe, ..] => Some((UTF_16LE, 2)),
        [0xfe, 0xff, ..] => Some((UTF_16BE, 2)),
        [1..0x80, 0, 1..0x80, 0, ..] => Some((UTF_16LE, 0)),
        [0, 1..0x80, 0, 1..0x80, ..] => Some((UTF_16BE, 0)),
        _ => match str::from_utf8(head) {
            // If the error has no length, only the last character is cut off.
            Err(error) if error.error_len().is_some() => Some((bytewise(head), 0)),
            _ => None,
        },
    }
}

/// The encoding of a text whose encoding has no mark and is not UTF-8.
fn bytewise(head: &[u8]) -> &'static Encoding {
    if is_shift_jis(head) {
        SHIFT_JIS
    } else if is_macintosh(head) {
        MACINTOSH
    } else {
        WINDOWS_1252
    }
}

/// Whether a text is Japanese. All pairs of bytes are valid, and most pairs are next to another
/// one, with first bytes that are signs in Windows-1252, not letters.
fn is_shift_jis(head: &[u8]) -> bool {
    let (mut at, mut japanese, mut others) = (0, 0_usize, 0_usize);
    let mut was_pair = false;
    while let Some(first) = head.get(at) {
        at += 1;
        let is_pair = match first {
            // The user's own characters, at 0xF0 to 0xF9, are of no file that others read.
            0x80 | 0xa0 | 0xf0..=0xff => return false,
            0x81..=0x9f | 0xe0..=0xef => {
                let Some(second) = head.get(at) else {
                    // The head of a longer file may end inside of a character.
                    if head.len() >= SNIFF_BYTES {
                        at -= 1;
                    }
                    break;
                };
                if !matches!(second, 0x40..=0x7e | 0x80..=0xfc) {
                    return false;
                }
                at += 1;
                let is_sign = *first < 0xa0;
                japanese += usize::from(is_sign && was_pair);
                others += usize::from(!is_sign);
                is_sign
            }
            _ => false,
        };
        was_pair = is_pair;
    }
    japanese > others
        && SHIFT_JIS.decode_without_bom_handling_and_without_replacement(&head[..at]).is_some()
}

/// Whether a text is of an old Macintosh: more of its letters would be signs in the middle of a
/// word in Windows-1252 than the other way round.
fn is_macintosh(head: &[u8]) -> bool {
    let (mut own, mut others) = (0_usize, 0_usize);
    for pair in head.windows(2) {
        let [before, byte] = pair else { continue };
        if !before.is_ascii_alphabetic() {
            continue;
        }
        match byte {
            // Not the signs that end a word in Windows-1252: euro, dots, daggers, quotes, dashes.
            0x81..=0x84 | 0x88..=0x90 | 0x95 | 0x98 | 0x9a..=0x9f => own += 1,
            0xc0..=0xff => others += 1,
            _ => {}
        }
    }
    own > others
}

/// A reader of the same text in UTF-8.
pub(super) fn converted(
    input: Box<dyn Read + Send>,
    encoding: &'static Encoding,
) -> impl Read + Send {
    let decoder = encoding.new_decoder_without_bom_handling();
    Converted {
        input,
        name: encoding.name(),
        decoder,
        bytes: vec![0; BUFFER_BYTES],
        bytes_left: 0..0,
        text: vec![0; BUFFER_BYTES],
        text_left: 0..0,
        stage: Stage::Reading,
    }
}

struct Converted {
    input: Box<dyn Read + Send>,
    name: &'static str,
    decoder: Decoder,
    bytes: Vec<u8>,
    /// The bytes that are not yet decoded.
    bytes_left: Range<usize>,
    text: Vec<u8>,
    /// The text that is not yet returned.
    text_left: Range<usize>,
    stage: Stage,
}

#[derive(PartialEq, Eq)]
enum Stage {
    Reading,
    /// All bytes were read, and some are not yet decoded.
    Ending,
    Over,
}

impl Converted {
    /// Decodes more input, until there is some text or the input ends.
    fn decode(&mut self) -> io::Result<()> {
        while self.text_left.is_empty() && self.stage != Stage::Over {
            if self.bytes_left.is_empty() && self.stage == Stage::Reading {
                let read = self.input.read(&mut self.bytes)?;
                self.bytes_left = 0..read;
                if read == 0 {
                    self.stage = Stage::Ending;
                }
            }
            let (result, read, written) = self.decoder.decode_to_utf8_without_replacement(
                &self.bytes[self.bytes_left.clone()],
                &mut self.text,
                self.stage == Stage::Ending,
            );
            self.bytes_left.start += read;
            self.text_left = 0..written;
            match result {
                DecoderResult::InputEmpty if self.stage == Stage::Ending => {
                    self.stage = Stage::Over;
                }
                DecoderResult::InputEmpty | DecoderResult::OutputFull => {}
                DecoderResult::Malformed(..) => {
                    let what = format!("the text is not valid {}", self.name);
                    return Err(io::Error::new(io::ErrorKind::InvalidData, what));
                }
            }
        }
        Ok(())
    }
}

impl Read for Converted {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.decode()?;
        let text = &self.text[self.text_left.clone()];
        let taken = text.len().min(buffer.len());
        buffer[..taken].copy_from_slice(&text[..taken]);
        self.text_left.start += taken;
        Ok(taken)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The head of a long file may end inside of a character, or behind one.
    #[test]
    fn a_japanese_head_may_be_cut_anywhere() {
        for start in ["", "a"] {
            let text = format!("{start}{}", "銘柄コード、".repeat(6_000));
            let (bytes, ..) = SHIFT_JIS.encode(&text);
            assert_eq!(encoding_of(&bytes[..SNIFF_BYTES]), Some((SHIFT_JIS, 0)), "{start:?}");
        }
        // A short file that ends inside of a character is not Japanese.
        let (bytes, ..) = SHIFT_JIS.encode("銘柄コード");
        assert_ne!(encoding_of(&bytes[..bytes.len() - 1]), Some((SHIFT_JIS, 0)));
    }
}
