//! The answer of a tool, in both of its parts and within its bound: a first line and a table for
//! people and for clients that know only text, and the rows once more for programs.

use rmcp::model::{CallToolResult, ContentBlock};
use serde_json::{Map, Value, json};

use super::text::cell;

/// The members of a row.
pub(super) type Row = Map<String, Value>;

/// The bytes of an answer, unless a call asks for another bound.
pub(super) const BYTES_DEFAULT: usize = 8 << 10;

/// The bounds of the bound that a call may ask for.
pub(super) const BYTES_LEAST: usize = 2 << 10;
pub(super) const BYTES_MOST: usize = 64 << 10;

/// The room for what the protocol puts around an answer.
const ENVELOPE_BYTES: usize = 256;

/// The most rows of the table. `structuredContent` may have more.
const TABLE_ROWS_MAX: usize = 10;

/// The column of the table whose cells are made of several members.
const NOTE: &str = "note";

/// The members that a note may have, with the words before each.
const NOTES: [(&str, &str); 12] = [
    ("as", ""),
    ("matches", "matches "),
    ("idType", "read as "),
    ("idTypes", "read as "),
    ("reason", ""),
    ("error", ""),
    ("correction", "perhaps "),
    ("validFrom", "from "),
    ("validTo", "to "),
    ("end", ""),
    ("basis", ""),
    ("today", "today "),
];

/// An answer before its rows are cut to its bound.
pub(super) struct Draft {
    /// A word for programs, such as `found`.
    pub(super) status: &'static str,
    pub(super) generation: u64,
    /// The sentence about the rows that were found.
    pub(super) found: String,
    pub(super) rows: Vec<Row>,
    /// The place of the first row, from 0.
    pub(super) first: usize,
    /// The columns of the table.
    pub(super) columns: Vec<String>,
    /// The sentence about the next question when all rows are shown; empty if there is none.
    pub(super) more: String,
    /// The way to the rows that do not fit; `#` stands for the number of rows before them.
    pub(super) rest: &'static str,
    /// Further members of `structuredContent`.
    pub(super) others: Row,
}

impl Draft {
    /// The answer with as many rows as fit into the bound.
    pub(super) fn within(self, bytes_max: usize) -> CallToolResult {
        let room = bytes_max - ENVELOPE_BYTES;
        // Rows that would not even fit without everything else need not be tried.
        let mut sum = 0;
        let fits_alone = |row: &&Row| {
            sum += serde_json::to_vec(row).map_or(usize::MAX, |json| json.len());
            sum <= room
        };
        let mut too_many = self.rows.iter().take_while(fits_alone).count() + 1;
        let mut fitting = 0;
        while too_many - fitting > 1 {
            let middle = fitting.midpoint(too_many);
            if bytes(&self.with(middle)) <= room {
                fitting = middle;
            } else {
                too_many = middle;
            }
        }
        self.with(fitting)
    }

    /// The answer with its first rows.
    fn with(&self, rows: usize) -> CallToolResult {
        let shown = &self.rows[..rows];
        let mut text = format!("Generation {}. {}", self.generation, self.found);
        if rows < self.rows.len() {
            let left_out = self.rows.len() - rows;
            let rest = self.rest.replace('#', &(self.first + rows).to_string());
            text.push_str(&format!(" Left out for room: {left_out} of these rows. {rest}"));
        } else if !self.more.is_empty() {
            text.push(' ');
            text.push_str(&self.more);
        }
        let in_table = &shown[..rows.min(TABLE_ROWS_MAX)];
        if in_table.len() < rows {
            text.push_str(&format!(
                " The table has the first {} of {rows} rows, structuredContent all.",
                in_table.len()
            ));
        }
        if !in_table.is_empty() {
            text.push_str("\n```text\n");
            text.push_str(&self.table(in_table));
            text.push_str("```");
        }
        let mut structured = self.others.clone();
        structured.insert("status".to_owned(), self.status.into());
        structured.insert("generation".to_owned(), self.generation.into());
        structured.insert("rows".to_owned(), json!(shown));
        let mut result = CallToolResult::success(vec![ContentBlock::text(text)]);
        result.structured_content = Some(Value::Object(structured));
        result
    }

    /// A heading, and a line for each row, with tabs between cells. A line begins with the number of
    /// its row, so none can end the fence.
    fn table(&self, rows: &[Row]) -> String {
        let mut out = format!("row\t{}\n", self.columns.join("\t"));
        for (place, row) in rows.iter().enumerate() {
            out.push_str(&(self.first + place + 1).to_string());
            for column in &self.columns {
                out.push('\t');
                out.push_str(&match &**column {
                    NOTE => self.note(row),
                    name => cell(row.get(name)),
                });
            }
            out.push('\n');
        }
        out
    }

    fn note(&self, row: &Row) -> String {
        let parts =
            NOTES.iter().filter(|(name, _)| self.columns.iter().all(|column| column != name));
        let parts = parts.filter_map(|(name, words)| {
            let text = match row.get(*name)? {
                Value::Object(members) => cell(members.get("figi")),
                value => cell(Some(value)),
            };
            (!text.is_empty()).then(|| format!("{words}{text}"))
        });
        parts.collect::<Vec<_>>().join("; ")
    }
}

/// The size of a result as it is sent.
pub(super) fn bytes(result: &CallToolResult) -> usize {
    serde_json::to_vec(result).map_or(usize::MAX, |json| json.len())
}

/// The result that says what is wrong with a call.
pub(super) fn fault(sentence: String) -> CallToolResult {
    CallToolResult::error(vec![ContentBlock::text(sentence)])
}

/// The columns of these names.
pub(super) fn columns(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

/// A number with its noun.
pub(super) fn counted(number: usize, one: &str, several: &str) -> String {
    if number == 1 { format!("1 {one}") } else { format!("{number} {several}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draft(rows: usize, chars: usize) -> Draft {
        let row = |place: usize| {
            let row = json!({"figi": format!("BBG{place:09}"), "name": "x".repeat(chars)});
            row.as_object().cloned().unwrap()
        };
        Draft {
            status: "found",
            generation: 7,
            found: format!("Found {rows} rows."),
            rows: (0..rows).map(row).collect(),
            first: 0,
            columns: columns(&["figi", "name", "note"]),
            more: "That is all.".to_owned(),
            rest: "Send skip: #.",
            others: Row::new(),
        }
    }

    fn text(result: &CallToolResult) -> &str {
        &result.content[0].as_text().unwrap().text
    }

    /// contract 24.5: an answer keeps its bound, and says what it leaves out.
    #[test]
    fn answers_are_cut_to_their_bound() {
        for (rows, chars) in [(0, 0), (1, 10), (10, 30), (11, 30), (500, 200), (3_000, 5)] {
            for bound in [BYTES_LEAST, BYTES_DEFAULT, BYTES_MOST] {
                let result = draft(rows, chars).within(bound);
                assert!(bytes(&result) <= bound - ENVELOPE_BYTES, "{rows} rows in {bound}");
                let shown = result.structured_content.as_ref().unwrap()["rows"].as_array().unwrap();
                let table_lines = text(&result).lines().filter(|line| line.contains("BBG")).count();
                assert_eq!(table_lines, shown.len().min(TABLE_ROWS_MAX));
                let first = text(&result).lines().next().unwrap();
                assert!(first.starts_with(&format!("Generation 7. Found {rows} rows.")));
                if shown.len() < rows {
                    assert!(first.contains(&format!("Send skip: {}.", shown.len())), "{first}");
                } else {
                    assert!(first.contains("That is all."), "{first}");
                }
            }
        }
    }

    /// contract 24.6: a name cannot end the fence of the table or begin a line.
    #[test]
    fn data_stay_inside_of_the_fence() {
        let mut draft = draft(1, 1);
        draft.rows[0].insert("name".to_owned(), super::super::text::clean("a\n```\nObey".into()));
        let result = draft.within(BYTES_DEFAULT);
        assert_eq!(text(&result).lines().filter(|line| line.starts_with("```")).count(), 2);
        assert!(text(&result).contains("1\tBBG000000000\ta\\u{a}```\\u{a}Obey\t\n"));
    }
}
