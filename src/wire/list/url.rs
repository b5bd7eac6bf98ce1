//! A list in the query of a URL, for spreadsheets and for engines that read files (contract 21.10 to
//! 21.14). It becomes the body of a list of which each line is a job.

use std::borrow::Cow;

use serde_json::json;

use super::Form;
use crate::callers::error::OpenError;

/// The longest path and query of `GET /resolve`, in bytes.
const URL_BYTES_MAX: usize = 8 << 10;

/// A list from a URL, as a body and the parameters of the same list.
#[derive(Debug)]
pub(crate) struct UrlList {
    /// A job on each line.
    pub(crate) body: Vec<u8>,
    /// The options, as parameters.
    pub(crate) parameters: String,
    /// The form of the answer, if the URL names it.
    pub(crate) form: Option<Form>,
}

/// The names under which programs put a key into a URL.
const KEYS: [&str; 10] = [
    "key",
    "apikey",
    "api_key",
    "api-key",
    "token",
    "access_token",
    "x-openfigi-apikey",
    "x-service-apikey",
    "authorization",
    "auth",
];

impl UrlList {
    /// Reads the query of a URL.
    ///
    /// # Errors
    /// [`OpenError`] when it is too long, holds a key, asks for nothing, or has a wrong parameter.
    pub(crate) fn read(path: &str, query: &str) -> Result<Self, OpenError> {
        let invalid = |fault: String| Err(OpenError::Invalid(fault.into()));
        let bytes = path.len() + 1 + query.len();
        if bytes > URL_BYTES_MAX {
            return Err(OpenError::UriTooLong(format!(
                "The URL has {bytes} bytes; at most {URL_BYTES_MAX} are read. Send a longer list as \
                 the body of a POST."
            )));
        }
        let (mut texts, mut as_type, mut options) = (Vec::new(), None, Vec::new());
        let mut form = None;
        for (name, value) in form_urlencoded::parse(query.as_bytes()) {
            if KEYS.iter().any(|key| name.eq_ignore_ascii_case(key)) {
                let fault = "A key is not read from a URL, because logs and histories keep URLs: send \
                             it in the header X-SERVICE-APIKEY, and replace the key if it is in use.";
                return invalid(fault.to_owned());
            }
            match &*name {
                "text" => texts.push(value),
                "as" if as_type.is_some() => return invalid("as is given twice.".to_owned()),
                "as" => as_type = Some(value),
                "format" if form.is_some() => return invalid("format is given twice.".to_owned()),
                "format" => {
                    form = Some(match &*value {
                        "csv" => Form::Csv,
                        "json" => Form::Json,
                        _ => return invalid("format must be csv or json.".to_owned()),
                    });
                }
                _ => options.push((name, value)),
            }
        }
        if texts.is_empty() {
            let fault = "text is required: an identifier, as in /resolve?text=US0378331005. Repeat it \
                         for further ones.";
            return invalid(fault.to_owned());
        }
        let body = lines(&texts, as_type.as_deref());
        let mut parameters = form_urlencoded::Serializer::new(String::new());
        parameters.extend_pairs(options);
        Ok(Self { body, parameters: parameters.finish(), form })
    }
}

/// The jobs of texts, one on each line. `as_type` is the member `as` of each. The server reads them
/// again, so that a list from a URL is read by the rules of every other.
fn lines(texts: &[Cow<'_, str>], as_type: Option<&str>) -> Vec<u8> {
    let (begin, end) = match as_type {
        Some(as_type) => ("{\"text\":", format!(",\"as\":{}}}\n", json!(as_type))),
        None => ("", "\n".to_owned()),
    };
    let mut body = Vec::new();
    for text in texts {
        body.extend_from_slice(begin.as_bytes());
        serde_json::to_writer(&mut body, text).expect("a text can be written to memory");
        body.extend_from_slice(end.as_bytes());
    }
    body
}
