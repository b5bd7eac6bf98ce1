//! An instrument with every field of the contract: a row of a dump is read into one, and an
//! index is built from them.

pub mod check_digit;
pub(crate) mod columns;
pub(crate) mod date;
pub(crate) mod encoding;
pub(crate) mod figi;
pub(crate) mod id_type;
pub(crate) mod importance;
pub(crate) mod kind;
pub(crate) mod level;
pub(crate) mod markets;
pub(crate) mod vocabulary;

use std::fmt;

use self::date::Date;
use self::figi::Figi;
use self::id_type::{IdType, IdValue};
use self::importance::Importance;
use self::level::Level;
use self::vocabulary::Property;

/// The market sector whose rows may be unlisted equities (contract 6.9).
pub const EQUITY: &str = "Equity";

/// One instrument: a composite, a listing at one venue, a bond, a contract. A field that is
/// not known is `None`.
#[derive(Clone, Debug, PartialEq)]
pub struct Instrument {
    /// Its own FIGI.
    pub figi: Figi,
    /// The FIGI of the composite that links the venues of one market.
    pub composite_figi: Option<Figi>,
    /// The FIGI of the share class that links the composites of all markets.
    pub share_class_figi: Option<Figi>,
    /// Result field `ticker`, which idType `TICKER` finds.
    pub ticker: Option<String>,
    /// Result field `name`.
    pub name: Option<String>,
    /// Result field `securityDescription`.
    pub security_description: Option<String>,
    /// The values of the enum-like properties, by the discriminant of [`Property`].
    pub properties: [Option<String>; Property::COUNT],
    /// The strike price of an option or a warrant, in its currency.
    pub strike: Option<f64>,
    /// The units of the underlying in one contract.
    pub contract_size: Option<f64>,
    /// The interest in per cent a year.
    pub coupon: Option<f64>,
    /// The last day of an option, a warrant or a future.
    pub expiration: Option<Date>,
    /// The day on which a bond or a pool is paid back.
    pub maturity: Option<Date>,
    /// Whether it is listed on an exchange. Unknown counts as listed.
    pub listed: Option<bool>,
    /// The importance that the operator gives it, by which a search orders (contract 10.8). An
    /// index of more than 65,535 different ones keeps the first bits of each.
    pub importance: Option<Importance>,
    /// The text that replaces attributes which are not available (contract 12.4).
    pub metadata: Option<String>,
    /// Result field `uniqueID` of v2 and v1.
    pub unique_id: Option<String>,
    /// Result field `uniqueIDFutOpt` of v2 and v1.
    pub unique_id_fut_opt: Option<String>,
    /// Third-party identifiers. The FIGIs and the ticker have separate fields and need not be
    /// repeated here: [`Instrument::keys`] adds them.
    pub identifiers: Vec<IdValue<'static>>,
    /// Further texts whose words a search finds.
    pub alias: Vec<String>,
}

impl Instrument {
    /// An instrument of which only the FIGI is known.
    pub fn new(figi: Figi) -> Self {
        Self {
            figi,
            composite_figi: None,
            share_class_figi: None,
            ticker: None,
            name: None,
            security_description: None,
            properties: Default::default(),
            strike: None,
            contract_size: None,
            coupon: None,
            expiration: None,
            maturity: None,
            listed: None,
            importance: None,
            metadata: None,
            unique_id: None,
            unique_id_fut_opt: None,
            identifiers: Vec::new(),
            alias: Vec::new(),
        }
    }

    /// The value of an enum-like property.
    pub fn property(&self, property: Property) -> Option<&str> {
        self.properties[property as usize].as_deref()
    }

    /// Whether it is found only with `includeUnlistedEquities`: an equity that the data call
    /// not listed (contract 6.9).
    pub fn is_unlisted_equity(&self) -> bool {
        self.listed == Some(false) && self.property(Property::MarketSecDes) == Some(EQUITY)
    }

    /// The days that the filters `expiration` and `maturity` compare. A row with only one of
    /// the two answers both filters with it (contract 6.18).
    pub fn filter_dates(&self) -> (Option<Date>, Option<Date>) {
        (self.expiration.or(self.maturity), self.maturity.or(self.expiration))
    }

    /// The texts whose words a search finds (contract 9.1).
    pub fn words(&self) -> impl Iterator<Item = &str> {
        let texts = [&self.ticker, &self.name, &self.security_description];
        texts.into_iter().flatten().chain(&self.alias).map(String::as_str)
    }

    /// The idTypes and idValues by which a mapping job finds it, except its own FIGI: the index
    /// is sorted by FIGI, so that no directory is needed. A pair may come twice.
    pub fn keys(&self) -> impl Iterator<Item = IdValue<'_>> {
        let composite = self.composite_figi.map(IdValue::composite);
        let share_class = self.share_class_figi.map(IdValue::share_class);
        // No job can ask for a ticker that is too long to be admitted.
        let ticker = self.ticker.as_deref().and_then(|text| IdType::Ticker.admit(text).ok());
        let given = self.identifiers.iter().filter(|value| value.id_type() != IdType::BbGlobal);
        let own = composite.into_iter().chain(share_class).chain(ticker);
        own.chain(given.map(IdValue::borrowed))
    }

    /// Its level in its family.
    pub fn level(&self) -> Level {
        Level::of(self.figi, self.composite_figi, self.share_class_figi)
    }

    /// The third-party identifiers of one idType.
    pub fn identifiers_of(&self, id_type: IdType) -> impl Iterator<Item = &IdValue<'static>> {
        self.identifiers.iter().filter(move |value| value.id_type() == id_type)
    }

    /// Merges a later row of the same instrument: `later` fills unknown fields and wins where
    /// the two differ. All identifiers of an idType are replaced together, and so are all
    /// aliases. `changed` is called for every field whose value changes.
    pub fn update(&mut self, later: Self, mut changed: impl FnMut(Change<'_>)) {
        debug_assert_eq!(self.figi, later.figi);
        let changed = &mut changed;
        win("compositeFIGI", &mut self.composite_figi, later.composite_figi, changed);
        win("shareClassFIGI", &mut self.share_class_figi, later.share_class_figi, changed);
        win("ticker", &mut self.ticker, later.ticker, changed);
        win("name", &mut self.name, later.name, changed);
        let description = later.security_description;
        win("securityDescription", &mut self.security_description, description, changed);
        let properties = self.properties.iter_mut().zip(later.properties);
        for (property, (mine, later)) in Property::ALL.into_iter().zip(properties) {
            win(property.field_name(), mine, later, changed);
        }
        win("strike", &mut self.strike, later.strike, changed);
        win("contractSize", &mut self.contract_size, later.contract_size, changed);
        win("coupon", &mut self.coupon, later.coupon, changed);
        win("expiration", &mut self.expiration, later.expiration, changed);
        win("maturity", &mut self.maturity, later.maturity, changed);
        win("listed", &mut self.listed, later.listed, changed);
        win("importance", &mut self.importance, later.importance, changed);
        win("metadata", &mut self.metadata, later.metadata, changed);
        win("uniqueID", &mut self.unique_id, later.unique_id, changed);
        win("uniqueIDFutOpt", &mut self.unique_id_fut_opt, later.unique_id_fut_opt, changed);
        self.update_identifiers(later.identifiers, changed);
        if !later.alias.is_empty() && later.alias != self.alias {
            let old = (!self.alias.is_empty()).then(|| self.alias.join(";"));
            let new = later.alias.join(";");
            changed(Change { field: "alias", old: old.as_ref().map(display), new: &new });
            self.alias = later.alias;
        }
    }

    fn update_identifiers(
        &mut self,
        later: Vec<IdValue<'static>>,
        changed: &mut impl FnMut(Change<'_>),
    ) {
        fn of<'a>(id_type: IdType, identifiers: &'a [IdValue<'static>]) -> Vec<&'a str> {
            let same = identifiers.iter().filter(|value| value.id_type() == id_type);
            let mut values: Vec<&str> = same.map(IdValue::as_str).collect();
            values.sort_unstable();
            values
        }
        let has =
            |values: &[IdValue<'_>], id_type| values.iter().any(|value| value.id_type() == id_type);
        for (place, id_type) in later.iter().map(IdValue::id_type).enumerate() {
            if has(&later[..place], id_type) {
                continue;
            }
            let (old, new) = (of(id_type, &self.identifiers), of(id_type, &later));
            if old != new {
                let old = (!old.is_empty()).then(|| old.join(";"));
                let new = new.join(";");
                changed(Change {
                    field: id_type.name(),
                    old: old.as_ref().map(display),
                    new: &new,
                });
            }
        }
        self.identifiers.retain(|value| !has(&later, value.id_type()));
        self.identifiers.extend(later);
    }
}

/// A field of an instrument whose value a later row changed.
pub struct Change<'a> {
    /// The name of the field in a result row, or of the idType.
    pub field: &'static str,
    /// The old value, if it was known; several values are joined by `;`.
    pub old: Option<&'a dyn fmt::Display>,
    /// The new value.
    pub new: &'a dyn fmt::Display,
}

/// Replaces `mine` with `later` where `later` is known, and reports a change.
fn win<T: PartialEq + fmt::Display>(
    field: &'static str,
    mine: &mut Option<T>,
    later: Option<T>,
    changed: &mut impl FnMut(Change<'_>),
) {
    if let Some(new) = later
        && mine.as_ref() != Some(&new)
    {
        changed(Change { field, old: mine.as_ref().map(display), new: &new });
        *mine = Some(new);
    }
}

fn display<T: fmt::Display>(value: &T) -> &dyn fmt::Display {
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    fn instrument() -> Instrument {
        Instrument::new(Figi::parse("BBG000BLNNH6").unwrap())
    }

    /// A later row fills unknown fields and wins where the two differ.
    #[test]
    fn a_later_row_fills_and_wins() {
        let isin = |text| IdType::Isin.admit(text).unwrap();
        let cusip = IdType::Cusip.admit("459200101").unwrap();
        let mut first = Instrument {
            ticker: Some("IBM".into()),
            name: Some("old".into()),
            identifiers: vec![cusip.clone(), isin("JP3633400001")],
            ..instrument()
        };
        let later = Instrument {
            ticker: Some("IBM".into()),
            name: Some("INTL BUSINESS MACHINES CORP".into()),
            listed: Some(true),
            identifiers: vec![isin("US4592001014")],
            ..instrument()
        };
        let mut changes = Vec::new();
        first.update(later, |Change { field, old, new }| {
            changes.push((field, old.map(ToString::to_string), new.to_string()));
        });
        let expected = Instrument {
            ticker: Some("IBM".into()),
            name: Some("INTL BUSINESS MACHINES CORP".into()),
            listed: Some(true),
            identifiers: vec![cusip, isin("US4592001014")],
            ..instrument()
        };
        assert_eq!(first, expected);
        let change = |field, old: Option<&str>, new: &str| (field, old.map(Into::into), new.into());
        assert_eq!(
            changes,
            [
                change("name", Some("old"), "INTL BUSINESS MACHINES CORP"),
                change("listed", None, "true"),
                change("ID_ISIN", Some("JP3633400001"), "US4592001014"),
            ]
        );
    }

    /// contract 6.9: only `listed = false` makes a row of sector Equity unlisted.
    #[test]
    fn only_equities_that_are_not_listed_are_unlisted_equities() {
        for (listed, sector, unlisted) in [
            (Some(false), Some("Equity"), true),
            (Some(true), Some("Equity"), false),
            (None, Some("Equity"), false),
            (Some(false), Some("Corp"), false),
            (Some(false), None, false),
        ] {
            let mut instrument = Instrument { listed, ..instrument() };
            instrument.properties[Property::MarketSecDes as usize] = sector.map(Into::into);
            assert_eq!(instrument.is_unlisted_equity(), unlisted, "{listed:?} {sector:?}");
        }
    }

    /// contract 6.18: a row with only one of expiration and maturity answers both.
    #[test]
    fn one_date_serves_both_filters() {
        let [a, b] = ["2025-01-17", "2026-01-17"].map(|text| Some(Date::parse(text).unwrap()));
        let dates = |expiration, maturity| {
            Instrument { expiration, maturity, ..instrument() }.filter_dates()
        };
        assert_eq!(dates(a, None), (a, a));
        assert_eq!(dates(None, b), (b, b));
        assert_eq!(dates(a, b), (a, b));
        assert_eq!(dates(None, None), (None, None));
    }
}
