//! Bytes on a connection, through hyper and all deadlines: whole requests and broken ones, in
//! pieces, one after the other, with the client or the server leaving in between. The last
//! five bytes are the client's ways, so that an input begins as a request does.

#![no_main]

use figdex_fuzz::connection::{Ways, converse, framed};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    let Some((bytes, &[piece, next_piece, stop, ways, _line_feed])) = input.split_last_chunk()
    else {
        return;
    };
    // Digits and letters, so that corpus and dictionary stay readable.
    let ways = Ways {
        piece_bytes: [piece, next_piece].map(|byte| byte.wrapping_sub(b'0')),
        stops_before: (stop >= b'a').then(|| usize::from(stop - b'a')),
        shuts: ways & 1 != 0,
        reads_late: ways & 2 != 0,
        reads_never: ways & 4 != 0,
    };
    let sent = converse(bytes, ways);
    let answers = framed(&sent);
    let is_cut_off = ways.reads_late || ways.reads_never || ways.stops_before.is_some();
    for (place, answer) in answers.iter().enumerate() {
        let Some(last) = answers.len().checked_sub(1) else { break };
        assert!(matches!(answer.status, 0 | 100 | 200..500 | 503), "{} {ways:?}", answer.status);
        // The last one may be an answer to HEAD, whose body is not sent.
        let is_head = place == last && answer.body.is_empty() && answer.status != 0;
        assert!(answer.is_whole || is_head || is_cut_off && place == last, "{ways:?}");
    }
});
