//! Which column a heading of somebody else's dump may mean.

use figdex_index::{IdType, Property, type_of_heading};

use super::Column;

/// Headings of other makers, in lower case without blanks and signs.
const HEADINGS: [(&str, Column); 30] = [
    ("figicode", Column::Figi),
    ("bbgglobalid", Column::Figi),
    ("figicomposite", Column::CompositeFigi),
    ("cfigi", Column::CompositeFigi),
    ("figishareclass", Column::ShareClassFigi),
    ("scfigi", Column::ShareClassFigi),
    ("securityname", Column::Name),
    ("issuername", Column::Name),
    ("companyname", Column::Name),
    ("description", Column::SecurityDescription),
    ("exchange", Column::Property(Property::ExchCode)),
    ("exchangecode", Column::Property(Property::ExchCode)),
    ("mic", Column::Property(Property::MicCode)),
    ("ccy", Column::Property(Property::Currency)),
    ("currencycode", Column::Property(Property::Currency)),
    ("marketsecdes", Column::Property(Property::MarketSecDes)),
    ("putcall", Column::Property(Property::OptionType)),
    ("state", Column::Property(Property::StateCode)),
    ("strikeprice", Column::Strike),
    ("couponrate", Column::Coupon),
    ("expiry", Column::Expiration),
    ("expirydate", Column::Expiration),
    ("expirationdate", Column::Expiration),
    ("maturitydate", Column::Maturity),
    ("aliases", Column::Alias),
    ("marketcap", Column::Importance),
    ("marketcapitalisation", Column::Importance),
    ("marketcapitalization", Column::Importance),
    ("turnover", Column::Importance),
    ("exchangesymbol", Column::Identifier(IdType::ExchSymbol)),
];

/// The column that a heading may mean: one with the same letters and digits, a name that other
/// makers use, or a name with one wrong letter.
pub(crate) fn nearest(heading: &str) -> Option<Column> {
    let name = letters(heading);
    let named = || Column::all().find(|column| letters(column.name()) == name);
    let known = || HEADINGS.into_iter().find(|(known, _)| *known == name).map(|(_, column)| column);
    let slip = || Column::FIELDS.into_iter().find(|column| is_slip(&name, &letters(column.name())));
    type_of_heading(heading).map(of_type).or_else(named).or_else(known).or_else(slip)
}

/// The column for identifiers of that type.
pub(crate) fn of_type(id_type: IdType) -> Column {
    match id_type {
        IdType::BbGlobal => Column::Figi,
        IdType::CompositeBbGlobal => Column::CompositeFigi,
        IdType::ShareClassBbGlobal => Column::ShareClassFigi,
        IdType::Ticker => Column::Ticker,
        other => Column::Identifier(other),
    }
}

fn letters(text: &str) -> String {
    text.chars().filter(|one| one.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// Whether the texts, of five characters and more, differ in one character: another one, one more
/// or one less.
fn is_slip(text: &str, name: &str) -> bool {
    let (text, name): (Vec<char>, Vec<char>) = (text.chars().collect(), name.chars().collect());
    if text.len().min(name.len()) < 5 || text.len().abs_diff(name.len()) > 1 {
        return false;
    }
    let start = text.iter().zip(&name).take_while(|(a, b)| a == b).count();
    let (text, name) = (&text[start..], &name[start..]);
    let rest = |part: usize, whole: &[char]| whole.get(part..).map(<[char]>::to_vec);
    rest(1, text) == rest(1, name)
        || rest(1, text).as_deref() == Some(name)
        || rest(1, name).as_deref() == Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_heading_means_the_nearest_column() {
        for (heading, column) in [
            ("FIGI Code", Some("figi")),
            ("composite_figi", Some("compositeFIGI")),
            ("Isin", Some("ID_ISIN")),
            ("exch code", Some("exchCode")),
            ("Maturty", Some("maturity")),
            ("currencyy", Some("currency")),
            ("nam", None),
            ("cik", None),
            ("", None),
        ] {
            assert_eq!(nearest(heading).map(Column::name), column, "{heading}");
        }
    }
}
