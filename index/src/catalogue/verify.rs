//! Reads an index back: every instrument as it was added, in FIGI order. Checks that each
//! instrument is found by its identifiers and values; an identifier of many instruments is only
//! counted.

use super::Catalogue;
use crate::error::{Error, Result};
use crate::instrument::Instrument;
use crate::instrument::id_type::IdType;
use crate::instrument::vocabulary::{Property, Vocabulary};
use crate::part::Part;
use crate::part::identifiers::KeyKind;
use crate::part::identifiers::keys;
use crate::part::other_names::KnownAs;
use crate::part::ranks::Securities;
use crate::part::ranks::rank::Facts;
use crate::part::segment::columns::Columns;

/// The most DocIds of a key that are searched for the DocId of the instrument. A key with more
/// DocIds is not searched: only the number of DocIds of all keys together is checked.
const COMPARED_POSTINGS_MAX: usize = 64;

/// The bytes of facts about rows that are kept in memory. If there are more, they are in a temporary
/// file.
const FACTS_BYTES_MAX: usize = 64 << 20;

impl Catalogue {
    /// Calls `each` with every instrument as it was added, in FIGI order. Only its importance may
    /// be shortened ([`Manifest::importance_bits`](crate::Manifest::importance_bits)).
    ///
    /// # Errors
    /// The first error of `each`, or [`Error::Damaged`].
    pub fn instruments<E>(
        &self,
        mut each: impl FnMut(&Instrument) -> Result<(), E>,
    ) -> Result<(), E>
    where
        E: From<Error>,
    {
        let parts = self.generation.parts.iter().zip(&self.manifest().parts);
        for (part, entry) in parts {
            let path = entry.path(&self.generation.path);
            part.for_each(&path, |_, instrument| each(&instrument))?;
        }
        Ok(())
    }

    /// Checks more than opening does: that FIGIs ascend, that each identifier finds its instrument,
    /// that there are no other identifiers, and that bitmaps, numbers, ranks and fast fields agree
    /// with the fields of each instrument. For an identifier of many instruments, only the number
    /// of DocIds is checked. Words and beginnings are not compared with the instruments. Of the past,
    /// the lookup file must follow from the log and the instruments.
    ///
    /// # Errors
    /// [`Error::Damaged`] for the first contradiction that is found.
    pub fn verify(&self) -> Result<()> {
        self.generation.verify()?;
        if let Some(past) = &self.generation.past {
            past.verify_lookup(&self.generation.path, |figi| {
                self.find(figi).map(|hit| self.instrument(hit)).transpose()
            })?;
        }
        let countries = self.vocabulary().countries().clone();
        let securities = Securities::of_rows(countries, FACTS_BYTES_MAX, |each| {
            let parts = self.generation.parts.iter().zip(&self.manifest().parts);
            for (part, entry) in parts {
                let path = entry.path(&self.generation.path);
                // Of the identifiers, the facts need only the ISIN.
                let wants = |id_type| id_type == IdType::Isin;
                part.for_each_apart(&path, wants, |_, row, mut instrument| {
                    instrument.complete(&row);
                    each(instrument.figi, &Facts::of(&instrument))
                })?;
            }
            Ok(())
        })?;
        for (part, entry) in self.generation.parts.iter().zip(&self.manifest().parts) {
            let path = entry.path(&self.generation.path);
            if !part.ranks.are_of(&securities) {
                let what = "ranks: the importances are not those of the instruments";
                return Err(Error::damaged(&path, what));
            }
            let columns = Columns::open(&part.segment, self.vocabulary(), &path)?;
            let mut keys = 0;
            let mut in_bitmaps = 0;
            part.for_each(&path, |doc, instrument| {
                let damaged = |what| Error::damaged(&path, format!("{}: {what}", instrument.figi));
                keys +=
                    agree(part, &columns, doc, &instrument, self.vocabulary()).map_err(damaged)?;
                let facts = Facts::of(&instrument);
                let rank = securities.rank(instrument.figi, &facts);
                if part.ranks.rank(doc) != rank {
                    return Err(damaged(
                        "its rank is not the one that follows from its fields".into(),
                    ));
                }
                if part.ranks.standing(doc) != securities.standing(instrument.figi, &facts) {
                    return Err(damaged(
                        "whether it is the best listing does not follow from the fields".into(),
                    ));
                }
                in_bitmaps +=
                    Property::ALL.into_iter().filter_map(|it| instrument.property(it)).count()
                        + usize::from(instrument.is_unlisted_equity())
                        + 1;
                Ok::<_, Error>(())
            })?;
            if in_bitmaps as u64 != part.bitmaps.rows() {
                return Err(Error::damaged(
                    &path,
                    "the bitmaps hold rows that do not have their value",
                ));
            }
            if keys != part.identifiers.count() {
                let what = "the identifier directory has more or fewer keys than the instruments";
                return Err(Error::damaged(&path, what));
            }
        }
        Ok(())
    }
}

/// Checks that the bitmaps, numbers, fast fields and identifiers of a part agree with the
/// instrument at a DocId. Returns the number of keys that the instrument has in the directory, or
/// the contradiction.
fn agree(
    part: &Part,
    columns: &Columns,
    doc: u32,
    instrument: &Instrument,
    vocabulary: &Vocabulary,
) -> Result<u64, String> {
    for property in Property::ALL {
        let value = instrument.property(property);
        let known = value.and_then(|value| vocabulary.admit(property, value));
        if known.is_some() != value.is_some() || !columns.has(property, known, doc) {
            return Err(format!("its fast field has another value of {}", property.name()));
        }
        let bitmap = known.and_then(|known| part.bitmaps.of(known));
        if known.is_some() && bitmap.is_none_or(|bitmap| !bitmap.contains(doc)) {
            return Err(format!("the bitmap of its {} does not hold it", property.name()));
        }
    }
    if columns.numbers(doc) != instrument.filter_numbers() {
        return Err("its fast fields have other numbers".into());
    }
    if instrument.filter_dates() != columns.dates(doc) {
        return Err("its fast fields have other dates".into());
    }
    if !part.numbers.are_of(instrument, doc) {
        return Err("its columns have other numbers or dates".into());
    }
    let unlisted = part.bitmaps.unlisted_equities();
    if instrument.is_unlisted_equity() != unlisted.is_some_and(|bitmap| bitmap.contains(doc)) {
        return Err("the bitmap of unlisted equities disagrees with its fields".into());
    }
    let level = instrument.level();
    if part.bitmaps.of_level(level).is_none_or(|bitmap| !bitmap.contains(doc)) {
        return Err(format!("the bitmap of level {} does not hold it", level.name()));
    }
    if instrument.is_unlisted_equity() != columns.is_unlisted_equity(doc) {
        return Err("the fast field of unlisted equities disagrees with its fields".into());
    }
    if !part.names.of(doc).into_iter().eq(KnownAs::of(instrument)) {
        return Err("the table of names has other names".into());
    }
    let of_ids = instrument.keys();
    let mut keys: Vec<(KeyKind, String)> =
        of_ids.map(|value| (KeyKind::Id(value.id_type()), value.as_str().to_owned())).collect();
    keys.extend(keys::keys(instrument));
    keys.sort_unstable();
    keys.dedup();
    for (kind, text) in &keys {
        if !part.lengths.have(*kind, text) {
            return Err(format!(
                "the table of key lengths lacks the length of its identifier {text}"
            ));
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
