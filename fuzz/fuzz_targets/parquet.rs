//! Parquet files. The parquet crate may panic on a damaged file; the reader must contain the
//! panic and report a fault of the file. A panic that leaves the reader ends the run.

#![no_main]

use std::panic;

use figdex_fuzz::dump;
use libfuzzer_sys::fuzz_target;

fuzz_target!(
    // libFuzzer's hook would end the run at a contained panic too.
    init: drop(panic::take_hook()),
    |input: &[u8]| {
        let parquet = "parquet".parse().expect("a built-in format");
        dump::read(input, Some(&parquet));
    }
);
