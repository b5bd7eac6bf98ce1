//! `figdex-ingest build`: builds an index from dumps and publishes it.

use std::path::PathBuf;

use anyhow::Context as _;
use figdex_index::escaped;
use figdex_ingest::flags::BuildFlags;
use figdex_ingest::{Build, Format, GuardLimits, Input, MaxRejects, terminal};

use crate::interrupt;
use crate::progress::ProgressDisplay;

pub(crate) fn run(flags: BuildFlags) -> anyhow::Result<()> {
    let inputs = Input::resolve_all(&flags.inputs)?;
    let enrich = Input::resolve_all(&flags.enrich)?;
    if inputs.iter().chain(&enrich).filter(|&input| *input == Input::Stdin).count() > 1 {
        anyhow::bail!("standard input (-) is given twice, but can be read only once");
    }
    let arguments = flags.inputs.iter().chain(&flags.enrich).filter(|path| path.is_dir());
    let columns = flags.columns.iter().chain(&flags.enrich_columns);
    let also_read = arguments.chain(columns).cloned().collect();
    let described = |by_name, files: &[PathBuf]| match files {
        [] => Ok(by_name),
        files => Format::read_all(files).map(Some),
    };
    let build = Build {
        inputs,
        enrich,
        index: flags.index,
        format: described(flags.format, &flags.columns)?,
        enrich_format: described(flags.enrich_format, &flags.enrich_columns)?,
        exchanges: flags.exchanges.map(Input::File),
        values: flags.values,
        rejects: flags.rejects,
        report: flags.report,
        also_read,
        max_rejects: if flags.strict { MaxRejects::NONE } else { flags.max_rejects },
        guard: GuardLimits { removed: flags.max_removed, changed: flags.max_changed },
        memory_bytes: flags.memory.0,
        part_instruments_max: None,
        generations_kept: flags.keep,
        checks_space: !flags.skip_space_check,
    };
    let mut display = ProgressDisplay::new(flags.quiet);
    interrupt::listen(build.index.clone())?;
    let built = interrupt::catch(&build.index, || {
        build.run(&mut |progress| {
            interrupt::check();
            display.show(progress);
        })
    });
    display.end();
    match built? {
        Ok(report) if flags.quiet => {
            for warning in &report.warnings {
                terminal::note(&format_args!("figdex-ingest: warning: {}", escaped(warning)));
            }
            Ok(())
        }
        Ok(report) => {
            let printed = terminal::print(&report).context("its report cannot be printed");
            printed.context("the new index is published")
        }
        Err(error) => {
            if let Some(report) = error.report() {
                terminal::note(report);
            }
            let says = error.says_what_is_published();
            let error = anyhow::Error::from(error);
            Err(if says { error } else { error.context("nothing is published") })
        }
    }
}
