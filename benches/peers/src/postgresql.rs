//! PostgreSQL, over a Unix socket, with prepared statements.
//!
//! Tables: `instrument`, whose primary key is the place in FIGI order, and `identifier`. B-trees on
//! (idType, idValue, instrument), on the FIGI and, for each property of a filter, on (property,
//! place in FIGI order). GIN over a stored `tsvector` of the words (configuration `simple`: no stems,
//! no stop words). No trigrams, because no question asks for parts of words.
//!
//! Tuning: `COPY … FREEZE` in the transaction that creates the tables, which then skips the log;
//! indexes after the rows; `VACUUM (ANALYZE)` before the first question. The server's settings are
//! in `server.rs`. The server decides about plans (`plan_cache_mode = auto`: a new plan for every
//! value makes a mapping five times as expensive) and about parallel workers.

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufReader, copy};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use figdex_index::Property;
use postgres::Client;
use postgres::types::ToSql;

use crate::engine::{Answer, Built, Engine, time_each};
use crate::files::{Files, column_of, columns};
use crate::question::{PAIR, Question};
use crate::server::Server;
use crate::sql::{Statement, Value, Words, statement};

const WORDS: Words = Words {
    first: "instrument i WHERE i.words @@ plainto_tsquery('simple', $1) ORDER BY i.id",
    best: "instrument i, plainto_tsquery('simple', $1) q WHERE i.words @@ q \
           ORDER BY ts_rank(i.words, q) DESC, i.id",
    count: "SELECT count(*) FROM instrument i WHERE i.words @@ plainto_tsquery('simple', $1)",
    join: |words| words.join(" "),
};

pub(crate) struct Postgresql {
    // The first field, so that the connection is dropped before the server.
    client: Client,
    _server: Server,
    prepared: HashMap<String, postgres::Statement>,
    built: Built,
    version: String,
}

impl Postgresql {
    pub(crate) fn build(files: &Files, server: Server) -> Result<Self> {
        let mut client = server.connect()?;
        let started = Instant::now();
        load(&mut client, files)?;
        let elapsed = started.elapsed();
        let bytes = "SELECT (pg_total_relation_size('instrument') \
                     + pg_total_relation_size('identifier'))::bigint";
        let bytes = client.query_one(bytes, &[])?.get::<_, i64>(0) as u64;
        let version = client.query_one("SHOW server_version", &[])?.get::<_, String>(0);
        let version = version.split(' ').next().unwrap_or(&version).to_owned();
        let built = Built { elapsed, bytes };
        Ok(Self { client, _server: server, prepared: HashMap::new(), built, version })
    }

    fn run(&mut self, statement: &Statement, answer: &mut Answer) -> Result<()> {
        if !self.prepared.contains_key(&statement.sql) {
            let prepared = self.client.prepare(&statement.sql)?;
            self.prepared.insert(statement.sql.clone(), prepared);
        }
        let prepared = &self.prepared[&statement.sql];
        let values: Vec<&(dyn ToSql + Sync)> = statement
            .values
            .iter()
            .map(|value| -> &(dyn ToSql + Sync) {
                match value {
                    Value::Number(number) => number,
                    Value::Text(text) => text,
                }
            })
            .collect();
        let rows = self.client.query(prepared, &values)?;
        if statement.counts() {
            let count = rows.first().context("a count is one row")?.get::<_, i64>(0);
            answer.note(&count.to_string());
            return Ok(());
        }
        for row in rows.iter().take(statement.rows_max.unwrap_or(rows.len())) {
            for place in 0..row.len() {
                answer.field(row.get::<_, Option<&str>>(place).map(str::as_bytes));
            }
            answer.end_row();
        }
        answer.note(statement.note(rows.len()));
        Ok(())
    }
}

fn load(client: &mut Client, files: &Files) -> Result<()> {
    let typed = columns().map(|column| {
        let kind = if column.is_number { "double precision" } else { "text" };
        // The column `words` is generated from the column `texts`.
        format!("{} {kind}", column.name.replace("words", "texts"))
    });
    let names = columns().map(|column| column.name.replace("words", "texts"));
    let names: Vec<_> = names.collect();
    let mut transaction = client.transaction()?;
    transaction.batch_execute(&format!(
        "CREATE TABLE instrument (id integer NOT NULL, {}, words tsvector
             GENERATED ALWAYS AS (to_tsvector('simple', texts)) STORED);
         CREATE TABLE identifier (id_type smallint NOT NULL, id_value text NOT NULL,
             instrument integer NOT NULL);",
        typed.collect::<Vec<_>>().join(", ")
    ))?;
    let instruments = format!("instrument (id, {})", names.join(", "));
    for (table, path) in [(&*instruments, &files.instruments), ("identifier", &files.identifiers)] {
        let copied = format!("COPY {table} FROM STDIN (FORMAT csv, FREEZE)");
        let mut sink = transaction.copy_in(&copied)?;
        copy(&mut BufReader::with_capacity(1 << 20, File::open(path)?), &mut sink)?;
        sink.finish()?;
    }
    transaction.commit()?;
    client.batch_execute(
        "ALTER TABLE instrument ADD PRIMARY KEY (id);
         CREATE UNIQUE INDEX ON instrument (figi);
         CREATE INDEX ON identifier (id_type, id_value, instrument);
         CREATE INDEX ON instrument USING gin (words);",
    )?;
    for property in Property::ALL {
        let column = column_of(property);
        client.batch_execute(&format!("CREATE INDEX ON instrument ({column}, id)"))?;
    }
    for last in ["VACUUM (ANALYZE) instrument", "VACUUM (ANALYZE) identifier", "CHECKPOINT"] {
        client.batch_execute(last)?;
    }
    Ok(())
}

impl Engine for Postgresql {
    fn name(&self) -> &'static str {
        "PostgreSQL"
    }

    fn version(&self) -> String {
        format!("PostgreSQL {} (unix socket)", self.version)
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
        self.client.batch_execute(&format!("CREATE INDEX ON instrument ({one}, {other}, id)"))?;
        self.client.batch_execute("VACUUM (ANALYZE) instrument")?;
        Ok(())
    }
}
