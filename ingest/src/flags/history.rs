//! The flags of `build` for the past of the instruments, and the check that the limits of the guard
//! are given with them.

use std::path::PathBuf;
use std::time::Duration;

use clap::error::ErrorKind;
use clap::{Args, CommandFactory as _, Parser as _};

use super::{BuildFlags, Command, Flags, days};
use crate::{History, MEND_DAYS};

/// Flags of `build` for the past of the instruments.
#[derive(Args, Clone, Debug)]
pub struct HistoryFlags {
    /// Keep the past of the instruments in the index: how each row was, and on which
    /// days. It goes on from that of the published generation, or begins. A bad dump
    /// would be part of the past, so --max-removed, --max-changed and --max-column-loss
    /// must be given too; 100% allows any difference
    #[arg(long = "history")]
    pub is_kept: bool,
    /// Close gaps of fewer days than this in the past, and leave out what lasted less
    /// and was then as before again [default: 7d]
    #[arg(long, value_name = "DAYS", value_parser = days, requires = "is_kept")]
    pub mend: Option<Duration>,
    /// Keep the past of options, warrants and futures too, now and in later builds
    #[arg(long = "history-derivatives", requires = "is_kept")]
    pub has_derivatives: bool,
    /// Begin with the past that `export --history` wrote to this file. The published
    /// generation, if there is one, may not have a past
    #[arg(long = "history-from", value_name = "FILE", requires = "is_kept")]
    pub from: Option<PathBuf>,
    /// File of retired identifiers (CSV): which instrument had an identifier, and on which
    /// days. Give the files to each build
    #[arg(long, value_name = "FILE", requires = "is_kept")]
    pub retired: Vec<PathBuf>,
    /// Drop the past of the published generation. Without this flag or --history, a
    /// build after a generation with a past fails
    #[arg(long = "without-history", conflicts_with = "is_kept")]
    pub is_dropped: bool,
}

impl HistoryFlags {
    /// The decision of the build about the past.
    pub fn chosen(&self) -> History {
        const DAY_SECONDS: u64 = 24 * 60 * 60;
        let in_days = |time: Duration| (time.as_secs() / DAY_SECONDS) as u32;
        match (self.is_kept, self.is_dropped) {
            (true, _) => History::Kept {
                mend_days: self.mend.map_or(MEND_DAYS, in_days),
                has_derivatives: self.has_derivatives,
                from: self.from.clone(),
            },
            (false, true) => History::Dropped,
            (false, false) => History::None,
        }
    }
}

impl Flags {
    /// Parses the arguments of the program.
    ///
    /// # Errors
    /// When they are not as the help says, and when `build --history` lacks a limit of the guard.
    pub fn checked() -> Result<Self, clap::Error> {
        let flags = Self::try_parse()?;
        match &flags.command {
            Command::Build(build) => build.check_guard().map(|()| flags),
            _ => Ok(flags),
        }
    }
}

impl BuildFlags {
    /// Checks that a build that keeps the past has the limits of the guard.
    fn check_guard(&self) -> Result<(), clap::Error> {
        let limits = [
            ("--max-removed", self.max_removed),
            ("--max-changed", self.max_changed),
            ("--max-column-loss", self.max_column_loss),
        ];
        let missing: Vec<_> =
            limits.iter().filter(|(_, limit)| limit.is_none()).map(|(flag, _)| *flag).collect();
        if !self.history.is_kept || missing.is_empty() {
            return Ok(());
        }
        let missing = missing.join(" and ");
        let what = format!(
            "--history needs {missing}: a bad dump would be part of the past (100% allows any \
             difference)"
        );
        let mut program = Flags::command();
        // The usage then names the program.
        program.build();
        let build = program.find_subcommand_mut("build");
        let build = build.expect("it is a command of the program");
        Err(build.error(ErrorKind::MissingRequiredArgument, what))
    }
}
