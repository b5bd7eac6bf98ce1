//! Lists over real instruments: how many identifiers a policy resolves, that nothing is chosen
//! which no step asked for, and how often each form of a text finds its row (contract 17).
//!
//! `lists.golden` holds the counts: `FIGDEX_BLESS=1 cargo test --test it golden::lists` writes it.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use figdex_index::{
    By, Catalogue, Filters, Hit, IdType, Lookup, Meter, Policy, Question, Resolution,
    ResolveBounds, RowSource as _, Status, Visible,
};

use super::Golden;
use super::recorded::{Instrument, Instruments, instruments};
use crate::support::{Server, real_data};

const STEPS: [&str; 2] = ["composite", "exchCode=US|LN|GY"];

const BOUNDS: ResolveBounds = ResolveBounds {
    identifier_rows_max: 15_000,
    rows_max: usize::MAX,
    candidates_max: 10,
    corrected: Visible::ALL,
};

/// The identifiers that are resolved together.
const TOGETHER: usize = 500;

#[test]
fn lists_over_real_instruments() {
    let Some(folder) = real_data() else { return };
    let dump = folder.join("real/instruments.csv.gz");
    let instruments = instruments(&dump);
    let server = Server::of_real_instruments().unwrap();
    let catalogue = server.catalogue();
    let mut text = String::new();
    isins(&catalogue, &instruments, &mut text);
    forms(&catalogue, &instruments, &folder, &mut text);
    names(&catalogue, &instruments, &mut text);
    Golden::new("lists/lists.golden").compare(&text);
}

/// Every ISIN of the data, by a policy that an oracle over the dump's rows repeats.
fn isins(catalogue: &Catalogue, instruments: &Instruments, text: &mut String) {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    let isins: BTreeSet<&str> = instruments.values().map(|row| &*row["ID_ISIN"]).collect();
    let isins: Vec<&str> = isins.into_iter().filter(|isin| !isin.is_empty()).collect();
    let policy = Policy::parse(STEPS, catalogue.vocabulary()).unwrap();
    for (isin, resolution) in
        resolve_all(catalogue, &policy, &isins, |isin| Question::given(IdType::Isin, isin, None))
    {
        let lookup = Lookup::new(IdType::Isin.admit(isin).unwrap(), Filters::default());
        let hits = catalogue.lookup(&lookup, BOUNDS.identifier_rows_max).unwrap();
        let rows = hits.iter().map(|hit| &instruments[&catalogue.figi(*hit).to_string()]);
        let (left, by) = oracle(rows.collect());
        let found: Vec<String> = figis(catalogue, &resolution.hits);
        let how = match resolution.status {
            Status::Resolved(chosen) => {
                assert_eq!((left.len(), found.len()), (1, 1), "{isin}");
                assert_eq!(found[0], left[0]["figi"], "{isin}");
                let chosen = match chosen {
                    By::Only => "only",
                    By::Step(step) => policy.step(step),
                };
                assert_eq!(chosen, by, "{isin}");
                STEPS.into_iter().find(|step| *step == chosen).unwrap_or("only")
            }
            Status::Ambiguous(matches) => {
                assert_eq!(matches, left.len(), "{isin}");
                assert_eq!(found.len(), matches.min(10), "{isin}");
                let left: BTreeSet<&str> = left.iter().map(|row| &*row["figi"]).collect();
                assert!(found.iter().all(|figi| left.contains(&**figi)), "{isin}");
                "ambiguous"
            }
            Status::Unknown => {
                assert!(left.is_empty(), "{isin}");
                "unknown"
            }
            Status::Invalid(reason) => panic!("{isin}: {reason}"),
            status => panic!("{isin}: the index keeps no past: {status:?}"),
        };
        *counts.entry(how).or_default() += 1;
    }
    let _ = writeln!(text, "ISINs, with the steps {}:", STEPS.join(" and "));
    for (how, count) in counts {
        let share = 100.0 * count as f64 / isins.len() as f64;
        let _ = writeln!(text, "{count:>8} {share:>5.1} %  {how}");
    }
}

/// The policy of [`STEPS`] over the rows of the dump, and the step that left one.
fn oracle(mut rows: Vec<&Instrument>) -> (Vec<&Instrument>, &'static str) {
    let mut by = "only";
    for step in STEPS {
        if rows.len() == 1 {
            return (rows, by);
        }
        let kept = match step.split_once('=') {
            None => {
                rows.iter().copied().filter(|row| row["figi"] == row["compositeFIGI"]).collect()
            }
            Some((property, values)) => values
                .split('|')
                .map(|value| rows.iter().copied().filter(|row| row[property] == value).collect())
                .find(|kept: &Vec<&Instrument>| !kept.is_empty())
                .unwrap_or_default(),
        };
        if !kept.is_empty() {
            rows = kept;
        }
        by = step;
    }
    (rows, by)
}

/// Each form of a text, made from a row: how often it finds this row.
fn forms(catalogue: &Catalogue, instruments: &Instruments, folder: &Path, text: &mut String) {
    let mut asked: BTreeMap<&str, BTreeSet<(String, String)>> = BTreeMap::new();
    for row in instruments.values() {
        let mut ask = |form, text: String| {
            asked.entry(form).or_default().insert((text, row["figi"].clone()));
        };
        for (form, column) in [
            ("FIGI", "figi"),
            ("ISIN", "ID_ISIN"),
            ("CUSIP", "ID_CUSIP"),
            ("WKN", "ID_WERTPAPIER"),
            ("common code", "ID_COMMON"),
            ("OCC symbol", "OCC_SYMBOL"),
            ("ticker", "ticker"),
        ] {
            row[column].split(';').filter(|value| !value.is_empty()).for_each(|value| {
                ask(form, value.to_owned());
            });
        }
        let (ticker, code) = (&row["ticker"], &row["exchCode"]);
        if ticker.is_empty() {
            continue;
        }
        if !code.is_empty() {
            ask("ticker exchange", format!("{ticker} {code}"));
            if !row["marketSector"].is_empty() {
                let sector = &row["marketSector"];
                ask("ticker exchange sector", format!("{ticker} {code} {sector}"));
            }
        }
        if !row["micCode"].is_empty() {
            ask("MIC:ticker", format!("{}:{ticker}", row["micCode"]));
        }
        if let Some((before, class)) = ticker.split_once('/')
            && class.len() == 1
        {
            ask("class letter", format!("{before}-{class}"));
        }
    }
    for (symbol, figi) in vendor_symbols(folder) {
        if instruments.contains_key(&figi) {
            asked.entry("ticker.suffix").or_default().insert((symbol, figi));
        }
    }
    let _ = writeln!(text, "\nTexts made from rows, without steps:");
    let _ = writeln!(
        text,
        "{:<24}{:>8}{:>10}{:>11}{:>8}{:>9}",
        "form", "texts", "resolved", "ambiguous", "other", "unfound"
    );
    let bounds = ResolveBounds { candidates_max: usize::MAX, ..BOUNDS };
    for (form, asked) in asked {
        let asked: Vec<(String, String)> = asked.into_iter().collect();
        let (mut resolved, mut ambiguous, mut other, mut unfound) = (0, 0, 0, 0);
        for some in asked.chunks(TOGETHER) {
            let filters = unlisted_too();
            let vocabulary = catalogue.vocabulary();
            let texts = some.iter().map(|(text, _)| text);
            let questions: Vec<Question<'_>> =
                texts.map(|text| Question::text(text, vocabulary, Some(&filters))).collect();
            let meter = Meter::unlimited();
            let policy = Policy::default();
            let found = catalogue.resolve(&questions, &policy, bounds, &meter).unwrap();
            for ((_, figi), resolution) in some.iter().zip(found) {
                let has_it = figis(catalogue, &resolution.hits).contains(figi);
                *match resolution.status {
                    Status::Resolved(_) if has_it => &mut resolved,
                    Status::Ambiguous(_) if has_it => &mut ambiguous,
                    Status::Resolved(_) | Status::Ambiguous(_) => &mut other,
                    Status::Unknown | Status::Invalid(_) => &mut unfound,
                    status => panic!("the index keeps no past: {status:?}"),
                } += 1;
            }
        }
        let count = asked.len();
        let _ = writeln!(
            text,
            "{form:<24}{count:>8}{resolved:>10}{ambiguous:>11}{other:>8}{unfound:>9}"
        );
    }
}

/// Texts that are tickers: how many are no longer resolved when they are read without a type, since
/// they are written like a name (contract 17.14).
fn names(catalogue: &Catalogue, instruments: &Instruments, text: &mut String) {
    let capital = |word: &str| -> Option<String> {
        let is_word = word.chars().all(char::is_alphabetic) && word.chars().count() > 1;
        is_word.then(|| {
            let (first, rest) = word.split_at(word.chars().next().map_or(0, char::len_utf8));
            first.to_uppercase() + &rest.to_lowercase()
        })
    };
    let rows = || instruments.values();
    let words = |row: &Instrument| -> Vec<String> {
        row["name"].split_whitespace().filter_map(capital).collect()
    };
    let is_equity = |row: &&Instrument| row["marketSector"] == "Equity";
    let asked: [(&str, BTreeSet<String>); 6] = [
        ("ticker", rows().map(|row| row["ticker"].clone()).collect()),
        ("ticker in small letters", rows().map(|row| row["ticker"].to_lowercase()).collect()),
        ("ticker, like Nestle", rows().filter_map(|row| capital(&row["ticker"])).collect()),
        (
            "first word of a company",
            rows().filter(is_equity).filter_map(|row| words(row).first().cloned()).collect(),
        ),
        (
            "first two words",
            rows()
                .filter(is_equity)
                .filter_map(|row| Some(words(row).get(..2)?.join(" ")))
                .collect(),
        ),
        ("name", rows().map(|row| row["name"].clone()).collect()),
    ];
    let _ = writeln!(text, "\nTexts as tickers, and without a type (17.14), without steps:");
    let _ = writeln!(
        text,
        "{:<24}{:>8}{:>12}{:>10}{:>13}",
        "text", "texts", "as tickers", "resolved", "like a name"
    );
    let policy = Policy::default();
    for (form, asked) in asked {
        let asked: Vec<&str> =
            asked.iter().map(String::as_str).filter(|text| !text.is_empty()).collect();
        let vocabulary = catalogue.vocabulary();
        let filters = unlisted_too();
        let typed = resolve_all(catalogue, &policy, &asked, |text| {
            Question::of_column(text, IdType::Ticker, vocabulary, Some(&filters))
        });
        let free = resolve_all(catalogue, &policy, &asked, |text| {
            Question::text(text, vocabulary, Some(&filters))
        });
        let is_resolved = |one: &Resolution| matches!(one.status, Status::Resolved(_));
        let (mut as_tickers, mut resolved, mut like_names) = (0, 0, 0);
        for ((_, typed), (_, free)) in typed.iter().zip(&free) {
            as_tickers += usize::from(is_resolved(typed));
            resolved += usize::from(is_resolved(typed) && is_resolved(free));
            like_names += usize::from(is_resolved(typed) && free.is_name_like);
        }
        let count = asked.len();
        let _ =
            writeln!(text, "{form:<24}{count:>8}{as_tickers:>12}{resolved:>10}{like_names:>13}");
    }
}

/// The symbols of a vendor with their FIGIs, such as `VOD.L`.
fn vendor_symbols(folder: &Path) -> Vec<(String, String)> {
    let mut symbols = Vec::new();
    for file in ["equities-ASX.csv.gz", "equities-LSE.csv.gz", "equities-ICE.csv"] {
        let bytes = fs::read(folder.join("financedatabase").join(file)).unwrap();
        let unpacked: Box<dyn std::io::Read> = match file.ends_with(".gz") {
            true => Box::new(flate2::read::MultiGzDecoder::new(std::io::Cursor::new(bytes))),
            false => Box::new(std::io::Cursor::new(bytes)),
        };
        let mut reader = csv::Reader::from_reader(unpacked);
        for row in reader.deserialize::<Instrument>() {
            let row = row.unwrap();
            symbols.push((row["symbol"].clone(), row["figi"].clone()));
        }
    }
    symbols
}

fn resolve_all<'a>(
    catalogue: &Catalogue,
    policy: &Policy,
    texts: &[&'a str],
    question: impl Fn(&'a str) -> Question<'a>,
) -> Vec<(&'a str, Resolution)> {
    let mut all = Vec::with_capacity(texts.len());
    for some in texts.chunks(TOGETHER) {
        let questions: Vec<Question<'_>> = some.iter().map(|text| question(text)).collect();
        let found = catalogue.resolve(&questions, policy, BOUNDS, &Meter::unlimited()).unwrap();
        all.extend(some.iter().copied().zip(found));
    }
    all
}

fn figis(catalogue: &Catalogue, hits: &[Hit]) -> Vec<String> {
    hits.iter().map(|hit| catalogue.figi(*hit).to_string()).collect()
}

/// Filters that unlisted equities pass too.
fn unlisted_too() -> Arc<Filters> {
    Arc::new(Filters { include_unlisted_equities: true, ..Filters::default() })
}
