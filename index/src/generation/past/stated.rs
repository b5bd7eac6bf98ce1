//! Statements of operators about the past: identifiers that an instrument had, with exact days. It is
//! never mixed with what was observed, and each build takes it from its own files.

use super::column::PastColumn;
use super::{VersionEnd, Versions};
use crate::instrument::date::Date;
use crate::instrument::figi::Figi;
use crate::instrument::id_type::{IdType, IdValue};

/// Why an identifier was retired.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum RetiredKind {
    /// The instrument has another identifier since.
    Rename,
    /// The instrument became part of another.
    Merger,
    /// The instrument was exchanged for another.
    Conversion,
    /// The instrument is not listed any more.
    Delisting,
    /// Another instrument has the identifier since.
    Recycled,
}

impl RetiredKind {
    /// All kinds, by their codes.
    pub const ALL: [Self; 5] =
        [Self::Rename, Self::Merger, Self::Conversion, Self::Delisting, Self::Recycled];

    /// The name in files and answers.
    pub fn name(self) -> &'static str {
        match self {
            Self::Rename => "rename",
            Self::Merger => "merger",
            Self::Conversion => "conversion",
            Self::Delisting => "delisting",
            Self::Recycled => "recycled",
        }
    }

    /// Whether the instrument is not there any more.
    pub(crate) fn ends_instrument(self) -> bool {
        matches!(self, Self::Merger | Self::Conversion | Self::Delisting)
    }

    /// The kind with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// An identifier that an instrument had.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Retired {
    /// The identifier.
    pub id_value: IdValue<'static>,
    /// The first day on which the instrument had it, if that is known.
    pub from: Option<Date>,
    /// The last day on which the instrument had it, if that is known.
    pub to: Option<Date>,
    /// Why it was retired.
    pub kind: RetiredKind,
    /// The instrument that took the place of this one. It is another: a rename has none.
    pub successor: Option<Figi>,
}

impl Retired {
    /// Whether the identifier is a ticker.
    pub(crate) fn is_ticker(&self) -> bool {
        self.id_value.id_type() == IdType::Ticker
    }

    /// The last day on which the instrument had the identifier; the last of all days, if that is not
    /// known.
    pub(crate) fn end(&self) -> Date {
        self.to.unwrap_or(Date::MAX)
    }

    /// Whether the instrument had the identifier on a day.
    pub(crate) fn holds(&self, day: Date) -> bool {
        self.from.is_none_or(|from| from <= day) && self.to.is_none_or(|to| day <= to)
    }
}

/// The instrument of a row of a file of retired identifiers.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RetiredOf {
    /// The one with this FIGI, which may have gone.
    Figi(Figi),
    /// All that have this identifier now.
    Identifier(IdValue<'static>),
}

impl Versions {
    /// Whether a row was observed with a stated identifier on a day on which it is stated not to have
    /// had it, or without one that it is stated to have had. `until` is the last day of the past.
    pub(crate) fn is_contradicted(&self, until: Date) -> bool {
        let closed = self.closed.iter().filter(|version| version.end != VersionEnd::Revised);
        let closed = closed.map(|it| (&it.image, it.first, it.last, &it.learned));
        let open = self.open.iter().map(|it| (&it.image, it.first, until, &it.learned));
        closed.chain(open).any(|(image, first, last, learned)| {
            self.stated.iter().any(|retired| {
                let id_value = &retired.id_value;
                if !image.has_key(id_value) {
                    return retired.from.is_none_or(|from| from <= last)
                        && retired.to.is_none_or(|to| first <= to);
                }
                // A value that was learned later was not observed before.
                let column = PastColumn::of(id_value.id_type());
                let known = learned.iter().find(|(learned, _)| Some(*learned) == column);
                !self.is_stated_throughout(id_value, known.map_or(first, |known| known.1), last)
            })
        })
    }

    /// Whether each of some days is stated to be one on which the FIGI had an identifier.
    fn is_stated_throughout(&self, id_value: &IdValue<'_>, first: Date, last: Date) -> bool {
        let mut day = first;
        loop {
            let of_day = self.stated.iter().filter(|it| it.id_value == *id_value && it.holds(day));
            let Some(to) = of_day.map(Retired::end).max() else { return false };
            match Date::from_days(to.to_days() + 1) {
                Some(next) if to < last => day = next,
                _ => return true,
            }
        }
    }
}
