//! One generated row, and its formats: CSV and JSON lines.
//!
//! A row keeps its cells as ranges of one text, so that values shared by all rows of an issue are
//! formatted once. The text is reused for the next issue. CSV and JSON are written by hand for
//! speed, since most cells are blank or short.

use std::fmt::{self, Write as _};

macro_rules! columns {
    ($($column:ident = $name:literal, $shape:ident;)*) => {
        /// A column that the generator fills.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum Column { $($column,)* }

        impl Column {
            /// All columns, in the order of the dump.
            pub(crate) const ALL: &[Self] = &[$(Self::$column,)*];

            /// The name in the header, and the key in JSON.
            pub(crate) const fn name(self) -> &'static str {
                match self { $(Self::$column => $name,)* }
            }

            const fn shape(self) -> Shape {
                match self { $(Self::$column => Shape::$shape,)* }
            }

            /// The text before the value in JSON.
            const fn key(self) -> &'static str {
                match self { $(Self::$column => key!($name, $shape),)* }
            }
        }
    };
}

/// The form of a cell in JSON: a text in quotes, or a bare number or boolean.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shape {
    Text,
    Bare,
}

macro_rules! key {
    ($name:literal, Text) => {
        concat!("\"", $name, "\":\"")
    };
    ($name:literal, Bare) => {
        concat!("\"", $name, "\":")
    };
}

columns! {
    Figi = "figi", Text;
    Composite = "compositeFIGI", Text;
    ShareClass = "shareClassFIGI", Text;
    Ticker = "ticker", Text;
    Name = "name", Text;
    Description = "securityDescription", Text;
    ExchCode = "exchCode", Text;
    MicCode = "micCode", Text;
    Currency = "currency", Text;
    MarketSector = "marketSector", Text;
    SecurityType = "securityType", Text;
    SecurityType2 = "securityType2", Text;
    OptionType = "optionType", Text;
    Strike = "strike", Bare;
    ContractSize = "contractSize", Bare;
    Coupon = "coupon", Bare;
    Expiration = "expiration", Text;
    Maturity = "maturity", Text;
    Listed = "listed", Bare;
    StateCode = "stateCode", Text;
    UniqueId = "uniqueID", Text;
    UniqueIdFutOpt = "uniqueIDFutOpt", Text;
    Isin = "ID_ISIN", Text;
    Cusip = "ID_CUSIP", Text;
    Cins = "ID_CINS", Text;
    Sedol = "ID_SEDOL", Text;
    Wertpapier = "ID_WERTPAPIER", Text;
    Common = "ID_COMMON", Text;
    Bb = "ID_BB", Text;
    Trace = "ID_TRACE", Text;
    SecNumDes = "ID_BB_SEC_NUM_DES", Text;
    ExchSymbol = "ID_EXCH_SYMBOL", Text;
    FullExchangeSymbol = "ID_FULL_EXCHANGE_SYMBOL", Text;
    TradingSystem = "TRADING_SYSTEM_IDENTIFIER", Text;
    Occ = "OCC_SYMBOL", Text;
    Opra = "OPRA_SYMBOL", Text;
    Cusip8 = "ID_CUSIP_8_CHR", Text;
    Italy = "ID_ITALY", Text;
    ShortCode = "ID_SHORT_CODE", Text;
    BaseTicker = "BASE_TICKER", Text;
    VendorIndexCode = "VENDOR_INDEX_CODE", Text;
    Bb8Chr = "ID_BB_8_CHR", Text;
    Alias = "alias", Text;
}

/// The cells of one row. A blank cell means "unknown".
#[derive(Clone)]
pub(crate) struct Row {
    text: String,
    cells: [CellRange; Column::ALL.len()],
}

/// The range of a cell in the text of its row, in bytes.
#[derive(Clone, Copy)]
struct CellRange {
    start: u32,
    end: u32,
    /// Whether neither CSV nor JSON must escape anything. This is computed once, when the cell is
    /// set, for all rows that share the cell.
    is_plain: bool,
}

const BLANK: CellRange = CellRange { start: 0, end: 0, is_plain: true };

impl Row {
    pub(crate) const fn new() -> Self {
        Self { text: String::new(), cells: [BLANK; Column::ALL.len()] }
    }

    /// Blanks every cell, for the next issue.
    pub(crate) fn clear(&mut self) {
        self.text.clear();
        self.cells = [BLANK; Column::ALL.len()];
    }

    /// Blanks every cell, and sets the cells that nearly every kind has: market sector, security
    /// type, security type 2 and currency.
    pub(crate) fn begin(&mut self, [sector, security_type, security_type2, currency]: [&str; 4]) {
        self.clear();
        self.set(Column::MarketSector, sector);
        self.set(Column::SecurityType, security_type);
        self.set(Column::SecurityType2, security_type2);
        self.set(Column::Currency, currency);
    }

    pub(crate) fn get(&self, column: Column) -> &str {
        self.slice(self.cells[column as usize])
    }

    pub(crate) fn set(&mut self, column: Column, value: impl fmt::Display) {
        let start = self.text.len();
        write!(self.text, "{value}").expect("writing into memory does not fail");
        let is_special = |byte| matches!(byte, b',' | b'"' | b'\\' | 0..b' ');
        self.cells[column as usize] = CellRange {
            start: start as u32,
            end: self.text.len() as u32,
            is_plain: !self.text[start..].bytes().any(is_special),
        };
    }

    fn slice(&self, cell: CellRange) -> &str {
        &self.text[cell.start as usize..cell.end as usize]
    }

    /// Copies the value of the column `from` to the column `to`.
    pub(crate) fn copy(&mut self, from: Column, to: Column) {
        self.cells[to as usize] = self.cells[from as usize];
    }

    /// Appends the row as CSV (RFC 4180). Values are quoted only if necessary.
    pub(crate) fn write_csv(&self, out: &mut Vec<u8>) {
        for &cell in &self.cells {
            let value = self.slice(cell).as_bytes();
            if cell.is_plain || !value.iter().any(|byte| matches!(byte, b',' | b'"')) {
                out.extend_from_slice(value);
            } else {
                out.push(b'"');
                push_escaped(value, b"\"", b'"', out);
                out.push(b'"');
            }
            out.push(b',');
        }
        if let Some(last) = out.last_mut() {
            *last = b'\n';
        }
    }

    /// Appends the row as a JSON object and a line feed. Blank cells are left out.
    pub(crate) fn write_json(&self, out: &mut Vec<u8>) {
        out.push(b'{');
        for (&column, &cell) in Column::ALL.iter().zip(&self.cells) {
            let value = self.slice(cell).as_bytes();
            if value.is_empty() {
                continue;
            }
            out.extend_from_slice(column.key().as_bytes());
            match (column.shape(), cell.is_plain) {
                (Shape::Text, true) => out.extend_from_slice(value),
                (Shape::Text, false) => push_escaped(value, b"\"\\", b'\\', out),
                (Shape::Bare, _) => out.extend_from_slice(value),
            }
            out.extend_from_slice(if column.shape() == Shape::Text { b"\"," } else { b"," });
        }
        if let Some(last) = out.last_mut() {
            *last = b'}';
        }
        out.push(b'\n');
    }
}

/// Appends `value` with `escape` before every `special` character. Control characters, which
/// would need more, are never generated.
fn push_escaped(value: &[u8], special: &[u8], escape: u8, out: &mut Vec<u8>) {
    for &byte in value {
        debug_assert!(byte >= b' ', "no cell holds a control character");
        if special.contains(&byte) {
            out.push(escape);
        }
        out.push(byte);
    }
}

/// Appends the header row of CSV.
pub(crate) fn write_csv_header(out: &mut Vec<u8>) {
    for (place, column) in Column::ALL.iter().enumerate() {
        if place > 0 {
            out.push(b',');
        }
        out.extend_from_slice(column.name().as_bytes());
    }
    out.push(b'\n');
}

/// The decimal notation of `number` thousandths, without trailing zeros: 12500 is `12.5`.
pub(crate) fn thousandths(number: u64) -> String {
    let text = format!("{}.{:03}", number / 1000, number % 1000);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn special_characters_are_escaped_in_each_layout() {
        let mut row = Row::new();
        row.set(Column::Figi, "FDG000000001");
        row.set(Column::Name, r#"SAID "X" CO.,LTD\"#);
        row.set(Column::Strike, "12.5");
        let (mut csv, mut json) = (Vec::new(), Vec::new());
        row.write_csv(&mut csv);
        row.write_json(&mut json);
        let csv = String::from_utf8(csv).unwrap();
        assert!(csv.starts_with(r#"FDG000000001,,,,"SAID ""X"" CO.,LTD\",,"#), "{csv}");
        assert_eq!(csv.split(',').count(), Column::ALL.len() + 1);
        assert_eq!(
            String::from_utf8(json).unwrap(),
            "{\"figi\":\"FDG000000001\",\"name\":\"SAID \\\"X\\\" CO.,LTD\\\\\",\"strike\":12.5}\n"
        );
    }

    #[test]
    fn thousandths_are_trimmed() {
        for (number, text) in
            [(12_500, "12.5"), (155_000, "155"), (100_000, "100"), (5, "0.005"), (0, "0")]
        {
            assert_eq!(thousandths(number), text);
        }
    }
}
