//! Questions in an address, made of everything that may be in one: parameters that repeat, that
//! contradict each other, that do not exist, and texts of any bytes.

use serde_json::Value;

use super::{MEMORY_MAX, assert_reveals_nothing};
use crate::support::process::{Process, status};

/// The questions that are asked.
const QUESTIONS: u64 = 1_000;

/// The names of parameters, some of which do not exist.
const NAMES: [&str; 14] = [
    "query",
    "limit",
    "properties",
    "level",
    "exchCode",
    "micCode",
    "currency",
    "marketSecDes",
    "securityType2",
    "optionType",
    "strike",
    "maturity",
    "includeUnlistedEquities",
    "nonsense",
];

/// Values, each the sense of some parameter and nonsense for the others.
const VALUES: [&str; 24] = [
    "",
    "ibm",
    "IBM+CORP",
    "US4592001014",
    "1",
    "0",
    "-1",
    "1000",
    "1001",
    "99999999999999999999",
    "exchCode",
    "exchCode,level",
    "exchCode,exchCode",
    ",",
    "composite",
    "composite%7Cvenue",
    "US",
    "%5B1%2Cnull%5D",
    "%5Bnull%2Cnull%5D",
    "true",
    "%ff%fe%00",
    "%F0%9F%92%A9",
    "%",
    "%zz",
];

/// A generator of numbers (xorshift, Marsaglia 2003), the same in each run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % end as u64) as usize
    }

    fn one<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[self.below(of.len())]
    }

    fn value(&mut self) -> String {
        match self.below(12) {
            // Around the longest query, and far beyond it.
            0 => "a".repeat(1_020 + self.below(10)),
            1 => "x+".repeat(512),
            2 => "1a".repeat(500),
            3 => format!("{}%C3%9F", "%EF%B7%BA".repeat(100)),
            4 => (0..self.below(300)).map(|_| self.one(&VALUES)).collect::<Vec<_>>().join("%7C"),
            5 => (0..40).map(|_| format!("%{:02x}", self.below(256))).collect(),
            _ => self.one(&VALUES).to_owned(),
        }
    }

    fn question(&mut self) -> String {
        let parameters = (0..self.below(6)).map(|_| match self.below(20) {
            0 => self.value(),
            1 => format!("&&={}", self.value()),
            _ => format!("{}={}", self.one(&NAMES), self.value()),
        });
        parameters.collect::<Vec<_>>().join("&")
    }
}

/// contract 16.11, 13.15: each question has its answer, which is JSON and says what is wrong, and
/// the next one is answered as the first.
#[test]
fn questions_for_facets() {
    let figdex = Process::of_one(&["--no-limits"]);
    let ask = |question: &str| {
        let answer = figdex.exchange(format!(
            "GET /facets?{question} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
        ));
        let body = answer.split_once("\r\n\r\n").map_or("", |(_, body)| body);
        let json: Result<Value, _> = serde_json::from_str(body);
        let json = json.unwrap_or_else(|error| panic!("{question}: {error}: {answer}"));
        assert_reveals_nothing(&figdex, &answer);
        (status(&answer), json)
    };
    let plain = ask("query=ibm");
    assert_eq!(plain.0, 200);
    let (mut numbers, mut answered, mut refused) = (Numbers(7), 0, 0);
    for _ in 0..QUESTIONS {
        let question = numbers.question();
        let (status, json) = ask(&question);
        match status {
            200 => {
                answered += 1;
                assert!(json["total"].is_u64() && json["facets"].is_object(), "{question} {json}");
            }
            _ => {
                refused += 1;
                assert_eq!(status, 400, "{question} {json}");
                let said = json["error"].as_str();
                assert!(said.is_some_and(|said| said.len() > 10), "{question} {json}");
            }
        }
    }
    eprintln!("{answered} answered, {refused} refused");
    assert!(answered > QUESTIONS / 20 && refused > QUESTIONS / 20, "{answered} {refused}");
    assert_eq!(ask("query=ibm"), plain);
    figdex.assert_serves();
    figdex.assert_memory_below(MEMORY_MAX);
}
