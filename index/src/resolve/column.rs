//! Recognises the type of a whole column of identifiers from its values and its heading.

use super::correction::padded_sedol;
use super::recognise::has_form;
use super::spaced::{identifier_in, is_in_groups};
use super::trimmed::trimmed;
use crate::instrument::id_type::IdType;

/// The most values that decide the type of a column. The first values decide, so that a stream is
/// read only once.
pub const COLUMN_VALUES_MAX: usize = 10_000;

/// The units of work of counting a value, which is compared with each form.
pub const COLUMN_VALUE_UNITS: u64 = 60;

/// The smallest share of the values that must have the form of a type in [`PROVEN`], when the
/// heading does not decide.
const SHARE_MIN: f64 = 0.9;

/// The smallest share of the values that must have the form of the type in the heading.
const SHARE_MIN_NAMED: f64 = 0.5;

/// The types whose form other texts rarely have by chance, the surest first.
const PROVEN: [IdType; 5] =
    [IdType::BbGlobal, IdType::Isin, IdType::Occ, IdType::Sedol, IdType::Cusip];

/// The headings of columns of identifiers, in lower case without blanks and signs.
const HEADINGS: [(&str, IdType); 34] = [
    ("figi", IdType::BbGlobal),
    ("idbbglobal", IdType::BbGlobal),
    ("bbgid", IdType::BbGlobal),
    ("compositefigi", IdType::CompositeBbGlobal),
    ("shareclassfigi", IdType::ShareClassBbGlobal),
    ("isin", IdType::Isin),
    ("idisin", IdType::Isin),
    ("isincode", IdType::Isin),
    ("isinnumber", IdType::Isin),
    ("cusip", IdType::Cusip),
    ("idcusip", IdType::Cusip),
    ("cins", IdType::Cins),
    ("sedol", IdType::Sedol),
    ("idsedol", IdType::Sedol),
    ("wkn", IdType::Wertpapier),
    ("wertpapier", IdType::Wertpapier),
    ("wertpapierkennnummer", IdType::Wertpapier),
    ("wknnr", IdType::Wertpapier),
    ("wknnummer", IdType::Wertpapier),
    ("idwertpapier", IdType::Wertpapier),
    ("commoncode", IdType::Common),
    ("idcommon", IdType::Common),
    ("occsymbol", IdType::Occ),
    ("oprasymbol", IdType::Opra),
    ("ticker", IdType::Ticker),
    ("tickersymbol", IdType::Ticker),
    ("tickers", IdType::Ticker),
    ("symbol", IdType::Ticker),
    // The code of a Japanese listing, as brokers there call it.
    ("銘柄コード", IdType::Ticker),
    ("証券コード", IdType::Ticker),
    ("コード", IdType::Ticker),
    ("ティッカー", IdType::Ticker),
    ("symbols", IdType::Ticker),
    ("stocksymbol", IdType::Ticker),
];

/// The counts of the values of a column that were seen so far.
#[derive(Clone, Debug, Default)]
pub struct Column {
    /// The number of values that are not blank.
    values: usize,
    /// The number of values that have the form of each idType.
    of_form: [usize; IdType::ALL.len()],
    /// The number of integers that have the form of each idType only with zeros in front, and of
    /// texts that are SEDOLs without their leading zero. Small
    /// numbers have the form of a SEDOL by chance, so these count only if the heading names the
    /// type.
    of_padded_form: [usize; IdType::ALL.len()],
}

/// The type of a column.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Recognised {
    /// The type of the identifiers in the column.
    pub id_type: IdType,
    /// The share of the values that have the form of this type, from 0 to 1. It is 1 for tickers,
    /// which have no form, and for OPRA symbols.
    pub share: f64,
}

impl Column {
    /// Counts a value. Blank values, and values after the first [`COLUMN_VALUES_MAX`], do not
    /// count.
    pub fn add(&mut self, text: &str) {
        self.count(text, false);
    }

    /// Counts an integer, given as its decimal digits: leading zeros may be missing (contract 5.3).
    pub fn add_integer(&mut self, decimal: &str) {
        self.count(decimal, true);
    }

    fn count(&mut self, text: &str, is_integer: bool) {
        let text = &*trimmed(text);
        if text.is_empty() || self.values == COLUMN_VALUES_MAX {
            return;
        }
        self.values += 1;
        let joined = identifier_in(text);
        for id_type in IdType::ALL.into_iter().filter(|id_type| shows_by_form(*id_type)) {
            let is_joined = || joined.as_ref().is_some_and(|text| has_form(text, id_type));
            if has_form(text, id_type) || is_in_groups(id_type) && is_joined() {
                self.of_form[id_type as usize] += 1;
            } else if is_integer && id_type.admit_integer(text).is_ok()
                || id_type == IdType::Sedol && padded_sedol(text).is_some()
            {
                self.of_padded_form[id_type as usize] += 1;
            }
        }
    }

    /// The number of values that were counted.
    pub fn values(&self) -> usize {
        self.values
    }

    /// The type of the column, if its values or its heading show it. If neither does, the caller
    /// recognises each text by itself.
    pub fn recognise(&self, heading: &str) -> Option<Recognised> {
        if self.values == 0 {
            return None;
        }
        if let Some(id_type) = type_of_heading(heading) {
            let share = match shows_by_form(id_type) {
                true => self.share(id_type) + self.share_of(self.of_padded_form[id_type as usize]),
                false => 1.0,
            };
            if share >= SHARE_MIN_NAMED {
                return Some(Recognised { id_type, share });
            }
        }
        let shares = PROVEN.map(|id_type| Recognised { id_type, share: self.share(id_type) });
        let best = shares.into_iter().rev().max_by(|a, b| a.share.total_cmp(&b.share));
        best.filter(|best| best.share >= SHARE_MIN)
    }

    fn share(&self, id_type: IdType) -> f64 {
        self.share_of(self.of_form[id_type as usize])
    }

    fn share_of(&self, values: usize) -> f64 {
        values as f64 / self.values as f64
    }
}

/// The type that a heading names, such as `ISIN` or `Ticker symbol`.
pub fn type_of_heading(heading: &str) -> Option<IdType> {
    let letters = heading.chars().filter(|character| character.is_alphanumeric());
    let name: String = letters.flat_map(char::to_lowercase).collect();
    HEADINGS.into_iter().find(|(known, _)| *known == name).map(|(_, id_type)| id_type)
}

/// Whether an identifier of `id_type` is expected in a column that was recognised as `column`. For
/// example, a column of CUSIPs also holds CINS, and a column of FIGIs holds those of all levels.
pub(crate) fn is_of_column(id_type: IdType, column: IdType) -> bool {
    use IdType::{BbGlobal, Cins, CompositeBbGlobal, Cusip, ShareClassBbGlobal};
    id_type == column
        || match column {
            Cusip => id_type == Cins,
            BbGlobal => matches!(id_type, CompositeBbGlobal | ShareClassBbGlobal),
            _ => false,
        }
}

/// Whether a text of a column of tickers that no row has as its ticker is also read as this type.
pub(crate) fn is_in_tickers(id_type: IdType) -> bool {
    use IdType::{BbGlobal, Cins, CompositeBbGlobal, Cusip, Isin, Occ, Sedol, ShareClassBbGlobal};
    matches!(
        id_type,
        BbGlobal | Cins | CompositeBbGlobal | Cusip | Isin | Occ | Sedol | ShareClassBbGlobal
    )
}

/// Whether the form of a text can show, more or less surely, that it is of this type.
fn shows_by_form(id_type: IdType) -> bool {
    use IdType::{
        BbGlobal, Cins, Common, CompositeBbGlobal, Cusip, Isin, Occ, Sedol, ShareClassBbGlobal,
        Wertpapier,
    };
    matches!(
        id_type,
        BbGlobal
            | Cins
            | Common
            | CompositeBbGlobal
            | Cusip
            | Isin
            | Occ
            | Sedol
            | ShareClassBbGlobal
            | Wertpapier
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recognised(heading: &str, values: &[&str]) -> Option<IdType> {
        let mut column = Column::default();
        values.iter().for_each(|value| column.add(value));
        column.recognise(heading).map(|recognised| recognised.id_type)
    }

    #[test]
    fn values_with_a_check_digit_show_their_type() {
        assert_eq!(recognised("", &["US4592001014", "us0378331005"]), Some(IdType::Isin));
        assert_eq!(recognised("", &["BBG000BLNNH6", "", " "]), Some(IdType::BbGlobal));
        assert_eq!(recognised("", &["0263494", "B0YBKJ7"]), Some(IdType::Sedol));
        assert_eq!(recognised("", &["459200101", "G0177J108"]), Some(IdType::Cusip));
        assert_eq!(recognised("", &["AAPL  251219C00200000"]), Some(IdType::Occ));
        assert_eq!(recognised("", &["US 459200 1014", "us-0378331005"]), Some(IdType::Isin));
        assert_eq!(recognised("", &["459200 10 1", "037833-10-0"]), Some(IdType::Cusip));
        let with_wkn = ["DE0007164600 / 716460", "US0378331005 / 865985"];
        assert_eq!(recognised("ISIN / WKN", &with_wkn), Some(IdType::Isin));
        assert_eq!(recognised("", &["IBM", "VOD LN"]), None, "any text may be a ticker");
        assert_eq!(recognised("", &["851399", "840400"]), None, "any six digits may be a WKN");
        assert_eq!(recognised("ISIN", &[]), None);
        assert_eq!(recognised("ISIN", &["", " "]), None);
    }

    #[test]
    fn a_heading_says_what_the_values_do_not() {
        assert_eq!(recognised("Ticker", &["IBM", "VOD LN"]), Some(IdType::Ticker));
        assert_eq!(recognised("WKN", &["851399", "A0B1C2"]), Some(IdType::Wertpapier));
        assert_eq!(recognised("WKN-Nr.", &["851399", "A0B1C2"]), Some(IdType::Wertpapier));
        assert_eq!(recognised("コード", &["7203", "AAPL"]), Some(IdType::Ticker));
        assert_eq!(
            recognised("Share Class FIGI", &["BBG001S5S399"]),
            Some(IdType::ShareClassBbGlobal)
        );
        assert_eq!(recognised("isin", &["US4592001014", "?"]), Some(IdType::Isin));
        let names = ["IBM", "Apple", "US4592001014"];
        assert_eq!(recognised("ISIN", &names), None, "most values contradict it");
    }

    /// contract 5.3: a number has lost its leading zeros.
    #[test]
    fn integers_are_padded_only_where_the_heading_names_the_type() {
        let recognised = |heading: &str, integers: &[&str]| {
            let mut column = Column::default();
            integers.iter().for_each(|integer| column.add_integer(integer));
            column.recognise(heading).map(|found| (found.id_type, found.share))
        };
        assert_eq!(recognised("SEDOL", &["263494", "263494"]), Some((IdType::Sedol, 1.0)));
        assert_eq!(recognised("CUSIP", &["37833100", "459200101"]), Some((IdType::Cusip, 1.0)));
        assert_eq!(recognised("Quantity", &["263494", "0", "0"]), None);
        assert_eq!(recognised("", &["459200101"]), Some((IdType::Cusip, 1.0)));
    }

    /// contract 17.4: a spreadsheet took the leading zero.
    #[test]
    fn a_heading_shows_sedols_without_their_zero() {
        assert_eq!(recognised("SEDOL", &["798059", "540528", "B0YBKJ7"]), Some(IdType::Sedol));
        assert_eq!(recognised("", &["798059", "540528", "B0YBKJ7"]), None);
    }

    #[test]
    fn nine_of_ten_values_are_enough() {
        let mut values = vec!["US4592001014"; 9];
        values.push("unknown");
        assert_eq!(recognised("", &values), Some(IdType::Isin));
        values.push("unknown");
        assert_eq!(recognised("", &values), None);
    }

    #[test]
    fn only_the_first_values_count() {
        let mut column = Column::default();
        (0..COLUMN_VALUES_MAX).for_each(|_| column.add("US4592001014"));
        (0..COLUMN_VALUES_MAX).for_each(|_| column.add("unknown"));
        assert_eq!(column.values(), COLUMN_VALUES_MAX);
        let recognised = column.recognise("").unwrap();
        assert_eq!((recognised.id_type, recognised.share), (IdType::Isin, 1.0));
    }
}
