//! Terms of options, bonds and futures among the words: put or call, strike, coupon, and the day,
//! month or year in which an instrument ends.

use std::ops::Range;

use super::days::{days, is_year};
use super::pieces::{Piece, joined, range_of};
use super::places;
use super::{Draft, Narrowing, TypedText};
use crate::instrument::attribute::Attribute;
use crate::instrument::vocabulary::Property;
use crate::query::interval::{DateInterval, NumberInterval};

/// The most bytes of a number.
const NUMBER_BYTES_MAX: usize = 12;

/// The denominators of coupons that are written as fractions: `4 1/4`.
const DENOMINATORS: [f64; 6] = [2.0, 4.0, 8.0, 16.0, 32.0, 64.0];

/// A term and its place in the text.
type At<T> = Option<(T, Range<usize>)>;

/// The terms of a text. Of each kind the first one counts; further ones are words.
#[derive(Default)]
struct Terms<'a> {
    /// The type of option, as the property has it.
    right: At<&'static str>,
    /// The places where the type of option is said once more, as in `C155 call`.
    right_again: Vec<Range<usize>>,
    /// A word for options of both types.
    option: At<()>,
    /// The days in which the instrument ends.
    time: At<DateInterval>,
    /// Whether the days are a whole year.
    is_year: bool,
    /// A number, which may be a strike or a coupon.
    number: At<f64>,
    /// A number that can only be a coupon, since a percent sign follows it.
    percent: At<f64>,
    /// Whether the number has a decimal point or a fraction.
    is_exact: bool,
    /// The other words.
    rest: Vec<Piece<'a>>,
}

/// The kinds of terms that a reading leaves out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Without {
    #[default]
    Nothing,
    /// The number, which is searched for as a word.
    NumberAsWord,
    Number,
    Time,
}

/// The readings with all terms of the text, and those that also have a place.
pub(super) fn whole(typed: TypedText<'_>) -> Vec<Draft> {
    let terms = Terms::of(typed.pieces);
    let mut drafts = terms.drafts(typed, Without::Nothing);
    if drafts.is_empty() {
        return drafts;
    }
    if let Some((place, values)) = places::named(&terms.rest, typed.vocabulary) {
        for mut draft in terms.drafts(typed, Without::Nothing) {
            let rest = terms.rest.iter().filter(|piece| !place.contains(&piece.start));
            draft.words = joined(rest);
            draft.chips.push((place.clone(), values.clone()));
            drafts.push(draft);
        }
    }
    drafts
}

/// The readings without one of the terms, if there are several.
pub(super) fn partly(typed: TypedText<'_>) -> Vec<Draft> {
    let terms = Terms::of(typed.pieces);
    let number =
        terms.percent.as_ref().map(|(_, at)| at).or(terms.number.as_ref().map(|(_, at)| at));
    let has_number = number.is_some();
    // A piece such as `C200` is one term of two kinds.
    let is_apart = terms.right.as_ref().is_none_or(|(_, at)| Some(at) != number);
    let mut drafts = Vec::new();
    if has_number && is_apart && (terms.time.is_some() || terms.is_option()) {
        drafts.extend(terms.drafts(typed, Without::NumberAsWord));
        drafts.extend(terms.drafts(typed, Without::Number));
    }
    if terms.time.is_some() && (has_number || terms.is_option()) {
        drafts.extend(terms.drafts(typed, Without::Time));
    }
    drafts
}

impl<'a> Terms<'a> {
    fn of(pieces: &[Piece<'a>]) -> Self {
        let mut terms = Self::default();
        let mut left = pieces;
        while let [first, ..] = left {
            let taken = terms.take(left);
            if taken == 0 {
                terms.rest.push(*first);
            }
            left = &left[taken.clamp(1, left.len())..];
        }
        terms
    }

    /// Takes the term that the pieces begin with. Returns the number of its pieces, 0 for a word.
    fn take(&mut self, pieces: &[Piece<'a>]) -> usize {
        let [first, others @ ..] = pieces else { return 0 };
        let at = first.range();
        let right = match &*first.text.to_ascii_lowercase() {
            "call" | "calls" => Some("Call"),
            "put" | "puts" => Some("Put"),
            "option" | "options" if self.option.is_none() => {
                self.option = Some(((), at));
                return 1;
            }
            _ => None,
        };
        if let Some(right) = right {
            match &self.right {
                None => self.right = Some((right, at)),
                Some((known, _)) if *known == right => self.right_again.push(at),
                Some(_) => return 0,
            }
            return 1;
        }
        if self.time.is_none()
            && let Some((interval, count)) = days(pieces)
        {
            self.is_year = is_year(first.text) && count == 1;
            self.time = Some((interval, range_of(&pieces[..count])));
            return count;
        }
        let has_number = self.number.is_some() || self.percent.is_some();
        if has_number {
            return 0;
        }
        if let Some((right, strike)) = strike(first.text)
            && self.right.as_ref().is_none_or(|(known, _)| *known == right)
        {
            self.right.get_or_insert((right, at.clone()));
            self.number = Some((strike, at));
            return 1;
        }
        if let Some(percent) = first.text.strip_suffix('%') {
            let Some(percent) = number(percent) else { return 0 };
            self.percent = Some((percent, at));
            return 1;
        }
        let digits = first.text.strip_prefix('$').unwrap_or(first.text);
        if let Some(of_word) = number(digits).or_else(|| with_fraction(digits)) {
            let fraction = others.first().and_then(|piece| fraction(piece.text));
            self.is_exact = digits.contains(['.', '/']) || fraction.is_some();
            let count = 1 + usize::from(fraction.is_some());
            self.number = Some((of_word + fraction.unwrap_or(0.0), range_of(&pieces[..count])));
            return count;
        }
        0
    }

    fn is_option(&self) -> bool {
        self.right.is_some() || self.option.is_some()
    }

    /// The readings of the terms: as an option, or else as a bond and as any instrument with a
    /// strike.
    fn drafts(&self, typed: TypedText<'_>, without: Without) -> Vec<Draft> {
        let is_asked = self.is_option()
            || self.time.is_some()
            || self.percent.is_some()
            || self.number.is_some() && self.is_exact;
        if !is_asked {
            return Vec::new();
        }
        let number = self.number.as_ref();
        let coupon = self.percent.as_ref().or(number);
        let (ends, matures) = (Attribute::Expiration, Attribute::Maturity);
        let mut drafts = Vec::new();
        if self.is_option() {
            drafts.extend(self.draft(typed, (Attribute::Strike, number), ends, without));
        } else {
            let of_bond = if coupon.is_some() || self.is_year { matures } else { ends };
            drafts.extend(self.draft(typed, (Attribute::Coupon, coupon), of_bond, without));
            if number.is_some() && self.time.is_some() {
                drafts.extend(self.draft(typed, (Attribute::Strike, number), ends, without));
            }
        }
        drafts
    }

    fn draft(
        &self,
        typed: TypedText<'_>,
        (attribute, number): (Attribute, Option<&(f64, Range<usize>)>),
        ends: Attribute,
        without: Without,
    ) -> Option<Draft> {
        let (mut chips, mut left_out, mut as_word) = (Vec::new(), Vec::new(), None);
        let value = |property, value| {
            let known = typed.vocabulary.admit(property, value)?;
            Some(Narrowing::Values(vec![known]))
        };
        if let Some((right, at)) = &self.right {
            for at in std::iter::once(at).chain(&self.right_again) {
                chips.push((at.clone(), value(Property::OptionType, right)?));
            }
        }
        if attribute == Attribute::Strike
            && let Some((_, at)) = &self.percent
        {
            left_out.push(at.clone());
        }
        if let Some(((), at)) = &self.option {
            chips.push((at.clone(), value(Property::SecurityType2, "Option")?));
        }
        if let Some((number, at)) = number {
            match without {
                Without::NumberAsWord => as_word = Some(at),
                Without::Number => left_out.push(at.clone()),
                _ => {
                    let interval = NumberInterval::new(Some(*number), Some(*number)).ok()?;
                    chips.push((at.clone(), Narrowing::Number(attribute, interval)));
                }
            }
        }
        if let Some((interval, at)) = &self.time {
            match without {
                Without::Time => left_out.push(at.clone()),
                _ => chips.push((at.clone(), Narrowing::Day(ends, *interval))),
            }
        }
        let is_word = |piece: &&Piece<'_>| {
            let is_number = as_word.is_some_and(|at| at.contains(&piece.start));
            is_number || self.rest.contains(piece)
        };
        let words = joined(typed.pieces.iter().filter(is_word));
        Some(Draft { words, chips, left_out })
    }
}

/// A strike with a letter for the type of option: `C200`, `200P`.
fn strike(text: &str) -> Option<(&'static str, f64)> {
    let letters = [("Call", ['C', 'c']), ("Put", ['P', 'p'])];
    letters.into_iter().find_map(|(right, letters)| {
        let digits = text.strip_prefix(letters).or_else(|| text.strip_suffix(letters))?;
        Some((right, number(digits)?))
    })
}

/// A number without a sign: `200`, `4.25`.
fn number(text: &str) -> Option<f64> {
    let is_number = text.len() <= NUMBER_BYTES_MAX
        && text.starts_with(|c: char| c.is_ascii_digit())
        && text.ends_with(|c: char| c.is_ascii_digit())
        && text.bytes().all(|c| c.is_ascii_digit() || c == b'.');
    is_number.then(|| text.parse().ok())?
}

/// A number with a fraction after a dash: `4-1/4`.
fn with_fraction(text: &str) -> Option<f64> {
    let (whole, part) = text.split_once('-')?;
    Some(number(whole)? + fraction(part)?)
}

fn fraction(text: &str) -> Option<f64> {
    let (above, below) = text.split_once('/')?;
    let (above, below) = (number(above)?, number(below)?);
    (above < below && DENOMINATORS.contains(&below)).then(|| above / below)
}
