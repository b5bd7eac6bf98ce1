//! Formats a preview for people, for a terminal of 80 columns.

use std::fmt;

use figdex_io::{escaped, grouped};

use super::{Ignored, Preview, Previews, Reason, Taken};
use crate::reference::wrap;

/// The most characters of a name, an example or a sample in a line.
const SHOWN_CHARS_MAX: usize = 24;

impl fmt::Display for Previews {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, preview) in self.0.iter().enumerate() {
            if place > 0 {
                writeln!(f)?;
            }
            preview.fmt(f)?;
        }
        Ok(())
    }
}

impl fmt::Display for Preview {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", escaped(&self.input))?;
        if let Some(problem) = &self.problem {
            wrap(f, "  ", &format!("a build cannot read it: {}", escaped(problem)))?;
        }
        if let Some(format) = &self.enriches_as {
            let format = escaped(format);
            let what = format!("it is {format} without FIGIs, which only `build --enrich` takes");
            wrap(f, "  ", &what)?;
        }
        if let Some(format) = &self.format {
            let more = if self.is_whole { "all" } else { "the first; --rows N reads more" };
            let how = if self.is_recognised { "recognised" } else { "read" };
            writeln!(f, "  {how} as {}", escaped(format))?;
            writeln!(f, "  {} rows read ({more})", grouped(self.read))?;
            writeln!(f, "  {:>12}  accepted", grouped(self.accepted))?;
            writeln!(f, "  {:>12}  rejected", grouped(self.rejected))?;
            writeln!(f, "  {:>12}  skipped", grouped(self.skipped))?;
            self.write_columns(f)?;
            write_reasons(f, "skipped rows", &self.skips)?;
            write_reasons(f, "rejected rows", &self.rejects)?;
            write_reasons(f, "dropped cells", &self.dropped)?;
        }
        if let Some(proposal) = &self.proposal {
            writeln!(f, "\nsave these lines as columns.toml, correct them, and look again with")?;
            writeln!(f, "figdex-ingest inspect --columns columns.toml FILE\n\n{proposal}")?;
        }
        Ok(())
    }
}

impl Preview {
    fn write_columns(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "\n{:>14}  columns taken", "filled")?;
        for Taken { column, from, filled, example } in &self.taken {
            let from = match &from[..] {
                [] => " (constant)".to_owned(),
                [name] if name == column => String::new(),
                names => format!(" from {}", short(&names.join(" or "))),
            };
            writeln!(f, "{:>14}  {column}{from}: {}", grouped(*filled), short(example))?;
        }
        if !self.absent.is_empty() {
            let names = escaped(self.absent.join(", ")).to_string();
            writeln!(f, "\ncolumns of the format that are missing")?;
            wrap(f, "  ", &names)?;
        }
        if !self.ignored.is_empty() {
            writeln!(f, "\ncolumns ignored")?;
            let names: Vec<&str> = self.ignored.iter().map(|ignored| &*ignored.name).collect();
            wrap(f, "  ", &escaped(names.join(", ")).to_string())?;
        }
        for Ignored { name, did_you_mean } in &self.ignored {
            if let Some(column) = did_you_mean {
                writeln!(f, "  {}: did you mean {column}?", escaped(name))?;
            }
        }
        Ok(())
    }
}

fn write_reasons(f: &mut fmt::Formatter<'_>, title: &str, reasons: &[Reason]) -> fmt::Result {
    if !reasons.is_empty() {
        writeln!(f, "\n{title}")?;
    }
    for Reason { column, reason, count, samples } in reasons {
        let column = column.map_or(String::new(), |column| format!("{column}: "));
        writeln!(f, "{:>14}  {column}{reason}", grouped(*count))?;
        for sample in samples {
            writeln!(f, "{:16}line {}: {}", "", sample.line, escaped(&sample.value))?;
        }
    }
    Ok(())
}

fn short(text: &str) -> String {
    let text = escaped(text).to_string();
    match text.char_indices().nth(SHOWN_CHARS_MAX) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}
