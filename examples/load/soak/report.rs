//! The measurements as CSV, and the verdicts as text and as JSON.

use std::fmt::Write as _;

use figdex_io::grouped;
use serde_json::json;

use super::Run;
use super::verdicts::{Verdict, totals};

/// The measurements as CSV: a line for each kind of request at each moment.
pub(super) fn csv(run: &Run) -> String {
    let mut out = "seconds,published,anonymous_bytes,mapped_bytes,kind,answers,p50_ms,p99_ms,\
                   statuses,failures\n"
        .to_owned();
    for moment in &run.moments {
        let published = run.published.iter().filter(|at| **at <= moment.seconds).count();
        let names = run.streams.iter().map(|(name, _)| name.as_str());
        let streams = names.zip(&moment.answers).chain([("the floor", &moment.floor)]);
        for (name, answers) in streams {
            let memory = &moment.memory;
            let statuses =
                answers.statuses.iter().map(|(status, count)| format!("{status}:{count}"));
            let statuses = statuses.collect::<Vec<_>>().join(" ");
            let [p50, p99] = [50, 99].map(|percent| {
                answers.percentile_ms(percent).map_or_else(String::new, |ms| format!("{ms:.3}"))
            });
            let (seconds, count, failures) =
                (moment.seconds, answers.count(), answers.failures.len());
            let (anonymous, mapped) = (memory.anonymous, memory.mapped);
            writeln!(
                out,
                "{seconds:.1},{published},{anonymous},{mapped},\"{name}\",{count},{p50},{p99},\
                 {statuses},{failures}"
            )
            .expect("writing into memory does not fail");
        }
    }
    out
}

/// The verdicts as text.
pub(super) fn text(run: &Run, verdicts: &[Verdict]) -> String {
    let mut out = format!(
        "{} instruments, {} requests a second, {} generations published\n",
        grouped(run.instruments),
        run.rate,
        run.published.len()
    );
    for (stream, (name, _)) in run.streams.iter().enumerate() {
        let statuses = totals(run, stream).map(|(status, count)| format!("{count} × {status}"));
        out += &format!("  {name}: {}\n", statuses.collect::<Vec<_>>().join(", "));
    }
    for Verdict { found, holds } in verdicts {
        out += &format!("{} {found}\n", if *holds { "holds: " } else { "FAILS: " });
    }
    out
}

/// The verdicts as JSON.
pub(super) fn json(run: &Run, verdicts: &[Verdict]) -> String {
    let json = json!({
        "instruments": run.instruments,
        "requests_per_second": run.rate,
        "published": run.published,
        "verdicts": verdicts,
    });
    format!("{json:#}\n")
}
