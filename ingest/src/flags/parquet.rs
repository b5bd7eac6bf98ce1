//! The flag of `build` for the Parquet file of an index.

use clap::Args;

use crate::inspect::parquet::IdentifierColumns;

/// The flag of the Parquet file.
#[derive(Args)]
pub struct ParquetFlags {
    /// Write a Parquet file of all instruments into the index, for a server with
    /// --parquet. It has columns of identifiers only of the idTypes that are named
    /// here, with commas between them, or of all
    #[arg(
        long,
        value_name = "IDTYPES|all",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "none"
    )]
    pub parquet: Option<IdentifierColumns>,
}
