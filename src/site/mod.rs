//! The page for people, whose files are part of the program: nothing has to be installed.
//!
//! The files are in `page/`, exactly as they are sent; no step builds them. Each view has a folder
//! there: `search/`, `bulk/`, `instrument/`, `reference/`. Several views use the files in
//! `shared/`. Each file is compressed once, at the first request for it.

use std::sync::OnceLock;

use bytes::Bytes;
use flate2::Compression;
use sha2::{Digest as _, Sha256};

use crate::http::encoding;

/// A file of the page.
pub(crate) struct File {
    /// Its path in `page/`.
    name: &'static str,
    bytes: &'static [u8],
    encoded: OnceLock<[Encoded; 2]>,
}

/// A file in one encoding, as it is sent.
pub(crate) struct Encoded {
    pub(crate) bytes: Bytes,
    /// The entity tag, with its quotes. It is a strong tag (RFC 9110, 8.8.1), and each encoding has
    /// a different one.
    pub(crate) tag: String,
}

impl File {
    const fn new(name: &'static str, bytes: &'static [u8]) -> Self {
        Self { name, bytes, encoded: OnceLock::new() }
    }

    /// The file with this path in `page/`; `None` when there is none. Nothing is read from a disk:
    /// a path that is not in the list, such as one with `..`, has no file.
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

static FILES: [File; 64] = files! {
    "bulk/also.js" "bulk/as-of.js" "bulk/batch.js" "bulk/bulk.css" "bulk/bulk.js" "bulk/choices.js"
    "bulk/columns.js" "bulk/download.js" "bulk/kept.js" "bulk/list.js" "bulk/names.js"
    "bulk/own-names.js" "bulk/reading.js" "bulk/result-row.js" "bulk/results.css" "bulk/results.js"
    "bulk/steps.js" "bulk/virtual.js" "icon.svg" "index.html" "instrument/family.js"
    "instrument/history.js" "instrument/instrument.css" "instrument/instrument.js"
    "instrument/names.js" "instrument/related.js" "main.js" "page.css" "reference/example.js"
    "reference/reference.css" "reference/reference.js" "reference/schema.js" "search/empty.js"
    "search/facets.js" "search/filters.js" "search/fold.js" "search/home.js" "search/isin.js"
    "search/query.js" "search/results.js" "search/rows.js" "search/save.js" "search/search.css"
    "search/suggest.js" "shared/about.js" "shared/api.js" "shared/back.js" "shared/csv.js"
    "shared/decode.js" "shared/dom.js" "shared/exchange.js" "shared/footer.js" "shared/heading.js"
    "shared/key.js" "shared/kinds.js" "shared/level.js" "shared/notice.js" "shared/other-name.js"
    "shared/past.js" "shared/picker.js" "shared/router.js" "shared/table.js" "shared/terms.js"
    "theme.js"
};

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;

    /// Every file of the folder is served.
    #[test]
    fn the_table_is_the_folder() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/site/page");
        let mut names: Vec<String> = Vec::new();
        let mut folders = vec![Path::new(folder).to_owned()];
        while let Some(inner) = folders.pop() {
            for entry in fs::read_dir(inner).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else {
                    let name = path.strip_prefix(folder).unwrap();
                    names.push(name.to_str().unwrap().to_owned());
                }
            }
        }
        names.sort_unstable();
        assert_eq!(FILES.iter().map(|file| file.name).collect::<Vec<_>>(), names);
        for file in &FILES {
            assert_ne!(file.media_type(), "application/octet-stream", "{}", file.name);
            assert_ne!(file.encoded(false).tag, file.encoded(true).tag);
        }
    }
}
