//! Templates for texts that repeat other fields of their row. For example, `AAPL US 01/17/25 C155
//! Equity` is the ticker with the exchange code inside and the market sector after it. The index
//! keeps the template, which many rows share, and fills it in when the text is read. Four rows in
//! five are options with two such texts.

use super::heap::HeldText;
use super::json_text::escape;

/// The first byte of a template. Placeholders and literal characters follow. Other stored texts
/// contain no control character, since they are escaped (`json_text`).
const TEMPLATE: u8 = 1;

/// The most literal bytes of a template. Rows rarely share a text with more.
const LITERAL_BYTES_MAX: usize = 8;

/// The fields of a row that a template may contain; empty where unknown.
#[derive(Clone, Copy, Default)]
pub(crate) struct RowFields<'a> {
    pub(crate) ticker: HeldText<'a>,
    pub(crate) exch_code: HeldText<'a>,
    pub(crate) market_sector: HeldText<'a>,
}

impl<'a> RowFields<'a> {
    /// A field that is unknown counts as empty: no template contains an empty field.
    #[inline]
    pub(super) fn of(
        ticker: Option<HeldText<'a>>,
        exch_code: Option<HeldText<'a>>,
        market_sector: Option<HeldText<'a>>,
    ) -> Self {
        let known = |field: Option<HeldText<'a>>| field.unwrap_or_default();
        let (exch_code, market_sector) = (known(exch_code), known(market_sector));
        Self { ticker: known(ticker), exch_code, market_sector }
    }
}

/// A field in a template, by its byte.
#[derive(Clone, Copy)]
enum Placeholder {
    Ticker = 2,
    /// The first word of the ticker.
    TickerHead = 3,
    /// The ticker after its first word and the blank.
    TickerTail = 4,
    ExchCode = 5,
    MarketSector = 6,
}

impl Placeholder {
    const ALL: [Self; 5] =
        [Self::Ticker, Self::TickerHead, Self::TickerTail, Self::ExchCode, Self::MarketSector];

    #[inline]
    fn of(self, fields: RowFields<'_>) -> HeldText<'_> {
        let RowFields { ticker, exch_code, market_sector } = fields;
        let length = ticker.bytes().len();
        let blank = || ticker.bytes().iter().position(|byte| *byte == b' ').unwrap_or(length);
        match self {
            Self::Ticker => ticker,
            Self::TickerHead => ticker.part(0, blank()),
            Self::TickerTail => {
                let start = length.min(blank() + 1);
                ticker.part(start, length - start)
            }
            Self::ExchCode => exch_code,
            Self::MarketSector => market_sector,
        }
    }

    fn from_byte(byte: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|placeholder| *placeholder as u8 == byte)
    }
}

/// Replaces `buffer` with the stored form of a text: its template, or its escaped form.
/// `fields` are the fields of the row, not escaped.
pub(crate) fn template(text: &str, fields: RowFields<'_>, buffer: &mut Vec<u8>) {
    buffer.clear();
    buffer.push(TEMPLATE);
    let mut literal_bytes = 0;
    let mut rest = text;
    'cut: while let Some(character) = rest.chars().next() {
        // The whole ticker is tried before its first word.
        for placeholder in Placeholder::ALL {
            let value = placeholder.of(fields).bytes();
            if !value.is_empty() && rest.as_bytes().starts_with(value) {
                buffer.push(placeholder as u8);
                rest = &rest[value.len()..];
                continue 'cut;
            }
        }
        literal_bytes += character.len_utf8();
        if literal_bytes > LITERAL_BYTES_MAX {
            break;
        }
        let (literal, after) = rest.split_at(character.len_utf8());
        escape(literal, buffer);
        rest = after;
    }
    // Part of the text is left over, or the text repeats no field.
    if !rest.is_empty() || literal_bytes == text.len() {
        buffer.clear();
        escape(text, buffer);
    }
}

/// The pieces of a stored text, in order, escaped. `fields` is called only for a placeholder.
pub(crate) fn pieces<'a>(
    stored: &'a [u8],
    fields: impl Fn() -> RowFields<'a>,
) -> impl Iterator<Item = &'a [u8]> {
    let is_template = stored.first() == Some(&TEMPLATE);
    let mut rest = if is_template { &stored[1..] } else { stored };
    std::iter::from_fn(move || {
        let first = *rest.first()?;
        if !is_template {
            return Some(std::mem::take(&mut rest));
        }
        if let Some(placeholder) = Placeholder::from_byte(first) {
            rest = &rest[1..];
            return Some(placeholder.of(fields()).bytes());
        }
        // An unknown placeholder is copied like a literal. Only damaged texts have one.
        let end = rest[1..].iter().position(|byte| *byte < b' ');
        let (literal, after) = rest.split_at(end.map_or(rest.len(), |end| 1 + end));
        rest = after;
        Some(literal)
    })
}

/// Passes the pieces of a stored text to `each`, in order. Gives the same as [`pieces`], in less time.
#[inline]
pub(super) fn each_piece<'a>(
    stored: HeldText<'a>,
    fields: RowFields<'a>,
    mut each: impl FnMut(HeldText<'a>),
) {
    if stored.bytes().first() != Some(&TEMPLATE) {
        return each(stored);
    }
    for place in 1..stored.len() {
        each(match Placeholder::from_byte(stored.bytes()[place]) {
            Some(placeholder) => placeholder.of(fields),
            None => stored.part(place, 1),
        });
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::part::rows::json_text::unescape;

    fn fields<'a>(ticker: &'a [u8], exch_code: &'a [u8], market_sector: &'a [u8]) -> RowFields<'a> {
        RowFields {
            ticker: ticker.into(),
            exch_code: exch_code.into(),
            market_sector: market_sector.into(),
        }
    }

    fn option() -> RowFields<'static> {
        fields(b"AAPL 01/17/25 C155", b"UA", b"Equity")
    }

    fn stored(text: &str, fields: RowFields<'_>) -> Vec<u8> {
        let mut buffer = Vec::new();
        template(text, fields, &mut buffer);
        buffer
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
            assert_eq!(stored(text, option()), expected, "{text}");
        }
        assert_eq!(stored("IBM", fields(b"IBM", b"US", b"Equity")), b"\x01\x02");
        assert_eq!(stored("IBM", RowFields::default()), b"IBM");
    }

    /// A damaged text ends as well.
    #[test]
    fn an_unknown_placeholder_is_copied() {
        let damaged = b"\x01\x00\x09a\x02\x1f";
        let pieces: Vec<&[u8]> = pieces(damaged, option).collect();
        assert_eq!(pieces, [&b"\0"[..], b"\ta", b"AAPL 01/17/25 C155", b"\x1f"]);
        let mut form = Vec::new();
        each_piece(damaged[..].into(), option(), |piece| form.extend_from_slice(piece.bytes()));
        assert_eq!(form, pieces.concat());
    }

    proptest! {
        #[test]
        fn what_is_stored_gives_the_text_back(
            text in "[AB 1\"\u{1}-\u{7}ü]{0,12}",
            ticker in "[AB 1\"]{0,4}",
            exch_code in "[AB]{0,2}",
            market_sector in "[ABü]{0,2}",
        ) {
            let plain = fields(ticker.as_bytes(), exch_code.as_bytes(), market_sector.as_bytes());
            let stored = stored(&text, plain);
            let escaped = [ticker, exch_code, market_sector].map(|text| {
                let mut form = Vec::new();
                escape(&text, &mut form);
                form
            });
            let [ticker, exch_code, market_sector] = &escaped;
            let escaped = || fields(ticker, exch_code, market_sector);
            let mut form = Vec::new();
            each_piece(stored[..].into(), escaped(), |piece| form.extend_from_slice(piece.bytes()));
            prop_assert_eq!(unescape(&form), Some(text.clone()));
            let form: Vec<u8> = pieces(&stored, escaped).flatten().copied().collect();
            prop_assert_eq!(unescape(&form), Some(text));
        }
    }
}
