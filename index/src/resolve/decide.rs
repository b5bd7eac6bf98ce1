//! Decides which row an identifier means. Takes the rows that the identifier's readings found.

use std::collections::BTreeSet;

use super::name_like::SoughtName;
use super::policy::{Candidate, Policy};
use crate::instrument::figi::Figi;
use crate::instrument::id_type::IdType;
use crate::meter::{Meter, TakesMore};

/// The units of work of putting a row into the order of the others.
const PLACE_UNITS: u64 = 12;

/// The way in which one row was chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    /// The identifier has only this row.
    Only,
    /// The step with this number left only this row.
    Step(usize),
}

/// The decision for one identifier.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Decision<C> {
    /// One row is meant. `id_type` is the type of the surest reading that found rows.
    Resolved { id_type: IdType, by: By, row: C },
    /// Several rows may be meant, or one whose name is not the text (`is_name_like`). `matches` is
    /// their number. `rows` has the first ones in the order of a search. If readings disagree on
    /// the security, `id_types` has all of their types, and the readings take turns in `rows`.
    Ambiguous { id_types: Vec<IdType>, matches: usize, rows: Vec<C>, is_name_like: bool },
    /// No reading found a row.
    NotFound,
}

/// Decides between the rows of the readings. `found` has the surest reading first, and a reading
/// has each row once. For an ambiguous identifier, at most `rows_max` rows are kept. `isin` is the
/// ISIN that was asked for, if the identifier is one.
///
/// When two readings find different securities, no step can choose between them: steps say which
/// listing is wanted, not which meaning of a text.
///
/// `name` is the text of a question that is written like a name. If only the last of its readings,
/// the one as a ticker, finds rows, and some of the rows that the steps leave have other names,
/// then it is ambiguous.
///
/// # Errors
/// [`TakesMore`] when the decision takes more work than the meter allows.
pub(crate) fn decide<C: Candidate>(
    mut found: Vec<(IdType, Vec<C>)>,
    policy: &Policy,
    isin: Option<&str>,
    name: Option<&mut SoughtName>,
    rows_max: usize,
    meter: &Meter,
) -> Result<Decision<C>, TakesMore> {
    let count: usize = found.iter().map(|(_, rows)| rows.len()).sum();
    meter.charge(PLACE_UNITS * count as u64)?;
    found.retain(|(_, rows)| !rows.is_empty());
    // A FIGI means the row with this FIGI. If there is none, it means a composite, and if there is
    // none either, a share class.
    let mut has_figi = false;
    found.retain(|(id_type, _)| !is_figi(*id_type) || !std::mem::replace(&mut has_figi, true));
    if found.is_empty() {
        return Ok(Decision::NotFound);
    }
    if found.len() > 1 {
        let mut securities = found.iter().map(|(_, rows)| securities(rows));
        let first = securities.next();
        if !securities.all(|others| Some(others) == first) {
            return disagreeing(found, policy, isin, rows_max, meter);
        }
    }
    let id_type = found[0].0;
    let name = name.filter(|_| found.iter().all(|(id_type, _)| *id_type == IdType::Ticker));
    let is_mixed = found.len() > 1;
    let mut rows = std::mem::take(&mut found[0].1);
    rows.extend(found.into_iter().flat_map(|(_, others)| others));
    if is_mixed {
        sort_once(&mut rows);
    }
    let by = match rows[..] {
        [_] => Some(By::Only),
        _ => policy.narrow(&mut rows, isin, meter)?.map(By::Step),
    };
    // Steps do not ask for the order. Rows that nobody sees do without it: to sort them, memory is
    // read that nothing else needs.
    if !is_mixed && (rows_max > 0 || name.is_some()) {
        sort_once(&mut rows);
    }
    let is_name_like = match name {
        Some(name) => name.is_strange_to(&rows, meter)?,
        None => false,
    };
    Ok(match by {
        Some(by) if !is_name_like => Decision::Resolved { id_type, by, row: rows[0] },
        _ => {
            let matches = rows.len();
            rows.truncate(rows_max);
            Decision::Ambiguous { id_types: vec![id_type], matches, rows, is_name_like }
        }
    })
}

/// The candidates of readings that find different securities. The rows of the readings take turns,
/// so that every reading is represented.
fn disagreeing<C: Candidate>(
    found: Vec<(IdType, Vec<C>)>,
    policy: &Policy,
    isin: Option<&str>,
    rows_max: usize,
    meter: &Meter,
) -> Result<Decision<C>, TakesMore> {
    let mut id_types: Vec<IdType> = Vec::new();
    let mut of_each = Vec::new();
    for (id_type, mut rows) in found {
        if !id_types.contains(&id_type) {
            id_types.push(id_type);
        }
        policy.narrow(&mut rows, isin, meter)?;
        sort_once(&mut rows);
        of_each.push(rows);
    }
    let mut seen = BTreeSet::new();
    let mut rows = Vec::new();
    for place in 0..of_each.iter().map(Vec::len).max().unwrap_or(0) {
        let next = of_each.iter().filter_map(|rows| rows.get(place).copied());
        rows.extend(next.filter(|row| seen.insert(row.place().1)));
    }
    let matches = rows.len();
    rows.truncate(rows_max);
    Ok(Decision::Ambiguous { id_types, matches, rows, is_name_like: false })
}

fn is_figi(id_type: IdType) -> bool {
    use IdType::{BbGlobal, CompositeBbGlobal, ShareClassBbGlobal};
    matches!(id_type, BbGlobal | CompositeBbGlobal | ShareClassBbGlobal)
}

fn securities<C: Candidate>(rows: &[C]) -> BTreeSet<Figi> {
    rows.iter().filter_map(|row| row.security()).collect()
}

/// Sorts rows in the order of a search, and keeps each row once.
pub(crate) fn sort_once<C: Candidate>(rows: &mut Vec<C>) {
    if rows.len() < 2 {
        return;
    }
    let mut placed: Vec<_> = rows.drain(..).map(|row| (row.place(), row)).collect();
    placed.sort_by_key(|(place, _)| *place);
    placed.dedup_by_key(|((_, figi), _)| *figi);
    rows.extend(placed.into_iter().map(|(_, row)| row));
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::instrument::vocabulary::{Known, Property, Vocabulary};
    use crate::search::Hit;

    fn decide<C: Candidate>(
        found: Vec<(IdType, Vec<C>)>,
        policy: &Policy,
        rows_max: usize,
    ) -> Decision<C> {
        super::decide(found, policy, None, None, rows_max, &Meter::unlimited()).unwrap()
    }

    const CODES: [&str; 4] = ["US", "LN", "GY", "FP"];

    /// A row as a test states it.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    struct Row {
        number: u8,
        is_composite: bool,
        is_home: bool,
        exch_code: Option<Known>,
        sector: Option<Known>,
        security: u8,
        rank: u16,
    }

    fn figi(number: u8) -> Figi {
        let body = format!("BBG000000{:02}", number % 100);
        let digit = crate::instrument::check_digit::double_add_double(body.as_bytes());
        Figi::parse(&format!("{body}{}", digit.unwrap())).unwrap()
    }

    impl Candidate for Row {
        fn hit(self) -> Hit {
            Hit { part: 0, doc: self.number.into() }
        }

        fn is_composite(self) -> bool {
            self.is_composite
        }

        fn has(self, known: Known) -> bool {
            self.exch_code == Some(known) || self.sector == Some(known)
        }

        fn is_home(self) -> bool {
            self.is_home
        }

        fn exch_code(self) -> Option<String> {
            self.exch_code.map(|known| vocabulary().text(known).to_owned())
        }

        fn figis(self) -> [Option<Figi>; 3] {
            [Some(figi(self.number)), None, Some(figi(50 + self.security))]
        }

        fn name(self) -> Option<String> {
            Some(format!("COMPANY {} INC", self.security))
        }

        fn place(self) -> (u64, Figi) {
            (self.rank.into(), figi(self.number))
        }
    }

    fn vocabulary() -> Vocabulary {
        Vocabulary::new(CODES.map(|code| (Property::ExchCode, code.to_owned())))
    }

    fn row() -> impl Strategy<Value = Row> {
        let vocabulary = vocabulary();
        let code = prop::option::of(0..CODES.len());
        let flags = any::<[bool; 3]>();
        (0_u8..12, flags, code, 0_u8..3, 0_u16..4).prop_map(
            move |(number, [is_composite, is_home, is_equity], code, security, rank)| Row {
                number,
                is_composite,
                is_home,
                exch_code: code.and_then(|code| vocabulary.admit(Property::ExchCode, CODES[code])),
                sector: vocabulary.admit(Property::MarketSecDes, "Equity").filter(|_| is_equity),
                security,
                rank,
            },
        )
    }

    fn steps() -> impl Strategy<Value = Vec<&'static str>> {
        let step = prop::sample::select(vec![
            "composite",
            "home",
            "exchCode=US",
            "exchCode=LN|GY",
            "exchCode=XX|FP|US",
            "marketSecDes=Equity",
            "marketSecDes=Corp",
        ]);
        proptest::collection::vec(step, 0..4)
    }

    /// The policy as the contract states it, read from the texts of the steps.
    fn oracle(rows: &[Row], steps: &[&str]) -> (Vec<Row>, Option<usize>) {
        let vocabulary = vocabulary();
        let mut left = rows.to_vec();
        if left.len() == 1 {
            return (left, None);
        }
        for (number, step) in steps.iter().enumerate() {
            let wanted: Vec<Vec<Row>> = match step.split_once('=') {
                None if *step == "home" => {
                    let of_home = |row: &Row| {
                        left.iter().any(|other| other.security == row.security && other.is_home)
                    };
                    let kept = left.iter().copied();
                    vec![kept.filter(|row| row.is_home || !of_home(row)).collect()]
                }
                None => vec![left.iter().copied().filter(|row| row.is_composite).collect()],
                Some((property, values)) => {
                    let property = Property::from_name(property).unwrap();
                    let of = |value: &str| {
                        let known = vocabulary.admit(property, value);
                        let mut rows = left.clone();
                        rows.retain(|row| {
                            known.is_some() && [row.exch_code, row.sector].contains(&known)
                        });
                        rows
                    };
                    values.split('|').map(of).collect()
                }
            };
            if let Some(kept) = wanted.into_iter().find(|rows| !rows.is_empty()) {
                left = kept;
            }
            if left.len() == 1 {
                return (left, Some(number));
            }
        }
        (left, None)
    }

    /// Each number once, since a row of an index has one FIGI.
    fn distinct(rows: Vec<Row>) -> Vec<Row> {
        let mut seen = BTreeSet::new();
        rows.into_iter().filter(|row| seen.insert(row.number)).collect()
    }

    proptest! {
        /// contract 17: one reading, against a policy that is read from its texts.
        #[test]
        fn one_reading_is_decided_as_the_steps_say(
            rows in proptest::collection::vec(row(), 0..12), steps in steps(), most in 0_usize..5,
        ) {
            let rows = distinct(rows);
            let policy = Policy::parse(&steps, &vocabulary()).unwrap();
            let decision = decide(vec![(IdType::Isin, rows.clone())], &policy, most);
            let (mut left, by) = oracle(&rows, &steps);
            left.sort_by_key(|row| row.place());
            match decision {
                Decision::NotFound => prop_assert!(rows.is_empty()),
                Decision::Resolved { id_type, by: chosen, row } => {
                    prop_assert_eq!(id_type, IdType::Isin);
                    prop_assert_eq!(&left, &[row]);
                    prop_assert_eq!(chosen, by.map_or(By::Only, By::Step));
                    prop_assert_eq!(chosen == By::Only, rows.len() == 1);
                }
                Decision::Ambiguous { id_types, matches, rows, is_name_like } => {
                    prop_assert!(!is_name_like);
                    prop_assert_eq!(id_types, [IdType::Isin]);
                    prop_assert!(left.len() > 1);
                    prop_assert_eq!(matches, left.len());
                    left.truncate(most);
                    prop_assert_eq!(rows, left);
                }
            }
        }

        /// contract 17: readings of different securities are never decided by a step, and all of
        /// them are among the candidates.
        #[test]
        fn readings_that_disagree_are_ambiguous(
            first in proptest::collection::vec(row(), 1..6),
            second in proptest::collection::vec(row(), 1..6),
            steps in steps(),
        ) {
            let number = |rows: Vec<Row>, parity: u8, security: u8| {
                let rows = rows.into_iter().map(|row| Row {
                    number: row.number * 2 + parity, security, ..row
                });
                distinct(rows.collect())
            };
            let (first, second) = (number(first, 0, 1), number(second, 1, 2));
            let policy = Policy::parse(&steps, &vocabulary()).unwrap();
            let found = vec![(IdType::Wertpapier, first.clone()), (IdType::Ticker, second.clone())];
            let counts = [&first, &second].map(|rows| oracle(rows, &steps).0.len());
            match decide(found, &policy, 10) {
                Decision::Ambiguous { id_types, matches, rows, .. } => {
                    prop_assert_eq!(id_types, [IdType::Wertpapier, IdType::Ticker]);
                    prop_assert_eq!(matches, counts[0] + counts[1]);
                    prop_assert!(rows.iter().any(|row| first.contains(row)));
                    prop_assert!(rows.iter().any(|row| second.contains(row)));
                }
                other => prop_assert!(false, "{other:?}"),
            }
        }
    }

    fn plain(number: u8, security: u8) -> Row {
        Row {
            number,
            is_composite: false,
            is_home: false,
            exch_code: None,
            sector: None,
            security,
            rank: 0,
        }
    }

    #[test]
    fn readings_of_the_same_security_are_one() {
        let (a, b) = (plain(1, 1), plain(2, 1));
        let found = vec![(IdType::Cins, vec![a, b]), (IdType::Cusip, vec![a])];
        let expected = Decision::Ambiguous {
            id_types: vec![IdType::Cins],
            matches: 2,
            rows: vec![a, b],
            is_name_like: false,
        };
        assert_eq!(decide(found, &Policy::default(), 10), expected);
        let found = vec![(IdType::Cins, vec![a]), (IdType::Cusip, vec![a])];
        let expected = Decision::Resolved { id_type: IdType::Cins, by: By::Only, row: a };
        assert_eq!(decide(found, &Policy::default(), 10), expected);
    }

    #[test]
    fn a_figi_is_a_row_before_it_is_a_composite_or_a_share_class() {
        let (row, listing) = (plain(1, 1), plain(2, 2));
        let found = vec![
            (IdType::BbGlobal, vec![row]),
            (IdType::CompositeBbGlobal, vec![row, listing]),
            (IdType::ShareClassBbGlobal, vec![listing]),
        ];
        let expected = Decision::Resolved { id_type: IdType::BbGlobal, by: By::Only, row };
        assert_eq!(decide(found.clone(), &Policy::default(), 10), expected);
        let expected =
            Decision::Resolved { id_type: IdType::ShareClassBbGlobal, by: By::Only, row: listing };
        let found = vec![(IdType::BbGlobal, vec![]), found[2].clone()];
        assert_eq!(decide(found, &Policy::default(), 10), expected);
    }
}
