//! The page for people, `GET /` and `GET /page/{file}`, whose files are in the program.

use std::collections::BTreeSet;
use std::fs;

use crate::support::{Server, page_files};

fn server() -> Server {
    Server::of_dump("figi\nBBG000BLNNH6\n")
}

/// contract 16.10: every file is served as it is in the folder, plain and packed, with its type.
#[test]
fn the_files() {
    let server = server();
    let mut count = 0;
    for (name, path) in page_files() {
        let drawn = fs::read_to_string(&path).unwrap();
        let address = format!("/page/{name}");
        for encoding in ["gzip", "identity"] {
            // No check of the contract applies: neither Accept, Content-Type nor a key matters.
            let headers = [
                ("accept-encoding", encoding),
                ("accept", "image/png"),
                ("content-type", "x"),
                ("x-service-apikey", "none"),
            ];
            let answer = server.request("GET", &address, &headers, "");
            assert_eq!((answer.status, &answer.body), (200, &drawn), "{address}");
            assert_eq!(answer.header("content-encoding") == "gzip", encoding == "gzip");
            assert_eq!(answer.header("vary"), "accept-encoding");
        }
        let kind = match path.extension().unwrap().to_str().unwrap() {
            "html" => "text/html; charset=utf-8",
            "css" => "text/css; charset=utf-8",
            "js" => "text/javascript; charset=utf-8",
            "svg" => "image/svg+xml; charset=utf-8",
            other => panic!("what is .{other}?"),
        };
        let answer = server.request("GET", &address, &[], "");
        assert_eq!((&*answer.content_type, answer.header("ratelimit-limit")), (kind, ""));
        count += 1;
    }
    assert!(count > 30);
    let start = server.request("GET", "/", &[], "");
    assert_eq!(start.body, server.request("GET", "/page/index.html", &[], "").body);
    assert_eq!(start.content_type, "text/html; charset=utf-8");
}

/// contract 16.10: every other path below `/page/` is unknown, also one that leads out of the folder
/// or into it again.
#[test]
fn only_files_of_the_page() {
    let server = server();
    for path in [
        "",
        "/",
        "//main.js",
        "/main.js//",
        "/results.js",
        "/search",
        "/search/",
        "/search/main.js",
        "/search//results.js",
        "/search/results.js//",
        "/search/results.js/x",
        "/Search/results.js",
        "/./main.js",
        "/../mod.rs",
        "/../page/main.js",
        "/search/../main.js",
        "/search/../../mod.rs",
        "/../../../../../../../../etc/passwd",
        "/..%2Fmain.rs",
        "/%2e%2e/mod.rs",
        "/search%2Fresults.js",
        "/search%2F..%2Fmain.js",
        "/search\\results.js",
        "/..\\mod.rs",
        "/main.js%00",
        "/main.j%73",
        "//etc/passwd",
        "/file:///etc/passwd",
    ] {
        let path = format!("/page{path}");
        for method in ["GET", "HEAD", "POST"] {
            let answer = server.request(method, &path, &[], "");
            assert_eq!(answer.status, 404, "{method} {path}");
        }
    }
    // contract 2.2: one slash at the end is accepted, and a query string is ignored.
    for path in ["/page/main.js/", "/page/search/results.js/", "/page/search/results.js?../x"] {
        assert_eq!(server.request("GET", path, &[], "").status, 200, "{path}");
    }
}

/// Every file that the page's documents name exists.
#[test]
fn every_named_file_exists() {
    let server = server();
    let files: BTreeSet<String> = page_files().into_iter().map(|(name, _)| name).collect();
    let mut named = 0;
    for (file, path) in page_files() {
        let text = fs::read_to_string(path).unwrap();
        let folder = file.rsplit_once('/').map_or("", |(folder, _)| folder);
        let imports = text.split(" from \"").skip(1).map(|rest| {
            let name = rest.split('"').next().unwrap();
            match (name.strip_prefix("../"), name.strip_prefix("./"), folder) {
                (Some(name), _, _) => name.to_owned(),
                (None, Some(name), "") => name.to_owned(),
                (None, Some(name), folder) => format!("{folder}/{name}"),
                _ => panic!("{file}: expected a relative address of a file, found {name}"),
            }
        });
        let links = text.split("=\"page/").skip(1);
        let links = links.map(|rest| rest.split('"').next().unwrap().to_owned());
        for name in imports.chain(links) {
            assert!(files.contains(&name), "{file} names {name}");
            named += 1;
        }
        // The one URL in it is the name of a namespace.
        let namespaces = text.matches("http://www.w3.org/2000/svg").count();
        assert_eq!(text.matches("://").count(), namespaces, "{}", &text[..60]);
    }
    assert!(named > 60, "{named}");
    // Every module is preloaded.
    let start = server.request("GET", "/", &[], "").body;
    for name in files {
        let ways =
            [format!("rel=\"modulepreload\" href=\"page/{name}\""), format!("src=\"page/{name}\"")];
        let is_named = ways.iter().any(|way| start.contains(way));
        assert!(is_named || !name.ends_with(".js"), "{name}");
    }
}

/// contract 16.10: the page asks `/resolve` what an identifier is and which row is meant. It neither
/// recognises identifiers nor maps them by the contract.
#[test]
fn one_recognition() {
    for (name, path) in page_files() {
        let text = fs::read_to_string(&path).unwrap();
        let is_named = ["v3/mapping\"", "v3/mapping`"].iter().any(|end| text.contains(end));
        assert!(!is_named, "{name}");
        let is_api = name == "shared/api.js";
        assert_eq!(text.contains("ask(\"POST\", \"resolve\""), is_api, "{name}");
    }
    assert_eq!(server().request("GET", "/page/identify.js", &[], "").status, 404);
}

/// contract 16.10: a strict policy and the usual headers, on every answer of the page.
#[test]
fn the_headers() {
    let server = server();
    for path in ["/", "/page/main.js", "/page/search/search.css", "/page/icon.svg"] {
        let first = server.request("GET", path, &[], "");
        let tag = first.header("etag").to_owned();
        for (method, headers, status) in [
            ("GET", vec![], 200),
            ("HEAD", vec![], 200),
            ("GET", vec![("if-none-match", &*tag)], 304),
        ] {
            let answer = server.request(method, path, &headers, "");
            assert_eq!(answer.status, status, "{method} {path}");
            for (name, value) in [
                (
                    "content-security-policy",
                    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; \
                     connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
                ),
                ("x-content-type-options", "nosniff"),
                ("referrer-policy", "no-referrer"),
                ("cross-origin-opener-policy", "same-origin"),
                ("x-frame-options", "DENY"),
                ("cache-control", "no-cache"),
                ("vary", "accept-encoding"),
                ("etag", &tag),
            ] {
                assert_eq!(answer.header(name), value, "{method} {path}");
            }
        }
        let answer = server.request("POST", path, &[], "");
        assert_eq!((answer.status, answer.allow.as_deref()), (405, Some("GET, HEAD")), "{path}");
    }
    // The policy holds without exceptions: the document has no inline code or style.
    let start = server.request("GET", "/", &[], "").body;
    assert!(!start.contains("<style") && !start.contains(" style="));
    let mut on = start.split(" on").skip(1);
    assert!(on.all(|rest| !rest.trim_start_matches(char::is_alphabetic).starts_with('=')));
    assert_eq!(start.matches("<script").count(), start.matches("<script src=").count() + 1);
    assert!(start.contains("<script type=\"module\" src="));
}

/// contract 16.10: a client that already has a file gets 304, for each encoding.
#[test]
fn a_known_file_is_not_sent_again() {
    let server = server();
    let ask = |headers: &[(&str, &str)]| server.request("GET", "/page/main.js", headers, "");
    let gzip = ("accept-encoding", "gzip");
    let [plain, packed] = [ask(&[]), ask(&[gzip])].map(|answer| answer.header("etag").to_owned());
    assert!(plain != packed && plain.starts_with('"') && plain.ends_with('"'), "{plain} {packed}");
    assert_ne!(plain, server.request("GET", "/page/shared/dom.js", &[], "").header("etag"));
    let (weak, several) = (format!("W/{plain}"), format!("\"x\", {plain}"));
    for (headers, status) in [
        (vec![("if-none-match", &*plain)], 304),
        (vec![("if-none-match", &*weak)], 304),
        (vec![("if-none-match", &*several)], 304),
        (vec![("if-none-match", "*")], 304),
        (vec![gzip, ("if-none-match", &*packed)], 304),
        (vec![gzip, ("if-none-match", &*plain)], 200),
        (vec![("if-none-match", &*packed)], 200),
        (vec![("if-none-match", "\"\"")], 200),
        (vec![("if-none-match", "x")], 200),
    ] {
        let answer = ask(&headers);
        assert_eq!(answer.status, status, "{headers:?}");
        assert_eq!(answer.body.is_empty(), status == 304, "{headers:?}");
    }
}
