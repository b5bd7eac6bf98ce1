//! Candidates for the names of a list: the securities that a text may name which was not resolved
//! (contract 17.15). They are suggestions, so no row is chosen by them.

use super::Suggest;
use crate::query::Keywords;
use crate::resolve::question::Question;
use crate::resolve::resolution::{Resolution, Status};

/// The most candidates of a text.
pub const NAME_CANDIDATES_MAX: usize = 5;

/// The question for the candidates of a result. `None` if there are none to ask for: the identifier
/// is resolved, has rows to choose from, or may not be a name.
pub fn candidates_of(question: &Question<'_>, resolution: &Resolution) -> Option<Suggest> {
    let is_open = match &resolution.status {
        Status::Unknown => true,
        Status::Ambiguous(_) => resolution.is_name_like,
        Status::Invalid(_) => question.is_long_name(),
        Status::Resolved(_)
        | Status::Historical
        | Status::Gone
        | Status::Uncertain
        | Status::OutOfCoverage(_) => false,
    };
    let (text, filters) = question.name().filter(|_| is_open)?;
    let keywords = Keywords::parse(text).ok()?;
    // Without properties the default filters hold, as for its lookups.
    Some(Suggest { keywords, filters: filters.cloned().unwrap_or_default() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::instrument::id_type::IdType;
    use crate::instrument::vocabulary::Vocabulary;

    /// contract 17.15: which results have candidates.
    #[test]
    fn names_that_are_not_resolved() {
        let vocabulary = Vocabulary::new([]);
        let has = |question: &Question<'_>, status: Status, is_name_like| {
            let resolution = Resolution::new(status, Vec::new(), Vec::new());
            candidates_of(question, &Resolution { is_name_like, ..resolution }).is_some()
        };
        let text = |text| Question::text(text, &vocabulary, None);
        for name in ["Nestle", "nestle", "3M Company", "Deutsche Telekom", "トヨタ"] {
            assert!(has(&text(name), Status::Unknown, false), "{name}");
            assert!(has(&text(name), Status::Ambiguous(1), true), "{name}");
            assert!(!has(&text(name), Status::Ambiguous(2), false), "{name}");
            assert!(!has(&text(name), Status::Invalid("".into()), false), "{name}");
        }
        for number in ["US0378331005", "BBG000BLNNH6", "037833100", "0263494", "851399", "A1"] {
            assert!(!has(&text(number), Status::Unknown, false), "{number}");
        }
        let long = "Xtrackers (IE) Plc - Xtrackers MSCI World Information Technology UCITS ETF 1C";
        assert!(has(&text(long), Status::Invalid("".into()), false));
        let longest = "x".repeat(crate::QUERY_BYTES_MAX + 1);
        assert!(!has(&text(&longest), Status::Invalid("".into()), false));
        let typed = Question::of_column("Nestle", IdType::Ticker, &vocabulary, None);
        assert!(!has(&typed, Status::Unknown, false));
        let given = Question::given(IdType::Ticker, "Nestle", None);
        assert!(!has(&given, Status::Unknown, false));
    }
}
