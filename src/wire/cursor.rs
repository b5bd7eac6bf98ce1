//! `next` as text: where a page ended, for the request that asks for the following
//! one (decisions, "Paging").
//!
//! A cursor is a place, not a count, so it goes on from there after a restart, a
//! reload or on another replica. Its bytes, as lower-case hexadecimal text:
//!
//! | bytes | what |
//! |---|---|
//! | 1 | version of this layout |
//! | 1 | pages that were served |
//! | 8 | digest of the endpoint and the query |
//! | 4 | sort key of the last row (search; 0 in filter), big-endian |
//! | 12 | FIGI of the last row |
//! | 8 | checksum of all before |
//!
//! There is no secret in it: who forges one gets rows that any query shows.

use figdex_index::{Figi, Filters, OneOf, Place, Search, Vocabulary, hex, unhex};
use serde_json::json;
use sha2::{Digest as _, Sha256};

use crate::limits::PAGES_MAX;

/// Version of the layout.
const LAYOUT: u8 = 1;

const DIGEST_BYTES: usize = 8;

const BYTES: usize = 1 + 1 + DIGEST_BYTES + 4 + 12 + DIGEST_BYTES;

/// Where a page ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cursor {
    /// Pages served up to there, at least one.
    pub(crate) pages: u8,
    /// The last row's place.
    pub(crate) place: Place,
}

/// What a cursor belongs to: the endpoint and the query of its request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct QueryDigest([u8; DIGEST_BYTES]);

impl QueryDigest {
    /// The digest of a checked question. It is made of texts, so that it is the
    /// same in every generation and on every replica.
    pub(crate) fn new(endpoint: &str, search: &Search, vocabulary: &Vocabulary) -> Self {
        let Filters {
            known,
            strike,
            contract_size,
            coupon,
            expiration,
            maturity,
            include_unlisted_equities,
        } = &search.filters;
        let known = known.iter().flat_map(OneOf::values);
        let known: Vec<_> =
            known.map(|known| (known.property().name(), vocabulary.text(known))).collect();
        let numbers = [strike, contract_size, coupon]
            .map(|interval| interval.map(|interval| (interval.low(), interval.high())));
        let dates = [expiration, maturity].map(|interval| {
            interval.map(|interval| (interval.first().to_days(), interval.last().to_days()))
        });
        let keywords = search.keywords.as_ref().map(figdex_index::Keywords::text);
        let text = json!([endpoint, keywords, known, numbers, dates, include_unlisted_equities])
            .to_string();
        Self(digest(text.as_bytes()))
    }
}

impl Cursor {
    /// The cursor as text, for a query.
    pub(crate) fn encode(&self, query: QueryDigest) -> String {
        let mut bytes = Vec::with_capacity(BYTES);
        bytes.extend_from_slice(&[LAYOUT, self.pages]);
        bytes.extend_from_slice(&query.0);
        bytes.extend_from_slice(&self.place.sort_key.to_be_bytes());
        bytes.extend_from_slice(&self.place.figi.to_chars());
        bytes.extend_from_slice(&digest(&bytes));
        debug_assert_eq!(bytes.len(), BYTES);
        hex(&bytes)
    }

    /// The cursor of a text that [`Cursor::encode`] made for this query, and of no
    /// other text.
    pub(crate) fn decode(text: &str, query: QueryDigest) -> Option<Self> {
        // There is one text for each cursor, and so no other spelling.
        let bytes: [u8; BYTES] = unhex(text)?;
        let (content, checksum) = bytes.split_at(BYTES - DIGEST_BYTES);
        let ([LAYOUT, pages], content) = content.split_first_chunk()? else { return None };
        let (of_query, content) = content.split_first_chunk()?;
        let (sort_key, figi) = content.split_first_chunk()?;
        let figi = Figi::parse(str::from_utf8(figi).ok()?).ok()?;
        let cursor =
            Self { pages: *pages, place: Place { sort_key: u32::from_be_bytes(*sort_key), figi } };
        let holds = checksum == digest(&bytes[..BYTES - DIGEST_BYTES])
            && *of_query == query.0
            && (1..PAGES_MAX).contains(pages);
        holds.then_some(cursor)
    }
}

fn digest(bytes: &[u8]) -> [u8; DIGEST_BYTES] {
    let digest = Sha256::digest(bytes);
    *digest.first_chunk().expect("a SHA-256 has 32 bytes")
}

#[cfg(test)]
mod tests {
    use figdex_index::Keywords;
    use proptest::prelude::*;

    use super::*;

    fn query(text: &str) -> QueryDigest {
        let keywords = Some(Keywords::parse(text).unwrap());
        let search = Search { keywords, ..Search::default() };
        QueryDigest::new("v3/search", &search, &Vocabulary::new([]))
    }

    fn cursor() -> Cursor {
        let figi = Figi::parse("BBG000BLNNH6").unwrap();
        Cursor { pages: 7, place: Place { sort_key: 0x0002_0304, figi } }
    }

    proptest! {
        /// "any changed byte": of the text, wherever it is.
        #[test]
        fn a_changed_byte_is_noticed(at in 0..2 * BYTES, other in any::<u8>()) {
            let text = cursor().encode(query("ibm"));
            let mut bytes = text.clone().into_bytes();
            bytes[at] = other;
            if let Ok(changed) = String::from_utf8(bytes) && changed != text {
                prop_assert_eq!(Cursor::decode(&changed, query("ibm")), None);
            }
        }

        #[test]
        fn any_text_is_answered(text in any::<String>()) {
            prop_assert_eq!(Cursor::decode(&text, query("ibm")), None);
        }

        #[test]
        fn a_cursor_is_its_text(pages in 1..PAGES_MAX, sort_key in any::<u32>()) {
            let cursor = Cursor { pages, place: Place { sort_key, ..cursor().place } };
            let text = cursor.encode(query("ibm"));
            prop_assert!(text.len() <= 512);
            prop_assert_eq!(Cursor::decode(&text, query("ibm")), Some(cursor));
            prop_assert_eq!(Cursor::decode(&text, query("ibm ")), None);
        }
    }

    /// "other encoding": there is one text for each cursor.
    #[test]
    fn another_spelling_is_refused() {
        let text = cursor().encode(query("ibm"));
        for other in [text.to_uppercase(), format!(" {text}"), format!("{text}0"), String::new()] {
            assert_eq!(Cursor::decode(&other, query("ibm")), None, "{other}");
        }
        let late = Cursor { pages: PAGES_MAX, ..cursor() };
        assert_eq!(Cursor::decode(&late.encode(query("ibm")), query("ibm")), None);
    }

    /// "of another query or other endpoint".
    #[test]
    fn a_query_has_one_digest() {
        let vocabulary = Vocabulary::new([]);
        let known = |property, value| {
            let mut filters = Filters::default();
            filters.known.require(vocabulary.admit(property, value).unwrap());
            Search { filters, keywords: None }
        };
        use figdex_index::Property::{Currency, MarketSecDes, OptionType};
        let unlisted = Filters { include_unlisted_equities: true, ..Filters::default() };
        let questions = [
            known(MarketSecDes, "Equity"),
            known(MarketSecDes, "Corp"),
            known(Currency, "USD"),
            known(OptionType, "Put"),
            Search::default(),
            Search { filters: unlisted, keywords: None },
        ];
        let mut digests = Vec::new();
        for endpoint in ["v3/search", "v3/filter", "v2/search"] {
            for search in &questions {
                let digest = QueryDigest::new(endpoint, search, &vocabulary);
                assert!(!digests.contains(&digest), "{endpoint} {search:?}");
                digests.push(digest);
            }
        }
        // The same values have other ordinals in a longer vocabulary.
        let longer = Vocabulary::new([(Currency, "AAA".to_owned())]);
        let mut filters = Filters::default();
        filters.known.require(longer.admit(Currency, "USD").unwrap());
        let again = Search { filters, keywords: None };
        let digest = QueryDigest::new("v3/search", &again, &longer);
        assert_eq!(digest, digests[2]);
    }
}
