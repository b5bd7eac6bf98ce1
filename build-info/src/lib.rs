//! What the programs were built from, and with what: for `--version`, for `/healthz`,
//! and for the manifest of an index.
//!
//! A crate by itself, so that a new commit compiles this and what tells it, and not the
//! library in between. What is unknown says so: `unknown` is the value of a commit when
//! there was no git.

/// The version of all crates.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The commit that was checked out, as git's hash; files may have differed from it.
pub const COMMIT: &str = env!("FIGDEX_BUILD_COMMIT");

/// When it was committed: YYYY-MM-DD.
pub const COMMIT_DATE: &str = env!("FIGDEX_BUILD_COMMIT_DATE");

/// The compiler, as it names itself.
pub const RUSTC: &str = env!("FIGDEX_BUILD_RUSTC");

/// What machine it was built for, as a target triple.
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

/// All of it, as `--version` tells it after the program's name.
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
