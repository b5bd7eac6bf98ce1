//! An index read back: every instrument as it was added, in FIGI order; and the
//! proof that all of it is found.

use super::Catalogue;
use crate::error::{Error, Result};
use crate::instrument::Instrument;
use crate::instrument::vocabulary::{Property, Vocabulary};
use crate::part::Part;
use crate::part::identifiers::KeyKind;
use crate::part::identifiers::keys;
use crate::part::ranks::Securities;
use crate::part::ranks::rank::Facts;

/// Of a key with more DocIds than this it is checked that it is there and how many
/// it has in all, not one by one that each is there.
const COMPARED_POSTINGS_MAX: usize = 64;

impl Catalogue {
    /// Hands every instrument to `each`, in FIGI order, as it was added.
    ///
    /// # Errors
    /// The first of `each`, or [`Error::Damaged`].
    pub fn instruments<E>(
        &self,
        mut each: impl FnMut(&Instrument) -> Result<(), E>,
    ) -> Result<(), E>
    where
        E: From<Error>,
    {
        let parts = self.generation.parts.iter().zip(&self.manifest().parts);
        for (part, entry) in parts {
            let path = self.generation.path.join(&entry.folder);
            part.for_each(&path, |_, instrument| each(&instrument))?;
        }
        Ok(())
    }

    /// Checks all that opening takes on trust: that FIGIs ascend, that every
    /// identifier of every instrument finds it and that there are no more, and that
    /// rows, fast fields and directory tell of the same instruments.
    ///
    /// # Errors
    /// [`Error::Damaged`] for the first contradiction.
    pub fn verify(&self) -> Result<()> {
        self.generation.verify()?;
        let securities = Securities::of(|each| {
            self.instruments(|instrument| {
                each(instrument.figi, &Facts::of(instrument));
                Ok(())
            })
        })?;
        for (part, entry) in self.generation.parts.iter().zip(&self.manifest().parts) {
            let path = self.generation.path.join(&entry.folder);
            let mut keys = 0;
            let mut in_bitmaps = 0;
            part.for_each(&path, |doc, instrument| {
                let damaged = |what| Error::damaged(&path, format!("{}: {what}", instrument.figi));
                keys += agree(part, doc, &instrument, self.vocabulary()).map_err(damaged)?;
                let rank = securities.rank(instrument.figi, &Facts::of(&instrument));
                if part.ranks.rank(doc) != rank {
                    return Err(damaged("its rank is another's".into()));
                }
                in_bitmaps +=
                    Property::ALL.into_iter().filter_map(|it| instrument.property(it)).count()
                        + usize::from(instrument.is_unlisted_equity());
                Ok::<_, Error>(())
            })?;
            if in_bitmaps as u64 != part.bitmaps.rows() {
                return Err(Error::damaged(&path, "bitmaps have rows that have not their value"));
            }
            if keys != part.identifiers.count() {
                let what = "the directory has other keys than the instruments make";
                return Err(Error::damaged(&path, what));
            }
        }
        Ok(())
    }
}

/// How many keys an instrument has, if the companions of a part tell the same of
/// it; if not, what.
fn agree(
    part: &Part,
    doc: u32,
    instrument: &Instrument,
    vocabulary: &Vocabulary,
) -> Result<u64, String> {
    for property in Property::ALL {
        let value = instrument.property(property);
        let known = value.and_then(|value| vocabulary.admit(property, value));
        if known.is_some() != value.is_some() || !part.columns.has(property, known, doc) {
            return Err(format!("its fast field has another {}", property.name()));
        }
        let bitmap = known.and_then(|known| part.bitmaps.of(known));
        if known.is_some() && bitmap.is_none_or(|bitmap| !bitmap.contains(doc)) {
            return Err(format!("the bitmap of its {} lacks it", property.name()));
        }
    }
    let numbers = [instrument.strike, instrument.contract_size, instrument.coupon];
    if part.columns.numbers(doc) != numbers {
        return Err("its fast fields have other numbers".into());
    }
    if instrument.filter_dates() != part.columns.dates(doc) {
        return Err("its fast fields have other dates".into());
    }
    if !part.numbers.are_of(instrument, doc) {
        return Err("its ordinals are of other numbers or dates".into());
    }
    let unlisted = part.bitmaps.unlisted_equities();
    if instrument.is_unlisted_equity() != unlisted.is_some_and(|bitmap| bitmap.contains(doc)) {
        return Err("the bitmap of unlisted equities is wrong about it".into());
    }
    if instrument.is_unlisted_equity() != part.columns.is_unlisted_equity(doc) {
        return Err("it is unlisted, and is not".into());
    }
    let of_ids = instrument.keys();
    let mut keys: Vec<(KeyKind, String)> =
        of_ids.map(|value| (KeyKind::Id(value.id_type()), value.as_str().to_owned())).collect();
    keys.extend(keys::keys(instrument));
    keys.sort_unstable();
    keys.dedup();
    for (kind, text) in &keys {
        if !part.lengths.have(*kind, text) {
            return Err(format!("its identifier {text} is of no length that there is"));
        }
        let mut found = part.identifiers.find(*kind, text);
        let is_found = match found.len() {
            0..=COMPARED_POSTINGS_MAX => found.any(|found| found == doc),
            _ => true,
        };
        if !is_found {
            return Err(format!("its identifier {text} does not find it"));
        }
    }
    Ok(keys.len() as u64)
}
