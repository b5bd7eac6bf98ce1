//! The rows of a table that are not asked: its footer, rows without an identifier, and its heading
//! where it is repeated. The page leaves out the same rows (`src/site/page/shared/footer.js`), and
//! one file of cases (`tests/tables.jsonl`) holds for both.

use std::borrow::Cow;

use figdex_index::{has_footer_word, is_footer_word, trimmed};
use figdex_ingest::table::{Batch, RowBytes};

use super::columns::{Columns, text_of};

/// The reason why a row is not asked (contract 17.16).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LeftOut {
    /// A total, the last row but for notes.
    Total,
    /// A row below the total.
    BelowTotal,
    /// A row without an identifier.
    Blank,
    /// The heading, repeated.
    Heading,
}

impl LeftOut {
    /// The reason for people.
    pub(super) fn reason(self) -> &'static str {
        match self {
            Self::Total => "footer: a total",
            Self::BelowTotal => "footer: below the total",
            Self::Blank => "no identifier",
            Self::Heading => "no identifier: the heading again",
        }
    }

    pub(super) fn is_footer(self) -> bool {
        matches!(self, Self::Total | Self::BelowTotal)
    }
}

/// The rule by which the last rows of a table are its footer.
#[derive(Clone, Debug)]
pub(super) struct FooterRule {
    /// The places of the identifiers.
    pub(super) identifiers: Vec<usize>,
    /// Whether the table has only one column. Then every row has one cell, and is not a note.
    pub(super) is_one_column: bool,
}

/// A row as the rule sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    /// A total whose cell of the identifier is blank.
    Total,
    /// A word for "total" in place of an identifier.
    TotalAsIdentifier,
    /// A blank row, or one with a single cell that is not an identifier.
    Note,
    Other,
}

impl FooterRule {
    /// The rule for these columns.
    pub(super) fn of(columns: &Columns) -> Self {
        let identifiers = columns.identifiers.iter().map(|identifier| identifier.column);
        Self { identifiers: identifiers.collect(), is_one_column: columns.names.len() < 2 }
    }

    /// The place of the first row of a footer at the end of a batch.
    pub(super) fn start_in(&self, batch: &Batch) -> Option<usize> {
        self.start((0..batch.rows()).rev().map(|place| (place, self.part(batch.row(place)))))
    }

    /// Whether a footer that began before a batch may contain all of it.
    pub(super) fn may_contain(&self, batch: &Batch) -> bool {
        let mut parts = (0..batch.rows()).map(|place| self.part(batch.row(place)));
        parts.all(|part| matches!(part, Part::Total | Part::Note))
    }

    /// Whether a row is a total.
    pub(super) fn is_total(&self, row: RowBytes<'_>) -> bool {
        matches!(self.part(row), Part::Total | Part::TotalAsIdentifier)
    }

    fn start(&self, from_last: impl Iterator<Item = (usize, Part)>) -> Option<usize> {
        let mut start = None;
        for (place, part) in from_last {
            match part {
                Part::Total => start = Some(place),
                // Above a total, such a word may be a company.
                Part::TotalAsIdentifier => return start.or(Some(place)),
                Part::Note => {}
                Part::Other => break,
            }
        }
        start
    }

    fn part(&self, row: RowBytes<'_>) -> Part {
        let cells = (0..row.cells()).map(|place| text_of(row.cell(place)).map(trimmed));
        // A text that is not UTF-8 is neither blank nor a word.
        let cells: Vec<Cow<'_, str>> = cells.map(|cell| cell.unwrap_or("?".into())).collect();
        self.part_of(&cells)
    }

    fn part_of<S: AsRef<str>>(&self, cells: &[S]) -> Part {
        let filled =
            |place: &usize| cells.get(*place).is_some_and(|cell| !cell.as_ref().is_empty());
        let first = (0..2).find(filled);
        let is_apart = |place: usize| {
            !self.identifiers.iter().any(|identifier| *identifier != place && filled(identifier))
        };
        if let Some(place) = first.filter(|place| is_apart(*place)) {
            let text = cells[place].as_ref();
            let is_identifier = self.identifiers.contains(&place);
            if is_footer_word(text) {
                return if is_identifier { Part::TotalAsIdentifier } else { Part::Total };
            }
            if !is_identifier && has_footer_word(text) {
                return Part::Total;
            }
        }
        let mut all = (0..cells.len()).filter(filled);
        match (all.next(), all.next()) {
            (None, _) => Part::Note,
            (Some(only), None) if !self.is_one_column => {
                let is_identifier =
                    self.identifiers.contains(&only) && is_like_identifier(cells[only].as_ref());
                if is_identifier { Part::Other } else { Part::Note }
            }
            _ => Part::Other,
        }
    }
}

/// Whether all cells of a row are blank.
pub(super) fn is_blank(row: RowBytes<'_>) -> bool {
    let is_blank = |place| text_of(row.cell(place)).is_some_and(|text| trimmed(text).is_empty());
    (0..row.cells()).all(is_blank)
}

/// Whether a row is the heading of its table, repeated.
pub(super) fn is_heading(row: RowBytes<'_>, columns: &Columns) -> bool {
    if !columns.has_heading || !columns.are_delimited {
        return false;
    }
    let cells = row.cells();
    let names = columns.names.iter().map(String::as_str);
    let texts = (0..cells).map(|place| text_of(row.cell(place)));
    are_same(texts, names.map(Some))
}

/// Whether two rows have the same texts, but for what is around these and for blank cells at the
/// end. A text that is not UTF-8 is the same as no other.
fn are_same<'a>(
    mut one: impl Iterator<Item = Option<&'a str>>,
    mut other: impl Iterator<Item = Option<&'a str>>,
) -> bool {
    loop {
        match (one.next(), other.next()) {
            (None, None) => return true,
            (one, other) => {
                let (Some(one), Some(other)) = (one.unwrap_or(Some("")), other.unwrap_or(Some("")))
                else {
                    return false;
                };
                if trimmed(one) != trimmed(other) {
                    return false;
                }
            }
        }
    }
}

/// Whether a text of a note may be an identifier: letters and several digits.
fn is_like_identifier(text: &str) -> bool {
    let digits = text.bytes().filter(u8::is_ascii_digit).count();
    (5..=12).contains(&text.len()) && text.bytes().all(|c| c.is_ascii_alphanumeric()) && digits > 2
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    /// contract 17.16: one file of cases holds for the command and for the page.
    #[test]
    fn the_same_rows_are_left_out_as_on_the_page() {
        let cases = include_str!("../../../tests/tables.jsonl");
        let mut seen = 0;
        for case in cases.lines() {
            let case: Value = serde_json::from_str(case).unwrap();
            let number = |name: &str| case[name].as_u64().map(|it| usize::try_from(it).unwrap());
            let texts = |row: &Value| -> Vec<String> {
                let cells = row.as_array().unwrap().iter();
                cells.map(|cell| trimmed(cell.as_str().unwrap()).into_owned()).collect()
            };
            let rows: Vec<Vec<String>> =
                case["rows"].as_array().unwrap().iter().map(texts).collect();
            let widest = rows.iter().map(Vec::len).max().unwrap_or(0);
            let rule = FooterRule {
                identifiers: vec![number("column").unwrap_or(0)],
                is_one_column: widest < 2,
            };
            let heading = number("heading").unwrap();
            let places = (heading..rows.len()).rev();
            let start = rule.start(places.map(|place| (place, rule.part_of(&rows[place]))));
            assert_eq!(start.map_or(0, |place| place + 1), number("total").unwrap(), "{case}");
            let Some(unasked) = case["unasked"].as_array() else { continue };
            let column = rule.identifiers[0];
            let texts = |row: usize| rows[row].iter().map(|cell| Some(cell.as_str()));
            let left_out = |place: &usize| {
                start.is_some_and(|start| *place >= start)
                    || rows[*place].get(column).is_none_or(String::is_empty)
                    || are_same(texts(*place), texts(heading - 1))
            };
            let found: Vec<usize> = (heading..rows.len()).filter(left_out).collect();
            let found: Vec<usize> = found.into_iter().map(|place| place + 1).collect();
            assert_eq!(serde_json::json!(found), serde_json::json!(unasked), "{case}");
            seen += 1;
        }
        assert!(seen >= 10, "{seen}");
    }
}
