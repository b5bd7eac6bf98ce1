//! The text of `next`: the place where a page ended, for the request that asks for the next page
//! (contract 11).
//!
//! A cursor is a place, not a count. So the next page continues at that place after a restart, in a
//! new index or on another replica. Its bytes, written as lower-case hexadecimal text:
//!
//! | bytes | content |
//! |---|---|
//! | 1 | version of this layout |
//! | 1 | pages that were sent |
//! | 8 | digest of the endpoint and the query |
//! | 2 | class of the last row (search; 0 in filter), big-endian |
//! | 8 | its importance as the bits of an `f64`, big-endian; all bits set without one |
//! | 2 | its other signals (search; 0 in filter), big-endian |
//! | 12 | its FIGI |
//! | 8 | checksum of the bytes above |
//!
//! A cursor has the importance, not the rank, since the next index may rank the same importance
//! differently. It holds no secret: a forged cursor gives only rows that any query could give. So
//! the digest and the checksum need not resist forgery. They are XXH3: two SHA-256 were 8 % of the
//! instructions of a page on a processor that has none for SHA-256.

use std::cmp::Reverse;

use figdex_index::{Figi, Filters, Importance, Level, OneOf, Place, Search, Vocabulary};
use figdex_io::{hex, unhex};
use xxhash_rust::xxh3::xxh3_64;

use crate::callers::limits::PAGES_MAX;

/// Version of the layout.
const LAYOUT: u8 = 3;

/// The bits that stand for no importance.
const NO_IMPORTANCE: u64 = u64::MAX;

const DIGEST_BYTES: usize = 8;

const BYTES: usize = 1 + 1 + DIGEST_BYTES + 2 + 8 + 2 + 12 + DIGEST_BYTES;

/// The place where a page ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cursor {
    /// The number of pages sent so far, at least one.
    pub(crate) pages: u8,
    /// The place of the last row.
    pub(crate) place: Place,
}

/// The digest of the endpoint and the query of a request. A cursor is valid only for this digest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct QueryDigest([u8; DIGEST_BYTES]);

impl QueryDigest {
    /// The digest of a checked search. It is computed from texts, so that it is the same in every
    /// generation and on every replica (contract 11.6, 11.7).
    pub(crate) fn new(endpoint: &str, search: &Search, vocabulary: &Vocabulary) -> Self {
        let Filters { known, levels, numbers, dates, include_unlisted_equities } = &search.filters;
        let known = known.iter().flat_map(OneOf::values);
        let known: Vec<_> =
            known.map(|known| (known.property().name(), vocabulary.text(known))).collect();
        let numbers =
            numbers.map(|interval| interval.map(|interval| (interval.low(), interval.high())));
        let dates = dates.map(|interval| {
            interval.map(|interval| (interval.first().to_days(), interval.last().to_days()))
        });
        let keywords = search.keywords.as_ref().map(figdex_index::Keywords::text);
        let levels: Vec<_> = levels.iter().map(Level::name).collect();
        let unlisted = include_unlisted_equities;
        let text = (endpoint, keywords, known, levels, numbers, dates, unlisted);
        let text = serde_json::to_vec(&text).expect("writing into memory does not fail");
        Self(digest(&text))
    }
}

impl Cursor {
    /// The cursor of a query as text.
    pub(crate) fn encode(&self, query: QueryDigest) -> String {
        let mut bytes = Vec::with_capacity(BYTES);
        bytes.extend_from_slice(&[LAYOUT, self.pages]);
        bytes.extend_from_slice(&query.0);
        let Place { class, importance: Reverse(importance), rest, figi } = self.place;
        let importance = importance.map_or(NO_IMPORTANCE, Importance::to_bits);
        bytes.extend_from_slice(&class.to_be_bytes());
        bytes.extend_from_slice(&importance.to_be_bytes());
        bytes.extend_from_slice(&rest.to_be_bytes());
        bytes.extend_from_slice(&figi.to_chars());
        bytes.extend_from_slice(&digest(&bytes));
        debug_assert_eq!(bytes.len(), BYTES);
        hex(&bytes)
    }

    /// Decodes a cursor that [`Cursor::encode`] made for this query; `None` for any other text
    /// (contract 11.5).
    pub(crate) fn decode(text: &str, query: QueryDigest) -> Option<Self> {
        // Only lower-case digits are accepted: each cursor has one text.
        let bytes: [u8; BYTES] = unhex(text)?;
        let (content, checksum) = bytes.split_at(BYTES - DIGEST_BYTES);
        let ([LAYOUT, pages], content) = content.split_first_chunk()? else { return None };
        let (of_query, content) = content.split_first_chunk()?;
        let (class, content) = content.split_first_chunk()?;
        let (importance, content) = content.split_first_chunk()?;
        let (rest, figi) = content.split_first_chunk()?;
        let importance = match u64::from_be_bytes(*importance) {
            NO_IMPORTANCE => None,
            bits => Some(Importance::from_bits(bits)?),
        };
        let place = Place {
            class: u16::from_be_bytes(*class),
            importance: Reverse(importance),
            rest: u16::from_be_bytes(*rest),
            figi: Figi::parse(str::from_utf8(figi).ok()?).ok()?,
        };
        let cursor = Self { pages: *pages, place };
        let holds = checksum == digest(&bytes[..BYTES - DIGEST_BYTES])
            && *of_query == query.0
            && (1..PAGES_MAX).contains(pages);
        holds.then_some(cursor)
    }
}

fn digest(bytes: &[u8]) -> [u8; DIGEST_BYTES] {
    xxh3_64(bytes).to_be_bytes()
}

#[cfg(test)]
mod tests {
    use figdex_index::{Date, DateInterval, Keywords, NumberInterval};
    use proptest::prelude::*;

    use super::*;

    fn query(text: &str) -> QueryDigest {
        let keywords = Some(Keywords::parse(text).unwrap());
        let search = Search { keywords, ..Search::default() };
        QueryDigest::new("v3/search", &search, &Vocabulary::new([]))
    }

    fn cursor() -> Cursor {
        let figi = Figi::parse("BBG000BLNNH6").unwrap();
        let importance = Reverse(Importance::new(2.5e12));
        Cursor { pages: 7, place: Place { class: 0x0203, importance, rest: 0x0405, figi } }
    }

    proptest! {
        /// contract 11.5: a cursor with any byte changed is invalid.
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
        fn any_text_is_refused(text in any::<String>()) {
            prop_assert_eq!(Cursor::decode(&text, query("ibm")), None);
        }

        #[test]
        fn a_cursor_is_decoded_as_it_was_encoded(
            pages in 1..PAGES_MAX,
            class in any::<u16>(),
            importance in proptest::option::of(any::<f64>()),
            rest in any::<u16>(),
        ) {
            let importance = Reverse(importance.and_then(Importance::new));
            let figi = cursor().place.figi;
            let cursor = Cursor { pages, place: Place { class, importance, rest, figi } };
            let text = cursor.encode(query("ibm"));
            prop_assert!(text.len() <= 512);
            prop_assert_eq!(Cursor::decode(&text, query("ibm")), Some(cursor));
            prop_assert_eq!(Cursor::decode(&text, query("ibm ")), None);
        }
    }

    /// contract 11.5: a cursor in another spelling is invalid.
    #[test]
    fn another_spelling_is_refused() {
        let text = cursor().encode(query("ibm"));
        for other in [text.to_uppercase(), format!(" {text}"), format!("{text}0"), String::new()] {
            assert_eq!(Cursor::decode(&other, query("ibm")), None, "{other}");
        }
        // The first layout had no importance, the second one SHA-256.
        let place = [&[0, 2][..], &NO_IMPORTANCE.to_be_bytes(), &[3, 4], b"BBG000BLNNH6"].concat();
        for (layout, is_valid) in [(1, false), (2, false), (LAYOUT, true)] {
            let mut bytes = [&[layout, 7], &query("ibm").0[..], &place].concat();
            bytes.extend_from_slice(&digest(&bytes));
            assert_eq!(Cursor::decode(&hex(&bytes), query("ibm")).is_some(), is_valid, "{layout}");
        }
        let late = Cursor { pages: PAGES_MAX, ..cursor() };
        assert_eq!(Cursor::decode(&late.encode(query("ibm")), query("ibm")), None);
    }

    /// contract 11.5: a cursor belongs to one endpoint, version and question.
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
        // In a longer vocabulary the same values have other ordinals.
        let longer = Vocabulary::new([(Currency, "AAA".to_owned())]);
        let mut filters = Filters::default();
        filters.known.require(longer.admit(Currency, "USD").unwrap());
        let again = Search { filters, keywords: None };
        let digest = QueryDigest::new("v3/search", &again, &longer);
        assert_eq!(digest, digests[2]);
    }

    /// contract 11.6: the cursors of another version of Figdex stay valid.
    #[test]
    fn a_digest_is_of_this_text() {
        let vocabulary = Vocabulary::new([]);
        let mut filters = Filters::default();
        let known = vocabulary.admit(figdex_index::Property::Currency, "USD").unwrap();
        filters.known.require(known);
        filters.levels.insert(Level::Composite);
        filters.numbers[0] = NumberInterval::new(Some(1.0), None).ok();
        filters.dates[1] =
            Date::new(2026, 1, 2).and_then(|day| DateInterval::new(Some(day), Some(day)).ok());
        let search = Search { filters, keywords: Some(Keywords::parse("ibm \"").unwrap()) };
        let text = r#"["v3/search","ibm \"",[["currency","USD"]],["composite"],[[1.0,null],null,null],[null,[20455,20455]],false]"#;
        let expected = QueryDigest(digest(text.as_bytes()));
        assert_eq!(QueryDigest::new("v3/search", &search, &vocabulary), expected);
    }
}
