//! The JSON of requests and answers, a file for each shape of the contract:
//!
//! | chapter | files |
//! |---|---|
//! | 4 Mapping jobs | `job`, `job_result` |
//! | 6 Properties | `properties`, `interval` |
//! | 7 Values | `values` |
//! | 8 Search and filter | `search`, `search_result` |
//! | 11 Paging | `cursor` |
//! | 12 Answers and rows | `row` |
//! | 16 Outside the contract | `suggest`, `find`, `reading`, `facets`, `url_filters`, `instrument`, `about` |
//! | 17 Lists | `list` |
//! | 19 Changes | `changes`, `token` |
//! | 20 The past | `past`, `list` |
//!
//! `json` reads and writes the common parts of all shapes. `cell` writes the cells of CSV.
//!
//! A request is first read into a permissive shape. The check turns it into a question for
//! `figdex_index`, whose types cannot hold an invalid question.

mod about;
pub(crate) mod cell;
pub(crate) mod changes;
mod cursor;
pub(crate) mod facets;
mod find;
mod instrument;
mod interval;
mod job;
pub(crate) mod job_result;
pub(crate) mod json;
pub(crate) mod list;
mod past;
mod properties;
mod reading;
mod row;
mod search;
pub(crate) mod search_result;
mod suggest;
mod token;
mod url_filters;
mod values;

use std::borrow::Cow;

pub(crate) use self::about::about;
pub(crate) use self::cursor::{Cursor, QueryDigest};
pub(crate) use self::find::{FindAnswer, FindRequest, find};
pub(crate) use self::instrument::{family, instrument};
pub(crate) use self::job::{Job, jobs};
pub(crate) use self::job_result::JobResult;
pub(crate) use self::json::{array_in_pieces, error};
pub(crate) use self::past::{History, HistoryRequest, history};
pub(crate) use self::properties::{Checked, Several};
pub(crate) use self::row::ROW_BYTES;
pub(crate) use self::search::{INVALID_START, SearchRequest};
pub(crate) use self::search_result::SearchResult;
pub(crate) use self::suggest::{SuggestRequest, suggestions};
pub(crate) use self::token::Token;
pub(crate) use self::values::values;

/// A fault of one field: the sentence for the caller. Endpoints of the contract answer with it
/// inside a 200; other routes answer with a 400, or inside the result of a job of a list.
pub(crate) type Fault = Cow<'static, str>;

/// The most characters of a member's name that a fault repeats: no member that exists has more.
const KEY_CHARS_MAX: usize = 64;

/// The fault of a member that does not exist (contract 2.10). A long name is cut, so that a client
/// cannot make the server send it back in full.
fn invalid_key(key: &str) -> Fault {
    match key.char_indices().nth(KEY_CHARS_MAX) {
        Some((end, _)) => format!("Invalid key '{}…'.", &key[..end]).into(),
        None => format!("Invalid key '{key}'.").into(),
    }
}
