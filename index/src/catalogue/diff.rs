//! The differences between two generations: every instrument that differs in a column, in FIGI
//! order.

use std::path::Path;

use super::Catalogue;
use crate::error::{Error, Result};
use crate::generation::changes::{Changed, Net, NetError};
use crate::generation::compare::{Compared, PairWalk};
use crate::generation::id::GenerationId;
use crate::meter::Meter;

impl Catalogue {
    /// The net change from one generation of the index folder to another, by the change files
    /// there; `None` when finding it takes more work than the meter allows.
    ///
    /// # Errors
    /// [`NetError`].
    pub fn net(
        &self,
        since: GenerationId,
        target: GenerationId,
        meter: &Meter,
    ) -> Result<Option<Net>, NetError> {
        // The folder of a generation lies in that of the index.
        let index = self.generation.path.parent().unwrap_or(Path::new(""));
        Net::between_metered(index, since, target, meter)
    }

    /// Calls `each` with every instrument that differs from that of the generation `before`.
    ///
    /// # Errors
    /// The first error of `each`, and [`Error::Damaged`].
    pub fn differences<E: From<Error>>(
        &self,
        before: &Self,
        mut each: impl FnMut(Changed) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut both = PairWalk::of(Some(&before.generation), &self.generation)?;
        while both.figi().is_some() {
            let Some(Compared { before, after }) = both.step(false)? else { continue };
            let changed = Changed { before, after };
            if !changed.is_equal() {
                each(changed)?;
            }
        }
        Ok(())
    }
}
