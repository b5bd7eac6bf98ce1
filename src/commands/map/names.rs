//! The names of the added columns.

use anyhow::bail;
use figdex_index::Field;

use super::cells::push_json;
use crate::config::map::Many;

/// The added columns, in order: `row` with `--many all`, then `match`, `matches`, `reason` and the
/// fields.
#[derive(Clone, Debug)]
pub(super) struct Names {
    names: Vec<String>,
    /// Each as a member of a JSON object, with its colon.
    members: Vec<Vec<u8>>,
}

impl Names {
    /// The names. One that the table has already gets the prefix `figdex_`.
    ///
    /// # Errors
    /// When a field is asked for twice.
    pub(super) fn new(taken: &[String], fields: &[Field], many: Many) -> anyhow::Result<Self> {
        for (place, field) in fields.iter().enumerate() {
            if fields[..place].contains(field) {
                bail!("--fields names {} twice", field.name());
            }
        }
        let row = (many == Many::All).then_some("row");
        let own = row.into_iter().chain(["match", "matches", "reason"]);
        let all = own.chain(fields.iter().map(|field| field.name()));
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
        Ok(Self { members: names.iter().map(member).collect(), names })
    }

    pub(super) fn all(&self) -> &[String] {
        &self.names
    }

    /// The name at a place as a member of a JSON object, with its colon.
    pub(super) fn member(&self, place: usize) -> &[u8] {
        &self.members[place]
    }
}
