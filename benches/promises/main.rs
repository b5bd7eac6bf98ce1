//! What is promised as a ratio of two times, measured: both sides in one run, in
//! turns, because a noisy machine makes any single time worthless.
//!
//! ```text
//! cargo bench --bench promises [-- build]
//! ```
//! `FIGDEX_BENCH_INSTRUMENTS` says how many instruments, 1,000,000 if nothing is said;
//! `FIGDEX_BENCH_ROUNDS` how often both sides have their turn, 5. The promises that
//! need a server are the load program's.

mod alone;
mod build;
mod count;
mod side_by_side;

use std::path::Path;

use figdex_ingest::generate::{self, Format, Universe};
use figdex_ingest::{Build, Input};
use mimalloc::MiMalloc;

// As the programs.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

fn main() {
    // cargo says `--bench`; what a person says besides are names of groups.
    let asked: Vec<String> = std::env::args().skip(1).filter(|arg| !arg.starts_with('-')).collect();
    let groups: [Group; 2] = [("build", build::measure), ("count", count::measure)];
    let scale = Scale {
        instruments: number("FIGDEX_BENCH_INSTRUMENTS", 1_000_000),
        rounds: number("FIGDEX_BENCH_ROUNDS", 5) as usize,
    };
    println!("{} instruments, medians of {} rounds", scale.instruments, scale.rounds);
    for (name, measure) in groups {
        if asked.is_empty() || asked.iter().any(|asked| asked == name) {
            println!("\n{name}");
            measure(&scale);
        }
    }
}

/// A group of promises, and what measures it.
type Group = (&'static str, fn(&Scale));

/// How much is measured.
struct Scale {
    instruments: u64,
    rounds: usize,
}

impl Scale {
    /// The universe of so many instruments, as JSON lines.
    fn json_lines(&self) -> Vec<u8> {
        let mut dump = Vec::new();
        let universe = Universe::new(self.instruments, 1);
        generate::write(&universe, Format::JsonLines, &mut dump).expect("writing into memory");
        dump
    }

    /// Builds and publishes a dump.
    fn publish(&self, dump: &[u8], index: &Path) {
        let inputs = vec![Input::Memory("generated.jsonl", dump.into())];
        let report = Build::new(inputs, index).run(&mut |_| {}).expect("a build without a fault");
        assert_eq!(report.total().instruments, self.instruments);
    }
}

fn number(variable: &str, otherwise: u64) -> u64 {
    let Ok(text) = std::env::var(variable) else { return otherwise };
    text.replace('_', "").parse().unwrap_or_else(|_| panic!("{variable}: {text:?} is no number"))
}
