//! Suggestions that were made before: everybody types the same first letters, and a
//! generation never changes.

use std::collections::HashMap;

use parking_lot::Mutex;

use super::{Suggest, Suggestion};
use crate::uses::{Counted, Uses};

/// Questions that are remembered, and how long their texts may be: a few MB in all.
const REMEMBERED_MAX: usize = 4096;
const TEXT_BYTES_MAX: usize = 32;

/// What was suggested, as far as somebody asked.
#[derive(Default)]
pub(crate) struct Remembered {
    known: Mutex<HashMap<(Suggest, usize), Vec<Suggestion>>>,
    counted: Counted,
}

impl Remembered {
    pub(super) fn get(&self, asked: &Suggest, limit: usize) -> Option<Vec<Suggestion>> {
        if asked.keywords.text().len() > TEXT_BYTES_MAX {
            return None;
        }
        let found = self.known.lock().get(&(asked.clone(), limit)).cloned();
        if found.is_some() {
            self.counted.hit();
        }
        found
    }

    pub(crate) fn uses(&self) -> Uses {
        self.counted.uses()
    }

    pub(super) fn remember(&self, asked: &Suggest, limit: usize, found: &[Suggestion]) {
        if asked.keywords.text().len() > TEXT_BYTES_MAX {
            return;
        }
        self.counted.miss();
        let mut known = self.known.lock();
        if known.len() == REMEMBERED_MAX {
            // As for totals: to forget all is cheaper than to know which are asked again.
            known.clear();
        }
        known.insert((asked.clone(), limit), found.to_vec());
    }
}
