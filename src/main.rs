//! `figdex`: flags, config, index, socket, serve, drain; and `figdex keys`.

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{Context as _, bail};
use clap::Parser as _;
use figdex::auth::file;
use figdex::config::{Command, Config, DEFAULT_INDEX, Flags, KeysCommand, ServeFlags};
use figdex::log::Log;
use figdex::{State, descriptors, reload, serve, service};
use figdex_index::{Catalogue, Error as IndexError, Publication};
use figdex_ingest::sample;
use mimalloc::MiMalloc;
use tokio::signal::unix::{SignalKind, signal};

/// Answers and builds ask for many small pieces of memory (README, "Dependencies").
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

fn main() -> ExitCode {
    let done = match Flags::parse().into_command() {
        Command::Serve(flags) => run(&flags),
        Command::Keys(command) => keys(&command),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("figdex: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(flags: &ServeFlags) -> anyhow::Result<()> {
    let config = Config::resolve(flags)?;
    // What is logged is written before a fault is told.
    let _log = Log::begin(config.log_format)?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let hangup = {
        // From here on SIGHUP does not end the program, not even while it opens an index.
        let _runtime = runtime.enter();
        signal(SignalKind::hangup())?
    };
    let index = config.index.as_deref();
    let catalogue = open(index)?;
    let index = index.unwrap_or(Path::new(DEFAULT_INDEX)).to_owned();
    tracing::info!(
        generation = catalogue.manifest().generation,
        instruments = catalogue.manifest().instruments,
        "index open"
    );
    let connections = config.settings.connections;
    descriptors::provide(connections.max);
    let state = State::new(catalogue, config.settings).with_keys(config.keys.clone());
    let state = Arc::new(state);
    let (service, observer) = (service(state.clone()), state.observer());
    let served = runtime.block_on(async {
        let listener = config.listen.bind().await;
        let mut listener = listener.with_context(|| format!("listening on {}", config.listen))?;
        if let Some(tls) = config.tls {
            tokio::spawn(tls.clone().watch(signal(SignalKind::hangup())?));
            listener = listener.with_tls(tls);
        }
        let mut terminate = signal(SignalKind::terminate())?;
        let mut interrupt = signal(SignalKind::interrupt())?;
        tokio::spawn(config.keys.watch());
        tokio::spawn(reload::follow(state, index, hangup));
        tracing::info!("serving on {}", listener.place()?);
        serve(listener, service, observer, connections, async {
            tokio::select! {
                _ = terminate.recv() => {}
                _ = interrupt.recv() => {}
            }
            tracing::info!("stopping: answering what is in flight");
        })
        .await;
        Ok(())
    });
    // A generation that is just being opened need not be waited for.
    runtime.shutdown_background();
    served
}

/// Opens the named index, or the default one, which is made of the bundled sample
/// when it is not there.
fn open(index: Option<&Path>) -> anyhow::Result<Catalogue> {
    let path = index.unwrap_or(Path::new(DEFAULT_INDEX));
    // A first build that was killed leaves a folder with nothing published.
    let nothing = matches!(Publication::of(path), Err(IndexError::NotAnIndex(_)));
    if !path.exists() || nothing && index.is_none() {
        if index.is_some() {
            bail!(
                "there is no index at {0}; build one with: figdex-ingest build DUMP… --index {0}",
                path.display()
            );
        }
        tracing::info!("no index at {}: building one from the bundled sample", path.display());
        sample::build(path)
            .with_context(|| format!("building the sample at {}", path.display()))?;
    }
    Catalogue::open(path).with_context(|| format!("opening the index at {}", path.display()))
}

/// `figdex keys`: scripts read standard output, and people what stands around it.
fn keys(command: &KeysCommand) -> anyhow::Result<()> {
    match command {
        KeysCommand::Add { name, place } => {
            let key = file::add(&place.resolve()?, name)?;
            println!("the key of {name}, which is shown only now: {key}");
        }
        KeysCommand::List { place } => {
            for key in file::list(&place.resolve()?)? {
                println!("{}\t{}", key.created, key.name);
            }
        }
        KeysCommand::Revoke { name, place } => {
            file::revoke(&place.resolve()?, name)?;
            println!("revoked the key of {name}");
        }
    }
    Ok(())
}
