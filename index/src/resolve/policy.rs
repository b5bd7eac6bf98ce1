//! The policy of a list: the steps that choose one of several rows.

use std::collections::BTreeSet;

use crate::instrument::figi::Figi;
use crate::instrument::markets::{Countries, home};
use crate::instrument::vocabulary::{Known, Property, Vocabulary};
use crate::meter::{Meter, TakesMore};
use crate::search::Hit;

/// The most steps of a policy. The steps together have at most [`STEP_VALUES_MAX`] values: each row
/// of an identifier is compared with each value.
pub const STEPS_MAX: usize = 16;
/// See [`STEPS_MAX`].
pub const STEP_VALUES_MAX: usize = 100;
/// The most bytes of all steps together. The answer for each resolved identifier repeats the text
/// of its step.
pub const STEPS_BYTES_MAX: usize = 4096;

/// Units of work of comparing a row with one value.
const COMPARE_UNITS: u64 = 3;
/// Units of work of finding out whether the security of a row has a home.
const SECURITY_UNITS: u64 = 20;
/// Units of work of reading the exchange code of a row, twice, and its country.
const EXCHANGE_UNITS: u64 = 20;

/// A row that an identifier found, as the policy needs it.
pub(crate) trait Candidate: Copy {
    /// The hit of the row.
    fn hit(self) -> Hit;
    /// Whether the FIGI of the row is its composite FIGI.
    fn is_composite(self) -> bool;
    /// Whether the row has this value.
    fn has(self, known: Known) -> bool;
    /// Whether the row is the composite in the country of its ISIN (contract 16.15, rule 1).
    fn is_home(self) -> bool;
    /// The exchange code of the row.
    fn exch_code(self) -> Option<String>;
    /// The FIGIs of the row, of its composite and of its share class.
    fn figis(self) -> [Option<Figi>; 3];
    /// The name of the row.
    fn name(self) -> Option<String>;
    /// The place of the row in the order of a search (contract 10.2): rank, then FIGI.
    fn place(self) -> (u64, Figi);

    /// The FIGI of the row's share class; without a share class, that of its composite; without
    /// either, that of the row.
    fn security(self) -> Option<Figi> {
        self.figis().into_iter().flatten().next_back()
    }
}

/// The steps, in the caller's order. Without steps, an identifier with several rows stays
/// ambiguous.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Policy {
    steps: Vec<Step>,
}

/// One step, with the text that the caller wrote.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Step {
    text: String,
    keep: Keep,
}

/// The rows that a step keeps.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Keep {
    /// The rows whose FIGI is their composite FIGI.
    Composites,
    /// The composite in the country of the ISIN that was asked for or, if none was, of the row's
    /// ISIN. It has the countries of exchange codes.
    Home(Countries),
    /// The rows with the first of these values that any of the rows has. Values that the index does
    /// not know are left out, since no row has them.
    FirstOf(Vec<Known>),
}

/// The reason why a step is invalid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PolicyError {
    /// The step is neither `home` nor `composite` nor `PROPERTY=VALUE|VALUE`.
    #[error(
        "prefer: {0:?} is not a step; a step is home, composite, or PROPERTY=VALUE|VALUE with one \
         of the properties {properties}", properties = property_names()
    )]
    Unknown(String),
    /// A value is empty, as in `exchCode=US||LN`.
    #[error("prefer: the step {0:?} has an empty value; write PROPERTY=VALUE|VALUE")]
    EmptyValue(String),
    /// There are more than [`STEPS_MAX`] steps, [`STEP_VALUES_MAX`] values or [`STEPS_BYTES_MAX`]
    /// bytes.
    #[error(
        "prefer: at most {STEPS_MAX} steps with at most {STEP_VALUES_MAX} values and \
         {STEPS_BYTES_MAX} bytes are allowed"
    )]
    TooMany,
}

fn property_names() -> String {
    Property::ALL.map(Property::name).join(", ")
}

impl Policy {
    /// Parses the steps.
    ///
    /// # Errors
    /// [`PolicyError`] for the first invalid step.
    pub fn parse<T: AsRef<str>>(
        steps: impl IntoIterator<Item = T>,
        vocabulary: &Vocabulary,
    ) -> Result<Self, PolicyError> {
        let mut policy = Self::default();
        let (mut values_count, mut bytes) = (0, 0);
        for text in steps {
            let text = text.as_ref().trim();
            bytes += text.len();
            if bytes > STEPS_BYTES_MAX {
                return Err(PolicyError::TooMany);
            }
            let keep = match text.split_once('=') {
                None if text == "composite" => Keep::Composites,
                None if text == "home" => Keep::Home(vocabulary.countries().clone()),
                None => return Err(PolicyError::Unknown(text.to_owned())),
                Some((name, values)) => {
                    let property = Property::from_name(name.trim())
                        .ok_or_else(|| PolicyError::Unknown(text.to_owned()))?;
                    let values: Vec<&str> = values.split('|').map(str::trim).collect();
                    if values.contains(&"") {
                        return Err(PolicyError::EmptyValue(text.to_owned()));
                    }
                    values_count += values.len();
                    let known = values.into_iter().filter_map(|v| vocabulary.admit(property, v));
                    Keep::FirstOf(known.collect())
                }
            };
            if policy.steps.len() == STEPS_MAX || values_count > STEP_VALUES_MAX {
                return Err(PolicyError::TooMany);
            }
            policy.steps.push(Step { text: text.to_owned(), keep });
        }
        Ok(policy)
    }

    /// The text of a step.
    ///
    /// # Panics
    /// When the policy has no step with this number.
    pub fn step(&self, number: usize) -> &str {
        &self.steps[number].text
    }

    /// The number of steps.
    pub fn len(&self) -> usize {
        self.steps.len()
    }

    /// Whether there are no steps.
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// Applies the steps until one row is left. Returns the number of the step that left one row;
    /// `None` when no step did. Each comparison of a value with a row is charged in advance. `isin`
    /// is the ISIN that was asked for, if the identifier is one.
    ///
    /// # Errors
    /// [`TakesMore`] when the steps take more work than the meter allows.
    pub(crate) fn narrow<C: Candidate>(
        &self,
        rows: &mut Vec<C>,
        isin: Option<&str>,
        meter: &Meter,
    ) -> Result<Option<usize>, TakesMore> {
        for (number, step) in self.steps.iter().enumerate() {
            if rows.len() < 2 {
                break;
            }
            match &step.keep {
                Keep::Composites => {
                    keep(rows, Candidate::is_composite, meter)?;
                }
                Keep::Home(countries) => keep_home(rows, isin, countries, meter)?,
                Keep::FirstOf(values) => {
                    for value in values {
                        if keep(rows, |row| row.has(*value), meter)? {
                            break;
                        }
                    }
                }
            }
            if rows.len() == 1 {
                return Ok(Some(number));
            }
        }
        Ok(None)
    }
}

/// Keeps the composite in the country of the ISIN that was asked for, or all rows if there is none.
/// Without such an ISIN, keeps for each security the composite in the country of its ISIN, or all
/// rows of the security if there is none: the step says which listing is wanted, not which security.
fn keep_home<C: Candidate>(
    rows: &mut Vec<C>,
    isin: Option<&str>,
    countries: &Countries,
    meter: &Meter,
) -> Result<(), TakesMore> {
    let Some(isin) = isin else {
        meter.charge(SECURITY_UNITS * rows.len() as u64)?;
        let at_home = rows.iter().filter(|row| row.is_home());
        let at_home: BTreeSet<Figi> = at_home.flat_map(|row| row.figis()).flatten().collect();
        let has_home = |row: &C| row.figis().iter().flatten().any(|figi| at_home.contains(figi));
        rows.retain(|row| row.is_home() || !has_home(row));
        return Ok(());
    };
    let Some(country) = home(isin) else { return Ok(()) };
    meter.charge(EXCHANGE_UNITS * rows.len() as u64)?;
    // The rank of the row's exchange, if it is a composite in that country.
    let rank = |row: C| {
        let exchange = countries.exchange(&row.exch_code()?)?;
        let is_composite = row.is_composite() || row.is_home();
        (is_composite && exchange.country == country).then_some(exchange.rank)
    };
    let first = rows.iter().filter_map(|row| rank(*row)).min();
    if first.is_some() {
        rows.retain(|row| rank(*row) == first);
    }
    Ok(())
}

/// Keeps the rows that fit, or all rows if none fits. Returns whether any row fits.
fn keep<C: Candidate>(
    rows: &mut Vec<C>,
    fits: impl Fn(C) -> bool,
    meter: &Meter,
) -> Result<bool, TakesMore> {
    meter.charge(COMPARE_UNITS * rows.len() as u64)?;
    let any_fits = rows.iter().any(|row| fits(*row));
    if any_fits {
        rows.retain(|row| fits(*row));
    }
    Ok(any_fits)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vocabulary() -> Vocabulary {
        let codes = ["US", "LN", "GY"].map(|code| (Property::ExchCode, code.to_owned()));
        Vocabulary::new(codes)
    }

    #[test]
    fn steps_keep_their_text() {
        let steps = ["composite", " exchCode = US|LN ", "home"];
        let policy = Policy::parse(steps, &vocabulary()).unwrap();
        assert_eq!(policy.len(), 3);
        let steps = [policy.step(0), policy.step(1), policy.step(2)];
        assert_eq!(steps, ["composite", "exchCode = US|LN", "home"]);
        assert!(Policy::default().is_empty());
    }

    #[test]
    fn a_step_that_is_not_understood_is_named() {
        let fault = |step: &str| Policy::parse([step], &vocabulary()).unwrap_err().to_string();
        for step in ["", "Composite", "composites", "exchange=US", "exchcode=US", "=US"] {
            let text = fault(step);
            assert!(text.contains(&format!("{step:?}")) && text.contains("micCode"), "{text}");
        }
        for step in ["exchCode=", "exchCode=US|", "exchCode=US||LN"] {
            assert!(fault(step).contains("empty value"), "{}", fault(step));
        }
    }

    #[test]
    fn steps_and_values_have_a_bound() {
        let many = vec!["composite"; STEPS_MAX];
        assert!(Policy::parse(&many, &vocabulary()).is_ok());
        let more = vec!["composite"; STEPS_MAX + 1];
        assert_eq!(Policy::parse(&more, &vocabulary()), Err(PolicyError::TooMany));
        let values = |count: usize| format!("exchCode={}", vec!["US"; count].join("|"));
        assert!(Policy::parse([values(STEP_VALUES_MAX)], &vocabulary()).is_ok());
        let more = [values(STEP_VALUES_MAX), values(1)];
        assert_eq!(Policy::parse(more, &vocabulary()), Err(PolicyError::TooMany));
        let long = |bytes: usize| format!("exchCode={}", "U".repeat(bytes - "exchCode=".len()));
        assert!(Policy::parse([long(STEPS_BYTES_MAX)], &vocabulary()).is_ok());
        for more in [vec![long(STEPS_BYTES_MAX + 1)], vec!["composite".into(), long(4090)]] {
            assert_eq!(Policy::parse(more, &vocabulary()), Err(PolicyError::TooMany));
        }
    }
}
