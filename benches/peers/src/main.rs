//! Compares Figdex with its alternatives on the same data and questions: SQLite in process,
//! PostgreSQL over a local socket, and DuckDB.
//!
//! ```text
//! cargo run --profile dist -p figdex-peers
//! ```
//! Instruments are generated and built into a Figdex index, and the peers load its contents.
//! Questions are drawn from the data (`survey.rs`). The engines answer each question of the kinds
//! that they support. The answers are compared byte by byte, ranked ones only by the number of
//! rows: a difference ends the run. Then the engines are timed in turns, with other questions in
//! each round (`compare.rs`), and the table compares the ratios with engine 13.11.
//!
//! The head of each peer's file describes its setup and tuning: `sqlite.rs`, `postgresql.rs` with
//! `server.rs`, and `duckdb.rs`. PostgreSQL comes from Debian's packages and DuckDB from PyPI; when
//! one is missing, a line says so and the others are compared. The crate is not a default member of
//! the workspace, because compiling SQLite takes long.

mod compare;
mod duckdb;
mod engine;
mod figdex;
mod files;
mod postgresql;
mod question;
mod server;
mod sql;
mod sqlite;
mod survey;
mod table;

use std::fs::File;
use std::io::BufWriter;

use anyhow::Result;
use clap::Parser;
use figdex_io::Layout;
use figdex_universe::Universe;

use crate::duckdb::Duckdb;
use crate::engine::Engine;
use crate::figdex::Figdex;
use crate::files::Files;
use crate::postgresql::Postgresql;
use crate::question::Pool;
use crate::server::Server;
use crate::sqlite::Sqlite;
use crate::table::Conditions;

/// Compares Figdex with SQLite, PostgreSQL and DuckDB on the same data and questions
#[derive(Parser)]
struct Flags {
    /// Number of generated instruments
    #[arg(long, default_value_t = 1_000_000)]
    instruments: u64,
    /// Number of turns of each engine, each with other questions
    #[arg(long, default_value_t = 7)]
    rounds: usize,
    /// Print the tables as Markdown
    #[arg(long)]
    markdown: bool,
    /// Python with the package `duckdb`
    #[arg(long, default_value = "python3")]
    python: String,
}

fn main() -> Result<()> {
    let Flags { instruments, rounds, markdown, python } = Flags::parse();
    let folder = tempfile::Builder::new().prefix("figdex-peers-").tempdir()?;
    let folder = folder.path();

    eprintln!("generating {instruments} instruments");
    let dump = folder.join("dump.jsonl");
    let mut out = BufWriter::new(File::create(&dump)?);
    Universe::new(instruments, 1).write(Layout::JsonLines, &mut out)?;
    drop(out);
    eprintln!("building Figdex");
    let figdex = Figdex::build(dump.clone(), &folder.join("index"), instruments)?;
    std::fs::remove_file(dump)?;
    eprintln!("drawing questions");
    let pools = survey::questions(figdex.catalogue(), rounds)?;
    let files = Files::write(figdex.catalogue(), folder)?;

    let mut engines: Vec<Box<dyn Engine>> = vec![Box::new(figdex)];
    eprintln!("loading SQLite");
    engines.push(Box::new(Sqlite::build(&files, folder)?));
    match Server::is_installed() {
        Ok(()) => {
            eprintln!("loading PostgreSQL");
            engines.push(Box::new(Postgresql::build(&files, Server::start()?)?));
        }
        Err(missing) => eprintln!("{missing}"),
    }
    match Duckdb::is_installed(&python) {
        Ok(()) => {
            eprintln!("loading DuckDB");
            engines.push(Box::new(Duckdb::build(&files, folder, &python)?));
        }
        Err(missing) => eprintln!("{missing}"),
    }

    let (with_pair, usual): (Vec<Pool>, Vec<Pool>) =
        pools.into_iter().partition(|pool| pool.kind.needs_pair_index());
    let mut lines = Vec::new();
    for (stage, pools) in [usual, with_pair].into_iter().enumerate() {
        if stage > 0 {
            for engine in &mut engines {
                engine.index_pair()?;
            }
        }
        let mut rows = Vec::new();
        for pool in &pools {
            eprintln!("comparing answers: {}", pool.kind.title());
            rows.push(compare::answers(&mut engines, pool)?);
        }
        for engine in &mut engines {
            engine.forget()?;
        }
        for pool in &pools {
            compare::warm(&mut engines, pool)?;
        }
        for (pool, rows) in pools.iter().zip(rows) {
            eprintln!("measuring: {}", pool.kind.title());
            lines.push(compare::measure(&mut engines, pool, rows, rounds)?);
        }
    }
    table::print(&Conditions { instruments, rounds }, &engines, &lines, markdown);
    Ok(())
}
