use figdex_index::{Figi, check_digit};
use proptest::prelude::*;

use super::*;
use crate::report::conflicts::Conflicts;

fn figi(number: u32) -> Figi {
    let body = format!("BBG{number:08}");
    let digit = check_digit::double_add_double(body.as_bytes()).unwrap();
    Figi::parse(&format!("{body}{digit}")).unwrap()
}

fn row(number: u32, name: &str) -> Instrument {
    Instrument { name: Some(name.into()), ..Instrument::new(figi(number)) }
}

/// Merges rows, each with the number of its input: the FIGIs and names of the merged
/// instruments, and the counts of the inputs.
fn merged(rows: &[(usize, Instrument)], memory_bytes: usize) -> (Vec<String>, Vec<Merged>) {
    let scratch = tempfile::tempdir().unwrap();
    let mut merge = Merge::start(scratch.path().to_owned(), memory_bytes);
    for (input, instrument) in rows {
        merge.add(Origin::new(*input, 1), instrument.clone());
    }
    let sorted = merge.finish().unwrap();
    let pass = || {
        let mut names = Vec::new();
        let inputs = ["a", "b", "c"].map(String::from);
        let merged = sorted.for_each(&inputs, &mut Conflicts::default(), |instrument, _| {
            names.push(format!("{} {}", instrument.figi, instrument.name.unwrap()));
            Ok(())
        });
        let mut merged = merged.unwrap();
        merged.resize(3, Merged::default());
        (names, merged)
    };
    let first = pass();
    assert_eq!(pass(), first, "a second pass gives the same");
    drop(sorted);
    assert_eq!(scratch.path().read_dir().unwrap().count(), 0, "no run is left");
    first
}

#[test]
fn rows_of_one_figi_are_one_instrument_and_later_inputs_win() {
    let rows = [
        (0, row(3, "share class")),
        (0, row(1, "first")),
        (0, row(1, "second")),
        (1, row(1, "third")),
        (1, row(2, "venue")),
    ];
    let (names, counts) = merged(&rows, 1 << 20);
    let expected = [(1, "third"), (2, "venue"), (3, "share class")];
    assert_eq!(names, expected.map(|(number, name)| format!("{} {name}", figi(number))));
    let counts: Vec<_> = counts.iter().map(|merged| (merged.instruments, merged.merged)).collect();
    assert_eq!(counts, [(2, 1), (1, 1), (0, 0)]);
}

#[test]
fn no_rows_merge_to_no_instruments() {
    assert_eq!(merged(&[], 1 << 20), (vec![], vec![Merged::default(); 3]));
}

/// A run is as large as the memory allows. Smaller runs would give the right result, but much
/// too slowly.
#[test]
fn runs_fill_the_memory() {
    let scratch = tempfile::tempdir().unwrap();
    let mut sorter = Sorter::new(scratch.path().to_owned(), 20_000);
    let mut bytes = Vec::new();
    for number in 0..5_000 {
        let instrument = row(number, "a name as long as most");
        instrument.encode(&mut bytes);
        sorter.add(Origin::default(), &instrument).unwrap();
    }
    let runs = scratch.path().read_dir().unwrap().count();
    let used = bytes.len() + 5_000 * size_of::<sorter::RowSpan>();
    assert!(10 < runs && runs <= used / 20_000 + 1, "{runs} runs of {used} bytes");
    // They are merged two at a time, which is what this memory allows.
    let Sorted::Runs(left) = sorter.finish().unwrap() else { panic!("it had spilled") };
    assert_eq!((left.len(), scratch.path().read_dir().unwrap().count()), (2, 2));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// The result does not depend on the memory.
    #[test]
    fn runs_give_the_result_of_sorting_in_memory(
        rows in proptest::collection::vec((0_usize..3, 0_u32..200, "[a-z]{0,8}"), 0..600),
        memory_bytes in 4_000_usize..50_000,
    ) {
        let mut rows: Vec<_> =
            rows.iter().map(|(input, number, name)| (*input, row(*number, name))).collect();
        rows.sort_by_key(|(input, _)| *input);
        prop_assert_eq!(merged(&rows, memory_bytes), merged(&rows, usize::MAX));
    }
}
