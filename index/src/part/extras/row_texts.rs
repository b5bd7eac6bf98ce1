//! The texts that follow from the fields of an instrument's row, and from which most of its
//! identifiers are copied: its ticker, its unique IDs, and for an option the symbols and the base ticker
//! that follow from a ticker such as `AAPL US 12/19/25 C200`.

use std::borrow::Cow;
use std::cell::OnceCell;

use crate::instrument::id_type::upper;
use crate::part::rows::{Field, FieldValue};

/// A text that follows from the fields of a row. The discriminants are part of the index format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum RowText {
    Ticker = 0,
    UniqueId = 1,
    UniqueIdFutOpt = 2,
    /// `AAPL251219C00200000`.
    Symbol = 3,
    /// `AAPL  251219C00200000`, the symbol of OCC: its root has six characters.
    PaddedSymbol = 4,
    /// `AAPL L192500200000`, the symbol of OPRA: its letter says the month and call or put.
    OpraSymbol = 5,
    /// `AAPL US 12 C200`, the base ticker of an option (contract 5.19).
    OptionBase = 6,
    /// The first word of the ticker, which is the base ticker of a bond.
    FirstWord = 7,
}

impl RowText {
    pub(super) const ALL: [Self; 8] = [
        Self::Ticker,
        Self::UniqueId,
        Self::UniqueIdFutOpt,
        Self::Symbol,
        Self::PaddedSymbol,
        Self::OpraSymbol,
        Self::OptionBase,
        Self::FirstWord,
    ];
}

/// The texts of one row. Each is made when it is first asked for.
pub(super) struct RowTexts<'r> {
    of_row: &'r dyn Fn(Field) -> Option<FieldValue<'r>>,
    texts: [OnceCell<Option<String>>; RowText::ALL.len()],
}

impl<'r> RowTexts<'r> {
    /// The texts of a row with these fields.
    pub(super) fn of(of_row: &'r dyn Fn(Field) -> Option<FieldValue<'r>>) -> Self {
        Self { of_row, texts: Default::default() }
    }

    /// A text in the spelling of identifiers, which is upper case; `None` when the row lacks it.
    pub(super) fn get(&self, text: RowText) -> Option<&str> {
        let made = self.texts[text as usize].get_or_init(|| self.make(text));
        made.as_deref()
    }

    fn make(&self, text: RowText) -> Option<String> {
        let field = |field| {
            let value = match (self.of_row)(field)? {
                FieldValue::Text(text) => text.to_text(),
                value => value.to_string(),
            };
            Some(match upper(&value) {
                Cow::Borrowed(_) => value,
                Cow::Owned(upper) => upper,
            })
        };
        match text {
            RowText::Ticker => field(Field::Ticker),
            RowText::UniqueId => field(Field::UniqueId),
            RowText::UniqueIdFutOpt => field(Field::UniqueIdFutOpt),
            RowText::FirstWord => self.get(RowText::Ticker)?.split(' ').next().map(str::to_owned),
            RowText::Symbol => self.option()?.symbol(0),
            RowText::PaddedSymbol => self.option()?.symbol(ROOT_CHARS),
            RowText::OpraSymbol => self.option()?.opra(),
            RowText::OptionBase => self.option()?.base(),
        }
    }

    fn option(&self) -> Option<OptionTicker<'_>> {
        OptionTicker::parse(self.get(RowText::Ticker)?)
    }
}

/// The characters of a root in the symbol of OCC, with the blanks after it.
const ROOT_CHARS: usize = 6;

/// The digits of a strike in a symbol, before the point and after it.
const WHOLE_DIGITS: usize = 5;
const DECIMALS: usize = 3;

/// The ticker of an option, `AAPL US 12/19/25 C200` or `AAPL 12/19/25 C200`.
struct OptionTicker<'t> {
    /// The text before the date.
    before: &'t str,
    root: &'t str,
    month: &'t str,
    day: &'t str,
    year: &'t str,
    side: char,
    whole: &'t str,
    decimals: &'t str,
    /// `C200`, as it is written.
    strike: &'t str,
}

impl<'t> OptionTicker<'t> {
    /// The parts of a ticker; `None` when it is not that of an option.
    fn parse(ticker: &'t str) -> Option<Self> {
        let (rest, strike) = ticker.rsplit_once(' ')?;
        let (before, date) = rest.rsplit_once(' ')?;
        let (root, exchange) = before.split_once(' ').unwrap_or((before, ""));
        let mut parts = date.split('/');
        let (month, day, year) = (parts.next()?, parts.next()?, parts.next()?);
        let side = strike.chars().next().filter(|side| matches!(side, 'C' | 'P'))?;
        let number = strike.get(1..)?;
        let (whole, decimals) = number.split_once('.').unwrap_or((number, ""));
        let is_digits = |text: &str| text.bytes().all(|c| c.is_ascii_digit());
        let is_option = !exchange.contains(' ')
            && parts.next().is_none()
            && (1..=ROOT_CHARS).contains(&root.len())
            && root.is_ascii()
            && [month, day, year].iter().all(|part| part.len() == 2 && is_digits(part))
            && (1..=WHOLE_DIGITS).contains(&whole.len())
            && decimals.len() <= DECIMALS
            && is_digits(whole)
            && is_digits(decimals);
        is_option.then_some(Self { before, root, month, day, year, side, whole, decimals, strike })
    }

    /// The symbol, with blanks after its root up to this many characters.
    fn symbol(&self, root_chars: usize) -> Option<String> {
        let Self { root, month, day, year, side, .. } = self;
        let mut symbol = String::with_capacity(ROOT_CHARS + 15);
        symbol.push_str(root);
        while symbol.len() < root_chars {
            symbol.push(' ');
        }
        for part in [year, month, day] {
            symbol.push_str(part);
        }
        symbol.push(*side);
        self.push_strike(&mut symbol);
        Some(symbol)
    }

    /// The symbol of OPRA. `None` when there is no such month.
    fn opra(&self) -> Option<String> {
        let Self { root, month, day, year, side, .. } = self;
        let month: u8 = month.parse().ok()?;
        let first = if *side == 'C' { b'A' } else { b'M' };
        let letter = (1..=12).contains(&month).then(|| first + month - 1)?;
        let mut symbol = String::with_capacity(ROOT_CHARS + 14);
        symbol.push_str(root);
        symbol.push(' ');
        symbol.push(char::from(letter));
        symbol.push_str(day);
        symbol.push_str(year);
        self.push_strike(&mut symbol);
        Some(symbol)
    }

    /// The base ticker, in which the month has no zero before it.
    fn base(&self) -> Option<String> {
        let month = self.month.strip_prefix('0').unwrap_or(self.month);
        Some(format!("{} {month} {}", self.before, self.strike))
    }

    /// Appends the eight digits of the strike.
    fn push_strike(&self, symbol: &mut String) {
        let zeros = |count: usize, symbol: &mut String| (0..count).for_each(|_| symbol.push('0'));
        zeros(WHOLE_DIGITS - self.whole.len(), symbol);
        symbol.push_str(self.whole);
        symbol.push_str(self.decimals);
        zeros(DECIMALS - self.decimals.len(), symbol);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_symbols_of_a_ticker() {
        let symbols = |ticker: &str| {
            let of_row = |field| (field == Field::Ticker).then_some(FieldValue::Plain(ticker));
            let texts = RowTexts::of(&of_row);
            let symbols =
                [RowText::Symbol, RowText::PaddedSymbol, RowText::OpraSymbol, RowText::OptionBase];
            // A row without a text has an empty one here; no text of a row is empty.
            symbols.map(|text| texts.get(text).map_or(String::new(), str::to_owned))
        };
        for (ticker, expected) in [
            (
                "AAPL US 12/19/25 C200",
                [
                    "AAPL251219C00200000",
                    "AAPL  251219C00200000",
                    "AAPL L192500200000",
                    "AAPL US 12 C200",
                ],
            ),
            (
                "rqpx 02/21/25 p7.5",
                [
                    "RQPX250221P00007500",
                    "RQPX  250221P00007500",
                    "RQPX N212500007500",
                    "RQPX 2 P7.5",
                ],
            ),
            (
                "SPXW 01/16/26 C12345.125",
                [
                    "SPXW260116C12345125",
                    "SPXW  260116C12345125",
                    "SPXW A162612345125",
                    "SPXW 1 C12345.125",
                ],
            ),
            (
                "AAPL 13/19/25 C200",
                ["AAPL251319C00200000", "AAPL  251319C00200000", "", "AAPL 13 C200"],
            ),
        ] {
            assert_eq!(symbols(ticker), expected, "{ticker}");
            let of_row = |_| Some(FieldValue::Plain(ticker));
            let texts = RowTexts::of(&of_row);
            assert_eq!(texts.get(RowText::FirstWord), Some(&expected[0][..4]), "{ticker}");
        }
        for ticker in [
            "",
            "AAPL",
            "AAPL 12/19/25",
            "AAPL 12/19/2025 C200",
            "AAPL 12/19/25/1 C200",
            "AAPL 12/19/25 X200",
            "AAPL 12/19/25 C",
            "AAPL 12/19/25 C123456",
            "AAPL 12/19/25 C1.2345",
            "AAPL 12/19/25 C1.2.3",
            "AAPL 12/1a/25 C200",
            "AAPLAPL 12/19/25 C200",
            "ÄPL 12/19/25 C200",
            "A B C 12/19/25 C200",
            " 12/19/25 C200",
        ] {
            assert_eq!(symbols(ticker), ["", "", "", ""], "{ticker}");
        }
    }
}
