//! Two generations side by side, in FIGI order.
//!
//! Rows and extras are compared as they are stored, and only those that differ are decoded, since
//! most instruments are the same from night to night.

use super::Generation;
use crate::error::{Error, Result};
use crate::instrument::Instrument;
use crate::instrument::figi::Figi;
use crate::part::Part;
use crate::part::extras::ExtrasBlock;

/// An instrument in two generations: `None` where a generation does not have it.
pub(crate) struct Compared {
    pub(crate) before: Option<Instrument>,
    pub(crate) after: Option<Instrument>,
}

/// A walk over the FIGIs of two generations.
pub(crate) struct PairWalk<'a> {
    before: WalkSide<'a>,
    after: WalkSide<'a>,
}

impl<'a> PairWalk<'a> {
    /// Begins a walk. Without a generation before, every instrument came.
    pub(crate) fn of(before: Option<&'a Generation>, after: &'a Generation) -> Result<Self> {
        let before = WalkSide::of(before.unwrap_or(after), before.is_none())?;
        Ok(Self { before, after: WalkSide::of(after, false)? })
    }

    /// The next FIGI that has an instrument in one of both.
    pub(crate) fn figi(&self) -> Option<Figi> {
        [self.before.figi(), self.after.figi()].into_iter().flatten().min()
    }

    /// Moves over the next FIGI. Returns the instrument in both generations if it is stored
    /// differently, or if `wants` is set.
    pub(crate) fn step(&mut self, wants: bool) -> Result<Option<Compared>> {
        let Some(figi) = self.figi() else { return Ok(None) };
        let [is_old, is_new] = [&self.before, &self.after].map(|side| side.figi() == Some(figi));
        let compared = match !wants && is_old && is_new && self.before.is_stored_as(&self.after) {
            true => None,
            false => {
                let image = |is_there: bool, side: &WalkSide<'_>| {
                    is_there.then(|| side.instrument()).transpose()
                };
                let (before, after) = (image(is_old, &self.before)?, image(is_new, &self.after)?);
                Some(Compared { before, after })
            }
        };
        if is_old {
            self.before.advance()?;
        }
        if is_new {
            self.after.advance()?;
        }
        Ok(compared)
    }
}

/// One of both generations, at an instrument.
struct WalkSide<'a> {
    generation: &'a Generation,
    /// The parts after the current one.
    rest: std::slice::Iter<'a, Part>,
    part: Option<&'a Part>,
    doc: u32,
    block: ExtrasBlock,
}

impl<'a> WalkSide<'a> {
    fn of(generation: &'a Generation, is_empty: bool) -> Result<Self> {
        let rest = if is_empty { [].iter() } else { generation.parts.iter() };
        let mut side = Self { generation, rest, part: None, doc: 0, block: ExtrasBlock::default() };
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
            && own.extras.has_identifiers_of(self.doc, &others.extras, other.doc)
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
        let row = part.rows.get(self.doc);
        part.extras.add_identifiers(
            &self.generation.path,
            self.doc,
            row,
            |_| true,
            &mut instrument,
        )?;
        instrument.importance = part.ranks.importance(self.doc);
        instrument.complete(&row);
        Ok(instrument)
    }

    fn damaged(&self, what: &str) -> Error {
        Error::damaged(&self.generation.path, what)
    }
}
