//! Dumps, after a letter for the format: `a` for the first that ships, and so on; with any
//! other byte it is recognised. Every row is an instrument, rejected or skipped, until the
//! end or an error.

#![no_main]

use figdex_fuzz::dump;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    let Some((choice, content)) = input.split_first() else { return };
    dump::read(content, dump::format(*choice).as_ref());
});
