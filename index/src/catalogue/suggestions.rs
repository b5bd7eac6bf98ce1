//! Suggestions that were made before: everybody types the same first letters.

use super::cache as remembered;
use super::cache::bytes;
use super::uses::Uses;
use crate::suggest::{Suggest, Suggestion};

/// Longer texts are seldom typed twice.
const TEXT_BYTES_MAX: usize = 32;

/// What was suggested, as far as somebody asked.
#[derive(Default)]
pub(crate) struct Remembered(remembered::Remembered<(Suggest, usize), Vec<Suggestion>>);

impl Remembered {
    pub(super) fn get(&self, asked: &Suggest, limit: usize) -> Option<Vec<Suggestion>> {
        let is_short = asked.keywords.text().len() <= TEXT_BYTES_MAX;
        if is_short { self.0.get(&(key(asked), limit)) } else { None }
    }

    pub(crate) fn uses(&self) -> Uses {
        self.0.uses()
    }

    pub(super) fn remember(&self, asked: &Suggest, limit: usize, found: &[Suggestion]) {
        if asked.keywords.text().len() <= TEXT_BYTES_MAX {
            let bytes = bytes(Some(&asked.keywords), &asked.filters) + size_of_val(found);
            self.0.remember((key(asked), limit), found.to_vec(), bytes);
        }
    }
}

fn key(asked: &Suggest) -> Suggest {
    Suggest { keywords: asked.keywords.without_words(), filters: asked.filters.clone() }
}
