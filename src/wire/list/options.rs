//! The options of a list: parameters of the URL, or members of a JSON body (contract 17.5).

use figdex_index::{Field, Filters, Policy, STEPS_MAX, Vocabulary};

use super::fields;
use crate::wire::Fault;
use crate::wire::json::{Raw, elements, text};

/// The options of a list.
pub(crate) struct Options {
    pub(crate) policy: Policy,
    pub(crate) fields: Vec<Field>,
    /// Whether the answer has all rows of an ambiguous identifier.
    pub(crate) is_many: bool,
    pub(super) includes_unlisted: bool,
    filters: Option<Filters>,
    /// The names of the given options: each may be given in one place only.
    given: Vec<&'static str>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            policy: Policy::default(),
            fields: Field::of_every_row().to_vec(),
            is_many: false,
            includes_unlisted: false,
            filters: None,
            given: Vec::new(),
        }
    }
}

impl Options {
    /// Reads the query of a URL.
    pub(super) fn of_parameters(query: &str, vocabulary: &Vocabulary) -> Result<Self, Fault> {
        let mut options = Self::default();
        let mut steps = Vec::new();
        for (name, value) in form_urlencoded::parse(query.as_bytes()) {
            match &*name {
                "prefer" => steps.push(value.into_owned()),
                "fields" => {
                    options.give("fields")?;
                    options.fields = fields::parse(value.split(','))?;
                }
                "many" => {
                    options.give("many")?;
                    options.is_many = many(&value)?;
                }
                "includeUnlistedEquities" => {
                    options.give("includeUnlistedEquities")?;
                    options.include(match &*value {
                        "true" => true,
                        "false" => false,
                        _ => return Err("includeUnlistedEquities must be true or false.".into()),
                    });
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
        vocabulary: &Vocabulary,
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
                let fields_max = Field::ALL.len();
                let names = texts(raw, fields_max).ok_or_else(|| {
                    format!("fields must be an array of at most {fields_max} texts.")
                })?;
                self.fields = fields::parse(names.iter().map(String::as_str))?;
            }
            "many" => {
                self.give("many")?;
                self.is_many = many(&text(raw).ok_or(MANY)?)?;
            }
            "includeUnlistedEquities" => {
                self.give("includeUnlistedEquities")?;
                let truth = serde_json::from_str(raw.get())
                    .map_err(|_| "includeUnlistedEquities must be true or false.")?;
                self.include(truth);
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// The filters for every job without its own; `None` for the default ones.
    pub(super) fn filters(&self) -> Option<&Filters> {
        self.filters.as_ref()
    }

    fn prefer(&mut self, steps: &[String], vocabulary: &Vocabulary) -> Result<(), Fault> {
        self.policy = Policy::parse(steps, vocabulary).map_err(|error| format!("{error}."))?;
        Ok(())
    }

    fn include(&mut self, includes_unlisted: bool) {
        self.includes_unlisted = includes_unlisted;
        self.filters = includes_unlisted
            .then(|| Filters { include_unlisted_equities: true, ..Filters::default() });
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
