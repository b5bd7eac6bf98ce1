//! The identifiers and symbols of the rows of a list's answer (contract 21).

use std::collections::HashMap;
use std::slice;

use super::Catalogue;
use crate::error::Result;
use crate::instrument::figi::Figi;
use crate::instrument::id_type::IdType;
use crate::meter::Meter;
use crate::part::extras::IdentifierTexts;
use crate::resolve::crosswalk::symbols::Vendor;
use crate::resolve::crosswalk::{Crosswalk, ListColumns, ListField, SYMBOL_UNITS};
use crate::resolve::question::Question;
use crate::search::{Hit, RowSource as _};

/// The units of work of a text of a row: it is copied, and compared with the others of its column.
const TEXT_UNITS: u64 = 20;

/// The most rows that a symbol may find when it is read back. One that finds more is not shown.
const READ_BACK_ROWS_MAX: usize = 64;

impl Catalogue {
    /// The texts of the columns of identifiers and symbols, of some rows. The identifiers of each
    /// row are read once, however many columns ask for them.
    ///
    /// # Errors
    /// - [`crate::Error::TakesMore`] when that takes more work than the meter allows.
    /// - [`crate::Error::Damaged`] when a file was changed after it was written.
    ///
    /// # Panics
    /// When another catalogue returned a hit.
    pub fn crosswalk(
        &self,
        hits: &[Hit],
        columns: ListColumns<'_>,
        meter: &Meter,
    ) -> Result<Crosswalk> {
        let mut sorted = hits.to_vec();
        sorted.sort_unstable();
        sorted.dedup();
        let mut wanted = [false; IdType::ALL.len()];
        for id_type in columns.fields.iter().filter_map(|field| field.id_type()) {
            wanted[id_type as usize] = true;
        }
        let has_identifiers = wanted.contains(&true);
        let (mut crosswalk, mut read) = (Crosswalk::default(), SymbolsRead::new());
        let mut identifiers = IdentifierTexts::default();
        for of_part in sorted.chunk_by(|a, b| a.part == b.part) {
            let number = of_part[0].part;
            let part = self.part(of_part[0]);
            let path = self.manifest().parts[number as usize].path(&self.generation.path);
            for hit in of_part {
                let row = part.rows.get(hit.doc);
                if has_identifiers {
                    meter.charge(part.extras.identifier_units())?;
                    let wants = |id_type: IdType| wanted[id_type as usize];
                    part.extras.identifiers(&path, hit.doc, row, wants, &mut identifiers)?;
                }
                let before = crosswalk.len();
                crosswalk.add(*hit, |field| row.value(field), identifiers.iter(), columns);
                meter.charge(TEXT_UNITS * (crosswalk.len() - before) as u64)?;
                self.add_symbols(*hit, columns.fields, &mut crosswalk, (&mut read, meter))?;
            }
        }
        Ok(crosswalk)
    }

    /// Adds the columns of symbols of the last row.
    fn add_symbols(
        &self,
        hit: Hit,
        fields: &[ListField],
        crosswalk: &mut Crosswalk,
        (read, meter): (&mut SymbolsRead, &Meter),
    ) -> Result<()> {
        for (place, field) in fields.iter().enumerate() {
            let ListField::Symbol(vendor) = field else { continue };
            if let Some(symbol) = self.symbol_of(hit, *vendor, read, meter)? {
                crosswalk.put(place, &symbol);
            }
        }
        Ok(())
    }

    /// The symbol of a row's composite, as a vendor spells it: one that reads back, as a symbol of
    /// that vendor, to the share class and the composite market of the row. `None` when there is
    /// none.
    ///
    /// # Errors
    /// [`crate::Error::TakesMore`] when that takes more work than the meter allows.
    ///
    /// # Panics
    /// When another catalogue returned the hit.
    pub fn symbol(&self, hit: Hit, vendor: Vendor, meter: &Meter) -> Result<Option<String>> {
        self.symbol_of(hit, vendor, &mut SymbolsRead::new(), meter)
    }

    fn symbol_of(
        &self,
        hit: Hit,
        vendor: Vendor,
        read: &mut SymbolsRead,
        meter: &Meter,
    ) -> Result<Option<String>> {
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
            let key = (vendor.name(), symbol);
            let found = match read.get(&key) {
                Some(found) => *found,
                None => {
                    let found = self.read_symbol(&key.1, vendor, meter)?;
                    read.insert(key.clone(), found);
                    found
                }
            };
            if found == Some(self.security(hit)) {
                return Ok(Some(key.1));
            }
        }
        Ok(None)
    }

    /// The share class and the composite market of a row.
    fn security(&self, hit: Hit) -> SecurityFigis {
        let row = self.row(hit);
        (row.share_class_figi(), row.composite_figi().unwrap_or_else(|| row.figi()))
    }

    /// The only security of which a symbol is that of this vendor; `None` for none and for several.
    fn read_symbol(
        &self,
        symbol: &str,
        vendor: Vendor,
        meter: &Meter,
    ) -> Result<Option<SecurityFigis>> {
        let question = Question::symbol(symbol, vendor, self.vocabulary(), None);
        let mut hits = Vec::new();
        for lookup in question.surest() {
            let mut located = self.locate(slice::from_ref(lookup), meter)?;
            if located.find(0, READ_BACK_ROWS_MAX, &mut hits)?.is_err() {
                return Ok(None);
            }
        }
        let mut securities = hits.into_iter().map(|hit| self.security(hit));
        let first = securities.next();
        Ok(first.filter(|first| securities.all(|other| other == *first)))
    }
}

/// A share class and a composite market.
type SecurityFigis = (Option<Figi>, Figi);

/// The securities that symbols of vendors were read as. Many rows of one answer may have one symbol.
type SymbolsRead = HashMap<(&'static str, String), Option<SecurityFigis>>;
