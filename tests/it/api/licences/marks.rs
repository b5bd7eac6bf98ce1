//! An index whose identifiers are marked values: each is found in no other text, so that one in an
//! answer is that identifier.

use std::fs;
use std::path::Path;

use figdex_index::{
    BuildLock, BuildOptions, Builder, Catalogue, ChangeWriter, Date, Figi, IdType, Instrument,
    ParquetWriter, PastOptions, Property, Retired, RetiredKind, RetiredOf, check_digit,
};

use crate::support::figi;

/// A marked identifier.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Mark {
    pub(super) id_type: IdType,
    pub(super) text: String,
}

/// The rows that have marks, by the letter in them: that of today, the same as it was, one that is
/// gone, and the identifiers that an operator states.
pub(super) const LETTERS: [char; 4] = ['K', 'V', 'N', 'M'];

/// The days of the builds.
pub(super) const DAYS: [&str; 3] = ["2024-01-02", "2024-02-01", "2024-03-01"];

/// The idTypes that have a licence class.
pub(super) fn licensed() -> impl Iterator<Item = IdType> {
    IdType::ALL.into_iter().filter(|id_type| id_type.licensed_as().is_some())
}

/// The marked value of an idType. Letters are in it wherever its form allows some.
pub(super) fn mark(id_type: IdType, letter: char) -> Mark {
    let with = |body: String, digit: fn(&[u8]) -> Option<u8>| {
        format!("{body}{}", digit(body.as_bytes()).unwrap())
    };
    let place = LETTERS.iter().position(|one| *one == letter).unwrap();
    let text = match id_type {
        IdType::Isin => with(format!("QZWLKXSN{letter}77"), check_digit::isin),
        IdType::Cusip | IdType::Cins => {
            with(format!("WLKCSP{letter}7"), check_digit::double_add_double)
        }
        IdType::Cusip8 => format!("WLKCSP{letter}7"),
        IdType::Sedol => with(format!("WLKSD{letter}"), check_digit::sedol),
        IdType::Wertpapier => format!("WLKWK{letter}"),
        IdType::Common => ["738291645", "849302756", "950413867", "164758392"][place].to_owned(),
        IdType::Italy => ["739184", "840295", "951306", "162738"][place].to_owned(),
        IdType::Occ => format!("WLKOC{letter}351221C00123000"),
        other => format!("WLK{}{letter}QZ", other.name().replace("ID_", "").replace('_', "")),
    };
    assert!(id_type.admit(&text).is_ok_and(|value| value.as_str() == text), "{id_type:?} {text}");
    Mark { id_type, text }
}

/// All marked values.
pub(super) fn marks() -> Vec<Mark> {
    let of = |letter| licensed().map(move |id_type| mark(id_type, letter));
    LETTERS.into_iter().flat_map(of).collect()
}

fn parsed(number: u32) -> Figi {
    Figi::parse(&figi(number)).unwrap()
}

/// A row, perhaps with marks.
fn row(number: u32, ticker: &str, letter: Option<char>) -> Instrument {
    let marks = letter.into_iter().flat_map(|letter| licensed().map(move |one| mark(one, letter)));
    let values = marks.map(|Mark { id_type, text }| id_type.admit(&text).unwrap().into_owned());
    let mut row = Instrument {
        ticker: Some(ticker.to_owned()),
        name: Some(format!("STROLL HOLDING {number}")),
        share_class_figi: Some(parsed(number + 900)),
        listed: Some(true),
        unique_id: Some(format!("EQ{number}")),
        identifiers: values.collect(),
        ..Instrument::new(parsed(number))
    };
    for (property, value) in [(Property::ExchCode, "US"), (Property::MarketSecDes, "Equity")] {
        row.properties[property as usize] = Some(value.to_owned());
    }
    row
}

/// The rows of a day. On the second one only identifiers of the first row change.
fn rows(day: usize) -> Vec<Instrument> {
    let first =
        row(1, if day < 2 { "STRL" } else { "STRX" }, Some(if day == 0 { 'V' } else { 'K' }));
    let gone = (day < 2).then(|| row(3, "GONX", Some('N')));
    [first, row(2, "PLAN", None)].into_iter().chain(gone).collect()
}

/// Builds the index, with its past and its changes. Returns the ids of its generations.
pub(super) fn build(index: &Path) -> Vec<String> {
    let stated: Vec<_> = licensed()
        .map(|id_type| {
            let retired = Retired {
                id_value: id_type.admit(&mark(id_type, 'M').text).unwrap().into_owned(),
                from: Some(Date::parse("2019-02-01").unwrap()),
                to: Some(Date::parse("2020-01-31").unwrap()),
                kind: RetiredKind::Rename,
                successor: None,
            };
            (RetiredOf::Figi(parsed(3)), retired)
        })
        .collect();
    let mut ids = Vec::new();
    for (number, day) in DAYS.into_iter().enumerate() {
        let before = (number > 0).then(|| Catalogue::open(index).unwrap());
        let (date, segment_memory_bytes) = (Date::parse(day).unwrap(), 32 << 20);
        let options = BuildOptions { date, segment_memory_bytes, ..BuildOptions::default() };
        let options = BuildOptions { generations_kept: 9, ..options };
        let mut builder = Builder::create(index, options).unwrap();
        builder.keep_past(PastOptions { stated: stated.clone(), ..PastOptions::default() });
        let text = mark(IdType::Cusip, 'K').text;
        builder.write_parquet(ParquetWriter::new(vec![IdType::Cusip], move |_, path| {
            Ok(fs::write(path, &text)?)
        }));
        rows(number).into_iter().for_each(|row| builder.add(row).unwrap());
        builder.publish(Vec::new()).unwrap();
        let after = Catalogue::open(index).unwrap();
        ids.push(after.manifest().id.to_string());
        let Some(before) = before else { continue };
        let lock = BuildLock::acquire(index).unwrap();
        let mut writer = ChangeWriter::create(lock.new_changes().unwrap()).unwrap();
        after.differences(&before, |changed| writer.add(&changed)).unwrap();
        writer.finish(before.manifest().id, after.manifest().id).unwrap();
        lock.keep_changes(after.manifest().id).unwrap();
    }
    ids
}
