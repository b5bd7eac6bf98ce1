//! The layouts in which a canonical dump and other rows are written.

use clap::ValueEnum;

/// The layout of a canonical dump that is written (`--format`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Layout {
    /// Comma-separated values (RFC 4180) under a header row
    Csv,
    /// JSON lines: an object per line, without unknown values
    #[value(name = "jsonl")]
    JsonLines,
}

/// The layout of rows that are written (`--format`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum RowLayout {
    /// Comma-separated values (RFC 4180) under a header row
    Csv,
    /// JSON lines: an object per line, without unknown values
    #[value(name = "jsonl")]
    JsonLines,
    /// Parquet, with typed columns; needs a program that was built with it
    Parquet,
}
