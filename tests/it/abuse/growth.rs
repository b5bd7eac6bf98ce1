//! Dumps of a megabyte that stand for far more: a build of them ends soon, and all its files
//! together (sorted rows, the index, the rejects file) stay below a multiple of the megabyte.

use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use figdex_index::Figi;

use crate::support::program;

/// The size of a hostile dump.
const DUMP_BYTES: usize = 1 << 20;

/// The most that the files of a build over one of them may take together.
const DISK_BYTES_MAX: u64 = 64 << 20;

/// The interval at which the files are looked at.
const LOOK_PERIOD: Duration = Duration::from_millis(2);

/// FIGIs in order.
fn figis() -> impl Iterator<Item = String> {
    const CHARACTERS: &[u8] = b"0123456789BCDFGHJKLMNPQRSTVWXYZ";
    (0..).map(|number: usize| {
        let mut figi = "BBG000000000".to_owned().into_bytes();
        let mut rest = number;
        for place in (3..11).rev() {
            figi[place] = CHARACTERS[rest % CHARACTERS.len()];
            rest /= CHARACTERS.len();
        }
        let texts = (b'0'..=b'9').map(|digit| {
            figi[11] = digit;
            String::from_utf8(figi.clone()).unwrap()
        });
        texts.into_iter().find(|text| Figi::parse(text).is_ok()).unwrap()
    })
}

/// A dump with that header, and as many rows as fit into a megabyte.
fn dump(header: &str, row: impl Fn(usize, &str) -> String) -> String {
    let mut dump = format!("{header}\n");
    for (number, figi) in figis().enumerate() {
        let row = row(number, &figi);
        if dump.len() + row.len() >= DUMP_BYTES {
            return dump;
        }
        writeln!(dump, "{row}").unwrap();
    }
    dump
}

/// The size of all files in a folder and below.
fn size_of(folder: &Path) -> u64 {
    // Files come and go while they are counted.
    let Ok(entries) = fs::read_dir(folder) else { return 0 };
    let sizes = entries.flatten().map(|entry| match entry.file_type() {
        Ok(kind) if kind.is_dir() => size_of(&entry.path()),
        _ => entry.metadata().map_or(0, |file| file.len()),
    });
    sizes.sum()
}

/// Builds an index of the dumps in `folder` and returns the exit code, the messages, and the most
/// that all files in `folder/out` took.
fn build(folder: &Path, dumps: &[&str]) -> (i32, String, u64) {
    let out = folder.join("out");
    fs::create_dir(&out).unwrap();
    let mut child = Command::new(program())
        .current_dir(folder)
        .args(["build", "--index", "out/index", "--max-rejects", "100%", "--quiet"])
        .args(dumps)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut most = 0;
    while child.try_wait().unwrap().is_none() {
        most = most.max(size_of(&out));
        std::thread::sleep(LOOK_PERIOD);
    }
    most = most.max(size_of(&out));
    let output = child.wait_with_output().unwrap();
    (output.status.code().unwrap(), String::from_utf8(output.stderr).unwrap(), most)
}

/// Builds over a hostile dump, which must stay in the bounds whether it is published or refused.
fn bounded(name: &str, dumps: &[(&str, &[u8])], code: i32) -> String {
    let desk = tempfile::tempdir().unwrap();
    let mut arguments = Vec::new();
    for (name, bytes) in dumps {
        match name.strip_prefix("--enrich ") {
            Some(name) => arguments.extend(["--enrich", name]),
            None => arguments.push(name),
        }
        let name = name.rsplit(' ').next().unwrap();
        fs::write(desk.path().join(name), bytes).unwrap();
    }
    let (found, error, most) = build(desk.path(), &arguments);
    eprintln!("{name}: {} kB, exit code {found}: {}", most >> 10, error.trim_end());
    assert_eq!(found, code, "{name}: {error}");
    assert!(most <= DISK_BYTES_MAX, "{name}: {most} bytes");
    error
}

/// A row is kept once in the rejects file, however many of its cells are dropped.
#[test]
fn rejects_stay_in_proportion() {
    let wrong = "x;".repeat(2_000);
    let many = dump("figi,ID_ISIN,ID_CUSIP", |_, figi| format!("{figi},{wrong},{wrong}"));
    bounded("wrong values", &[("dump.csv", many.as_bytes())], 0);
    let right = "A;".repeat(1_000);
    let many = dump("figi,alias,ID_EXCH_SYMBOL", |_, figi| format!("{figi},{right},{wrong}"));
    bounded("too many values", &[("dump.csv", many.as_bytes())], 0);
    let header = "figi,compositeFIGI,shareClassFIGI,strike,contractSize,coupon,expiration,maturity,\
                  listed,importance,optionType,ID_ISIN,ID_CUSIP,ID_SEDOL,ID_COMMON,ID_CINS";
    let many = dump(header, |_, figi| format!("{figi}{}", ",x".repeat(15)));
    bounded("wrong columns", &[("dump.csv", many.as_bytes())], 0);
    let name = format!("{}.csv", "n".repeat(250));
    let rows = "figi\n".to_owned() + &"x\n".repeat(DUMP_BYTES / 2);
    let error = bounded("a long name", &[(&name, rows.as_bytes())], 1);
    assert!(error.contains("for the rejects file"), "{error}");
}

/// A packed megabyte of rows that repeat each other.
#[test]
fn packed_rows_stay_in_proportion() {
    for (name, header, rows, cells, code) in [
        ("long names", "figi,name", 1, "n".repeat(400), 1),
        ("long rejects", "ticker,figi", 1, "n".repeat(400), 1),
        ("one instrument", "figi,ticker", 100, String::new(), 1),
        ("short rows", "figi,ticker", 1, String::new(), 1),
    ] {
        let mut packed = zstd::Encoder::new(Vec::new(), 1).unwrap();
        packed.write_all(format!("{header}\n").as_bytes()).unwrap();
        for figi in figis() {
            if packed.get_ref().len() > DUMP_BYTES {
                break;
            }
            packed.write_all(format!("{figi},{cells}\n").repeat(rows).as_bytes()).unwrap();
        }
        let packed = packed.finish().unwrap();
        eprintln!("{} kB packed", packed.len() >> 10);
        let error = bounded(name, &[("dump.csv.zst", &packed)], code);
        assert!(error.contains("the build would write more than 32 times the "), "{error}");
    }
}

/// An index takes no more than a multiple of its rows.
#[test]
fn indexes_stay_in_proportion() {
    let words = "a b c d e f g h i j k l m n o p q r s t u v w x y z ".repeat(70);
    for (name, header, row) in [
        (
            "figis",
            "figi",
            &(|_: usize, figi: &str| figi.to_owned()) as &dyn Fn(usize, &str) -> String,
        ),
        ("words", "figi,name", &|number, figi| format!("{figi},{words} {number}")),
        ("one word", "figi,ticker", &|number, figi| format!("{figi},{number:x}")),
        ("aliases", "figi,alias", &|number, figi| {
            let aliases: Vec<_> = (0..100).map(|alias| format!("{:x}", alias + number)).collect();
            format!("{figi},{}", aliases.join(";"))
        }),
        ("symbols", "figi,ID_EXCH_SYMBOL,TRADING_SYSTEM_IDENTIFIER", &|number, figi| {
            let symbols: Vec<_> = (0..100).map(|one| format!("{:x}", one + number)).collect();
            format!("{figi},{0},{0}", symbols.join(";"))
        }),
        ("importances", "figi,importance", &|number, figi| format!("{figi},{number}")),
        ("numbers", "figi,strike,coupon,maturity", &|number, figi| {
            format!("{figi},{number},{number},{}-01-01", 1_000 + number % 9_000)
        }),
    ] {
        bounded(name, &[("dump.csv", dump(header, row).as_bytes())], 0);
    }
}

/// The rows of `--enrich` and the instruments that they match: neither the work nor the index is the
/// product of both.
#[test]
fn enriched_instruments_stay_in_proportion() {
    let many = dump("figi,shareClassFIGI", |_, figi| format!("{figi},BBG001S5S399"));
    let more =
        dump("figi,shareClassFIGI,importance", |number, _| format!(",BBG001S5S399,{number}"));
    bounded("many", &[("dump.csv", many.as_bytes()), ("--enrich more.csv", more.as_bytes())], 0);
    let aliases: Vec<_> = (0..100).map(|alias| format!("{alias}{}", "x".repeat(4_000))).collect();
    let more = format!("shareClassFIGI,alias\nBBG001S5S399,{}\n", aliases.join(";"));
    let dumps = [("dump.csv", many.as_bytes()), ("--enrich more.csv", more.as_bytes())];
    let error = bounded("long", &dumps, 1);
    assert!(error.contains("long values match many instruments"), "{error}");
}
