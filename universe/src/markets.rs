//! The markets of the synthetic universe: exchange codes, venues, currencies, ticker styles.
//!
//! Exchange codes are from the value lists of the public service, market identifier codes (MIC)
//! from ISO 10383; a venue with an unknown MIC has none. A market with one venue has a composite
//! FIGI without a row. A market with several venues has a row for the composite, with the exchange
//! code [`Market::composite`].

use super::names;
use super::rng::Random;

/// A venue: its exchange code and its MIC (ISO 10383), which may be blank.
#[derive(Clone, Copy)]
pub(crate) struct Venue(pub(super) &'static str, pub(super) &'static str);

/// The style of tickers in a market.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tickers {
    /// Letters, some of them from the name.
    Letters { least: u64, most: u64 },
    /// A number of this many digits.
    Digits(usize),
    /// A number from 1 to 9999, without zeros before it.
    Number,
}

impl Tickers {
    /// The ticker of a company with that name. `number` distinguishes companies with similar names.
    pub(crate) fn draw(self, name: &str, number: u64, random: &mut Random) -> String {
        match self {
            Self::Digits(width) => {
                let least = 10_u64.pow(width as u32 - 1);
                (least + number % (9 * least)).to_string()
            }
            Self::Number => (1 + number % 9999).to_string(),
            Self::Letters { least, most } => {
                let length = (least + random.below(most - least + 1)) as usize;
                let initials = name.chars().filter(char::is_ascii_uppercase);
                let initials: String = initials.take(length / 2).collect();
                let rest = names::letters(number, length - initials.len());
                initials + &rest
            }
        }
    }
}

/// A market: the venues of one composite FIGI.
pub(crate) struct Market {
    /// The exchange code of the composite row.
    pub(crate) composite: &'static str,
    /// The venues. The first is the primary one.
    pub(crate) venues: &'static [Venue],
    /// The prefix of the ISINs of home companies (ISO 3166).
    pub(crate) country: &'static str,
    /// The currency of prices (ISO 4217, or `GBp` for pence).
    pub(crate) currency: &'static str,
    pub(crate) tickers: Tickers,
    pub(crate) legal_forms: &'static [&'static str],
    /// The number of small companies, per thousand, whose home is here.
    pub(crate) companies: u64,
}

impl Market {
    /// Whether the composite has a row.
    pub(crate) const fn has_composite_row(&self) -> bool {
        self.venues.len() > 1
    }
}

/// The market of a share that is listed on the New York Stock Exchange. A share listed on Nasdaq
/// has another primary venue ([`NASDAQ`]).
pub(crate) const US_LISTED: Market = Market {
    composite: "US",
    venues: &[
        Venue("UN", "XNYS"),
        Venue("UA", "XASE"),
        Venue("UB", "XBOS"),
        Venue("UC", "XCIS"),
        Venue("UD", "XADF"),
        Venue("UF", "BATS"),
        Venue("UM", "XCHI"),
        Venue("UP", "ARCX"),
        Venue("UT", "XNIM"),
        Venue("UX", "XPSX"),
        Venue("VF", "IEXG"),
        Venue("VJ", "EDGA"),
        Venue("VK", "EDGX"),
        Venue("VY", "BATY"),
        Venue("VG", "MEMX"),
        Venue("VL", "LTSE"),
        Venue("VP", "EPRL"),
        Venue("OC", ""),
        Venue("OD", ""),
        Venue("VT", ""),
    ],
    ..HOME[0]
};

/// Replaces the first venue of [`US_LISTED`] for shares listed on Nasdaq.
pub(crate) const NASDAQ: Venue = Venue("UW", "XNGS");

/// The venues of US options, besides the composite `US`. The exchange codes are those of the
/// exchanges' share markets, the MICs those of their option markets.
pub(crate) const OPTION_VENUES: [Venue; 16] = [
    Venue("UA", "AMXO"),
    Venue("UO", "XCBO"),
    Venue("UX", "XPHO"),
    Venue("UL", "XISX"),
    Venue("UP", "ARCO"),
    Venue("UB", "XBOX"),
    Venue("UQ", "XNDQ"),
    Venue("UF", "BATO"),
    Venue("UE", "EDGO"),
    Venue("UT", "C2OX"),
    Venue("UM", "XMIO"),
    Venue("UI", ""),
    Venue("UJ", "GMNI"),
    Venue("UG", ""),
    Venue("UN", ""),
    Venue("UD", ""),
];

/// Germany with its regional exchanges, where many foreign shares are traded.
pub(crate) const GERMANY: &Market = &HOME[5];

/// Codes under which off-exchange trades are reported in Europe. A share has rows for each
/// currency. Except for US dollars, the currency is part of the ticker.
pub(crate) const REPORTING: Market = Market {
    composite: "EO",
    venues: &[
        Venue("E1", ""),
        Venue("XA", ""),
        Venue("XE", "XAPA"),
        Venue("XF", ""),
        Venue("XG", ""),
        Venue("XH", ""),
        Venue("XJ", ""),
        Venue("XL", ""),
        Venue("XO", "XOPV"),
        Venue("XS", ""),
        Venue("XT", "HOTC"),
        Venue("XU", ""),
        Venue("XV", "BOTC"),
        Venue("XW", ""),
        Venue("XX", ""),
        Venue("X1", "ECEU"),
        Venue("X2", "CAPA"),
    ],
    country: "GB",
    currency: "",
    tickers: Tickers::Letters { least: 3, most: 5 },
    legal_forms: &[""],
    companies: 0,
};

/// The currencies of reporting rows: the suffix of the ticker, and the currency.
pub(crate) const REPORTING_CURRENCIES: [(&str, &str); 6] =
    [("", "USD"), ("EUR", "EUR"), ("GBX", "GBp"), ("CHF", "CHF"), ("MXN", "MXN"), ("RUB", "RUB")];

/// Further reporting codes, each a market with one venue.
pub(crate) const SINGLE_REPORTING: [&str; 3] = ["EU", "EP", "EZ"];
/// Multilateral trading facilities, each a market with one venue.
pub(crate) const FACILITIES: [&str; 8] = ["B3", "L3", "L1", "PO", "EB", "IX", "I2", "TQ"];

const fn letters(least: u64, most: u64) -> Tickers {
    Tickers::Letters { least, most }
}

macro_rules! markets {
    ($($composite:literal $country:literal $currency:literal $tickers:expr, $companies:literal
        [$($exch_code:literal $mic:literal),*] [$($form:literal),*];)*) => {
        &[$(Market {
            composite: $composite,
            venues: &[$(Venue($exch_code, $mic)),*],
            country: $country,
            currency: $currency,
            tickers: $tickers,
            legal_forms: &[$($form),*],
            companies: $companies,
        },)*]
    };
}

/// The home markets of small companies. The composite of a market with one venue has the exchange
/// code of that venue and no row.
pub(crate) const HOME: &[Market] = markets! {
    "US" "US" "USD" letters(5, 5), 150 ["UV" "OOTC", "PQ" "OTCM"] ["INC", "CORP", "CO", "LTD", "INC"];
    "CN" "CA" "CAD" letters(3, 4), 70 ["CV" "XTSX", "DV" "", "CF" "XCNQ"] ["INC", "CORP", "LTD"];
    "LN" "GB" "GBp" letters(3, 4), 80 ["LN" "XLON"] ["PLC", "LTD"];
    "JP" "JP" "JPY" Tickers::Digits(4), 80 ["JT" "XTKS", "JI" "CHIJ", "JW" "SBIU"] ["CO LTD", "CORP", "INC"];
    "HK" "KY" "HKD" Tickers::Number, 50 ["HK" "XHKG"] ["HOLDINGS LTD", "LTD", "GROUP LTD"];
    "GR" "DE" "EUR" letters(3, 3), 40 ["GY" "XETR", "GF" "XFRA", "GS" "XSTU", "GM" "XMUN", "GB" "XBER",
        "GD" "XDUS", "GH" "XHAM", "GI" "XHAN", "LA" "", "LU" "LSSI"] ["AG", "SE", "GMBH & CO KGAA"];
    "CH" "CN" "CNY" Tickers::Digits(6), 90 ["CG" "XSHG", "CS" "XSHE"] ["CO.,LTD-A", "GROUP CO.,LTD", "CO LTD-A"];
    "KS" "KR" "KRW" Tickers::Digits(6), 50 ["KQ" "XKOS", "KP" "XKRX"] ["CO LTD", "CORP"];
    "TT" "TW" "TWD" Tickers::Digits(4), 40 ["TT" "XTAI"] ["CORP", "CO LTD", "INC"];
    "IN" "IN" "INR" letters(5, 9), 80 ["IB" "XBOM", "IS" "XNSE"] ["LTD", "LIMITED"];
    "AU" "AU" "AUD" letters(3, 3), 60 ["AT" "XASX", "AH" "CHIA"] ["LTD", "NL"];
    "FP" "FR" "EUR" letters(3, 5), 40 ["FP" "XPAR"] ["SA", "SE"];
    "SS" "SE" "SEK" letters(4, 6), 40 ["SS" "XSTO"] ["AB", "AB-B", "AB (PUBL)"];
    "MK" "MY" "MYR" letters(4, 6), 40 ["MK" "XKLS"] ["BHD"];
    "IM" "IT" "EUR" letters(2, 4), 15 ["IM" "MTAA"] ["SPA"];
    "SW" "CH" "CHF" letters(4, 4), 15 ["SE" "XSWX", "BW" "XBRN"] ["AG-REG", "SA-REG"];
    "NO" "NO" "NOK" letters(3, 5), 15 ["NO" "XOSL"] ["ASA"];
    "PW" "PL" "PLN" letters(3, 3), 15 ["PW" "XWAR"] ["SA"];
    "TB" "TH" "THB" letters(3, 6), 10 ["TB" "XBKK"] ["PCL"];
    "MM" "MX" "MXN" letters(4, 7), 10 ["MF" "XMEX", "MU" "BIVA"] ["SAB DE CV"];
    "PE" "PE" "PEN" letters(4, 7), 10 ["PE" "XLIM"] ["SAA"];
};

/// Draws the home of a small company, with the frequencies [`Market::companies`].
pub(crate) fn draw_home(random: &mut Random) -> &'static Market {
    random.pick_weighted(HOME, |market| market.companies)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_companies_of_the_markets_add_up_to_a_thousand() {
        assert_eq!(HOME.iter().map(|market| market.companies).sum::<u64>(), 1000);
    }

    #[test]
    fn the_only_venue_of_a_market_has_the_code_of_its_composite() {
        for market in HOME.iter().filter(|market| !market.has_composite_row()) {
            assert_eq!(market.composite, market.venues[0].0);
        }
        assert_eq!(GERMANY.composite, "GR");
        assert_eq!(US_LISTED.venues.len(), 20);
    }
}
