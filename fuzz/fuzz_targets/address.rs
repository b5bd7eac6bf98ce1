//! Addresses of GET requests: paths, queries of `/suggest`, FIGIs of `/instruments`, keys of
//! value lists. An input that does not begin with `/` is sent as a query to `/suggest`.

#![no_main]

use figdex_fuzz::server;
use libfuzzer_sys::fuzz_target;
use warp::http::Uri;

fuzz_target!(|input: &[u8]| {
    let address = if input.starts_with(b"/") {
        String::from_utf8_lossy(input).into_owned()
    } else {
        let typed: String = input.iter().map(|byte| format!("%{byte:02X}")).collect();
        format!("/suggest?limit=50&query={typed}")
    };
    if address.parse::<Uri>().is_err() {
        return;
    }
    let answer = server::ask("GET", &address, &[], b"");
    assert!(matches!(answer.status, 200 | 304 | 400 | 404 | 405), "{} {address}", answer.status);
    if address.starts_with("/suggest?") && answer.status == 200 {
        assert!(answer.json()["data"].is_array());
    }
});
