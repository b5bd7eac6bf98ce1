//! The questions about identifiers, and the trait of an index or a server that answers them.

use std::borrow::Cow;

use figdex_index::{
    Basis, Coverage, Date, Figi, IdType, Instrument, Known, ListField, PastRow, Property,
    Resolution, Status, Vendor, Vocabulary, WasRow,
};

use super::left_out::LeftOut;

/// For each property, the value that a found row must have; `None` allows any value.
pub(super) type Narrowing = [Option<Known>; Property::COUNT];

/// One identifier and the way to read it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Asked<'a> {
    pub(super) text: Cow<'a, str>,
    pub(super) reading: AskedAs,
    pub(super) narrowing: Narrowing,
    /// The day as of which it is asked; `None` for today.
    pub(super) day: Option<Date>,
}

/// The way to read an identifier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AskedAs {
    /// As a text of unknown type: all of its readings are tried.
    Text,
    /// As a text of a column of this type.
    OfColumn(IdType),
    /// As an identifier of this type.
    Given(IdType),
    /// As a symbol of this vendor.
    Symbol(Vendor),
}

/// An index or a server that resolves identifiers.
pub(super) trait Answerer: Sync {
    /// A found row.
    type Row;

    /// The values that properties may have. For a server, only those of the properties that the
    /// command uses.
    fn vocabulary(&self) -> &Vocabulary;

    /// The generation of the index; `None` for a server that has not answered a question yet.
    fn generation(&self) -> Option<u64>;

    /// The days that the past of the index covers; `None` without a past.
    fn coverage(&self) -> Option<Coverage>;

    /// The answers, in the order of the questions.
    ///
    /// # Errors
    /// When the index or the server cannot answer.
    fn resolve(&self, asked: &[Asked<'_>]) -> anyhow::Result<Vec<Answer<Self::Row>>>;

    /// The answers once more, with the candidates of names that are not resolved (contract 17.15).
    ///
    /// # Errors
    /// When the index or the server cannot answer.
    fn candidates(&self, asked: &[Asked<'_>]) -> anyhow::Result<Vec<Answer<Self::Row>>>;

    /// The answers with these steps in place of those of the flags, and with all candidates of each
    /// ambiguous identifier. `None` for a server: the questions would count in its rate limit.
    ///
    /// # Errors
    /// When the index cannot answer, or a step is invalid.
    fn try_steps(
        &self,
        _asked: &[Asked<'_>],
        _steps: &[String],
    ) -> anyhow::Result<Option<Vec<Answer<Self::Row>>>> {
        Ok(None)
    }

    /// Appends a field of a row, escaped as inside a JSON string; several identifiers with
    /// [`SEVERAL`] between them. Returns `false` if the row does not have the field.
    fn field(&self, row: &Self::Row, field: ListField, out: &mut Vec<u8>) -> bool;
}

/// Separates several identifiers of a field. It is a control character, which escaped texts do not
/// have.
pub(super) const SEVERAL: u8 = 0x1e;

/// The past of one row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RowPast {
    /// The FIGI that the row had.
    pub(super) figi: Figi,
    /// The FIGI, if it has a row now.
    pub(super) today: Option<Figi>,
    /// The first day on which the row was observed so.
    pub(super) valid_from: Option<Date>,
    /// The last day; `None` if it still is so.
    pub(super) valid_to: Option<Date>,
    pub(super) basis: Option<Basis>,
    /// The instrument that took the place of this one, if one is stated.
    pub(super) successor: Option<Figi>,
}

impl RowPast {
    /// The same past for the reason of a result, if its days are known.
    pub(super) fn for_reason(&self) -> Option<PastRow> {
        let Self { figi, valid_from, valid_to, basis, successor, .. } = *self;
        let (row, basis) = (WasRow::Then(Box::new(Instrument::new(figi))), basis?);
        Some(PastRow { figi, row, valid_from, valid_to, basis, today: None, successor })
    }
}

impl From<&PastRow> for RowPast {
    fn from(row: &PastRow) -> Self {
        Self {
            figi: row.figi,
            today: row.today.map(|_| row.figi),
            valid_from: row.valid_from,
            valid_to: row.valid_to,
            basis: Some(row.basis),
            successor: row.successor,
        }
    }
}

/// The answer to one question.
pub(super) struct Answer<R> {
    /// The status and its reason. Its `hits` are empty: `rows` has the rows.
    pub(super) resolution: Resolution,
    /// The row that is meant, or the candidates if they are requested. As of a day, these are rows
    /// as they were.
    pub(super) rows: Vec<R>,
    /// The past of each of `rows`; without a day, the former rows of the identifier.
    pub(super) past: Vec<RowPast>,
    /// Whether no row has the identifier now, but rows had it.
    pub(super) is_former: bool,
    /// Whether the row is historical, and such rows count as matched. Then `rows` has the row that
    /// the FIGI has now.
    pub(super) is_accepted: bool,
    /// The FIGIs of the securities that the text may name, if they were asked for.
    pub(super) candidates: Vec<String>,
    /// The reason why the row is not asked, if it is not (contract 17.16).
    pub(super) left_out: Option<LeftOut>,
}

impl<R> Answer<R> {
    /// An answer without candidates.
    pub(super) fn new(resolution: Resolution, rows: Vec<R>) -> Self {
        let (past, candidates) = Default::default();
        let (is_former, is_accepted) = Default::default();
        Self { resolution, rows, past, is_former, is_accepted, candidates, left_out: None }
    }

    /// Whether one row is meant.
    pub(super) fn is_matched(&self) -> bool {
        matches!(self.resolution.status, Status::Resolved(_)) || self.is_accepted
    }

    /// The number of rows that may be meant.
    pub(super) fn matches(&self) -> usize {
        if self.is_accepted { 1 } else { self.resolution.status.matches() }
    }

    /// The answer for a row that is not asked.
    pub(super) fn left_out(reason: LeftOut) -> Self {
        let resolution = Resolution::new(Status::Unknown, Vec::new(), Vec::new());
        Self { left_out: Some(reason), ..Self::new(resolution, Vec::new()) }
    }
}

/// Whether readings of a text find different securities. No step chooses between these.
pub(super) fn has_several_readings(resolution: &Resolution) -> bool {
    resolution.id_types.len() > 1
}
