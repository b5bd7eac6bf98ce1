//! The two halves of a security (contract 16.15). Dumps from several sources often know a security
//! twice: with a share class and an importance but without an ISIN, and the other way round. Their
//! names have a form in common, and of such namesakes the one that is nearer to its home market is
//! shown first.

use std::cell::OnceCell;
use std::collections::BTreeSet;

use crate::instrument::kind::Kind;
use crate::part::ranks::Distance;
use crate::part::rows::Row;
use crate::words::folding::folding;
use crate::words::for_each_word;
use crate::words::forms::{forms, forms_of_name};

/// Runs of letters that say that a row is a receipt.
pub(super) const RECEIPT_RUNS: [&str; 5] = ["adr", "adrs", "gdr", "gdrs", "ads"];

/// Runs of letters that say how a receipt was issued.
const SPONSORED: [&str; 6] = ["depositary", "sp", "spon", "sponsored", "spons", "unsponsored"];

/// A share or a receipt that is shown, and that may be a half of a security.
pub(super) struct Namesake {
    /// The distance from home that counts.
    distance: Distance,
    has_share_class: bool,
    has_type: bool,
    name: String,
    forms: OnceCell<Forms>,
}

/// The forms of a name as a text and as a name, and its legal forms.
struct Forms {
    of_text: Vec<String>,
    of_name: Vec<String>,
    legal: BTreeSet<&'static str>,
}

/// Legal forms, as canonical words, that do not tell companies apart.
const COMMON_FORMS: [&str; 11] = [
    "corporation",
    "incorporated",
    "inh",
    "na",
    "nam",
    "on",
    "ord",
    "reg",
    "registered",
    "shares",
    "the",
];

impl Namesake {
    /// `None` for a row of another kind or without a name. `distance` is that of its market. A
    /// receipt is nowhere at home.
    pub(super) fn of(kind: Kind, distance: Distance, row: Row<'_>) -> Option<Self> {
        let name = row.name()?.to_string();
        let (distance, name) = match kind {
            Kind::Share => (distance, name),
            Kind::Receipt => (Distance::Elsewhere, without_receipt(name)),
            _ => return None,
        };
        let has_share_class = row.share_class_figi().is_some();
        let has_type = row.security_type().is_some();
        Some(Self { distance, has_share_class, has_type, name, forms: OnceCell::new() })
    }

    /// The order of namesakes: the nearest first, of equally near ones those with a type.
    fn order(&self) -> (Distance, bool) {
        (self.distance, !self.has_type)
    }

    /// Whether it comes before another one. A row without a type may be a certificate, and the
    /// share classes of two rows say whether they are one security.
    fn is_before(&self, other: &Self) -> bool {
        self.order() < other.order()
            && self.has_type
            && !(self.has_share_class && other.has_share_class)
            && first_word(&self.name)
                .is_some_and(|first| first_word(&other.name).as_ref() == Some(&first))
            && self.has_form_in_common(other)
    }

    /// Whether the names mean one company, and no other share class. `Siemens Ltd` and `Siemens AG`
    /// are two companies, while a legal form may be left out.
    fn has_form_in_common(&self, other: &Self) -> bool {
        let [own, other] = [self, other].map(|one| one.forms.get_or_init(|| Forms::of(&one.name)));
        let has = |names: &[String], texts: &[String]| names.iter().any(|it| texts.contains(it));
        let is_one_legally = own.legal.is_subset(&other.legal) || other.legal.is_subset(&own.legal);
        is_one_legally && (has(&own.of_name, &other.of_text) || has(&other.of_name, &own.of_text))
    }

    /// The bytes of the name, if its forms were compared.
    fn compared_bytes(&self) -> usize {
        self.forms.get().map_or(0, |_| self.name.len())
    }
}

impl Forms {
    fn of(name: &str) -> Self {
        let mut legal = BTreeSet::new();
        for_each_word(name, |word| {
            let whole = word.squeezed();
            let pieces = word.pieces().map(str::to_owned);
            for word in std::iter::once(whole).chain(pieces) {
                let form = folding().ending(&word);
                legal.extend(form.filter(|form| !COMMON_FORMS.contains(form)));
            }
        });
        Self { of_text: forms(name), of_name: forms_of_name(name), legal }
    }
}

/// Puts the nearest of several namesakes at the place of the first one. Returns the bytes of the
/// names that were compared.
pub(super) fn nearest_first<T>(all: &mut [(Option<Namesake>, T)]) -> usize {
    for place in 0..all.len() {
        let Some(one) = &all[place].0 else { continue };
        let later = all.iter().enumerate().skip(place + 1);
        let nearer = later.filter_map(|(place, (other, _))| {
            let other = other.as_ref().filter(|other| other.is_before(one))?;
            Some((other.order(), place))
        });
        if let Some((_, nearest)) = nearer.min() {
            all[place..=nearest].rotate_right(1);
        }
    }
    all.iter().filter_map(|(namesake, _)| namesake.as_ref()).map(Namesake::compared_bytes).sum()
}

/// The name of a receipt up to the first word for receipts, such as that of
/// `DEUTSCHE BANK AG-SPON ADR`.
fn without_receipt(mut name: String) -> String {
    let is_of_receipt = |run: &str| {
        let run = run.to_ascii_lowercase();
        RECEIPT_RUNS.contains(&&*run) || SPONSORED.contains(&&*run)
    };
    let mut from = None;
    for (place, character) in name.char_indices().chain([(name.len(), ' ')]) {
        match (from, character.is_alphanumeric()) {
            (None, true) => from = Some(place),
            (Some(start), false) if start > 0 && is_of_receipt(&name[start..place]) => {
                name.truncate(start);
                return name;
            }
            (Some(_), false) => from = None,
            _ => {}
        }
    }
    name
}

/// The first word of a name, without an article or a legal form in front; `None` if it has no other
/// word.
fn first_word(name: &str) -> Option<String> {
    let words = name.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let mut words = words.map(str::to_lowercase);
    words.find(|word| !folding().is_beginning(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_receipts_end_before_the_words_for_receipts() {
        for (name, expected) in [
            ("Deutsche Bank ADR", "Deutsche Bank "),
            ("DEUTSCHE BANK AG-SPON ADR", "DEUTSCHE BANK AG-"),
            ("LUKOIL SP.ADR RL-,025", "LUKOIL "),
            ("ADR Holdings", "ADR Holdings"),
            ("Adriatic Metals", "Adriatic Metals"),
            ("", ""),
        ] {
            assert_eq!(without_receipt(name.to_owned()), expected);
        }
    }

    #[test]
    fn an_article_is_not_the_first_word() {
        for (name, expected) in [
            ("The Boeing Company", Some("boeing")),
            ("BOEING CO/THE", Some("boeing")),
            ("PT Telkom", Some("telkom")),
            ("the", None),
            ("***", None),
        ] {
            assert_eq!(first_word(name).as_deref(), expected, "{name}");
        }
    }
}
