//! Converts text of other encodings to UTF-8.

use std::io::{self, Read};
use std::ops::Range;

use encoding_rs::{Decoder, DecoderResult, Encoding, UTF_16BE, UTF_16LE, WINDOWS_1252};

const BUFFER_BYTES: usize = 64 << 10;

/// The encoding of a text that is not UTF-8, from its first bytes, and the length of its byte order
/// mark. Without a mark, a text that begins with two ASCII characters in UTF-16 counts as UTF-16.
/// Any other text that is not UTF-8 counts as Windows-1252, which includes the printable characters
/// of Latin-1.
pub(super) fn encoding_of(head: &[u8]) -> Option<(&'static Encoding, usize)> {
    match head {
        [0xff, 0xfe, ..] => Some((UTF_16LE, 2)),
        [0xfe, 0xff, ..] => Some((UTF_16BE, 2)),
        [1..0x80, 0, 1..0x80, 0, ..] => Some((UTF_16LE, 0)),
        [0, 1..0x80, 0, 1..0x80, ..] => Some((UTF_16BE, 0)),
        _ => match str::from_utf8(head) {
            // If the error has no length, only the last character is cut off.
            Err(error) if error.error_len().is_some() => Some((WINDOWS_1252, 0)),
            _ => None,
        },
    }
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
