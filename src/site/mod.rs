//! The page for people, whose files are part of the program: nothing has to be installed.
//!
//! The files are in `page/`, exactly as they are sent; no step builds them. Each is compressed
//! once, at the first request for it.

use std::sync::OnceLock;

use bytes::Bytes;
use flate2::Compression;
use sha2::{Digest as _, Sha256};

use crate::http::encoding;

/// A file of the page.
pub(crate) struct File {
    name: &'static str,
    bytes: &'static [u8],
    encoded: OnceLock<[Encoded; 2]>,
}

/// A file in one encoding, as it is sent.
pub(crate) struct Encoded {
    pub(crate) bytes: Bytes,
    /// The entity tag, with its quotes. It is strong (RFC 9110, 8.8.1): each encoding has
    /// another one.
    pub(crate) tag: String,
}

impl File {
    const fn new(name: &'static str, bytes: &'static [u8]) -> Self {
        Self { name, bytes, encoded: OnceLock::new() }
    }

    /// The file with this name; `None` when there is none.
    pub(crate) fn named(name: &str) -> Option<&'static Self> {
        FILES.iter().find(|file| file.name == name)
    }

    /// The value of `Content-Type`, by the name's extension.
    pub(crate) fn media_type(&self) -> &'static str {
        match self.name.rsplit_once('.') {
            Some((_, "html")) => "text/html; charset=utf-8",
            Some((_, "css")) => "text/css; charset=utf-8",
            Some((_, "js")) => "text/javascript; charset=utf-8",
            Some((_, "svg")) => "image/svg+xml; charset=utf-8",
            _ => "application/octet-stream",
        }
    }

    /// The file as it is, or compressed by gzip.
    pub(crate) fn encoded(&self, is_gzip: bool) -> &Encoded {
        let [plain, packed] = self.encoded.get_or_init(|| {
            let digest = figdex_io::hex(&Sha256::digest(self.bytes)[..8]);
            let packed = encoding::gzip(self.bytes, Compression::best());
            [
                Encoded { bytes: Bytes::from_static(self.bytes), tag: format!("\"{digest}\"") },
                Encoded { bytes: packed, tag: format!("\"{digest}-gzip\"") },
            ]
        });
        if is_gzip { packed } else { plain }
    }
}

macro_rules! files {
    ($($name:literal)*) => {
        [$(File::new($name, include_bytes!(concat!("page/", $name)))),*]
    };
}

static FILES: [File; 49] = files! {
    "about.js" "api.js" "batch.js" "bulk-results.css" "bulk-results.js" "bulk.css" "bulk.js"
    "columns.js" "csv.js" "dom.js" "download.js" "empty.js" "example.js" "exchange.js" "facets.js"
    "family.js" "filters.js" "fold.js" "home.js" "icon.svg" "index.html" "instrument.css"
    "instrument.js" "key.js" "kinds.js" "level.js" "list.js" "main.js" "notice.js" "page.css"
    "picker.js" "query.js" "reading.js" "reference.css" "reference.js" "related.js" "result-row.js"
    "results.js" "router.js" "rows.js" "schema.js" "search.css" "steps.js" "suggest.js" "table.js"
    "terms-asked.js" "terms.js" "theme.js" "virtual.js"
};

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// Every file of the folder is served.
    #[test]
    fn the_table_is_the_folder() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/site/page");
        let mut names: Vec<String> = fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort_unstable();
        assert_eq!(FILES.iter().map(|file| file.name).collect::<Vec<_>>(), names);
        for file in &FILES {
            assert_ne!(file.media_type(), "application/octet-stream", "{}", file.name);
            assert_ne!(file.encoded(false).tag, file.encoded(true).tag);
        }
    }
}
