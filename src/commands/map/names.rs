//! The names of the added columns.

use super::cells::push_json;
use super::past::PastCell;
use crate::config::map::{Many, MapFlags};

/// The added columns, in order: `row` with `--many all`, then `match`, `matches`, `reason`, `idType`
/// with `--add-type`, the fields, the cells of the past, and last `candidates` with
/// `--names-as-candidates`.
#[derive(Clone, Debug)]
pub(super) struct Names {
    names: Vec<String>,
    /// Each name as a member of a JSON object, with its colon.
    members: Vec<Vec<u8>>,
    /// The beginning of the member names for columns without a heading. No heading begins with it.
    unnamed: String,
    /// See [`Names::fields_from`].
    fields_from: usize,
}

impl Names {
    /// Makes the names. A name that the table already has gets the prefix `figdex_`.
    pub(super) fn new(taken: &[String], flags: &MapFlags, past: &[PastCell]) -> Self {
        let row = (flags.many == Many::All).then_some("row");
        let own = row.into_iter().chain(["match", "matches", "reason"]);
        let own = own.chain(flags.add_type.then_some("idType"));
        let fields_from = own.clone().count();
        let candidates = flags.names_as_candidates.then_some("candidates");
        let all = own.chain(flags.fields.iter().map(|field| field.name()));
        let all = all.chain(past.iter().map(|cell| cell.name())).chain(candidates);
        let names = all.map(|name| {
            let mut name = name.to_owned();
            while taken.contains(&name) {
                name.insert_str(0, "figdex_");
            }
            name
        });
        let names: Vec<String> = names.collect();
        let member = |name: &String| {
            let mut member = Vec::new();
            push_json(name, &mut member);
            member.push(b':');
            member
        };
        let mut unnamed = "column_".to_owned();
        while taken.iter().any(|name| name.starts_with(&unnamed)) {
            unnamed.insert_str(0, "figdex_");
        }
        Self { members: names.iter().map(member).collect(), names, unnamed, fields_from }
    }

    pub(super) fn all(&self) -> &[String] {
        &self.names
    }

    /// The place of the first column after those of the outcome.
    pub(super) fn fields_from(&self) -> usize {
        self.fields_from
    }

    /// The member for a column without a heading: `column_7`, counted from 1.
    pub(super) fn of_unnamed(&self, column: usize) -> String {
        format!("{}{}", self.unnamed, column + 1)
    }

    /// The name at a place as a member of a JSON object, with its colon.
    pub(super) fn member(&self, place: usize) -> &[u8] {
        &self.members[place]
    }
}
