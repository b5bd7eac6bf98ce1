//! The column `importance`: from a dump or from `--enrich` into an index, and out of it again.

use std::fmt::Write as _;
use std::fs;

use figdex_index::{Catalogue, Error, Importance, Manifest};
use figdex_ingest::{Build, GuardLimits, Input};
use serde_json::{Value, json};

use crate::support::{Server, build_of, figi, figis, ingest};

const SHARES: &str = "figi,shareClassFIGI,name,marketSector,securityType2\n";

/// Three listings of a share class and one of another, of the same name.
fn shares() -> String {
    let row = |number, class: u32| {
        format!("{},{},ZEBRA,Equity,Common Stock\n", figi(number), figi(900 + class))
    };
    format!("{SHARES}{}{}{}{}", row(0, 0), row(1, 1), row(2, 1), row(3, 1))
}

fn memory(name: &'static str, text: &str) -> Input {
    Input::Memory(name, text.as_bytes().into())
}

/// contract 10.8, 16.5: with a columns file the words of a vendor are importances, which all listings
/// of a share class get. No answer of the contract shows them.
#[test]
fn enrich_gives_all_listings_of_a_share_class_their_importance() {
    let desk = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| fs::write(desk.path().join(name), text).unwrap();
    file("shares.csv", &shares());
    file("caps.csv", &format!("figi,shareClassFIGI,marketCap\n,{},Mega Cap\n", figi(901)));
    file(
        "caps.toml",
        "own-names = true\n[columns]\n\
         importance = { from = 'marketCap', values = { 'Mega Cap' = '6', 'Nano Cap' = '1' } }\n",
    );
    let (code, printed, error) = ingest(
        desk.path(),
        &[
            "build",
            "shares.csv",
            "--enrich",
            "caps.csv",
            "--enrich-columns",
            "caps.toml",
            "--index",
            "index",
        ],
    );
    assert_eq!(code, 0, "{error}");
    assert!(printed.contains("fields filled by --enrich\n           3  importance\n"), "{printed}");
    assert_eq!(ingest(desk.path(), &["verify", "index"]).0, 0);
    let (_, printed, _) = ingest(desk.path(), &["inspect", "index"]);
    assert!(printed.contains("             3   75.00 %  importance\n"), "{printed}");
    let (_, exported, _) = ingest(desk.path(), &["export", "index"]);
    let server = Server::of_dump(&exported);
    let found = server.post("/v3/search", r#"{"query": "zebra"}"#).body;
    assert!(!found.contains("importance"), "{found}");
    // The best listing of each security, then the others.
    let found: Value = serde_json::from_str(&found).unwrap();
    assert_eq!(figis(&found), [1, 0, 2, 3].map(figi));
    let look = |number: u32| -> Value {
        let answer = server.request("GET", &format!("/instruments/{}", figi(number)), &[], "");
        serde_json::from_str(&answer.body).unwrap()
    };
    assert_eq!(look(3)["instrument"]["importance"], 6.0);
    assert_eq!(look(0)["instrument"].get("importance"), None);
    for path in ["/v3/filter", "/v3/mapping"] {
        let body = match path {
            "/v3/filter" => json!({"query": "zebra"}),
            _ => json!([{"idType": "ID_BB_GLOBAL", "idValue": figi(3)}]),
        };
        let answer = server.post(path, &body.to_string()).body;
        assert!(answer.contains(&figi(3)) && !answer.contains("importance"), "{answer}");
    }
}

/// An index is built again from its export with the same importances, which `--max-changed` does not
/// compare.
#[test]
fn importances_survive_export_and_are_not_compared() {
    let folder = tempfile::tempdir().unwrap();
    let index = folder.path().join("index");
    let numbers = ["0", "0.1", "3100000000000.25", "1e-300", "", "7"];
    let dump = |numbers: &[&str]| {
        let rows = numbers.iter().zip(0..);
        let rows = rows.map(|(number, place)| format!("{},ZEBRA,{number}\n", figi(place)));
        format!("figi,name,importance\n{}", rows.collect::<String>())
    };
    build_of(vec![memory("dump", &dump(&numbers))], &index).run(&mut |_| {}).unwrap();
    let read = || {
        let mut read = Vec::new();
        let catalogue = Catalogue::open(&index).unwrap();
        let each = catalogue.instruments(|it| {
            read.push(it.importance.map(Importance::number));
            Ok::<_, Error>(())
        });
        each.unwrap();
        read
    };
    let given = numbers.map(|number| number.parse().ok());
    assert_eq!(read(), given);
    for layout in [&[][..], &["--format", "jsonl"]] {
        let arguments = [&["export", "index"][..], layout].concat();
        let (code, exported, error) = ingest(folder.path(), &arguments);
        assert_eq!(code, 0, "{error}");
        build_of(vec![memory("export", &exported)], &index).run(&mut |_| {}).unwrap();
        assert_eq!(read(), given);
    }
    let guard = GuardLimits { changed: Some("0%".parse().unwrap()), ..GuardLimits::default() };
    let others = dump(&["5", "", "4", "3", "2", "1"]);
    let build = Build { guard, ..build_of(vec![memory("dump", &others)], &index) };
    assert_eq!(build.run(&mut |_| {}).unwrap().comparison.unwrap().changed, 0);
}

/// More than 65,535 different importances lose their last bits, and the build says so. The order
/// stays, and an index of its export is the same.
#[test]
fn too_many_importances_are_rounded() {
    const COUNT: u32 = 66_000;
    let folder = tempfile::tempdir().unwrap();
    let index = folder.path().join("index");
    let mut dump = "figi,importance\n".to_owned();
    for number in 0..COUNT {
        writeln!(dump, "{},{}", figi(number), 1_000_000 + 7 * u64::from(number)).unwrap();
    }
    let read = || {
        let mut read = Vec::with_capacity(COUNT as usize);
        let each = Catalogue::open(&index).unwrap().instruments(|it| {
            read.push(it.importance.unwrap().number());
            Ok::<_, Error>(())
        });
        each.unwrap();
        read
    };
    let report = build_of(vec![memory("dump", &dump)], &index).run(&mut |_| {}).unwrap();
    let [warning] = &report.warnings[..] else { panic!("{:?}", report.warnings) };
    assert!(warning.starts_with("there are more than 65,535 different importances"), "{warning}");
    assert!(Manifest::published(&index).unwrap().importance_bits.is_some());
    let rounded = read();
    assert!(rounded.is_sorted());
    for (rounded, number) in rounded.iter().zip(0..) {
        let given = 1e6 + 7.0 * f64::from(number);
        assert!(*rounded <= given && given - rounded < given / 10_000.0, "{given} {rounded}");
    }
    let (_, exported, _) = ingest(folder.path(), &["export", "index"]);
    let again = build_of(vec![memory("export", &exported)], &index).run(&mut |_| {}).unwrap();
    assert!(again.warnings.is_empty(), "{:?}", again.warnings);
    assert!(read() == rounded);
}
