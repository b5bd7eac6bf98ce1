//! The members of a row that a list asks for.

use figdex_index::{FIGI_CHARS, Figi, Row, Text};

use crate::wire::Fault;

macro_rules! fields {
    ($($variant:ident = $name:literal;)*) => {
        /// A member of a row (contract 12.3, 12.5, 12.6).
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum Field {
            $($variant,)*
        }

        impl Field {
            /// All fields.
            const ALL: &[Self] = &[$(Self::$variant,)*];

            /// The name in a row.
            pub(crate) const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            const fn json_key(self) -> &'static [u8] {
                match self { $(Self::$variant => concat!("\"", $name, "\":").as_bytes(),)* }
            }
        }
    };
}

fields! {
    Figi = "figi";
    Name = "name";
    Ticker = "ticker";
    ExchCode = "exchCode";
    CompositeFigi = "compositeFIGI";
    SecurityType = "securityType";
    MarketSector = "marketSector";
    ShareClassFigi = "shareClassFIGI";
    SecurityType2 = "securityType2";
    SecurityDescription = "securityDescription";
    UniqueId = "uniqueID";
    UniqueIdFutOpt = "uniqueIDFutOpt";
    Metadata = "metadata";
}

/// The names of all fields.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    Field::ALL.iter().map(|field| field.name())
}

/// The value of a field.
enum Value<'a> {
    Figi(Figi),
    Text(Text<'a>),
}

impl Field {
    /// The number of fields.
    pub(super) const COUNT: usize = Self::ALL.len();

    /// The ten members of every row of v3, in their order.
    pub(super) const OF_A_ROW: [Self; 10] = [
        Self::Figi,
        Self::Name,
        Self::Ticker,
        Self::ExchCode,
        Self::CompositeFigi,
        Self::SecurityType,
        Self::MarketSector,
        Self::ShareClassFigi,
        Self::SecurityType2,
        Self::SecurityDescription,
    ];

    /// The fields of these names.
    pub(super) fn parse<'n>(names: impl Iterator<Item = &'n str>) -> Result<Vec<Self>, Fault> {
        let mut fields: Vec<Self> = Vec::new();
        for name in names.map(str::trim) {
            let field = Self::ALL.iter().copied().find(|field| field.name() == name);
            let field = field.ok_or_else(|| {
                let names: Vec<_> = self::names().collect();
                let name: String = name.chars().take(64).collect();
                format!("fields: {name:?} is not a field; the fields are {}.", names.join(", "))
            })?;
            if fields.contains(&field) {
                return Err(format!("fields: {name} is asked for twice.").into());
            }
            fields.push(field);
        }
        Ok(fields)
    }

    fn of(self, row: Row<'_>) -> Option<Value<'_>> {
        match self {
            Self::Figi => Some(Value::Figi(row.figi())),
            Self::CompositeFigi => row.composite_figi().map(Value::Figi),
            Self::ShareClassFigi => row.share_class_figi().map(Value::Figi),
            Self::Name => row.name().map(Value::Text),
            Self::Ticker => row.ticker().map(Value::Text),
            Self::ExchCode => row.exch_code().map(Value::Text),
            Self::SecurityType => row.security_type().map(Value::Text),
            Self::MarketSector => row.market_sector().map(Value::Text),
            Self::SecurityType2 => row.security_type2().map(Value::Text),
            Self::SecurityDescription => row.security_description().map(Value::Text),
            Self::UniqueId => row.unique_id().map(Value::Text),
            Self::UniqueIdFutOpt => row.unique_id_fut_opt().map(Value::Text),
            Self::Metadata => row.metadata().map(Value::Text),
        }
    }

    /// Writes a row as an object with these members, null where unknown.
    pub(super) fn write_row(fields: &[Self], out: &mut Vec<u8>, row: Row<'_>) {
        out.push(b'{');
        for (place, field) in fields.iter().enumerate() {
            if place > 0 {
                out.push(b',');
            }
            out.extend_from_slice(field.json_key());
            match field.of(row) {
                None => out.extend_from_slice(b"null"),
                Some(Value::Figi(figi)) => {
                    let mut quoted = [b'"'; FIGI_CHARS + 2];
                    quoted[1..=FIGI_CHARS].copy_from_slice(&figi.to_chars());
                    out.extend_from_slice(&quoted);
                }
                Some(Value::Text(text)) => {
                    out.push(b'"');
                    text.json_pieces().for_each(|piece| out.extend_from_slice(piece));
                    out.push(b'"');
                }
            }
        }
        out.push(b'}');
    }

    /// The value as text, empty where unknown.
    pub(super) fn text(self, row: Row<'_>) -> String {
        match self.of(row) {
            None => String::new(),
            Some(Value::Figi(figi)) => figi.to_string(),
            Some(Value::Text(text)) => text.to_string(),
        }
    }
}
