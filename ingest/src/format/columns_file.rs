//! A columns file, read and validated.

use std::path::Path;
use std::sync::Arc;

use crate::error::{Error, Result};
use crate::format::description::Description;
use crate::waiting;

/// The size limit of a columns file. The shipped ones have a kilobyte.
const BYTES_MAX: u64 = 1 << 20;

/// A named description of a format. The name is that of a shipped format or of the file.
#[derive(Clone)]
pub(crate) struct ColumnsFile {
    pub(crate) name: Arc<str>,
    pub(crate) description: Arc<Description>,
}

impl ColumnsFile {
    pub(super) fn read(path: &Path) -> Result<Self> {
        let name = path.display();
        let text =
            waiting::read_text(path, BYTES_MAX).map_err(|error| Error::open(&name, error))?;
        Self::parse(&name.to_string(), &text)
    }

    pub(super) fn parse(name: &str, text: &str) -> Result<Self> {
        let description = super::parse::parse(text).map_err(|faults| Error::Columns {
            name: name.to_owned(),
            faults: faults.into_iter().map(|fault| (fault.line, fault.what)).collect(),
        })?;
        Ok(Self { name: name.into(), description: Arc::new(description) })
    }
}
