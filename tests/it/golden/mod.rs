//! Answers that are compared with recorded files: what the data hold, what people look for, and
//! how questions are carried out. With `FIGDEX_BLESS=1` a test writes its file.

mod lists;
mod plans;
mod recorded;
mod relevance;
