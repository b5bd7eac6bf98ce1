//! What a compressed file holds, found by its first bytes.
//!
//! A few bytes can unpack to any number of them. One that is made for that is refused
//! after a moment: [`UNPACKED_RATIO_MAX`] bounds how much there may be, and the readers
//! hold no more of it than a record.

use std::io::{self, BufRead as _, BufReader, Read};

use bzip2::bufread::MultiBzDecoder;
use flate2::bufread::MultiGzDecoder;

use super::Meter;

/// What a file may unpack to, for each of its bytes. Samples of real dumps shrink to a
/// fourth (CSV) down to an eighteenth (JSON); one byte over and over, to a thousandth.
const UNPACKED_RATIO_MAX: u64 = 200;

/// Bytes that any file may unpack to, however small it is.
const UNPACKED_BYTES_FREE: u64 = 8 << 20;

/// Packed bytes that are read ahead, and so are counted before they are unpacked.
const PACKED_BUFFER_BYTES: usize = 64 << 10;

/// The greatest window of zstd, as a power of two: the memory that unpacking takes. It
/// is what the `zstd` command allows too.
const ZSTD_WINDOW_LOG_MAX: u32 = 27;

/// A reader of what `file` holds; `meter` is where the file's own bytes are counted.
pub(super) fn unpack(
    file: Box<dyn Read + Send>,
    meter: &Meter,
) -> io::Result<Box<dyn Read + Send>> {
    let mut packed = BufReader::with_capacity(PACKED_BUFFER_BYTES, file);
    let unpacked: Box<dyn Read + Send> = match packed.fill_buf()? {
        [0x1f, 0x8b, ..] => Box::new(MultiGzDecoder::new(packed)),
        [0x28, 0xb5, 0x2f, 0xfd, ..] => {
            let mut decoder = zstd::Decoder::with_buffer(packed)?;
            decoder.window_log_max(ZSTD_WINDOW_LOG_MAX)?;
            Box::new(decoder)
        }
        [b'B', b'Z', b'h', b'1'..=b'9', 0x31, 0x41, 0x59, 0x26, 0x53, 0x59, ..] => {
            Box::new(MultiBzDecoder::new(packed))
        }
        _ => return Ok(Box::new(packed)),
    };
    Ok(Box::new(Bounded { unpacked, bytes: 0, meter: meter.clone() }))
}

/// Unpacked bytes that may not become too many.
struct Bounded {
    unpacked: Box<dyn Read + Send>,
    bytes: u64,
    /// Of the packed bytes.
    meter: Meter,
}

impl Read for Bounded {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.unpacked.read(buffer)?;
        self.bytes += read as u64;
        if self.bytes > UNPACKED_BYTES_FREE
            && self.bytes - UNPACKED_BYTES_FREE > self.meter.bytes() * UNPACKED_RATIO_MAX
        {
            return Err(io::Error::other(format!(
                "it unpacks to more than {UNPACKED_RATIO_MAX} times its size, as no dump does; \
                 if this one is right, unpack it first"
            )));
        }
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;

    fn gz(text: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::new(6));
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    }

    /// How many bytes come out, and what ends them.
    fn unpacked(file: Vec<u8>) -> (u64, Option<String>) {
        let meter = Meter::default();
        let file = meter.measure(Box::new(io::Cursor::new(file)));
        let mut unpacked = unpack(file, &meter).unwrap();
        let (mut bytes, mut buffer) = (0, vec![0; 64 << 10]);
        loop {
            match unpacked.read(&mut buffer) {
                Ok(0) => return (bytes, None),
                Ok(read) => bytes += read as u64,
                Err(error) => return (bytes, Some(error.to_string())),
            }
        }
    }

    /// What is small may shrink as far as it likes, and what shrinks as text does may
    /// be of any size.
    #[test]
    fn a_ratio_that_no_dump_has() {
        let blank = vec![b' '; 1 << 20];
        let piece = gz(&blank);
        assert_eq!(unpacked(piece.repeat(8)), (UNPACKED_BYTES_FREE, None));
        let (bytes, fault) = unpacked(piece.repeat(1_000));
        let most = UNPACKED_BYTES_FREE + UNPACKED_RATIO_MAX * PACKED_BUFFER_BYTES as u64;
        assert!((UNPACKED_BYTES_FREE..=most).contains(&bytes), "{bytes}");
        assert!(fault.unwrap().contains("more than 200 times its size"));
        let (_, fault) = unpacked(zstd::encode_all(&blank[..], 1).unwrap().repeat(1_000));
        assert!(fault.unwrap().contains("unpack it first"));

        // A hundredth, as beyond any dump: sixteen bytes that differ in each line.
        let lines = (0_u64..2_000).map(|number| {
            let hash = number.wrapping_mul(0x9E37_79B9_7F4A_7C15);
            format!("{hash:016x}{}\n", " ".repeat(1_200))
        });
        let text = lines.collect::<String>().into_bytes();
        let piece = gz(&text);
        let ratio = text.len() / piece.len();
        assert!((50..200).contains(&ratio), "{ratio}");
        let times = 12 * (1 << 20) / text.len() + 1;
        assert_eq!(unpacked(piece.repeat(times)), ((text.len() * times) as u64, None));
        // Not packed, anything is right.
        assert_eq!(unpacked(vec![b' '; 32 << 20]), (32 << 20, None));
    }
}
