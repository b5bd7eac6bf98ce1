//! Rows as they were on a day, which a list chooses from and answers.

use super::timelines::Timeline;
use crate::catalogue::resolve::Found;
use crate::generation::past::column::PastColumn;
use crate::generation::past::stated::Retired;
use crate::generation::past::{OpenVersion, Past, Version, VersionEnd};
use crate::instrument::Instrument;
use crate::instrument::date::Date;
use crate::instrument::figi::Figi;
use crate::instrument::id_type::IdType;
use crate::instrument::markets::home;
use crate::instrument::vocabulary::{Known, Property, Vocabulary};
use crate::query::Lookup;
use crate::resolve::past::{Basis, PastRow, WasRow};
use crate::resolve::policy::Candidate;
use crate::resolve::question::Question;
use crate::search::Hit;

/// A row as it was on a day.
#[derive(Clone, Copy)]
pub(super) enum AsOf<'a> {
    /// A row that is as today.
    Is { found: Found<'a>, began: Began<'a> },
    /// A row of a FIGI that has a record in the log.
    Was(Was<'a>),
}

/// The beginning of a row that is as today.
#[derive(Clone, Copy)]
pub(super) enum Began<'a> {
    /// On the first day of the past: the FIGI has no record.
    OnFirstDay,
    /// On the day since which the FIGI is settled.
    Settled(Date),
    /// With the open version.
    Open(&'a OpenVersion),
}

/// A row of a FIGI with a record, as it was.
#[derive(Clone, Copy)]
pub(super) struct Was<'a> {
    pub(super) timeline: &'a Timeline<'a>,
    pub(super) image: &'a Instrument,
    pub(super) vocabulary: &'a Vocabulary,
    /// The statement of it, if it was not observed.
    pub(super) stated: Option<&'a Retired>,
}

impl<'a> Was<'a> {
    /// One of the rows of a FIGI, as it was observed.
    pub(super) fn of(timeline: &'a Timeline<'a>, image: &'a Instrument, past: &'a Past) -> Self {
        Self { timeline, image, vocabulary: &past.vocabulary, stated: None }
    }

    /// The last row of a FIGI that had the identifier of a lookup, or else the last statement that
    /// it had it.
    pub(super) fn last(
        timeline: &'a Timeline<'a>,
        lookup: &Lookup<'_>,
        past: &'a Past,
    ) -> Option<Self> {
        // It may be open: a value that is blank now.
        let observed = timeline.images().filter(|image| timeline.passes(image, lookup, past));
        if let Some(image) = observed.last() {
            return Some(Self::of(timeline, image, past));
        }
        let retired = timeline.last_stated(&lookup.id_value)?;
        let image = timeline.last_image();
        timeline
            .is_admitted(image, lookup, past)
            .then(|| Self { stated: Some(retired), ..Self::of(timeline, image, past) })
    }

    /// The basis on which it was the row of a day.
    pub(super) fn basis(self, id_type: IdType, day: Date) -> Basis {
        match (self.stated, self.timeline.days(self.image)) {
            (Some(_), _) => Basis::Stated,
            (None, Some((.., learned))) => basis_of(learned, id_type, day),
            // It has no past.
            (None, None) => Basis::Assumed,
        }
    }

    /// The row on a day for an answer.
    fn on(self, past: &Past, id_type: IdType, day: Date) -> PastRow {
        let (from, to) = match (self.stated, self.timeline.days(self.image)) {
            (Some(retired), _) => (retired.from, retired.to),
            (None, Some((from, to, _))) => (Some(from), to),
            (None, None) => (past.summary().days.first(), None),
        };
        self.answer(from, to, self.basis(id_type, day))
    }

    /// A former row for an answer. Its days are those on which the FIGI had the identifier without a
    /// break. A stated beginning or end counts between the days on which the row was observed with
    /// the identifier and those on which it was observed without it.
    pub(super) fn former(self, id_type: IdType, question: &Question<'_>, past: &Past) -> PastRow {
        let timeline = self.timeline;
        let days = timeline.days(self.image).filter(|_| self.stated.is_none());
        let Some((mut from, to, learned)) = days else {
            return self.on(past, id_type, Date::today());
        };
        let lookups = || question.lookups.iter();
        let has = |version: &Version| {
            lookups().any(|lookup| timeline.passes(&version.image, lookup, past))
        };
        let mut basis = basis_of(learned, id_type, from);
        // The last day on which the row had another identifier, and whether it had gone since.
        let (mut without, mut is_broken) = (None, false);
        for version in timeline.closed().rev() {
            if version.first >= from {
                continue;
            }
            if !has(version) {
                without = Some(version.last);
                break;
            }
            is_broken |= version.end != VersionEnd::Replaced;
            if !is_broken {
                from = version.first;
                if basis_of(&version.learned, id_type, from) == Basis::Assumed {
                    basis = Basis::Assumed;
                }
            }
        }
        let after = to.and_then(|to| timeline.first_after(to));
        let stated = || lookups().flat_map(|lookup| timeline.stated(&lookup.id_value));
        let of_first = stated().filter(|it| it.holds(from)).filter_map(|it| it.from);
        let exact_from = of_first.filter(|day| Some(*day) > without).min();
        let of_last = stated().filter(|it| to.is_some_and(|to| it.holds(to)));
        let of_last = of_last.filter_map(|it| it.to);
        let exact_to = of_last.filter(|day| after.is_none_or(|after| *day < after)).max();
        let is_stated = exact_from.is_some() || exact_to.is_some();
        let basis = if is_stated { Basis::Stated } else { basis };
        self.answer(exact_from.or(Some(from)), exact_to.or(to), basis)
    }

    fn answer(self, valid_from: Option<Date>, valid_to: Option<Date>, basis: Basis) -> PastRow {
        let (today, successor) =
            (self.timeline.today.map(Candidate::hit), self.timeline.successor());
        let mut image = self.image.clone();
        // The row is that of another day, which may have had another ticker.
        if let Some(Retired { id_value, .. }) = self.stated.filter(|it| it.is_ticker()) {
            image.ticker = Some(id_value.as_str().to_owned());
        }
        let (figi, row) = (image.figi, WasRow::Then(Box::new(image)));
        PastRow { figi, row, valid_from, valid_to, basis, today, successor }
    }
}

impl AsOf<'_> {
    pub(super) fn figi(self) -> Figi {
        match self {
            Self::Is { found, .. } => found.part.rows.figi(found.hit.doc),
            Self::Was(was) => was.image.figi,
        }
    }

    /// The row on a day for an answer.
    pub(super) fn past_row(self, past: &Past, id_type: IdType, day: Date) -> PastRow {
        match self {
            Self::Is { found, began } => {
                let valid_from = match began {
                    Began::Settled(since) => since,
                    Began::Open(open) => open.first,
                    Began::OnFirstDay => past.summary().days.first().unwrap_or(day),
                };
                let basis = self.basis(past, id_type, day);
                let (figi, row) = (self.figi(), WasRow::AsToday(found.hit));
                let (valid_from, today) = (Some(valid_from), Some(found.hit));
                PastRow { figi, row, valid_from, valid_to: None, basis, today, successor: None }
            }
            Self::Was(was) => was.on(past, id_type, day),
        }
    }

    /// The basis on which it was the row of a day.
    pub(super) fn basis(self, past: &Past, id_type: IdType, day: Date) -> Basis {
        match self {
            Self::Is { began: Began::Settled(_), .. } => Basis::Observed,
            Self::Is { began: Began::Open(open), .. } => basis_of(&open.learned, id_type, day),
            Self::Is { found, began: Began::OnFirstDay } => {
                let kind = found.part.ranks.rank(found.hit.doc).kind();
                let is_kept = past.summary().has_derivatives || !kind.is_derivative();
                if is_kept { Basis::Observed } else { Basis::Assumed }
            }
            Self::Was(was) => was.basis(id_type, day),
        }
    }
}

impl Candidate for AsOf<'_> {
    fn hit(self) -> Hit {
        match self {
            Self::Is { found, .. } => found.hit,
            Self::Was(_) => unreachable!("a row of the past has no hit"),
        }
    }

    fn is_composite(self) -> bool {
        match self {
            Self::Is { found, .. } => found.is_composite(),
            Self::Was(was) => was.image.composite_figi == Some(was.image.figi),
        }
    }

    fn has(self, known: Known) -> bool {
        match self {
            Self::Is { found, .. } => found.has(known),
            Self::Was(was) => {
                was.image.property(known.property()) == Some(was.vocabulary.text(known))
            }
        }
    }

    fn is_home(self) -> bool {
        match self {
            Self::Is { found, .. } => found.is_home(),
            Self::Was(was) => {
                let isin = was.image.identifiers_of(IdType::Isin).next();
                let country = isin.and_then(|isin| home(isin.as_str()));
                let exchange = was.image.property(Property::ExchCode);
                let exchange = exchange.and_then(|code| was.vocabulary.countries().exchange(code));
                self.is_composite()
                    && country.is_some()
                    && exchange.map(|exchange| exchange.country) == country
            }
        }
    }

    fn exch_code(self) -> Option<String> {
        match self {
            Self::Is { found, .. } => found.exch_code(),
            Self::Was(was) => was.image.property(Property::ExchCode).map(str::to_owned),
        }
    }

    fn figis(self) -> [Option<Figi>; 3] {
        match self {
            Self::Is { found, .. } => found.figis(),
            Self::Was(Was { image, .. }) => {
                [Some(image.figi), image.composite_figi, image.share_class_figi]
            }
        }
    }

    fn name(self) -> Option<String> {
        match self {
            Self::Is { found, .. } => found.name(),
            Self::Was(was) => was.image.name.clone(),
        }
    }

    /// Rows of the past come in today's order of their FIGIs, and those that are gone come last.
    fn place(self) -> (u64, Figi) {
        match self {
            Self::Is { found, .. } => found.place(),
            Self::Was(was) => {
                let today = was.timeline.today.map(Candidate::place);
                today.unwrap_or((u64::MAX, was.image.figi))
            }
        }
    }
}

/// Whether an answer rests on a value that was learned after `day`.
fn basis_of(learned: &[(PastColumn, Date)], id_type: IdType, day: Date) -> Basis {
    let column = PastColumn::of(id_type);
    let is_assumed = learned.iter().any(|(learned, on)| Some(*learned) == column && *on > day);
    if is_assumed { Basis::Assumed } else { Basis::Observed }
}
