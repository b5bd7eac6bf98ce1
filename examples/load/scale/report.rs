//! The results of the sizes, as two tables.

use figdex_io::grouped;

use super::{Measured, Size};
use crate::ScaleFlags;
use crate::mixes::Kind;
use crate::report::{cores, verdict};

const MEGA: f64 = 1e6;

/// The share of the rate that a kind's answers a second must reach; with fewer it did not keep up.
const IN_TIME: f64 = 0.98;

/// Prints the tables.
pub(super) fn print(flags: &ScaleFlags, kinds: &[Kind], sizes: &[Size]) {
    println!(
        "Figdex {}: sizes of generated instruments; {} cores for server and driver\n",
        env!("CARGO_PKG_VERSION"),
        cores()
    );
    print_sizes(sizes);
    println!();
    print_kinds(flags, kinds, sizes);
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
        let [smallest, largest] = [0, sizes.len() - 1].map(|size| &sizes[size].kinds[place]);
        let p50 = largest.p50_ms / smallest.p50_ms;
        let work = largest.work_us / smallest.work_us;
        print!("   {p50:.2}, {work:.2}");
        if let Some(bound) = kind.bound {
            // A bound must hold for both.
            print!("   {}", verdict(kind.clause, bound, p50.max(work)));
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

impl Size {
    fn bytes_each(&self) -> f64 {
        self.bytes as f64 / self.instruments as f64
    }
}
