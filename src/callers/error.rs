//! The errors that refuse a whole request: the table of statuses and texts (contract 13). All 4xx
//! and 5xx statuses of this program are here, except those that hyper sends for a head that it
//! cannot read (contract 13.16). A fault of one field is not such an error: `wire` writes it into a
//! 200.

use std::borrow::Cow;

use warp::http::{HeaderName, HeaderValue, StatusCode, header};
use warp::reply::Response;

use crate::callers::limits::standing::Standing;

/// An error of the request as a whole, or of the server: a line of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ApiError {
    /// The body breaks off or has the wrong shape, the values key is invalid, or there are several
    /// `Host` headers.
    BadRequest,
    /// An enum-like property has a value outside its set.
    InvalidEnumField,
    /// The key is unknown, or there are two different ones.
    InvalidApiKey,
    /// No route has this path.
    InvalidUrl,
    /// The path exists, but not for this method.
    InvalidMethod {
        /// The methods that the path takes, for the header `Allow`.
        allow: &'static str,
    },
    /// `Accept` does not take JSON.
    UnsupportedAccept,
    /// Too many jobs, or too many bytes.
    PayloadTooLarge,
    /// The answer would take more memory than one answer to this caller is ever allowed.
    AnswerTooLarge {
        /// The number of rows that the answer has.
        rows: usize,
        /// The number of bytes that the answer may have.
        bytes_max: usize,
    },
    /// The body is not declared as JSON in UTF-8.
    InvalidContentType,
    /// The caller made too many requests. The window that is full has this state.
    RateLimitReached(Standing),
    /// The server failed.
    Internal,
    /// The server cannot answer now.
    Unavailable,
}

impl ApiError {
    /// The status and the text in the contract's table.
    pub fn line(self) -> (StatusCode, &'static str) {
        match self {
            Self::BadRequest => (StatusCode::BAD_REQUEST, "Bad request."),
            Self::InvalidEnumField => (StatusCode::BAD_REQUEST, "Invalid enum field."),
            Self::InvalidApiKey => (StatusCode::UNAUTHORIZED, "Invalid API key."),
            Self::InvalidUrl => (StatusCode::NOT_FOUND, "Invalid url."),
            Self::InvalidMethod { .. } => (StatusCode::METHOD_NOT_ALLOWED, "Invalid HTTP method."),
            Self::UnsupportedAccept => (StatusCode::NOT_ACCEPTABLE, "Unsupported 'Accept' type."),
            Self::PayloadTooLarge | Self::AnswerTooLarge { .. } => {
                (StatusCode::PAYLOAD_TOO_LARGE, "Payload too large.")
            }
            Self::InvalidContentType => (
                StatusCode::UNSUPPORTED_MEDIA_TYPE,
                "Invalid Content-Type. Should be text/json or application/json with valid charset.",
            ),
            Self::RateLimitReached(_) => (
                StatusCode::TOO_MANY_REQUESTS,
                "Rate limit reached. Please back off your requests.",
            ),
            Self::Internal => (StatusCode::INTERNAL_SERVER_ERROR, "Internal server error."),
            Self::Unavailable => (StatusCode::SERVICE_UNAVAILABLE, "Service Unavailable."),
        }
    }
}

impl From<ApiError> for Response {
    fn from(error: ApiError) -> Self {
        let (status, text) = error.line();
        let mut reply = Self::new(text.into());
        *reply.status_mut() = status;
        let html = HeaderValue::from_static("text/html; charset=utf-8");
        reply.headers_mut().insert(header::CONTENT_TYPE, html);
        match error {
            ApiError::InvalidMethod { allow } => {
                reply.headers_mut().insert(header::ALLOW, HeaderValue::from_static(allow));
            }
            ApiError::RateLimitReached(standing) => {
                standing.add_to(reply.headers_mut());
                reply.headers_mut().insert(header::RETRY_AFTER, standing.reset_seconds.into());
            }
            ApiError::AnswerTooLarge { rows, .. } => {
                reply.headers_mut().insert(ROWS, rows.into());
            }
            ApiError::Unavailable => {
                reply
                    .headers_mut()
                    .insert(header::RETRY_AFTER, HeaderValue::from_static(RETRY_AFTER));
            }
            _ => {}
        }
        reply
    }
}

/// The header with the number of rows in an answer that is too large (contract 14.18).
const ROWS: HeaderName = HeaderName::from_static("figdex-rows");

/// The seconds after which a client may try again when the server cannot answer now.
const RETRY_AFTER: &str = "1";

/// An error of a route outside of the contract: a line of the table, or a text of that route. The
/// text is answered as JSON (contract 16.3, 16.6, 17.9, 19.9, 22.8).
#[derive(Debug)]
pub(crate) enum OpenError {
    /// A line of the table.
    Line(ApiError),
    /// The request is wrong: a 400.
    Invalid(Cow<'static, str>),
    /// The request asks for something that does not exist: a 404.
    NotFound(&'static str),
    /// The page that asks is not one that may: a 403.
    #[cfg(feature = "mcp")]
    Forbidden(&'static str),
    /// The caller may not see what is asked for in this form, or its token is of data with other
    /// columns than it may see: a 409.
    Conflict(String),
    /// The form that the request accepts cannot hold the answer: a 406.
    NotAcceptable(String),
    /// The answer existed once: a 410.
    Gone(String),
    /// The URL is too long: a 414.
    UriTooLong(String),
    /// The caller has another file than it believes: a 412.
    PreconditionFailed(&'static str),
    /// The file ends before the range of bytes: a 416.
    RangeNotSatisfiable {
        /// The size of the file.
        bytes: u64,
    },
    /// The request is a list with more jobs than are allowed in one request: a 413.
    TooLarge {
        /// The text for people.
        text: String,
        /// The jobs that a list may have.
        jobs_per_list: usize,
    },
}

impl OpenError {
    /// Status and text of an answer in JSON.
    ///
    /// # Errors
    /// The line of the table, if the error is one other than [`ApiError::AnswerTooLarge`].
    pub(crate) fn json(self) -> Result<(StatusCode, Cow<'static, str>), ApiError> {
        match self {
            Self::Line(ApiError::AnswerTooLarge { rows, bytes_max }) => Ok((
                StatusCode::PAYLOAD_TOO_LARGE,
                format!(
                    "The answer has {rows} rows, which take more than {bytes_max} bytes. Send the \
                     request in parts, or ask for fewer fields."
                )
                .into(),
            )),
            Self::Line(error) => Err(error),
            Self::Invalid(text) => Ok((StatusCode::BAD_REQUEST, text)),
            Self::NotFound(text) => Ok((StatusCode::NOT_FOUND, text.into())),
            Self::NotAcceptable(text) => Ok((StatusCode::NOT_ACCEPTABLE, text.into())),
            #[cfg(feature = "mcp")]
            Self::Forbidden(text) => Ok((StatusCode::FORBIDDEN, text.into())),
            Self::Conflict(text) => Ok((StatusCode::CONFLICT, text.into())),
            Self::Gone(text) => Ok((StatusCode::GONE, text.into())),
            Self::UriTooLong(text) => Ok((StatusCode::URI_TOO_LONG, text.into())),
            Self::PreconditionFailed(text) => Ok((StatusCode::PRECONDITION_FAILED, text.into())),
            Self::RangeNotSatisfiable { bytes } => Ok((
                StatusCode::RANGE_NOT_SATISFIABLE,
                format!("The file has {bytes} bytes, and the range begins after them.").into(),
            )),
            Self::TooLarge { text, .. } => Ok((StatusCode::PAYLOAD_TOO_LARGE, text.into())),
        }
    }
}

impl From<ApiError> for OpenError {
    fn from(error: ApiError) -> Self {
        Self::Line(error)
    }
}
