//! Turns a row into an instrument, or rejects the row with a reason.
//!
//! A missing or invalid `figi` rejects the row, since an instrument cannot exist without it. Any
//! other invalid cell is dropped and reported, so that one bad cell does not lose the instrument.

use figdex_index::{Date, Figi, IdType, Importance, Instrument, Property, Slot, unite};

use super::names;
use super::reject::Reject;
use super::{Cell, CellKind, Column, Row};

/// The longest text of a field, in bytes.
const TEXT_BYTES_MAX: usize = 4096;

/// The longest value of an enum-like property, in bytes.
pub(crate) const PROPERTY_BYTES_MAX: usize = 256;

/// The most values that one row may have of one idType, or aliases.
const LIST_VALUES_MAX: usize = 100;

/// The reason to drop the values of a list beyond [`LIST_VALUES_MAX`].
const TOO_MANY: &str = "more than 100 values";

/// The invalid cells of a row in one column that were dropped for the same reason. A row has one
/// entry for each column and reason, however many values its cells have.
pub(crate) struct Dropped {
    pub(crate) column: Column,
    pub(crate) reason: &'static str,
    /// Number of values.
    pub(crate) values: u64,
}

/// Adds an invalid cell of a row to the dropped cells.
pub(crate) fn drop_cell(dropped: &mut Vec<Dropped>, column: Column, reason: &'static str) {
    match dropped.iter_mut().find(|entry| (entry.column, entry.reason) == (column, reason)) {
        Some(entry) => entry.values += 1,
        None => dropped.push(Dropped { column, reason, values: 1 }),
    }
}

/// The FIGI in a row that adds to instruments, if it has one. A cell that is not a FIGI is dropped.
pub(crate) fn figi_of(row: &Row, dropped: &mut Vec<Dropped>) -> Option<Figi> {
    const GLOBAL: Column = Column::Identifier(IdType::BbGlobal);
    let named = row.cells().find(|cell| matches!(cell.column, Column::Figi | GLOBAL))?;
    let figi = Figi::parse(named.value).ok();
    if figi.is_none() {
        drop_cell(dropped, named.column, "not a FIGI");
    }
    figi
}

/// The instrument that `row` describes. Invalid cells are added to `dropped`.
///
/// # Errors
/// The reason why the row is not an instrument.
pub(crate) fn normalize(row: &Row, dropped: &mut Vec<Dropped>) -> Result<Instrument, Reject> {
    let mut figis = row.cells().filter(|cell| cell.column == Column::Figi);
    let figi = figis.next().ok_or(Reject::NoFigi)?;
    if let CellKind::Invalid(reason) = figi.kind {
        return Err(Reject::FigiCell(reason));
    }
    let figi = Figi::parse(figi.value).map_err(Reject::Figi)?;
    Ok(describe(figi, row, dropped))
}

/// The instrument with that FIGI and the other values of `row`. Invalid cells are added to
/// `dropped`.
pub(crate) fn describe(figi: Figi, row: &Row, dropped: &mut Vec<Dropped>) -> Instrument {
    let mut instrument = Instrument::new(figi);
    for cell in row.cells() {
        let is_full = |entry: &Dropped| (entry.column, entry.reason) == (cell.column, TOO_MANY);
        let set = match dropped.iter().any(is_full) {
            // The values are already at the maximum, and need not be counted again for each further
            // one.
            true => Err(TOO_MANY),
            false => set_cell(&mut instrument, &cell),
        };
        if let Err(reason) = set {
            drop_cell(dropped, cell.column, reason);
        }
    }
    fill_fields(&mut instrument, row);
    settle_field_types(&mut instrument, dropped);
    instrument
}

/// Sets the field of a cell.
///
/// # Errors
/// The reason why the cell is invalid.
pub(crate) fn set_cell(instrument: &mut Instrument, cell: &Cell<'_>) -> Result<(), &'static str> {
    if let CellKind::Invalid(reason) = cell.kind {
        return Err(reason);
    }
    let value = cell.value;
    match cell.column {
        // Only `--names` reads the parts of a name.
        Column::Figi | Column::Name(_) => {}
        Column::Attribute(attribute) => set(instrument.slot(attribute), value)?,
        Column::Property(property) => {
            if property == Property::OptionType && !matches!(value, "Put" | "Call") {
                return Err("neither Put nor Call");
            }
            instrument.properties[property as usize] = Some(text(value, PROPERTY_BYTES_MAX)?);
        }
        Column::Identifier(id_type) => {
            let admitted = match cell.kind {
                CellKind::Integer => id_type.admit_integer(value),
                _ => id_type.admit(value),
            };
            let admitted = admitted.map_err(|_| "not of the form of its idType")?;
            let identifier = admitted.into_owned();
            if instrument.identifiers_of(id_type).count() == LIST_VALUES_MAX {
                return Err(TOO_MANY);
            }
            if !instrument.identifiers.contains(&identifier) {
                instrument.identifiers.push(identifier);
            }
        }
    }
    Ok(())
}

/// Sets the field of an attribute.
fn set(slot: Slot<'_>, value: &str) -> Result<(), &'static str> {
    match slot {
        Slot::Figi(slot) => *slot = Some(figi(value)?),
        Slot::Text(slot) => *slot = Some(text(value, TEXT_BYTES_MAX)?),
        Slot::Number(slot) => *slot = Some(number(value)?),
        Slot::Date(slot) => *slot = Some(date(value)?),
        Slot::Flag(slot) => {
            // `True`, which Python writes, is accepted too: if `False` were dropped, an unlisted
            // equity would count as listed.
            let flag = value.to_ascii_lowercase().parse();
            *slot = Some(flag.map_err(|_| "neither true nor false")?);
        }
        Slot::Importance(slot) => {
            let importance = value.parse().ok().and_then(Importance::new);
            *slot = Some(importance.ok_or("not a number from 0 on")?);
        }
        Slot::Texts(slot) if slot.len() == LIST_VALUES_MAX => return Err(TOO_MANY),
        Slot::Texts(slot) => slot.push(text(value, TEXT_BYTES_MAX)?),
        Slot::Names(slot) => {
            for name in names::parse(value)? {
                if !unite(slot, name) {
                    return Err(names::TOO_MANY);
                }
            }
        }
    }
    Ok(())
}

/// Fills the three result fields that are also idTypes, if the row has only the identifier. The
/// field keeps the spelling of the dump (contract 5.18).
fn fill_fields(instrument: &mut Instrument, row: &Row) {
    for cell in row.cells() {
        let Column::Identifier(id_type) = cell.column else { continue };
        let field = match id_type {
            IdType::BbUnique => &mut instrument.unique_id,
            IdType::UniqueFutOpt => &mut instrument.unique_id_fut_opt,
            IdType::Ticker => &mut instrument.ticker,
            _ => continue,
        };
        if field.is_none() && id_type.admit(cell.value).is_ok() {
            *field = Some(cell.value.to_owned());
        }
    }
}

/// Four idTypes have another name as fields. Moves their values into these fields, if they are
/// blank. An identifier that contradicts its field is dropped.
fn settle_field_types(instrument: &mut Instrument, dropped: &mut Vec<Dropped>) {
    const CONTRADICTION: &str = "not the row's own value";
    let identifiers = std::mem::take(&mut instrument.identifiers);
    for value in identifiers {
        let (id_type, text) = (value.id_type(), value.as_str());
        let agrees = match id_type {
            IdType::BbGlobal => Figi::parse(text) == Ok(instrument.figi),
            IdType::CompositeBbGlobal => agree(&mut instrument.composite_figi, text),
            IdType::ShareClassBbGlobal => agree(&mut instrument.share_class_figi, text),
            IdType::Ticker => {
                let ticker = instrument.ticker.get_or_insert_with(|| text.to_owned());
                IdType::Ticker.admit(ticker).is_ok_and(|ticker| ticker == value)
            }
            _ => {
                instrument.identifiers.push(value);
                true
            }
        };
        if !agrees {
            drop_cell(dropped, Column::Identifier(id_type), CONTRADICTION);
        }
    }
}

fn agree(field: &mut Option<Figi>, text: &str) -> bool {
    Figi::parse(text).is_ok_and(|figi| *field.get_or_insert(figi) == figi)
}

fn figi(value: &str) -> Result<Figi, &'static str> {
    Figi::parse(value).map_err(|_| "not a FIGI")
}

fn text(value: &str, bytes_max: usize) -> Result<String, &'static str> {
    if value.len() > bytes_max {
        return Err("longer than its column may be");
    }
    Ok(value.to_owned())
}

fn number(value: &str) -> Result<f64, &'static str> {
    value.parse().ok().filter(|number: &f64| number.is_finite()).ok_or("not a number")
}

fn date(value: &str) -> Result<Date, &'static str> {
    Date::parse(value).map_err(|_| "not a date of the form YYYY-MM-DD")
}

#[cfg(test)]
mod tests {
    use figdex_index::FigiError;

    use super::*;

    fn normalized(cells: &[(&str, &str)]) -> (Result<Instrument, Reject>, Vec<String>) {
        let mut row = Row::default();
        for (column, value) in cells {
            row.push(Column::from_name(column).unwrap(), value, CellKind::Text);
        }
        let mut dropped = Vec::new();
        let instrument = normalize(&row, &mut dropped);
        let dropped = dropped.iter().map(|cell| format!("{}: {}", cell.column.name(), cell.reason));
        (instrument, dropped.collect())
    }

    const IBM: (&str, &str) = ("figi", "BBG000BLNNH6");

    #[test]
    fn a_wrong_figi_rejects_the_row() {
        assert_eq!(normalized(&[("ticker", "IBM")]).0, Err(Reject::NoFigi));
        let wrong = normalized(&[("figi", "BBG000BLNNH5")]).0;
        assert_eq!(wrong, Err(Reject::Figi(FigiError::CheckDigit)));
    }

    #[test]
    fn another_wrong_cell_is_dropped_and_reported() {
        let (instrument, dropped) = normalized(&[
            IBM,
            ("ticker", " IBM "),
            ("compositeFIGI", "BBG000BLNNH5"),
            ("strike", "NaN"),
            ("coupon", "7 5/8"),
            ("expiration", "01/17/25"),
            ("listed", "maybe"),
            ("importance", "-1"),
            ("importance", "1e999"),
            ("importance", "Mega Cap"),
            ("optionType", "put"),
            ("ID_ISIN", "US4592001015"),
            ("ID_CUSIP", "459200101"),
        ]);
        let instrument = instrument.unwrap();
        assert_eq!(instrument.ticker.as_deref(), Some("IBM"));
        assert_eq!(instrument.composite_figi, None);
        assert_eq!(instrument.property(Property::OptionType), None);
        assert_eq!(instrument.identifiers.len(), 1);
        assert_eq!(
            dropped,
            [
                "compositeFIGI: not a FIGI",
                "strike: not a number",
                "coupon: not a number",
                "expiration: not a date of the form YYYY-MM-DD",
                "listed: neither true nor false",
                "importance: not a number from 0 on",
                "optionType: neither Put nor Call",
                "ID_ISIN: not of the form of its idType",
            ]
        );
    }

    /// contract 5.18: the field has the stored value as it was written.
    #[test]
    fn a_field_that_only_an_identifier_gives_keeps_its_spelling() {
        let (instrument, dropped) = normalized(&[
            IBM,
            ("ID_BB_UNIQUE", "abcX"),
            ("UNIQUE_ID_FUT_OPT", "IBM US Equity"),
            ("TICKER", "brk/b"),
            ("listed", "False"),
        ]);
        let instrument = instrument.unwrap();
        assert_eq!(instrument.unique_id.as_deref(), Some("abcX"));
        assert_eq!(instrument.unique_id_fut_opt.as_deref(), Some("IBM US Equity"));
        assert_eq!((instrument.ticker.as_deref(), instrument.listed), (Some("brk/b"), Some(false)));
        assert!(dropped.is_empty(), "{dropped:?}");
    }

    #[test]
    fn an_id_type_that_is_a_field_fills_it_or_is_dropped() {
        let (instrument, dropped) = normalized(&[
            IBM,
            ("ticker", "IBM"),
            ("TICKER", "ibm"),
            ("ID_BB_GLOBAL", "BBG000BLNNH6"),
            ("COMPOSITE_ID_BB_GLOBAL", "BBG000BLNNH6"),
            ("shareClassFIGI", "BBG001S5S399"),
            ("ID_BB_GLOBAL_SHARE_CLASS_LEVEL", "BBG001S5N8V8"),
        ]);
        let instrument = instrument.unwrap();
        assert_eq!(instrument.composite_figi, Some(instrument.figi));
        assert_eq!(instrument.share_class_figi.unwrap().to_string(), "BBG001S5S399");
        assert_eq!(instrument.identifiers, []);
        assert_eq!(dropped, ["ID_BB_GLOBAL_SHARE_CLASS_LEVEL: not the row's own value"]);
    }
}
