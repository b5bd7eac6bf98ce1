//! The results, as text for a terminal or as Markdown.

use std::time::Duration;

use crate::compare::Line;
use crate::engine::Engine;

/// A table: its first row is the heading.
struct Table(Vec<Vec<String>>);

/// The conditions of a run.
pub(crate) struct Conditions {
    pub(crate) instruments: u64,
    pub(crate) rounds: usize,
}

/// Prints all results.
pub(crate) fn print(
    conditions: &Conditions,
    engines: &[Box<dyn Engine>],
    lines: &[Line],
    markdown: bool,
) {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let versions: Vec<_> = engines.iter().map(|engine| engine.version()).collect();
    println!("{} instruments, {cores} cores; {}.\n", conditions.instruments, versions.join(", "));
    println!(
        "Time of a question, median of {} rounds, from the texts of the question to the bytes of\n\
         the answer, then its ratio to Figdex's and the bound of engine 13.11. All answers were\n\
         compared first, byte by byte (of ranked answers only the totals).\n",
        conditions.rounds
    );
    questions(engines, lines).print(markdown);
    println!(
        "\nTime and size of a build: Figdex from a dump as JSON lines, checked and published; the\n\
         others from two prepared, sorted CSV files, indexed and analysed.\n"
    );
    builds(conditions, engines).print(markdown);
}

fn questions(engines: &[Box<dyn Engine>], lines: &[Line]) -> Table {
    let mut heading = vec!["question".to_owned(), "asked".into(), "rows".into()];
    heading.extend(engines.iter().map(|engine| engine.name().to_owned()));
    let mut table = vec![heading];
    for line in lines {
        let ours = line.times.first().copied().flatten();
        let mut row = vec![
            line.kind.title().to_owned(),
            line.questions.to_string(),
            format!("{:.0}", line.rows),
        ];
        for (place, time) in line.times.iter().enumerate() {
            let bound = bound_of(engines[place].name(), line.kind.bounds());
            row.push(match (time, ours) {
                (Some(time), Some(ours)) if place > 0 => {
                    format!("{} {}", human(*time), ratio(*time, ours, bound))
                }
                (Some(time), _) => human(*time),
                (None, _) => "–".into(),
            });
        }
        table.push(row);
    }
    Table(table)
}

/// The bound of the ratio of this engine's time to Figdex's; `None` when there is none.
fn bound_of(engine: &str, [sqlite, postgresql]: [f64; 2]) -> Option<f64> {
    match engine {
        "SQLite" => Some(sqlite),
        "PostgreSQL" => Some(postgresql),
        _ => None,
    }
}

fn ratio(time: Duration, ours: Duration, bound: Option<f64>) -> String {
    let ratio = time.as_secs_f64() / ours.as_secs_f64();
    let kept = match bound {
        Some(bound) if ratio < bound => format!(" (≥ {bound} MISSED)"),
        Some(bound) => format!(" (≥ {bound} kept)"),
        None => String::new(),
    };
    if ratio < 10.0 { format!("{ratio:.1} ×{kept}") } else { format!("{ratio:.0} ×{kept}") }
}

fn builds(conditions: &Conditions, engines: &[Box<dyn Engine>]) -> Table {
    let mut table = vec![["", "build", "on disk", "an instrument"].map(str::to_owned).to_vec()];
    for engine in engines {
        let built = engine.built();
        table.push(vec![
            engine.name().to_owned(),
            format!("{:.1} s", built.elapsed.as_secs_f64()),
            format!("{:.0} MB", built.bytes as f64 / 1e6),
            format!("{:.0} B", built.bytes as f64 / conditions.instruments as f64),
        ]);
    }
    Table(table)
}

fn human(time: Duration) -> String {
    let seconds = time.as_secs_f64();
    let (number, unit) = match seconds {
        ..1e-3 => (seconds * 1e6, "µs"),
        ..1.0 => (seconds * 1e3, "ms"),
        _ => (seconds, "s"),
    };
    let decimals = if number < 10.0 { 2 } else { usize::from(number < 100.0) };
    format!("{number:.decimals$} {unit}")
}

impl Table {
    fn print(&self, markdown: bool) {
        let Self(rows) = self;
        let columns = rows.first().map_or(0, Vec::len);
        let width = |column: usize| {
            let cells = rows.iter().map(|row| row[column].chars().count());
            cells.max().unwrap_or_default()
        };
        let widths: Vec<usize> = (0..columns).map(width).collect();
        for (place, row) in rows.iter().enumerate() {
            let cells: Vec<String> = row
                .iter()
                .zip(&widths)
                .enumerate()
                .map(|(column, (cell, width))| match column {
                    0 => format!("{cell:<width$}"),
                    _ => format!("{cell:>width$}"),
                })
                .collect();
            if markdown {
                println!("| {} |", cells.join(" | "));
            } else {
                println!("{}", cells.join("  ").trim_end());
            }
            if place == 0 {
                let rules = widths.iter().enumerate().map(|(column, width)| match column {
                    0 => "-".repeat(*width),
                    _ if markdown => format!("{}:", "-".repeat(width.saturating_sub(1))),
                    _ => "-".repeat(*width),
                });
                let rules: Vec<_> = rules.collect();
                if markdown {
                    println!("| {} |", rules.join(" | "));
                } else {
                    println!("{}", rules.join("  "));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_ratios_are_short() {
        let time = Duration::from_nanos;
        for (time, text) in [
            (time(1_234), "1.23 µs"),
            (time(12_340), "12.3 µs"),
            (time(123_400_000), "123 ms"),
            (time(2_000_000_000), "2.00 s"),
        ] {
            assert_eq!(human(time), text);
        }
        assert_eq!(ratio(time(500), time(100), Some(8.0)), "5.0 × (≥ 8 MISSED)");
        assert_eq!(ratio(time(5_000), time(100), Some(8.0)), "50 × (≥ 8 kept)");
        assert_eq!(ratio(time(5_000), time(100), None), "50 ×");
    }
}
