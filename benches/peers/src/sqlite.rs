//! SQLite, in process.
//!
//! Tables: `instrument`, whose rowid is the place in FIGI order, and `identifier`, clustered by kind
//! and value (`WITHOUT ROWID`). A B-tree on each property of a filter; SQLite adds the rowid to each,
//! so that they are in FIGI order too. FTS5 over the words, without a copy of them (`content=''`).
//!
//! Tuning: no journal and no syncing while loading, everything in one transaction and rows in the
//! order of their keys; indexes after the rows; `ANALYZE` and FTS5's `optimize`. Then a page cache
//! of 1 GiB, and as much of the file mapped as SQLite allows. Statements are prepared once and keep
//! their plans (`SQLITE_DBCONFIG_ENABLE_QPSG`): otherwise this build of SQLite makes a new plan for
//! every bound value, which takes ten times as long as a mapping.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::Result;
use rusqlite::config::DbConfig;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, params_from_iter};

use crate::engine::{Answer, Built, Engine, time_each};
use crate::files::{Files, column_of, columns};
use crate::question::{PAIR, Question};
use crate::sql::{Statement, Value, Words, statement};

const WORDS: Words = Words {
    first: "(SELECT rowid AS id FROM words WHERE words MATCH $1 ORDER BY rowid) w \
            JOIN instrument i ON i.id = w.id ORDER BY w.id",
    best: "(SELECT rowid AS id, rank FROM words WHERE words MATCH $1 ORDER BY rank LIMIT 101) w \
           JOIN instrument i ON i.id = w.id ORDER BY w.rank",
    count: "SELECT count(*) FROM words WHERE words MATCH $1",
    join: |words| words.iter().map(|word| format!("\"{word}\"")).collect::<Vec<_>>().join(" "),
};

pub(crate) struct Sqlite {
    connection: Connection,
    built: Built,
}

impl Sqlite {
    pub(crate) fn build(files: &Files, folder: &Path) -> Result<Self> {
        let path = folder.join("sqlite.db");
        let connection = Connection::open(&path)?;
        connection.set_prepared_statement_cache_capacity(256);
        connection.execute_batch(
            "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA locking_mode = EXCLUSIVE;
             PRAGMA temp_store = MEMORY; PRAGMA cache_size = -1048576;
             PRAGMA mmap_size = 1099511627776; PRAGMA threads = 2;",
        )?;
        let started = Instant::now();
        load(&connection, files)?;
        let elapsed = started.elapsed();
        let bytes = path.metadata()?.len();
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
        Ok(Self { connection, built: Built { elapsed, bytes } })
    }

    fn run(&self, statement: &Statement, answer: &mut Answer) -> Result<()> {
        let mut prepared = self.connection.prepare_cached(&statement.sql)?;
        let columns = prepared.column_count();
        let values = statement.values.iter().map(|value| -> &dyn rusqlite::ToSql {
            match value {
                Value::Number(number) => number,
                Value::Text(text) => text,
            }
        });
        let mut rows = prepared.query(params_from_iter(values))?;
        if statement.counts() {
            if let Some(row) = rows.next()? {
                answer.note(&row.get::<_, i64>(0)?.to_string());
            }
            return Ok(());
        }
        let mut seen = 0;
        while let Some(row) = rows.next()? {
            seen += 1;
            if statement.rows_max.is_some_and(|rows_max| seen > rows_max) {
                break;
            }
            for place in 0..columns {
                answer.field(match row.get_ref(place)? {
                    ValueRef::Null => None,
                    value => Some(value.as_bytes()?),
                });
            }
            answer.end_row();
        }
        answer.note(statement.note(seen));
        Ok(())
    }
}

fn load(connection: &Connection, files: &Files) -> Result<()> {
    let typed = columns().map(|column| {
        let kind = if column.is_number { "REAL" } else { "TEXT" };
        format!("{} {kind}", column.name)
    });
    // The words are indexed, not stored.
    let typed: Vec<_> = typed.filter(|column| !column.starts_with("words ")).collect();
    connection.execute_batch(&format!(
        "BEGIN;
         CREATE TABLE instrument (id INTEGER PRIMARY KEY, {}) STRICT;
         CREATE TABLE identifier (id_type INTEGER NOT NULL, id_value TEXT NOT NULL,
             instrument INTEGER NOT NULL, PRIMARY KEY (id_type, id_value, instrument))
             STRICT, WITHOUT ROWID;
         CREATE VIRTUAL TABLE words USING fts5(text, content='');",
        typed.join(", ")
    ))?;
    let places = (1..=typed.len() + 1).map(|place| format!("?{place}")).collect::<Vec<_>>();
    let words_place = 1 + columns().take_while(|column| column.name != "words").count();
    let mut row = csv::StringRecord::new();
    let mut instruments = csv_reader(&files.instruments)?;
    {
        let insert = format!("INSERT INTO instrument VALUES ({})", places.join(", "));
        let mut insert = connection.prepare(&insert)?;
        let mut index = connection.prepare("INSERT INTO words (rowid, text) VALUES (?1, ?2)")?;
        while instruments.read_record(&mut row)? {
            let kept = row.iter().enumerate().filter(|(place, _)| *place != words_place);
            let known = kept.map(|(_, cell)| (!cell.is_empty()).then_some(cell));
            insert.execute(params_from_iter(known))?;
            index.execute([&row[0], &row[words_place]])?;
        }
        let mut insert = connection.prepare("INSERT INTO identifier VALUES (?1, ?2, ?3)")?;
        let mut identifiers = csv_reader(&files.identifiers)?;
        while identifiers.read_record(&mut row)? {
            insert.execute(params_from_iter(&row))?;
        }
    }
    connection.execute_batch("CREATE UNIQUE INDEX by_figi ON instrument (figi)")?;
    for property in figdex_index::Property::ALL {
        let column = column_of(property);
        connection.execute_batch(&format!("CREATE INDEX by_{column} ON instrument ({column})"))?;
    }
    connection.execute_batch("INSERT INTO words (words) VALUES ('optimize'); COMMIT; ANALYZE;")?;
    Ok(())
}

pub(crate) fn csv_reader(path: &Path) -> Result<csv::Reader<std::fs::File>> {
    Ok(csv::ReaderBuilder::new().has_headers(false).from_path(path)?)
}

impl Engine for Sqlite {
    fn name(&self) -> &'static str {
        "SQLite"
    }

    fn version(&self) -> String {
        format!("SQLite {} (in process)", rusqlite::version())
    }

    fn built(&self) -> &Built {
        &self.built
    }

    fn answer(&mut self, question: &Question, answer: &mut Answer) -> Result<()> {
        self.run(&statement(question, &WORDS), answer)
    }

    fn time(&mut self, questions: &[Question]) -> Result<Duration> {
        let statements: Vec<_> =
            questions.iter().map(|question| statement(question, &WORDS)).collect();
        time_each(&statements, |statement, answer| self.run(statement, answer))
    }

    fn index_pair(&mut self) -> Result<()> {
        let [one, other] = PAIR.map(column_of);
        self.connection.execute_batch(&format!(
            "CREATE INDEX by_pair ON instrument ({one}, {other}); ANALYZE;"
        ))?;
        Ok(())
    }
}
