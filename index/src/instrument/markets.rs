//! The countries of exchange codes, to rank a listing on its home market first.
//!
//! Dumps give exchange codes but no countries, so the table is part of the program. For a code that
//! the table lacks, the country is unknown, and rows with that code rank a little lower.

use std::collections::HashMap;
use std::sync::LazyLock;

use iso_currency::Currency;

/// A line for each country: its ISO 3166 code, then the exchange codes of its composites and
/// venues.
const MARKETS: &str = include_str!("markets.txt");

/// The codes of off-exchange trade reporting and of trading platforms without listings: a share
/// that is traded there has its listing elsewhere.
const REPORTING: &str = "A0 B1 B2 B3 B4 BY E1 E2 EB EE EF EM EN EO EP ES EU EX EZ G4 GK HE I2 \
    KO L1 L3 LD M0 MT NQ NR OF P2 PX QM QX S1 S2 S4 SH T1 T2 TQ WT X1 X2 X9 XA XB XC XD XE XF XG \
    XH XI XJ XK XL XM XN XO XP XQ XR XS XT XU XV XW XX XY XZ Z1 Z2";

/// The countries where many foreign companies are registered: an ISIN of such a country does
/// not name the home market.
const REGISTERED_ELSEWHERE: &str = "AN BM BS CW GG GI IM JE KY LI LR MH PA VG VI";

static COUNTRIES: LazyLock<HashMap<&str, &str>> = LazyLock::new(|| {
    let codes = |line: &'static str| {
        let (country, codes) = line.split_once(' ').unwrap_or_default();
        codes.split(' ').map(move |code| (code, country))
    };
    MARKETS.lines().flat_map(codes).collect()
});

/// The market of a listing, compared with the security's home market.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Market {
    /// The listing is in the country of the ISIN.
    Home,
    /// The country of the listing, or the home country, is unknown.
    Unknown,
    /// The listing is in another country, by its exchange code or by its currency.
    Foreign,
    /// The exchange code is one of [`REPORTING`].
    Reporting,
}

/// The market of a row, derived from its exchange code, currency and ISIN as far as they are known.
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

/// Whether a currency is in use, but not in that country.
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
    fn a_listing_is_at_home_or_abroad() {
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
