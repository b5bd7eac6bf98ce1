//! Parquet files. The library may panic over a damaged one, which the reader contains and
//! tells as a fault of the file; what gets out of the reader ends the run.

#![no_main]

use std::panic;

use figdex_fuzz::dump;
use libfuzzer_sys::fuzz_target;

fuzz_target!(
    // The hook ends the run at every panic, also at one that is contained.
    init: drop(panic::take_hook()),
    |input: &[u8]| {
        let parquet = "parquet".parse().expect("a format that ships");
        dump::read(input, Some(&parquet));
    }
);
