//! The result as a Parquet file. The threads that answer write each cell after its length, and the
//! thread that puts the rows out makes typed cells of them: the columns of the table are texts, and
//! of the added columns counts are whole numbers and days are days.

use std::io::Write;

use anyhow::{Context as _, bail};
use figdex_index::Date;
use figdex_ingest::inspect::parquet::{
    ParquetCell, ParquetColumn, ParquetKind, ParquetOptions, ParquetRows,
};

use super::cells::{ABSENT, SURPLUS};
use super::past::PastCell;
use super::rows::RowWriter;
use crate::config::map::Many;

/// The result that is being written.
pub(super) struct ParquetResult {
    /// `None` when the file is complete.
    rows: Option<ParquetRows>,
    kinds: Vec<ParquetKind>,
}

impl ParquetResult {
    /// Begins a file with the columns that a writer writes.
    pub(super) fn begin(writer: &RowWriter) -> anyhow::Result<Self> {
        let columns = columns(writer);
        let kinds = columns.iter().map(|column| column.kind).collect();
        let rows = ParquetRows::begin(columns, ParquetOptions::default())?;
        Ok(Self { rows: Some(rows), kinds })
    }

    /// Adds rows of cells.
    ///
    /// # Errors
    /// When `out` fails, or a row has more cells than the heading.
    pub(super) fn add(&mut self, mut bytes: &[u8], out: &mut dyn Write) -> anyhow::Result<()> {
        let Self { rows: Some(rows), kinds } = self else { bail!("the file is complete") };
        while !bytes.is_empty() {
            let mut texts = Vec::with_capacity(kinds.len());
            for _ in kinds.iter() {
                texts.push(text(&mut bytes)?.map(String::from_utf8_lossy));
            }
            let mut cells = Vec::with_capacity(kinds.len());
            for (kind, text) in kinds.iter().zip(&texts) {
                cells.push(cell(*kind, text.as_deref())?);
            }
            rows.add(cells, out)?;
        }
        Ok(())
    }

    /// Completes the file.
    ///
    /// # Errors
    /// When `out` fails.
    pub(super) fn end(&mut self, out: &mut dyn Write) -> anyhow::Result<()> {
        match self.rows.take() {
            Some(rows) => Ok(rows.end(out)?),
            None => Ok(()),
        }
    }
}

/// Takes the next cell.
fn text<'a>(bytes: &mut &'a [u8]) -> anyhow::Result<Option<&'a [u8]>> {
    const PARTIAL: &str = "a row has fewer cells than the columns";
    let (length, rest) = bytes.split_first_chunk::<4>().context(PARTIAL)?;
    let length = match u32::from_le_bytes(*length) {
        ABSENT => {
            *bytes = rest;
            return Ok(None);
        }
        SURPLUS => bail!(
            "a row has more cells than the heading, and a Parquet file has the same columns for \
             all rows: add headings, or name a .csv file"
        ),
        length => length as usize,
    };
    let (text, rest) = rest.split_at_checked(length).context(PARTIAL)?;
    *bytes = rest;
    Ok(Some(text))
}

fn cell(kind: ParquetKind, text: Option<&str>) -> anyhow::Result<ParquetCell<'_>> {
    let Some(text) = text else { return Ok(ParquetCell::Absent) };
    Ok(match kind {
        ParquetKind::Whole => ParquetCell::Whole(text.parse().context("a count")?),
        ParquetKind::Date => ParquetCell::Date(Date::parse(text).context("a day")?),
        _ => ParquetCell::Text(text),
    })
}

/// The columns of the table, then the added ones.
fn columns(writer: &RowWriter) -> Vec<ParquetColumn> {
    let own = writer.columns.names.iter().enumerate().map(|(place, name)| match &**name {
        "" => writer.names.of_unnamed(place),
        name => name.to_owned(),
    });
    let own = own.map(|name| ParquetColumn::new(name, ParquetKind::Text));
    let number = (writer.many == Many::All).then_some(ParquetKind::Whole).into_iter();
    // The outcome, the number of matches, and the reason.
    let outcome = [ParquetKind::Text, ParquetKind::Whole, ParquetKind::Text];
    let texts = usize::from(writer.has_type) + writer.fields.len();
    let past = writer.past.iter().map(|cell| match cell {
        PastCell::ValidFrom | PastCell::ValidTo => ParquetKind::Date,
        _ => ParquetKind::Text,
    });
    let candidates = writer.has_candidates.then_some(ParquetKind::Text);
    let kinds = number.chain(outcome).chain(std::iter::repeat_n(ParquetKind::Text, texts));
    let kinds = kinds.chain(past).chain(candidates);
    let added = writer.names.all().iter().zip(kinds);
    own.chain(added.map(|(name, kind)| ParquetColumn::new(name.clone(), kind))).collect()
}
