//! Symbols in a vendor's spelling, from one table: how a ticker of an exchange is written, and what a
//! written symbol may mean (contract 21.6 to 21.9).

use super::table::{Mark, SymbolTable, VendorTable};
use crate::instrument::EQUITY;
use crate::instrument::id_type::{IdType, IdValue};
use crate::instrument::vocabulary::{Property, Vocabulary};
use crate::query::KnownValues;
use crate::resolve::recognise::Reading;

/// A vendor of symbols.
#[derive(Clone, Copy)]
pub struct Vendor(&'static VendorTable);

/// The fault of a symbol whose exchange the vendor's table lacks.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{vendor} has no exchange {mark:?}")]
pub(crate) struct UnknownMark {
    vendor: &'static str,
    mark: String,
}

impl Vendor {
    /// All vendors of the table in force.
    pub fn all() -> impl Iterator<Item = Self> {
        SymbolTable::in_force().0.iter().map(Self)
    }

    /// The vendor whose column or type of text has this name, `symbol:yahoo`.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::all().find(|vendor| vendor.0.name == name)
    }

    /// The name of the vendor's column, and of its symbols as a type of text: `symbol:yahoo`.
    pub fn name(self) -> &'static str {
        &self.0.name
    }

    /// The symbols that the vendor may have for a ticker of an exchange, the likeliest first. Each
    /// must still be read back.
    pub(crate) fn symbols(self, ticker: &str, exch_code: &str) -> impl Iterator<Item = String> {
        self.0.of_market(exch_code).filter_map(move |mark| self.written(ticker, mark))
    }

    /// A ticker in the vendor's spelling; `None` when it has no certain one.
    fn written(self, ticker: &str, mark: &Mark) -> Option<String> {
        let VendorTable { is_prefix, class_mark, .. } = self.0;
        let (root, class) = ticker.split_once('/').unwrap_or((ticker, ""));
        let is_plain =
            |text: &str| text.bytes().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit());
        let may_be_fused =
            || mark.is_fused && root.len() > 1 && root.ends_with(['A', 'B', 'C', 'D']);
        if root.is_empty() || !is_plain(root) || !is_plain(class) || may_be_fused() {
            return None;
        }
        let mut symbol = root.to_owned();
        if root.bytes().all(|c| c.is_ascii_digit()) {
            symbol = format!("{root:0>digits$}", digits = mark.digits);
        }
        // A ticker that ends with a slash has no class.
        if !class.is_empty() {
            symbol.push(*class_mark);
            symbol.push_str(class);
        }
        Some(match (&*mark.text, is_prefix) {
            ("", _) => symbol,
            (text, true) => format!("{text}:{symbol}"),
            (text, false) => format!("{symbol}.{text}"),
        })
    }

    /// The readings of a symbol.
    ///
    /// # Errors
    /// [`UnknownMark`] when the symbol names an exchange that the vendor's table lacks.
    pub(crate) fn readings(
        self,
        text: &str,
        vocabulary: &Vocabulary,
    ) -> Result<Vec<Reading<'static>>, UnknownMark> {
        let text = text.trim().to_ascii_uppercase();
        let (ticker, mark) = match self.0.is_prefix {
            true => text.split_once(':').map_or((&*text, ""), |(mark, ticker)| (ticker, mark)),
            false => text.rsplit_once('.').unwrap_or((&text, "")),
        };
        let unknown = || UnknownMark { vendor: self.name(), mark: mark.to_owned() };
        let mark = self.0.mark(mark).ok_or_else(unknown)?;
        let mut narrowing = KnownValues::default();
        let codes = mark.codes.iter();
        let codes = codes.filter_map(|code| vocabulary.admit(Property::ExchCode, code));
        codes.for_each(|code| narrowing.allow(code));
        let equity = vocabulary.admit(Property::MarketSecDes, EQUITY);
        let (false, Some(equity)) = (narrowing == KnownValues::default(), equity) else {
            return Ok(Vec::new());
        };
        narrowing.require(equity);
        let tickers = self.tickers(ticker.trim(), mark);
        let readings = tickers.into_iter().filter_map(|ticker| {
            let id_value = IdType::Ticker.admit(&ticker).ok().map(IdValue::into_owned)?;
            Some(Reading { id_value, narrowing: narrowing.clone() })
        });
        Ok(readings.collect())
    }

    /// The tickers in the spelling of the index that a symbol without its mark may mean.
    fn tickers(self, symbol: &str, mark: &Mark) -> Vec<String> {
        let VendorTable { class_mark, .. } = self.0;
        let root = match symbol.bytes().all(|c| c.is_ascii_digit()) && mark.digits > 0 {
            true => symbol.trim_start_matches('0'),
            false => symbol,
        };
        match root.rsplit_once(*class_mark) {
            Some((root, class)) if mark.is_fused => {
                vec![format!("{root}/{class}"), format!("{root}{class}")]
            }
            Some((root, class)) => vec![format!("{root}/{class}")],
            // In London short tickers end with a slash.
            None => vec![root.to_owned(), format!("{root}/")],
        }
    }
}

impl PartialEq for Vendor {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name()
    }
}

impl Eq for Vendor {}

impl std::fmt::Debug for Vendor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// contract 21.6: the vendors of the table that is part of the program.
    #[test]
    fn vendors() {
        let names: Vec<_> = Vendor::all().map(Vendor::name).collect();
        assert_eq!(names, ["symbol:yahoo", "symbol:google", "symbol:tradingview"]);
        for vendor in Vendor::all() {
            assert!(vendor.0.marks.len() > 20, "{vendor:?}");
        }
    }

    /// contract 21.6, 21.7.
    #[test]
    fn spellings() {
        let first = |vendor: &str, ticker: &str, code: &str| {
            let vendor = Vendor::from_name(vendor).unwrap();
            vendor.symbols(ticker, code).next().unwrap_or_default()
        };
        for (ticker, code, yahoo, google, tradingview) in [
            ("AAPL", "US", "AAPL", "AAPL", "AAPL"),
            ("AAPL", "UW", "AAPL", "AAPL", "AAPL"),
            ("BRK/B", "US", "BRK-B", "BRK.B", "BRK.B"),
            ("BP/", "LN", "BP.L", "LON:BP", "LSE:BP"),
            ("BT/A", "LN", "BT-A.L", "LON:BT.A", "LSE:BT.A"),
            ("SAP", "GR", "SAP.DE", "ETR:SAP", "XETR:SAP"),
            ("7203", "JT", "7203.T", "TYO:7203", "TSE:7203"),
            ("5", "HK", "0005.HK", "HKG:0005", "HKEX:5"),
            ("ERICB", "SS", "", "", ""),
            ("VOLV", "SS", "VOLV.ST", "STO:VOLV", "OMXSTO:VOLV"),
            ("AAPL US 12/19/25 C200", "US", "", "", ""),
            ("X", "EO", "", "", ""),
            ("X", "??", "", "", ""),
        ] {
            let found = ["yahoo", "google", "tradingview"]
                .map(|name| first(&format!("symbol:{name}"), ticker, code));
            assert_eq!(found, [yahoo, google, tradingview], "{ticker} {code}");
        }
        let vendor = Vendor::from_name("symbol:yahoo").unwrap();
        let german: Vec<_> = vendor.symbols("SAP", "GR").collect();
        assert_eq!(german[..3], ["SAP.DE", "SAP.F", "SAP.SG"]);
    }

    /// contract 21.8: a symbol is read as that vendor spells it, and never in another way.
    #[test]
    fn readings() {
        let codes =
            ["US", "LN", "HK", "SS", "GY"].map(|code| (Property::ExchCode, code.to_owned()));
        let sector = (Property::MarketSecDes, EQUITY.to_owned());
        let vocabulary = Vocabulary::new(codes.into_iter().chain([sector]));
        let read = |name: &str, text: &str| -> Result<Vec<String>, UnknownMark> {
            let found = Vendor::from_name(name).unwrap().readings(text, &vocabulary)?;
            Ok(found.into_iter().map(|one| one.id_value.as_str().to_owned()).collect())
        };
        for (name, text, expected) in [
            ("symbol:yahoo", "brk-b", &["BRK/B"][..]),
            ("symbol:yahoo", "BP.L", &["BP", "BP/"]),
            ("symbol:yahoo", "0005.HK", &["5", "5/"]),
            ("symbol:yahoo", "ERIC-B.ST", &["ERIC/B", "ERICB"]),
            ("symbol:yahoo", "7203.T", &[]),
            ("symbol:google", "BRK.B", &["BRK/B"]),
            ("symbol:google", "HKG:0005", &["5", "5/"]),
            ("symbol:tradingview", "HKEX:5", &["5", "5/"]),
        ] {
            assert_eq!(read(name, text).unwrap(), expected, "{text}");
        }
        let fault = read("symbol:yahoo", "VOD.XX").unwrap_err();
        assert_eq!(fault.to_string(), "symbol:yahoo has no exchange \"XX\"");
    }
}
