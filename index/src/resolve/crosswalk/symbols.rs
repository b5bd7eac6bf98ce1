//! Symbols in a vendor's spelling, from one table (`symbols.txt`): how a ticker of an exchange is
//! written, and what a written symbol may mean (contract 21.6 to 21.9).

use std::sync::LazyLock;

use crate::instrument::EQUITY;
use crate::instrument::id_type::{IdType, IdValue};
use crate::instrument::markets::{exchange, whole_market};
use crate::instrument::vocabulary::{Property, Vocabulary};
use crate::query::KnownValues;
use crate::resolve::recognise::{Reading, SUFFIXES};

/// A vendor of symbols.
#[derive(Clone, Copy)]
pub struct Vendor(&'static Table);

/// The spelling of one vendor.
struct Table {
    /// The name of its column: `symbol:yahoo`.
    name: String,
    /// Whether the mark of the exchange comes first.
    is_prefix: bool,
    /// The sign before a class letter.
    class_mark: char,
    /// The exchanges. Those of one country are in the order of the table of exchanges.
    marks: Vec<Mark>,
}

/// The mark of one exchange, or none for the home market.
struct Mark {
    text: &'static str,
    /// The exchange codes of the rows that a symbol with the mark means.
    codes: Vec<&'static str>,
    /// The digits that a number has at least.
    digits: usize,
    /// Whether tickers of the index end with the class letter itself.
    is_fused: bool,
}

static VENDORS: LazyLock<Vec<Table>> = LazyLock::new(|| tables(include_str!("symbols.txt")));

/// The prefix of the names of vendors' columns.
const PREFIX: &str = "symbol:";

fn tables(text: &'static str) -> Vec<Table> {
    let mut all: Vec<Table> = Vec::new();
    let mut rules: Vec<(&str, Vec<&str>)> = Vec::new();
    for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')).chain(["["])
    {
        let Some(name) = line.strip_prefix('[') else {
            let mut words = line.split(' ');
            let key = words.next().expect("a split has a first part");
            rules.push((key, words.collect()));
            continue;
        };
        if let Some(table) = all.last_mut() {
            table.fill(&rules);
        }
        rules.clear();
        if let Some(name) = name.strip_suffix(']') {
            let name = format!("{PREFIX}{name}");
            all.push(Table { name, is_prefix: false, class_mark: '-', marks: Vec::new() });
        }
    }
    all
}

impl Table {
    /// Fills in the lines of the section. A test holds that each line is understood.
    fn fill(&mut self, rules: &[(&'static str, Vec<&'static str>)]) {
        let mut marks: Vec<(&'static str, Vec<&'static str>)> = Vec::new();
        let (mut padded, mut fused): (Vec<(&str, usize)>, &[&str]) = Default::default();
        for (key, words) in rules {
            match (*key, &words[..]) {
                ("marks", [place]) => self.is_prefix = *place == "before",
                ("classes", [mark]) => self.class_mark = mark.chars().next().unwrap_or('-'),
                ("home", [code]) => marks.push(("", vec![*code])),
                ("pad", [code, digits]) => padded.push((*code, digits.parse().unwrap_or(0))),
                ("fused", codes) => fused = codes,
                ("suffixes", []) => {
                    marks.extend(SUFFIXES.iter().map(|(mark, codes)| (*mark, codes.clone())));
                }
                ("=", [mark, codes @ ..]) => marks.push((*mark, codes.to_vec())),
                _ => debug_assert!(false, "{key} is not understood"),
            }
        }
        marks.sort_by_key(|(text, codes)| {
            let rank = |code: &&str| exchange(code).map(|one| (one.country, one.rank));
            (codes.first().and_then(rank), *text)
        });
        let mark = |(text, codes): (&'static str, Vec<&'static str>)| {
            let padded = padded.iter().find(|(code, _)| codes.contains(code));
            let digits = padded.map_or(0, |(_, digits)| *digits);
            let is_fused = codes.iter().any(|code| fused.contains(code));
            Mark { text, codes, digits, is_fused }
        };
        self.marks = marks.into_iter().map(mark).collect();
    }
}

/// The fault of a symbol whose exchange the vendor's table lacks.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{vendor} has no exchange {mark:?}")]
pub(crate) struct UnknownMark {
    vendor: &'static str,
    mark: String,
}

impl Vendor {
    /// All vendors of the table.
    pub fn all() -> impl Iterator<Item = Self> {
        VENDORS.iter().map(Self)
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
        let market = whole_market(exch_code);
        let of_market = move |mark: &&'static Mark| {
            market.is_some() && mark.codes.iter().any(|code| whole_market(code) == market)
        };
        let marks = self.0.marks.iter().filter(of_market);
        marks.filter_map(move |mark| self.written(ticker, mark))
    }

    /// A ticker in the vendor's spelling; `None` when it has no certain one.
    fn written(self, ticker: &str, mark: &Mark) -> Option<String> {
        let Table { is_prefix, class_mark, .. } = self.0;
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
        Some(match (mark.text, is_prefix) {
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
        let mark = self.0.marks.iter().find(|one| one.text == mark).ok_or_else(unknown)?;
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
        let Table { class_mark, .. } = self.0;
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

    /// The most marks of one market: the symbol of a row is written and read back with each.
    const MARKS_MAX: usize = 16;

    /// Every line of the table is understood, and names exchanges that are known.
    #[test]
    fn the_table_is_read() {
        let names: Vec<_> = Vendor::all().map(Vendor::name).collect();
        assert_eq!(names, ["symbol:yahoo", "symbol:google", "symbol:tradingview"]);
        for vendor in Vendor::all() {
            let marks = &vendor.0.marks;
            assert!(marks.len() > 20, "{vendor:?}");
            for (place, mark) in marks.iter().enumerate() {
                assert!(!mark.codes.is_empty(), "{vendor:?} {}", mark.text);
                let of_market = vendor.0.marks.iter().filter(|other| {
                    other.codes.iter().any(|code| whole_market(code) == whole_market(mark.codes[0]))
                });
                assert!(of_market.count() <= MARKS_MAX, "{vendor:?} {}", mark.text);
                assert!(mark.codes.iter().all(|code| exchange(code).is_some()), "{:?}", mark.codes);
                assert!(marks[..place].iter().all(|one| one.text != mark.text), "{}", mark.text);
            }
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
