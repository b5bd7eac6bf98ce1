//! An instrument with every field of the contract: what a dump is made into, and
//! what an index is made of.

pub mod check_digit;
pub(crate) mod date;
pub(crate) mod encoding;
pub(crate) mod figi;
pub(crate) mod id_type;
pub(crate) mod kind;
pub(crate) mod markets;
pub(crate) mod vocabulary;

use std::fmt;

use self::date::Date;
use self::figi::Figi;
use self::id_type::{IdType, IdValue};
use self::vocabulary::Property;

/// The market sector whose rows may be unlisted (contract, `includeUnlistedEquities`).
pub const EQUITY: &str = "Equity";

/// One instrument: a composite, a listing at one venue, a bond, a contract.
/// What is not known is `None`.
#[derive(Clone, Debug, PartialEq)]
pub struct Instrument {
    /// Its own FIGI.
    pub figi: Figi,
    /// The composite that links the venues of one market.
    pub composite_figi: Option<Figi>,
    /// The share class that links the composites of all markets.
    pub share_class_figi: Option<Figi>,
    /// Result field `ticker`, and what idType `TICKER` asks for.
    pub ticker: Option<String>,
    /// Result field `name`.
    pub name: Option<String>,
    /// Result field `securityDescription`.
    pub security_description: Option<String>,
    /// The enum-like properties, each at its [`Property`]'s place.
    pub properties: [Option<String>; Property::COUNT],
    /// Of an option or a warrant, in its currency.
    pub strike: Option<f64>,
    /// Units of the underlying in one contract.
    pub contract_size: Option<f64>,
    /// Per cent a year.
    pub coupon: Option<f64>,
    /// The last day of an option, a warrant or a future.
    pub expiration: Option<Date>,
    /// The day a bond or a pool is paid back.
    pub maturity: Option<Date>,
    /// Whether it is listed on an exchange; unknown counts as listed.
    pub listed: Option<bool>,
    /// The fixed text of rows whose attributes cannot be shown.
    pub metadata: Option<String>,
    /// Result field `uniqueID` of v2 and v1.
    pub unique_id: Option<String>,
    /// Result field `uniqueIDFutOpt` of v2 and v1.
    pub unique_id_fut_opt: Option<String>,
    /// Third-party identifiers. The kinds that are fields of their own (the three
    /// FIGIs, `TICKER`) need not be here: [`Instrument::keys`] adds them.
    pub identifiers: Vec<IdValue<'static>>,
    /// Further words by which search finds the row.
    pub alias: Vec<String>,
}

impl Instrument {
    /// An instrument of which nothing but the FIGI is known.
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

    /// Whether only `includeUnlistedEquities` shows it: an equity that is said
    /// not to be listed (decisions, "Unlisted equities").
    pub fn is_unlisted_equity(&self) -> bool {
        self.listed == Some(false) && self.property(Property::MarketSecDes) == Some(EQUITY)
    }

    /// The day that the filters `expiration` and `maturity` compare: a row with
    /// only one of the two answers both with it (decisions, last case of the table).
    pub fn filter_dates(&self) -> (Option<Date>, Option<Date>) {
        (self.expiration.or(self.maturity), self.maturity.or(self.expiration))
    }

    /// The texts by whose words a search finds it (decisions, "Words of a row").
    pub fn words(&self) -> impl Iterator<Item = &str> {
        let texts = [&self.ticker, &self.name, &self.security_description];
        texts.into_iter().flatten().chain(&self.alias).map(String::as_str)
    }

    /// All that a mapping job finds it by, except its own FIGI: that one is the
    /// order of the index and needs no directory. May name a pair twice.
    pub fn keys(&self) -> impl Iterator<Item = IdValue<'_>> {
        let composite = self.composite_figi.map(IdValue::composite);
        let share_class = self.share_class_figi.map(IdValue::share_class);
        // A ticker longer than any job may ask for needs no key.
        let ticker = self.ticker.as_deref().and_then(|text| IdType::Ticker.admit(text).ok());
        let given = self.identifiers.iter().filter(|value| value.id_type() != IdType::BbGlobal);
        let own = composite.into_iter().chain(share_class).chain(ticker);
        own.chain(given.map(IdValue::borrowed))
    }

    /// The third-party identifiers of one kind.
    pub fn identifiers_of(&self, id_type: IdType) -> impl Iterator<Item = &IdValue<'static>> {
        self.identifiers.iter().filter(move |value| value.id_type() == id_type)
    }

    /// Takes in what `later` says of the same instrument: it fills what is
    /// unknown here and wins where the two differ; of identifiers and aliases,
    /// kind by kind. Every field that becomes another is told to `changed`.
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
        fn of<'a>(kind: IdType, identifiers: &'a [IdValue<'static>]) -> Vec<&'a str> {
            let same = identifiers.iter().filter(|value| value.id_type() == kind);
            let mut values: Vec<&str> = same.map(IdValue::as_str).collect();
            values.sort_unstable();
            values
        }
        let has = |values: &[IdValue<'_>], kind| values.iter().any(|value| value.id_type() == kind);
        for (place, kind) in later.iter().map(IdValue::id_type).enumerate() {
            if has(&later[..place], kind) {
                continue;
            }
            let (old, new) = (of(kind, &self.identifiers), of(kind, &later));
            if old != new {
                let old = (!old.is_empty()).then(|| old.join(";"));
                let new = new.join(";");
                changed(Change { field: kind.name(), old: old.as_ref().map(display), new: &new });
            }
        }
        self.identifiers.retain(|value| !has(&later, value.id_type()));
        self.identifiers.extend(later);
    }
}

/// A field of an instrument that a later row made another.
pub struct Change<'a> {
    /// The name of the field in a result row, or of the idType.
    pub field: &'static str,
    /// What it was, if it was known; several values are joined by `;`.
    pub old: Option<&'a dyn fmt::Display>,
    /// What it is now.
    pub new: &'a dyn fmt::Display,
}

/// `later` wins where it is known.
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

    /// Commands, "The canonical dump": later inputs fill and win.
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

    /// Decisions: only `listed = false` makes a row of sector Equity unlisted.
    #[test]
    fn only_equities_said_to_be_unlisted_are() {
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

    /// Decisions: a row with only one of expiration and maturity answers both.
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
