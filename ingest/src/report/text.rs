//! The report as text for people: a table of row counts, then rejects, conflicts and other
//! findings, each with an example or a place.

use std::fmt;

use figdex_index::CountedChanges;
use figdex_io::{Size, escaped, escaped_path, grouped};

use super::conflicts::{InputValue, Sample};
use super::{ChangesReport, Counts, EnrichCounts, NamesCounts, Published, Report, Tally};

/// The most characters of an input's name in the text. For a longer name, only the end is shown,
/// because the names of files in one folder differ there.
const NAME_CHARS_MAX: usize = 32;

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write_rows(f)?;
        self.write_formats(f)?;
        self.write_faults(f)?;
        self.write_conflicts(f)?;
        if !self.filled.is_empty() {
            writeln!(f, "\nfields filled by --enrich")?;
            for (column, count) in &self.filled {
                writeln!(f, "{:>12}  {}", grouped(*count), column.name())?;
            }
        }
        if !self.from_exchanges.is_empty() {
            writeln!(f, "\nfields filled by --exchanges")?;
            for (column, count) in &self.from_exchanges {
                writeln!(f, "{:>12}  {}", grouped(*count), column.name())?;
            }
        }
        if !self.lacking_in_exchanges.is_empty() {
            let columns = self.lacking_in_exchanges.join(", ");
            writeln!(f, "\nthe table of --exchanges has no column {columns}")?;
        }
        self.write_ignored(f)?;
        if let Some(comparison) = &self.comparison {
            write!(f, "\n{comparison}")?;
        }
        for (place, warning) in self.warnings.iter().enumerate() {
            let line_end = if place == 0 { "\n" } else { "" };
            writeln!(f, "{line_end}warning: {}", escaped(warning))?;
        }
        if let Some(path) = &self.rejects_file {
            writeln!(f, "\nrejected rows and dropped cells are in {}", escaped_path(path))?;
        }
        if let Some(published) = &self.published {
            let Published { generation, instruments, bytes, token, date, changes, past } =
                published;
            writeln!(
                f,
                "\npublished generation {generation}: {} instruments in {} ({} bytes each), {:.1} s",
                grouped(*instruments),
                Size(*bytes),
                grouped(bytes / instruments.max(&1)),
                self.elapsed.as_secs_f64()
            )?;
            writeln!(f, "its day is {date}, its token {token}")?;
            if let Some(changes) = changes {
                writeln!(f, "{changes}")?;
            }
            if let Some(past) = past {
                writeln!(f, "{past}")?;
            }
        }
        Ok(())
    }
}

impl fmt::Display for ChangesReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let CountedChanges { inserted, updated, deleted, cosmetic } = self.counts;
        if self.is_marker {
            return f.write_str(
                "more than half of the instruments have changed: readers of the changes must \
                 export again",
            );
        }
        let (inserted, deleted) = (grouped(inserted), grouped(deleted));
        let (updated, cosmetic) = (grouped(updated), grouped(cosmetic));
        write!(
            f,
            "changes: {inserted} new, {deleted} gone, {updated} different ({cosmetic} of them only \
             in importance or writing)"
        )
    }
}

impl Report {
    fn write_rows(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_merged {
            let rows = self.inputs.iter().map(|input| {
                let Counts { read, instruments, merged, rejected, skipped } = input.counts;
                (&*input.name, [read, instruments, merged, rejected, skipped])
            });
            let heads = ["read", "instruments", "merged", "rejected", "skipped"];
            table(f, "input", heads, rows.collect())?;
        } else {
            let rows = self.inputs.iter().map(|input| {
                let Counts { read, rejected, skipped, .. } = input.counts;
                (&*input.name, [read, read - rejected - skipped, rejected, skipped])
            });
            table(f, "input", ["read", "accepted", "rejected", "skipped"], rows.collect())?;
        }
        if self.enrich.is_empty() {
            return self.write_names(f);
        }
        writeln!(f)?;
        let rows = self.enrich.iter().map(|input| {
            let EnrichCounts { read, enriched, unmatched, ambiguous, rejected, skipped } =
                input.counts;
            (&*input.name, [read, enriched, unmatched, ambiguous, rejected, skipped])
        });
        let heads = ["read", "enriched", "unmatched", "ambiguous", "rejected", "skipped"];
        table(f, "enriched with", heads, rows.collect())?;
        self.write_names(f)
    }

    /// Writes the table of the files of names, if there are any.
    fn write_names(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.names.is_empty() {
            return Ok(());
        }
        writeln!(f)?;
        let rows = self.names.iter().map(|input| {
            let NamesCounts { read, named, unmatched, ambiguous, rejected, skipped } = input.counts;
            (&*input.name, [read, named, unmatched, ambiguous, rejected, skipped])
        });
        let heads = ["read", "named", "unmatched", "ambiguous", "rejected", "skipped"];
        table(f, "names of", heads, rows.collect())?;
        writeln!(f, "{:>12}  instruments got a name", grouped(self.named_instruments))
    }

    /// Writes the format of each input.
    fn write_formats(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let inputs = self.inputs.iter().map(|input| (&input.name, &input.format));
        let enrich = self.enrich.iter().map(|input| (&input.name, &input.format));
        writeln!(f, "\nformats")?;
        let names = self.names.iter().map(|input| (&input.name, &input.format));
        for (name, format) in inputs.chain(enrich).chain(names) {
            writeln!(f, "  {}: {}", end_of(name), escaped(format))?;
        }
        Ok(())
    }

    fn write_faults(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let reasons = |f: &mut fmt::Formatter<'_>, title: &str, lines: Vec<(String, &Tally)>| {
            if !lines.is_empty() {
                writeln!(f, "\n{title}")?;
            }
            for (reason, Tally { count, first }) in lines {
                writeln!(f, "{:>12}  {reason} (first: {first})", grouped(*count))?;
            }
            Ok(())
        };
        let whole = |(reason, tally): (&&str, _)| ((*reason).to_owned(), tally);
        reasons(f, "skipped rows", self.skips.iter().map(whole).collect())?;
        reasons(f, "rejected rows", self.reasons.iter().map(whole).collect())?;
        reasons(f, "rows that enriched nothing", self.not_joined.iter().map(whole).collect())?;
        reasons(f, "rows that named nothing", self.not_named.iter().map(whole).collect())?;
        let dropped = self.dropped.iter();
        let dropped = dropped
            .map(|((column, reason), tally)| (format!("{}: {reason}", column.name()), tally));
        reasons(f, "dropped cells", dropped.collect())
    }

    fn write_conflicts(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.conflicts.is_empty() {
            return Ok(());
        }
        writeln!(f, "\nconflicts: rows of one instrument with different values")?;
        for (column, conflict) in &self.conflicts {
            write!(f, "{:>12}  {}", grouped(conflict.count), column.name())?;
            match conflict.cosmetic {
                0 => writeln!(f)?,
                cosmetic => writeln!(f, ", and {} in writing only", grouped(cosmetic))?,
            }
            for Sample { figi, kept, lost } in &conflict.samples {
                let shown = |InputValue { value, input, line }: &InputValue| match (input, line) {
                    (Some(input), Some(line)) => {
                        format!("{value:?}, {} line {}", end_of(input), grouped(*line))
                    }
                    (Some(input), None) => format!("{value:?}, {}", end_of(input)),
                    (None, _) => format!("{value:?}"),
                };
                writeln!(f, "{:14}{figi}: kept {}", "", shown(kept))?;
                writeln!(f, "{:26}   not  {}", "", shown(lost))?;
            }
        }
        Ok(())
    }

    fn write_ignored(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let inputs = self.inputs.iter().map(|input| (&input.name, &input.unknown_columns));
        let enrich = self.enrich.iter().map(|input| (&input.name, &input.unknown_columns));
        let of_names = self.names.iter().map(|input| (&input.name, &input.unknown_columns));
        let ignored: Vec<_> =
            inputs.chain(enrich).chain(of_names).filter(|(_, names)| !names.is_empty()).collect();
        if !ignored.is_empty() {
            writeln!(f, "\nignored columns")?;
        }
        for (input, names) in ignored {
            writeln!(f, "  {}: {}", end_of(input), list(names))?;
        }
        let absent = self.inputs.iter().filter(|input| !input.absent_columns.is_empty());
        for (place, input) in absent.enumerate() {
            if place == 0 {
                writeln!(f, "\ncolumns of the format that are missing in the input")?;
            }
            let (name, format) = (end_of(&input.name), escaped(&input.format));
            writeln!(f, "  {name} ({format}): {}", list(&input.absent_columns))?;
        }
        Ok(())
    }
}

/// Writes a table. Names are on the left, aligned left; numbers are aligned right. If there are
/// several rows, the last line is their total.
fn table<const N: usize>(
    f: &mut fmt::Formatter<'_>,
    title: &str,
    heads: [&str; N],
    mut rows: Vec<(&str, [u64; N])>,
) -> fmt::Result {
    if rows.len() > 1 {
        let total = |place: usize| rows.iter().map(|(_, cells)| cells[place]).sum();
        rows.push(("total", std::array::from_fn(total)));
    }
    let rows: Vec<(String, [String; N])> =
        rows.iter().map(|(name, cells)| (end_of(name), cells.map(grouped))).collect();
    let names = rows.iter().map(|(name, _)| name.chars().count());
    let name_width = names.chain([title.len()]).max().expect("there is a title");
    let widths: [usize; N] = std::array::from_fn(|place| {
        let cells = rows.iter().map(|(_, cells)| cells[place].len());
        cells.chain([heads[place].len()]).max().expect("there is a head")
    });
    let mut line = |name: &str, cells: [&str; N]| {
        write!(f, "{name:name_width$}")?;
        for (cell, width) in cells.into_iter().zip(widths) {
            write!(f, "  {cell:>width$}")?;
        }
        writeln!(f)
    };
    line(title, heads)?;
    for (name, cells) in &rows {
        line(name, cells.each_ref().map(String::as_str))?;
    }
    Ok(())
}

/// The names; if there are many, only the first. The report in JSON has all of them.
fn list(names: &[String]) -> String {
    const NAMES_MAX: usize = 10;
    let shown = escaped(names[..names.len().min(NAMES_MAX)].join(", ")).to_string();
    match names.len().checked_sub(NAMES_MAX) {
        None | Some(0) => shown,
        Some(others) => format!("{shown} and {others} more"),
    }
}

fn end_of(name: &str) -> String {
    let name = escaped(name).to_string();
    let chars = name.chars().count();
    if chars <= NAME_CHARS_MAX {
        return name;
    }
    let end: String = name.chars().skip(chars + 1 - NAME_CHARS_MAX).collect();
    format!("…{end}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_names_are_cut() {
        let long = "folder/".repeat(10) + "dump.csv";
        assert_eq!(end_of(&long).chars().count(), NAME_CHARS_MAX);
        assert!(end_of(&long).ends_with("/dump.csv"));
    }
}
