//! The meaning of each column of a dump, the form of its values, and an example. Tests hold the
//! forms and the examples to `normalize`.

use figdex_index::{IdType, Property};

use super::Column;

impl Column {
    /// The meaning of the column, as one sentence.
    pub(crate) const fn meaning(self) -> &'static str {
        match self {
            Self::Figi => "The FIGI of the instrument. The only required column.",
            Self::CompositeFigi => "The FIGI of the instrument in its country.",
            Self::ShareClassFigi => "The FIGI of the share class, over all countries.",
            Self::Ticker => "The ticker, as result rows show it.",
            Self::Name => "The name of the issuer or the instrument.",
            Self::SecurityDescription => "A short description; a blank one is the ticker.",
            Self::Property(property) => match property {
                Property::ExchCode => "The exchange code of the listing or its country.",
                Property::MicCode => "The market identifier code (ISO 10383) of the venue.",
                Property::Currency => "The currency code.",
                Property::MarketSecDes => "The market sector.",
                Property::SecurityType => "The security type.",
                Property::SecurityType2 => "The broader security type.",
                Property::OptionType => "Whether an option is a put or a call.",
                Property::StateCode => "The state of a municipal bond or a domicile.",
            },
            Self::Strike => "The strike price of an option.",
            Self::ContractSize => "The size of a contract.",
            Self::Coupon => "The coupon of a bond, in percent.",
            Self::Expiration => "The day on which an option or a future expires.",
            Self::Maturity => "The day on which a bond matures.",
            Self::Listed => "Whether an equity is listed. Blank means that it is.",
            Self::Metadata => "A remark that result rows carry.",
            Self::UniqueId => "The result field of that name.",
            Self::UniqueIdFutOpt => "The result field of that name, for futures and options.",
            Self::Alias => "Further names by which searches find the instrument.",
            Self::Importance => "Its weight in searches, such as the market capitalisation.",
            Self::Identifier(id_type) => id_type.meaning(),
        }
    }

    /// The form of its values.
    pub(crate) const fn form(self) -> &'static str {
        match self {
            Self::Figi | Self::CompositeFigi | Self::ShareClassFigi => {
                "FIGI: 12 characters, the last one a check digit"
            }
            Self::Property(Property::OptionType) => "Put or Call",
            Self::Property(_) => "text of at most 256 bytes",
            Self::Importance => "number from 0 on with a point, such as 12.5; larger comes first",
            Self::Strike | Self::ContractSize | Self::Coupon => "number with a point, such as 12.5",
            Self::Expiration | Self::Maturity => "date YYYY-MM-DD",
            Self::Listed => "true or false",
            Self::Ticker
            | Self::Name
            | Self::SecurityDescription
            | Self::Metadata
            | Self::UniqueId
            | Self::UniqueIdFutOpt
            | Self::Alias => "text of at most 4096 bytes",
            Self::Identifier(id_type) => match id_type {
                IdType::Isin => "12 characters, the last one a check digit",
                IdType::Sedol => "7 characters, the last one a check digit",
                IdType::Cusip => "9 characters, the last one a check digit",
                IdType::Cins => "letter and 8 characters, the last one a check digit",
                IdType::Cusip8 => "8 characters",
                IdType::Common => "9 digits",
                IdType::Italy => "5 or 6 digits",
                IdType::Wertpapier => "6 letters and digits",
                IdType::Occ => "21 characters",
                IdType::BbGlobal | IdType::CompositeBbGlobal | IdType::ShareClassBbGlobal => {
                    "FIGI: 12 characters, the last one a check digit"
                }
                _ => "text of at most 64 bytes",
            },
        }
    }

    /// A value that is accepted.
    pub(crate) const fn example(self) -> &'static str {
        match self {
            Self::Figi | Self::CompositeFigi => "BBG000BLNNH6",
            Self::ShareClassFigi => "BBG001S5S399",
            Self::Ticker | Self::SecurityDescription => "IBM",
            Self::Name => "INTL BUSINESS MACHINES CORP",
            Self::Property(property) => match property {
                Property::ExchCode => "US",
                Property::MicCode => "XNYS",
                Property::Currency => "USD",
                Property::MarketSecDes => "Equity",
                Property::SecurityType | Property::SecurityType2 => "Common Stock",
                Property::OptionType => "Call",
                Property::StateCode => "NY",
            },
            Self::Strike => "12.5",
            Self::ContractSize => "100",
            Self::Coupon => "6.22",
            Self::Expiration => "2027-01-15",
            Self::Maturity => "2027-08-01",
            Self::Listed => "false",
            Self::Metadata => "checked by hand",
            Self::UniqueId => "EQ0010080100001000",
            Self::UniqueIdFutOpt => "IBM=A1 Equity",
            Self::Alias => "Big Blue",
            Self::Importance => "212400000000",
            Self::Identifier(id_type) => match id_type {
                IdType::Isin => "US4592001014",
                IdType::BbUnique => "EQ0010080100001000",
                IdType::Sedol => "2005973",
                IdType::Common => "011833683",
                IdType::Wertpapier => "851399",
                IdType::Cusip => "459200101",
                IdType::Bb => "459200101",
                IdType::Italy => "908432",
                IdType::ExchSymbol | IdType::Ticker | IdType::BaseTicker => "IBM",
                IdType::FullExchangeSymbol => "IBM 150127C100",
                IdType::CompositeBbGlobal | IdType::BbGlobal => "BBG000BLNNH6",
                IdType::ShareClassBbGlobal => "BBG001S5S399",
                IdType::BbSecNumDes => "IBM 6.22 08/01/27",
                IdType::Cusip8 => "45920010",
                IdType::Occ => "IBM   270115C00250000",
                IdType::UniqueFutOpt => "IBM=A1 Equity",
                IdType::Opra => "IBM A1527C250",
                IdType::TradingSystem => "FZH18 IBMG",
                IdType::Cins => "G0177J108",
                IdType::ShortCode => "123456.AB",
                IdType::VendorIndexCode => "990100",
                IdType::Bb8Chr => "45920010",
                IdType::Trace => "IBM4170987",
            },
        }
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
            let name = column.name();
            assert!(accepts(column, column.example()), "{name}: {}", column.example());
            let takes_any = column == Column::Figi || column.form().starts_with("text");
            assert_eq!(accepts(column, "no such value!"), takes_any, "{name}: {}", column.form());
            if let Some(bytes) = column.form().strip_prefix("text of at most ") {
                let most: usize = bytes.trim_end_matches(" bytes").parse().unwrap();
                assert!(accepts(column, &"x".repeat(most)), "{name}");
                assert!(!accepts(column, &"x".repeat(most + 1)), "{name}");
            }
        }
    }
}
