//! The day that the dumps describe (`--date`). An archive of dumps, built in the order of its days,
//! gives an index with the archive's history; so days never go back.

use std::path::Path;

use figdex_index::{Date, Manifest, SourceEntry};

use crate::error::{Error, Result};

/// Checks that a day is not before that of the published generation, with which the new one is
/// compared. After a rollback that is the day of the generation that was published again.
///
/// # Errors
/// [`Error::EarlierDay`].
pub(super) fn check(index: &Path, day: Date) -> Result<()> {
    match Manifest::published(index) {
        Ok(Manifest { date: published, generation, .. }) if day < published => {
            Err(Error::EarlierDay { day, published, generation })
        }
        // With another format, or a broken one, there is nothing to compare with.
        _ => Ok(()),
    }
}

/// Warnings of a day that is probably wrong: one in the future, or another one than that of the
/// published generation, which was built from the same dumps.
pub(super) fn warnings(index: &Path, day: Date, sources: &[SourceEntry]) -> Vec<String> {
    let mut warnings = Vec::new();
    let today = Date::today();
    if day > today {
        warnings.push(format!("--date {day} is in the future: it is {today} now, in UTC"));
    }
    let checksums = |sources: &[SourceEntry]| -> Vec<String> {
        sources.iter().map(|source| source.sha256.clone()).collect()
    };
    if let Ok(published) = Manifest::published(index)
        && published.date != day
        && checksums(&published.sources) == checksums(sources)
    {
        warnings.push(format!(
            "the dumps are the same as those of generation {}, whose day is {}, and not {day}: is \
             this an old dump?",
            published.generation, published.date
        ));
    }
    warnings
}
