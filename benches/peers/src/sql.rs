//! The questions in SQL. The peers have the same tables and statements, except for the parts that
//! match words.

use crate::files::{RESULT, column_of};
use crate::question::{MORE, PAGE_ROWS, Pair, Question};

/// The parts of statements with which a dialect finds rows by words.
pub(crate) struct Words {
    /// The text after `FROM` for [`Question::First`]; it includes `instrument i`.
    pub(crate) first: &'static str,
    /// The text after `FROM` for [`Question::Best`]; it includes `instrument i`.
    pub(crate) best: &'static str,
    /// The whole statement for [`Question::CountWords`].
    pub(crate) count: &'static str,
    /// Joins the words to the value that the dialect expects.
    pub(crate) join: fn(&[String]) -> String,
}

/// A value for the parameter `$1`, `$2`, ….
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[serde(untagged)]
pub(crate) enum Value {
    Number(i16),
    Text(String),
}

/// A question as a statement.
#[derive(Clone, Debug, serde::Serialize)]
pub(crate) struct Statement {
    pub(crate) sql: String,
    pub(crate) values: Vec<Value>,
    /// The number of rows in the answer; a further row means that more follow. `None`: unbounded.
    pub(crate) rows_max: Option<usize>,
}

/// The statement that answers a question.
pub(crate) fn statement(question: &Question, words: &Words) -> Statement {
    let rows = |from: &str| format!("SELECT {} FROM {from}", result_columns());
    let text = |text: &str| Value::Text(text.to_owned());
    let limit = PAGE_ROWS + 1;
    let both = |pair: &Pair| {
        let [(one, _), (other, _)] = &pair.0;
        format!("i.{} = $1 AND i.{} = $2", column_of(*one), column_of(*other))
    };
    let values = |pair: &Pair| pair.0.each_ref().map(|(_, value)| text(value)).to_vec();
    let paged = |sql, values| Statement { sql, values, rows_max: Some(PAGE_ROWS) };
    let whole = |sql, values| Statement { sql, values, rows_max: None };
    match question {
        Question::Map { id_type, id_value } => whole(
            rows(
                "identifier d JOIN instrument i ON i.id = d.instrument \
                 WHERE d.id_type = $1 AND d.id_value = $2 ORDER BY d.instrument",
            ),
            vec![Value::Number(*id_type as i16), text(id_value)],
        ),
        Question::Page { pair, after, only_figis } => {
            let columns = if *only_figis { "i.figi".to_owned() } else { result_columns() };
            let place = "i.id > (SELECT id FROM instrument WHERE figi = $3)";
            let sql = format!(
                "SELECT {columns} FROM instrument i WHERE {} AND {place} \
                 ORDER BY i.id LIMIT {limit}",
                both(pair)
            );
            paged(sql, [values(pair), vec![text(after)]].concat())
        }
        Question::Count(pair) => {
            whole(format!("SELECT count(*) FROM instrument i WHERE {}", both(pair)), values(pair))
        }
        Question::First(list) => paged(
            rows(&format!("{} LIMIT {limit}", words.first)),
            vec![Value::Text((words.join)(list))],
        ),
        Question::Best(list) => paged(
            rows(&format!("{} LIMIT {limit}", words.best)),
            vec![Value::Text((words.join)(list))],
        ),
        Question::CountWords(list) => {
            whole(words.count.to_owned(), vec![Value::Text((words.join)(list))])
        }
    }
}

impl Statement {
    /// Whether the answer is a number instead of rows.
    pub(crate) fn counts(&self) -> bool {
        self.sql.starts_with("SELECT count")
    }

    /// The text after the rows, of which the engine read `rows`.
    pub(crate) fn note(&self, rows: usize) -> &'static str {
        if self.rows_max.is_some_and(|rows_max| rows > rows_max) { MORE } else { "" }
    }
}

fn result_columns() -> String {
    RESULT.each_ref().map(|column| format!("i.{}", column.name)).join(", ")
}
