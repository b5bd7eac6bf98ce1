//! No object storage: the program was built without the feature `object-storage`.

use std::path::Path;
use std::time::Duration;

use anyhow::bail;
use figdex_ingest::flags::{InspectFlags, RollbackFlags, StorageFlags, VerifyFlags};
use figdex_io::StorageAddress;

pub(crate) fn publish(
    _index: &Path,
    address: &StorageAddress,
    _earlier: (usize, Option<Duration>),
    _is_quiet: bool,
    _flags: &StorageFlags,
) -> anyhow::Result<()> {
    absent(address)
}

pub(crate) fn rollback(address: &StorageAddress, _flags: &RollbackFlags) -> anyhow::Result<()> {
    absent(address)
}

pub(crate) fn inspect(address: &StorageAddress, _flags: &InspectFlags) -> anyhow::Result<()> {
    absent(address)
}

pub(crate) fn verify(address: &StorageAddress, _flags: &VerifyFlags) -> anyhow::Result<()> {
    absent(address)
}

fn absent(address: &StorageAddress) -> anyhow::Result<()> {
    bail!(
        "{address}: this program was built without object storage; build it with the cargo feature \
         object-storage"
    )
}
