//! The differences between two generations: every instrument that differs in a column, in FIGI
//! order.
//!
//! Both are walked side by side. Rows and extras are compared as they are stored, and only those
//! that differ are decoded, since most instruments are the same from night to night.

use std::path::Path;

use super::Catalogue;
use crate::error::{Error, Result};
use crate::generation::changes::{Changed, Net, NetError};
use crate::generation::id::GenerationId;
use crate::instrument::Instrument;
use crate::instrument::figi::Figi;
use crate::meter::Meter;
use crate::part::Part;
use crate::part::extras::ExtrasBlock;

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
        let (mut old, mut new) = (Side::of(before)?, Side::of(self)?);
        loop {
            let figis = (old.figi(), new.figi());
            // A side that has ended is after all others.
            let has = |one: Option<Figi>, other: Option<Figi>| {
                one.is_some_and(|one| other.is_none_or(|other| one <= other))
            };
            let (is_old, is_new) = (has(figis.0, figis.1), has(figis.1, figis.0));
            let changed = match (is_old, is_new) {
                (false, false) => return Ok(()),
                (true, true) if old.is_stored_as(&new) => None,
                _ => {
                    let image = |is_there: bool, side: &Side<'_>| {
                        is_there.then(|| side.instrument()).transpose()
                    };
                    Some(Changed { before: image(is_old, &old)?, after: image(is_new, &new)? })
                }
            };
            for (is_there, side) in [(is_old, &mut old), (is_new, &mut new)] {
                if is_there {
                    side.advance()?;
                }
            }
            if let Some(changed) = changed.filter(|changed| !changed.is_equal()) {
                each(changed)?;
            }
        }
    }
}

/// One of both generations, at an instrument.
struct Side<'a> {
    catalogue: &'a Catalogue,
    /// The parts after the current one.
    rest: std::slice::Iter<'a, Part>,
    part: Option<&'a Part>,
    doc: u32,
    block: ExtrasBlock,
}

impl<'a> Side<'a> {
    fn of(catalogue: &'a Catalogue) -> Result<Self> {
        let rest = catalogue.generation.parts.iter();
        let mut side = Self { catalogue, rest, part: None, doc: 0, block: ExtrasBlock::default() };
        side.next_part()?;
        Ok(side)
    }

    fn next_part(&mut self) -> Result<()> {
        (self.part, self.doc, self.block) = (self.rest.next(), 0, ExtrasBlock::default());
        if let Some(part) = self.part {
            part.rows.read_in_order();
            part.extras.read_in_order();
            self.step()?;
        }
        Ok(())
    }

    /// The FIGI of the instrument; `None` after the last one.
    fn figi(&self) -> Option<Figi> {
        self.part.map(|part| part.rows.figi(self.doc))
    }

    fn advance(&mut self) -> Result<()> {
        self.doc += 1;
        match self.part {
            Some(part) if self.doc as usize == part.rows.len() => self.next_part(),
            _ => self.step(),
        }
    }

    /// Moves to the extras of the current row.
    fn step(&mut self) -> Result<()> {
        let Some(part) = self.part else { return Ok(()) };
        part.extras.step(&mut self.block, self.doc).map_err(|what| self.damaged(what))
    }

    /// Whether both are at instruments that are stored alike. Those that are not may still have the
    /// same values.
    fn is_stored_as(&self, other: &Self) -> bool {
        let (Some(own), Some(others)) = (self.part, other.part) else { return false };
        self.block.encoded() == other.block.encoded()
            && own.ranks.importance(self.doc) == others.ranks.importance(other.doc)
            && own.rows.get(self.doc).is_stored_as(others.rows.get(other.doc))
    }

    /// The instrument.
    fn instrument(&self) -> Result<Instrument> {
        let part = self.part.ok_or_else(|| self.damaged("it has no more instruments"))?;
        let decoded = Instrument::decode(self.block.encoded());
        let mut instrument = decoded.ok_or_else(|| self.damaged("extras cannot be decoded"))?;
        if instrument.figi != part.rows.figi(self.doc) {
            return Err(self.damaged("extras are not those of their row"));
        }
        instrument.importance = part.ranks.importance(self.doc);
        instrument.complete(&part.rows.get(self.doc));
        Ok(instrument)
    }

    fn damaged(&self, what: &str) -> Error {
        Error::damaged(&self.catalogue.generation.path, what)
    }
}
