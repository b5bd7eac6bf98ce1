//! Unpacks compressed files. Their first bytes show the compression.
//!
//! A few bytes can unpack to gigabytes. [`UNPACKED_RATIO_MAX`] refuses such a file early, and the
//! readers keep only one record in memory.

use std::io::{self, BufRead as _, BufReader, Read};

use bzip2::bufread::MultiBzDecoder;
use flate2::bufread::MultiGzDecoder;

use super::Meter;

/// The most bytes that a file may unpack to for each packed byte. Samples of real dumps have
/// ratios from 4 (CSV) to 18 (JSON); a repeated byte has 1,000.
const UNPACKED_RATIO_MAX: u64 = 200;

/// The number of bytes that any file may unpack to, however small it is.
const UNPACKED_BYTES_FREE: u64 = 8 << 20;

/// Size of the buffer of packed bytes. The meter counts them before they are unpacked.
const PACKED_BUFFER_BYTES: usize = 64 << 10;

/// The largest window of zstd, as a power of two. It bounds the memory for unpacking. The `zstd`
/// command has the same limit.
const ZSTD_WINDOW_LOG_MAX: u32 = 27;

/// Whether a file of `packed` bytes may unpack to `unpacked` bytes.
pub(crate) fn is_plausible(packed: u64, unpacked: u64) -> bool {
    unpacked <= UNPACKED_BYTES_FREE + packed.saturating_mul(UNPACKED_RATIO_MAX)
}

/// A reader of the unpacked content of `file`. `meter` counts the packed bytes.
pub(crate) fn unpack(
    file: Box<dyn Read + Send>,
    meter: &Meter,
) -> io::Result<Box<dyn Read + Send>> {
    let mut packed = BufReader::with_capacity(PACKED_BUFFER_BYTES, file);
    let Some(packing) = packing(packed.fill_buf()?) else { return Ok(Box::new(packed)) };
    let unpacked: Box<dyn Read + Send> = match packing {
        Packing::Gzip => Box::new(MultiGzDecoder::new(packed)),
        Packing::Zstd => {
            let mut decoder = zstd::Decoder::with_buffer(packed)?;
            decoder.window_log_max(ZSTD_WINDOW_LOG_MAX)?;
            Box::new(decoder)
        }
        Packing::Bzip2 => Box::new(MultiBzDecoder::new(packed)),
    };
    Ok(Box::new(Bounded { packing, unpacked, bytes: 0, meter: meter.clone() }))
}

/// The compression of a file.
#[derive(Clone, Copy, Debug)]
pub(super) enum Packing {
    Gzip,
    Zstd,
    Bzip2,
}

/// The compression of a file that begins with these bytes; `None` if it is not compressed.
pub(super) fn packing(head: &[u8]) -> Option<Packing> {
    match head {
        [0x1f, 0x8b, ..] => Some(Packing::Gzip),
        [0x28, 0xb5, 0x2f, 0xfd, ..] => Some(Packing::Zstd),
        [b'B', b'Z', b'h', b'1'..=b'9', 0x31, 0x41, 0x59, 0x26, 0x53, 0x59, ..] => {
            Some(Packing::Bzip2)
        }
        _ => None,
    }
}

impl Packing {
    /// The error of a decoder, with the name of the compression, which the decoder does not give.
    /// An error of the disk, or of a file that ends too early, stays unchanged.
    fn damaged(self, error: io::Error) -> io::Error {
        if error.kind() == io::ErrorKind::UnexpectedEof || error.raw_os_error().is_some() {
            return error;
        }
        let name = match self {
            Self::Gzip => "gzip",
            Self::Zstd => "zstd",
            Self::Bzip2 => "bzip2",
        };
        let what = format!(
            "the file begins as {name} does, but its bytes are damaged ({error}): copy or download \
             it again"
        );
        io::Error::new(error.kind(), what)
    }
}

/// Unpacked bytes, with a limit.
struct Bounded {
    packing: Packing,
    unpacked: Box<dyn Read + Send>,
    bytes: u64,
    /// The meter of the packed bytes.
    meter: Meter,
}

impl Read for Bounded {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.unpacked.read(buffer).map_err(|error| self.packing.damaged(error))?;
        self.bytes += read as u64;
        if !is_plausible(self.meter.bytes(), self.bytes) {
            return Err(io::Error::other(format!(
                "the file unpacks to more than {UNPACKED_RATIO_MAX} times its size, which is \
                 implausible for a dump; if it is right, unpack it first"
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

    /// The number of unpacked bytes, and the error that ended them.
    fn unpacked(file: Vec<u8>) -> (u64, Option<String>) {
        let meter = Meter::with_checksum();
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

    /// A small file may have any ratio, and a file with the ratio of text any size.
    #[test]
    fn files_with_an_implausible_ratio_are_refused() {
        let blank = vec![b' '; 1 << 20];
        let piece = gz(&blank);
        assert_eq!(unpacked(piece.repeat(8)), (UNPACKED_BYTES_FREE, None));
        let (bytes, error) = unpacked(piece.repeat(1_000));
        let most = UNPACKED_BYTES_FREE + UNPACKED_RATIO_MAX * PACKED_BUFFER_BYTES as u64;
        assert!((UNPACKED_BYTES_FREE..=most).contains(&bytes), "{bytes}");
        assert!(error.unwrap().contains("more than 200 times its size"));
        let (_, error) = unpacked(zstd::encode_all(&blank[..], 1).unwrap().repeat(1_000));
        assert!(error.unwrap().contains("unpack it first"));

        // A ratio of about 100, more than any dump has: 16 bytes differ in each line.
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
        // A file that is not packed has no limit.
        assert_eq!(unpacked(vec![b' '; 32 << 20]), (32 << 20, None));
    }
}
