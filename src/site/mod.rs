//! The page for people, as files in the program: nothing to install, nothing to lose.
//!
//! The files stand in the folder of this module as they are sent; there is no step that
//! builds them. Each is packed once, when somebody first asks for it.

use std::sync::OnceLock;

use bytes::Bytes;
use flate2::Compression;
use sha2::{Digest as _, Sha256};

use crate::encoding;

/// A file of the page.
pub(crate) struct File {
    name: &'static str,
    bytes: &'static [u8],
    sent: OnceLock<[Sent; 2]>,
}

/// A file in one encoding, as it is sent.
pub(crate) struct Sent {
    pub(crate) bytes: Bytes,
    /// Strong (RFC 9110, 8.8.1): each encoding has its own.
    pub(crate) tag: String,
}

impl File {
    const fn new(name: &'static str, bytes: &'static [u8]) -> Self {
        Self { name, bytes, sent: OnceLock::new() }
    }

    /// The file of that name.
    pub(crate) fn named(name: &str) -> Option<&'static Self> {
        FILES.iter().find(|file| file.name == name)
    }

    pub(crate) fn media_type(&self) -> &'static str {
        match self.name.rsplit_once('.') {
            Some((_, "html")) => "text/html; charset=utf-8",
            Some((_, "css")) => "text/css; charset=utf-8",
            Some((_, "js")) => "text/javascript; charset=utf-8",
            Some((_, "svg")) => "image/svg+xml; charset=utf-8",
            _ => "application/octet-stream",
        }
    }

    /// The file as it stands, or packed by gzip.
    pub(crate) fn sent(&self, is_gzip: bool) -> &Sent {
        let [plain, packed] = self.sent.get_or_init(|| {
            let digest = figdex_index::hex(&Sha256::digest(self.bytes)[..8]);
            let packed = encoding::gzip(self.bytes, Compression::best());
            [
                Sent { bytes: Bytes::from_static(self.bytes), tag: format!("\"{digest}\"") },
                Sent { bytes: packed, tag: format!("\"{digest}-gzip\"") },
            ]
        });
        if is_gzip { packed } else { plain }
    }
}

macro_rules! files {
    ($($name:literal)*) => {
        [$(File::new($name, include_bytes!($name))),*]
    };
}

static FILES: [File; 34] = files! {
    "api.js" "batch.js" "bulk-results.js" "bulk.css" "bulk.js" "csv.js" "dom.js" "example.js"
    "family.js" "filters.js" "home.js" "icon.svg" "identify.js" "index.html" "instrument.css"
    "instrument.js" "key.js" "level.js" "lines.js" "main.js" "notice.js" "page.css" "picker.js"
    "plan.js" "query.js" "reference.css" "reference.js" "results.js" "router.js" "schema.js"
    "search.css" "suggest.js" "theme.js" "virtual.js"
};

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// What is drawn is served, whole.
    #[test]
    fn the_table_is_the_folder() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/site");
        let mut drawn: Vec<String> = fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        drawn.sort_unstable();
        assert_eq!(FILES.iter().map(|file| file.name).collect::<Vec<_>>(), drawn);
        for file in &FILES {
            assert_ne!(file.media_type(), "application/octet-stream", "{}", file.name);
            assert_ne!(file.sent(false).tag, file.sent(true).tag);
        }
    }
}
