//! Resolves the identifiers of a list with the rows that their lookups find. The caller makes the
//! lookups: it takes the questions in order, and the lookups of each question in order.

use std::mem::take;

use super::correction::{CORRECTIONS_MAX, corrections};
use super::decide::{Decision, decide};
use super::policy::{Candidate, Policy};
use super::question::Question;
use super::resolution::{Resolution, ResolveBounds, Status};
use crate::instrument::id_type::IdType;
use crate::meter::{Meter, TakesMore};
use crate::query::Lookup;
use crate::search::TooManyHits;

/// The units of work of making one corrected identifier.
const CORRECTION_UNITS: u64 = 12;

/// The first half: decides the identifiers by the rows that their lookups found.
pub(crate) struct Resolver<'a, 'q> {
    policy: &'a Policy,
    bounds: ResolveBounds,
    /// The number of rows that all remaining identifiers may find together.
    rows_left: usize,
    /// The results of the questions that were decided since the last call of `corrections`.
    resolutions: Vec<Resolution>,
    /// The questions whose lookups found no row, with their numbers.
    unfound: Vec<(usize, &'a Question<'q>)>,
}

/// The rows that the lookups of one question found so far.
pub(crate) struct Readings<C> {
    found: Vec<(IdType, Vec<C>)>,
    /// The message of a lookup that has too many rows.
    refused: Option<String>,
    is_beyond_rows: bool,
}

/// The second half: takes the lookups of corrections for identifiers that were not found.
pub(crate) struct Corrections {
    resolutions: Vec<Resolution>,
    /// For each invalid question, its number and the identifier with the right check digit. This
    /// identifier is used if there is no other correction.
    right_check_digits: Vec<(usize, String)>,
    /// The number of the question of each lookup.
    of: Vec<usize>,
}

impl<'a, 'q> Resolver<'a, 'q> {
    pub(crate) fn new(policy: &'a Policy, bounds: ResolveBounds) -> Self {
        let (resolutions, unfound) = (Vec::new(), Vec::new());
        Self { policy, bounds, rows_left: bounds.rows_max, resolutions, unfound }
    }

    /// The most rows that the next lookup may find.
    pub(crate) fn rows_max(&self) -> usize {
        self.bounds.identifier_rows_max.min(self.rows_left)
    }

    /// Takes the rows that a lookup found.
    pub(crate) fn add<C>(
        &mut self,
        readings: &mut Readings<C>,
        lookup: &Lookup<'_>,
        found: Result<Vec<C>, TooManyHits>,
    ) {
        match found {
            Ok(rows) => {
                self.rows_left -= rows.len();
                readings.found.push((lookup.id_value.id_type(), rows));
            }
            Err(TooManyHits { hits_max }) => {
                readings.is_beyond_rows |= hits_max < self.bounds.identifier_rows_max;
                readings.refused = Some(too_many(readings.is_beyond_rows, &self.bounds));
            }
        }
    }

    /// Decides the next question. All of its lookups must have been added.
    ///
    /// # Errors
    /// [`TakesMore`] when the decision takes more work than the meter allows.
    pub(crate) fn decide<C: Candidate>(
        &mut self,
        question: &'a Question<'q>,
        readings: Readings<C>,
        meter: &Meter,
    ) -> Result<(), TakesMore> {
        let Readings { found, refused, is_beyond_rows } = readings;
        let new = Resolution::new;
        let resolution = match refused {
            Some(reason) => {
                let resolution = new(Status::Invalid(reason), tried(question), Vec::new());
                Resolution { is_beyond_rows, ..resolution }
            }
            None => match decide(found, self.policy, self.bounds.candidates_max, meter)? {
                Decision::Resolved { id_type, by, row } => {
                    new(Status::Resolved(by), vec![id_type], vec![row.hit()])
                }
                Decision::Ambiguous { id_types, matches, rows } => {
                    let hits = rows.into_iter().map(Candidate::hit).collect();
                    new(Status::Ambiguous(matches), id_types, hits)
                }
                Decision::NotFound => {
                    self.unfound.push((self.resolutions.len(), question));
                    let status = match &question.fault {
                        Some(fault) if question.is_invalid_unfound() => {
                            Status::Invalid(fault.reason.clone())
                        }
                        _ => Status::Unknown,
                    };
                    new(status, tried(question), Vec::new())
                }
            },
        };
        self.resolutions.push(resolution);
        Ok(())
    }

    /// The lookups of corrections for the identifiers that were not found, among the questions that
    /// were decided since the last call. Frequent calls keep the number of pending questions small.
    ///
    /// # Errors
    /// [`TakesMore`] when the corrections take more work than the meter allows.
    pub(crate) fn corrections(
        &mut self,
        meter: &Meter,
    ) -> Result<(Vec<Lookup<'static>>, Corrections), TakesMore> {
        let (resolutions, unfound) = (take(&mut self.resolutions), take(&mut self.unfound));
        let (mut lookups, mut of, mut right_check_digits) = (Vec::new(), Vec::new(), Vec::new());
        for (number, question) in unfound {
            if matches!(resolutions[number].status, Status::Invalid(_)) {
                let right = question.right_check_digit();
                right_check_digits.extend(right.map(|right| (number, right)));
            }
            for (id_type, text) in question.correctable() {
                meter.charge(CORRECTIONS_MAX * CORRECTION_UNITS)?;
                for corrected in corrections(id_type, text) {
                    of.push(number);
                    lookups.push(match question.lookups.first() {
                        Some(first) => first.with(corrected),
                        None => Lookup::new(corrected, None),
                    });
                }
            }
        }
        Ok((lookups, Corrections { resolutions, right_check_digits, of }))
    }
}

impl<C> Readings<C> {
    /// An empty collection of rows for a question.
    pub(crate) fn of(question: &Question<'_>) -> Self {
        let found = Vec::with_capacity(question.lookups.len());
        Self { found, refused: None, is_beyond_rows: false }
    }
}

impl Corrections {
    /// Whether the lookup at `place` is still needed: the identifier it would correct has no
    /// correction yet.
    pub(crate) fn wants(&self, place: usize) -> bool {
        self.resolutions[self.of[place]].correction.is_none()
    }

    /// Records that some row has the identifier of the lookup at `place`.
    pub(crate) fn add(&mut self, place: usize, lookup: &Lookup<'_>) {
        let corrected = lookup.id_value.as_str().to_owned();
        self.resolutions[self.of[place]].correction = Some(corrected);
    }

    /// The results, in the order of the questions.
    pub(crate) fn finish(mut self) -> Vec<Resolution> {
        for (number, right) in self.right_check_digits {
            self.resolutions[number].correction.get_or_insert(right);
        }
        self.resolutions
    }
}

/// The type that was tried, if there is only one.
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
