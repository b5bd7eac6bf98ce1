//! Texts that repeat other fields of their row: `AAPL US 01/17/25 C155 Equity` is
//! the ticker with the exchange code inside and the market sector behind it. Such
//! a text is kept as a template, of which there are few, and filled in when it is
//! read. Four rows in five of the universe are options with two such texts.

use std::fmt;

/// A stored text that begins with this is a template: [`Part`]s as bytes, between
/// literal characters that are none.
const TEMPLATE: u8 = 1;

/// In a template: what follows stands for itself, whatever it is.
const LITERAL: u8 = 7;

/// The most literal bytes that a template may have: one with more would be a text
/// of its own row, and repeat nothing.
const LITERAL_BYTES_MAX: usize = 8;

/// The fields that a template may name, as the row has them; empty where unknown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct RowFields<'a> {
    pub(crate) ticker: &'a str,
    pub(crate) exch_code: &'a str,
    pub(crate) market_sector: &'a str,
}

/// A part of a template, by its byte.
#[derive(Clone, Copy)]
enum Part {
    Ticker = 2,
    /// The first word of the ticker.
    TickerHead = 3,
    /// The rest of the ticker, without the blank between.
    TickerTail = 4,
    ExchCode = 5,
    MarketSector = 6,
}

impl Part {
    const ALL: [Self; 5] =
        [Self::Ticker, Self::TickerHead, Self::TickerTail, Self::ExchCode, Self::MarketSector];

    fn of(self, fields: RowFields<'_>) -> &str {
        let words = || fields.ticker.split_once(' ').unwrap_or((fields.ticker, ""));
        match self {
            Self::Ticker => fields.ticker,
            Self::TickerHead => words().0,
            Self::TickerTail => words().1,
            Self::ExchCode => fields.exch_code,
            Self::MarketSector => fields.market_sector,
        }
    }

    fn from_byte(byte: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|part| *part as u8 == byte)
    }
}

/// What to store of a text: itself, or its template in `buffer`.
pub(crate) fn template<'a>(
    text: &'a str,
    fields: RowFields<'_>,
    buffer: &'a mut Vec<u8>,
) -> &'a [u8] {
    buffer.clear();
    buffer.push(TEMPLATE);
    if text.as_bytes().first() == Some(&TEMPLATE) {
        buffer.push(LITERAL);
        buffer.extend_from_slice(text.as_bytes());
        return buffer;
    }
    let mut literal_bytes = 0;
    let mut rest = text;
    'cut: while let Some(character) = rest.chars().next() {
        // The whole ticker first, since its head is its beginning.
        for part in Part::ALL {
            let value = part.of(fields);
            if !value.is_empty()
                && let Some(after) = rest.strip_prefix(value)
            {
                buffer.push(part as u8);
                rest = after;
                continue 'cut;
            }
        }
        literal_bytes += character.len_utf8();
        if literal_bytes > LITERAL_BYTES_MAX || character.is_control() {
            return text.as_bytes();
        }
        let (literal, after) = rest.split_at(character.len_utf8());
        buffer.extend_from_slice(literal.as_bytes());
        rest = after;
    }
    // A text that names no part is its own.
    if literal_bytes == text.len() { text.as_bytes() } else { buffer }
}

/// A text of a row, as the index keeps it: borrowed, and filled in only when it is
/// read.
#[derive(Clone, Copy)]
pub struct Text<'a> {
    stored: &'a str,
    fields: RowFields<'a>,
}

impl<'a> Text<'a> {
    pub(crate) fn new(stored: &'a str, fields: RowFields<'a>) -> Self {
        Self { stored, fields }
    }

    /// The text in pieces, one after the other.
    pub fn pieces(self) -> impl Iterator<Item = &'a str> {
        let is_template = self.stored.as_bytes().first() == Some(&TEMPLATE);
        let mut rest = if is_template { &self.stored[1..] } else { self.stored };
        std::iter::from_fn(move || {
            let first = *rest.as_bytes().first()?;
            if is_template && first == LITERAL {
                return Some(&std::mem::take(&mut rest)[1..]);
            }
            let part = if is_template { Part::from_byte(first) } else { None };
            if let Some(part) = part {
                rest = &rest[1..];
                return Some(part.of(self.fields));
            }
            let is_part = |c: char| is_template && c < '\u{8}';
            let (literal, after) = rest.split_at(rest.find(is_part).unwrap_or(rest.len()));
            rest = after;
            Some(literal)
        })
    }
}

impl fmt::Display for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.pieces().try_for_each(|piece| f.write_str(piece))
    }
}

impl fmt::Debug for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.to_string(), f)
    }
}

impl PartialEq<str> for Text<'_> {
    fn eq(&self, other: &str) -> bool {
        let mut rest = other;
        self.pieces().all(|piece| match rest.strip_prefix(piece) {
            Some(after) => {
                rest = after;
                true
            }
            None => false,
        }) && rest.is_empty()
    }
}

impl PartialEq for Text<'_> {
    fn eq(&self, other: &Self) -> bool {
        *self == *other.to_string()
    }
}

impl Eq for Text<'_> {}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const OPTION: RowFields<'_> =
        RowFields { ticker: "AAPL 01/17/25 C155", exch_code: "UA", market_sector: "Equity" };

    fn stored(text: &str, fields: RowFields<'_>) -> Vec<u8> {
        template(text, fields, &mut Vec::new()).to_vec()
    }

    #[test]
    fn texts_that_repeat_their_row_are_templates() {
        for (text, expected) in [
            ("AAPL UA 01/17/25 C155", &b"\x01\x03 \x05 \x04"[..]),
            ("AAPL UA 01/17/25 C155 Equity", b"\x01\x03 \x05 \x04 \x06"),
            ("AAPL 01/17/25 C155", b"\x01\x02"),
            ("AAPL 01/17/25 C155 COMB", b"\x01\x02 COMB"),
            ("APPLE INC", b"APPLE INC"),
            ("AAPL and much more", b"AAPL and much more"),
            ("", b""),
        ] {
            assert_eq!(stored(text, OPTION), expected, "{text}");
        }
        let share = RowFields { ticker: "IBM", exch_code: "US", market_sector: "Equity" };
        assert_eq!(stored("IBM", share), b"\x01\x02");
        assert_eq!(stored("IBM", RowFields::default()), b"IBM");
    }

    proptest! {
        #[test]
        fn what_is_stored_gives_the_text_back(
            text in "[AB 1\u{1}-\u{7}ü]{0,12}",
            ticker in "[AB 1]{0,4}",
            exch_code in "[AB]{0,2}",
            market_sector in "[ABü]{0,2}",
        ) {
            let fields = RowFields {
                ticker: &ticker,
                exch_code: &exch_code,
                market_sector: &market_sector,
            };
            let stored = stored(&text, fields);
            let read = Text::new(str::from_utf8(&stored).unwrap(), fields);
            prop_assert_eq!(read.to_string(), text.clone());
            prop_assert!(read == *text);
            let longer = text + "x";
            prop_assert!(read != *longer);
        }
    }
}
