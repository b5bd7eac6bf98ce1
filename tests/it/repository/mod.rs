//! The repository itself: its documents say what is true, and its packaging works.

mod citations;
mod engine_room;
mod new_crate;
mod packaging;
mod promises;
mod quick_start;
mod worked_example;
mod workspace;
