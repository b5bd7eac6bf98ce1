//! `figdex serve`: reads the settings, opens the index and the sockets, and answers until a signal
//! says to stop.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, Error, anyhow, bail};
use figdex_index::{Catalogue, Error as IndexError, Publication, chain};
use figdex_ingest::flags::supported;
use figdex_ingest::sample;
use figdex_io::{Address, escaped, escaped_path};
use figdex_opensearch::client::Client;
use tokio::runtime::Runtime;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::watch;

use crate::capacity::pool::Pools;
use crate::config::symbols::SymbolsFile;
use crate::config::{ADMIN_CONNECTIONS, Config, DEFAULT_INDEX, Provenance, SettingFlags};
use crate::engine::Engine;
use crate::observe::Observer;
use crate::observe::log::Log;
use crate::reload;
use crate::reload::storage::Replica;
use crate::routes::{admin, public, service, starting};
use crate::serve::bounds::ConnectionBounds;
use crate::serve::passed::PassedSockets;
use crate::serve::{Listen, Listener, descriptors, serve};
use crate::state::State;

/// The number of threads for blocking work outside the pools, such as reading files.
const OTHER_THREADS_MAX: usize = 64;

/// Makes the system back the memory of this process with small pages only. With pages of 2 MB, a
/// request would occupy a page for each place that it touches, and no bound on its memory would
/// hold. Without this call, the allocator requests pages of 2 MB by itself.
#[cfg(target_os = "linux")]
fn use_small_pages() {
    // A kernel that refuses this has no larger pages.
    let _ = rustix::thread::disable_transparent_huge_pages(true);
}

#[cfg(not(target_os = "linux"))]
fn use_small_pages() {}

pub(super) fn run(flags: SettingFlags) -> anyhow::Result<()> {
    // This must come first. A file that is opened earlier could get the number of a socket that was
    // announced but not passed.
    let mut passed = PassedSockets::take().map_err(Error::msg)?;
    use_small_pages();
    let config = Config::resolve(&flags)?;
    config.index.as_ref().map_or(Ok(()), supported).map_err(Error::msg)?;
    config.symbols.as_ref().map_or(Ok(()), SymbolsFile::put_in_force)?;
    // Dropped when this function returns. So all log lines are written before an error is printed.
    let _log = Log::begin(config.log_format)?;
    tracing::info!(commit = figdex_build_info::COMMIT, "figdex {}", figdex_build_info::VERSION);
    if let Some(Provenance::Derived(reason)) = config.provenance.get("hide_identifiers") {
        tracing::info!(reason, "identifiers of instruments are hidden");
    }
    config.keys.warn_if_shared();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .max_blocking_threads(OTHER_THREADS_MAX + Pools::threads_max(config.settings.pool_threads))
        .build()?;
    let hangups = {
        // From here on SIGHUP does not end the program, even while an index is being opened.
        let _runtime = runtime.enter();
        [signal(SignalKind::hangup())?, signal(SignalKind::hangup())?]
    };
    // If an address is in use, the program ends before an index is opened or built. Clients that
    // connect before the server accepts connections wait.
    let listeners = runtime.block_on(Listeners::bind(&config, &mut passed))?;
    let (engine, followed) = open(&config, &runtime, &listeners)?;
    tracing::info!(
        generation = engine.manifest().generation,
        instruments = engine.manifest().instruments,
        "index open"
    );
    let served = runtime.block_on(answer(flags, config, (engine, followed), listeners, hangups));
    // A generation that is still being opened is not waited for.
    runtime.shutdown_background();
    served
}

/// Answers until a signal says to stop. `hangups` receive SIGHUP, one for the index and one for the
/// settings.
async fn answer(
    flags: SettingFlags,
    config: Config,
    (engine, followed): (Engine, Followed),
    listeners: Listeners,
    hangups: [Signal; 2],
) -> anyhow::Result<()> {
    let listing = config.listing();
    let connections = config.settings.connections;
    descriptors::provide(connections.max + ADMIN_CONNECTIONS.max);
    let state = Arc::new(State::new(engine, config.settings).with_keys(config.keys.clone()));
    let observer = state.observer();
    let Listeners { clients: mut listener, operators: admin_listener } = listeners;
    if let Some(tls) = config.tls {
        tls.warn_of_end();
        state.serves_over(tls.clone());
        tokio::spawn(tls.clone().watch(signal(SignalKind::hangup())?));
        listener = listener.with_tls(tls);
    }
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    tokio::spawn(config.keys.watch());
    let [for_index, for_settings] = hangups;
    match followed {
        Followed::Folder(index, opened) => {
            let place = index.clone();
            tokio::task::spawn_blocking(move || warm(&opened, &place));
            tokio::spawn(reload::scrub::follow(state.clone(), index.clone()));
            tokio::spawn(reload::index::follow(state.clone(), index, for_index));
        }
        Followed::Storage { cache, opened, replica } => {
            state.copies(replica.following());
            let place = cache.clone();
            tokio::task::spawn_blocking(move || warm(&opened, &place));
            tokio::spawn(reload::scrub::follow(state.clone(), cache.clone()));
            tokio::spawn(reload::index::follow(state.clone(), cache, for_index));
            let hangup = signal(SignalKind::hangup())?;
            tokio::spawn(reload::storage::follow(state.clone(), *replica, hangup));
        }
        Followed::Cluster(client, name) => {
            tokio::spawn(reload::cluster::probe(state.clone()));
            tokio::spawn(reload::cluster::follow(state.clone(), client, name, for_index));
        }
    }
    tokio::spawn(reload::settings::follow(state.clone(), flags, listing, for_settings));
    let (stop, stopping) = watch::channel(());
    tracing::info!("serving on {}", listener.place()?);
    let service = match &admin_listener {
        None => service(state.clone()),
        Some(listener) => {
            tracing::info!("serving operators on {}", listener.place()?);
            public(state.clone())
        }
    };
    let operators = async {
        if let Some(listener) = admin_listener {
            let observer = observer.clone().for_operators();
            let ConnectionBounds { drain_wait, drain_timeout, .. } = connections;
            let bounds = ConnectionBounds { drain_wait, drain_timeout, ..ADMIN_CONNECTIONS };
            serve(listener, admin(state.clone()), observer, bounds, stopped(&stopping)).await;
        }
    };
    let signals = async {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
        state.stop();
        let drain_wait_ms = connections.drain_wait.as_millis() as u64;
        tracing::info!(drain_wait_ms, "stopping: answering requests in flight");
        drop(stop);
    };
    let clients = serve(listener, service, observer.clone(), connections, stopped(&stopping));
    tokio::join!(clients, operators, signals);
    Ok(())
}

/// Reads all files of the index while the server already answers. If the disk cannot read a file,
/// the log names it; the first request that needs this file ends the server.
fn warm(catalogue: &Catalogue, index: &Path) {
    let Err(error) = catalogue.warm() else { return };
    // If another generation is published by now, its build may have removed files of this one.
    if Publication::of(index).is_ok_and(|found| found == *catalogue.publication()) {
        let reason = chain(&error);
        tracing::error!(
            reason,
            "a file of the index cannot be read (check the disk, then `figdex-ingest rollback`, or \
             build again)"
        );
    }
}

/// Ends when the sender is dropped, which sends nothing.
fn stopped(stopping: &watch::Receiver<()>) -> impl Future<Output = ()> + use<> {
    let mut stopping = stopping.clone();
    async move { drop(stopping.changed().await) }
}

/// The listeners on the addresses for clients and for operators.
struct Listeners {
    clients: Listener,
    operators: Option<Listener>,
}

impl Listeners {
    async fn bind(config: &Config, passed: &mut PassedSockets) -> anyhow::Result<Self> {
        let places = [Some(&config.listen), config.admin_listen.as_ref()];
        let named = places.into_iter().flatten().filter(|place| matches!(place, Listen::Passed(_)));
        // Checked before binding: an address may be in use by the very socket that was passed.
        passed.refuse_more_than(named.count()).map_err(Error::msg)?;
        let clients = listen("--listen", &config.listen, passed).await?;
        let operators = match &config.admin_listen {
            Some(place) => Some(listen("--admin-listen", place, passed).await?),
            None => None,
        };
        Ok(Self { clients, operators })
    }
}

async fn listen(
    flag: &str,
    place: &Listen,
    passed: &mut PassedSockets,
) -> anyhow::Result<Listener> {
    let listener = match place {
        Listen::Tcp(address) => Listener::tcp(*address).await,
        Listen::Name(name, addresses) => Listener::named(name, addresses).await,
        Listen::Unix(path) => Listener::unix(path),
        Listen::Passed(name) => {
            let listener = passed.listen(name.as_deref());
            let place = place.to_string();
            return listener.map_err(|reason| anyhow!("{flag} {}: {reason}", escaped(&place)));
        }
    };
    listener.map_err(|error| {
        let is_taken = error.kind() == io::ErrorKind::AddrInUse;
        let advice = match is_taken {
            true => ": another program listens there; stop it, or choose another address with ",
            false => " cannot be listened on; choose another address with ",
        };
        let place = place.to_string();
        anyhow!(error).context(format!("{}{advice}{flag}", escaped(&place)))
    })
}

/// Fetches the first generation of a copy. Meanwhile the server answers at the same addresses: it
/// is healthy but not ready, and reports its progress.
async fn fetched(
    config: &Config,
    listeners: &Listeners,
    replica: &mut Replica,
) -> anyhow::Result<Catalogue> {
    let following = replica.following();
    let observer = Observer::new(Arc::default(), config.settings.logged());
    let bounds = ConnectionBounds { drain_wait: Duration::ZERO, ..config.settings.connections };
    let (stop, stopping) = watch::channel(());
    let mut clients = listeners.clients.shared()?;
    if let Some(tls) = &config.tls {
        clients = clients.with_tls(tls.clone());
    }
    tracing::info!("answering health and metrics on {}, until there is an index", clients.place()?);
    let service = starting::service(&following, listeners.operators.is_none());
    tokio::spawn(serve(clients, service, observer.clone(), bounds, stopped(&stopping)));
    if let Some(operators) = &listeners.operators {
        let bounds = ConnectionBounds { drain_wait: Duration::ZERO, ..ADMIN_CONNECTIONS };
        let service = starting::service(&following, true);
        let observer = observer.for_operators();
        tokio::spawn(serve(operators.shared()?, service, observer, bounds, stopped(&stopping)));
    }
    let opened = replica.fetched().await;
    drop(stop);
    Ok(opened)
}

/// The place to look for new generations.
enum Followed {
    Folder(PathBuf, Arc<Catalogue>),
    Cluster(Arc<Client>, String),
    /// A local copy of an index in storage.
    Storage {
        cache: PathBuf,
        opened: Arc<Catalogue>,
        replica: Box<Replica>,
    },
}

/// Opens the configured index, or the default one. Without a copy of an index in storage, fetches
/// one first.
fn open(
    config: &Config,
    runtime: &Runtime,
    listeners: &Listeners,
) -> anyhow::Result<(Engine, Followed)> {
    let folder = match &config.index {
        None => None,
        Some(Address::Folder(folder)) => Some(&**folder),
        Some(Address::Cluster(address)) => {
            let client = Arc::new(Client::new(address, &config.client_settings())?);
            let opened = runtime.block_on(reload::cluster::open(client.clone(), &address.name));
            let opened = opened.with_context(|| format!("opening {address}"))?;
            return Ok((opened.into(), Followed::Cluster(client, address.name.clone())));
        }
        Some(Address::Storage(address)) => {
            let mut replica = reload::storage::open(address, config)?;
            let opened = match replica.opened() {
                Some(opened) => opened,
                None => runtime.block_on(fetched(config, listeners, &mut replica))?,
            };
            let opened = Arc::new(opened);
            let cache = config.cache.clone().expect("the settings were checked");
            let replica = Box::new(replica);
            return Ok((
                Engine::Local(opened.clone()),
                Followed::Storage { cache, opened, replica },
            ));
        }
    };
    let index = folder.unwrap_or(Path::new(DEFAULT_INDEX)).to_owned();
    let catalogue = Arc::new(open_or_build(folder)?);
    Ok((Engine::Local(catalogue.clone()), Followed::Folder(index, catalogue)))
}

/// Opens the index in a folder. Without a folder it opens the default one, which is built from the
/// bundled sample if it does not exist.
fn open_or_build(index: Option<&Path>) -> anyhow::Result<Catalogue> {
    let path = index.unwrap_or(Path::new(DEFAULT_INDEX));
    // A folder that cannot be read may hold an index, so no sample is published there.
    let (is_absent, is_empty) = match Publication::of(path) {
        Err(IndexError::Io { source, .. }) => (source.kind() == io::ErrorKind::NotFound, false),
        // A first build that was killed leaves a folder without a published generation.
        Err(IndexError::NotAnIndex(_)) => (false, true),
        _ => (false, false),
    };
    if is_absent || is_empty && index.is_none() {
        if index.is_some() {
            bail!(super::no_index(path));
        }
        tracing::info!("no index at {}: building one from the bundled sample", escaped_path(path));
        sample::build(path)
            .with_context(|| format!("building the sample at {}", escaped_path(path)))?;
    }
    Catalogue::open(path).with_context(|| format!("opening the index at {}", escaped_path(path)))
}
