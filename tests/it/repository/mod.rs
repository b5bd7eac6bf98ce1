//! The repository itself: its documents say what is true, and its packaging works.

mod citations;
mod packaging;
mod promises;
mod quick_start;
mod workspace;
