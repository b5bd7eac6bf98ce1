//! Header lists with qualities, as in `Accept` and `Accept-Encoding` (RFC 9110, 12.4.2).

use warp::http::{HeaderMap, HeaderName};

/// The members of a header's lists, each in lower case and with its quality. The quality is 1 if
/// the member has none, 0 if it is not a positive number, and the lowest one if there are several.
pub(crate) fn weighted(
    headers: &HeaderMap,
    name: HeaderName,
) -> impl Iterator<Item = (String, f32)> {
    let values = headers.get_all(name).into_iter().filter_map(|value| value.to_str().ok());
    let members = values.flat_map(|value| value.split(',').map(str::trim));
    members.filter(|member| !member.is_empty()).map(|member| {
        let mut parts = member.split(';');
        let name = parts.next().expect("a split has a first part");
        let qualities = parts.filter_map(|parameter| {
            let (name, value) = parameter.split_once('=')?;
            name.trim().eq_ignore_ascii_case("q").then_some(value.trim())
        });
        let number = |value: &str| value.parse().ok().filter(|quality| *quality > 0.0);
        let least = qualities.map(|value| number(value).unwrap_or(0.0)).reduce(f32::min);
        (name.trim().to_ascii_lowercase(), least.unwrap_or(1.0))
    })
}
