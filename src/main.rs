//! The program `figdex`. Its commands are in the library.

#![deny(clippy::print_stdout, clippy::print_stderr)]

use std::process::ExitCode;

use mimalloc::MiMalloc;

/// Answers and builds make many small allocations (docs/dependencies.md).
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

fn main() -> ExitCode {
    figdex::commands::run()
}
