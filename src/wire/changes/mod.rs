//! The parameters of `GET /changes`, its cursor and its pages (contract 19), in JSON, CSV and
//! NDJSON. The columns of an image and their texts are those of an export.

mod cursor;

use std::io::Write as _;

use figdex_index::{
    CHANGE_COLUMNS, Changed, ExportedObject, Figi, GenerationId, HasSeparator, IdType, Instrument,
    Manifest, Visible, csv_text, export_columns,
};
use jiff::Timestamp;

use self::cursor::ChangesCursor;
use super::Fault;
use super::cell::push_cell;
use super::json::string;
use super::list::Form;
use super::token::Token;
use super::url_filters::{number_to, once};
use crate::callers::error::{ApiError, OpenError};
use crate::callers::limits::{
    CHANGES_PAGE_BYTES, CHANGES_PAGE_INSTRUMENTS, CHANGES_PAGE_INSTRUMENTS_MAX,
};
use crate::http::pieces::Pieces;

/// The error of a request that names no token.
const NO_SINCE: &str = "since is missing: give the token of the data that you have, which \
    `figdex-ingest export`, GET /about, and the header figdex-token of /resolve and /changes name.";

/// The generation up to which the changes go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Target {
    pub(crate) id: GenerationId,
    /// The number of the generation.
    pub(crate) number: u64,
    /// The time when it was published in object storage, or else built.
    pub(crate) time: Timestamp,
}

impl Target {
    /// The served generation.
    ///
    /// # Errors
    /// [`ApiError::Internal`] when the manifest, which may come from a stranger, has no time.
    pub(crate) fn of(manifest: &Manifest) -> Result<Self, ApiError> {
        let time = manifest.available_at().parse().map_err(|error: jiff::Error| {
            tracing::error!(%error, "the manifest has no valid time");
            ApiError::Internal
        })?;
        Ok(Self { id: manifest.id, number: manifest.generation, time })
    }
}

/// A request for changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ChangesRequest {
    /// The generation that the caller has.
    pub(crate) since: GenerationId,
    pub(crate) target: Target,
    /// The idTypes that the caller may see.
    visible: Visible,
    /// The FIGI from which the page begins.
    pub(crate) first: Option<Figi>,
    /// The most instruments of the page.
    pub(crate) limit: usize,
}

impl ChangesRequest {
    /// Reads the query string of the request. `served` is the target of a first page; the cursor
    /// of a later page names its target. `visible` has the idTypes that the caller may see.
    ///
    /// # Errors
    /// - [`OpenError::Invalid`] when a parameter is wrong.
    /// - [`OpenError::Conflict`] when the token or the cursor is of data with other columns.
    pub(crate) fn parse(query: &str, served: Target, visible: Visible) -> Result<Self, OpenError> {
        let (since, limit, cursor) = parameters(query).map_err(OpenError::Invalid)?;
        let invalid = |fault: &'static str| OpenError::Invalid(fault.into());
        let fits = |of: Visible, what| match of == visible {
            true => Ok(()),
            false => Err(other_columns(what, of, visible)),
        };
        match (since, cursor) {
            (_, Some(None)) => Err(invalid("Invalid cursor value.")),
            (since, Some(Some(cursor))) => {
                let ChangesCursor { since: of_cursor, visible: shown, target, first } = cursor;
                let is_other =
                    |since: Token| (since.generation, since.visible) != (of_cursor, shown);
                if since.is_some_and(is_other) {
                    return Err(invalid("since is not that of the cursor."));
                }
                fits(shown, "cursor")?;
                Ok(Self { since: of_cursor, target, visible, first: Some(first), limit })
            }
            (Some(Token { generation: since, visible: shown }), None) => {
                fits(shown, "token")?;
                Ok(Self { since, target: served, visible, first: None, limit })
            }
            (None, None) => Err(invalid(NO_SINCE)),
        }
    }
}

/// The token, the limit and the cursor of a query string. A cursor that cannot be read is
/// `Some(None)`.
type Parameters = (Option<Token>, usize, Option<Option<ChangesCursor>>);

fn parameters(query: &str) -> Result<Parameters, Fault> {
    let (mut since, mut limit, mut cursor) = (None, None, None);
    for (name, value) in form_urlencoded::parse(query.as_bytes()) {
        match &*name {
            "since" => once(&name, &mut since, value)?,
            "limit" => once(&name, &mut limit, value)?,
            "cursor" => once(&name, &mut cursor, value)?,
            _ => return Err(super::invalid_key(&name)),
        }
    }
    let limit = number_to(CHANGES_PAGE_INSTRUMENTS_MAX, limit.as_deref())?;
    let since = since.map(|since| since.parse::<Token>());
    let since = since.transpose().map_err(|fault| format!("Invalid since: {fault}."))?;
    let cursor = cursor.map(|cursor| ChangesCursor::decode(&cursor));
    Ok((since, limit.unwrap_or(CHANGES_PAGE_INSTRUMENTS), cursor))
}

/// The refusal of a token or cursor of data with other columns than the caller may see (contract
/// 23.7).
fn other_columns(what: &str, of: Visible, visible: Visible) -> OpenError {
    let names = |of: Visible, not_of: Visible| {
        let names = of.hidden().filter(|id_type| not_of.has(*id_type)).map(IdType::name);
        names.collect::<Vec<_>>().join(", ")
    };
    let (without, with) = (names(of, visible), names(visible, of));
    let differs = match (&*with, &*without) {
        (with, "") => format!("with {with}, which this request may not see"),
        ("", without) => format!("without {without}, which this request may see"),
        (with, without) => format!(
            "with {with}, which this request may not see, and without {without}, which it may see"
        ),
    };
    let text = format!(
        "This {what} is of data {differs}. Ask with the key that the {what} was given to, or begin \
         again: make a copy with the columns that this request may see, and go on from the token \
         that GET /about gives with the same key."
    );
    OpenError::Conflict(text.into())
}

/// A page of changes that is being written.
pub(crate) struct ChangesWriter {
    out: Pieces,
    form: Form,
    request: ChangesRequest,
    /// The time of the target as text.
    time: String,
    /// The instruments on the page.
    instruments: usize,
    has_images: bool,
    /// The object of an image, before it is appended.
    object: Vec<u8>,
}

/// A page that was written.
pub(crate) struct WrittenChanges {
    pub(crate) out: Pieces,
    pub(crate) instruments: usize,
    /// The cursor of the next page; `None` on the last page.
    pub(crate) cursor: Option<String>,
}

impl ChangesWriter {
    /// Begins a page in the pieces of an empty answer.
    pub(crate) fn new(mut out: Pieces, form: Form, request: ChangesRequest) -> Self {
        let number = request.target.number;
        let is_shown = |name: &&str| shows(request.visible, name);
        match form {
            Form::Ndjson => {}
            Form::Csv => {
                let names: Vec<_> =
                    CHANGE_COLUMNS.into_iter().chain(export_columns().filter(is_shown)).collect();
                out.last().extend_from_slice(names.join(",").as_bytes());
                out.last().push(b'\n');
            }
            Form::Json => {
                write!(out.last(), "{{\"generation\":{number},\"changes\":[").expect(IN_MEMORY);
            }
        }
        let time = request.target.time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
        let (instruments, has_images, object) = Default::default();
        Self { out, form, request, time, instruments, has_images, object }
    }

    /// Adds the images of an instrument, without what the caller may not see ([`Changed::shown`]).
    /// Returns whether the page has room for more.
    ///
    /// # Errors
    /// [`OpenError::NotAcceptable`] when CSV cannot hold a value.
    pub(crate) fn add(&mut self, changed: &Changed) -> Result<bool, OpenError> {
        let is_cosmetic = changed.is_cosmetic();
        for (kind, image) in changed.images() {
            self.image(kind, is_cosmetic, image)?;
        }
        self.instruments += 1;
        let has_room = self.instruments < self.request.limit && self.out.len() < CHANGES_PAGE_BYTES;
        Ok(has_room && self.out.refused().is_none())
    }

    fn image(
        &mut self,
        kind: &str,
        is_cosmetic: bool,
        image: &Instrument,
    ) -> Result<(), OpenError> {
        let number = self.request.target.number;
        self.out.begin_if_full();
        let out = self.out.last();
        if self.form == Form::Csv {
            write!(out, "{kind},{number},{},{is_cosmetic}", self.time).expect(IN_MEMORY);
            let visible = self.request.visible;
            for (column, value) in image.exported().filter(|(name, _)| shows(visible, name)) {
                let text =
                    csv_text(value).map_err(|HasSeparator| in_no_cell(column, image.figi))?;
                out.push(b',');
                push_cell(text.as_bytes(), b',', b"", out);
            }
            out.push(b'\n');
            return Ok(());
        }
        if self.form == Form::Json && self.has_images {
            out.push(b',');
        }
        self.has_images = true;
        let [first, second, third, fourth] = CHANGE_COLUMNS;
        write!(
            out,
            "{{\"{first}\":\"{kind}\",\"{second}\":{number},\"{third}\":\"{}\",\
             \"{fourth}\":{is_cosmetic},",
            self.time
        )
        .expect(IN_MEMORY);
        self.object.clear();
        serde_json::to_writer(&mut self.object, &ExportedObject(image)).expect(IN_MEMORY);
        // It has a FIGI at least, so its members are after the brace.
        out.extend_from_slice(&self.object[1..]);
        if self.form == Form::Ndjson {
            out.push(b'\n');
        }
        Ok(())
    }

    /// Ends the page. The next one begins from the FIGI `next`, if there is one.
    pub(crate) fn finish(self, next: Option<Figi>) -> WrittenChanges {
        let Self { mut out, form, request: ChangesRequest { since, target, visible, .. }, .. } =
            self;
        let cursor = next.map(|first| ChangesCursor { since, visible, target, first }.encode());
        if form == Form::Json {
            let (name, text) = match &cursor {
                Some(cursor) => ("cursor", cursor.clone()),
                None => ("token", Token { generation: target.id, visible }.to_string()),
            };
            write!(out.last(), "],\"{name}\":").expect(IN_MEMORY);
            string(out.last(), &text);
            out.last().push(b'}');
        }
        out.shrink();
        WrittenChanges { out, instruments: self.instruments, cursor }
    }
}

/// Whether a column of an export is shown.
fn shows(visible: Visible, column: &str) -> bool {
    IdType::from_name(column).is_none_or(|id_type| visible.has(id_type))
}

/// Writing into memory does not fail.
const IN_MEMORY: &str = "writing into memory does not fail";

/// The refusal of CSV: a value would be read as several.
fn in_no_cell(column: &str, figi: Figi) -> OpenError {
    OpenError::NotAcceptable(format!(
        "A value of {column} of {figi} contains \";\", which separates values in CSV: accept \
         application/x-ndjson or application/json."
    ))
}
