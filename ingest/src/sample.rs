//! The bundled sample: about fifty rows of well-known instruments, written by hand, and a
//! generated universe. It lets a newcomer try real queries within seconds.

use std::path::Path;

use crate::build::{Build, MaxRejects};
use crate::error::{Error, Result};
use crate::format::Format;
use crate::generate;
use crate::generate::Universe;
use crate::layout::Layout;
use crate::report::Report;
use crate::source::Input;

/// Well-known instruments, as a canonical dump.
const WELL_KNOWN: &[u8] = include_bytes!("../sample/well-known.csv");

/// The generated part. Its FIGIs have their own prefix, so that none can be mistaken for an
/// issued one.
const UNIVERSE: Universe = Universe::new(20_000, 1);

/// Builds the sample into an index folder and publishes it.
///
/// # Errors
/// Those of [`Build::run`].
pub fn build(index: &Path) -> Result<Report> {
    let mut generated = Vec::new();
    generate::write(&UNIVERSE, Layout::Csv, &mut generated)
        .map_err(Error::file(&"generated sample"))?;
    let inputs = vec![
        Input::Memory("generated sample", generated.into()),
        Input::Memory("well-known instruments", WELL_KNOWN.into()),
    ];
    let sample = Build {
        format: Some(Format::canonical()),
        max_rejects: MaxRejects::NONE,
        ..Build::new(inputs, index)
    };
    sample.run(&mut |_| {})
}
