//! Reads JSON documents, one or several in succession, with the records at given paths: the
//! entries of an array, or of the arrays inside an object. Only the current record and the names
//! on the path to it are in memory, never a whole document.

use std::io::BufRead;

use super::RECORD_BYTES_MAX;
use super::json::Objects;
use super::next::{DumpError, Next};
use crate::format::description::{Path, Segment};
use crate::format::plan::Plan;
use crate::format::record::Slot;
use crate::row::{CellKind, Row};

/// The default path to the records: the entries of an array, or the members of an object.
const ENTRIES: [Segment; 1] = [Segment::Any];

pub(super) struct JsonDocument<R> {
    bytes: Bytes<R>,
    paths: Vec<Path>,
    /// The objects and arrays around the current position.
    open: Vec<Open>,
    stars: Vec<(usize, Slot)>,
    objects: Objects,
}

/// An object or array on the path to records.
struct Open {
    is_array: bool,
    /// The name of the current member, or the number of the current entry, from 1.
    step: String,
    entries: u64,
}

impl<R: BufRead> JsonDocument<R> {
    pub(super) fn new(input: R, plan: &Plan) -> Self {
        let entries = || vec![Path(ENTRIES.to_vec())];
        Self {
            bytes: Bytes { input, line: 1 },
            paths: plan.description().records.clone().unwrap_or_else(entries),
            open: Vec::new(),
            stars: plan.stars(),
            objects: Objects::new(plan),
        }
    }

    pub(super) fn unknown_columns(&self) -> &[String] {
        self.objects.unknown()
    }

    pub(super) fn next(&mut self, plan: &Plan, row: &mut Row) -> Result<Next, DumpError> {
        if !self.find(row)? {
            return Ok(Next::End);
        }
        if let Err(reason) = self.objects.read(plan, &row.raw) {
            return Ok(Next::Rejected(reason));
        }
        for &(star, slot) in &self.stars {
            if let Some(step) = matched_by(star, &self.open, &self.paths) {
                self.objects.record.put(slot, step, CellKind::Text, false);
            }
        }
        Ok(if plan.row(&self.objects.record, row) { Next::Row } else { Next::Skipped })
    }

    /// Finds the next record and puts its bytes into `row`. Returns `false` at the end.
    pub(super) fn find(&mut self, row: &mut Row) -> Result<bool, DumpError> {
        loop {
            let Some(byte) = self.bytes.peek_after_blanks()? else {
                return match self.open.is_empty() {
                    true => Ok(false),
                    false => Err(self.bytes.error("the JSON ends in the middle")),
                };
            };
            if !self.step(byte)? {
                continue;
            }
            let depth = self.open.len();
            if self.paths.iter().any(|path| path.0.len() == depth && self.is_under(path)) {
                row.line = self.bytes.line;
                self.bytes.value(Some(&mut row.raw))?;
                return Ok(true);
            }
            let leads_on =
                self.paths.iter().any(|path| path.0.len() > depth && self.is_under(path));
            match self.bytes.peek_after_blanks()? {
                Some(byte @ (b'{' | b'[')) if leads_on => {
                    self.bytes.take();
                    let is_array = byte == b'[';
                    self.open.push(Open { is_array, step: String::new(), entries: 0 });
                }
                _ => self.bytes.value(None)?,
            }
        }
    }

    /// Moves to the next value in the innermost object or array. Returns `false` if that ended.
    fn step(&mut self, byte: u8) -> Result<bool, DumpError> {
        let Some(open) = self.open.last_mut() else {
            return Ok(true);
        };
        let end = if open.is_array { b']' } else { b'}' };
        if byte == end {
            self.bytes.take();
            self.open.pop();
            return Ok(false);
        }
        let mut byte = byte;
        if open.entries > 0 {
            if byte != b',' {
                let what = format!("not JSON: , or {} is missing", char::from(end));
                return Err(self.bytes.error(what));
            }
            self.bytes.take();
            byte = self.bytes.peek_after_blanks()?.unwrap_or(0);
        }
        open.entries += 1;
        open.step.clear();
        if open.is_array {
            open.step.push_str(&open.entries.to_string());
            return Ok(true);
        }
        if byte != b'"' {
            return Err(self.bytes.error("not JSON: a member has no name"));
        }
        let mut name = Vec::new();
        self.bytes.string(Some(&mut name))?;
        // If the name is not valid text, only a star of a path matches it.
        open.step = serde_json::from_slice(&name).unwrap_or_else(|_| String::new());
        if self.bytes.peek_after_blanks()? != Some(b':') {
            return Err(self.bytes.error("not JSON: : is missing"));
        }
        self.bytes.take();
        Ok(true)
    }

    fn is_under(&self, path: &Path) -> bool {
        is_under(&self.open, path)
    }
}

/// Whether the current position is on that path.
fn is_under(open: &[Open], path: &Path) -> bool {
    open.iter().zip(&path.0).all(|(open, segment)| match segment {
        Segment::Any => true,
        Segment::Member(name) => !open.is_array && open.step == *name,
    })
}

/// The member or entry that a star matched, on the path to the current record. Stars are numbered
/// from 1.
fn matched_by<'a>(star: usize, open: &'a [Open], paths: &[Path]) -> Option<&'a str> {
    let mut paths = paths.iter().filter(|path| path.0.len() == open.len());
    let path = paths.find(|path| is_under(open, path))?;
    let steps = open.iter().zip(&path.0);
    let mut stars = steps.filter(|(_, segment)| **segment == Segment::Any);
    stars.nth(star - 1).map(|(open, _)| open.step.as_str())
}

/// The bytes of a document, with the current line.
struct Bytes<R> {
    input: R,
    line: u64,
}

impl<R: BufRead> Bytes<R> {
    fn error(&self, what: impl Into<String>) -> DumpError {
        DumpError::new(self.line, what)
    }

    fn peek_after_blanks(&mut self) -> Result<Option<u8>, DumpError> {
        loop {
            let buffer = self.input.fill_buf().map_err(DumpError::read(self.line))?;
            if buffer.is_empty() {
                return Ok(None);
            }
            let is_blank = |byte: &&u8| matches!(byte, b' ' | b'\t' | b'\r' | b'\n');
            let blank = buffer.iter().take_while(is_blank).count();
            self.line += lines(&buffer[..blank]);
            let found = buffer.get(blank).copied();
            self.input.consume(blank);
            if found.is_some() {
                return Ok(found);
            }
        }
    }

    /// Consumes the byte that was peeked.
    fn take(&mut self) {
        self.input.consume(1);
    }

    /// Reads a value of any kind, and appends its bytes to `kept` if given.
    fn value(&mut self, kept: Option<&mut Vec<u8>>) -> Result<(), DumpError> {
        match self.peek_after_blanks()? {
            Some(b'"') => self.string(kept),
            Some(b'{' | b'[') => {
                let mut depth = 0_u64;
                let (mut quoted, mut escaped) = (false, false);
                self.scan(kept, |byte| {
                    if quoted {
                        (quoted, escaped) = (byte != b'"' || escaped, byte == b'\\' && !escaped);
                        return Scan::More;
                    }
                    match byte {
                        b'"' => quoted = true,
                        b'{' | b'[' => depth += 1,
                        b'}' | b']' => depth -= 1,
                        _ => {}
                    }
                    if depth == 0 { Scan::Last } else { Scan::More }
                })
            }
            Some(b',' | b':' | b'}' | b']') | None => {
                Err(self.error("not JSON: a value is missing"))
            }
            Some(_) => self.scan(kept, |byte| match byte {
                b',' | b']' | b'}' | b':' | b'{' | b'[' | b'"' | b' ' | b'\t' | b'\r' | b'\n' => {
                    Scan::After
                }
                _ => Scan::More,
            }),
        }
    }

    fn string(&mut self, kept: Option<&mut Vec<u8>>) -> Result<(), DumpError> {
        let (mut opened, mut escaped) = (false, false);
        self.scan(kept, |byte| {
            let closes = opened && byte == b'"' && !escaped;
            (opened, escaped) = (true, byte == b'\\' && !escaped);
            if closes { Scan::Last } else { Scan::More }
        })
    }

    /// Reads bytes until `end` reports the end of the value. Appends them to `kept` if given.
    fn scan(
        &mut self,
        mut kept: Option<&mut Vec<u8>>,
        mut end: impl FnMut(u8) -> Scan,
    ) -> Result<(), DumpError> {
        let line = self.line;
        loop {
            let buffer = self.input.fill_buf().map_err(DumpError::read(self.line))?;
            let at_end = buffer.is_empty();
            let mut read = 0;
            let mut found = false;
            for &byte in buffer {
                match end(byte) {
                    Scan::More => read += 1,
                    Scan::Last => {
                        read += 1;
                        found = true;
                    }
                    Scan::After => found = true,
                }
                if found {
                    break;
                }
            }
            self.line += lines(&buffer[..read]);
            if let Some(kept) = &mut kept {
                kept.extend_from_slice(&buffer[..read]);
                if kept.len() > RECORD_BYTES_MAX {
                    return Err(DumpError::too_long(line));
                }
            }
            self.input.consume(read);
            match () {
                () if found => return Ok(()),
                // A number or a word may end with the document.
                () if at_end && matches!(end(b' '), Scan::After) => return Ok(()),
                () if at_end => return Err(DumpError::new(line, "the JSON ends in the middle")),
                () => {}
            }
        }
    }
}

/// Whether a value ended.
enum Scan {
    /// The value continues.
    More,
    /// This byte was the last of the value.
    Last,
    /// The value ended before this byte.
    After,
}

fn lines(bytes: &[u8]) -> u64 {
    bytes.iter().filter(|&&byte| byte == b'\n').count() as u64
}
