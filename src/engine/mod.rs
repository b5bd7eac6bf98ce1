//! The engines that answer questions. Only this module decides where a question is answered, and
//! when the work on it waits.
//!
//! A request takes its [`Engine`] once, and asks it questions. Each question is a type that both
//! engines answer, and the same code writes the rows of both.
//!
//! | file | task |
//! |---|---|
//! | `answer` | asks the engine, and writes the answer |
//! | `changes` | the changes between two generations |
//! | `find` | the question of `GET /find` |
//! | `questions` | questions, each with the way to ask either engine |
//! | `lookups`, `list` | questions that borrow from the body of a request |
//! | `parquet` | the Parquet file of a generation |
//! | `which` | the engine: an index on this machine, or one in a cluster |
//! | `rows` | the rows of an answer, in the index or fetched from a cluster |
//! | `turn` | work that is done at once, or else in a turn |

mod answer;
mod changes;
mod find;
mod list;
mod lookups;
mod parquet;
mod questions;
mod rows;
mod turn;
mod which;

pub(crate) use self::answer::{Batch, BatchRead};
pub(crate) use self::changes::ChangesAsked;
pub(crate) use self::find::{Find, FoundPage, TextReading};
pub(crate) use self::list::ListQuestions;
pub(crate) use self::lookups::{LookedUp, Lookups};
pub(crate) use self::parquet::parquet_of;
pub(crate) use self::questions::{
    Example, OneHistory, OneInstrument, PageQuestion, PastOfOne, Suggestions,
};
pub(crate) use self::rows::FoundRows;
pub(crate) use self::turn::Turns;
pub use self::which::Engine;
