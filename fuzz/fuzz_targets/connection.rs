//! Bytes on a connection, through hyper and all deadlines: valid and broken requests, in
//! pieces, several on one connection, with the client or the server leaving in between. The
//! last five bytes say how the client sends and reads, so that an input begins as a request.

#![no_main]

use figdex_fuzz::connection::{Behaviour, exchange, split_answers};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    let Some((bytes, &[piece, next_piece, stop, behaviour, _line_feed])) = input.split_last_chunk()
    else {
        return;
    };
    // Digits and letters, which are readable in the corpus and the dictionary.
    let behaviour = Behaviour {
        piece_bytes: [piece, next_piece].map(|byte| byte.wrapping_sub(b'0')),
        stops_before: (stop >= b'a').then(|| usize::from(stop - b'a')),
        shuts: behaviour & 1 != 0,
        reads_late: behaviour & 2 != 0,
        reads_never: behaviour & 4 != 0,
    };
    let sent = exchange(bytes, behaviour);
    let answers = split_answers(&sent);
    let is_cut_off =
        behaviour.reads_late || behaviour.reads_never || behaviour.stops_before.is_some();
    for (place, answer) in answers.iter().enumerate() {
        let Some(last) = answers.len().checked_sub(1) else { break };
        assert!(
            matches!(answer.status, 0 | 100 | 200..500 | 503),
            "{} {behaviour:?}",
            answer.status
        );
        // The last one may be an answer to HEAD, whose body is not sent.
        let is_head = place == last && answer.body.is_empty() && answer.status != 0;
        assert!(answer.is_whole || is_head || is_cut_off && place == last, "{behaviour:?}");
    }
});
