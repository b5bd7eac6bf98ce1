//! DuckDB, in the process of a small Python program (`duckdb.py`) that times its calls.
//!
//! Tables: the same two as for the other peers, in FIGI order and in the order of kind and value.
//! So DuckDB's minimum and maximum of each block narrow a search. Indexes were tried, but DuckDB
//! did not use them for these questions. DuckDB answers no questions by words, because its
//! full-text search is an extension outside of the package. It uses all cores, as by default.
//! Python and the planner take about half a millisecond of each time.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use serde::{Deserialize, Serialize, de::DeserializeOwned};

use crate::engine::{Answer, Built, Engine};
use crate::files::{Files, columns};
use crate::question::{Kind, Question};
use crate::sql::{Statement, Words, statement};

/// Never used, because DuckDB answers no questions by words.
const WORDS: Words = Words { first: "", best: "", count: "", join: |words| words.join(" ") };

pub(crate) struct Duckdb {
    process: Child,
    questions: ChildStdin,
    answers: BufReader<ChildStdout>,
    loaded: Loaded,
    built: Built,
}

#[derive(Deserialize)]
struct Loaded {
    version: String,
    seconds: f64,
    bytes: u64,
}

#[derive(Serialize)]
struct Request {
    /// Whether the reply is the answers, not their time.
    answers: bool,
    questions: Vec<Statement>,
}

impl Duckdb {
    /// Checks that this Python has the package.
    ///
    /// # Errors
    /// When it does not; the message says how to install it.
    pub(crate) fn is_installed(python: &str) -> Result<()> {
        let found = Command::new(python).args(["-c", "import duckdb"]).output();
        ensure!(
            found.is_ok_and(|found| found.status.success()),
            "DuckDB is left out: `pip install duckdb` and name that Python with --python"
        );
        Ok(())
    }

    pub(crate) fn build(files: &Files, folder: &Path, python: &str) -> Result<Self> {
        let typed = columns().map(|column| {
            let kind = if column.is_number { "DOUBLE" } else { "VARCHAR" };
            format!("{} {kind}", column.name)
        });
        let mut process = Command::new(python)
            .args(["-c", include_str!("duckdb.py")])
            .arg(folder.join("duckdb.db"))
            .args([&files.instruments, &files.identifiers])
            .arg(typed.collect::<Vec<_>>().join(", "))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let questions = process.stdin.take().context("a pipe")?;
        let mut answers = BufReader::new(process.stdout.take().context("a pipe")?);
        let loaded: Loaded = read(&mut answers)?;
        let elapsed = Duration::from_secs_f64(loaded.seconds);
        let built = Built { elapsed, bytes: loaded.bytes };
        Ok(Self { process, questions, answers, loaded, built })
    }

    fn ask<T: DeserializeOwned>(&mut self, answers: bool, questions: Vec<Statement>) -> Result<T> {
        serde_json::to_writer(&mut self.questions, &Request { answers, questions })?;
        self.questions.write_all(b"\n")?;
        self.questions.flush()?;
        read(&mut self.answers)
    }
}

fn read<T: DeserializeOwned>(answers: &mut BufReader<ChildStdout>) -> Result<T> {
    let mut line = String::new();
    answers.read_line(&mut line)?;
    serde_json::from_str(&line).context("the Python program ended, or its reply has another form")
}

impl Drop for Duckdb {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Engine for Duckdb {
    fn name(&self) -> &'static str {
        "DuckDB"
    }

    fn version(&self) -> String {
        format!("DuckDB {} (in process of Python)", self.loaded.version)
    }

    fn built(&self) -> &Built {
        &self.built
    }

    fn answers(&self, kind: Kind) -> bool {
        !matches!(kind, Kind::CommonFirst | Kind::CommonBest | Kind::Rare)
            && !kind.needs_pair_index()
    }

    fn answer(&mut self, question: &Question, answer: &mut Answer) -> Result<()> {
        let statement = statement(question, &WORDS);
        if statement.counts() {
            let [[[count]]]: [[[u64; 1]; 1]; 1] = self.ask(true, vec![statement])?;
            answer.note(&count.to_string());
            return Ok(());
        }
        let [rows]: [Vec<Vec<Option<String>>>; 1] = self.ask(true, vec![statement.clone()])?;
        for row in rows.iter().take(statement.rows_max.unwrap_or(rows.len())) {
            row.iter().for_each(|field| answer.field(field.as_deref().map(str::as_bytes)));
            answer.end_row();
        }
        answer.note(statement.note(rows.len()));
        Ok(())
    }

    fn time(&mut self, questions: &[Question]) -> Result<Duration> {
        let statements = questions.iter().map(|question| statement(question, &WORDS)).collect();
        Ok(Duration::from_secs_f64(self.ask(false, statements)?))
    }
}
