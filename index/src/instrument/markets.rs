//! In which country a listing is: exchange codes and the countries of their markets.
//!
//! A fact of the world, not of the data: dumps give codes and no countries. A code that
//! is not here has an unknown country, which costs its rows nothing but a place.

use std::collections::HashMap;
use std::sync::LazyLock;

use iso_currency::Currency;

/// The codes of each country's markets, composites and venues; ISO 3166 codes.
const MARKETS: &str = include_str!("markets.txt");

/// Codes under which trades beyond an exchange are reported, and trading platforms that
/// list nothing of their own: the same share is listed elsewhere.
const REPORTING: &str = "A0 B1 B2 B3 B4 BY E1 E2 EB EE EF EM EN EO EP ES EU EX EZ G4 GK HE I2 \
    KO L1 L3 LD M0 MT NQ NR OF P2 PX QM QX S1 S2 S4 SH T1 T2 TQ WT X1 X2 X9 XA XB XC XD XE XF XG \
    XH XI XJ XK XL XM XN XO XP XQ XR XS XT XU XV XW XX XY XZ Z1 Z2";

/// Where companies are registered that are at home elsewhere: the country of such an
/// ISIN says nothing of a market.
const REGISTERED_ELSEWHERE: &str = "AN BM BS CW GG GI IM JE KY LI LR MH PA VG VI";

static COUNTRIES: LazyLock<HashMap<&str, &str>> = LazyLock::new(|| {
    let codes = |line: &'static str| {
        let (country, codes) = line.split_once(' ').unwrap_or_default();
        codes.split(' ').map(move |code| (code, country))
    };
    MARKETS.lines().flat_map(codes).collect()
});

/// Where a listing is, seen from the security's home.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Market {
    /// In the country of its ISIN.
    Home,
    /// Nothing says where, or where its home is.
    Unknown,
    /// In another country.
    Foreign,
    /// On no exchange of its own.
    Reporting,
}

/// The market of a row by its own exchange code, currency and ISIN, as far as it has
/// them.
pub(crate) fn market(
    exch_code: Option<&str>,
    currency: Option<&str>,
    isin: Option<&str>,
) -> Market {
    if exch_code.is_some_and(is_reporting) {
        return Market::Reporting;
    }
    let home = isin.and_then(|isin| isin.get(..2)).filter(|country| {
        *country != "XS" && !REGISTERED_ELSEWHERE.split(' ').any(|other| other == *country)
    });
    let Some(home) = home else { return Market::Unknown };
    match exch_code.and_then(|code| COUNTRIES.get(code)) {
        Some(country) if *country == home => Market::Home,
        Some(_) => Market::Foreign,
        None if currency.is_some_and(|currency| is_foreign(currency, home)) => Market::Foreign,
        None => Market::Unknown,
    }
}

fn is_reporting(exch_code: &str) -> bool {
    exch_code.len() == 2 && REPORTING.split(' ').any(|code| code == exch_code)
}

/// Whether a currency is used, and not in that country.
fn is_foreign(currency: &str, country: &str) -> bool {
    Currency::from_code(currency).is_some_and(|currency| {
        let mut countries = currency.used_by().into_iter();
        !countries.any(|user| user.to_string() == country)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_has_one_country() {
        let codes = MARKETS.lines().flat_map(|line| line.split(' ').skip(1));
        assert_eq!(codes.clone().count(), COUNTRIES.len());
        for code in codes {
            assert!(code.len() == 2 && !is_reporting(code), "{code}");
        }
    }

    #[test]
    fn where_a_listing_is() {
        for (exch_code, currency, isin, expected) in [
            (Some("US"), None, Some("US0378331005"), Market::Home),
            (Some("GR"), None, Some("US0378331005"), Market::Foreign),
            (Some("X1"), None, Some("US0378331005"), Market::Reporting),
            (Some("US"), None, None, Market::Unknown),
            (Some("HK"), None, Some("KYG875721634"), Market::Unknown),
            (None, Some("JPY"), Some("JP3633400001"), Market::Unknown),
            (None, Some("EUR"), Some("JP3633400001"), Market::Foreign),
            (None, Some("GBp"), Some("JP3633400001"), Market::Unknown),
            (None, None, Some("DE0005140008"), Market::Unknown),
            (Some("no such"), None, Some("DE0005140008"), Market::Unknown),
        ] {
            assert_eq!(market(exch_code, currency, isin), expected, "{exch_code:?} {isin:?}");
        }
    }
}
