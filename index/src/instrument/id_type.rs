//! The idTypes of mapping jobs, and the form that the values of each must have (contract,
//! chapter 5).
//!
//! An admitted value is an [`IdValue`] in the spelling of the index, so that a lookup compares
//! bytes.

use std::borrow::Cow;

use super::check_digit;
use super::date::Date;
use super::figi::Figi;

/// The most bytes of a value whose idType accepts any text (contract 5.12).
pub const ID_VALUE_BYTES_MAX: usize = 64;

/// The bytes of the padded root of an OCC symbol.
pub(crate) const OCC_ROOT_BYTES: usize = 6;

/// The bytes after the root: day, `C` or `P`, and strike.
pub(crate) const OCC_TAIL_BYTES: usize = 15;

macro_rules! id_types {
    ($($variant:ident = $code:literal, $name:literal, $form:expr, $doc:literal;)*) => {
        /// A type of identifier (contract, chapter 5; the versions of each: contract 1.7).
        ///
        /// The discriminants are part of the index format: they are never reused.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u8)]
        pub enum IdType {
            $(#[doc = $doc] $variant = $code,)*
        }

        impl IdType {
            /// All idTypes, in the order of their discriminants.
            pub const ALL: [Self; 26] = [$(Self::$variant,)*];

            /// The name in a request.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            /// The idType with this name; letter case counts.
            pub fn from_name(name: &str) -> Option<Self> {
                match name { $($name => Some(Self::$variant),)* _ => None }
            }

            const fn form(self) -> Form {
                match self { $(Self::$variant => $form,)* }
            }

            /// The meaning in a few words.
            pub const fn meaning(self) -> &'static str {
                match self { $(Self::$variant => $doc,)* }
            }
        }
    };
}

id_types! {
    Isin = 0, "ID_ISIN", Form::Isin, "International Securities Identification Number (ISO 6166).";
    BbUnique = 1, "ID_BB_UNIQUE", Form::Text, "Unique identifier of a vendor; the result field `uniqueID`.";
    Sedol = 2, "ID_SEDOL", Form::Sedol, "Stock Exchange Daily Official List number.";
    Common = 3, "ID_COMMON", Form::Digits { least: 9, most: 9 }, "Common code of the international depositories.";
    Wertpapier = 4, "ID_WERTPAPIER", Form::Wertpapier, "Wertpapierkennnummer (WKN).";
    Cusip = 5, "ID_CUSIP", Form::Cusip, "CUSIP; the first character may be a letter.";
    Bb = 6, "ID_BB", Form::Text, "A legacy vendor identifier.";
    Italy = 7, "ID_ITALY", Form::Digits { least: 5, most: 6 }, "Italian identifier number.";
    ExchSymbol = 8, "ID_EXCH_SYMBOL", Form::Text, "The symbol that the local exchange uses.";
    FullExchangeSymbol = 9, "ID_FULL_EXCHANGE_SYMBOL", Form::Text, "The full symbol of a listed derivative.";
    CompositeBbGlobal = 10, "COMPOSITE_ID_BB_GLOBAL", Form::Figi, "Composite FIGI: finds every row that carries it.";
    ShareClassBbGlobal = 11, "ID_BB_GLOBAL_SHARE_CLASS_LEVEL", Form::Figi, "Share class FIGI: finds every row that carries it.";
    BbSecNumDes = 12, "ID_BB_SEC_NUM_DES", Form::Text, "Security identifier number description.";
    BbGlobal = 13, "ID_BB_GLOBAL", Form::Figi, "The FIGI itself.";
    Ticker = 14, "TICKER", Form::Text, "The whole ticker.";
    Cusip8 = 15, "ID_CUSIP_8_CHR", Form::Cusip8, "A CUSIP without its check digit.";
    Occ = 16, "OCC_SYMBOL", Form::Occ, "The 21-character symbol of a US option.";
    UniqueFutOpt = 17, "UNIQUE_ID_FUT_OPT", Form::Text, "Unique identifier of a future or option; the result field `uniqueIDFutOpt`.";
    Opra = 18, "OPRA_SYMBOL", Form::Text, "Option symbol of the US price reporting authority.";
    TradingSystem = 19, "TRADING_SYSTEM_IDENTIFIER", Form::Text, "Identifier on the trading system of the venue.";
    Cins = 20, "ID_CINS", Form::Cins, "CUSIP International Numbering System: a CUSIP with a leading letter.";
    ShortCode = 21, "ID_SHORT_CODE", Form::Text, "An exchange's short code for fixed income, for some Asian markets.";
    BaseTicker = 22, "BASE_TICKER", Form::Text, "An indistinct identifier that may link to several instruments.";
    VendorIndexCode = 23, "VENDOR_INDEX_CODE", Form::Text, "The code that an index vendor gives.";
    Bb8Chr = 24, "ID_BB_8_CHR", Form::Text, "A legacy identifier of eight characters.";
    Trace = 25, "ID_TRACE", Form::Text, "Bond identifier of a trade reporting system.";
}

/// The form of the values of an idType.
#[derive(Clone, Copy)]
enum Form {
    Isin,
    Cusip,
    Cusip8,
    Cins,
    Sedol,
    Wertpapier,
    Figi,
    Occ,
    Digits {
        least: usize,
        most: usize,
    },
    /// Any text of 1 to [`ID_VALUE_BYTES_MAX`] bytes.
    Text,
}

/// A value of the form of its idType, in the spelling of the index: upper case, without blanks
/// around it. A value that was given in this spelling is borrowed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct IdValue<'a> {
    id_type: IdType,
    text: Cow<'a, str>,
}

/// The value is not of the form of its idType.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not of the form of {}", .0.name())]
pub struct FormError(pub IdType);

impl IdType {
    /// Admits a text as a value of this idType. Letter case is ignored and blanks around the text
    /// are dropped; blanks inside count (contract 5.1).
    ///
    /// # Errors
    /// [`FormError`] when the text is not of the form of this idType.
    pub fn admit(self, text: &str) -> Result<IdValue<'_>, FormError> {
        let text = text.trim();
        if !text.is_empty() && text.len() <= ID_VALUE_BYTES_MAX {
            let value = upper(text);
            // A few letters have more bytes in upper case. The upper case must also be short
            // enough, since an admitted value must be admitted again.
            if value.len() <= ID_VALUE_BYTES_MAX && self.form().fits(value.as_bytes()) {
                return Ok(IdValue { id_type: self, text: value });
            }
        }
        Err(FormError(self))
    }

    /// Admits an integer, given as its decimal digits (contract 5.3).
    ///
    /// # Errors
    /// [`FormError`] when the digits are not of the form of this idType.
    pub fn admit_integer(self, decimal: &str) -> Result<IdValue<'static>, FormError> {
        // The digits may be as long as a request: their length is checked before they are copied.
        if decimal.len() > ID_VALUE_BYTES_MAX {
            return Err(FormError(self));
        }
        self.admit(&self.padded(Cow::Borrowed(decimal))).map(IdValue::into_owned)
    }

    /// The digits of an integer. If there are fewer digits than this idType needs, zeros are added
    /// in front (contract 5.3). Only an idType of fixed length whose values may be all digits gets
    /// zeros.
    pub fn padded(self, decimal: Cow<'_, str>) -> Cow<'_, str> {
        let length = match self.form() {
            Form::Sedol => 7,
            Form::Cusip | Form::Digits { least: 9, .. } => 9,
            Form::Cusip8 => 8,
            Form::Wertpapier => 6,
            _ => 0,
        };
        match decimal.len() < length {
            true => format!("{decimal:0>length$}").into(),
            false => decimal,
        }
    }

    /// The form of the idType's values, for people.
    pub(crate) fn form_in_words(self) -> &'static str {
        match self.form() {
            Form::Isin => "two letters, nine letters or digits, and a check digit",
            Form::Cusip => "eight characters and a check digit",
            Form::Cins => "a letter, seven characters and a check digit",
            Form::Cusip8 => "eight characters",
            Form::Sedol => "six consonants or digits, and a check digit",
            Form::Wertpapier => "six letters or digits",
            Form::Figi => "two consonants, G, eight consonants or digits, and a check digit",
            Form::Occ => "21 characters: root, date, C or P, and strike",
            Form::Digits { least: 9, .. } => "nine digits",
            Form::Digits { .. } => "five or six digits",
            Form::Text => "1 to 64 bytes",
        }
    }

    pub(crate) fn from_code(code: u8) -> Option<Self> {
        Self::ALL.get(usize::from(code)).copied()
    }
}

impl Form {
    fn fits(self, value: &[u8]) -> bool {
        let all = |fits: fn(u8) -> bool| value.iter().all(|&character| fits(character));
        match self {
            Self::Isin => {
                value.len() == 12
                    && value[..2].iter().all(u8::is_ascii_uppercase)
                    && check_digit::holds(value, check_digit::isin)
            }
            Self::Cusip => {
                value.len() == 9 && check_digit::holds(value, check_digit::double_add_double)
            }
            Self::Cins => Self::Cusip.fits(value) && value[0].is_ascii_uppercase(),
            Self::Cusip8 => value.len() == 8 && check_digit::double_add_double(value).is_some(),
            Self::Sedol => value.len() == 7 && check_digit::holds(value, check_digit::sedol),
            Self::Wertpapier => value.len() == 6 && all(|c| c.is_ascii_alphanumeric()),
            Self::Figi => Figi::parse_bytes(value).is_ok(),
            Self::Occ => is_occ(value),
            Self::Digits { least, most } => {
                (least..=most).contains(&value.len()) && all(|c| c.is_ascii_digit())
            }
            Self::Text => true,
        }
    }
}

/// Whether it is an OCC symbol (Options Clearing Corporation, Options Symbology Initiative):
/// a root padded with blanks to [`OCC_ROOT_BYTES`], the expiration as yymmdd, `C` or `P`, and the
/// strike in thousandths as 8 digits.
fn is_occ(value: &[u8]) -> bool {
    if value.len() != OCC_ROOT_BYTES + OCC_TAIL_BYTES || !value.is_ascii() {
        return false;
    }
    let (root, rest) = value.split_at(OCC_ROOT_BYTES);
    let root = root.trim_ascii_end();
    let (date, rest) = rest.split_at(6);
    let digits = |part: &[u8]| part.iter().all(u8::is_ascii_digit);
    let pair = |at: usize| (date[at] - b'0') * 10 + (date[at + 1] - b'0');
    !root.is_empty()
        && root.iter().all(u8::is_ascii_alphanumeric)
        && digits(date)
        && Date::new(2000 + i16::from(pair(0)), pair(2), pair(4)).is_some()
        && matches!(rest[0], b'C' | b'P')
        && digits(&rest[1..])
}

/// A text in the letter case of the index.
pub(crate) fn upper(text: &str) -> Cow<'_, str> {
    if text.bytes().any(|byte| byte.is_ascii_lowercase() || !byte.is_ascii()) {
        Cow::Owned(text.to_uppercase())
    } else {
        Cow::Borrowed(text)
    }
}

impl<'a> IdValue<'a> {
    /// A value that `id_type` admitted before, as the index spells it.
    pub(crate) fn from_index(id_type: IdType, value: &'a str) -> Self {
        Self { id_type, text: Cow::Borrowed(value) }
    }

    /// The value that finds the rows with this composite FIGI.
    pub fn composite(figi: Figi) -> Self {
        Self { id_type: IdType::CompositeBbGlobal, text: Cow::Owned(figi.to_string()) }
    }

    /// The value that finds the rows with this share class FIGI.
    pub fn share_class(figi: Figi) -> Self {
        Self { id_type: IdType::ShareClassBbGlobal, text: Cow::Owned(figi.to_string()) }
    }

    /// The same value, which no longer borrows from another text.
    pub fn into_owned(self) -> IdValue<'static> {
        IdValue { id_type: self.id_type, text: Cow::Owned(self.text.into_owned()) }
    }

    /// The same value, borrowed.
    pub fn borrowed(&self) -> IdValue<'_> {
        IdValue { id_type: self.id_type, text: Cow::Borrowed(&self.text) }
    }

    /// The idType that admitted the value.
    pub fn id_type(&self) -> IdType {
        self.id_type
    }

    /// The value in the spelling of the index.
    pub fn as_str(&self) -> &str {
        &self.text
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn names_and_codes_are_their_own_inverse() {
        for (code, id_type) in IdType::ALL.into_iter().enumerate() {
            assert_eq!(IdType::from_name(id_type.name()), Some(id_type));
            assert_eq!(IdType::from_code(code as u8), Some(id_type));
            assert_eq!(id_type as usize, code);
        }
        assert_eq!(IdType::from_name("id_isin"), None, "a name's letter case counts");
        assert_eq!(IdType::from_code(26), None);
    }

    /// contract 5.4 to 5.12.
    #[test]
    fn forms() {
        use IdType::*;
        let cases: &[(IdType, &[&str], &[&str])] = &[
            (
                Isin,
                &["US4592001014", " us4592001014 "],
                &["US4592001015", "US459200101", "4592001014US"],
            ),
            (
                Cusip,
                &["459200101", "G0177J108", "000000000"],
                &["45920010", "459200102", "ZZZZZZZZZ", "ABC"],
            ),
            (Cins, &["G0177J108"], &["459200101", "G0177J109"]),
            (Sedol, &["0263494", "b0ybkj7"], &["0263495", "A263494", "263494"]),
            (BbGlobal, &["BBG000BLNNH6"], &["BBG000BLNNH5", "BBG000BLNNH"]),
            (CompositeBbGlobal, &["BBG000BLNNH6"], &["US4592001014"]),
            (ShareClassBbGlobal, &["BBG001S5S399"], &["BBG001S5S398"]),
            (Cusip8, &["45920010"], &["459200101", "4592001", "45920 10"]),
            (
                Occ,
                &["AAPL  251219C00200000", "aapl  251219p00200000", "A     251219C00200000"],
                &[
                    "AAPL 251219C00200000",
                    "AAPL  251319C00200000",
                    "AAPL  251219X00200000",
                    "      251219C00200000",
                    "AA PL 251219C00200000",
                ],
            ),
            (Common, &["012345678"], &["12345678", "01234567A"]),
            (Wertpapier, &["851399", "a0b1c2"], &["85139", "8513999", "85-399"]),
            (Italy, &["12345", "123456"], &["1234", "1234567", "12a45"]),
            (Bb, &["TSLA:US", "x", "TSLA US Equity"], &["", "  "]),
            (Ticker, &["AAPL 01/17/25 C155", "пай"], &[""]),
        ];
        for (id_type, right, wrong) in cases {
            for text in *right {
                assert!(id_type.admit(text).is_ok(), "{id_type:?} {text:?}");
            }
            for text in *wrong {
                assert_eq!(id_type.admit(text), Err(FormError(*id_type)), "{text:?}");
            }
        }
        assert!(Ticker.admit(&"x".repeat(64)).is_ok());
        assert!(Ticker.admit(&"x".repeat(65)).is_err());
    }

    /// contract 5.3.
    #[test]
    fn integers_get_their_leading_zeros_back() {
        use IdType::*;
        for (id_type, decimal, value) in [
            (Cusip, "37833100", "037833100"),
            (Cusip8, "3783310", "03783310"),
            (Sedol, "263494", "0263494"),
            (Common, "12345678", "012345678"),
            (Wertpapier, "1399", "001399"),
            (Ticker, "700", "700"),
            (Italy, "12345", "12345"),
        ] {
            assert_eq!(id_type.admit_integer(decimal).unwrap().as_str(), value);
        }
        assert!(Cusip.admit_integer("-5").is_err());
        assert!(
            Italy.admit_integer("1234").is_err(),
            "ID_ITALY has two lengths, so that it is not padded"
        );
        assert!(Cusip.admit("37833100").is_err(), "a text is not padded");
        assert!(Ticker.admit_integer(&"7".repeat(64)).is_ok());
        assert!(Ticker.admit_integer(&"7".repeat(65)).is_err());
    }

    #[test]
    fn letter_case_is_ignored_in_every_script() {
        assert_eq!(IdType::Ticker.admit("ibm"), IdType::Ticker.admit(" IBM "));
        assert_eq!(IdType::Ticker.admit("сбер"), IdType::Ticker.admit("СБЕР"));
        assert_ne!(IdType::Ticker.admit("I BM"), IdType::Ticker.admit("IBM"));
    }

    proptest! {
        #[test]
        fn any_text_is_answered_and_admission_settles(text in any::<String>()) {
            for id_type in IdType::ALL {
                if let Ok(value) = id_type.admit(&text) && value.as_str().len() <= ID_VALUE_BYTES_MAX {
                    prop_assert_eq!(id_type.admit(value.as_str()), Ok(value.borrowed()));
                }
                let _ = id_type.admit_integer(&text);
            }
        }
    }
}
