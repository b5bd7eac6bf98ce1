//! Exchanges and their countries: to rank a listing on its home market first, to choose the best
//! listing of a security, and to know the names of exchanges and countries in a question.
//!
//! Dumps give exchange codes but no countries, so a table is part of the program (`exchanges.txt`).
//! A code that it lacks has no country. Its sections say what they hold.

use std::collections::{BTreeMap, HashMap};
use std::sync::LazyLock;

use iso_currency::Currency;

use crate::words::words;

const TABLE: &str = include_str!("exchanges.txt");

static MARKETS: LazyLock<Markets> = LazyLock::new(|| Markets::read(TABLE));

/// The table of exchanges.
#[derive(Default)]
struct Markets {
    exchanges: HashMap<&'static str, Exchange<'static>>,
    /// The codes of platforms that only report trades.
    platforms: Vec<&'static str>,
    domiciles: HashMap<&'static str, Domicile>,
    /// The code of the whole market of each country.
    whole: HashMap<&'static str, &'static str>,
    /// The codes of each name of an exchange, a city or a country, as [`words`] fold it.
    named: HashMap<String, Vec<&'static str>>,
    /// The most words of a name.
    name_words_max: usize,
}

/// An exchange of the table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Exchange<'a> {
    /// The ISO 3166 code of its country.
    pub(crate) country: &'a str,
    /// Its place among the exchanges of the country, from 0, the code of the whole market.
    pub(crate) rank: u8,
    /// Whether the ranks of searches take notice of the country.
    is_ranked: bool,
}

/// A country where companies are registered that are listed elsewhere.
struct Domicile {
    /// The codes of the markets where they are usually listed, the usual one first.
    markets: Vec<&'static str>,
    /// Whether the ranks of searches take notice of it.
    is_ranked: bool,
}

impl Markets {
    /// Reads the table, which is a part of the program. A test holds that each line is understood.
    fn read(table: &'static str) -> Self {
        let mut markets = Self::default();
        let mut by_country: HashMap<&str, Vec<&'static str>> = HashMap::new();
        let mut section = "";
        for line in table.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
            if line.starts_with('[') {
                section = line;
                continue;
            }
            let (key, values) = line.split_once('=').unwrap_or((line, ""));
            let values = || values.split('|');
            match section {
                "[markets]" | "[other markets]" => {
                    let (country, rest) = line.split_once(',').expect("a line names a country");
                    let (code, name) = rest.split_once(',').expect("a line names an exchange");
                    let codes = by_country.entry(country).or_default();
                    let rank = codes.len().min(usize::from(u8::MAX)) as u8;
                    let is_ranked = section == "[markets]";
                    markets.exchanges.insert(code, Exchange { country, rank, is_ranked });
                    codes.push(code);
                    markets.whole.entry(country).or_insert(code);
                    markets.name(name, &[code]);
                }
                "[platforms]" => markets.platforms.extend(line.split(' ')),
                "[domiciles]" | "[domiciles of groups]" => {
                    let is_ranked = section == "[domiciles]";
                    let domicile = Domicile { markets: values().collect(), is_ranked };
                    markets.domiciles.insert(key, domicile);
                }
                "[countries]" => {
                    let codes = by_country.get(key).expect("a named country has an exchange");
                    values().for_each(|name| markets.name(name, codes));
                }
                _ => markets.name(key, &values().collect::<Vec<_>>()),
            }
        }
        markets
    }

    /// Adds codes to a name.
    fn name(&mut self, name: &str, codes: &[&'static str]) {
        let words: Vec<String> = words(name).map(|word| word.squeezed()).collect();
        self.name_words_max = self.name_words_max.max(words.len());
        let all = self.named.entry(words.join(" ")).or_default();
        for code in codes {
            if !all.contains(code) {
                all.push(code);
            }
        }
    }
}

/// The exchange codes that a name means: the name of an exchange, of its city or of a country, with
/// the code of the whole market before its venues where both are meant. `name` is folded: the
/// squeezed words of a text, with a blank between them. Empty for any other text.
///
/// The codes are those of the table; an index may have only some of them, or none.
pub(crate) fn codes_named(name: &str) -> &'static [&'static str] {
    MARKETS.named.get(name).map_or(&[], |codes| codes)
}

/// The most words of a name that [`codes_named`] knows.
pub(crate) fn name_words_max() -> usize {
    MARKETS.name_words_max
}

/// The ISO 3166 code of the country of an exchange code, as the bundled table has it.
pub fn country_of_exchange(exch_code: &str) -> Option<&'static str> {
    exchange(exch_code).map(|exchange| exchange.country)
}

/// The code of the whole market of the country of an exchange code.
pub(crate) fn whole_market(code: &str) -> Option<&'static str> {
    MARKETS.whole.get(exchange(code)?.country).copied()
}

/// The exchange of a code.
pub(crate) fn exchange(code: &str) -> Option<Exchange<'static>> {
    MARKETS.exchanges.get(code).copied()
}

/// The exchange code that is spelled so, as long as the program runs.
pub(crate) fn known_code(code: &str) -> Option<&'static str> {
    MARKETS.exchanges.get_key_value(code).map(|(code, _)| *code)
}

/// The countries of exchange codes: those of the table, unless the operator's table has others.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Countries(BTreeMap<String, String>);

impl Countries {
    /// The countries of the operator's table, by exchange code.
    pub(crate) fn new(given: BTreeMap<String, String>) -> Self {
        Self(given)
    }

    /// The exchange of a code. A code that only the operator's table has stands for a whole market.
    pub(crate) fn exchange<'a>(&'a self, code: &str) -> Option<Exchange<'a>> {
        let known = exchange(code);
        let Some(country) = self.0.get(code) else { return known };
        let of_table = known.unwrap_or(Exchange { country, rank: 0, is_ranked: false });
        Some(Exchange { country, ..of_table })
    }
}

/// The code of the country that an ISIN names as the home market; `None` for the countries where
/// many foreign companies are registered, and for international ISINs.
pub(crate) fn home(isin: &str) -> Option<&str> {
    let country = isin.get(..2)?;
    (country != "XS" && !MARKETS.domiciles.contains_key(country)).then_some(country)
}

/// The place of a market among those where companies of the ISIN's country are usually listed, if
/// it is a country where many foreign companies are registered.
pub(crate) fn usual_place(isin: &str, exch_code: &str) -> Option<usize> {
    let domicile = MARKETS.domiciles.get(isin.get(..2)?)?;
    domicile.markets.iter().position(|market| *market == exch_code)
}

/// The market of a listing, compared with the security's home market.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Market {
    /// The listing is in the country of the ISIN.
    Home,
    /// The country of the listing, or the home country, is unknown.
    Unknown,
    /// The listing is in another country, by its exchange code or by its currency.
    Foreign,
    /// The exchange code is one of a platform that only reports trades.
    Reporting,
}

/// The market of a row, derived from its exchange code, currency and ISIN as far as they are known.
pub(crate) fn market(
    exch_code: Option<&str>,
    currency: Option<&str>,
    isin: Option<&str>,
) -> Market {
    if exch_code.is_some_and(is_platform) {
        return Market::Reporting;
    }
    let home = isin.and_then(|isin| isin.get(..2)).filter(|country| {
        let is_elsewhere = |domicile: &Domicile| domicile.is_ranked;
        *country != "XS" && !MARKETS.domiciles.get(country).is_some_and(is_elsewhere)
    });
    let Some(home) = home else { return Market::Unknown };
    match exch_code.and_then(exchange).filter(|exchange| exchange.is_ranked) {
        Some(Exchange { country, .. }) if country == home => Market::Home,
        Some(_) => Market::Foreign,
        None if currency.is_some_and(|currency| is_foreign(currency, home)) => Market::Foreign,
        None => Market::Unknown,
    }
}

/// Whether the code is one of off-exchange reporting, or of a platform without listings.
pub fn is_platform(exch_code: &str) -> bool {
    exch_code.len() == 2 && MARKETS.platforms.contains(&exch_code)
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

    /// Each line of the table has the form of its section, and each code is in it once.
    #[test]
    fn each_line_is_understood() {
        let (mut section, mut exchanges) = ("", 0);
        for line in TABLE.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
            if line.starts_with('[') {
                section = line;
                continue;
            }
            let is_country = |text: &str| text.len() == 2 && text == text.to_uppercase();
            let known = |codes: &str| codes.split('|').all(|code| exchange(code).is_some());
            let values = line.split_once('=');
            let is_right = match section {
                "[markets]" | "[other markets]" => {
                    exchanges += 1;
                    let cells: Vec<_> = line.splitn(3, ',').collect();
                    is_country(cells[0]) && !is_platform(cells[1]) && !cells[2].is_empty()
                }
                "[platforms]" => line.split(' ').all(|code| code.len() == 2),
                "[domiciles]" | "[domiciles of groups]" => {
                    values.is_some_and(|(country, codes)| is_country(country) && known(codes))
                }
                "[countries]" => values.is_some_and(|(country, names)| {
                    is_country(country)
                        && !names.split('|').any(|name| codes_named(name).is_empty())
                }),
                "[places]" => values.is_some_and(|(name, codes)| {
                    known(codes) && codes.split('|').all(|code| codes_named(name).contains(&code))
                }),
                _ => false,
            };
            assert!(is_right, "{section} {line}");
        }
        assert_eq!(exchanges, MARKETS.exchanges.len(), "a code is in the table twice");
    }

    #[test]
    fn names_of_places() {
        for (name, first) in [
            ("xetra", "GY"),
            ("frankfurt", "GF"),
            ("amsterdam", "NA"),
            ("euronext paris", "FP"),
            ("nasdaq", "UW"),
            ("nyse", "UN"),
            ("nyse american", "UA"),
            ("tokyo", "JT"),
            ("london", "LN"),
            ("six", "SE"),
            ("hong kong", "HK"),
            ("uk", "LN"),
            ("usa", "US"),
            ("united states", "US"),
            ("germany", "GR"),
            ("deutschland", "GR"),
            ("tsx venture exchange", "CV"),
        ] {
            assert_eq!(codes_named(name).first(), Some(&first), "{name}");
            assert!(name.split(' ').count() <= name_words_max());
        }
        assert!(codes_named("germany").contains(&"GY"));
        for name in ["", "apple", "germany ", "Germany", "us"] {
            assert!(codes_named(name).is_empty(), "{name}");
        }
    }

    #[test]
    fn the_home_that_an_isin_names() {
        assert_eq!(home("DE0005140008"), Some("DE"));
        for isin in ["KYG875721634", "NL0010273215", "XS0000000000", "", "D", "€"] {
            assert_eq!(home(isin), None, "{isin}");
        }
        assert_eq!(usual_place("KYG875721634", "HK"), Some(0));
        assert_eq!(usual_place("KYG875721634", "US"), Some(1));
        assert_eq!(usual_place("KYG875721634", "GR"), None);
        assert_eq!(usual_place("DE0005140008", "GR"), None);
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
