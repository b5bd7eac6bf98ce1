//! A list in the query of a URL, for spreadsheets and for engines that read files (contract 21.10 to
//! 21.14). It becomes the body of a list of which each line is a job.

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
        let mut has_format = false;
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
                "format" if has_format => return invalid("format is given twice.".to_owned()),
                "format" => {
                    has_format = true;
                    if form_named(&value).is_none() {
                        return invalid("format must be csv or json.".to_owned());
                    }
                }
                _ => options.push((name, value)),
            }
        }
        if texts.is_empty() {
            let fault = "text is required: an identifier, as in /resolve?text=US0378331005. Repeat it \
                         for further ones.";
            return invalid(fault.to_owned());
        }
        let lines = texts.iter().map(|text| match &as_type {
            Some(as_type) => json!({"text": text, "as": as_type}).to_string(),
            None => json!(text).to_string(),
        });
        let body = lines.collect::<Vec<_>>().join("\n").into_bytes();
        let mut parameters = form_urlencoded::Serializer::new(String::new());
        parameters.extend_pairs(options);
        Ok(Self { body, parameters: parameters.finish() })
    }
}

/// The form of the answer that the query of a URL names.
pub(crate) fn form_of_url(query: &str) -> Option<Form> {
    let mut parameters = form_urlencoded::parse(query.as_bytes());
    form_named(&parameters.find(|(name, _)| name == "format")?.1)
}

fn form_named(name: &str) -> Option<Form> {
    match name {
        "csv" => Some(Form::Csv),
        "json" => Some(Form::Json),
        _ => None,
    }
}
