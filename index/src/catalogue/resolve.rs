//! Resolves the identifiers of a list: looks up what `resolve/` asks for, and lets it decide.

use std::borrow::{Borrow, Cow};

use super::Catalogue;
use crate::instrument::figi::Figi;
use crate::instrument::id_type::{IdType, IdValue};
use crate::instrument::vocabulary::Known;
use crate::meter::{Meter, TakesMore};
use crate::part::Part;
use crate::query::Lookup;
use crate::resolve::correction::{CORRECTIONS_MAX, corrections};
use crate::resolve::decide::{By, Decision, decide};
use crate::resolve::policy::{Candidate, Policy};
use crate::resolve::question::Question;
use crate::search::{Hit, TooManyHits};

/// The bounds of an answer.
#[derive(Clone, Copy, Debug)]
pub struct ResolveBounds {
    /// The most rows that one identifier may find. With more, it is invalid.
    pub identifier_rows_max: usize,
    /// The most rows of all identifiers together. The identifiers beyond are invalid, and
    /// [`Resolution::is_beyond_rows`].
    pub rows_max: usize,
    /// The most candidates of an ambiguous identifier.
    pub candidates_max: usize,
}

/// The result for one identifier.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resolution {
    /// The status, with its reason.
    pub status: Status,
    /// The readings that found rows: one, or several that find different securities. The type that
    /// was given or tried when none found a row and there is only one.
    pub id_types: Vec<IdType>,
    /// The row that is meant, or the first candidates in the order of a search.
    pub hits: Vec<Hit>,
    /// An identifier that is one check digit or one transposition away, and that has rows. For a
    /// wrong check digit the right one, even without rows.
    pub correction: Option<String>,
    /// Whether it is invalid only since the identifiers before it have used up
    /// [`ResolveBounds::rows_max`]: asked without them, it has an answer.
    pub is_beyond_rows: bool,
}

/// The status of one identifier.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Status {
    /// One row is meant.
    Resolved(By),
    /// So many rows may be meant.
    Ambiguous(usize),
    /// It is valid, and no row carries it.
    Unknown,
    /// It cannot be looked up, for this reason: a sentence without a full stop.
    Invalid(String),
}

impl Status {
    /// Its name in answers (contract 17.11).
    pub fn name(&self) -> &'static str {
        match self {
            Self::Resolved(_) => "resolved",
            Self::Ambiguous(_) => "ambiguous",
            Self::Unknown => "unknown",
            Self::Invalid(_) => "invalid",
        }
    }

    /// The number of rows that may be meant.
    pub fn matches(&self) -> usize {
        match self {
            Self::Resolved(_) => 1,
            Self::Ambiguous(matches) => *matches,
            Self::Unknown | Self::Invalid(_) => 0,
        }
    }
}

impl Resolution {
    /// The reason why no row is chosen, with the correction, for people; empty when one is.
    pub fn reason(&self) -> Cow<'_, str> {
        let reason = match &self.status {
            Status::Resolved(_) => "",
            Status::Ambiguous(matches) if self.id_types.len() < 2 => {
                return format!("{matches} rows may be meant").into();
            }
            Status::Ambiguous(_) => {
                let names: Vec<_> = self.id_types.iter().map(|id_type| id_type.name()).collect();
                return format!("different securities as {}", names.join(" and ")).into();
            }
            Status::Unknown => "not found",
            Status::Invalid(reason) => reason,
        };
        match &self.correction {
            Some(correction) => format!("{reason}; did you mean {correction}?").into(),
            None => Cow::Borrowed(reason),
        }
    }
}

/// Units of work of comparing a row with one value, and of placing it.
const STEP_UNITS: u64 = 3;
const PLACE_UNITS: u64 = 12;

/// A row with what the policy asks about it.
#[derive(Clone, Copy)]
struct Found<'a> {
    part: &'a Part,
    hit: Hit,
}

impl Candidate for Found<'_> {
    fn is_composite(self) -> bool {
        let row = self.part.rows.get(self.hit.doc);
        row.composite_figi() == Some(row.figi())
    }

    fn has(self, known: Known) -> bool {
        self.part.bitmaps.of(known).is_some_and(|rows| rows.contains(self.hit.doc))
    }

    fn security(self) -> Figi {
        let row = self.part.rows.get(self.hit.doc);
        row.share_class_figi().or(row.composite_figi()).unwrap_or(row.figi())
    }

    fn place(self) -> (u64, Figi) {
        (self.part.ranks.rank(self.hit.doc).sort_key(0), self.part.rows.figi(self.hit.doc))
    }
}

impl Catalogue {
    /// Resolves identifiers, in their order.
    ///
    /// # Errors
    /// [`TakesMore`] when that takes more work than the meter allows.
    pub fn resolve<'q>(
        &self,
        questions: &[impl Borrow<Question<'q>>],
        policy: &Policy,
        bounds: ResolveBounds,
        meter: &Meter,
    ) -> Result<Vec<Resolution>, TakesMore> {
        let questions: Vec<&Question<'q>> = questions.iter().map(Borrow::borrow).collect();
        let lookups: Vec<Lookup<'_>> =
            questions.iter().flat_map(|question| question.lookups.iter().cloned()).collect();
        let mut located = self.locate(&lookups, meter)?;
        let mut resolutions = Vec::with_capacity(questions.len());
        let mut unfound = Vec::new();
        let (mut place, mut rows_left, mut hits) = (0, bounds.rows_max, Vec::new());
        for (number, question) in questions.iter().enumerate() {
            let mut found = Vec::with_capacity(question.lookups.len());
            let (mut refused, mut is_beyond_rows) = (None, false);
            for lookup in &question.lookups {
                hits.clear();
                let most = bounds.identifier_rows_max.min(rows_left);
                match located.find(place, most, &mut hits)? {
                    Ok(()) => {
                        rows_left -= hits.len();
                        found.push((lookup.id_value.id_type(), self.found(&hits)));
                    }
                    Err(TooManyHits { hits_max }) => {
                        is_beyond_rows |= hits_max < bounds.identifier_rows_max;
                        refused = Some(too_many(is_beyond_rows, &bounds));
                    }
                }
                place += 1;
            }
            let rows: usize = found.iter().map(|(_, rows)| rows.len()).sum();
            meter.charge(rows as u64 * (PLACE_UNITS + STEP_UNITS * policy.units()))?;
            let decision = match refused {
                Some(reason) => Err(Status::Invalid(reason)),
                None => Ok(decide(found, policy, bounds.candidates_max)),
            };
            resolutions.push(match decision {
                Ok(Decision::Resolved { id_type, by, row }) => {
                    resolution(Status::Resolved(by), vec![id_type], vec![row.hit])
                }
                Ok(Decision::Ambiguous { id_types, matches, rows }) => {
                    let hits = rows.into_iter().map(|row| row.hit).collect();
                    resolution(Status::Ambiguous(matches), id_types, hits)
                }
                Ok(Decision::NotFound) => {
                    unfound.push(number);
                    let status = match &question.fault {
                        Some(fault) if question.is_invalid_unfound() => {
                            Status::Invalid(fault.reason.clone())
                        }
                        _ => Status::Unknown,
                    };
                    resolution(status, tried(question), Vec::new())
                }
                Err(status) => {
                    Resolution { is_beyond_rows, ..resolution(status, tried(question), Vec::new()) }
                }
            });
        }
        self.correct(&questions, &unfound, &mut resolutions, meter)?;
        Ok(resolutions)
    }

    /// Looks up the corrections of the identifiers that were not found.
    fn correct(
        &self,
        questions: &[&Question<'_>],
        unfound: &[usize],
        resolutions: &mut [Resolution],
        meter: &Meter,
    ) -> Result<(), TakesMore> {
        let mut lookups = Vec::new();
        let mut of = Vec::new();
        for number in unfound {
            let question = questions[*number];
            let filters = question.lookups.first().and_then(Lookup::filters);
            for (id_type, text) in question.correctable() {
                meter.charge(CORRECTIONS_MAX * PLACE_UNITS)?;
                for corrected in corrections(id_type, text) {
                    of.push(*number);
                    lookups.push(Lookup::new(corrected, filters.cloned()));
                }
            }
        }
        let mut located = self.locate(&lookups, meter)?;
        let mut hits = Vec::new();
        for (place, number) in of.iter().enumerate() {
            if resolutions[*number].correction.is_some() {
                continue;
            }
            // One row more than none is enough to know.
            if located.find(place, 0, &mut hits)?.is_err() {
                let value: &IdValue<'_> = &lookups[place].id_value;
                resolutions[*number].correction = Some(value.as_str().to_owned());
            }
        }
        for number in unfound {
            let question = questions[*number];
            let resolution = &mut resolutions[*number];
            if resolution.correction.is_none() && matches!(resolution.status, Status::Invalid(_)) {
                resolution.correction = question.right_check_digit();
            }
        }
        Ok(())
    }

    fn found(&self, hits: &[Hit]) -> Vec<Found<'_>> {
        let parts = &self.generation.parts;
        hits.iter().map(|hit| Found { part: &parts[hit.part as usize], hit: *hit }).collect()
    }
}

fn resolution(status: Status, id_types: Vec<IdType>, hits: Vec<Hit>) -> Resolution {
    Resolution { status, id_types, hits, correction: None, is_beyond_rows: false }
}

/// The type that was tried, when it is the only one.
fn tried(question: &Question<'_>) -> Vec<IdType> {
    let types = question.lookups.iter().map(|lookup| lookup.id_value.id_type());
    let faulty = question.fault.iter().filter_map(|fault| fault.of.as_ref()).map(|of| of.0);
    let mut types = faulty.chain(types);
    match (types.next(), types.next()) {
        (Some(only), None) => vec![only],
        _ => Vec::new(),
    }
}

fn too_many(is_beyond_rows: bool, bounds: &ResolveBounds) -> String {
    if is_beyond_rows {
        format!(
            "the identifiers of this request have more than {} rows together; ask in several \
             requests",
            bounds.rows_max
        )
    } else {
        format!("it has more than {} rows", bounds.identifier_rows_max)
    }
}
