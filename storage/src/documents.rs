//! The documents of a storage, parsed without a storage: for fuzzing.

use figdex_index::{GenerationId, Manifest};

use crate::contents::Described;
use crate::error::Result;
use crate::layout::Pointer;
use crate::patches;

/// The name of the generation that a pointer names.
///
/// # Errors
/// When the pointer is refused.
pub fn pointer(text: &[u8]) -> Result<String> {
    Ok(Pointer::parse(text, || "CURRENT".to_owned())?.name.to_string())
}

/// The manifest of the contents of a generation, the names of all pieces, and the ids of the change
/// files.
///
/// # Errors
/// When the contents are refused.
pub fn contents(text: &[u8]) -> Result<(Manifest, Vec<String>, Vec<GenerationId>)> {
    let described = Described::of(text, "contents.json")?;
    let pieces = described.pieces().iter().map(|piece| piece.name.to_string()).collect();
    let changes = described.changes().map(|(id, _)| id).collect();
    Ok((described.manifest, pieces, changes))
}

/// The number of files and of patches of a list of patches.
///
/// # Errors
/// When the list is refused.
pub fn patches(text: &[u8]) -> Result<(usize, usize)> {
    patches::counts(text, "patches.json")
}
