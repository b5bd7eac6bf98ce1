//! Lists: the bodies and the answers of `POST /resolve` (contract 17), in JSON, CSV and NDJSON.
//!
//! | file | shape |
//! |---|---|
//! | `as_of` | the day as of which a list or a job is asked |
//! | `options` | `prefer`, `fields`, `many`, …: members of a body or parameters |
//! | `body` | JSON and NDJSON bodies |
//! | `table` | CSV bodies |
//! | `fields` | the members of a row that are asked for |
//! | `answer` | the answer in each form |
//! | `past` | rows of the past in an answer |
//! | `url` | a list in the query of a URL |

mod answer;
mod as_of;
mod body;
mod fields;
mod options;
mod past;
mod table;
mod url;

use std::borrow::Cow;

use figdex_index::{
    Date, ID_VALUE_BYTES_MAX, IdType, Meter, QUESTION_UNITS, Question, TakesMore, Vocabularies,
    Vocabulary,
};

pub(crate) use self::answer::{ListedJob, Writer};
pub(crate) use self::options::{Options, unknown_values};
pub(crate) use self::url::UrlList;
use super::Fault;
use super::job::Job;
use crate::callers::limits::units_of_body;
use crate::callers::version::Version;

/// The form of a body or of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    Json,
    Csv,
    /// One JSON value per line: a job of a body, or a result.
    Ndjson,
}

/// A list that was read and checked.
pub(crate) struct List<'a> {
    pub(crate) options: Options,
    /// The jobs; `None` when a JSON body has no `jobs`.
    pub(crate) jobs: Option<Vec<ListJob<'a>>>,
    /// The types of the columns that a JSON body asks about.
    pub(crate) columns: Option<Vec<Option<figdex_index::Recognised>>>,
}

/// One job of a list.
pub(crate) struct ListJob<'a> {
    /// The identifier as sent, for the column `input`.
    pub(crate) input: Cow<'a, str>,
    pub(crate) question: Question<'a>,
    /// The day as of which it is asked; `None` means as of now.
    pub(crate) day: Option<Date>,
}

/// A list that cannot be answered.
#[derive(Debug)]
pub(crate) enum ListError {
    /// The body or an option is wrong, for this reason.
    Invalid(Fault),
    /// There are more jobs than allowed. Fewer are allowed if candidates were asked for.
    TooManyJobs { has_candidates: bool },
    /// Reading takes more work than the meter allows.
    TakesMore,
}

impl From<TakesMore> for ListError {
    fn from(TakesMore: TakesMore) -> Self {
        Self::TakesMore
    }
}

impl From<Fault> for ListError {
    fn from(fault: Fault) -> Self {
        Self::Invalid(fault)
    }
}

impl From<&'static str> for ListError {
    fn from(fault: &'static str) -> Self {
        Self::Invalid(fault.into())
    }
}

impl From<String> for ListError {
    fn from(fault: String) -> Self {
        Self::Invalid(fault.into())
    }
}

/// The most columns that one request may ask the types of. `COLUMN_TEXTS_MAX` is the most texts in
/// all of them.
const COLUMNS_MAX: usize = 64;
const COLUMN_TEXTS_MAX: usize = 10_000;

/// Everything that the reading of a list depends on, apart from its body and parameters.
#[derive(Clone, Copy)]
pub(crate) struct Context<'c> {
    pub(crate) vocabulary: Vocabularies<'c>,
    /// The most jobs.
    pub(crate) jobs_max: usize,
    /// The meter; it is charged for every byte and every text.
    pub(crate) meter: &'c Meter,
}

impl<'a> List<'a> {
    /// Reads a list. `parameters` is the query of the URL.
    ///
    /// # Errors
    /// [`ListError`].
    pub(crate) fn read(
        body: &'a [u8],
        form: Form,
        parameters: &str,
        context: Context<'_>,
    ) -> Result<Self, ListError> {
        context.meter.charge(units_of_body(body))?;
        let body = str::from_utf8(body)
            .map_err(|_| "The body is not UTF-8. It must not be compressed either.")?;
        let body = body.strip_prefix('\u{feff}').unwrap_or(body);
        let options = Options::of_parameters(parameters, context.vocabulary)?;
        match form {
            Form::Json => body::json(body, options, context),
            Form::Ndjson => body::lines(body, options, context),
            Form::Csv => table::read(body, options, context),
        }
    }
}

impl<'a> ListJob<'a> {
    /// The job of an element of `jobs`, of a line or of a row. If the element has a fault, the
    /// fault is the result of the job.
    ///
    /// # Errors
    /// [`TakesMore`] when reading it takes more work than the meter allows.
    fn of(job: Job<'a>, options: &Options, context: Context<'_>) -> Result<Self, TakesMore> {
        Ok(match job {
            Job::Text(text) => return Self::text(text, None, options, context),
            Job::Object(fields) => {
                context.meter.charge(QUESTION_UNITS)?;
                let input = shortened(fields.input().unwrap_or_default());
                let day = match fields.as_of().map(as_of::of_member).transpose() {
                    Ok(day) => day.or(options.as_of),
                    Err(fault) => return Ok(Self { input, ..Self::invalid(sentence(&fault)) }),
                };
                let vocabulary = vocabulary_of(day, context);
                let question = fields.question(Version::V3, vocabulary, options.includes_unlisted);
                Self { input, question, day }
            }
            Job::Other => Self::invalid("a job must be a text or an object".to_owned()),
        })
    }

    /// A job that cannot be asked. The reason is a sentence without a full stop.
    fn invalid(reason: String) -> Self {
        Self { input: Cow::Borrowed(""), question: Question::invalid(reason), day: None }
    }

    /// The job of a text by itself, or of a text of a column of the type `column`.
    fn text(
        text: Cow<'a, str>,
        column: Option<IdType>,
        options: &Options,
        context: Context<'_>,
    ) -> Result<Self, TakesMore> {
        context.meter.charge(QUESTION_UNITS)?;
        let vocabulary = vocabulary_of(options.as_of, context);
        let question = Question::of(&text, column, vocabulary, options.filters());
        Ok(Self { input: shortened(text), question, day: options.as_of })
    }
}

/// The values by which a job is read: with a day, also those that rows had.
fn vocabulary_of(day: Option<Date>, context: Context<'_>) -> &Vocabulary {
    let Vocabularies { today, past } = context.vocabulary;
    if day.is_some() { past } else { today }
}

/// A fault as the reason of a job.
fn sentence(fault: &Fault) -> String {
    fault.trim_end_matches('.').to_owned()
}

/// The text for the column `input`. A text that is too long for an identifier is cut, so that a
/// client cannot make the server send it back in full.
fn shortened(text: Cow<'_, str>) -> Cow<'_, str> {
    const CHARS_MAX: usize = 2 * ID_VALUE_BYTES_MAX;
    match text.char_indices().nth(CHARS_MAX) {
        Some((end, _)) => format!("{}…", &text[..end]).into(),
        None => text,
    }
}
