//! Reads JSON lines: an object per line.

use std::io::{BufRead, Read as _};

use super::RECORD_BYTES_MAX;
use super::json::Objects;
use super::next::{DumpError, Next};
use crate::format::plan::Plan;
use crate::row::Row;

pub(super) struct JsonLines<R> {
    input: R,
    line: u64,
    objects: Objects,
}

impl<R: BufRead> JsonLines<R> {
    pub(super) fn new(input: R, plan: &Plan) -> Self {
        Self { input, line: 0, objects: Objects::new(plan) }
    }

    pub(super) fn unknown_columns(&self) -> &[String] {
        self.objects.unknown()
    }

    pub(super) fn next(&mut self, plan: &Plan, row: &mut Row) -> Result<Next, DumpError> {
        loop {
            self.line += 1;
            row.line = self.line;
            row.raw.clear();
            let mut line = self.input.by_ref().take(RECORD_BYTES_MAX as u64 + 1);
            line.read_until(b'\n', &mut row.raw).map_err(DumpError::read(self.line))?;
            if row.raw.is_empty() {
                return Ok(Next::End);
            }
            if row.raw.len() > RECORD_BYTES_MAX {
                return Err(DumpError::too_long(self.line));
            }
            while row.raw.last().is_some_and(|byte| matches!(byte, b'\n' | b'\r')) {
                row.raw.pop();
            }
            if !row.raw.trim_ascii().is_empty() {
                break;
            }
        }
        if let Err(reason) = self.objects.read(plan, &row.raw) {
            return Ok(Next::Rejected(reason));
        }
        Ok(if plan.row(&self.objects.record, row) { Next::Row } else { Next::Skipped })
    }
}
