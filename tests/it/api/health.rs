//! Contract 16.8: `/healthz` and `/readyz`.

use crate::support::Server;

/// contract 16.8: both answer, with `HEAD` too, and check neither Accept nor key.
#[test]
fn the_process_lives_and_an_index_is_open() {
    let server = Server::of_dump("figi\nBBG000BLNNH6\n");
    for path in ["/healthz", "/readyz"] {
        for method in ["GET", "HEAD"] {
            let answer = server.request(method, path, &[("accept", "image/png")], "");
            assert_eq!(answer.status, 200, "no gate of the contract: {method} {path}");
        }
        let answer = server.request("POST", path, &[], "");
        assert_eq!((answer.status, answer.allow.as_deref()), (405, Some("GET, HEAD")));
    }
}
