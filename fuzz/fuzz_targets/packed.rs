//! Compressed dumps: gzip, Zstandard, bzip2, and files that only begin like one of them.

#![no_main]

use figdex_fuzz::dump;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| dump::read(input, None));
