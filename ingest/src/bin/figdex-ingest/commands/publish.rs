//! `figdex-ingest publish`: copies the published generation of an index to a cluster or to object
//! storage.

use std::path::Path;
use std::time::Duration;

use anyhow::bail;
use figdex_ingest::flags::{ClusterFlags, DivisionFlags, PublishFlags, StorageFlags};
use figdex_io::{Address, escaped_path};

use super::{cluster, storage};
use crate::as_owner;

pub(crate) fn run(flags: &PublishFlags) -> anyhow::Result<()> {
    let PublishFlags { index, to, keep, quiet, division, cluster, storage } = flags;
    if to.folder().is_none() {
        as_owner::of_index(to)?;
    }
    Publication { keep: *keep, is_quiet: *quiet, division, cluster, storage }.carry_out(index, to)
}

/// The flags for publishing to a cluster or to object storage.
pub(super) struct Publication<'a> {
    pub(super) keep: usize,
    pub(super) is_quiet: bool,
    pub(super) division: &'a DivisionFlags,
    pub(super) cluster: &'a ClusterFlags,
    pub(super) storage: &'a StorageFlags,
}

impl Publication<'_> {
    /// Publishes the published generation of a folder.
    pub(super) fn carry_out(&self, index: &Path, to: &Address) -> anyhow::Result<()> {
        match to {
            Address::Cluster(address) => {
                let options = self.division.options(self.keep);
                cluster::publish(index, address, options, self.is_quiet, self.cluster)
            }
            Address::Storage(address) => {
                if let Some(flag) = self.division.of_shards() {
                    bail!("{flag} is for an index in a cluster, and {address} is none");
                }
                let grace = self.division.grace.map(Duration::from_secs);
                let (keep, is_quiet) = (self.keep, self.is_quiet);
                storage::publish(index, address, (keep, grace), is_quiet, self.storage)
            }
            Address::Folder(folder) => bail!(
                "{} is a folder: an index is built there by `figdex-ingest build`; publish copies \
                 it to a cluster, such as opensearch+https://host:9200/name, or to object storage, \
                 such as s3://bucket/figdex",
                escaped_path(folder)
            ),
        }
    }
}
