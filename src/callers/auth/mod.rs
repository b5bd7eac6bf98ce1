//! API keys (contract 3). `file` stores their hashes; this module checks the key of a request.
//!
//! A key is 256 random bits, so its SHA-256 cannot be reversed by guessing. A slow hash, as for
//! passwords, would protect no better and would delay every request.

pub mod file;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use parking_lot::RwLock;
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;
use warp::http::HeaderMap;

use self::file::KeysError;
use crate::callers::error::ApiError;
use crate::callers::{Digest, KeyId};
use crate::seen::Seen;

/// The headers that may carry a key: that of the contract, and that of the public service, which
/// clients of that service send.
pub const HEADERS: [&str; 2] = ["x-service-apikey", "x-openfigi-apikey"];

/// The time between two checks whether the keys file has changed.
const WATCH_PERIOD: Duration = Duration::from_secs(1);

/// The keys that are valid now.
#[derive(Debug, Default)]
pub struct KeyRing {
    held: RwLock<Held>,
}

#[derive(Debug, Default)]
struct Held {
    /// The keys file; `None` when the settings name none. Then there are no keys.
    file: Option<PathBuf>,
    keys: HashMap<KeyId, Arc<ValidKey>>,
    /// Whether the file could not be used at the last check.
    is_refused: bool,
    /// The file as it was at the last look, whether it was valid or not; `None` if it was
    /// gone.
    seen: Option<Seen>,
}

/// A valid key, and its use since the server first loaded it.
#[derive(Debug)]
pub struct ValidKey {
    pub(crate) id: KeyId,
    /// The name that the operator gave it.
    pub(crate) name: Arc<str>,
    /// Whether its holder sees identifiers of the class `internal`.
    pub(crate) is_internal: bool,
    digest: Digest,
    requests: AtomicU64,
    /// The time of the last request, in seconds since 1970; 0 before the first.
    last_used: AtomicU64,
}

/// The use of a key, for the metrics.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct KeyUse {
    pub(crate) name: String,
    pub(crate) requests: u64,
    /// The time of the last request, in seconds since 1970; `None` before the first.
    pub(crate) last_used: Option<u64>,
}

impl ValidKey {
    fn of(key: file::Key) -> Arc<Self> {
        let file::Key { name, is_internal, digest, .. } = key;
        let id = KeyId::of_digest(&digest);
        Arc::new(Self {
            id,
            name: name.into(),
            is_internal,
            digest,
            requests: AtomicU64::new(0),
            last_used: AtomicU64::new(0),
        })
    }

    fn count(&self) {
        self.requests.fetch_add(1, Ordering::Relaxed);
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        self.last_used.store(now.as_secs(), Ordering::Relaxed);
    }
}

impl KeyRing {
    /// The keys of a file. [`Self::watch`] follows its changes.
    ///
    /// # Errors
    /// When the file does not exist, cannot be read, or is not a keys file.
    pub fn open(file: &Path) -> Result<Self, KeysError> {
        let seen = Seen::of(file);
        let keys = valid_keys(file)?;
        let held = Held { file: Some(file.to_owned()), keys, is_refused: false, seen };
        Ok(Self { held: RwLock::new(held) })
    }

    /// The file, if the keys come from one.
    pub fn file(&self) -> Option<PathBuf> {
        self.held.read().file.clone()
    }

    /// Whether the file cannot be used now, so that the keys from before its last change stay
    /// valid; `None` without a file.
    pub(crate) fn is_refused(&self) -> Option<bool> {
        let held = self.held.read();
        held.file.as_ref().map(|_| held.is_refused)
    }

    /// Takes the keys and the file of another ring. The other ring is left empty.
    pub fn replace(&self, other: &Self) {
        let mut held = std::mem::take(&mut *other.held.write());
        let mut before = self.held.write();
        held.keep_uses(&before);
        *before = held;
        drop(before);
        self.warn_if_shared();
    }

    /// Warns if other users may read or change the keys file ([`file::shared`]). The file is used
    /// anyway: secrets that an orchestrator mounts may have such a mode.
    pub(crate) fn warn_if_shared(&self) {
        let Some(warning) = self.file().and_then(|file| file::shared(&file)) else { return };
        tracing::warn!("{warning}");
    }

    /// The use of each key, by name.
    pub(crate) fn uses(&self) -> Vec<KeyUse> {
        let held = self.held.read();
        let uses = held.keys.values().map(|key| {
            let last_used = key.last_used.load(Ordering::Relaxed);
            KeyUse {
                name: key.name.to_string(),
                requests: key.requests.load(Ordering::Relaxed),
                last_used: (last_used > 0).then_some(last_used),
            }
        });
        let mut uses: Vec<_> = uses.collect();
        uses.sort_by(|one, other| one.name.cmp(&other.name));
        uses
    }

    /// Reloads the file if it changed. An invalid or missing file leaves the keys as they were: a
    /// mistake of the operator must not lock out every client (contract 3.6).
    pub fn refresh(&self) {
        let Some(file) = self.file() else { return };
        let seen = Seen::of(&file);
        if self.held.read().seen == seen {
            return;
        }
        let keys = valid_keys(&file);
        let mut held = self.held.write();
        if held.file.as_ref() != Some(&file) {
            // The ring has got another file in the meantime.
            return;
        }
        match keys {
            Ok(keys) => {
                tracing::info!(keys = keys.len(), "keys file reloaded");
                let mut reloaded = Held { file: Some(file), keys, is_refused: false, seen };
                reloaded.keep_uses(&held);
                *held = reloaded;
                drop(held);
                self.warn_if_shared();
            }
            Err(error) => {
                tracing::warn!(%error, "keys file not reloaded: the previous keys stay valid");
                (held.seen, held.is_refused) = (seen, true);
            }
        }
    }

    /// Refreshes the ring every second, until nothing else holds it.
    pub async fn watch(self: Arc<Self>) {
        let ring = Arc::downgrade(&self);
        drop(self);
        loop {
            tokio::time::sleep(WATCH_PERIOD).await;
            let Some(ring) = ring.upgrade() else { return };
            // The file may be on a network. No request may wait for it.
            if tokio::task::spawn_blocking(move || ring.refresh()).await.is_err() {
                tracing::error!("checking the keys file for changes failed");
            }
        }
    }

    /// The key in the headers of a request; `None` when there is none. An empty value is not a
    /// key, and the same key in several headers is one key (contract 3.2 to 3.5). The request
    /// counts as a use of the key.
    ///
    /// # Errors
    /// [`ApiError::InvalidApiKey`] for an unknown key, and for two different ones.
    pub fn admit(&self, headers: &HeaderMap) -> Result<Option<Arc<ValidKey>>, ApiError> {
        let values = HEADERS.iter().flat_map(|name| headers.get_all(*name));
        let mut keys =
            values.map(|value| value.as_bytes().trim_ascii()).filter(|key| !key.is_empty());
        let Some(key) = keys.next() else { return Ok(None) };
        if keys.any(|other| other != key) {
            return Err(ApiError::InvalidApiKey);
        }
        let digest = digest_of(key);
        let id = KeyId::of_digest(&digest);
        // The time of the map's lookup reveals at most the first bits of a hash that the caller can
        // compute anyway, and nothing of a key. The full hashes are compared in constant time, even
        // for an unknown key.
        let held = self.held.read();
        let known = held.keys.get(&id);
        let same = known.map_or(&[0; 32], |key| &key.digest).ct_eq(&digest);
        match known {
            Some(key) if bool::from(same) => {
                key.count();
                Ok(Some(key.clone()))
            }
            _ => Err(ApiError::InvalidApiKey),
        }
    }
}

pub(crate) fn digest_of(key: &[u8]) -> Digest {
    Sha256::digest(key).into()
}

fn valid_keys(file: &Path) -> Result<HashMap<KeyId, Arc<ValidKey>>, KeysError> {
    let keys = file::list(file)?.into_iter().map(ValidKey::of);
    Ok(keys.map(|key| (key.id, key)).collect())
}

impl Held {
    /// Keeps the counts of each key that has the same hash and the same name before and after.
    fn keep_uses(&mut self, before: &Self) {
        for (id, key) in &mut self.keys {
            let same = |old: &&Arc<ValidKey>| old.digest == key.digest && old.name == key.name;
            let Some(old) = before.keys.get(id).filter(same) else { continue };
            if old.is_internal == key.is_internal {
                *key = old.clone();
                continue;
            }
            // A request that still holds the old key counts there, and is lost here.
            for (new, old) in [(&key.requests, &old.requests), (&key.last_used, &old.last_used)] {
                new.store(old.load(Ordering::Relaxed), Ordering::Relaxed);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use warp::http::HeaderValue;

    use super::*;

    fn admit(ring: &KeyRing, headers: &[(&'static str, &str)]) -> Result<bool, ApiError> {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(*name, HeaderValue::from_str(value).unwrap());
        }
        ring.admit(&map).map(|key| key.is_some())
    }

    /// contract 3.2 to 3.5: a key in either header.
    #[test]
    fn a_key_in_either_header() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("keys.toml");
        let key = file::add(&file, "one").unwrap();
        let other = file::add(&file, "two").unwrap();
        let ring = KeyRing::open(&file).unwrap();
        let [service, public] = HEADERS;
        let no_key = KeyRing::default();
        let invalid = Err(ApiError::InvalidApiKey);
        for (headers, with_keys, without_keys) in [
            (vec![], Ok(false), Ok(false)),
            (vec![(service, "")], Ok(false), Ok(false)),
            (vec![(service, " "), (public, "")], Ok(false), Ok(false)),
            (vec![(service, key.as_str())], Ok(true), invalid),
            (vec![(public, &key)], Ok(true), invalid),
            (vec![(public, &key), (service, "")], Ok(true), invalid),
            (vec![(public, &key), (service, &key)], Ok(true), invalid),
            (vec![(service, &key), (service, &key)], Ok(true), invalid),
            (vec![(service, &key), (service, &other)], invalid, invalid),
            (vec![(public, &key), (service, &other)], invalid, invalid),
            (vec![(service, &key[1..])], invalid, invalid),
            (vec![(service, &key.to_uppercase())], invalid, invalid),
            (vec![(service, "x")], invalid, invalid),
        ] {
            assert_eq!(admit(&ring, &headers), with_keys, "{headers:?}");
            assert_eq!(admit(&no_key, &headers), without_keys, "{headers:?}");
        }
    }

    /// A key's requests are counted under its name, also over a change of the file.
    #[test]
    fn the_use_of_a_key() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("keys.toml");
        let key = file::add(&file, "desk").unwrap();
        let ring = KeyRing::open(&file).unwrap();
        let counts = || -> Vec<(String, u64, bool)> {
            let uses = ring.uses().into_iter();
            uses.map(|key| (key.name, key.requests, key.last_used.is_some())).collect()
        };
        assert_eq!(counts(), [("desk".to_owned(), 0, false)]);
        for _ in 0..2 {
            admit(&ring, &[(HEADERS[1], &key)]).unwrap();
        }
        admit(&ring, &[(HEADERS[1], "x")]).unwrap_err();
        file::add(&file, "batch").unwrap();
        ring.refresh();
        assert_eq!(counts(), [("batch".to_owned(), 0, false), ("desk".to_owned(), 2, true)]);
        admit(&ring, &[(HEADERS[0], &key)]).unwrap();
        ring.replace(&KeyRing::open(&file).unwrap());
        assert_eq!(counts()[1], ("desk".to_owned(), 3, true));
        file::revoke(&file, "desk").unwrap();
        ring.refresh();
        assert_eq!(counts(), [("batch".to_owned(), 0, false)]);
    }

    /// contract 3.6: a changed file is loaded without a restart; a broken or removed one is not.
    #[test]
    fn a_changed_file_is_reloaded() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("keys.toml");
        let first = file::add(&file, "first").unwrap();
        let ring = KeyRing::open(&file).unwrap();
        let is_valid = |key: &str| {
            ring.refresh();
            admit(&ring, &[(HEADERS[0], key)]) == Ok(true)
        };
        let second = file::add(&file, "second").unwrap();
        assert!(is_valid(&first) && is_valid(&second));
        file::revoke(&file, "first").unwrap();
        assert!(!is_valid(&first) && is_valid(&second));
        let good = fs::read(&file).unwrap();
        assert_eq!(ring.is_refused(), Some(false));
        fs::write(&file, "[[key]]\nname = ").unwrap();
        assert!(!is_valid(&first) && is_valid(&second));
        assert_eq!(ring.is_refused(), Some(true));
        fs::remove_file(&file).unwrap();
        assert!(is_valid(&second));
        assert_eq!(ring.is_refused(), Some(true));
        fs::write(&file, good).unwrap();
        let third = file::add(&file, "third").unwrap();
        assert!(is_valid(&second) && is_valid(&third));
        assert_eq!(ring.is_refused(), Some(false));
        assert_eq!(KeyRing::default().is_refused(), None);
    }
}
