//! contract 13 and 14: the order of checks and the rates, for every endpoint, and the
//! answer of an endpoint that fails.

use std::net::Ipv4Addr;

use figdex_index::Catalogue;
use figdex_ingest::{Build, Input};
use warp::Filter as _;

use warp::http::HeaderMap;

use super::call::incoming;
use super::*;
use crate::callers::limits::Rates;
use crate::callers::{Caller, Peer};
use crate::config::Settings;

fn state(settings: Settings) -> State {
    let folder = tempfile::tempdir().unwrap();
    let index = folder.path().join("index");
    let dump = Input::Memory("dump", b"figi\nBBG000BLNNH6\n".as_slice().into());
    Build::new(vec![dump], &index).run(&mut |_| {}).unwrap();
    State::new(Catalogue::open(&index).unwrap(), settings)
}

fn limited() -> Settings {
    Settings { rates: Some(Rates::default()), ..Settings::default() }
}

async fn ask(
    state: &State,
    action: Action,
    endpoint: impl AsyncFnOnce(Call) -> Result<Vec<u8>, ApiError>,
) -> Response {
    let request = warp::test::request().method(action.method().as_str());
    let request = request.header("content-type", "application/json");
    let request = request.filter(&incoming().map(Some)).await.unwrap().unwrap();
    pass(state, request, action, endpoint).await
}

fn header(reply: &Response, name: &str) -> Option<String> {
    Some(reply.headers().get(name)?.to_str().unwrap().to_owned())
}

async fn fine(_: Call) -> Result<Vec<u8>, ApiError> {
    Ok(b"{}".to_vec())
}

/// contract 14.4 to 14.7: mapping and values share a window; search and filter share another; the
/// total of v2 spans mapping, values and search; versions have separate windows.
#[tokio::test]
async fn endpoints_that_share_a_window() {
    use Action::{Filter, Mapping, Search, Values};
    use Version::{V1, V2, V3};
    let state = state(limited());
    for (action, remaining) in [
        (Mapping(V3), "24"),
        (Values(V3), "23"),
        (Search(V3), "4"),
        (Filter(V3), "3"),
        (Mapping(V3), "22"),
        (Mapping(V2), "4"),
        (Values(V2), "3"),
        (Search(V2), "2"),
        (Search(V2), "1"),
        (Values(V1), "4"),
        (Mapping(V1), "3"),
        (Mapping(V2), "0"),
    ] {
        let reply = ask(&state, action, fine).await;
        assert_eq!(reply.status(), 200);
        assert_eq!(header(&reply, "ratelimit-remaining").as_deref(), Some(remaining), "{action:?}");
    }
    for action in [Mapping(V2), Values(V2), Search(V2)] {
        let reply = ask(&state, action, fine).await;
        assert_eq!(reply.status(), 429);
        assert_eq!(header(&reply, "ratelimit-policy").as_deref(), Some("5;w=60"));
    }
}

/// contract 13.10, 13.11, 14.14: a panic is 500 and a lack of resources 503. Both were counted,
/// and neither affects the next request.
#[tokio::test]
async fn endpoints_that_fail() {
    let state = state(limited());
    let action = Action::Mapping(Version::V3);
    let reply = ask(&state, action, async |_| panic!("a test's")).await;
    assert_eq!(
        (reply.status().as_u16(), header(&reply, "ratelimit-remaining").unwrap()),
        (500, "24".into())
    );
    let heavy =
        async |_: Call| state.pools().answers.run(Caller::Socket, || panic!("a test's")).await;
    let reply = ask(&state, action, heavy).await;
    assert_eq!(
        (reply.status().as_u16(), header(&reply, "ratelimit-remaining").unwrap()),
        (500, "23".into())
    );
    let reply = ask(&state, action, async |_| Err(ApiError::Unavailable)).await;
    assert_eq!(
        (reply.status().as_u16(), header(&reply, "ratelimit-remaining").unwrap()),
        (503, "22".into())
    );
    let reply = ask(&state, action, fine).await;
    assert_eq!(
        (reply.status().as_u16(), header(&reply, "ratelimit-remaining").unwrap()),
        (200, "21".into())
    );
}

/// contract 14.2, 14.3: a caller without a key is an address; with `--trust-proxy` it is the last
/// one of X-Forwarded-For, or the peer's when that is not an address.
#[test]
fn the_address_behind_a_proxy() {
    let peer = Peer::Address(Ipv4Addr::new(192, 0, 2, 1).into());
    for (lines, forwarded) in [
        (&[][..], None),
        (&["203.0.113.9"][..], Some("203.0.113.9")),
        (&["198.51.100.1, 203.0.113.9"], Some("203.0.113.9")),
        (&["198.51.100.1", "203.0.113.9 "], Some("203.0.113.9")),
        (&["203.0.113.9:4711"], Some("203.0.113.9")),
        (&["2001:db8::1"], Some("2001:db8::1")),
        (&["[2001:db8::1]"], Some("2001:db8::1")),
        (&["[2001:db8::1]:4711"], Some("2001:db8::1")),
        (&["203.0.113.9, unknown"], None),
        (&["203.0.113.9,"], None),
        (&[""], None),
    ] {
        let mut headers = HeaderMap::new();
        for line in lines {
            headers.append("x-forwarded-for", line.parse().unwrap());
        }
        for peer in [peer, Peer::Socket] {
            let expected =
                forwarded.map_or(Caller::of(peer), |address| Caller::at(address.parse().unwrap()));
            assert_eq!(Caller::without_key(peer, &headers, true), expected, "{lines:?}");
            assert_eq!(Caller::without_key(peer, &headers, false), Caller::of(peer), "{lines:?}");
        }
    }
}
