//! Resolves the identifiers of a list with the rows that their lookups find. The caller makes the
//! lookups: it takes the questions in order, and the lookups of each question in order.

use std::mem::take;

use super::correction::{CORRECTIONS_MAX, corrections};
use super::decide::{Decision, decide};
use super::name_like::{LOOKUP_UNITS, NamedElsewhere, SoughtName};
use super::policy::{Candidate, Policy};
use super::question::{Question, asked_isin};
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
    /// The names that may be those of other securities too, with the numbers of their questions.
    names: Vec<(usize, NamedElsewhere)>,
}

/// The rows that the lookups of one question found so far.
pub(crate) struct Readings<C> {
    found: Vec<(IdType, Vec<C>)>,
    /// The message of a lookup that has too many rows.
    refused: Option<String>,
    is_beyond_rows: bool,
    /// The number of lookups that are still to be added before those that count only if these find
    /// no row.
    surest_left: usize,
    /// Whether one of the former has found rows.
    is_found: bool,
}

/// The second half: takes the lookups of corrections for identifiers that were not found, and of
/// names that may be those of other securities too.
pub(crate) struct Corrections {
    resolutions: Vec<Resolution>,
    /// For each invalid question, its number and the identifier with the right check digit. This
    /// identifier is used if there is no other correction.
    right_check_digits: Vec<(usize, String)>,
    /// The number of the question of each lookup.
    of: Vec<usize>,
    /// The names to look up, with the numbers of their questions.
    names: Vec<(usize, NamedElsewhere)>,
}

impl<'a, 'q> Resolver<'a, 'q> {
    pub(crate) fn new(policy: &'a Policy, bounds: ResolveBounds) -> Self {
        let (resolutions, unfound, names) = Default::default();
        Self { policy, bounds, rows_left: bounds.rows_max, resolutions, unfound, names }
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
        match readings.surest_left.checked_sub(1) {
            Some(left) => {
                readings.surest_left = left;
                readings.is_found |= found.as_ref().is_ok_and(|rows| !rows.is_empty());
            }
            None if readings.refused.is_some() || readings.is_found => return,
            None => {}
        }
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
        let Readings { found, refused, is_beyond_rows, is_found, .. } = readings;
        let new = Resolution::new;
        let resolution = match refused {
            Some(reason) => {
                let resolution = new(Status::Invalid(reason.into()), tried(question), Vec::new());
                Resolution { is_beyond_rows, ..resolution }
            }
            None => match self.decide_by_rows(question, (found, is_found), meter)? {
                Decision::Resolved { id_type, by, row } => {
                    new(Status::Resolved(by), vec![id_type], vec![row.hit()])
                }
                Decision::Ambiguous { id_types, matches, rows, is_name_like } => {
                    let hits = rows.into_iter().map(Candidate::hit).collect();
                    let resolution = new(Status::Ambiguous(matches), id_types, hits);
                    Resolution { is_name_like, ..resolution }
                }
                Decision::NotFound => {
                    self.unfound.push((self.resolutions.len(), question));
                    let status = match &question.fault {
                        Some(fault) if question.is_invalid_unfound() => {
                            Status::Invalid(fault.reason_for(self.bounds.corrected))
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

    /// Decides a question by the rows of its readings. `is_surest` says whether those found them
    /// that count before the others. A name that was found as the ticker of a row with this name is
    /// still to be looked up.
    fn decide_by_rows<C: Candidate>(
        &mut self,
        question: &Question<'_>,
        (found, is_surest): (Vec<(IdType, Vec<C>)>, bool),
        meter: &Meter,
    ) -> Result<Decision<C>, TakesMore> {
        let rows_max = self.bounds.candidates_max;
        let lookups = if is_surest { question.surest() } else { &question.lookups };
        let isin = asked_isin(lookups);
        let Some(text) = question.name_like().filter(|_| any_found(&found)) else {
            return decide(found, self.policy, isin, None, rows_max, meter);
        };
        let mut name = SoughtName::new(text);
        let decision = decide(found, self.policy, isin, Some(&mut name), rows_max, meter)?;
        if let Some(elsewhere) = name.elsewhere() {
            meter.charge(LOOKUP_UNITS)?;
            self.names.push((self.resolutions.len(), elsewhere));
        }
        Ok(decision)
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
        let names = take(&mut self.names);
        let (mut lookups, mut of, mut right_check_digits) = (Vec::new(), Vec::new(), Vec::new());
        for (number, question) in unfound {
            if matches!(resolutions[number].status, Status::Invalid(_)) {
                let right = question.right_check_digit(self.bounds.corrected);
                right_check_digits.extend(right.map(|right| (number, right)));
            }
            let corrected = self.bounds.corrected;
            for (id_type, text) in question.correctable().filter(|of| corrected.has(of.0)) {
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
        Ok((lookups, Corrections { resolutions, right_check_digits, of, names }))
    }
}

impl<C> Readings<C> {
    /// An empty collection of rows for a question.
    pub(crate) fn of(question: &Question<'_>) -> Self {
        let found = Vec::with_capacity(question.lookups.len());
        let surest_left = question.surest().len();
        Self { found, refused: None, is_beyond_rows: false, surest_left, is_found: false }
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

    /// The names to look up.
    pub(crate) fn names(&self) -> impl ExactSizeIterator<Item = &NamedElsewhere> {
        self.names.iter().map(|(_, name)| name)
    }

    /// Records for each of the names whether rows of another security have it. Those that are other
    /// securities' names too are ambiguous.
    pub(crate) fn take_names(&mut self, are_elsewhere: impl IntoIterator<Item = bool>) {
        let names = take(&mut self.names).into_iter().zip(are_elsewhere);
        for ((number, _), _) in names.filter(|(_, is_elsewhere)| *is_elsewhere) {
            let resolution = &mut self.resolutions[number];
            resolution.status = Status::Ambiguous(resolution.status.matches());
            resolution.is_name_like = true;
        }
    }

    /// The results, in the order of the questions.
    pub(crate) fn finish(mut self) -> Vec<Resolution> {
        for (number, right) in self.right_check_digits {
            self.resolutions[number].correction.get_or_insert(right);
        }
        self.resolutions
    }
}

fn any_found<C>(found: &[(IdType, Vec<C>)]) -> bool {
    found.iter().any(|(_, rows)| !rows.is_empty())
}

/// The type that was tried, if there is only one.
fn tried(question: &Question<'_>) -> Vec<IdType> {
    let types = question.surest().iter().map(|lookup| lookup.id_value.id_type());
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::instrument::figi::Figi;
    use crate::instrument::visible::Visible;
    use crate::instrument::vocabulary::{Known, Vocabulary};
    use crate::search::Hit;

    #[derive(Clone, Copy, Debug)]
    struct Row(u8);

    impl Candidate for Row {
        fn hit(self) -> Hit {
            Hit { part: 0, doc: self.0.into() }
        }

        fn is_composite(self) -> bool {
            self.0.is_multiple_of(3)
        }

        fn has(self, _known: Known) -> bool {
            false
        }

        fn is_home(self) -> bool {
            self.0.is_multiple_of(2)
        }

        fn exch_code(self) -> Option<String> {
            None
        }

        fn figis(self) -> [Option<Figi>; 3] {
            [Some(self.place().1), None, None]
        }

        fn name(self) -> Option<String> {
            None
        }

        fn place(self) -> (u64, Figi) {
            let body = format!("BBG000000{:02}", self.0);
            let digit = crate::instrument::check_digit::double_add_double(body.as_bytes());
            (0, Figi::parse(&format!("{body}{}", digit.unwrap())).unwrap())
        }
    }

    fn resolved(question: &Question<'_>, rows: &[Result<Vec<u8>, ()>]) -> Resolution {
        let bounds = ResolveBounds {
            identifier_rows_max: 6,
            rows_max: 8,
            candidates_max: 10,
            corrected: Visible::ALL,
        };
        let policy = Policy::parse(["home", "composite"], &Vocabulary::new([])).unwrap();
        let mut resolver = Resolver::new(&policy, bounds);
        let mut readings = Readings::of(question);
        for (lookup, rows) in question.lookups.iter().zip(rows) {
            let hits_max = resolver.rows_max();
            let rows = rows.as_ref().ok().filter(|rows| rows.len() <= hits_max);
            let rows = rows.map(|rows| rows.iter().copied().map(Row).collect());
            resolver.add(&mut readings, lookup, rows.ok_or(TooManyHits { hits_max }));
        }
        let meter = Meter::unlimited();
        resolver.decide(question, readings, &meter).unwrap();
        resolver.corrections(&meter).unwrap().1.finish().remove(0)
    }

    proptest! {
        /// contract 17.2, 17.4: a reading that counts only where no other finds a row changes no
        /// other outcome.
        #[test]
        fn a_fallback_changes_nothing_that_is_found(
            rows in prop::collection::vec(prop_oneof![
                4 => prop::collection::vec(0_u8..20, 0..6).prop_map(Ok), 1 => Just(Err(())),
            ], 8),
            (text, column) in prop::sample::select(vec![
                ("US 037833 1005", None),
                ("037833-10-0", None),
                ("037833100", Some(IdType::Ticker)),
                ("BBG000BLNNH6", Some(IdType::Ticker)),
            ]),
        ) {
            let vocabulary = Vocabulary::new([]);
            let text = text.into();
            let question = Question::of(&text, column, &vocabulary, None);
            let mut before = question.clone();
            before.lookups.truncate(question.surest().len());
            before.fallbacks = 0;
            prop_assert!(question.fallbacks > 0 && !before.lookups.is_empty());
            let is_found = |rows: &Result<Vec<u8>, ()>| rows.as_ref().map_or(true, |rows| !rows.is_empty());
            let (own, others) = rows[..question.lookups.len()].split_at(before.lookups.len());
            let resolution = resolved(&question, &rows);
            if own.iter().any(is_found) || !others.iter().any(is_found) {
                prop_assert_eq!(resolution, resolved(&before, own));
            } else {
                prop_assert!(resolution.status != Status::Unknown);
            }
        }
    }
}
