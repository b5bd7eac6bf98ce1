//! The changes between generations: what a build writes down, and what has changed since any
//! earlier generation, compared with the instruments themselves.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use figdex_index::{
    BuildOptions, Builder, Catalogue, ChangeFile, ChangeWriter, Changed, CountedChanges, Error,
    FILES_MAX, Figi, GenerationId, IdType, Importance, Instrument, Manifest, Meter, Net, NetError,
    OtherName, Walked, change_file, changes_kept, rollback,
};
use proptest::prelude::*;

use crate::support::{figi, options};

/// The instruments of a generation, by FIGI.
type Instruments = BTreeMap<Figi, Instrument>;

/// Builds a generation of these instruments, with the file of its changes.
fn build(index: &Path, instruments: &Instruments) -> Manifest {
    build_kept(index, instruments, true)
}

fn build_kept(index: &Path, instruments: &Instruments, is_kept: bool) -> Manifest {
    // Small ones have several parts.
    let part_instruments_max = if instruments.len() < 100 { 7 } else { 1_500 };
    let options = BuildOptions { part_instruments_max, generations_kept: 2, ..options() };
    let mut builder = Builder::create(index, options).unwrap();
    for instrument in instruments.values() {
        builder.add(instrument.clone()).unwrap();
    }
    let built = builder.finish(Vec::new()).unwrap();
    if is_kept && let Ok(before) = Catalogue::open(index) {
        let id = built.manifest().id;
        let after = Catalogue::open_unpublished(built.folder()).unwrap();
        let mut writer = ChangeWriter::create(built.lock().new_changes().unwrap()).unwrap();
        after.differences(&before, |changed| writer.add(&changed)).unwrap();
        writer.finish(before.manifest().id, id).unwrap();
        built.lock().keep_changes(id).unwrap();
    }
    built.publish().unwrap()
}

/// The instruments of the published generation, as it gives them.
fn read(index: &Path) -> Instruments {
    let mut all = Instruments::new();
    let add = |instrument: &Instrument| {
        all.insert(instrument.figi, instrument.clone());
        Ok::<_, Error>(())
    };
    Catalogue::open(index).unwrap().instruments(add).unwrap();
    all
}

/// The differences of two generations, one instrument after the other.
fn scanned(before: &Instruments, after: &Instruments) -> Vec<Changed> {
    let figis: std::collections::BTreeSet<_> = before.keys().chain(after.keys()).collect();
    let both = figis
        .into_iter()
        .map(|figi| Changed { before: before.get(figi).cloned(), after: after.get(figi).cloned() });
    both.filter(|changed| changed.before != changed.after).collect()
}

/// At most `limit` changes from a FIGI on, and the FIGI where the next ones begin.
fn page(
    net: &Net,
    first: Option<Figi>,
    limit: usize,
) -> Result<(Vec<Changed>, Option<Figi>), Error> {
    let mut changes = Vec::new();
    let walked = net.walk(first, &Meter::unlimited(), |changed| {
        changes.push(changed);
        Ok::<_, Error>(changes.len() < limit)
    })?;
    match walked {
        Walked::Done => Ok((changes, None)),
        Walked::Paused(next) => Ok((changes, Some(next))),
        Walked::TakesMore => unreachable!("the meter has no bound"),
    }
}

fn net(index: &Path, since: GenerationId, target: GenerationId) -> Result<Vec<Changed>, NetError> {
    let net = Net::between(index, since, target)?;
    let mut all = Vec::new();
    net.for_each(|changed| {
        all.push(changed);
        Ok::<_, Error>(())
    })?;
    // Pages of any length give the same.
    for limit in [1, 3] {
        let (mut paged, mut first) = (Vec::new(), None);
        loop {
            let found = page(&net, first, limit)?;
            assert!(found.0.len() <= limit);
            paged.extend(found.0);
            match found.1 {
                Some(next) => first = Some(next),
                None => break,
            }
        }
        assert_eq!(paged, all);
    }
    Ok(all)
}

/// A change of one instrument.
#[derive(Clone, Debug)]
enum Edit {
    Remove(u32),
    Put(u32, u8, u8),
}

#[derive(Clone, Debug)]
enum Step {
    Build(Vec<Edit>),
    Rollback,
}

fn instrument(number: u32, name: u8, rest: u8) -> Instrument {
    let isin =
        |last: u8| IdType::Isin.admit(["US4592001014", "US0378331005"][usize::from(last)]).unwrap();
    Instrument {
        name: Some(format!("NAME {name}")),
        ticker: (rest & 1 != 0).then(|| format!("T{name}")),
        identifiers: (0..rest % 3).map(isin).collect(),
        importance: (rest & 2 != 0).then(|| Importance::new(f64::from(rest)).unwrap()),
        alias: (0..rest % 2).map(|number| format!("alias {number};x")).collect(),
        names: Vec::<OtherName>::new(),
        ..Instrument::new(figi(number))
    }
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let edit = prop_oneof![
        1 => (0_u32..30).prop_map(Edit::Remove),
        3 => (0_u32..30, 0_u8..3, 0_u8..6).prop_map(|(at, name, rest)| Edit::Put(at, name, rest)),
    ];
    let step = prop_oneof![
        4 => prop::collection::vec(edit, 0..12).prop_map(Step::Build),
        1 => Just(Step::Rollback),
    ];
    prop::collection::vec(step, 1..7)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8))]

    /// From every generation that was ever published to every later one: what was there, with the
    /// net change, is what is there. Rollbacks need no separate rule.
    #[test]
    fn what_was_with_the_net_change_is_what_is(steps in steps()) {
        let folder = tempfile::tempdir().unwrap();
        let index = folder.path();
        let mut current: Instruments =
            (0..20).map(|number| (figi(number), instrument(number, 0, 0))).collect();
        let first = build(index, &current);
        let mut published = vec![(first.id, current.clone())];
        for step in steps {
            match step {
                Step::Build(edits) => {
                    for edit in edits {
                        match edit {
                            Edit::Remove(at) => _ = current.remove(&figi(at)),
                            Edit::Put(at, name, rest) => {
                                current.insert(figi(at), instrument(at, name, rest));
                            }
                        }
                    }
                    current.entry(figi(99)).or_insert_with(|| instrument(99, 0, 0));
                    let manifest = build(index, &current);
                    prop_assert_eq!(manifest.parent, Some(published.last().unwrap().0));
                    published.push((manifest.id, current.clone()));
                }
                Step::Rollback => {
                    let Ok(manifest) = rollback(index) else { continue };
                    current = read(index);
                    published.push((manifest.id, current.clone()));
                }
            }
            let (target, after) = published.last().unwrap();
            prop_assert_eq!(&read(index), after);
            for (since, before) in &published {
                prop_assert_eq!(net(index, *since, *target).unwrap(), scanned(before, after));
            }
        }
    }
}

/// Only the order of values, the importance and the writing of names are cosmetic.
#[test]
fn cosmetic_changes() {
    let plain = instrument(1, 0, 3);
    let with = |change: fn(&mut Instrument)| {
        let mut after = plain.clone();
        change(&mut after);
        Changed { before: Some(plain.clone()), after: Some(after) }
    };
    let cosmetic: [fn(&mut Instrument); 4] = [
        |one| one.importance = None,
        |one| one.name = Some("Name, 0".into()),
        |one| (one.importance, one.name) = (None, Some("NÀME 0".into())),
        |one| one.security_description = None,
    ];
    for change in cosmetic {
        assert!(with(change).is_cosmetic());
    }
    let real: [fn(&mut Instrument); 8] = [
        |one| one.name = Some("NAME 1".into()),
        |one| one.name = None,
        |one| one.ticker = Some("t0".into()),
        |one| one.name = Some("NAME -0".into()),
        |one| one.name = Some("NAME 0 !".into()),
        |one| one.security_description = Some("IBM US C1.5".into()),
        |one| one.strike = Some(-0.0),
        |one| one.identifiers = Vec::new(),
    ];
    let mut counts = CountedChanges::default();
    for change in real.into_iter().take(7) {
        assert!(!with(change).is_cosmetic() && !with(change).is_equal());
        counts.add(&with(change));
    }
    counts.add(&with(cosmetic[0]));
    counts.add(&Changed { before: None, after: Some(plain.clone()) });
    counts.add(&Changed { before: Some(plain.clone()), after: None });
    let expected = CountedChanges { inserted: 1, updated: 8, deleted: 1, cosmetic: 1 };
    assert_eq!((counts, counts.all()), (expected, 10));
    assert!(Changed { before: Some(plain.clone()), after: Some(plain.clone()) }.is_equal());
    // The sign of a zero is another text in an export, and so is another order.
    let two = |one: &str, other: &str, strike| Instrument {
        alias: vec![one.to_owned(), other.to_owned()],
        strike: Some(strike),
        ..plain.clone()
    };
    let zero = Changed { before: Some(two("a", "b", 0.0)), after: Some(two("a", "b", -0.0)) };
    assert!(!zero.is_equal());
    let order = Changed { before: Some(two("a", "b", 0.0)), after: Some(two("b", "a", 0.0)) };
    assert!(!order.is_equal() && order.is_cosmetic());
    let number = |name: &str| Some(Instrument { name: Some(name.into()), ..plain.clone() });
    let digits = Changed { before: number("T 4.5 05/15/38"), after: number("T 45 05/15/38") };
    assert!(!digits.is_cosmetic());
}

fn many(numbers: std::ops::Range<u32>, name: u8) -> Instruments {
    numbers.map(|number| (figi(number), instrument(number, name, 5))).collect()
}

/// A file of many blocks is read from any FIGI on.
#[test]
fn a_long_file_is_read_from_anywhere() {
    let folder = tempfile::tempdir().unwrap();
    let index = folder.path();
    let long = |name: &str| -> Instruments {
        let one = |number: u32| {
            let name = Some(format!("{name} {number} {}", "x".repeat(300)));
            (figi(2 * number), Instrument { name, ..Instrument::new(figi(2 * number)) })
        };
        (0..2_000).map(one).collect()
    };
    let (before, after) = (long("A"), long("B"));
    let first = build(index, &before);
    let second = build(index, &after);
    let net = Net::between(index, first.id, second.id).unwrap();
    for place in [0, 1, 500, 1_999] {
        let found = page(&net, Some(figi(2 * place)), 2).unwrap();
        assert_eq!(found.0[0].figi(), figi(2 * place));
        assert_eq!(found.1.is_some(), place < 1_998);
        let next = page(&net, Some(figi(2 * place + 1)), 1).unwrap().0;
        assert_eq!(next.first().map(Changed::figi), (place < 1_999).then(|| figi(2 * place + 2)));
    }
    let file = ChangeFile::open(&change_file(index, second.id)).unwrap();
    let mut count = 0;
    let counted = file.for_each(|_| {
        count += 1;
        Ok::<_, Error>(())
    });
    counted.unwrap();
    assert_eq!((count, file.summary().counts.updated), (2_000, 2_000));
}

/// A reader whose generation is unknown, or whose changes are no longer kept, gets an error that says so.
#[test]
fn what_is_not_kept() {
    let folder = tempfile::tempdir().unwrap();
    let index = folder.path();
    let first = build(index, &many(0..10, 0));
    let second = build(index, &many(0..10, 1));
    let third = build(index, &many(0..10, 2));
    let refused = |since, target| net(index, since, target).unwrap_err();
    let unknown = GenerationId::random();
    assert!(matches!(refused(unknown, third.id), NetError::NotKept(id) if id == unknown));
    assert_eq!(net(index, unknown, unknown).unwrap(), [], "nothing changed since then");
    fs::remove_file(change_file(index, second.id)).unwrap();
    assert!(matches!(refused(first.id, third.id), NetError::NotKept(_)));
    assert_eq!(net(index, second.id, third.id).unwrap().len(), 10);
    // A build that keeps no changes ends the way, and so does an index that is removed and built again.
    let fourth = build_kept(index, &many(0..10, 3), false);
    assert!(matches!(refused(third.id, fourth.id), NetError::NotKept(_)));
    let other = tempfile::tempdir().unwrap();
    let rebuilt = build(other.path(), &many(0..10, 3));
    assert_eq!(rebuilt.parent, None);
    assert!(matches!(net(other.path(), fourth.id, rebuilt.id), Err(NetError::NotKept(_))));
    // A generation that changed most of the instruments is only marked.
    let built = {
        let mut builder = Builder::create(index, BuildOptions::default()).unwrap();
        many(0..10, 4).into_values().for_each(|one| builder.add(one).unwrap());
        builder.finish(Vec::new()).unwrap()
    };
    let id = built.manifest().id;
    let writer = ChangeWriter::create(built.lock().new_changes().unwrap()).unwrap();
    assert!(writer.mark(fourth.id, id).unwrap().is_marker);
    built.lock().keep_changes(id).unwrap();
    built.publish().unwrap();
    assert!(matches!(refused(fourth.id, id), NetError::TooMany(_)));
}

/// A reader that is too far behind exports again.
#[test]
fn too_many_files() {
    let folder = tempfile::tempdir().unwrap();
    let index = folder.path();
    let mut ids = vec![build(index, &many(0..3, 0)).id];
    for number in 0..FILES_MAX + 2 {
        ids.push(build(index, &many(0..3, number as u8 % 5)).id);
    }
    let last = ids[ids.len() - 1];
    assert!(matches!(net(index, ids[1], last), Err(NetError::TooFar(_))));
    // Nobody knows whether a generation without a file was ever here.
    assert!(matches!(net(index, ids[0], last), Err(NetError::NotKept(_))));
    let expected = net(index, ids[2], last).unwrap();
    assert!(!expected.is_empty());
    // Files that lie above both generations are not read.
    fs::write(change_file(index, ids[1]), "x").unwrap();
    fs::write(change_file(index, ids[40]), "x").unwrap();
    assert_eq!(net(index, ids[60], last).unwrap().len(), 3);
    assert!(matches!(net(index, ids[30], last), Err(NetError::Index(_))));
}

/// Any cut or changed byte of a file is noticed: it never gives another change, nor a panic.
#[test]
fn damaged_files() {
    let folder = tempfile::tempdir().unwrap();
    let index = folder.path();
    let first = build(index, &many(0..10, 0));
    let second = build(index, &many(2..12, 1));
    let path = change_file(index, second.id);
    let right = fs::read(&path).unwrap();
    let expected = net(index, first.id, second.id).unwrap();
    for place in 0..right.len() {
        let mut wrong = right.clone();
        wrong[place] ^= 0x10;
        for bytes in [&wrong[..], &right[..place]] {
            fs::write(&path, bytes).unwrap();
            let found = net(index, first.id, second.id);
            assert!(matches!(found, Err(NetError::Index(_) | NetError::NotKept(_))), "{place}");
        }
    }
    fs::write(&path, &right).unwrap();
    assert_eq!(net(index, first.id, second.id).unwrap(), expected);
    // The file of another generation, under this name.
    let other = GenerationId::random();
    fs::copy(&path, change_file(index, other)).unwrap();
    assert!(matches!(net(index, first.id, other), Err(NetError::Index(_))));
}

/// The file that a killed build left goes; a file that is not a change file stays.
#[test]
fn files_that_are_not_kept_go() {
    let folder = tempfile::tempdir().unwrap();
    let index = folder.path();
    build(index, &many(0..10, 0));
    build(index, &many(0..10, 1));
    let third = build(index, &many(0..10, 2));
    let (new, other) = ("next.new", "notes.txt");
    for name in [new, other] {
        fs::write(index.join("changes").join(name), "x").unwrap();
    }
    let lock = figdex_index::BuildLock::acquire(index).unwrap();
    lock.remove_changes(|id, _| id == third.id).unwrap();
    assert_eq!(changes_kept(index).unwrap(), [third.id]);
    assert!(
        !index.join("changes").join(new).exists() && index.join("changes").join(other).exists()
    );
    lock.remove_old_changes(std::time::Duration::from_secs(3600)).unwrap();
    assert_eq!(changes_kept(index).unwrap(), [third.id]);
    lock.remove_old_changes(std::time::Duration::ZERO).unwrap();
    assert_eq!(changes_kept(index).unwrap(), []);
}
