//! The operator's table of exchanges (`--exchanges FILE`). If a MIC and an exchange code correspond
//! one to one, an instrument with one of them gets the other. The names of the exchanges are kept
//! for people.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::io::Read as _;

use figdex_index::{Instrument, Property, country_of_exchange};

use crate::error::{Error, Result};
use crate::row::Column;
use crate::row::normalize::PROPERTY_BYTES_MAX;
use crate::source::Input;

/// The size limit of the table. A table of all MICs of ISO 10383, with all its columns, has a
/// quarter of this.
const TABLE_BYTES_MAX: u64 = 4 << 20;

/// Exchange codes and MICs that correspond one to one.
#[derive(Default)]
pub(crate) struct Exchanges {
    exch_codes: HashMap<String, String>,
    mics: HashMap<String, String>,
    names: BTreeMap<String, String>,
    /// The countries of exchange codes that differ from those of the bundled table.
    countries: BTreeMap<String, String>,
    /// The columns that the table lacks.
    lacking: Vec<&'static str>,
}

/// The column with the ISO 3166 code of an exchange's country.
const COUNTRY: &str = "country";

/// The columns that may have exchange codes, each with the columns that may have the names of these
/// exchanges. The first name in a row that is not blank counts.
const NAMED: [(&str, &[&str]); 2] =
    [("exchCode", &["name", "exchFullName", "exchName"]), ("compositeCode", &["compositeName"])];

impl Exchanges {
    /// Reads the columns `mic` and `exchCode` of a CSV file, and the names in [`NAMED`] and the
    /// [`COUNTRY`] if they exist. A country that is not two capital letters is left out. Other columns are ignored.
    ///
    /// # Errors
    /// [`Error::Input`] when the file cannot be read, is too large, is not CSV or lacks `mic` or
    /// `exchCode`, and when a value of a used column is too long.
    pub(crate) fn read(input: &Input) -> Result<Self> {
        let name = input.name();
        let invalid = |line: Option<u64>, what: String| Error::input(&name, line, what);
        let mut bytes = Vec::new();
        let read = input.open()?.take(TABLE_BYTES_MAX + 1).read_to_end(&mut bytes);
        read.map_err(|error| Error::open(&name, error))?;
        if bytes.len() as u64 > TABLE_BYTES_MAX {
            let most = TABLE_BYTES_MAX >> 20;
            let what = format!("a table of exchanges has at most {most} MiB: is it a dump?");
            return Err(invalid(None, what));
        }
        let mut table = csv::Reader::from_reader(&bytes[..]);
        let of_csv = |error: csv::Error| {
            let line = error.position().map(csv::Position::line);
            invalid(line, error.to_string())
        };
        let header = table.headers().map_err(of_csv)?.clone();
        let place =
            |wanted: &str| header.iter().position(|name| name.trim().eq_ignore_ascii_case(wanted));
        let column = |wanted: &str| {
            let place = place(wanted);
            place.ok_or_else(|| invalid(Some(1), format!("the header has no column {wanted}")))
        };
        let (mic, exch_code) = (column("mic")?, column("exchCode")?);
        let named = NAMED.map(|(code, names)| {
            (place(code), names.iter().filter_map(|name| place(name)).collect::<Vec<_>>())
        });
        let country = place(COUNTRY);
        let mut lacking: Vec<&str> = Vec::new();
        for (code, names) in NAMED {
            lacking.extend(Some(code).filter(|code| place(code).is_none()));
            let any_name = names.iter().any(|name| place(name).is_some());
            lacking.extend(names.first().filter(|_| !any_name));
        }
        lacking.extend(Some(COUNTRY).filter(|_| country.is_none()));
        let mut countries = BTreeMap::new();
        let mut pairs = HashSet::new();
        let mut names = BTreeMap::new();
        for record in table.records() {
            let record = record.map_err(of_csv)?;
            let cell = |place: usize| record.get(place).map_or("", str::trim).to_owned();
            let of_names = named.iter().flat_map(|(code, names)| code.iter().chain(names));
            for &place in [mic, exch_code].iter().chain(of_names) {
                if cell(place).len() > PROPERTY_BYTES_MAX {
                    let column = header.get(place).unwrap_or_default();
                    let what = format!("{column} is longer than {PROPERTY_BYTES_MAX} bytes");
                    return Err(invalid(record.position().map(csv::Position::line), what));
                }
            }
            let pair = (cell(mic), cell(exch_code));
            let country = country.map(cell).filter(|country| is_country(country));
            if let Some(country) = country.filter(|_| !pair.1.is_empty()) {
                countries.entry(pair.1.clone()).or_insert(country);
            }
            for (code, places) in &named {
                let Some(code) = code.map(cell).filter(|code| !code.is_empty()) else { continue };
                let name = places.iter().map(|place| cell(*place)).find(|name| !name.is_empty());
                if let Some(name) = name {
                    names.entry(code).or_insert(name);
                }
            }
            if !pair.0.is_empty() && !pair.1.is_empty() {
                pairs.insert(pair);
            }
        }
        countries.retain(|code, country| country_of_exchange(code) != Some(country));
        Ok(Self { names, countries, lacking, ..Self::of_pairs(&pairs) })
    }

    /// The countries of exchange codes that differ from those of the bundled table.
    pub(crate) fn countries(&self) -> &BTreeMap<String, String> {
        &self.countries
    }

    /// The columns that the table lacks, among those that are not needed.
    pub(crate) fn lacking(&self) -> &[&'static str] {
        &self.lacking
    }

    /// The names of the exchanges, by their codes.
    pub(crate) fn names(&self) -> &BTreeMap<String, String> {
        &self.names
    }

    fn of_pairs(pairs: &HashSet<(String, String)>) -> Self {
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

    /// Fills the MIC or the exchange code of an instrument that has only one of them. Returns the
    /// filled column and the size of its value.
    pub(crate) fn fill(&self, instrument: &mut Instrument) -> Option<(Column, usize)> {
        let mic = instrument.property(Property::MicCode);
        let (property, value) = match (mic, instrument.property(Property::ExchCode)) {
            (Some(mic), None) => (Property::ExchCode, self.exch_codes.get(mic)?),
            (None, Some(code)) => (Property::MicCode, self.mics.get(code)?),
            _ => return None,
        };
        instrument.properties[property as usize] = Some(value.clone());
        Some((Column::Property(property), value.len()))
    }
}

/// Whether a text is two capital letters, as an ISO 3166 code is.
fn is_country(text: &str) -> bool {
    text.len() == 2 && text.bytes().all(|byte| byte.is_ascii_uppercase())
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

    /// The countries that differ from the bundled table are kept, the first of a code; columns that
    /// are not there are named.
    #[test]
    fn countries_of_exchanges() {
        let table =
            "mic,exchCode,country\nXLON,LN,GB\nXNEW,ZZ9,FR\nXOLD,ZZ9,DE\nX,GR,AT\nY,UN,MTF\n";
        let exchanges = Exchanges::read(&Input::Memory("table", table.as_bytes().into())).unwrap();
        let countries = exchanges.countries().iter().map(|(code, country)| (&**code, &**country));
        assert!(countries.eq([("GR", "AT"), ("ZZ9", "FR")]), "{:?}", exchanges.countries());
        assert_eq!(exchanges.lacking(), ["name", "compositeCode", "compositeName"]);
    }

    /// A table that is too large, and a value that is too long, are refused by name.
    #[test]
    fn tables_are_bounded() {
        let refused = |table: String| {
            let input = Input::Memory("table", table.into_bytes().into());
            Exchanges::read(&input).err().unwrap().to_string()
        };
        let error = refused("mic,exchCode\n".to_owned() + &"A,B\n".repeat(1 << 20));
        assert_eq!(error, "table: a table of exchanges has at most 4 MiB: is it a dump?");
        let error = refused(format!("mic,exchCode\nXLON,LN\nXNAS,{}\n", "U".repeat(257)));
        assert_eq!(error, "table, line 3: exchCode is longer than 256 bytes");
    }

    /// The largest table, in which each pair is another, is read at once: each is looked up.
    #[test]
    fn a_long_table_is_read() {
        let rows = (0..200_000).map(|number| format!("M{number},C{number}\n"));
        let table = "MIC,exchcode\n".to_owned() + &rows.collect::<String>();
        let exchanges = Exchanges::read(&Input::Memory("table", table.into_bytes().into()));
        assert_eq!(exchanges.unwrap().mics.len(), 200_000);
    }

    #[test]
    fn only_pairs_that_are_one_to_one_fill() {
        let pairs = [("XLON", "LN"), ("XNAS", "UW"), ("XNAS", "UQ"), ("A", "Z"), ("B", "Z")];
        let pairs = pairs.map(|(mic, code)| (mic.to_owned(), code.to_owned()));
        let exchanges = Exchanges::of_pairs(&pairs.into());
        let filled = |property: Property, value: &str| {
            let mut instrument = Instrument::new(Figi::parse("BBG000BLNNH6").unwrap());
            instrument.properties[property as usize] = Some(value.into());
            let column = exchanges.fill(&mut instrument).map(|(column, _)| column.name());
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
