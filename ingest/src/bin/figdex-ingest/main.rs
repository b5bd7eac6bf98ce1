//! `figdex-ingest`: the operator's command. It parses and prints; the work is the
//! library's.

#![deny(clippy::print_stdout, clippy::print_stderr)]

mod operate;
mod output;
mod progress;
mod warnings;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context as _;
use clap::Parser as _;
use figdex_ingest::flags::{BuildFlags, Command, Flags, GenerateFlags, Layout, Shares};
use figdex_ingest::generate::{Mix, Universe};
use figdex_ingest::outputs::Files;
use figdex_ingest::{Build, Format, Input, MaxRejects, generate, terminal};
use mimalloc::MiMalloc;

use crate::progress::Watch;

/// Answers and builds ask for many small pieces of memory (docs/dependencies.md).
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

fn main() -> ExitCode {
    terminal::print_panics();
    warnings::print();
    let flags = match Flags::try_parse() {
        Ok(flags) => flags,
        Err(error) => return terminal::usage(error),
    };
    let done = match flags.command {
        Command::Build(flags) => build(*flags),
        Command::Generate(flags) => generate(flags),
        Command::Rollback(flags) => operate::rollback(&flags),
        Command::Inspect(flags) => operate::inspect(&flags),
        Command::Verify(flags) => operate::verify(&flags),
        Command::Export(flags) => operate::export(&flags),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            terminal::error("figdex-ingest", &error);
            ExitCode::FAILURE
        }
    }
}

fn build(flags: BuildFlags) -> anyhow::Result<()> {
    let mut inputs = Vec::new();
    for argument in &flags.inputs {
        inputs.extend(Input::resolve(argument)?);
    }
    let mut enrich = Vec::new();
    for argument in &flags.enrich {
        enrich.extend(Input::resolve(argument)?);
    }
    if inputs.iter().chain(&enrich).filter(|&input| *input == Input::Stdin).count() > 1 {
        anyhow::bail!("standard input (-) is given twice: it can be read once");
    }
    let arguments = flags.inputs.iter().chain(&flags.enrich).filter(|path| path.is_dir());
    let columns = flags.columns.iter().chain(&flags.enrich_columns);
    let also_read = arguments.chain(columns).cloned().collect();
    let described = |by_name, files: &[PathBuf]| match files {
        [] => Ok(by_name),
        files => Format::read_all(files).map(Some),
    };
    let format = described(flags.format, &flags.columns)?;
    let enrich_format = described(flags.enrich_format, &flags.enrich_columns)?;
    let build = Build {
        inputs,
        enrich,
        index: flags.index,
        format,
        enrich_format,
        exchanges: flags.exchanges,
        values: flags.values,
        rejects: flags.rejects,
        report: flags.report,
        also_read,
        max_rejects: if flags.strict { MaxRejects::NONE } else { flags.max_rejects },
        memory_bytes: flags.memory.0,
        part_instruments_max: None,
        generations_kept: flags.keep,
        checks_space: !flags.skip_space_check,
    };
    let mut watch = Watch::new(flags.quiet);
    let built = build.run(&mut |progress| watch.tell(progress));
    watch.end();
    match built {
        Ok(report) if flags.quiet => drop(report),
        Ok(report) => {
            let printed = terminal::print(&report).context("its report cannot be printed");
            printed.context("the new index is published")?;
        }
        Err(error) => {
            if let Some(report) = error.report() {
                terminal::note(report);
            }
            let says = error.says_what_is_published();
            let error = anyhow::Error::from(error);
            return Err(if says { error } else { error.context("nothing is published") });
        }
    }
    Ok(())
}

fn generate(flags: GenerateFlags) -> anyhow::Result<()> {
    let mix = match flags.mix {
        Shares::Firm => Mix::Firm,
        Shares::Full => Mix::Full,
    };
    let universe = Universe { count: flags.count, seed: flags.seed, mix, dirt: flags.dirt };
    let format = match flags.format {
        Layout::Csv => generate::Format::Csv,
        Layout::Jsonl => generate::Format::JsonLines,
    };
    let mut files = Files::default();
    let out = flags.out.as_ref().map(|path| files.output("--out", path)).transpose()?;
    output::write(out.as_ref(), |mut out| generate::write(&universe, format, &mut out))
}
