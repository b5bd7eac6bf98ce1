//! The bundled sample: about fifty rows of well-known instruments, written by hand, and a
//! generated universe. It lets a newcomer try real queries within seconds.

use std::path::Path;

use figdex_io::Layout;
use figdex_universe::Universe;

use crate::build::{Build, MaxRejects};
use crate::error::{Error, Result};
use crate::format::Format;
use crate::report::Report;
use crate::source::Input;

/// Well-known instruments, as a canonical dump.
const WELL_KNOWN: &[u8] = include_bytes!("../sample/well-known.csv");

/// The names of the exchanges of the sample, in our own words.
const EXCHANGES: &[u8] = include_bytes!("../sample/exchanges.csv");

/// Other names of the well-known instruments.
const NAMES: &[u8] = include_bytes!("../sample/names.csv");

/// The names of the sample's inputs. A server recognises the sample by them.
const INPUTS: [&str; 3] = ["generated sample", "well-known instruments", "names of the sample"];

/// The generated part. Its FIGIs have a separate prefix, so that none can be mistaken for an issued
/// one.
const UNIVERSE: Universe = Universe::new(20_000, 1);

/// Builds the sample into an index folder and publishes it.
///
/// # Errors
/// The errors of [`Build::run`].
pub fn build(index: &Path) -> Result<Report> {
    let mut generated = Vec::new();
    let written = UNIVERSE.write(Layout::Csv, &mut generated);
    written.map_err(Error::file(&"generated sample"))?;
    let inputs = vec![
        Input::Memory(INPUTS[0], generated.into()),
        Input::Memory(INPUTS[1], WELL_KNOWN.into()),
    ];
    let sample = Build {
        format: Some(Format::canonical()),
        max_rejects: MaxRejects::NONE,
        names: vec![Input::Memory(INPUTS[2], NAMES.into())],
        exchanges: Some(Input::Memory("exchanges of the sample", EXCHANGES.into())),
        ..Build::new(inputs, index)
    };
    sample.run(&mut |_| {})
}
