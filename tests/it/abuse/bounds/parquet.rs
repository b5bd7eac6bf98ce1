//! Hostile requests for the Parquet file, whose bytes are sent in pieces.

use std::fs;

use figdex_index::ParquetWriter;

use super::hostile::{Hostile, PARQUET_ROUTE};

/// The size of the file: of many pieces.
const BYTES: usize = 16 << 20;

/// Writes a file of that size. The server does not look into it.
pub(super) fn writer() -> ParquetWriter {
    ParquetWriter::new(Vec::new(), |_, path| Ok(fs::write(path, vec![b'x'; BYTES])?))
}

pub(super) fn hostile() -> Vec<Hostile> {
    let of = |generation: &str| {
        Hostile::get(PARQUET_ROUTE, &format!("/generations/{generation}/instruments.parquet"))
    };
    let mut all = vec![of("1"), of("latest"), of("2"), of(&"9".repeat(8_000))];
    all.push(of("1").named("the file, packed".to_owned()).with("Accept-Encoding: gzip\r\n"));
    for range in ["0-", "-1", "1000-15000000", "99999999-", &"0-1,".repeat(1_500)] {
        let name = format!("bytes={}", &range[..range.len().min(20)]);
        all.push(of("1").named(name).with(&format!("Range: bytes={range}\r\n")));
    }
    let tags = "\"x\",".repeat(1_500);
    for header in ["If-Match", "If-None-Match"] {
        all.push(
            of("1").named(format!("many tags, {header}")).with(&format!("{header}: {tags}\r\n")),
        );
    }
    all
}
