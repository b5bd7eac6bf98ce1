//! The identifiers and symbols of the rows of a list's answer (contract 21).

use super::Catalogue;
use crate::error::{Error, Result};
use crate::instrument::figi::Figi;
use crate::meter::Meter;
use crate::part::extras::Extras;
use crate::resolve::crosswalk::symbols::Vendor;
use crate::resolve::crosswalk::{
    CROSSWALK_UNITS, Crosswalk, CrosswalkRow, ListColumns, ListField, SYMBOL_UNITS,
};
use crate::resolve::question::Question;
use crate::search::{Hit, RowSource as _};

/// The most rows that a symbol may find when it is read back. One that finds more is not shown.
const READ_BACK_ROWS_MAX: usize = 64;

impl Catalogue {
    /// The texts of the columns of identifiers and symbols, of some rows. The identifiers of each
    /// row are read once, however many columns ask for them.
    ///
    /// # Errors
    /// - [`Error::TakesMore`] when that takes more work than the meter allows.
    /// - [`Error::Damaged`] when a file was changed after it was written.
    ///
    /// # Panics
    /// When another catalogue returned a hit.
    pub fn crosswalk(
        &self,
        hits: &[Hit],
        columns: ListColumns<'_>,
        meter: &Meter,
    ) -> Result<Crosswalk> {
        let fields = columns.fields;
        let mut sorted = hits.to_vec();
        sorted.sort_unstable();
        sorted.dedup();
        let has_identifiers = fields.iter().any(|one| matches!(one, ListField::Identifiers(..)));
        let mut crosswalk = Crosswalk::default();
        for of_part in sorted.chunk_by(|a, b| a.part == b.part) {
            let number = of_part[0].part;
            let docs: Vec<u32> = of_part.iter().map(|hit| hit.doc).collect();
            let part = self.part(of_part[0]);
            let path = self.manifest().parts[number as usize].path(&self.generation.path);
            let mut add = |doc, mut row: CrosswalkRow| {
                let hit = Hit { part: number, doc };
                self.add_symbols(hit, fields, &mut row, meter)?;
                crosswalk.add(hit, row);
                Ok::<_, Error>(())
            };
            if !has_identifiers {
                let empty = CrosswalkRow::empty(fields);
                docs.iter().try_for_each(|doc| add(*doc, empty.clone()))?;
                continue;
            }
            meter.charge(CROSSWALK_UNITS * Extras::blocks_of(&docs) as u64)?;
            part.extras.get_many(&path, &docs, |doc, mut instrument| {
                let row = part.rows.get(doc);
                if instrument.figi != row.figi() {
                    let what = format!("extras: {} is not the instrument of its row", row.figi());
                    return Err(Error::damaged(&path, what));
                }
                instrument.complete(&row);
                add(doc, CrosswalkRow::of(&instrument, columns))
            })?;
        }
        Ok(crosswalk)
    }

    fn add_symbols(
        &self,
        hit: Hit,
        fields: &[ListField],
        row: &mut CrosswalkRow,
        meter: &Meter,
    ) -> Result<()> {
        for (place, field) in fields.iter().enumerate() {
            let ListField::Symbol(vendor) = field else { continue };
            if let Some(symbol) = self.symbol(hit, *vendor, meter)? {
                row.set_symbol(place, symbol);
            }
        }
        Ok(())
    }

    /// The symbol of a row's composite, as a vendor spells it: one that reads back, as a symbol of
    /// that vendor, to the share class and the composite market of the row. `None` when there is
    /// none.
    ///
    /// # Errors
    /// [`Error::TakesMore`] when that takes more work than the meter allows.
    ///
    /// # Panics
    /// When another catalogue returned the hit.
    pub fn symbol(&self, hit: Hit, vendor: Vendor, meter: &Meter) -> Result<Option<String>> {
        meter.charge(SYMBOL_UNITS)?;
        let row = self.row(hit);
        let composite = row.composite_figi().and_then(|figi| self.find(figi));
        let listed = composite.map_or(row, |hit| self.row(hit));
        let (Some(ticker), Some(code)) = (listed.ticker(), listed.exch_code()) else {
            return Ok(None);
        };
        let (ticker, code) = (ticker.to_string(), code.to_string());
        for symbol in vendor.symbols(&ticker, &code) {
            meter.charge(SYMBOL_UNITS)?;
            if self.reads_back(&symbol, vendor, self.security(hit)) {
                return Ok(Some(symbol));
            }
        }
        Ok(None)
    }

    /// The share class and the composite market of a row.
    fn security(&self, hit: Hit) -> (Option<Figi>, Figi) {
        let row = self.row(hit);
        (row.share_class_figi(), row.composite_figi().unwrap_or_else(|| row.figi()))
    }

    /// Whether a symbol is read as that of this share class and composite, and of no other.
    fn reads_back(&self, symbol: &str, vendor: Vendor, security: (Option<Figi>, Figi)) -> bool {
        let question = Question::symbol(symbol, vendor, self.vocabulary(), None);
        let mut is_found = false;
        for lookup in question.surest() {
            let Ok(hits) = self.lookup(lookup, READ_BACK_ROWS_MAX) else { return false };
            if hits.iter().any(|hit| self.security(*hit) != security) {
                return false;
            }
            is_found |= !hits.is_empty();
        }
        is_found
    }
}
