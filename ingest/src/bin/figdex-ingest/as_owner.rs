//! When root runs a command, the command works as the owner of the folder that it writes, as under
//! `sudo -u OWNER`. Otherwise root would own files that the owner's next command must replace. As a
//! further effect, dumps are parsed without root's rights.

use std::env;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::bail;
use figdex_io::Owner;
use figdex_io::{Address, escaped_path, terminal};
use rustix::fs::Mode;
use rustix::process::umask;

/// The path of this program. It works even if the user may not read the program's folder.
const PROGRAM: &str = "/proc/self/exe";

/// If root runs this program and the folder belongs to another user, starts the program again as
/// that owner. Otherwise returns, and the command continues.
///
/// # Errors
/// When the owner of a new folder is unknown, or the system refuses to work as the owner.
pub(crate) fn of(folder: &Path) -> anyhow::Result<()> {
    let Some(owner) = Owner::other_than_root(folder)? else { return Ok(()) };
    let place = escaped_path(folder);
    terminal::note(&format_args!(
        "figdex-ingest: run by root, this works as {owner}, who owns {place} and must be able to \
         read every input"
    ));
    let mut arguments = env::args_os();
    let mut program = Command::new(PROGRAM);
    program.arg0(arguments.next().unwrap_or_else(|| PROGRAM.into()));
    let error = program.args(arguments).uid(owner.user).gid(owner.group).exec();
    bail!(
        "{place} belongs to {owner}, and root cannot work as that user here ({error}): run this as \
         that user, for example with: sudo -u {}",
        owner.name()
    )
}

/// As [`of`], for the index at an address. Does nothing for an index that is not in a folder. In a
/// folder that machines mount, new files are not denied any access right that the folder grants,
/// since servers of other users read them.
///
/// # Errors
/// As [`of`].
pub(crate) fn of_index(address: &Address) -> anyhow::Result<()> {
    let storage: Option<PathBuf> = match address {
        Address::Folder(folder) => return of(folder),
        Address::Cluster(_) => None,
        Address::Storage(address) => address.folder(),
    };
    let Some(folder) = storage else { return Ok(()) };
    of(&folder)?;
    if let Ok(metadata) = fs::metadata(&folder) {
        let denied = umask(Mode::empty());
        umask(denied - Mode::from_raw_mode(metadata.mode() & 0o777));
    }
    Ok(())
}
