//! Dumps, after a letter for the format: `a` for the first built-in format, and so on. After
//! any other byte the format is recognised. Every row is an instrument, a rejected or a skipped
//! row, up to the end or the first error.

#![no_main]

use figdex_fuzz::dump;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    let Some((choice, content)) = input.split_first() else { return };
    dump::read(content, dump::format(*choice).as_ref());
});
