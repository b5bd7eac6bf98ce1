//! `figdex config`: prints the settings that `serve` would use.

use anyhow::Context as _;
use figdex_io::terminal;

use crate::config::{Config, SettingFlags};

/// Prints the settings, as a file that `--config` takes.
pub(super) fn run(flags: &SettingFlags) -> anyhow::Result<()> {
    terminal::print(&Config::resolve(flags)?.listing()).context("writing the settings")
}
