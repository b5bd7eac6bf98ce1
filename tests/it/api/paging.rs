//! Contract, chapter 11: pages and cursors.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::support::figi;
use crate::support::{Server, figis};

/// A dump of `count` rows whose names have words that split them in several ways.
fn dump(count: u32) -> String {
    let mut dump = "figi,name,exchCode,marketSector\n".to_owned();
    for number in 0..count {
        let exch_code = if number % 3 == 0 { "US" } else { "GR" };
        let name = if number % 2 == 0 { "EVEN NUMBER" } else { "NUMBER" };
        dump += &format!("{},{name},{exch_code},Equity\n", figi(number));
    }
    dump
}

fn page(server: &Server, path: &str, query: &Value, start: Option<&Value>) -> Value {
    let mut body = query.clone();
    if let Some(start) = start {
        body["start"] = start.clone();
    }
    let answer = server.post(path, &body.to_string());
    assert_eq!(answer.status, 200, "{body}");
    let answer: Value = serde_json::from_str(&answer.body).unwrap();
    assert!(answer.get("error").is_none(), "{body} {answer}");
    answer
}

/// The FIGIs of all pages, and the number of rows of each page.
fn pages(server: &Server, path: &str, query: &Value) -> (Vec<String>, Vec<usize>) {
    let (mut rows, mut sizes) = (Vec::new(), Vec::new());
    let mut answer = page(server, path, query, None);
    loop {
        sizes.push(figis(&answer).len());
        rows.extend(figis(&answer));
        let Some(next) = answer.get("next") else { return (rows, sizes) };
        assert!(next.as_str().unwrap().len() <= 512);
        answer = page(server, path, query, Some(next));
    }
}

/// contract 8.2, 8.6, 10.1, 11.2, 11.3, 11.4: the pages joined are the whole, each row once.
/// `next` is absent on the last page, also when that is full; `total` is on every page of a
/// filter.
#[test]
fn pages_join_to_the_whole() {
    let server = Server::of_dump(&dump(600));
    for (query, total, sizes) in [
        (json!({"query": "number"}), 600, &[100; 6][..]),
        (json!({"query": "even"}), 300, &[100; 3]),
        (json!({"marketSecDes": "Equity", "exchCode": "GR"}), 400, &[100; 4]),
        (json!({"exchCode": "US", "query": "even"}), 100, &[100]),
        (json!({"exchCode": "GR", "query": "even number"}), 200, &[100, 100]),
        (json!({"query": "number", "exchCode": "US"}), 200, &[100, 100]),
        (json!({"query": figi(7)}), 1, &[1]),
        (json!({"query": "odd"}), 0, &[0]),
    ] {
        let (filtered, filter_sizes) = pages(&server, "/v3/filter", &query);
        assert_eq!((filtered.len(), &*filter_sizes), (total, sizes), "{query}");
        assert!(filtered.is_sorted_by(|a, b| a < b), "FIGI order, each once");
        let (searched, search_sizes) = pages(&server, "/v3/search", &query);
        assert_eq!(search_sizes, sizes, "{query}");
        let unique: BTreeSet<_> = searched.iter().cloned().collect();
        assert_eq!((searched.len(), unique), (total, filtered.into_iter().collect()), "{query}");
    }
    let first = page(&server, "/v3/filter", &json!({"query": "number"}), None);
    let second = page(&server, "/v3/filter", &json!({"query": "number"}), first.get("next"));
    assert_eq!((&first["total"], &second["total"]), (&json!(600), &json!(600)));
}

/// contract 11.2: the last page has the rows that are left, and no `next`.
#[test]
fn a_last_page_may_be_short() {
    let server = Server::of_dump(&dump(201));
    for path in ["/v3/search", "/v3/filter", "/v2/search"] {
        let (rows, sizes) = pages(&server, path, &json!({"query": "number"}));
        assert_eq!((rows.len(), &*sizes), (201, &[100, 100, 1][..]), "{path}");
    }
}

/// contract 8.6, 11.1, 11.2: a question has 150 pages of 100 rows, and `total` counts all rows.
#[test]
fn there_are_150_pages() {
    let server = Server::of_dump(&dump(15_050));
    for path in ["/v3/search", "/v3/filter"] {
        let (rows, sizes) = pages(&server, path, &json!({"query": "number"}));
        assert_eq!((rows.len(), sizes.len()), (15_000, 150), "{path}");
    }
    let first = page(&server, "/v3/filter", &json!({"query": "number"}), None);
    assert_eq!(first["total"], 15_050);
}

/// contract 8.12, 11.5, 11.6: a cursor with a byte changed, in another spelling, or with another
/// endpoint or question is refused; another way to ask the same is not.
#[test]
fn a_cursor_belongs_to_its_query() {
    let server = Server::of_dump(&dump(450));
    let query = json!({"query": "number", "exchCode": "GR"});
    let next = page(&server, "/v3/search", &query, None)["next"].clone();
    let text = next.as_str().unwrap();
    let refused = |path: &str, query: &Value, start: &str| {
        let mut body = query.clone();
        body["start"] = start.into();
        let answer = server.post(path, &body.to_string());
        assert_eq!(answer.body, r#"{"error":"Invalid start value."}"#, "{path} {body}");
    };
    for path in ["/v3/filter", "/v2/search"] {
        refused(path, &query, text);
    }
    for other in [
        json!({"query": "even", "exchCode": "GR"}),
        json!({"query": "number"}),
        json!({"query": "number", "exchCode": "US"}),
        json!({"query": "number", "exchCode": "GR", "includeUnlistedEquities": true}),
        json!({"query": "number", "exchCode": "GR", "marketSecDes": "Equity"}),
        json!({"exchCode": "GR"}),
    ] {
        refused("/v3/search", &other, text);
    }
    for place in 0..text.len() {
        let mut bytes = text.as_bytes().to_vec();
        bytes[place] = if bytes[place] == b'0' { b'1' } else { b'0' };
        refused("/v3/search", &query, str::from_utf8(&bytes).unwrap());
    }
    for other in [text.to_uppercase(), format!("{text} "), text[1..].to_owned()] {
        refused("/v3/search", &query, &other);
    }
    // Other ways to ask the same question accept the cursor.
    let same = json!({"exchCode": "GR", "query": "number", "strike": null, "includeUnlistedEquities": false});
    assert_eq!(figis(&page(&server, "/v3/search", &same, Some(&next))).len(), 100);
}

/// contract 10.8, 11.7: over an index with other importances a cursor goes on after the same
/// importance, whether a row still has it or not.
#[test]
fn a_cursor_outlives_the_importances() {
    let of = |importance: &dyn Fn(u32) -> String| {
        let rows = (0..300)
            .map(|number| format!("{},NUMBER {number},{}\n", figi(number), importance(number)));
        Server::of_dump(&format!("figi,name,importance\n{}", rows.collect::<String>()))
    };
    let query = json!({"query": "number"});
    let before = of(&|number| number.to_string());
    let first = page(&before, "/v3/search", &query, None);
    let descending = |from: u32| (0..from).rev().map(figi);
    assert!(figis(&first).into_iter().eq(descending(300).take(100)));
    let next = first.get("next");
    // The page ended with importance 200. Larger ones may be new, and 200 may be gone.
    let more = of(&|number| format!("{}", f64::from(number) + 0.25));
    let goes_on = figis(&page(&more, "/v3/search", &query, next));
    assert!(goes_on.into_iter().eq(descending(200).take(100)));
    let fewer = of(&|number| if number < 150 { number.to_string() } else { String::new() });
    let goes_on = figis(&page(&fewer, "/v3/search", &query, next));
    assert!(goes_on.into_iter().eq(descending(150).take(100)));
    // Without importances all rows come after all importances.
    let without = page(&of(&|_| String::new()), "/v3/search", &query, next);
    assert_eq!(figis(&without), figis(&page(&of(&|_| String::new()), "/v3/search", &query, None)));
}

/// contract 11.7: a cursor survives a restart and a new index, and is the same on every replica.
#[test]
fn a_cursor_outlives_its_index() {
    let (query, before) = (json!({"query": "number"}), Server::of_dump(&dump(300)));
    let replica = Server::of_dump(&dump(300));
    // In the next index rows before and after the cursor's place are gone, and new values of an
    // enum-like property give the old ones other ordinals.
    let later: String = dump(320)
        .lines()
        .filter(|line| !line.starts_with(&figi(40)) && !line.starts_with(&figi(140)))
        .map(|line| line.replace("GR", "AA") + "\n")
        .collect();
    let later = Server::of_dump(&later);
    for path in ["/v3/filter", "/v3/search"] {
        let first = page(&before, path, &query, None);
        assert_eq!(first["next"], page(&replica, path, &query, None)["next"]);
        let there = page(&before, path, &query, first.get("next"));
        assert_eq!(there, page(&replica, path, &query, first.get("next")));
        let goes_on = figis(&page(&later, path, &query, first.get("next")));
        assert_eq!(goes_on.len(), 100);
        // Apart from rows that are new, the page goes on with the rows that came next.
        let gone = [figi(40), figi(140)];
        let there = figis(&there).into_iter().filter(|there| !gone.contains(there));
        let old = goes_on.iter().filter(|row| **row < figi(300));
        assert!(there.zip(old).all(|(there, old)| there == *old), "{path} {goes_on:?}");
    }
}
