//! A server whose memory is measured.

use std::fs;
use std::io::{Read as _, Write as _};
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

use figdex::auth::file;
use flate2::read::GzDecoder;

use super::bodies::{Body, paths};
use super::{LONG_BYTES, LONG_MAX, MB, SHORT_MAX};
use crate::support::process::{self, PATIENCE, Process, figdex, skip_memory};

/// The memory that an idle server may hold above its level. It may hide as much of the memory that
/// a request takes, so bounds are judged with this much less.
pub(super) const LEVEL_SLACK: u64 = 3 * MB;

/// A server over an index, and its memory.
pub(super) struct Measured {
    pub(super) process: Process,
    pub(super) key: String,
    /// Its memory after it has answered a little of everything and is idle.
    level: u64,
    /// The most memory that a request has added so far, for the log of the test.
    pub(super) most: u64,
}

/// The effect of a request.
pub(super) struct Added {
    pub(super) bytes: u64,
    status: u16,
    /// The bytes of the answer's body, unpacked.
    pub(super) answer_bytes: usize,
}

/// Whether a request announces the length of its body.
#[derive(Clone, Copy, Debug)]
pub(super) enum Kind {
    Announced,
    Chunked,
}

/// The memory of a process, in bytes.
struct Status {
    anonymous: u64,
    /// Memory that files back: the mapped index, and the program itself.
    files: u64,
    /// The peak of the sum of both since it was last reset.
    most: u64,
}

impl Measured {
    /// Starts a server over the index in that folder; `None` where the system does not report the
    /// memory of a process.
    pub(super) fn start(folder: &Path, arguments: &[&str]) -> Option<Self> {
        let (index, keys) = (folder.join("index"), folder.join("keys.toml"));
        let key = file::add(&keys, "desk").unwrap().as_str().to_owned();
        let mut command = figdex();
        // The test judges what the program asks for. An allocator that returns memory later, and
        // pages of 2 MB, would add amounts that depend on the machine and on earlier requests.
        command.env("MIMALLOC_PURGE_DELAY", "0").env("MIMALLOC_ALLOW_THP", "0");
        command.args(["--listen", "127.0.0.1:0", "--no-limits", "--keys"]).arg(&keys);
        let process = Process::start(command.arg("--index").arg(&index).args(arguments));
        let mut measured = Self { process, key, level: 0, most: 0 };
        measured.status()?;
        measured.warm();
        Some(measured)
    }

    fn status(&self) -> Option<Status> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.process.child.id()));
        let Ok(status) = status else {
            skip_memory();
            return None;
        };
        let field = |name: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap();
            let kilobytes: u64 = line.trim().strip_suffix(" kB").unwrap().parse().unwrap();
            kilobytes << 10
        };
        let files = field("RssFile:") + field("RssShmem:");
        Some(Status { anonymous: field("RssAnon:"), files, most: field("VmHWM:") })
    }

    /// Sends a little of everything, so that all threads are started, the program and the index are
    /// mapped, and permanent caches are filled.
    fn warm(&mut self) {
        for _ in 0..3 {
            for path in paths() {
                self.exchange(&get(&path, ""));
            }
            for (path, body) in [
                ("/v3/mapping", r#"[{"idType":"TICKER","idValue":"TOOMANY"}]"#),
                ("/v3/mapping", r#"[{"idType":"TICKER","idValue":"MANY","exchCode":"US"}]"#),
                ("/v3/search", r#"{"query":"common holdings"}"#),
                ("/v3/filter", r#"{"query":"common","exchCode":["US","LN"]}"#),
                ("/v3/filter", r#"{"marketSecDes":"Equity"}"#),
                ("/v3/filter", "{"),
            ] {
                self.exchange(&post(path, "Accept-Encoding: gzip\r\n", body.as_bytes()));
            }
        }
        self.level = self.status().unwrap().anonymous;
    }

    /// Sends a request and reads its answer to the end.
    fn exchange(&self, request: &[u8]) -> (u16, usize) {
        let mut stream = self.process.connect();
        // A server may answer and close before it has read everything.
        stream.write_all(request).ok();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).ok();
        let end = answer.windows(4).position(|bytes| bytes == b"\r\n\r\n");
        let end = end.unwrap_or_else(|| panic!("no answer: {:?}", self.process.child.id()));
        let head = str::from_utf8(&answer[..end]).unwrap();
        let body = &answer[end + 4..];
        let bytes = match head.contains("content-encoding: gzip") {
            true => {
                std::io::copy(&mut GzDecoder::new(body), &mut std::io::sink()).unwrap() as usize
            }
            false => body.len(),
        };
        (process::status(head), bytes)
    }

    /// Waits until the memory of earlier requests is returned to the system.
    fn settle(&self) {
        let start = Instant::now();
        while self.status().unwrap().anonymous > self.level + LEVEL_SLACK {
            let held = self.status().unwrap().anonymous;
            let level = self.level;
            assert!(start.elapsed() < PATIENCE, "{held} bytes are still held, {level} before");
            // The allocator returns memory when it is asked for some.
            self.exchange(&post("/v3/filter", "", br#"{"marketSecDes":"Equity"}"#));
            sleep(Duration::from_millis(50));
        }
    }

    /// The memory that a request adds.
    fn added(&self, request: &[u8]) -> Added {
        self.settle();
        let reset = format!("/proc/{}/clear_refs", self.process.child.id());
        fs::write(reset, "5").unwrap();
        let before = self.status().unwrap();
        let (status, answer_bytes) = self.exchange(request);
        let after = self.status().unwrap();
        // Pages of files that are mapped meanwhile are not the request's memory.
        let mapped = after.files.saturating_sub(before.files);
        let bytes = after.most.saturating_sub(before.files + before.anonymous);
        Added { bytes: bytes.saturating_sub(mapped), status, answer_bytes }
    }

    /// Sends a request, and judges its memory by the length of the answer.
    pub(super) fn judge(&mut self, name: &str, request: &[u8]) -> Added {
        let added = self.added(request);
        let most = if added.answer_bytes > LONG_BYTES { LONG_MAX } else { SHORT_MAX };
        self.within(name, &added, most - LEVEL_SLACK);
        added
    }

    /// Posts a large body whose answer is short.
    pub(super) fn judge_body(
        &mut self,
        (name, path, body): &Body,
        key: &str,
        kind: Kind,
        most: u64,
    ) {
        let added = self.added(&match kind {
            Kind::Announced => post(path, key, body.as_bytes()),
            Kind::Chunked => post_chunked(path, key, body.as_bytes()),
        });
        let name = format!("{path}, {name} of {} bytes, {kind:?}", body.len());
        assert!(added.answer_bytes < LONG_BYTES, "{name}: {} bytes", added.answer_bytes);
        self.within(&name, &added, most);
    }

    fn within(&mut self, name: &str, added: &Added, most: u64) {
        let Added { bytes, status, answer_bytes } = added;
        if *bytes > MB / 2 {
            eprintln!("{name}: {} kB, {status}, an answer of {answer_bytes} bytes", bytes >> 10);
        }
        assert!(*bytes <= most, "{name}: {bytes} bytes of memory, at most {most}");
        assert!(*status < 500, "{name}: {status}");
        self.most = self.most.max(*bytes);
    }
}

pub(super) fn get(path: &str, headers: &str) -> Vec<u8> {
    format!("GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n{headers}\r\n").into_bytes()
}

pub(super) fn post(path: &str, headers: &str, body: &[u8]) -> Vec<u8> {
    let mut request = format!(
        "POST {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: \
         application/json\r\n{headers}Content-Length: {}\r\n\r\n",
        body.len()
    )
    .into_bytes();
    request.extend_from_slice(body);
    request
}

/// A POST request whose body has no announced length.
fn post_chunked(path: &str, headers: &str, body: &[u8]) -> Vec<u8> {
    let mut request = format!(
        "POST {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: \
         application/json\r\n{headers}Transfer-Encoding: chunked\r\n\r\n"
    )
    .into_bytes();
    for chunk in body.chunks(50_000) {
        write!(request, "{:x}\r\n", chunk.len()).unwrap();
        request.extend_from_slice(chunk);
        request.extend_from_slice(b"\r\n");
    }
    request.extend_from_slice(b"0\r\n\r\n");
    request
}
