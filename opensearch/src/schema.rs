//! The documents of an index: their fields, and the description in the index itself.

use std::fmt::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use figdex_index::{
    Attribute, Catalogue, Document, Instrument, Manifest, Places, Property, bounded_term,
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::error::{Error, Result};

/// The number of the document format. This version writes and reads only this one.
const FORMAT: u32 = 2;

/// The most bytes of the description of an index. It has the manifest with its values, and 65,535
/// importances, which take 0.7 MB.
pub(crate) const ABOUT_BYTES_MAX: usize = 2 << 20;

/// The most rows of a page from a cluster: those of a mapping job, and one more.
pub(crate) const WINDOW: usize = 15_001;

/// The most characters of a regular expression in a question.
pub(crate) const PATTERN_CHARS_MAX: usize = 10_000;

/// The fields of a document. Further fields have the names of properties, numbers and days.
pub(crate) mod field {
    pub(crate) const FIGI: &str = "fnum";
    pub(crate) const KEYS: &str = "keys";
    pub(crate) const WORDS: &str = "words";
    pub(crate) const ELSEWHERE: &str = "elsewhere";
    pub(crate) const NAMES: &str = "names";
    pub(crate) const BEGINNINGS: &str = "beginnings";
    pub(crate) const RANK: &str = "rank";
    pub(crate) const IMPORTANCE: &str = "importance";
    pub(crate) const SCORE: &str = "score";
    pub(crate) const BEST_LISTING: &str = "best";
    pub(crate) const LEVEL: &str = "level";
    pub(crate) const UNLISTED: &str = "unlisted";
    pub(crate) const INSTRUMENT: &str = "instrument";
}

/// The shards of an index, and their copies.
#[derive(Clone, Copy, Debug)]
pub struct Division {
    /// The number of primary shards.
    pub shards: u32,
    /// The number of copies of each shard, besides the first.
    pub replicas: u32,
}

/// The description of an index, in the `_meta` of its mapping.
#[derive(Deserialize, Serialize)]
pub(crate) struct About {
    format: u32,
    pub(crate) manifest: Manifest,
    /// The bytes of [`Places`], in base64.
    places: String,
}

impl About {
    /// The description of a catalogue that is published as this generation.
    ///
    /// # Errors
    /// [`Error::Verbose`] when the description is longer than servers read.
    pub(crate) fn of(catalogue: &Catalogue, generation: u64) -> Result<Self> {
        // Neither the parts nor the past go into a cluster.
        let manifest = catalogue.manifest().clone();
        let manifest =
            Manifest { generation, parts: Vec::new(), past: None, parquet: None, ..manifest };
        let places = STANDARD.encode(catalogue.places()?.bytes());
        let about = Self { format: FORMAT, manifest, places };
        let bytes = serde_json::to_vec(&about).map_or(usize::MAX, |json| json.len());
        match bytes <= ABOUT_BYTES_MAX {
            true => Ok(about),
            false => Err(Error::Verbose { bytes, bytes_max: ABOUT_BYTES_MAX }),
        }
    }

    /// Checks that this version reads the documents of the index. The error is the reason.
    pub(crate) fn check(&self) -> std::result::Result<(), String> {
        match self.format == FORMAT {
            true => Ok(()),
            false => Err(format!(
                "it has document format {}, and this version reads format {FORMAT}: publish it \
                 again with this version",
                self.format
            )),
        }
    }

    pub(crate) fn places(&self) -> Option<Places> {
        Places::of_bytes(STANDARD.decode(&self.places).ok()?)
    }
}

/// The body of the request that creates an index, which will be filled through an alias.
pub(crate) fn create(about: &About, division: Division, filling: &str) -> Value {
    let exact = json!({"type": "keyword", "norms": false});
    let listed = json!({"type": "keyword", "norms": false, "doc_values": false});
    let compared = json!({"type": "integer"});
    let mut fields = json!({
        field::FIGI: {"type": "long"},
        field::KEYS: listed,
        field::WORDS: listed,
        field::ELSEWHERE: listed,
        field::NAMES: listed,
        field::BEGINNINGS: listed,
        field::RANK: {"type": "long"},
        field::IMPORTANCE: &compared,
        field::SCORE: &compared,
        field::BEST_LISTING: {"type": "boolean", "doc_values": false},
        field::LEVEL: exact,
        field::UNLISTED: {"type": "boolean", "doc_values": false},
        field::INSTRUMENT: {"type": "binary", "store": true},
    });
    for property in Property::ALL {
        fields[property.name()] = exact.clone();
    }
    for number in Attribute::NUMBERS {
        fields[number.name()] = json!({"type": "double"});
    }
    for date in Attribute::DATES {
        fields[date.name()] = compared.clone();
    }
    json!({
        "aliases": {filling: {}},
        "settings": {"index": {
            "number_of_shards": division.shards,
            // Copies are made after the index is filled. That is faster than filling every copy.
            "number_of_replicas": 0,
            "refresh_interval": "-1",
            "max_result_window": WINDOW,
            "max_regex_length": PATTERN_CHARS_MAX,
            "sort.field": field::FIGI,
            "sort.order": "asc",
        }},
        "mappings": {
            "dynamic": "strict",
            "_source": {"enabled": false},
            "_meta": {"figdex": about},
            "properties": fields,
        },
    })
}

/// Appends the two lines that make `_bulk` add a document.
pub(crate) fn add_lines(out: &mut Vec<u8>, instrument: &Instrument, document: &Document) {
    let figi = instrument.figi;
    let mut body = json!({
        field::FIGI: figi.to_u64(),
        field::KEYS: document.keys,
        field::WORDS: document.words,
        field::ELSEWHERE: document.elsewhere,
        field::NAMES: document.names,
        field::BEGINNINGS: document.beginnings,
        field::RANK: document.rank,
        field::IMPORTANCE: document.importance,
        field::SCORE: document.score,
        field::LEVEL: instrument.level().name(),
        field::INSTRUMENT: STANDARD.encode(&document.stored),
    });
    for (attribute, number) in Attribute::NUMBERS.into_iter().zip(instrument.filter_numbers()) {
        if let Some(number) = number {
            // Lucene sorts -0 before 0; for Figdex the two are equal.
            body[attribute.name()] = (number + 0.0).into();
        }
    }
    for (attribute, day) in Attribute::DATES.into_iter().zip(instrument.filter_dates()) {
        if let Some(day) = day {
            body[attribute.name()] = day.to_days().into();
        }
    }
    for property in Property::ALL {
        if let Some(value) = instrument.property(property) {
            body[property.name()] = bounded_term(value).into();
        }
    }
    if document.is_best_listing {
        body[field::BEST_LISTING] = true.into();
    }
    if instrument.is_unlisted_equity() {
        body[field::UNLISTED] = true.into();
    }
    let mut line = String::new();
    let _ = write!(line, "{{\"create\":{{\"_id\":\"{figi}\"}}}}\n{body}\n");
    out.extend_from_slice(line.as_bytes());
}

#[cfg(test)]
mod tests {
    use figdex_index::{BuildOptions, Builder, Figi, NameKind, OtherName};

    use super::*;

    /// contract 16.16: other names are in a field apart, which searches do not ask, and forms
    /// are keys; a mapping that is strict has each field of a document.
    #[test]
    fn a_document_has_its_names_apart() {
        let folder = tempfile::tempdir().unwrap();
        let mut builder = Builder::create(folder.path(), BuildOptions::default()).unwrap();
        let name = |text: &str| OtherName {
            text: text.to_owned(),
            kind: NameKind::Brand,
            from: None,
            to: None,
        };
        let instrument = Instrument {
            name: Some("ALPHABET INC-CL A".into()),
            names: vec![name("Google Search"), name("トヨタ自動車")],
            ..Instrument::new(Figi::parse("BBG000BLNNH6").unwrap())
        };
        builder.add(instrument).unwrap();
        builder.publish(Vec::new()).unwrap();
        let catalogue = Catalogue::open(folder.path()).unwrap();
        let mut lines = Vec::new();
        let each = |instrument: &Instrument, document: Document| {
            add_lines(&mut lines, instrument, &document);
            Ok::<_, figdex_index::Error>(())
        };
        catalogue.documents(each).unwrap();
        let lines = String::from_utf8(lines).unwrap();
        let document: Value = serde_json::from_str(lines.lines().nth(1).unwrap()).unwrap();
        let texts = |field: &str| -> Vec<String> {
            serde_json::from_value(document[field].clone()).unwrap()
        };
        assert_eq!(texts(field::NAMES), ["google", "search", "トヨタ自動車", "自動車"]);
        assert_eq!(texts(field::WORDS), ["a", "alphabet", "cl", "inc", "inccl"]);
        assert_eq!(texts(field::ELSEWHERE), [""; 0]);
        let keys = texts(field::KEYS);
        for key in ["252:googlesearch", "252:alphabet/a", "252:トヨタ", "253:alphabet"] {
            assert!(keys.iter().any(|one| one == key), "{key} {keys:?}");
        }
        assert!(texts(field::BEGINNINGS).iter().any(|one| one == "goo"));
        let about = About::of(&catalogue, 1).unwrap();
        let index = create(&about, Division { shards: 1, replicas: 0 }, "filling");
        let fields = index["mappings"]["properties"].as_object().unwrap();
        let of_document = document.as_object().unwrap().keys();
        assert!(of_document.clone().all(|field| fields.contains_key(field)), "{lines}");
    }
}
