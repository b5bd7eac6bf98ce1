//! Finds the column that a heading of a foreign dump may stand for.

use figdex_index::{Attribute, IdType, type_of_heading};

use super::Column;

/// Headings of other makers, in lower case without blanks and signs, and the columns they mean.
const HEADINGS: [(&str, &str); 30] = [
    ("figicode", "figi"),
    ("bbgglobalid", "figi"),
    ("figicomposite", "compositeFIGI"),
    ("cfigi", "compositeFIGI"),
    ("figishareclass", "shareClassFIGI"),
    ("scfigi", "shareClassFIGI"),
    ("securityname", "name"),
    ("issuername", "name"),
    ("companyname", "name"),
    ("description", "securityDescription"),
    ("exchange", "exchCode"),
    ("exchangecode", "exchCode"),
    ("mic", "micCode"),
    ("ccy", "currency"),
    ("currencycode", "currency"),
    ("marketsecdes", "marketSector"),
    ("putcall", "optionType"),
    ("state", "stateCode"),
    ("strikeprice", "strike"),
    ("couponrate", "coupon"),
    ("expiry", "expiration"),
    ("expirydate", "expiration"),
    ("expirationdate", "expiration"),
    ("maturitydate", "maturity"),
    ("aliases", "alias"),
    ("marketcap", "importance"),
    ("marketcapitalisation", "importance"),
    ("marketcapitalization", "importance"),
    ("turnover", "importance"),
    ("exchangesymbol", "ID_EXCH_SYMBOL"),
];

/// The column that a heading may stand for: that of the idType that the heading means, else one
/// with the same letters and digits, else one that other vendors call so, else a field with one
/// wrong letter.
pub(crate) fn nearest(heading: &str) -> Option<Column> {
    let name = letters(heading);
    let named = || Column::all().find(|column| letters(column.name()) == name);
    let known = || {
        let (_, column) = HEADINGS.into_iter().find(|(known, _)| *known == name)?;
        Column::from_name(column)
    };
    let slip = || Column::fields().find(|column| is_slip(&name, &letters(column.name())));
    type_of_heading(heading).map(of_type).or_else(named).or_else(known).or_else(slip)
}

/// The column for identifiers of that type.
pub(crate) fn of_type(id_type: IdType) -> Column {
    match id_type {
        IdType::BbGlobal => Column::Figi,
        IdType::CompositeBbGlobal => Column::Attribute(Attribute::CompositeFigi),
        IdType::ShareClassBbGlobal => Column::Attribute(Attribute::ShareClassFigi),
        IdType::Ticker => Column::Attribute(Attribute::Ticker),
        other => Column::Identifier(other),
    }
}

fn letters(text: &str) -> String {
    text.chars().filter(|one| one.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// Whether two texts of at least five characters differ in one character: it is different, extra or
/// missing.
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
    fn known_headings_mean_columns() {
        assert!(HEADINGS.iter().all(|(_, column)| Column::from_name(column).is_some()));
    }

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
