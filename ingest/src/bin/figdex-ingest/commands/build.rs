//! `figdex-ingest build`: builds an index from dumps and publishes it.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use figdex_ingest::flags::BuildFlags;
use figdex_ingest::inspect::parquet;
use figdex_ingest::{Build, Error, Format, GuardLimits, Input, MaxRejects, Published};
use figdex_io::{Address, escaped, escaped_path, terminal};

use super::after_publish;
use super::publish::Publication;
use crate::as_owner;
use crate::interrupt;
use crate::progress::ProgressDisplay;

pub(crate) fn run(flags: BuildFlags) -> anyhow::Result<()> {
    let to = flags.index.clone();
    // Without a folder there is no index in which the build could be noted. An address is not a path.
    let folder = to.folder().or(flags.work.as_deref());
    let folder = folder.map_or_else(|| PathBuf::from(to.to_string()), Path::to_owned);
    let named = named(&flags, &folder);
    check_place(&flags)
        .and_then(|()| as_owner::of(&folder))
        .and_then(|()| as_owner::of_index(&to))
        .inspect_err(|error| named.fail(error.as_ref()))?;
    let after_publish = flags.after_publish.clone();
    let after = |published: Option<Published>| match (&after_publish, published) {
        (Some(command), Some(published)) => after_publish::run(command, &to, &published),
        _ => Ok(()),
    };
    if to.folder().is_some() {
        return after(build(flags, folder, &named)?);
    }
    let (keep, is_quiet) = (flags.keep, flags.quiet);
    let (division, cluster, storage) =
        (flags.division, flags.cluster.clone(), flags.storage.clone());
    let built = build(flags, folder.clone(), &named)?;
    let publication =
        Publication { keep, is_quiet, division: &division, cluster: &cluster, storage: &storage };
    let published = publication.carry_out(&folder, &to).with_context(|| {
        let folder = escaped_path(&folder);
        format!("the new index is in {folder}: publish it with figdex-ingest publish")
    });
    published.inspect_err(|error| named.fail(error.as_ref()))?;
    after(built)
}

/// The files that the flags name, before any of them is examined. This is enough to record a failed
/// build.
fn named(flags: &BuildFlags, index: &Path) -> Build {
    let read = [&flags.inputs, &flags.enrich, &flags.names, &flags.columns, &flags.enrich_columns];
    Build {
        exchanges: flags.exchanges.clone().map(Input::File),
        values: flags.values.clone(),
        rejects: flags.rejects.clone(),
        report: flags.report.clone(),
        expect: flags.expect.clone(),
        history: flags.history.chosen(),
        retired: flags.history.retired.iter().cloned().map(Input::File).collect(),
        also_read: read.into_iter().flatten().cloned().collect(),
        ..Build::new(Vec::new(), index)
    }
}

/// Checks that the flags name one folder in which the index is built. If the index itself is in a
/// folder, also checks that no flag is for an index elsewhere.
fn check_place(flags: &BuildFlags) -> anyhow::Result<()> {
    let flag = match (&flags.index, &flags.work) {
        (Address::Folder(_), None) => flags.division.given(),
        (Address::Folder(_), Some(_)) => Some("--work"),
        (_, Some(_)) => None,
        (address, None) => bail!(
            "an index for {address} is built in a folder first, with which the next build compares: \
             name it with --work DIR"
        ),
    };
    match flag {
        Some(flag) => {
            bail!("{flag} is for an index that is published elsewhere, and --index names a folder")
        }
        None => Ok(()),
    }
}

/// Builds an index in a folder. `named` records a failure before the build begins. Returns what was
/// published.
fn build(flags: BuildFlags, index: PathBuf, named: &Build) -> anyhow::Result<Option<Published>> {
    let is_quiet = flags.quiet;
    let build = prepared(flags, index)
        .and_then(|build| interrupt::listen(build.index.clone()).map(|()| build))
        .inspect_err(|error| named.fail(error.as_ref()))?;
    let mut display = ProgressDisplay::new(is_quiet);
    let built = interrupt::catch(&build.index, || {
        build.run(&mut |progress| {
            interrupt::check();
            display.show(progress);
        })
    });
    display.end();
    match built? {
        Ok(report) if is_quiet => {
            for warning in &report.warnings {
                terminal::note(&format_args!("figdex-ingest: warning: {}", escaped(warning)));
            }
            Ok(report.published)
        }
        Ok(report) => {
            let printed = terminal::print(&report).context("its report cannot be printed");
            printed.context("the new index is published")?;
            Ok(report.published)
        }
        Err(error) => {
            if let Error::TooManyRejects { report, .. } | Error::Nothing { report } = &error {
                terminal::note(report);
            }
            let says = error.says_what_is_published();
            let error = anyhow::Error::from(error);
            Err(if says { error } else { error.context("nothing is published") })
        }
    }
}

/// The build that the flags describe, with the dumps that exist.
fn prepared(flags: BuildFlags, index: PathBuf) -> anyhow::Result<Build> {
    if flags.parquet.parquet.is_some() {
        parquet::supported()?;
    }
    let inputs = Input::resolve_all(&flags.inputs)?;
    let enrich = Input::resolve_all(&flags.enrich)?;
    let names = Input::resolve_all(&flags.names)?;
    if inputs.iter().chain(&enrich).chain(&names).filter(|&input| *input == Input::Stdin).count()
        > 1
    {
        anyhow::bail!("standard input (-) is given twice, but can be read only once");
    }
    let arguments = flags.inputs.iter().chain(&flags.enrich).chain(&flags.names);
    let arguments = arguments.filter(|path| path.is_dir());
    let columns = flags.columns.iter().chain(&flags.enrich_columns);
    let also_read = arguments.chain(columns).cloned().collect();
    let described = |by_name, files: &[PathBuf]| match files {
        [] => Ok(by_name),
        files => Format::read_all(files).map(Some),
    };
    Ok(Build {
        inputs,
        enrich,
        names,
        index,
        format: described(flags.format, &flags.columns)?,
        enrich_format: described(flags.enrich_format, &flags.enrich_columns)?,
        exchanges: flags.exchanges.map(Input::File),
        values: flags.values,
        rejects: flags.rejects,
        report: flags.report,
        expect: flags.expect,
        also_read,
        max_rejects: if flags.strict { MaxRejects::NONE } else { flags.max_rejects },
        guard: GuardLimits {
            removed: flags.max_removed,
            expired: flags.max_expired,
            changed: flags.max_changed,
            column_loss: flags.max_column_loss,
        },
        memory_bytes: flags.memory.0,
        part_instruments_max: None,
        generations_kept: flags.keep,
        date: flags.date,
        changes_kept: flags.keep_changes,
        history: flags.history.chosen(),
        retired: flags.history.retired.into_iter().map(Input::File).collect(),
        parquet: flags.parquet.parquet.map(parquet::build_writer),
        checks_space: !flags.skip_space_check,
    })
}
