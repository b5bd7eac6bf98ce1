//! The operator's table of exchanges (`--exchanges FILE`). Where a MIC and an exchange code
//! correspond one to one, an instrument that has one of them gets the other. The names of the
//! exchanges are kept for people.

use std::collections::{BTreeMap, HashMap};
use std::io::Read as _;

use figdex_index::{Instrument, Property};

use crate::error::{Error, Result};
use crate::row::Column;
use crate::source::Input;

/// Exchange codes and MICs that correspond one to one.
#[derive(Default)]
pub(crate) struct Exchanges {
    exch_codes: HashMap<String, String>,
    mics: HashMap<String, String>,
    names: BTreeMap<String, String>,
}

/// Columns of exchange codes, each with the columns of their names; the first that is filled counts.
const NAMED: [(&str, &[&str]); 2] =
    [("exchCode", &["name", "exchFullName", "exchName"]), ("compositeCode", &["compositeName"])];

impl Exchanges {
    /// Reads the columns `mic` and `exchCode` of a CSV file, and the names in [`NAMED`] if they are
    /// there. Others are ignored.
    ///
    /// # Errors
    /// [`Error::Input`] when the file cannot be read or lacks a column.
    pub(crate) fn read(input: &Input) -> Result<Self> {
        let name = input.name();
        let invalid = |line: Option<u64>, what: String| Error::input(&name, line, what);
        let mut bytes = Vec::new();
        input.open()?.read_to_end(&mut bytes).map_err(|error| Error::open(&name, error))?;
        let mut table = csv::Reader::from_reader(&bytes[..]);
        let of_csv = |error: csv::Error| {
            let line = error.position().map(csv::Position::line);
            invalid(line, error.to_string())
        };
        let header = table.headers().map_err(of_csv)?.clone();
        let place = |wanted: &str| header.iter().position(|name| name.trim() == wanted);
        let column = |wanted: &str| {
            let place = place(wanted);
            place.ok_or_else(|| invalid(Some(1), format!("the header has no column {wanted}")))
        };
        let (mic, exch_code) = (column("mic")?, column("exchCode")?);
        let named = NAMED.map(|(code, names)| {
            (place(code), names.iter().filter_map(|name| place(name)).collect::<Vec<_>>())
        });
        let mut pairs = Vec::new();
        let mut names = BTreeMap::new();
        for record in table.records() {
            let record = record.map_err(of_csv)?;
            let cell = |place: usize| record.get(place).map_or("", str::trim).to_owned();
            let pair = (cell(mic), cell(exch_code));
            if !pair.0.is_empty() && !pair.1.is_empty() && !pairs.contains(&pair) {
                pairs.push(pair);
            }
            for (code, places) in &named {
                let Some(code) = code.map(cell).filter(|code| !code.is_empty()) else { continue };
                let name = places.iter().map(|place| cell(*place)).find(|name| !name.is_empty());
                if let Some(name) = name {
                    names.entry(code).or_insert(name);
                }
            }
        }
        Ok(Self { names, ..Self::of_pairs(&pairs) })
    }

    /// The names of the exchanges, by their codes.
    pub(crate) fn names(&self) -> &BTreeMap<String, String> {
        &self.names
    }

    fn of_pairs(pairs: &[(String, String)]) -> Self {
        let (mut by_mic, mut by_code) = (HashMap::new(), HashMap::new());
        for (mic, code) in pairs {
            *by_mic.entry(mic).or_insert(0) += 1;
            *by_code.entry(code).or_insert(0) += 1;
        }
        let mut exchanges = Self::default();
        for (mic, code) in pairs.iter().filter(|(mic, code)| by_mic[mic] == 1 && by_code[code] == 1)
        {
            exchanges.exch_codes.insert(mic.clone(), code.clone());
            exchanges.mics.insert(code.clone(), mic.clone());
        }
        exchanges
    }

    /// Fills the MIC or the exchange code of an instrument that has only the other. Returns the
    /// column that was filled.
    pub(crate) fn fill(&self, instrument: &mut Instrument) -> Option<Column> {
        let mic = instrument.property(Property::MicCode);
        let (property, value) = match (mic, instrument.property(Property::ExchCode)) {
            (Some(mic), None) => (Property::ExchCode, self.exch_codes.get(mic)?),
            (None, Some(code)) => (Property::MicCode, self.mics.get(code)?),
            _ => return None,
        };
        instrument.properties[property as usize] = Some(value.clone());
        Some(Column::Property(property))
    }
}

#[cfg(test)]
mod tests {
    use figdex_index::Figi;

    use super::*;

    /// The first name of a code counts; a composite has a name, too.
    #[test]
    fn names_of_exchanges() {
        let table = "mic,exchCode,compositeCode,exchFullName,exchName,compositeName\n\
                     XLON,LN,LN,London Stock Exchange,LONDON,United Kingdom\n\
                     XNAS,UW,US,,NASDAQ GS,United States\n\
                     XNAS,UQ,US,,,Americas\n";
        let exchanges = Exchanges::read(&Input::Memory("table", table.as_bytes().into())).unwrap();
        let names = exchanges.names().iter().map(|(code, name)| (&**code, &**name));
        let expected =
            [("LN", "London Stock Exchange"), ("US", "United States"), ("UW", "NASDAQ GS")];
        assert!(names.eq(expected), "{:?}", exchanges.names());
    }

    #[test]
    fn only_pairs_that_are_one_to_one_fill() {
        let pairs = [("XLON", "LN"), ("XNAS", "UW"), ("XNAS", "UQ"), ("A", "Z"), ("B", "Z")];
        let pairs = pairs.map(|(mic, code)| (mic.to_owned(), code.to_owned()));
        let exchanges = Exchanges::of_pairs(&pairs);
        let filled = |property: Property, value: &str| {
            let mut instrument = Instrument::new(Figi::parse("BBG000BLNNH6").unwrap());
            instrument.properties[property as usize] = Some(value.into());
            let column = exchanges.fill(&mut instrument).map(Column::name);
            let both = [Property::MicCode, Property::ExchCode];
            (column, both.map(|property| instrument.property(property).map(String::from)))
        };
        let both = [Some("XLON".to_owned()), Some("LN".to_owned())];
        assert_eq!(filled(Property::MicCode, "XLON"), (Some("exchCode"), both.clone()));
        assert_eq!(filled(Property::ExchCode, "LN"), (Some("micCode"), both));
        for (property, value) in
            [(Property::MicCode, "XNAS"), (Property::ExchCode, "UW"), (Property::ExchCode, "Z")]
        {
            assert_eq!(filled(property, value).0, None, "{value}");
        }
    }
}
