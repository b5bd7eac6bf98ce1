//! The cluster in which tests publish their indexes, when `FIGDEX_OPENSEARCH` names one:
//! `opensearch+http://127.0.0.1:9200`, as `tests/tools/opensearch` sets it. Then the tests of the
//! contract ask that cluster instead of a folder.

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock};
use std::thread;
use std::time::Duration;

use figdex::Engine;
use figdex_index::Catalogue;
use figdex_io::{Address, ClusterAddress};
use figdex_opensearch::client::{Client, ClientSettings, Request};
use figdex_opensearch::{Division, Generation, PublishOptions, publish};
use tokio::runtime::Runtime;

/// Options under which little happens: two shards, so that answers are merged, and no copies.
pub(crate) const OPTIONS: PublishOptions = PublishOptions {
    division: Division { shards: 2, replicas: 0 },
    keep: 0,
    grace: Duration::ZERO,
    patience: figdex_opensearch::PATIENCE,
};

/// The runtime of calls that tests make themselves. A test that has its own runtime makes them on
/// another thread.
static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| Runtime::new().unwrap());

/// Carries out some calls to a cluster.
pub(crate) fn wait_for<T: Send>(calls: impl Future<Output = T> + Send) -> T {
    thread::scope(|scope| scope.spawn(|| RUNTIME.block_on(calls)).join().unwrap())
}

/// The address of the cluster of the environment, without the name of an index.
pub(crate) fn address() -> Option<String> {
    std::env::var("FIGDEX_OPENSEARCH").ok().filter(|address| !address.is_empty())
}

/// Whether the tests of the contract ask a cluster.
pub(crate) fn is_asked() -> bool {
    address().is_some()
}

/// An index of this test in the cluster, which is removed in the end.
pub(crate) struct InCluster {
    pub(crate) address: ClusterAddress,
    pub(crate) client: Arc<Client>,
}

impl InCluster {
    /// A name that no other test has; `None` without a cluster.
    pub(crate) fn new() -> Option<Self> {
        static NUMBER: AtomicUsize = AtomicUsize::new(0);
        let (process, number) = (std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed));
        let address = format!("{}/test-{process}-n{number}", address()?);
        let Address::Cluster(address) = address.parse().unwrap() else {
            panic!("FIGDEX_OPENSEARCH is not a cluster: {address}");
        };
        let settings = ClientSettings { ca_file: None, authorization_file: None, calls_max: 16 };
        let client = Client::new(&address, &settings).map(Arc::new).unwrap();
        Some(Self { address, client })
    }

    /// Publishes the index in a folder under the name.
    pub(crate) fn publish(&self, index: &Path) {
        wait_for(publish(self.client.clone(), &self.address.name, index, OPTIONS, |_| {})).unwrap();
    }

    /// The generation that is published under the name.
    pub(crate) fn open(&self) -> Generation {
        wait_for(async {
            let opened = Generation::open(self.client.clone(), &self.address.name).await.unwrap();
            opened.probe().await.unwrap();
            opened
        })
    }
}

impl Drop for InCluster {
    fn drop(&mut self) {
        let indexes = format!("{}-*", self.address.name);
        let removed = wait_for(async {
            self.client.ask::<serde_json::Value>(&Request::delete(&[&indexes])).await
        });
        if !thread::panicking() {
            removed.unwrap();
        }
    }
}

/// The engine over the index in a folder: in the cluster, if there is one.
pub(crate) fn engine(index: &Path) -> (Engine, Option<InCluster>) {
    match InCluster::new() {
        None => (Catalogue::open(index).unwrap().into(), None),
        Some(cluster) => {
            cluster.publish(index);
            (cluster.open().into(), Some(cluster))
        }
    }
}
