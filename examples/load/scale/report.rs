//! The results of the sizes, as two tables and as JSON.

use anyhow::Context as _;
use figdex_io::grouped;
use serde::Serialize;
use serde_json::json;

use super::{Measured, Size};
use crate::ScaleFlags;
use crate::mixes::Kind;

const MEGA: f64 = 1e6;

/// A kind did not keep up when it had fewer answers a second than this share of the rate.
const IN_TIME: f64 = 0.98;

/// Prints the tables, and writes the JSON file if one was asked for.
pub(super) fn print(flags: &ScaleFlags, kinds: &[Kind], sizes: &[Size]) -> anyhow::Result<()> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    println!(
        "Figdex {}: sizes of generated instruments; {cores} cores for server and driver\n",
        env!("CARGO_PKG_VERSION")
    );
    print_sizes(sizes);
    println!();
    print_kinds(flags, kinds, sizes);
    let Some(path) = &flags.common.json else { return Ok(()) };
    let growth: Vec<_> = (0..kinds.len()).map(|place| Growth::of(place, sizes)).collect();
    let report = json!({
        "version": env!("CARGO_PKG_VERSION"),
        "cores": cores,
        "requests_per_second": flags.rate,
        "seconds_of_a_kind": flags.seconds.as_secs_f64(),
        "sizes": sizes,
        "largest_by_smallest": growth,
    });
    std::fs::write(path, format!("{report:#}\n")).with_context(|| path.display().to_string())
}

fn print_sizes(sizes: &[Size]) {
    println!(
        "{:>12} {:>8} {:>13} {:>11} {:>11} {:>11} {:>11} {:>11} {:>13} {:>11}",
        "instruments",
        "build s",
        "instruments/s",
        "bytes each",
        "read cold s",
        "read warm s",
        "open cold s",
        "open warm s",
        "anonymous MB",
        "mapped MB"
    );
    for size in sizes {
        println!(
            "{:>12} {:>8.1} {:>13} {:>11.1} {:>11.2} {:>11.2} {:>11.2} {:>11.2} {:>13.1} {:>11.0}",
            grouped(size.instruments),
            size.build_s,
            grouped((size.instruments as f64 / size.build_s) as u64),
            size.bytes_each(),
            size.unstamped.cold.to_first_answer_s,
            size.unstamped.warm_s,
            size.stamped.cold.to_first_answer_s,
            size.stamped.warm_s,
            size.memory.anonymous as f64 / MEGA,
            size.memory.mapped as f64 / MEGA
        );
    }
    println!(
        "\nbuild: from a zstd-compressed CSV dump to a published index, 2 GiB of memory. read, open: from \
         the start of\na server process to its first answer, over an index without a stamp, which is read \
         in full, and with one.\nMemory: of the server, after all requests below."
    );
    for size in sizes {
        let instruments = grouped(size.instruments);
        let cold = &size.stamped.cold;
        match (cold.is_dropped, cold.from_disk) {
            (false, _) => println!(
                "{instruments}: the files could not be dropped from memory: \"cold\" is warm."
            ),
            (true, None) => println!(
                "{instruments}: it is unknown whether the files were really read from the disk."
            ),
            (true, Some(bytes)) => println!(
                "{instruments}: the cold start with a stamp read {:.0} MB of {:.0} MB from the disk.",
                bytes as f64 / MEGA,
                size.bytes as f64 / MEGA
            ),
        }
    }
}

fn print_kinds(flags: &ScaleFlags, kinds: &[Kind], sizes: &[Size]) {
    println!(
        "At {} requests a second for {} s each, one kind after the other: latency p50 / p99 in ms. \
         Then, at full\nload: the server's processor time for an answer, in µs.\n",
        flags.rate,
        flags.seconds.as_secs_f64()
    );
    print!("{:<21}", "");
    for size in sizes {
        print!(" {:>25}", grouped(size.instruments));
    }
    println!("   largest / smallest: p50, work");
    for (place, kind) in kinds.iter().enumerate() {
        print!("{:<21}", kind.name);
        for size in sizes {
            let Measured { p50_ms, p99_ms, work_us, .. } = size.kinds[place];
            let text = format!("{p50_ms:.2} / {p99_ms:.2} {work_us:>5.0} µs");
            print!(" {text:>25}");
        }
        let growth = Growth::of(place, sizes);
        print!("   {:.2}, {:.2}", growth.p50, growth.work);
        if let Some(at_most) = kind.at_most {
            let promise =
                kind.promise.map(|number| format!("engine 13.{number}: ")).unwrap_or_default();
            let verdict = if growth.worst() <= at_most { "kept" } else { "MISSED" };
            print!("   {promise}at most {at_most} {verdict}");
        }
        println!();
    }
    for (place, kind) in kinds.iter().enumerate() {
        for size in sizes {
            let rate = size.kinds[place].answers_per_second;
            if rate < flags.rate as f64 * IN_TIME {
                println!(
                    "\"{}\" with {} instruments did not keep up: {rate:.0} answers a second.",
                    kind.name,
                    grouped(size.instruments)
                );
            }
        }
    }
}

/// The ratios of a kind's costs at the largest size to those at the smallest.
#[derive(Serialize)]
struct Growth<'a> {
    kind: &'a str,
    p50: f64,
    work: f64,
}

impl<'a> Growth<'a> {
    fn of(place: usize, sizes: &'a [Size]) -> Self {
        let [smallest, largest] = [0, sizes.len() - 1].map(|size| &sizes[size].kinds[place]);
        let kind = smallest.kind.as_str();
        Self {
            kind,
            p50: largest.p50_ms / smallest.p50_ms,
            work: largest.work_us / smallest.work_us,
        }
    }

    /// The larger ratio, because a bound must hold for both.
    fn worst(&self) -> f64 {
        self.p50.max(self.work)
    }
}

impl Size {
    fn bytes_each(&self) -> f64 {
        self.bytes as f64 / self.instruments as f64
    }
}
