//! Derives missing identifiers from the other identifiers and the fields of an instrument (contract
//! 5.15). CUSIP and SEDOL are not extracted from an ISIN: they are licensed numbers.

use figdex_index::{EQUITY, IdType, Instrument, Property};

/// Adds the derived identifiers to a merged instrument. Also fills each [`Field`] from its
/// identifier.
pub(crate) fn derive(instrument: &mut Instrument) {
    let given = |instrument: &Instrument, id_type: IdType| -> Vec<String> {
        instrument.identifiers_of(id_type).map(|value| value.as_str().to_owned()).collect()
    };
    let add = |instrument: &mut Instrument, id_type: IdType, text: &str| {
        if let Ok(value) = id_type.admit(text) {
            instrument.identifiers.push(value.into_owned());
        }
    };

    let cusips = given(instrument, IdType::Cusip);
    if given(instrument, IdType::Cusip8).is_empty() {
        for cusip in &cusips {
            add(instrument, IdType::Cusip8, &cusip[..8]);
        }
    }
    if given(instrument, IdType::Cins).is_empty() {
        for cusip in &cusips {
            // A CUSIP without a leading letter is not a CINS, and is not admitted.
            add(instrument, IdType::Cins, cusip);
        }
    }

    for (id_type, field) in
        [(IdType::BbUnique, Field::UniqueId), (IdType::UniqueFutOpt, Field::UniqueIdFutOpt)]
    {
        match (given(instrument, id_type).into_iter().next(), field.of(instrument).clone()) {
            (None, Some(text)) => add(instrument, id_type, &text),
            (Some(text), None) => *field.of(instrument) = Some(text),
            _ => {}
        }
    }

    if given(instrument, IdType::BaseTicker).is_empty()
        && let Some(base) = base_ticker(instrument)
    {
        add(instrument, IdType::BaseTicker, &base);
    }
}

/// A result field that is also an identifier.
#[derive(Clone, Copy)]
enum Field {
    UniqueId,
    UniqueIdFutOpt,
}

impl Field {
    fn of(self, instrument: &mut Instrument) -> &mut Option<String> {
        match self {
            Self::UniqueId => &mut instrument.unique_id,
            Self::UniqueIdFutOpt => &mut instrument.unique_id_fut_opt,
        }
    }
}

/// The `BASE_TICKER` (contract 5.19): for equities and pools the whole ticker, for bonds the first
/// word of the ticker, for futures the ticker without month and year, for listed options
/// `ROOT M [CP]STRIKE`. Spreads of futures and other instruments have none.
fn base_ticker(instrument: &Instrument) -> Option<String> {
    let ticker = instrument.ticker.as_deref()?;
    let sector = instrument.property(Property::MarketSecDes);
    match (sector, instrument.property(Property::SecurityType2)) {
        (_, Some("Option")) => option_base(ticker),
        (_, Some("Future")) => future_base(ticker),
        (_, Some("Pool")) | (Some(EQUITY), _) => Some(ticker.to_owned()),
        (Some("Corp" | "Govt" | "Muni"), _) => ticker.split_whitespace().next().map(String::from),
        _ => None,
    }
}

/// `IBM 03/20/26 P130` → `IBM 3 P130`.
fn option_base(ticker: &str) -> Option<String> {
    let (rest, strike) = ticker.rsplit_once(' ')?;
    let (root, date) = rest.rsplit_once(' ')?;
    let [month, day, year] = date.split('/').collect::<Vec<_>>().try_into().ok()?;
    let two_digits = |part: &str| part.len() == 2 && part.bytes().all(|byte| byte.is_ascii_digit());
    let month_number: u8 = month.parse().ok().filter(|month| (1..=12).contains(month))?;
    let is_strike = strike.strip_prefix(['C', 'P'])?.parse::<f64>().is_ok();
    ([month, day, year].into_iter().all(two_digits) && is_strike)
        .then(|| format!("{root} {month_number} {strike}"))
}

/// `SJIM19` → `SJI`, `998A=M6` → `998A=`. A ticker without month and year is its own base. If the
/// base would have several words, as for a spread, there is none.
fn future_base(ticker: &str) -> Option<String> {
    const MONTHS: [char; 12] = ['F', 'G', 'H', 'J', 'K', 'M', 'N', 'Q', 'U', 'V', 'X', 'Z'];
    let rest = ticker.trim_end_matches(|c: char| c.is_ascii_digit());
    let year_digits = ticker.len() - rest.len();
    let root = rest.strip_suffix('=').unwrap_or(rest).strip_suffix(MONTHS).map(str::trim_end);
    let base = match root {
        Some(root) if (1..=2).contains(&year_digits) && !root.is_empty() => root,
        _ => ticker,
    };
    // A base of several words belongs to a spread.
    (!base.contains(' ')).then(|| base.to_owned())
}

#[cfg(test)]
mod tests {
    use figdex_index::Figi;

    use super::*;

    fn instrument(sector: &str, security_type2: &str, ticker: &str) -> Instrument {
        let mut instrument = Instrument {
            ticker: Some(ticker.into()),
            ..Instrument::new(Figi::parse("BBG000BLNNH6").unwrap())
        };
        instrument.properties[Property::MarketSecDes as usize] = Some(sector.into());
        instrument.properties[Property::SecurityType2 as usize] = Some(security_type2.into());
        instrument
    }

    /// contract 5.19: the base ticker of each kind.
    #[test]
    fn base_tickers() {
        for (sector, security_type2, ticker, base) in [
            ("Equity", "Common Stock", "BRK/B", Some("BRK/B")),
            ("Equity", "Warrant", "JL3CTA", Some("JL3CTA")),
            ("Equity", "Option", "IBM 03/20/26 P130", Some("IBM 3 P130")),
            ("Equity", "Option", "A 07/18/09 P12.5", Some("A 7 P12.5")),
            ("Index", "Option", "SPX US 12/18/26 C5000", Some("SPX US 12 C5000")),
            ("Equity", "Option", "IBM", None),
            ("Equity", "Option", "IBM 13/20/26 P130", None),
            ("Index", "Future", "SJIM19", Some("SJI")),
            ("Index", "Future", "SJIM4", Some("SJI")),
            ("Equity", "Future", "998A=M6", Some("998A=")),
            ("Equity", "Future", "AAPF=8", Some("AAP")),
            ("Comdty", "Future", "CTA15", Some("CTA15")),
            ("Equity", "Future", "998A=SP F16G16", None),
            ("Comdty", "Future", "C H6", Some("C")),
            ("Comdty", "Future", "W  Z26", Some("W")),
            ("Corp", "Corp", "IBM 3.5 05/15/29", Some("IBM")),
            ("Govt", "Note", "T 2 08/15/25", Some("T")),
            ("Muni", "Muni", "CT UNVHGR 5 02/15/2029", Some("CT")),
            ("Mtge", "Pool", "SBA 502345", Some("SBA 502345")),
            ("Mtge", "CMO", "GNR 2003-92 CJ", None),
            ("Index", "Index", "CCMP", None),
        ] {
            let found = base_ticker(&instrument(sector, security_type2, ticker));
            assert_eq!(found.as_deref(), base, "{ticker}");
        }
    }

    #[test]
    fn missing_identifiers_are_derived() {
        let given = |kind: IdType, text| kind.admit(text).unwrap();
        let mut foreign = instrument("Corp", "Corp", "AGN 3 01/01/30");
        foreign.identifiers.push(given(IdType::Cusip, "G0177J108"));
        foreign.unique_id = Some("EQ0010080100001000".into());
        foreign.identifiers.push(given(IdType::UniqueFutOpt, "COAAPL"));
        derive(&mut foreign);
        assert_eq!(
            foreign.identifiers,
            [
                given(IdType::Cusip, "G0177J108"),
                given(IdType::UniqueFutOpt, "COAAPL"),
                given(IdType::Cusip8, "G0177J10"),
                given(IdType::Cins, "G0177J108"),
                given(IdType::BbUnique, "EQ0010080100001000"),
                given(IdType::BaseTicker, "AGN"),
            ]
        );
        assert_eq!(foreign.unique_id_fut_opt.as_deref(), Some("COAAPL"));
    }

    #[test]
    fn identifiers_that_are_given_are_not_derived() {
        let given = |kind: IdType, text| kind.admit(text).unwrap();
        let mut local = instrument("Equity", "Common Stock", "IBM");
        local.identifiers = vec![
            given(IdType::Cusip, "459200101"),
            given(IdType::Cusip8, "12345678"),
            given(IdType::BaseTicker, "OTHER"),
        ];
        let before = local.clone();
        derive(&mut local);
        assert_eq!(local, before, "and a CUSIP that starts with a digit is not a CINS");
    }
}
