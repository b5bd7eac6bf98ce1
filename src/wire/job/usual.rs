//! Bodies in the usual form: an array of objects that each have an `idType` and then an `idValue`, both
//! of them plain texts. They are read in one pass, for less than half the instructions that a JSON reader
//! needs. Every other body is left to that reader, so that this form needs no errors.

use std::borrow::Cow;

use super::{Given, Job, JobFields};

/// The longest body that may have the usual form, in bytes. It bounds the memory of the jobs.
const USUAL_BYTES_MAX: usize = 64 << 10;

/// The jobs of a body in the usual form; `None` for every other body, and for more than `jobs_max` jobs.
pub(super) fn usual_jobs(body: &str, jobs_max: usize) -> Option<impl Iterator<Item = Job<'_>>> {
    let texts = texts(body, jobs_max)?;
    let given = |text| Some(Given::Text(Cow::Borrowed(text)));
    let job = move |(id_type, id_value)| {
        let (id_type, id_value) = (given(id_type), given(id_value));
        Job::Object(JobFields { id_type, id_value, ..JobFields::default() })
    };
    Some(texts.into_iter().map(job))
}

/// The `idType` and the `idValue` of each job.
fn texts(body: &str, jobs_max: usize) -> Option<Vec<(&str, &str)>> {
    if body.len() > USUAL_BYTES_MAX {
        return None;
    }
    let mut unread = Unread { body, at: 0 };
    let mut texts = Vec::new();
    unread.take(b"[")?;
    while texts.len() < jobs_max {
        // Most clients write no blanks, or one after each colon and comma.
        if !unread.is_next(b"{\"idType\":\"") && !unread.is_next(b"{\"idType\": \"") {
            unread.take(b"{")?;
            unread.take(b"\"idType\"")?;
            unread.take(b":")?;
            unread.take(b"\"")?;
        }
        let id_type = unread.text()?;
        if !unread.is_next(b"\",\"idValue\":\"") && !unread.is_next(b"\", \"idValue\": \"") {
            unread.take(b"\"")?;
            unread.take(b",")?;
            unread.take(b"\"idValue\"")?;
            unread.take(b":")?;
            unread.take(b"\"")?;
        }
        let id_value = unread.text()?;
        unread.take(b"\"")?;
        unread.take(b"}")?;
        texts.push((id_type, id_value));
        if unread.take(b",").is_none() {
            unread.take(b"]")?;
            unread.skip_blanks();
            return unread.is_over().then_some(texts);
        }
        unread.skip_blanks();
    }
    None
}

/// The bytes of a body from a place on.
struct Unread<'a> {
    body: &'a str,
    at: usize,
}

impl<'a> Unread<'a> {
    /// Takes these bytes if they are next.
    fn is_next<const BYTES: usize>(&mut self, token: &[u8; BYTES]) -> bool {
        let is_next = self.left().first_chunk() == Some(token);
        self.at += if is_next { BYTES } else { 0 };
        is_next
    }

    /// Takes a token, with the blanks before it; `None` when something else is next.
    fn take<const BYTES: usize>(&mut self, token: &[u8; BYTES]) -> Option<()> {
        if self.is_next(token) {
            return Some(());
        }
        self.skip_blanks();
        self.is_next(token).then_some(())
    }

    /// Takes the rest of a text without escapes, up to its closing quotation mark; `None` when an
    /// escape or a control character comes before that.
    fn text(&mut self) -> Option<&'a str> {
        let ends = |byte: &u8| matches!(byte, b'"' | b'\\' | 0..0x20);
        let end = self.at + self.left().iter().position(ends)?;
        let text = self.body.get(self.at..end).filter(|_| self.body.as_bytes()[end] == b'"')?;
        self.at = end;
        Some(text)
    }

    /// Skips the blanks of JSON (RFC 8259, section 2).
    fn skip_blanks(&mut self) {
        let is_blank = |byte: &&u8| matches!(byte, b' ' | b'\t' | b'\n' | b'\r');
        self.at += self.left().iter().take_while(is_blank).count();
    }

    fn is_over(&self) -> bool {
        self.at == self.body.len()
    }

    fn left(&self) -> &'a [u8] {
        &self.body.as_bytes()[self.at..]
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Map, Value};

    use super::*;

    const JOBS_MAX: usize = 3;

    /// The jobs as the JSON reader reads them; `None` unless all have the two texts and nothing else.
    fn by_json(body: &str) -> Option<Vec<(String, String)>> {
        let jobs: Vec<Map<String, Value>> = serde_json::from_str(body).ok()?;
        let member = |job: &Map<String, Value>, name| Some(job.get(name)?.as_str()?.to_owned());
        let two = |job: &Map<String, Value>| {
            Some((member(job, "idType")?, member(job, "idValue")?)).filter(|_| job.len() == 2)
        };
        jobs.iter().map(two).collect()
    }

    fn usual(body: &str) -> Option<Vec<(String, String)>> {
        let jobs = usual_jobs(body, JOBS_MAX)?.map(|job| match job {
            Job::Object(JobFields {
                id_type: Some(Given::Text(id_type)),
                id_value: Some(Given::Text(id_value)),
                properties: None,
                unknown: None,
            }) => (id_type.into_owned(), id_value.into_owned()),
            _ => panic!("a job of another form: {body}"),
        });
        Some(jobs.collect())
    }

    /// A job in the usual form, with these blanks between its tokens.
    fn job(blank: &str, id_value: &str) -> String {
        [
            "{",
            "\"idType\"",
            ":",
            "\"ID_ISIN\"",
            ",",
            "\"idValue\"",
            ":",
            &format!("\"{id_value}\""),
            "}",
        ]
        .map(|token| format!("{blank}{token}{blank}"))
        .concat()
    }

    #[test]
    fn the_usual_form_is_seen() {
        for blank in ["", " ", "\n\t\r "] {
            for count in 1..=JOBS_MAX {
                let jobs = vec![job(blank, "US4592001014 é\u{7f}"); count].join(",");
                let body = format!("{blank}[{jobs}]{blank}");
                assert_eq!(usual(&body).map(|jobs| jobs.len()), Some(count), "{body}");
            }
        }
    }

    #[test]
    fn other_forms_are_left_to_the_json_reader() {
        let one = job("", "US4592001014");
        let with = |old: &str, new: &str| one.replace(old, new);
        for body in [
            String::new(),
            "[]".to_owned(),
            one.clone(),
            format!("[{one}"),
            format!("[{one},]"),
            format!("[{one}]]"),
            format!("[{one}]\u{a0}"),
            format!("[{one}{one}]"),
            format!("[{one},{one},{one},{one}]"),
            format!("[{}]", with("US4592001014", "US45\\u00392001014")),
            format!("[{}]", with("US4592001014", "US459\n2001014")),
            // Blanks are allowed around a text, but not inside it, next to its mark.
            format!("[{}]", with("US4592001014", "US4592001014\n")),
            format!("[{}]", with("US4592001014", "\t")),
            format!("[{}]", with("ID_ISIN", "ID_ISIN\r")),
            format!("[{}]", with("\"US4592001014\"", "4592001014")),
            format!("[{}]", with("idValue", "idvalue")),
            format!("[{}]", with("}", ",\"exchCode\":\"US\"}")),
            format!("[{}]", job("", &"A".repeat(USUAL_BYTES_MAX))),
        ] {
            assert_eq!(usual(&body), None, "{body:.80}");
        }
    }

    proptest! {
        /// It reads nothing that the JSON reader reads as something else.
        #[test]
        fn it_reads_what_the_json_reader_reads(
            pieces in proptest::collection::vec(
                prop::sample::select(vec![
                    "{\"idType\":\"ID_ISIN\",\"idValue\":\"", "{\"idType\": \"TICKER\", \"idValue\": \"",
                    "\"}", "\"},", "IBM", "é", "\\\"", "\\u0041", "\n", " ", "\"", ",", "}", "{", "]", "\\",
                ]),
                0..9,
            ),
        ) {
            let body = format!("[{}]", pieces.concat());
            if let Some(jobs) = usual(&body) {
                prop_assert_eq!(Some(jobs), by_json(&body), "{}", body);
            }
        }
    }
}
