//! Other names of instruments (`--names FILE`, contract 16.16).
//!
//! A row has a key as an `--enrich` row has (`enrich/level.rs`), and a name with its kind and
//! perhaps its days. It gives the name to all instruments that its key identifies and to all others
//! of their share class. Names are united: nothing is overwritten, and nothing contradicts. A row
//! that identifies several share classes is not used, since the name would be wrong for some.
//!
//! Two passes over the merged instruments find them, as for `--enrich`: [`OtherNames::observe`] each,
//! then [`OtherNames::settle`], then [`OtherNames::apply`] to each. The rows stay in memory until then.

use std::collections::{BTreeMap, HashMap};

use figdex_index::{Attribute, Figi, Instrument, OtherName, unite};

use super::enrich::PLACEHOLDER;
use super::enrich::level::{Key, keys};
use super::rejects::{Entry, Rejects};
use super::written::Written;
use crate::error::{Error, Result};
use crate::report::{NamesReport, Tally};
use crate::row::normalize::{Dropped, describe, figi_of};
use crate::row::reject::Reject;
use crate::row::{Column, NameColumn, Row, names};

/// The most memory that the rows of all `--names` inputs may take.
const ROWS_BYTES_MAX: usize = 512 << 20;

const UNMATCHED: &str = "unmatched: no instrument has its identifiers";
const SEVERAL: &str = "ambiguous: its identifiers are those of several share classes";

/// The rows of the `--names` inputs, and the state of each.
pub(crate) struct OtherNames {
    inputs: Vec<NamesReport>,
    rows: Vec<NameRow>,
    /// The number of each key, by its bytes.
    numbers: HashMap<Box<[u8]>, u32>,
    keys: Vec<KeyState>,
    /// The rows that name a share class.
    of_share_class: HashMap<Figi, Vec<u32>>,
    bytes_left: usize,
    /// The instruments that got a name, and the names that an instrument had no room for.
    named: u64,
    left_out: u64,
    placeholder: Figi,
}

struct NameRow {
    input: u32,
    line: u64,
    raw: Box<[u8]>,
    name: OtherName,
    keys: Vec<u32>,
    found: Found,
}

#[derive(Default)]
struct KeyState {
    found: Found,
    /// The rows with this key that are used.
    rows: Vec<u32>,
}

/// The instruments that a key or a row identifies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Found {
    #[default]
    Nothing,
    /// Instruments of at most one share class. Some of them may have none.
    One(Option<Figi>),
    /// Instruments of several share classes; two of them.
    Several([Figi; 2]),
}

impl Found {
    fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Nothing, found) | (found, Self::Nothing) => found,
            (Self::Several(some), _) | (_, Self::Several(some)) => Self::Several(some),
            (Self::One(a), Self::One(b)) => match a.zip(b) {
                Some((a, b)) if a != b => Self::Several([a.min(b), a.max(b)]),
                _ => Self::One(a.or(b)),
            },
        }
    }
}

/// The keys of an instrument: those of `--enrich`, and the FIGIs of its composite and its share
/// class, since a name is that of a security.
fn keys_of(instrument: &Instrument) -> impl Iterator<Item = Key<'_>> {
    let figis = [Some(instrument.figi), instrument.composite_figi, instrument.share_class_figi];
    let mut figis: Vec<Figi> = figis.into_iter().flatten().collect();
    figis.sort_unstable();
    figis.dedup();
    figis.into_iter().map(Key::Figi).chain(keys(instrument))
}

impl OtherNames {
    pub(crate) fn new() -> Self {
        Self::bounded(ROWS_BYTES_MAX)
    }

    fn bounded(bytes_left: usize) -> Self {
        Self {
            inputs: Vec::new(),
            rows: Vec::new(),
            numbers: HashMap::new(),
            keys: Vec::new(),
            of_share_class: HashMap::new(),
            bytes_left,
            named: 0,
            left_out: 0,
            placeholder: Figi::parse(PLACEHOLDER).expect("the constant is of the form"),
        }
    }

    /// Begins an input. The following rows belong to it.
    pub(crate) fn begin(&mut self, name: String) {
        self.inputs.push(NamesReport { name, ..NamesReport::default() });
    }

    /// The report of the current input.
    ///
    /// # Panics
    /// Before the first [`OtherNames::begin`].
    pub(crate) fn report(&mut self) -> &mut NamesReport {
        self.inputs.last_mut().expect("an input was begun")
    }

    /// The report of each input, in the order given.
    pub(crate) fn reports(&self) -> &[NamesReport] {
        &self.inputs
    }

    /// Adds a row, or returns the reason why it is rejected. Adds invalid cells to `dropped`.
    ///
    /// # Errors
    /// [`Error::Input`] when the rows take more than the limit.
    pub(crate) fn add(
        &mut self,
        row: &Row,
        dropped: &mut Vec<Dropped>,
    ) -> Result<Result<(), Reject>> {
        const NAME: Column = Column::Attribute(Attribute::Name);
        let value = |column| row.cells().find(|cell| cell.column == column).map(|cell| cell.value);
        let of_name = |column| value(Column::Name(column)).unwrap_or_default();
        let [kind, from, to] = [NameColumn::Kind, NameColumn::From, NameColumn::To].map(of_name);
        let name = match names::of_texts(value(NAME).unwrap_or_default(), kind, from, to) {
            Ok(name) => name,
            Err(reason) => return Ok(Err(Reject::Name(reason))),
        };
        let figi = figi_of(row, dropped);
        let fields = describe(figi.unwrap_or(self.placeholder), row, dropped);
        let keys: Vec<Vec<u8>> =
            figi.map(Key::Figi).into_iter().chain(keys(&fields)).map(Key::bytes).collect();
        if keys.is_empty() {
            return Ok(Err(Reject::NoKey));
        }
        // If the row has dropped cells, its bytes go into the rejects file with these.
        let raw: Box<[u8]> = if dropped.is_empty() { row.raw[..].into() } else { Box::default() };
        // A hash table has at most two slots per entry, and a used row is noted with each key.
        let of_key = size_of::<KeyState>() + 2 * size_of::<(Box<[u8]>, u32)>() + 16;
        let links: usize = keys.iter().map(|key| key.len() + of_key).sum();
        let needed = size_of::<NameRow>() + raw.len() + name.text.len() + links;
        let Some(left) = self.bytes_left.checked_sub(needed) else {
            let what = format!(
                "the rows of the --names files take more than {} MiB, which is the limit",
                ROWS_BYTES_MAX >> 20
            );
            return Err(Error::input(&self.report().name, Some(row.line), what));
        };
        self.bytes_left = left;
        let numbers = keys.into_iter().map(|key| {
            *self.numbers.entry(key.into()).or_insert_with(|| {
                self.keys.push(KeyState::default());
                self.keys.len() as u32 - 1
            })
        });
        let keys = numbers.collect();
        let input = self.inputs.len() as u32 - 1;
        let found = Found::Nothing;
        self.rows.push(NameRow { input, line: row.line, raw, name, keys, found });
        Ok(Ok(()))
    }

    /// Whether there are no rows. Then no passes are needed.
    pub(crate) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    fn numbers_of(&self, instrument: &Instrument) -> Vec<u32> {
        keys_of(instrument).filter_map(|key| self.numbers.get(&key.bytes()[..]).copied()).collect()
    }

    /// First pass: records the share class of the instrument for each of its keys.
    pub(crate) fn observe(&mut self, instrument: &Instrument) {
        for key in self.numbers_of(instrument) {
            let found = &mut self.keys[key as usize].found;
            *found = found.and(Found::One(instrument.share_class_figi));
        }
    }

    /// Between the passes: decides which rows are used.
    pub(crate) fn settle(&mut self) {
        for (number, row) in (0_u32..).zip(&mut self.rows) {
            let found = row.keys.iter().map(|key| self.keys[*key as usize].found);
            row.found = found.fold(Found::Nothing, Found::and);
            let counts = &mut self.inputs[row.input as usize].counts;
            match row.found {
                Found::Nothing => counts.unmatched += 1,
                Found::Several(_) => counts.ambiguous += 1,
                Found::One(share_class) => {
                    counts.named += 1;
                    for key in &row.keys {
                        self.keys[*key as usize].rows.push(number);
                    }
                    if let Some(share_class) = share_class {
                        self.of_share_class.entry(share_class).or_default().push(number);
                    }
                }
            }
        }
    }

    /// Second pass: adds its names to an instrument. Returns the bytes of the added names.
    pub(crate) fn apply(&mut self, instrument: &mut Instrument) -> usize {
        let of_keys = self.numbers_of(instrument);
        let of_keys = of_keys.iter().flat_map(|key| &self.keys[*key as usize].rows);
        let share_class = instrument.share_class_figi;
        let of_class = share_class.and_then(|figi| self.of_share_class.get(&figi));
        let mut rows: Vec<u32> = of_keys.chain(of_class.into_iter().flatten()).copied().collect();
        rows.sort_unstable();
        rows.dedup();
        let mut bytes = 0;
        for row in &rows {
            let name = &self.rows[*row as usize].name;
            match unite(&mut instrument.names, name.clone()) {
                true => bytes += name.text.len(),
                false => self.left_out += 1,
            }
        }
        self.named += u64::from(!rows.is_empty());
        bytes
    }

    /// Writes each unused row to the rejects file, and counts it by its reason.
    pub(crate) fn keep_not_named(
        &self,
        rejects: &mut Rejects,
        written: &mut Written,
        tallies: &mut BTreeMap<&'static str, Tally>,
    ) -> Result<()> {
        for row in &self.rows {
            let (reason, whole) = match row.found {
                Found::One(_) => continue,
                Found::Nothing => (UNMATCHED, UNMATCHED.to_owned()),
                Found::Several([a, b]) => (SEVERAL, format!("{SEVERAL}: {a}, {b}")),
            };
            let input = &self.inputs[row.input as usize].name;
            let NameRow { line, raw, .. } = row;
            let entry = Entry { input, line: *line, column: None, reason: &whole, raw };
            rejects.keep(&entry, written)?;
            tallies.entry(reason).or_default().add(input, *line);
        }
        Ok(())
    }

    /// The report of each input, the number of instruments that got a name, and a warning when an
    /// instrument had no room for a name.
    pub(crate) fn finish(self) -> (Vec<NamesReport>, u64, Option<String>) {
        let warning = (self.left_out > 0).then(|| {
            format!(
                "{} times an instrument had {}: the last ones are left out",
                self.left_out,
                names::TOO_MANY
            )
        });
        (self.inputs, self.named, warning)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::row::CellKind;

    fn row_of(cells: &[(&str, &str)]) -> Row {
        let mut row = Row::default();
        for (column, value) in cells {
            let column = Column::from_name(column).or_else(|| Column::of_names(column)).unwrap();
            row.push(column, value, CellKind::Text);
        }
        row
    }

    fn instrument(figi: &str, cells: &[(&str, &str)]) -> Instrument {
        describe(Figi::parse(figi).unwrap(), &row_of(cells), &mut Vec::new())
    }

    /// IBM in two countries, Apple without a share class, and a third company.
    fn instruments() -> Vec<Instrument> {
        const IBM: (&str, &str) = ("shareClassFIGI", "BBG001S5S399");
        const ISIN: (&str, &str) = ("ID_ISIN", "US4592001014");
        vec![
            instrument("BBG000BLNNH6", &[IBM, ISIN, ("exchCode", "US"), ("ticker", "IBM")]),
            instrument("BBG000BLNQ16", &[IBM, ("exchCode", "LN"), ("ticker", "IBM")]),
            instrument("BBG000B9XRY4", &[("exchCode", "US"), ("ticker", "AAPL")]),
            instrument("BBG000BPH459", &[("shareClassFIGI", "BBG001S5N8V8"), ("exchCode", "US")]),
        ]
    }

    /// The outcome of each row, and the names of each instrument.
    fn named(rows: &[&[(&str, &str)]]) -> (Vec<Found>, Vec<Vec<OtherName>>) {
        let mut names = OtherNames::new();
        names.begin("names.csv".into());
        for cells in rows {
            names.add(&row_of(cells), &mut Vec::new()).unwrap().unwrap();
            names.report().counts.read += 1;
        }
        let mut instruments = instruments();
        instruments.iter().for_each(|instrument| names.observe(instrument));
        names.settle();
        instruments.iter_mut().for_each(|instrument| _ = names.apply(instrument));
        let found = names.rows.iter().map(|row| row.found).collect();
        assert!(names.finish().0.iter().all(|input| input.counts.add_up()));
        (found, instruments.into_iter().map(|instrument| instrument.names).collect())
    }

    const NAME: (&str, &str) = ("name", "BIG BLUE");
    const BRAND: (&str, &str) = ("kind", "brand");

    /// contract 16.16: a name is given to all rows of the share class, whatever the key is.
    #[test]
    fn a_name_is_that_of_a_share_class() {
        for key in [
            &[("ID_ISIN", "us4592001014")][..],
            &[("shareClassFIGI", "BBG001S5S399")],
            &[("figi", "BBG001S5S399")],
            &[("figi", "BBG000BLNQ16")],
            &[("exchCode", "LN"), ("ticker", "IBM")],
        ] {
            let (found, names) = named(&[&[key, &[NAME, BRAND]].concat()]);
            assert!(matches!(found[..], [Found::One(Some(_))]), "{key:?}");
            assert_eq!(names.iter().map(Vec::len).collect::<Vec<_>>(), [1, 1, 0, 0], "{key:?}");
        }
        let (_, names) = named(&[&[("exchCode", "US"), ("ticker", "AAPL"), NAME, BRAND]]);
        assert_eq!(names.iter().map(Vec::len).collect::<Vec<_>>(), [0, 0, 1, 0]);
    }

    /// contract 16.16: a row that fits nothing or several share classes gives no name.
    #[test]
    fn a_row_that_fits_nothing_or_several_is_not_used() {
        let several = [Figi::parse("BBG001S5N8V8").unwrap(), Figi::parse("BBG001S5S399").unwrap()];
        let (found, names) = named(&[
            &[("ID_ISIN", "JP3633400001"), NAME, BRAND],
            &[("ID_ISIN", "US4592001014"), ("figi", "BBG000BPH459"), NAME, BRAND],
        ]);
        assert_eq!(found, [Found::Nothing, Found::Several(several)]);
        assert!(names.iter().all(Vec::is_empty));
    }

    /// contract 16.16: the same name twice is one name, and an instrument has at most 50.
    #[test]
    fn names_are_united_and_bounded() {
        let key = ("figi", "BBG000BLNNH6");
        let (_, names) = named(&[
            &[key, NAME, BRAND],
            &[key, NAME, ("kind", "former"), ("to", "2022-06-08")],
            &[key, NAME, BRAND, ("from", "1990-01-01")],
        ]);
        let days = names[0].iter().map(|name| (name.from.is_some(), name.to.is_some()));
        assert_eq!(days.collect::<Vec<_>>(), [(true, false), (false, true)]);
        let texts: Vec<String> = (0..60).map(|number| format!("name {number}")).collect();
        let rows: Vec<_> = texts.iter().map(|text| [key, ("name", text), BRAND]).collect();
        let rows: Vec<&[_]> = rows.iter().map(|row| &row[..]).collect();
        assert_eq!(named(&rows).1[0].len(), 50);
    }

    #[test]
    fn a_wrong_row_is_rejected_with_its_fault() {
        let mut names = OtherNames::bounded(1000);
        names.begin("names.csv".into());
        let key = ("figi", "BBG000BLNNH6");
        for (cells, reason) in [
            (&[key, NAME][..], Reject::Name(names::NOT_A_KIND)),
            (&[key, BRAND], Reject::Name(names::NO_NAME)),
            (&[key, NAME, ("kind", "nickname")], Reject::Name(names::NOT_A_KIND)),
            (&[key, NAME, BRAND, ("to", "8 June 2022")], Reject::Name(names::NOT_A_DAY)),
            (&[("ticker", "IBM"), NAME, BRAND], Reject::NoKey),
        ] {
            assert_eq!(
                names.add(&row_of(cells), &mut Vec::new()).unwrap(),
                Err(reason),
                "{cells:?}"
            );
        }
        let row = row_of(&[key, NAME, BRAND]);
        let full = (0..100).find_map(|_| names.add(&row, &mut Vec::new()).err()).unwrap();
        assert!(full.to_string().contains("the --names files take more than"), "{full}");
    }
}
