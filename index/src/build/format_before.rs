//! An index of the format before, in which the blocks of extras have the identifiers: it is read,
//! compared with a new one, and its past is carried on.

use std::fs;
use std::path::Path;

use super::part_writer::describe;
use super::{BuildOptions, Builder};
use crate::catalogue::Catalogue;
use crate::generation::Generation;
use crate::generation::compare::PairWalk;
use crate::generation::manifest::Manifest;
use crate::instrument::Instrument;
use crate::instrument::figi::Figi;
use crate::instrument::id_type::{IdType, IdValue};
use crate::instrument::visible::Visible;
use crate::meter::Meter;
use crate::part::extras::tests::write_with_identifiers_in_blocks;
use crate::resolve::crosswalk::{ListColumns, ListField};
use crate::search::Hit;

fn instruments() -> Vec<Instrument> {
    let of = |number: u64| {
        let texts = [
            (IdType::Isin, format!("US{:09}1", number / 3)),
            (IdType::ExchSymbol, format!("T{number}")),
            (IdType::Isin, "US0378331005".to_owned()),
        ];
        let admitted = texts.iter().filter_map(|(id_type, text)| id_type.admit(text).ok());
        let identifiers = admitted.map(IdValue::into_owned).collect();
        let ticker = Some(format!("t{number}"));
        Instrument { ticker, identifiers, ..Instrument::new(Figi::from_u64(number)) }
    };
    (0..150).map(of).collect()
}

fn publish(index: &Path, instruments: &[Instrument]) {
    let options = BuildOptions { part_instruments_max: 100, ..BuildOptions::default() };
    let mut builder = Builder::create(index, options).unwrap();
    instruments.iter().for_each(|one| builder.add(one.clone()).unwrap());
    builder.publish(Vec::new()).unwrap();
}

/// Gives the generation in this folder the format before.
fn turn_back(generation: &Path) {
    let mut manifest = Manifest::read(generation).unwrap().manifest;
    let catalogue = Catalogue::open_unpublished(generation).unwrap();
    for (part, entry) in catalogue.generation.parts.iter().zip(&mut manifest.parts) {
        let folder = entry.path(generation);
        let mut of_part = Vec::new();
        part.for_each(&folder, |_, instrument| {
            of_part.push(instrument);
            Ok::<_, crate::error::Error>(())
        })
        .unwrap();
        for name in ["extras.sets", "extras.places"] {
            fs::remove_file(folder.join(name)).unwrap();
        }
        write_with_identifiers_in_blocks(&folder, &of_part, 64);
        entry.files = describe(&folder).unwrap();
    }
    manifest.format = 9;
    manifest.write(generation).unwrap();
}

#[test]
fn an_index_of_the_format_before_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let index = folder.path();
    let mut written = instruments();
    publish(index, &written);
    let before = index.join("generation-000001");
    turn_back(&before);
    let catalogue = Catalogue::open(index).unwrap();
    assert_eq!(catalogue.manifest().format, 9);
    catalogue.verify().unwrap();
    let read = |catalogue: &Catalogue| {
        let mut all = Vec::new();
        let each = |one: &Instrument| {
            all.push(one.clone());
            Ok::<_, crate::error::Error>(())
        };
        catalogue.instruments(each).unwrap();
        all
    };
    assert_eq!(read(&catalogue), written);
    let fields = ["ID_ISIN", "ID_EXCH_SYMBOL"].map(|name| ListField::from_name(name).unwrap());
    let columns = ListColumns { fields: &fields, visible: Visible::ALL };
    let hits = [0, 63, 64, 99].map(|doc| Hit { part: 0, doc });
    let texts = |catalogue: &Catalogue| {
        let found = catalogue.crosswalk(&hits, columns, &Meter::unlimited()).unwrap();
        let of = |hit: Hit| {
            [0, 1].map(|place| found.row(hit).texts(place).collect::<Vec<_>>().join("|"))
        };
        hits.map(of)
    };
    let of_before = texts(&catalogue);
    assert_eq!(of_before[1], ["US0378331005", "T63"]);

    // The next generation is of the new format, and differs from it in one identifier.
    written[64].identifiers.pop();
    publish(index, &written);
    let after = Catalogue::open(index).unwrap();
    assert_eq!(after.manifest().format, 10);
    after.verify().unwrap();
    assert_eq!(read(&after), written);
    assert_eq!(texts(&after)[0], of_before[0]);
    // And one more of the new format, in which another identifier has gone. It removes the first.
    let (before, after) = (Generation::open(&before).unwrap(), after.generation);
    written[70].identifiers.pop();
    publish(index, &written);
    let last = Catalogue::open(index).unwrap().generation;
    for (before, after, expected) in [
        (&before, &after, &[64][..]),
        (&after, &before, &[64]),
        (&after, &after, &[]),
        (&after, &last, &[70]),
        (&before, &last, &[64, 70]),
    ] {
        let mut walk = PairWalk::of(Some(before), after).unwrap();
        let mut differing = Vec::new();
        while walk.figi().is_some() {
            if let Some(compared) = walk.step(false).unwrap()
                && compared.before != compared.after
            {
                differing.push(compared.after.unwrap().figi.to_u64());
            }
        }
        assert_eq!(differing, expected);
    }
}
