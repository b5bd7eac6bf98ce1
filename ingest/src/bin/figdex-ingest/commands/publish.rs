//! `figdex-ingest publish`: copies the published generation of an index to a cluster.

use anyhow::bail;
use figdex_index::{Address, escaped_path};
use figdex_ingest::flags::PublishFlags;

use super::cluster;

pub(crate) fn run(flags: &PublishFlags) -> anyhow::Result<()> {
    match &flags.to {
        Address::Cluster(address) => {
            let options = flags.division.options(flags.keep);
            cluster::publish(&flags.index, address, options, flags.quiet, &flags.cluster)
        }
        Address::Folder(folder) => bail!(
            "{} is a folder: an index is built there by `figdex-ingest build`; publish copies it \
             to a cluster, such as opensearch+https://host:9200/name",
            escaped_path(folder)
        ),
    }
}
