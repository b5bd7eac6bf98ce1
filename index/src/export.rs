//! An index read back: every instrument as it was added, in FIGI order.
//!
//! Fields come from the rows, the fast fields and the aliases, identifiers from the
//! directory, which knows DocIds by key. It is turned round for a range of DocIds at a
//! time, as many as have [`KEYS_MAX`] keys together, so that memory does not grow with
//! the part; each range costs one walk through the directory.

use std::collections::BTreeSet;
use std::ops::Range;

use crate::catalogue::Catalogue;
use crate::error::{Error, Result};
use crate::id_type::{IdType, IdValue};
use crate::identifiers::{Identifiers, KeyKind};
use crate::instrument::Instrument;
use crate::part::Part;
use crate::rank::rank;
use crate::typed;
use crate::vocabulary::{Property, Vocabulary};

/// How many keys are held at a time, some forty bytes each.
const KEYS_MAX: u64 = 8 << 20;

impl Catalogue {
    /// Hands every instrument to `each`, in FIGI order: as it was added, but for the
    /// order of its identifiers, which is by kind and then by text.
    ///
    /// # Errors
    /// The first of `each`.
    pub fn instruments<E>(
        &self,
        mut each: impl FnMut(&Instrument) -> Result<(), E>,
    ) -> Result<(), E>
    where
        E: From<Error>,
    {
        for part in &self.generation.parts {
            read(part, self.vocabulary(), KEYS_MAX, |_, instrument, _| each(instrument))?;
        }
        Ok(())
    }

    /// Checks all that opening takes on trust: that FIGIs ascend, that every key of
    /// the directory is found, and that rows, fast fields and directory tell of the
    /// same instruments, no key too few and none too many.
    ///
    /// # Errors
    /// [`Error::Damaged`] for the first contradiction.
    pub fn verify(&self) -> Result<()> {
        self.generation.verify()?;
        for (part, entry) in self.generation.parts.iter().zip(&self.manifest().parts) {
            let path = self.generation.path.join(&entry.folder);
            read(part, self.vocabulary(), KEYS_MAX, |doc, instrument, listed| {
                agree(part, doc, instrument, listed)
                    .map_err(|what| Error::damaged(&path, format!("{}: {what}", instrument.figi)))
            })?;
        }
        Ok(())
    }
}

/// A key of the directory, as text.
type Key<'a> = (KeyKind, &'a str);

/// Shows each instrument of a part with its DocId and all the directory's keys of it.
fn read<E>(
    part: &Part,
    vocabulary: &Vocabulary,
    keys_max: u64,
    mut each: impl FnMut(u32, &Instrument, &[Key<'_>]) -> Result<(), E>,
) -> Result<(), E>
where
    E: From<Error>,
{
    let values = Property::ALL.map(|property| part.columns.texts(property, vocabulary));
    let mut aliases = part.aliases.iter().peekable();
    for docs in ranges(part, keys_max) {
        let keys = Keys::of(&part.identifiers, docs.clone());
        let mut rest = &*keys.pairs;
        for doc in docs {
            let count = rest.partition_point(|pair| pair.0 == doc);
            let (own, after) = rest.split_at(count);
            rest = after;
            let mut own: Vec<_> = own.iter().map(|&(_, key)| keys.get(key)).collect();
            own.sort_unstable();
            let alias = aliases.next_if(|(next, _)| *next == doc).map(|(_, texts)| texts);
            let mut instrument = fields(part, &values, doc);
            instrument.alias = alias.unwrap_or_default().into_iter().map(String::from).collect();
            instrument.identifiers = identifiers(&instrument, &own);
            each(doc, &instrument, &own)?;
        }
    }
    Ok(())
}

/// All of an instrument but its identifiers and aliases.
fn fields(part: &Part, values: &[Vec<&str>; Property::COUNT], doc: u32) -> Instrument {
    let row = part.rows.get(doc);
    let [strike, contract_size, coupon] = part.columns.numbers(doc);
    // A code that is none is for `agree` to tell.
    let given = part.columns.given(doc);
    Instrument {
        composite_figi: row.composite_figi,
        share_class_figi: row.share_class_figi,
        ticker: row.ticker.map(String::from),
        name: row.name.map(String::from),
        security_description: row.security_description.map(String::from),
        properties: Property::ALL.map(|property| {
            let ordinal = part.columns.ordinal(property, doc)?;
            Some(values[property as usize][ordinal].to_owned())
        }),
        strike,
        contract_size,
        coupon,
        expiration: given.and_then(|given| given.expiration),
        maturity: given.and_then(|given| given.maturity),
        listed: given.and_then(|given| given.listed),
        metadata: row.metadata.map(String::from),
        unique_id: row.unique_id.map(String::from),
        unique_id_fut_opt: row.unique_id_fut_opt.map(String::from),
        ..Instrument::new(row.figi)
    }
}

/// The identifiers among an instrument's keys: those that no field of it has.
fn identifiers(instrument: &Instrument, keys: &[Key<'_>]) -> Vec<(IdType, IdValue)> {
    let of_fields: Vec<_> = instrument.keys().collect();
    let given = keys.iter().filter_map(|(kind, text)| match kind {
        KeyKind::Id(id_type) => Some((*id_type, IdValue::stored(text))),
        KeyKind::Squeezed | KeyKind::SqueezedTicker => None,
    });
    given.filter(|key| !of_fields.contains(key)).collect()
}

/// Whether the companions of a part tell the same of an instrument; if not, what.
fn agree(part: &Part, doc: u32, instrument: &Instrument, listed: &[Key<'_>]) -> Result<(), String> {
    let row = part.rows.get(doc);
    for (property, text) in [
        (Property::ExchCode, row.exch_code),
        (Property::SecurityType, row.security_type),
        (Property::MarketSecDes, row.market_sector),
        (Property::SecurityType2, row.security_type2),
    ] {
        if instrument.property(property) != text {
            return Err(format!("its row and its fast field have another {}", property.name()));
        }
    }
    if part.columns.given(doc).is_none() || instrument.filter_dates() != part.columns.dates(doc) {
        return Err("its dates contradict each other".into());
    }
    if instrument.is_unlisted_equity() != part.columns.is_unlisted_equity(doc) {
        return Err("it is unlisted, and is not".into());
    }
    if part.columns.rank(doc) != Some(rank(instrument)) {
        return Err("its rank is another's".into());
    }
    let of_ids = instrument.keys().map(|(id_type, value)| (KeyKind::Id(id_type), value));
    let mut expected: BTreeSet<(KeyKind, String)> =
        of_ids.map(|(kind, value)| (kind, value.as_str().to_owned())).collect();
    expected.extend(typed::keys(instrument));
    let expected = expected.iter().map(|(kind, text)| (*kind, &**text));
    if !expected.eq(listed.iter().copied()) {
        return Err("the directory has other keys of it than its fields make".into());
    }
    Ok(())
}

/// The DocIds of a part, cut into ranges of about so many keys.
fn ranges(part: &Part, keys_max: u64) -> Vec<Range<u32>> {
    let count = part.rows.len() as u32;
    let mut keys = vec![0_u32; count as usize];
    part.identifiers.for_each(|_, _, docs| docs.for_each(|doc| keys[doc as usize] += 1));
    let (mut ranges, mut start, mut sum) = (Vec::new(), 0, 0);
    for (doc, keys) in (0..).zip(keys) {
        sum += u64::from(keys);
        if sum >= keys_max {
            ranges.push(start..doc + 1);
            (start, sum) = (doc + 1, 0);
        }
    }
    ranges.push(start..count);
    ranges
}

/// The directory turned round, for a range of DocIds.
struct Keys {
    /// DocId and place of a key in `ends`, sorted.
    pairs: Vec<(u32, u32)>,
    kinds: Vec<KeyKind>,
    /// Where each key's text ends in `texts`; it begins where the one before ends.
    ends: Vec<usize>,
    texts: String,
}

impl Keys {
    fn of(identifiers: &Identifiers, docs: Range<u32>) -> Self {
        let (pairs, kinds, ends) = (Vec::new(), Vec::new(), Vec::new());
        let mut keys = Self { pairs, kinds, ends, texts: String::new() };
        identifiers.for_each(|kind, text, found| {
            let place = keys.ends.len() as u32;
            let before = keys.pairs.len();
            keys.pairs.extend(found.filter(|doc| docs.contains(doc)).map(|doc| (doc, place)));
            if keys.pairs.len() > before {
                keys.kinds.push(kind);
                keys.texts.push_str(text);
                keys.ends.push(keys.texts.len());
            }
        });
        keys.pairs.sort_unstable();
        keys
    }

    fn get(&self, key: u32) -> Key<'_> {
        let key = key as usize;
        let start = if key == 0 { 0 } else { self.ends[key - 1] };
        (self.kinds[key], &self.texts[start..self.ends[key]])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::builder::{BuildOptions, Builder};
    use crate::figi::Figi;

    /// However few keys are held at a time, the instruments are the same.
    #[test]
    fn memory_is_bounded_and_changes_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let mut builder = Builder::create(folder.path(), BuildOptions::default()).unwrap();
        for (figi, ticker) in
            [("BBG000B9XRY4", "BRK/B"), ("BBG000BLNNH6", "IBM"), ("BBG000BPH459", "BRK/B")]
        {
            let figi = Figi::parse(figi).unwrap();
            let composite_figi = Some(figi);
            let ticker = Some(ticker.to_owned());
            let alias = vec![figi.to_string()];
            let instrument = Instrument { ticker, composite_figi, alias, ..Instrument::new(figi) };
            builder.add(&instrument).unwrap();
        }
        builder.publish(Vec::new()).unwrap();
        let catalogue = Catalogue::open(folder.path()).unwrap();
        let part = &catalogue.generation.parts[0];
        let all = |keys_max| {
            let mut all: Vec<(_, _, Vec<_>)> = Vec::new();
            let vocabulary = catalogue.vocabulary();
            read(part, vocabulary, keys_max, |doc, instrument, keys| {
                let keys = keys.iter().map(|(kind, text)| (*kind, text.to_string())).collect();
                all.push((doc, instrument.clone(), keys));
                Ok::<_, Error>(())
            })
            .unwrap();
            all
        };
        let whole = all(KEYS_MAX);
        assert_eq!((whole.len(), ranges(part, KEYS_MAX).len()), (3, 1));
        for keys_max in 1..8 {
            assert!(ranges(part, keys_max).len() > 1);
            assert_eq!(all(keys_max), whole, "{keys_max}");
        }
    }
}
