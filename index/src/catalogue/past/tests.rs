//! Answers about random pasts against the answers by brute force.

mod model;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use self::model::{Asked, Known, Model};
use super::*;
use crate::build::past::{PastOptions, PastReport};
use crate::build::{BuildOptions, Builder};
use crate::generation::past::column::PastColumn;
use crate::generation::past::log::{LogSummary, LogWriter, ObservedDays};
use crate::generation::past::stated::{Retired, RetiredKind, RetiredOf};
use crate::generation::past::tests::State;
use crate::generation::past::tests::reference::{Night, instrument, rows_of};
use crate::generation::past::tests::sequence::{Sequence, Step, figi};
use crate::instrument::id_type::IdType;
use crate::instrument::visible::Visible;
use crate::meter::Meter;
use crate::query::Filters;
use crate::resolve::past::{Basis, PastRow, WasRow};
use crate::resolve::policy::Policy;
use crate::resolve::question::Question;
use crate::resolve::resolution::ResolveBounds;

/// contract 20.17: jobs beyond the bound are not answered, nor are smaller ones after them.
#[test]
fn the_rows_of_a_list_are_bounded() {
    let figi = Figi::parse("BBG000BLNNH6").unwrap();
    let day = Date::parse("2024-01-02").unwrap();
    let row = PastRow {
        figi,
        row: WasRow::Then(Box::new(Instrument::new(figi))),
        valid_from: Some(day),
        valid_to: None,
        basis: Basis::Observed,
        today: None,
        successor: None,
    };
    let of = |rows: usize| {
        let past = vec![row.clone(); rows];
        Resolution { past, ..Resolution::new(Status::Ambiguous(rows), vec![], vec![]) }
    };
    let mut left = 3;
    let answered = [2, 2, 1, 0].map(|rows| {
        let resolution = within(of(rows), &mut left);
        (resolution.past.len(), resolution.is_beyond_rows)
    });
    assert_eq!(answered, [(2, false), (0, true), (0, true), (0, false)]);
}

const BOUNDS: ResolveBounds = ResolveBounds {
    identifier_rows_max: 1_000,
    rows_max: 10_000,
    candidates_max: 100,
    corrected: Visible::ALL,
};

/// The first day of each pair of market sector and exchange code that a row had.
fn covered(nights: &[Night]) -> BTreeMap<String, Date> {
    let mut covered: BTreeMap<String, Date> = BTreeMap::new();
    let figis: BTreeSet<_> = nights.iter().flat_map(|night| night.rows.keys()).collect();
    for figi in figis {
        for (night, row) in nights.iter().zip(rows_of(nights, *figi)) {
            let Some(row) = row else { continue };
            let [sector, code] = ["marketSector", "exchCode"].map(|name| {
                let value = row.get(name).and_then(|values| values.first());
                value.cloned().unwrap_or_default()
            });
            let first = covered.entry(pair_of(&sector, &code)).or_insert(night.day);
            *first = night.day.min(*first);
        }
    }
    covered
}

/// Writes the past of nights that were never built, as an exported one.
fn export(state: &State, path: &Path) {
    let nights = &state.nights;
    let last = &nights[nights.len() - 1];
    let mut days = ObservedDays::default();
    nights.iter().for_each(|night| days.push(night.day));
    let filled = PastColumn::all().map(|column| {
        let rows = last.rows.values().filter(|row| row.contains_key(column.name()));
        (column.name().to_owned(), rows.count() as u64)
    });
    let summary = LogSummary {
        days,
        covered: covered(nights),
        has_derivatives: nights.iter().any(|night| night.has_derivatives),
        is_whole: true,
        instruments: last.rows.len() as u64,
        filled: filled.collect(),
        ..LogSummary::default()
    };
    let mut writer = LogWriter::create(path.to_owned(), summary).unwrap();
    for versions in state.versions.values().filter(|versions| !versions.are_none()) {
        writer.add(versions, None).unwrap();
    }
    writer.finish().unwrap();
}

/// Builds and publishes a night.
fn build(
    index: &Path,
    night: &Night,
    from: Option<&Path>,
    stated: &[(RetiredOf, Retired)],
) -> PastReport {
    let options = BuildOptions {
        date: night.day,
        part_instruments_max: 7,
        segment_memory_bytes: 15 << 20,
        threads: 1,
        ..BuildOptions::default()
    };
    let mut builder = Builder::create(index, options).unwrap();
    builder.keep_past(PastOptions {
        mend_days: night.mend_days,
        has_derivatives: night.has_derivatives,
        from: from.map(Path::to_owned),
        stated: stated.to_vec(),
    });
    night.rows.iter().for_each(|(figi, row)| builder.add(instrument(*figi, row)).unwrap());
    let built = builder.finish(Vec::new()).unwrap();
    let report = built.past().unwrap().clone();
    built.publish().unwrap();
    report
}

/// The identifiers of questions, which rows and statements have.
const KEYS: [(IdType, &str); 6] = [
    (IdType::Ticker, "A"),
    (IdType::Ticker, "B"),
    (IdType::Ticker, "C"),
    (IdType::Isin, "US0378331005"),
    (IdType::Isin, "US4592001014"),
    (IdType::CompositeBbGlobal, "BBG000BLNNH6"),
];

/// The columns of these identifiers.
const NAMES: [&str; 3] = ["ticker", "ID_ISIN", "compositeFIGI"];

/// A random file of retired identifiers. Its instruments may have no row, and its days lie in and
/// around the past.
fn retired(random: &mut Sequence, nights: &[Night], figis: u32) -> Vec<(RetiredOf, Retired)> {
    let first = nights[0].day.to_days();
    let length = (nights[nights.len() - 1].day.to_days() - first) as usize;
    let count = [0, 1, 3, 8][random.below(4)];
    let mut stated = Vec::new();
    for _ in 0..count {
        let (id_type, value) = KEYS[random.below(KEYS.len())];
        let id_value = id_type.admit(value).unwrap().into_owned();
        let mut day = || Date::from_days(first - 6 + random.below(length + 13) as i64);
        let (one, other) = (day(), day());
        let from = one.min(other).filter(|_| random.chance(75));
        let to = one.max(other).filter(|_| random.chance(75));
        let kind = RetiredKind::ALL[random.below(5)];
        let has_successor = kind != RetiredKind::Rename && random.chance(50);
        let successor = has_successor.then(|| figi(90));
        let owner = match random.chance(85) {
            true => RetiredOf::Figi(figi(random.below(figis as usize + 2) as u32)),
            false => {
                let (id_type, value) = KEYS[random.below(KEYS.len())];
                RetiredOf::Identifier(id_type.admit(value).unwrap().into_owned())
            }
        };
        stated.push((owner, Retired { id_value, from, to, kind, successor }));
    }
    stated
}

/// A random past in an index, as it should be.
fn random_past(seed: u64, folder: &Path) -> (Model, PastReport, Sequence) {
    let mut random = Sequence::new(seed);
    let mut nights: Vec<Night> = Vec::new();
    for _ in 0..1 + random.below(9) {
        if let Step::Build(night) = random.step(&nights) {
            nights.pop_if(|last| last.day == night.day);
            nights.push(night);
        }
    }
    let figis = random.figis().count() as u32;
    for _ in 0..random.below(4) {
        // A value that is learned late.
        let (figi, name) = (figi(random.below(figis as usize) as u32), NAMES[random.below(3)]);
        let count = random.below(nights.len());
        let rows = nights[..count].iter_mut().filter_map(|night| night.rows.get_mut(&figi));
        rows.for_each(|row| _ = row.remove(name));
    }
    let last = &nights[nights.len() - 1];
    let before = nights[..nights.len() - 1].iter().cloned().fold(State::default(), State::after);
    let (index, log) = (folder.join("index"), folder.join("past.log"));
    let mut from = None;
    if nights.len() > 1 {
        export(&before, &log);
        from = Some(&*log);
    }
    if random.chance(20) {
        // A build of the same day that the last one replaces.
        let mut other = Night { has_derivatives: last.has_derivatives, ..last.clone() };
        for number in 0..figis + 1 {
            match random.below(3) {
                0 => _ = other.rows.remove(&figi(number)),
                1 => _ = other.rows.insert(figi(number), random.random()),
                _ => {}
            }
        }
        if other.rows.is_empty() {
            other.rows.insert(figi(0), random.random());
        }
        build(&index, &other, from.take(), &retired(&mut random, &nights, figis));
    }
    let stated = retired(&mut random, &nights, figis);
    let report = build(&index, last, from, &stated);
    let all = (0..figis + 2).map(figi).collect();
    (Model::new(nights, all, stated), report, random)
}

/// An answer in the form of the model.
fn row_of(row: &PastRow) -> model::Was {
    let PastRow { figi, valid_from, valid_to, basis, successor, .. } = *row;
    model::Was { figi, basis, days: (valid_from, valid_to), successor }
}

fn known(resolution: &Resolution) -> Known {
    let rows: Vec<_> = resolution.past.iter().map(row_of).collect();
    let figis = || rows.iter().map(|row| row.figi).collect();
    match &resolution.status {
        Status::Resolved(_) | Status::Historical | Status::Gone if rows.len() == 1 => {
            let name = resolution.status.name();
            Known::One(name, rows.into_iter().next().unwrap())
        }
        Status::Ambiguous(_) if !rows.is_empty() => {
            let mut rows = rows;
            rows.sort_by_key(|row| row.figi);
            Known::Several(rows)
        }
        Status::Resolved(_) | Status::Ambiguous(_) => Known::Today,
        Status::Unknown => Known::Nothing,
        Status::Uncertain => Known::Uncertain(figis()),
        Status::OutOfCoverage(coverage) => Known::OutOfCoverage(coverage.since),
        other => panic!("{other:?}"),
    }
}

/// Answers with a day, without one and with `formerly`, and the report of the build, are those that
/// a model by brute force gives, for random nights and random files of retired identifiers.
/// `FIGDEX_PAST_ANSWERS` sets the number of pasts.
#[test]
fn the_answers_of_random_pasts() {
    let pasts = std::env::var("FIGDEX_PAST_ANSWERS").ok().map(|text| text.parse().unwrap());
    let first = std::env::var("FIGDEX_PAST_SEED").map_or(0, |text| text.parse().unwrap());
    let mut counts: BTreeMap<&'static str, usize> = BTreeMap::new();
    for seed in first..first + pasts.unwrap_or(1_000) {
        // In memory, where syncing a file costs nothing.
        let folder = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap();
        let (model, report, mut random) = random_past(3_000_000 + seed, folder.path());
        let context = || format!("seed {seed}: {model:#?}");
        let stated = (report.stated, report.contradicted, report.not_stated);
        assert_eq!(stated, model.report(), "{}", context());
        let catalogue = Catalogue::open(&folder.path().join("index")).unwrap();
        check_answers(&catalogue, &model, &mut random, &mut counts, &context);
    }
    println!("{counts:?}");
    if pasts.is_none() {
        let least = counts.iter().min_by_key(|count| count.1);
        assert!(counts.len() == 17 && least.unwrap().1 > &0, "{counts:?}");
    }
}

/// Asks some questions of an index.
fn check_answers(
    catalogue: &Catalogue,
    model: &Model,
    random: &mut Sequence,
    counts: &mut BTreeMap<&'static str, usize>,
    context: &dyn Fn() -> String,
) {
    let (policy, meter) = (Policy::default(), Meter::unlimited());
    let (first, last) = model.days();
    let own: Vec<String> = model.figis.iter().map(Figi::to_string).collect();
    let mut asked: Vec<Asked<'_>> = Vec::new();
    for _ in 0..10 {
        let (id_type, value) = match random.below(8) {
            place @ 0..6 => KEYS[place],
            _ => (IdType::BbGlobal, &*own[random.below(own.len())]),
        };
        let days = (last.to_days() - first.to_days()) as usize;
        let day = Date::from_days(first.to_days() - 4 + random.below(days + 9) as i64).unwrap();
        asked.push(Asked { id_type, value, is_us: random.chance(35), day });
    }
    let filters = |vocabulary: &Vocabulary, asked: &Asked<'_>| {
        let mut filters = Filters::default();
        if asked.is_us {
            // Without such a value in the data nothing passes, so it is not asked for.
            filters.known.require(vocabulary.admit(Property::ExchCode, "US")?);
        }
        Some(filters)
    };
    let of = |vocabulary: &Vocabulary| -> Vec<(Asked<'_>, Question<'_>)> {
        let questions = asked.iter().filter_map(|asked| {
            let filters = filters(vocabulary, asked)?;
            Some((*asked, Question::given(asked.id_type, asked.value, Some(&Arc::new(filters)))))
        });
        questions.collect()
    };
    let (with_day, questions): (Vec<_>, Vec<_>) =
        of(catalogue.past_vocabulary()).into_iter().map(|(it, to)| (it, (to, it.day))).unzip();
    let found = catalogue.resolve_as_of(&questions, &policy, BOUNDS, &meter).unwrap();
    for (asked, found) in with_day.iter().zip(&found) {
        let (found, expected) = (known(found), model.as_of(asked));
        *counts.entry(expected.name()).or_default() += 1;
        assert_eq!(found, expected, "{asked:?}, {}", context());
    }
    // Rows count as often, however many of them are candidates.
    let unseen = ResolveBounds { candidates_max: 0, ..BOUNDS };
    let unseen = catalogue.resolve_as_of(&questions, &policy, unseen, &meter).unwrap();
    for ((asked, found), unseen) in with_day.iter().zip(&found).zip(&unseen) {
        assert_eq!(unseen.status, found.status, "{asked:?}, {}", context());
    }
    let (without, questions): (Vec<_>, Vec<_>) = of(catalogue.vocabulary()).into_iter().unzip();
    let mut found = catalogue.resolve(&questions, &policy, BOUNDS, &meter).unwrap();
    catalogue.add_former(&questions, &mut found, &policy, BOUNDS, &meter).unwrap();
    // Rows of today count whether or not they are among the candidates.
    let few = ResolveBounds { candidates_max: 1, ..BOUNDS };
    let mut with_formerly = catalogue.resolve(&questions, &policy, few, &meter).unwrap();
    catalogue.add_formerly(&questions, &mut with_formerly, &meter).unwrap();
    for ((asked, found), with_formerly) in without.iter().zip(&found).zip(&with_formerly) {
        let expected = model.without_day(asked);
        *counts.entry(expected.name()).or_default() += 1;
        assert_eq!(known(found), expected, "{asked:?} without a day, {}", context());
        let formerly: Vec<_> = with_formerly.formerly.iter().map(row_of).collect();
        let expected = match expected {
            Known::Today => model.formerly(asked),
            _ => Vec::new(),
        };
        *counts.entry("formerly").or_default() += usize::from(!expected.is_empty());
        assert_eq!(formerly, expected, "{asked:?} formerly, {}", context());
    }
}
