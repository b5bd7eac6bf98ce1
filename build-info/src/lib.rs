//! The version, commit and compiler of a build: for `--version`, `/healthz` and the manifest
//! of an index.
//!
//! It is a separate crate, so that after a new commit only this crate and the programs are
//! compiled again, not the index library. A value that could not be found out is `unknown`,
//! such as the commit of a source tree without git.

/// The version of all crates of the workspace.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The hash of the commit that was checked out. Files may have been changed since.
pub const COMMIT: &str = env!("FIGDEX_BUILD_COMMIT");

/// The date of that commit, YYYY-MM-DD.
pub const COMMIT_DATE: &str = env!("FIGDEX_BUILD_COMMIT_DATE");

/// The output of `rustc --version`.
pub const RUSTC: &str = env!("FIGDEX_BUILD_RUSTC");

/// The target triple.
pub const TARGET: &str = env!("FIGDEX_BUILD_TARGET");

/// `release`, or `debug` for a build that is not optimised.
pub const PROFILE: &str = env!("FIGDEX_BUILD_PROFILE");

/// Version and commit on one line.
pub const BRIEF: &str = concat!(
    env!("CARGO_PKG_VERSION"),
    " (commit ",
    env!("FIGDEX_BUILD_COMMIT"),
    " of ",
    env!("FIGDEX_BUILD_COMMIT_DATE"),
    ")"
);

/// The text that `--version` prints after the program's name.
pub const LONG: &str = concat!(
    env!("CARGO_PKG_VERSION"),
    "\ncommit:  ",
    env!("FIGDEX_BUILD_COMMIT"),
    " of ",
    env!("FIGDEX_BUILD_COMMIT_DATE"),
    "\nrustc:   ",
    env!("FIGDEX_BUILD_RUSTC"),
    "\ntarget:  ",
    env!("FIGDEX_BUILD_TARGET"),
    "\nprofile: ",
    env!("FIGDEX_BUILD_PROFILE"),
);
