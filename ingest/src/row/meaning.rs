//! The meaning of each column of a dump, the form of its values, an example, and the rows that
//! share a value. Tests check the forms and the examples against `normalize`.

use figdex_index::{Attribute, IdType, Property, Sort};

use super::{Column, NameColumn};

/// The rows for which a value holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Level {
    /// All listings of a share class.
    Security,
    /// All rows of a security that have the identifier.
    Issue,
    /// One row.
    Listing,
}

/// The description of a column.
pub(crate) struct About {
    /// Its meaning, as one sentence.
    pub(crate) meaning: &'static str,
    /// The form of its values.
    pub(crate) form: &'static str,
    /// A value that is accepted.
    pub(crate) example: &'static str,
    /// The rows that share a value.
    pub(crate) level: Level,
}

const FIGI: &str = "FIGI: 12 characters, the last one a check digit";

impl Column {
    /// The description of the column.
    pub(crate) const fn about(self) -> About {
        let (meaning, form, example, level) = match self {
            Self::Figi => (
                "The FIGI of the instrument. The only required column.",
                FIGI,
                "BBG000BLNNH6",
                Level::Listing,
            ),
            Self::Attribute(attribute) => {
                let (meaning, example, level) = of_attribute(attribute);
                (meaning, form(attribute.sort()), example, level)
            }
            Self::Property(property) => {
                let (meaning, example, level) = of_property(property);
                let form = match property {
                    Property::OptionType => "Put or Call",
                    _ => "text of at most 256 bytes",
                };
                (meaning, form, example, level)
            }
            Self::Identifier(id_type) => {
                let (form, example, level) = of_id_type(id_type);
                (id_type.meaning(), form, example, level)
            }
            Self::Name(NameColumn::Kind) => (
                "The kind of an other name.",
                "brand, former, transliteration or short",
                "former",
                Level::Security,
            ),
            Self::Name(NameColumn::From | NameColumn::To) => (
                "The first or the last day of an other name.",
                "date YYYY-MM-DD",
                "2022-06-08",
                Level::Security,
            ),
        };
        About { meaning, form, example, level }
    }
}

/// The form of the values of a sort.
const fn form(sort: Sort) -> &'static str {
    match sort {
        Sort::Figi => FIGI,
        Sort::Text | Sort::Texts => "text of at most 4096 bytes",
        Sort::Number => "number with a point, such as 12.5",
        Sort::Date => "date YYYY-MM-DD",
        Sort::Flag => "true or false",
        Sort::Names => "JSON array of objects with name, kind and perhaps from and to",
        Sort::Importance => "number from 0 on with a point, such as 12.5; larger comes first",
    }
}

/// The meaning of an attribute, an example, and the rows that share a value.
const fn of_attribute(attribute: Attribute) -> (&'static str, &'static str, Level) {
    use Level::{Issue, Listing, Security};
    match attribute {
        Attribute::CompositeFigi => {
            ("The FIGI of the instrument in its country.", "BBG000BLNNH6", Listing)
        }
        Attribute::ShareClassFigi => {
            ("The FIGI of the share class, over all countries.", "BBG001S5S399", Issue)
        }
        Attribute::Ticker => ("The ticker, as result rows show it.", "IBM", Listing),
        Attribute::Name => {
            ("The name of the issuer or the instrument.", "INTL BUSINESS MACHINES CORP", Security)
        }
        Attribute::SecurityDescription => {
            ("A short description; a blank one is the ticker.", "IBM", Listing)
        }
        Attribute::Strike => ("The strike price of an option.", "12.5", Issue),
        Attribute::ContractSize => ("The size of a contract.", "100", Issue),
        Attribute::Coupon => ("The coupon of a bond, in percent.", "6.22", Issue),
        Attribute::Expiration => {
            ("The day on which an option or a future expires.", "2027-01-15", Issue)
        }
        Attribute::Maturity => ("The day on which a bond matures.", "2027-08-01", Issue),
        Attribute::Listed => {
            ("Whether an equity is listed. Blank means that it is.", "false", Listing)
        }
        Attribute::Metadata => ("A remark that result rows carry.", "checked by hand", Listing),
        Attribute::UniqueId => ("The result field of that name.", "EQ0010080100001000", Listing),
        Attribute::UniqueIdFutOpt => {
            ("The result field of that name, for futures and options.", "IBM=A1 Equity", Listing)
        }
        Attribute::Alias => {
            ("Further names by which searches find the instrument.", "Big Blue", Security)
        }
        Attribute::Importance => {
            let meaning = "Its weight in searches, such as the market capitalisation.";
            (meaning, "212400000000", Security)
        }
        Attribute::Names => {
            let example = "[{\"name\":\"BIG BLUE\",\"kind\":\"brand\"}]";
            ("Other names, by which suggestions find it.", example, Security)
        }
    }
}

/// The meaning of an enum-like property, an example, and the rows that share a value.
const fn of_property(property: Property) -> (&'static str, &'static str, Level) {
    use Level::{Issue, Listing, Security};
    match property {
        Property::ExchCode => ("The exchange code of the listing or its country.", "US", Listing),
        Property::MicCode => {
            ("The market identifier code (ISO 10383) of the venue.", "XNYS", Listing)
        }
        Property::Currency => ("The currency code.", "USD", Listing),
        Property::MarketSecDes => ("The market sector.", "Equity", Security),
        Property::SecurityType => ("The security type.", "Common Stock", Security),
        Property::SecurityType2 => ("The broader security type.", "Common Stock", Security),
        Property::OptionType => ("Whether an option is a put or a call.", "Call", Issue),
        Property::StateCode => ("The state of a municipal bond or a domicile.", "NY", Issue),
    }
}

/// The form of an identifier, an example, and the rows that share a value.
const fn of_id_type(id_type: IdType) -> (&'static str, &'static str, Level) {
    use Level::{Issue, Listing};
    const TEXT: &str = "text of at most 64 bytes";
    match id_type {
        IdType::Isin => ("12 characters, the last one a check digit", "US4592001014", Issue),
        IdType::BbUnique => (TEXT, "EQ0010080100001000", Listing),
        IdType::Sedol => ("7 characters, the last one a check digit", "2005973", Listing),
        IdType::Common => ("9 digits", "011833683", Issue),
        IdType::Wertpapier => ("6 letters and digits", "851399", Issue),
        IdType::Cusip => ("9 characters, the last one a check digit", "459200101", Issue),
        IdType::Bb => (TEXT, "459200101", Listing),
        IdType::Italy => ("5 or 6 digits", "908432", Issue),
        IdType::ExchSymbol | IdType::Ticker | IdType::BaseTicker => (TEXT, "IBM", Listing),
        IdType::FullExchangeSymbol => (TEXT, "IBM 150127C100", Listing),
        IdType::CompositeBbGlobal | IdType::BbGlobal => (FIGI, "BBG000BLNNH6", Listing),
        IdType::ShareClassBbGlobal => (FIGI, "BBG001S5S399", Listing),
        IdType::BbSecNumDes => (TEXT, "IBM 6.22 08/01/27", Listing),
        IdType::Cusip8 => ("8 characters", "45920010", Issue),
        IdType::Occ => ("21 characters", "IBM   270115C00250000", Issue),
        IdType::UniqueFutOpt => (TEXT, "IBM=A1 Equity", Listing),
        IdType::Opra => (TEXT, "IBM A1527C250", Issue),
        IdType::TradingSystem => (TEXT, "FZH18 IBMG", Listing),
        IdType::Cins => ("letter and 8 characters, the last one a check digit", "G0177J108", Issue),
        IdType::ShortCode => (TEXT, "123456.AB", Listing),
        IdType::VendorIndexCode => (TEXT, "990100", Issue),
        IdType::Bb8Chr => (TEXT, "45920010", Listing),
        IdType::Trace => (TEXT, "IBM4170987", Issue),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::row::normalize::set_cell;
    use crate::row::{Cell, CellKind};
    use figdex_index::{Figi, Instrument};

    fn accepts(column: Column, value: &str) -> bool {
        let mut instrument = Instrument::new(Figi::parse("BBG000BLNNH6").unwrap());
        set_cell(&mut instrument, &Cell { column, value, kind: CellKind::Text }).is_ok()
    }

    /// The row reader accepts each example; and it refuses a wrong value exactly in the columns
    /// whose form is not a text. A figi is judged by `normalize` itself.
    #[test]
    fn the_row_reader_agrees_with_each_form_and_example() {
        for column in Column::all() {
            let (name, About { form, example, .. }) = (column.name(), column.about());
            assert!(accepts(column, example), "{name}: {example}");
            let takes_any = column == Column::Figi || form.starts_with("text");
            assert_eq!(accepts(column, "no such value!"), takes_any, "{name}: {form}");
            if let Some(bytes) = form.strip_prefix("text of at most ") {
                let most: usize = bytes.trim_end_matches(" bytes").parse().unwrap();
                assert!(accepts(column, &"x".repeat(most)), "{name}");
                assert!(!accepts(column, &"x".repeat(most + 1)), "{name}");
            }
        }
    }
}
