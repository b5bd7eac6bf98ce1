//! Retired identifiers that operators state (`--retired FILE`): which instrument had an identifier,
//! and on which days.
//!
//! A row names the instrument by `figi`, or by an identifier that it has now (`currentIdType` and
//! `currentIdValue`). The build stops at a row that is wrong: such a file is made by hand or by a
//! program for corporate actions, and half of it would answer wrongly. A row whose instrument is not
//! there is only reported.

use std::io::Read as _;
use std::path::Path;

use figdex_index::{
    Date, Figi, IdType, IdValue, Manifest, PastReport, Retired, RetiredKind, RetiredOf,
};
use figdex_io::grouped;

use crate::error::{Error, Result};
use crate::source::Input;

/// The size limit of a file: about a million rows.
const FILE_BYTES_MAX: u64 = 64 << 20;

const COLUMNS: [&str; 9] = [
    "figi",
    "currentIdType",
    "currentIdValue",
    "idType",
    "idValue",
    "validFrom",
    "validTo",
    "kind",
    "successor",
];

/// The rows of the files, each with the name of its file and its line.
pub(super) struct RetiredRows {
    pub(super) rows: Vec<(RetiredOf, Retired)>,
    /// The file and the line of each.
    pub(super) places: Vec<(String, u64)>,
}

impl RetiredRows {
    /// Reads CSV files with the columns `idType`, `idValue` and `kind`, and as many of the others as
    /// their rows need.
    ///
    /// # Errors
    /// [`Error::Input`] for the first row that is wrong.
    pub(super) fn read(inputs: &[Input]) -> Result<Self> {
        let mut all = Self { rows: Vec::new(), places: Vec::new() };
        inputs.iter().try_for_each(|input| all.add(input))?;
        Ok(all)
    }

    /// Warnings of rows whose instrument is not there, of rows that contradict what was observed, and
    /// of a published generation in which something was stated, while nothing is now.
    pub(super) fn warnings(&self, past: &PastReport, index: &Path) -> Vec<String> {
        let mut warnings = Vec::new();
        if let Some(first) = past.not_stated.first() {
            let (file, line) = &self.places[*first];
            warnings.push(format!(
                "{} of {} rows of retired identifiers name an instrument that is not there; the \
                 first is line {line} of {file}",
                grouped(past.not_stated.len() as u64),
                grouped(self.rows.len() as u64),
            ));
        }
        if past.contradicted > 0 {
            warnings.push(format!(
                "of {} instruments, something else was observed than is stated (--retired): answers \
                 have both",
                grouped(past.contradicted)
            ));
        }
        let stated = Manifest::published(index).ok().and_then(|published| published.past);
        let stated = stated.map_or(0, |past| past.stated);
        if stated > 0 && self.rows.is_empty() {
            warnings.push(format!(
                "the published generation has {} stated identifiers, and this build has none: give \
                 the files to each build (--retired)",
                grouped(stated)
            ));
        }
        warnings
    }

    fn add(&mut self, input: &Input) -> Result<()> {
        let name = input.name();
        let invalid = |line: Option<u64>, what: String| Error::input(&name, line, what);
        let mut bytes = Vec::new();
        let read = input.open()?.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes);
        read.map_err(|error| Error::open(&name, error))?;
        if bytes.len() as u64 > FILE_BYTES_MAX {
            let most = FILE_BYTES_MAX >> 20;
            let what =
                format!("a file of retired identifiers has at most {most} MiB: is it a dump?");
            return Err(invalid(None, what));
        }
        let bytes = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(&bytes);
        let mut table = csv::Reader::from_reader(bytes);
        let of_csv = |error: csv::Error| {
            let line = error.position().map(csv::Position::line);
            invalid(line, error.to_string())
        };
        let header = table.headers().map_err(of_csv)?.clone();
        if let Some(unknown) = header.iter().find(|name| !COLUMNS.contains(&name.trim())) {
            let what =
                format!("{unknown:?} is not a column; the columns are {}", COLUMNS.join(", "));
            return Err(invalid(Some(1), what));
        }
        let places = COLUMNS.map(|column| header.iter().position(|name| name.trim() == column));
        for column in ["idType", "idValue", "kind"] {
            if !header.iter().any(|name| name.trim() == column) {
                return Err(invalid(Some(1), format!("the header has no column {column}")));
            }
        }
        for record in table.records() {
            let record = record.map_err(of_csv)?;
            let line = record.position().map(csv::Position::line);
            let cells =
                places.map(|place| place.and_then(|place| record.get(place)).map_or("", str::trim));
            let row = row(cells).map_err(|what| invalid(line, what))?;
            self.rows.push(row);
            self.places.push((name.clone(), line.unwrap_or_default()));
        }
        Ok(())
    }
}

/// A row of its cells, in the order of [`COLUMNS`].
fn row(cells: [&str; COLUMNS.len()]) -> Result<(RetiredOf, Retired), String> {
    let [figi, current_type, current_value, id_type, id_value, from, to, kind, successor] = cells;
    let owner = match (figi, current_type, current_value) {
        ("", "", "") => return Err("it names no instrument: figi, or an identifier".to_owned()),
        (figi, "", "") => RetiredOf::Figi(parsed_figi("figi", figi)?),
        ("", id_type, value) => RetiredOf::Identifier(identifier(id_type, value)?),
        _ => return Err("it names its instrument twice: figi and an identifier".to_owned()),
    };
    let day = |column: &str, text: &str| match text {
        "" => Ok(None),
        text => Date::parse(text)
            .map(Some)
            .map_err(|_| format!("{column} is {text:?}, and not a day such as 2022-06-09")),
    };
    let (from, to) = (day("validFrom", from)?, day("validTo", to)?);
    if from.zip(to).is_some_and(|(from, to)| from > to) {
        return Err("validFrom is after validTo".to_owned());
    }
    let kind = RetiredKind::from_name(kind).ok_or_else(|| {
        let names = RetiredKind::ALL.map(RetiredKind::name).join(", ");
        format!("the kind is {kind:?}, and must be one of {names}")
    })?;
    let successor = match successor {
        "" => None,
        figi => Some(parsed_figi("successor", figi)?),
    };
    if successor.is_some() && kind == RetiredKind::Rename {
        return Err("a rename has no successor: the instrument is the same".to_owned());
    }
    let id_value = identifier(id_type, id_value)?;
    Ok((owner, Retired { id_value, from, to, kind, successor }))
}

fn parsed_figi(column: &str, text: &str) -> Result<Figi, String> {
    Figi::parse(text).map_err(|error| format!("{column} is {text:?}, and not a FIGI: {error}"))
}

fn identifier(id_type: &str, value: &str) -> Result<IdValue<'static>, String> {
    let known = IdType::from_name(id_type)
        .ok_or_else(|| format!("{id_type:?} is not an idType, such as TICKER or ID_ISIN"))?;
    let admitted = known.admit(value).map(IdValue::into_owned);
    admitted.map_err(|error| format!("{value:?} is {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<RetiredRows> {
        RetiredRows::read(&[Input::Memory("retired.csv", text.as_bytes().into())])
    }

    #[test]
    fn rows_state_who_had_an_identifier() {
        let rows = read(
            "figi,currentIdType,currentIdValue,idType,idValue,validFrom,validTo,kind,successor\n\
             BBG000MM2P62,,,TICKER,FB,2012-05-18,2022-06-08,rename,\n\
             ,ID_ISIN,US30303M1027,TICKER,FB,,2022-06-08,rename,\n\
             BBG000BSKRC0,,,TICKER,TWX,,2018-06-14,merger,BBG000BSJK37\n",
        )
        .unwrap();
        assert_eq!(rows.rows.len(), 3);
        assert_eq!(rows.rows[0].1.to, Date::parse("2022-06-08").ok());
        assert!(matches!(rows.rows[1].0, RetiredOf::Identifier(_)));
        assert!(rows.rows[2].1.successor.is_some());
        assert_eq!(rows.places[2], ("retired.csv".to_owned(), 4));
    }

    #[test]
    fn a_wrong_row_is_named() {
        for (row, part) in [
            (",,,TICKER,FB,,,rename,", "names no instrument"),
            ("BBG000MM2P62,ID_ISIN,US30303M1027,TICKER,FB,,,rename,", "twice"),
            ("BBG000MM2P63,,,TICKER,FB,,,rename,", "not a FIGI"),
            ("BBG000MM2P62,,,SYMBOL,FB,,,rename,", "not an idType"),
            ("BBG000MM2P62,,,ID_ISIN,FB,,,rename,", "not of the form"),
            ("BBG000MM2P62,,,TICKER,FB,18.05.2012,,rename,", "not a day"),
            ("BBG000MM2P62,,,TICKER,FB,2022-06-09,2022-06-08,rename,", "after validTo"),
            ("BBG000MM2P62,,,TICKER,FB,,,renamed,", "must be one of rename"),
            ("BBG000MM2P62,,,TICKER,FB,,,rename,BBG000BSJK37", "no successor"),
        ] {
            let header =
                "figi,currentIdType,currentIdValue,idType,idValue,validFrom,validTo,kind,successor";
            let error = read(&format!("{header}\n{row}\n")).err().unwrap().to_string();
            assert!(error.contains(part) && error.contains("retired.csv"), "{row}: {error}");
        }
        assert!(
            read("figi,idType,idValue\n").err().unwrap().to_string().contains("no column kind")
        );
        assert!(
            read("figi,id,kind\n").err().unwrap().to_string().contains("\"id\" is not a column")
        );
    }
}
