//! What is in an index, counted: how many instruments have each field, and how often
//! each value of an enum-like property occurs.

use std::collections::BTreeMap;

use crate::catalogue::Catalogue;
use crate::id_type::IdType;
use crate::identifiers::KeyKind;
use crate::part::Part;
use crate::vocabulary::{Property, Vocabulary};

/// The counts of a generation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Inventory {
    /// How many instruments have each value of each property that occurs.
    pub values: BTreeMap<Property, BTreeMap<String, u64>>,
    /// How many instruments have each field, the contract's fields first; those of
    /// which the contract has no name are called as in [`Instrument`].
    ///
    /// [`Instrument`]: crate::Instrument
    pub filled: Vec<(&'static str, u64)>,
}

impl Catalogue {
    /// Counts what the generation holds.
    pub fn inventory(&self) -> Inventory {
        let mut inventory = Inventory::default();
        let mut fields = Counts::default();
        for part in &self.generation.parts {
            values(part, self.vocabulary(), &mut inventory.values);
            rows(part, &mut fields);
            identifiers(part, &mut fields);
        }
        for (property, values) in &inventory.values {
            fields.add(property.name(), values.values().sum());
        }
        let ids = IdType::ALL.map(IdType::name);
        let names = ROW_FIELDS.into_iter().chain(Property::ALL.map(Property::name)).chain(COLUMNS);
        let counted = names.chain(ids).map(|name| (name, fields.of(name)));
        inventory.filled = counted.collect();
        inventory
    }
}

const ROW_FIELDS: [&str; 9] = [
    "figi",
    "compositeFIGI",
    "shareClassFIGI",
    "ticker",
    "name",
    "securityDescription",
    "metadata",
    "uniqueID",
    "uniqueIDFutOpt",
];

const COLUMNS: [&str; 7] =
    ["strike", "contractSize", "coupon", "expiration", "maturity", "listed", "alias"];

#[derive(Default)]
struct Counts(BTreeMap<&'static str, u64>);

impl Counts {
    fn add(&mut self, name: &'static str, count: u64) {
        *self.0.entry(name).or_default() += count;
    }

    fn of(&self, name: &str) -> u64 {
        self.0.get(name).copied().unwrap_or(0)
    }
}

fn values(
    part: &Part,
    vocabulary: &Vocabulary,
    values: &mut BTreeMap<Property, BTreeMap<String, u64>>,
) {
    for property in Property::ALL {
        let texts = part.columns.texts(property, vocabulary);
        let mut counts = vec![0_u64; texts.len()];
        for doc in 0..part.rows.len() as u32 {
            if let Some(ordinal) = part.columns.ordinal(property, doc) {
                counts[ordinal] += 1;
            }
        }
        let all = values.entry(property).or_default();
        for (text, count) in texts.into_iter().zip(counts) {
            *all.entry(text.to_owned()).or_default() += count;
        }
    }
}

fn rows(part: &Part, fields: &mut Counts) {
    let (mut of_rows, mut of_columns) = ([0; ROW_FIELDS.len()], [0; COLUMNS.len()]);
    for doc in 0..part.rows.len() as u32 {
        let row = part.rows.get(doc);
        let has = [
            true,
            row.composite_figi.is_some(),
            row.share_class_figi.is_some(),
            row.ticker.is_some(),
            row.name.is_some(),
            row.security_description.is_some(),
            row.metadata.is_some(),
            row.unique_id.is_some(),
            row.unique_id_fut_opt.is_some(),
        ];
        count(&mut of_rows, has);
        let [strike, contract_size, coupon] = part.columns.numbers(doc).map(|n| n.is_some());
        let given = part.columns.given(doc);
        let expiration = given.is_some_and(|given| given.expiration.is_some());
        let maturity = given.is_some_and(|given| given.maturity.is_some());
        let listed = given.is_some_and(|given| given.listed.is_some());
        let has = [strike, contract_size, coupon, expiration, maturity, listed, false];
        count(&mut of_columns, has);
    }
    let of_rows = ROW_FIELDS.into_iter().zip(of_rows);
    for (name, count) in of_rows.chain(COLUMNS.into_iter().zip(of_columns)) {
        fields.add(name, count);
    }
    fields.add("alias", part.aliases.iter().count() as u64);
}

fn count<const FIELDS: usize>(counts: &mut [u64; FIELDS], has: [bool; FIELDS]) {
    for (count, has) in counts.iter_mut().zip(has) {
        *count += u64::from(has);
    }
}

/// How many instruments have an identifier of each kind; with several, it is one.
fn identifiers(part: &Part, fields: &mut Counts) {
    let docs = part.rows.len();
    let mut seen: BTreeMap<IdType, Vec<u64>> = BTreeMap::new();
    part.identifiers.for_each(|kind, _, found| {
        if let KeyKind::Id(id_type) = kind {
            let seen = seen.entry(id_type).or_insert_with(|| vec![0; docs.div_ceil(64)]);
            for doc in found {
                seen[doc as usize / 64] |= 1 << (doc % 64);
            }
        }
    });
    for (id_type, seen) in seen {
        let count: u32 = seen.iter().map(|word| word.count_ones()).sum();
        fields.add(id_type.name(), u64::from(count));
    }
    // A row's own FIGI has no key.
    fields.add(IdType::BbGlobal.name(), docs as u64);
}
