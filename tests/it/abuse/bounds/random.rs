//! Random requests, the same for the same seed.

/// A generator of random numbers: xorshift, which needs no crate.
pub(super) struct Random(u64);

/// Texts that are longer in memory than in a request, or that need a parser's slow path.
const PIECES: [&str; 24] = [
    "\u{fdfa}",
    "\u{390}",
    "\u{1f82}",
    "\u{fb03}",
    "İ",
    "ß",
    "\\u0000",
    "\\ud800",
    "\\ud83d\\ude00",
    "\\n",
    "\\\"",
    "\\\\",
    "a",
    "common ",
    "holdings",
    "MANY",
    "US",
    "中",
    "日本",
    "\u{10ffff}",
    "-1",
    "0",
    " ",
    "\u{301}",
];

/// Members of a job. An unknown value of one of the first [`ENUMS`] refuses the whole request.
const KEYS: [&str; 14] = [
    "exchCode",
    "micCode",
    "currency",
    "marketSecDes",
    "securityType",
    "idType",
    "idValue",
    "query",
    "start",
    "strike",
    "coupon",
    "maturity",
    "includeUnlistedEquities",
    "k\\u0065y",
];

const ENUMS: usize = 5;

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        // After a few steps the states of similar seeds differ widely.
        let mut random = Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        for _ in 0..8 {
            random.next();
        }
        random
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }

    fn one_of<T: Copy>(&mut self, things: &[T]) -> T {
        things[self.below(things.len())]
    }

    /// A word of that many capital letters.
    pub(super) fn word(&mut self, letters: usize) -> String {
        (0..letters).map(|_| char::from(b'A' + self.below(26) as u8)).collect()
    }

    /// A path that takes a body, and a body of about `bytes` bytes.
    pub(super) fn request(mut self, bytes: usize) -> (&'static str, String) {
        let path = self.one_of(&[
            "/v1/mapping",
            "/v2/mapping",
            "/v3/mapping",
            "/v2/search",
            "/v3/search",
            "/v3/filter",
        ]);
        let mut body = String::with_capacity(bytes);
        // A few large values, or many small ones.
        let has_enums = self.below(3) == 0;
        let size = self.one_of(&[10, 100, 10_000, 300_000]);
        let (open, close) = if path.ends_with("mapping") { ("[{", "}]") } else { ("{", "}") };
        body.push_str(open);
        let mut is_first = true;
        while body.len() + size + 1_000 < bytes {
            if !is_first {
                let another_job = close == "}]" && self.below(20) == 0;
                body.push_str(if another_job { "},{" } else { "," });
            }
            is_first = false;
            body.push('"');
            let keys = if has_enums { &KEYS[..] } else { &KEYS[ENUMS..] };
            body.push_str(self.one_of(keys));
            body.push_str("\":");
            let end = body.len() + size.min(bytes - body.len() - 600);
            self.value(&mut body, end);
        }
        body.push_str(close);
        (path, body)
    }

    /// Appends a value that ends at about that place of the body.
    fn value(&mut self, body: &mut String, end: usize) {
        match self.below(6) {
            0 => {
                body.push('"');
                while body.len() < end {
                    let piece = self.one_of(&PIECES);
                    body.push_str(piece);
                }
                body.push('"');
            }
            1 => {
                body.push_str(self.one_of(&["1", "-0.", "1e", "0.", "1."]));
                body.push('1');
                while body.len() < end && !body.ends_with("e1") {
                    body.push(char::from(b'0' + self.below(10) as u8));
                }
            }
            2 => {
                let depth = end.saturating_sub(body.len()) / 2;
                body.extend(std::iter::repeat_n('[', depth + 1));
                body.extend(std::iter::repeat_n(']', depth + 1));
            }
            3 => {
                body.push('[');
                while body.len() < end {
                    body.push_str(self.one_of(&["0,", "null,", "\"US\",", "[],", "{},", "1e999,"]));
                }
                body.push_str("0]");
            }
            4 => {
                body.push('{');
                while body.len() < end {
                    let word = self.word(3);
                    body.push_str(&format!("\"{word}\":1,"));
                }
                body.push_str("\"a\":0}");
            }
            _ => body.push_str(self.one_of(&[
                "null",
                "true",
                "\"US\"",
                "\"TICKER\"",
                "\"MANY\"",
                "1e999",
            ])),
        }
    }
}
