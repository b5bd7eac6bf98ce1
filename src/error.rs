//! Chapter "Errors": the table of statuses and texts, and nothing else of them
//! anywhere. Faults of a field are not here: they stay inside a 200, see `wire`.

use warp::http::{HeaderValue, Response, StatusCode, header};
use warp::reply::Response as Reply;

use crate::limits::standing::Standing;

/// A fault of the request as a whole, or of the server: a line of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ApiError {
    /// The body is not of the shape that the endpoint takes.
    BadRequest,
    /// An enum-like field holds a value outside its set.
    InvalidEnumField,
    /// The key is unknown, or there are two.
    InvalidApiKey,
    /// No such path.
    InvalidUrl,
    /// The path exists, for the methods named in `Allow`.
    InvalidMethod {
        /// The methods that the path takes.
        allow: &'static str,
    },
    /// The caller accepts no JSON.
    UnsupportedAccept,
    /// Too many jobs, or too many bytes.
    PayloadTooLarge,
    /// The body is not declared to be JSON in UTF-8.
    InvalidContentType,
    /// The caller asked too often; a window is full.
    RateLimitReached(Standing),
    /// The server failed.
    Internal,
    /// The server cannot answer now.
    Unavailable,
}

impl ApiError {
    /// Status and text, as the contract's table has them.
    pub fn line(self) -> (StatusCode, &'static str) {
        match self {
            Self::BadRequest => (StatusCode::BAD_REQUEST, "Bad request."),
            Self::InvalidEnumField => (StatusCode::BAD_REQUEST, "Invalid enum field."),
            Self::InvalidApiKey => (StatusCode::UNAUTHORIZED, "Invalid API key."),
            Self::InvalidUrl => (StatusCode::NOT_FOUND, "Invalid url."),
            Self::InvalidMethod { .. } => (StatusCode::METHOD_NOT_ALLOWED, "Invalid HTTP method."),
            Self::UnsupportedAccept => (StatusCode::NOT_ACCEPTABLE, "Unsupported 'Accept' type."),
            Self::PayloadTooLarge => (StatusCode::PAYLOAD_TOO_LARGE, "Payload too large."),
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

impl From<ApiError> for Reply {
    fn from(error: ApiError) -> Self {
        let (status, text) = error.line();
        let mut reply = Response::new(text.into());
        *reply.status_mut() = status;
        let html = HeaderValue::from_static("text/html; charset=utf-8");
        reply.headers_mut().insert(header::CONTENT_TYPE, html);
        match error {
            ApiError::InvalidMethod { allow } => {
                reply.headers_mut().insert(header::ALLOW, HeaderValue::from_static(allow));
            }
            ApiError::RateLimitReached(standing) => {
                standing.stamp(reply.headers_mut());
                reply.headers_mut().insert(header::RETRY_AFTER, standing.reset_seconds.into());
            }
            _ => {}
        }
        reply
    }
}
