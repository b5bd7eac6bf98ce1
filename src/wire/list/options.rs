//! The options of a list: parameters of the URL, or members of a JSON body (contract 17.5).

use std::sync::Arc;

use figdex_index::{
    Date, Filters, LIST_FIELDS_MAX, Policy, Property, STEPS_MAX, Vocabularies, Vocabulary,
};

use super::fields::ListFields;
use super::{ListError, as_of};
use crate::wire::Fault;
use crate::wire::json::{Raw, elements, text};

/// The options of a list.
#[derive(Default)]
pub(crate) struct Options {
    pub(crate) policy: Policy,
    pub(crate) fields: ListFields,
    /// Whether the answer has all rows of an ambiguous identifier.
    pub(crate) is_many: bool,
    /// Whether names that are not resolved have candidates (contract 17.15).
    pub(crate) has_candidates: bool,
    /// The day as of which all jobs without their own are asked (contract 20.5).
    pub(crate) as_of: Option<Date>,
    /// Whether earlier meanings of identifiers are named (contract 20.11).
    pub(crate) has_formerly: bool,
    /// The values of the steps that are outside the sets of their properties, such as
    /// `exchCode=XX`.
    unknown_values: Vec<String>,
    /// The ones among them that no row of the past has either.
    unknown_in_past: Vec<String>,
    pub(super) includes_unlisted: bool,
    filters: Option<Arc<Filters>>,
    /// The names of the given options: each may be given in one place only.
    given: Vec<&'static str>,
}

impl Options {
    /// The error of a list with more jobs than allowed.
    pub(super) fn too_many_jobs(&self) -> ListError {
        ListError::TooManyJobs { has_candidates: self.has_candidates }
    }

    /// The values of the steps that no job of the list knows. Jobs with a day also know those that
    /// rows had.
    pub(crate) fn unknown_values(&self, has_days: bool) -> &[String] {
        if has_days { &self.unknown_in_past } else { &self.unknown_values }
    }

    /// Reads the query of a URL.
    pub(super) fn of_parameters(query: &str, vocabulary: Vocabularies<'_>) -> Result<Self, Fault> {
        let mut options = Self::default();
        let mut steps = Vec::new();
        for (name, value) in form_urlencoded::parse(query.as_bytes()) {
            match &*name {
                "prefer" => steps.push(value.into_owned()),
                "fields" => {
                    options.give("fields")?;
                    options.fields = ListFields::parse(value.split(','))?;
                }
                "many" => {
                    options.give("many")?;
                    options.is_many = many(&value)?;
                }
                "includeUnlistedEquities" => {
                    options.give("includeUnlistedEquities")?;
                    options.include(truth("includeUnlistedEquities", &value)?);
                }
                "candidates" => {
                    options.give("candidates")?;
                    options.has_candidates = truth("candidates", &value)?;
                }
                "asOf" => {
                    options.give("asOf")?;
                    options.as_of = Some(as_of::day(&value)?);
                }
                "formerly" => {
                    options.give("formerly")?;
                    options.has_formerly = truth("formerly", &value)?;
                }
                _ => return Err(super::super::invalid_key(&name)),
            }
        }
        if !steps.is_empty() {
            options.give("prefer")?;
            options.prefer(&steps, vocabulary)?;
        }
        Ok(options)
    }

    /// Takes a member of a JSON body. Returns `false` if no option has this name.
    pub(super) fn take(
        &mut self,
        name: &str,
        raw: Raw<'_>,
        vocabulary: Vocabularies<'_>,
    ) -> Result<bool, Fault> {
        match name {
            "prefer" => {
                self.give("prefer")?;
                let steps = texts(raw, STEPS_MAX).ok_or_else(|| {
                    format!("prefer must be an array of at most {STEPS_MAX} texts.")
                })?;
                self.prefer(&steps, vocabulary)?;
            }
            "fields" => {
                self.give("fields")?;
                let names = texts(raw, LIST_FIELDS_MAX).ok_or_else(|| {
                    format!("fields must be an array of at most {LIST_FIELDS_MAX} texts.")
                })?;
                self.fields = ListFields::parse(names.iter().map(String::as_str))?;
            }
            "many" => {
                self.give("many")?;
                self.is_many = many(&text(raw).ok_or(MANY)?)?;
            }
            "includeUnlistedEquities" => {
                self.give("includeUnlistedEquities")?;
                self.include(truth("includeUnlistedEquities", raw.get())?);
            }
            "candidates" => {
                self.give("candidates")?;
                self.has_candidates = truth("candidates", raw.get())?;
            }
            "asOf" => {
                self.give("asOf")?;
                self.as_of = Some(as_of::of_member(raw)?);
            }
            "formerly" => {
                self.give("formerly")?;
                self.has_formerly = truth("formerly", raw.get())?;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// The filters for every job without its own; `None` for the default ones.
    pub(super) fn filters(&self) -> Option<&Arc<Filters>> {
        self.filters.as_ref()
    }

    /// The steps know the values of the past too: a value that no row has now chooses none of them.
    fn prefer(&mut self, steps: &[String], vocabulary: Vocabularies<'_>) -> Result<(), Fault> {
        let Vocabularies { today, past } = vocabulary;
        self.policy = Policy::parse(steps, past).map_err(|error| format!("{error}."))?;
        [self.unknown_values, self.unknown_in_past] = [today, past].map(|vocabulary| {
            let unknown = unknown_values(steps, vocabulary);
            unknown.map(|(_, property, value)| format!("{}={value}", property.name())).collect()
        });
        Ok(())
    }

    fn include(&mut self, includes_unlisted: bool) {
        self.includes_unlisted = includes_unlisted;
        self.filters = includes_unlisted
            .then(|| Filters { include_unlisted_equities: true, ..Filters::default() }.into());
    }

    /// Records that an option was given. An error if it was given before.
    fn give(&mut self, name: &'static str) -> Result<(), Fault> {
        if self.given.contains(&name) {
            return Err(format!("{name} is given twice.").into());
        }
        self.given.push(name);
        Ok(())
    }
}

/// The values of steps that are outside the sets of their properties, each with its step and its
/// property (contract 17.10, 17.17).
pub(crate) fn unknown_values<'s>(
    steps: &'s [String],
    vocabulary: &'s Vocabulary,
) -> impl Iterator<Item = (&'s str, Property, &'s str)> {
    let named = steps.iter().filter_map(|step| {
        let (name, values) = step.split_once('=')?;
        Some((&**step, Property::from_name(name.trim())?, values))
    });
    let values = named.flat_map(|(step, property, values)| {
        values.split('|').map(move |value| (step, property, value.trim()))
    });
    values.filter(|(_, property, value)| vocabulary.admit(*property, value).is_none())
}

/// A boolean, as JSON and URLs write it.
fn truth(name: &str, text: &str) -> Result<bool, Fault> {
    match text {
        "true" => Ok(true),
        "false" => Ok(false),
        _ => Err(format!("{name} must be true or false.").into()),
    }
}

const MANY: &str = "many must be none or all.";

fn many(text: &str) -> Result<bool, Fault> {
    match text {
        "none" => Ok(false),
        "all" => Ok(true),
        _ => Err(MANY.into()),
    }
}

/// The texts of an array of at most `count_max` texts; `None` for any other value.
pub(super) fn texts(raw: Raw<'_>, count_max: usize) -> Option<Vec<String>> {
    let elements = elements(raw, count_max)?;
    elements.into_iter().map(|raw| text(raw).map(Into::into)).collect()
}
