//! The columns that a list asks for: fields of the row, its identifiers and its symbols.

use figdex_index::{
    Crosswalk, CrosswalkRow, Field, FieldValue, Hit, ListColumns, ListField, RowSource, Visible,
    WasRow,
};

use crate::callers::version::Version;
use crate::wire::json::{array, string};
use crate::wire::{Fault, row};

/// The columns that a list asks for.
pub(crate) struct ListFields {
    all: Vec<ListField>,
    /// The same columns, if all of them are fields of the row.
    of_row: Option<Vec<Field>>,
}

impl Default for ListFields {
    /// The fields of a row of v3.
    fn default() -> Self {
        Self::new(Field::of_every_row().iter().map(|field| ListField::Row(*field)).collect())
    }
}

impl ListFields {
    pub(super) fn new(all: Vec<ListField>) -> Self {
        let of_row = all.iter().map(|field| field.row_field()).collect();
        Self { all, of_row }
    }

    /// Parses the names of fields.
    pub(super) fn parse<'n>(names: impl Iterator<Item = &'n str>) -> Result<Self, Fault> {
        let mut fields: Vec<ListField> = Vec::new();
        for name in names.map(str::trim) {
            let field = ListField::from_name(name).ok_or_else(|| {
                let names: Vec<_> = ListField::names().collect();
                let name: String = name.chars().take(64).collect();
                format!("fields: {name:?} is not a field; the fields are {}.", names.join(", "))
            })?;
            if fields.contains(&field) {
                return Err(format!("fields: {name} is asked for twice.").into());
            }
            fields.push(field);
        }
        Ok(Self::new(fields))
    }

    /// All of them, in their order.
    pub(crate) fn all(&self) -> &[ListField] {
        &self.all
    }

    /// Whether some are identifiers or symbols, which are not in the row.
    pub(crate) fn has_crosswalk(&self) -> bool {
        self.of_row.is_none()
    }

    /// The first symbol among them.
    pub(crate) fn symbol(&self) -> Option<ListField> {
        self.all.iter().copied().find(|field| matches!(field, ListField::Symbol(_)))
    }

    fn has_figi(&self) -> bool {
        self.all.contains(&ListField::Row(Field::Figi))
    }
}

/// The rows of an answer, with the identifiers and symbols of those that are written now.
pub(crate) struct ShownRows<'a, R> {
    pub(crate) fields: &'a ListFields,
    pub(crate) rows: &'a R,
    pub(crate) crosswalk: &'a Crosswalk,
    pub(crate) visible: Visible,
}

impl<R: RowSource> ShownRows<'_, R> {
    /// Writes a row as an object with these members, null where unknown.
    pub(super) fn now(&self, out: &mut Vec<u8>, hit: Hit) {
        let row = self.rows.row(hit);
        let Some(fields) = &self.fields.of_row else {
            let texts = Texts::Now(hit, self.crosswalk.row(hit));
            return self.object(out, &[], |field| row.value(field), texts, |_| {});
        };
        // Most lists want the row of v3. Its members are written faster when they are known in
        // advance. But `row::write` would add the `metadata` of a row that has it.
        if fields == Field::of_every_row() && row.metadata().is_none() {
            return row::write(out, Version::V3, row);
        }
        row::object(out, fields, |field| row.value(field), |_| {});
    }

    /// Writes a row with its FIGI, which comes first unless it is asked for.
    pub(super) fn with_figi(&self, out: &mut Vec<u8>, hit: Hit) {
        if self.fields.has_figi() {
            return self.now(out, hit);
        }
        let row = self.rows.row(hit);
        let value = |field| row.value(field);
        match &self.fields.of_row {
            Some(fields) => {
                let fields: Vec<Field> = [Field::Figi].iter().chain(fields).copied().collect();
                row::object(out, &fields, value, |_| {});
            }
            None => {
                let texts = Texts::Now(hit, self.crosswalk.row(hit));
                self.object(out, &[Field::Figi], value, texts, |_| {});
            }
        }
    }

    /// Writes a row as it was, and `more` as further members.
    pub(super) fn was(&self, out: &mut Vec<u8>, was: &WasRow, more: impl Fn(&mut Vec<u8>)) {
        let value = |field| was.value(self.rows, field);
        match (was, &self.fields.of_row) {
            // Most rows are as today, and the usual fields of those are written faster.
            (WasRow::AsToday(hit), Some(fields)) if fields == Field::of_every_row() => {
                self.now(out, *hit);
                out.pop();
                more(out);
                out.push(b'}');
            }
            (_, Some(fields)) => row::object(out, fields, value, more),
            (was, None) => self.object(out, &[], value, Texts::Was(was), more),
        }
    }

    /// Writes the columns as members of an object, with those of `first` before them.
    fn object<'v>(
        &self,
        out: &mut Vec<u8>,
        first: &[Field],
        value: impl Fn(Field) -> Option<FieldValue<'v>>,
        texts: Texts<'_>,
        more: impl Fn(&mut Vec<u8>),
    ) {
        row::object(out, first, &value, |out| {
            for (place, field) in self.fields.all.iter().enumerate() {
                out.push(b',');
                string(out, field.name());
                out.push(b':');
                match field {
                    ListField::Row(field) => row::value(out, value(*field)),
                    ListField::Identifiers(..) | ListField::Symbol(_) => {
                        self.texts(texts, place, |texts| identifiers(out, texts));
                    }
                }
            }
            more(out);
        });
    }

    /// Passes the texts of the column at a place on.
    fn texts(
        &self,
        of: Texts<'_>,
        place: usize,
        mut then: impl FnMut(&mut dyn Iterator<Item = &str>),
    ) {
        match of {
            Texts::Now(_, row) => then(&mut row.texts(place)),
            Texts::Was(was) => {
                let (fields, visible) = (self.fields.all(), self.visible);
                let columns = ListColumns { fields, visible };
                let texts = self.crosswalk.texts_of_past(was, columns, place);
                then(&mut texts.iter().map(String::as_str));
            }
        }
    }

    /// The column at a place as the text of a cell. Several identifiers are joined.
    pub(super) fn cell(&self, place: usize, shown: Option<Texts<'_>>) -> String {
        let Some(of) = shown else { return String::new() };
        if let Some(field) = self.fields.all[place].row_field() {
            let value = match of {
                Texts::Now(hit, _) => {
                    self.rows.row(hit).value(field).map(|value| value.to_string())
                }
                Texts::Was(was) => was.value(self.rows, field).map(|value| value.to_string()),
            };
            return value.unwrap_or_default();
        }
        let mut cell = String::new();
        self.texts(of, place, |texts| {
            for text in texts {
                if !cell.is_empty() {
                    cell.push('|');
                }
                cell.push_str(text);
            }
        });
        cell
    }
}

/// Writes the identifiers of a column: null for none, a text for one, and an array for several.
fn identifiers(out: &mut Vec<u8>, texts: &mut dyn Iterator<Item = &str>) {
    let Some(first) = texts.next() else { return out.extend_from_slice(b"null") };
    let Some(second) = texts.next() else { return string(out, first) };
    let several: Vec<&str> = [first, second].into_iter().chain(texts).collect();
    array(out, &several, |out, text| string(out, text));
}

/// The row whose texts are written.
#[derive(Clone, Copy)]
pub(super) enum Texts<'a> {
    /// A row of today, with its identifiers and symbols.
    Now(Hit, CrosswalkRow<'a>),
    /// A row as it was.
    Was(&'a WasRow),
}
