//! `figdex-ingest build --date`, `--keep-changes` and `--after-publish`: the day of the dumps, the
//! file of the changes, and the command that runs after a publication.

use std::fs;
use std::path::Path;

use figdex_index::{Changed, Date, Error, GenerationId, Manifest, Net, change_file, changes_kept};
use serde_json::Value;

use crate::support::{decay, figi, ingest};

/// A dump of a hundred instruments whose names end with a text, except `absent` of them.
fn dump(folder: &Path, different: u32, absent: u32) {
    let name = |number: u32| if number < different { "OTHER" } else { "SAME" };
    let rows = (absent..100).map(|number| format!("{},{} {number}\n", figi(number), name(number)));
    fs::write(folder.join("dump.csv"), format!("figi,name\n{}", rows.collect::<String>())).unwrap();
}

fn build(folder: &Path, flags: &[&str]) -> (i32, String, String) {
    let mut arguments = vec!["build", "dump.csv", "--index", "index"];
    arguments.extend(flags);
    ingest(folder, &arguments)
}

/// The report that a build wrote to `report.json`.
fn written_report(folder: &Path) -> Value {
    let text = fs::read_to_string(folder.join("report.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

fn published(folder: &Path) -> Manifest {
    Manifest::published(&folder.join("index")).unwrap()
}

fn net(folder: &Path, since: GenerationId) -> Vec<Changed> {
    let index = folder.join("index");
    let net = Net::between(&index, since, published(folder).id).unwrap();
    let mut all = Vec::new();
    net.for_each(|changed| {
        all.push(changed);
        Ok::<_, Error>(())
    })
    .unwrap();
    all
}

/// The day is in the manifest, in the report and in `inspect`. It never goes back.
#[test]
fn the_day_of_the_dumps() {
    let desk = tempfile::tempdir().unwrap();
    let folder = desk.path();
    dump(folder, 0, 0);
    let (code, report, _) = build(folder, &["--date", "2020-02-29", "--report", "report.json"]);
    assert_eq!(code, 0);
    let first = published(folder);
    assert_eq!(first.date, Date::parse("2020-02-29").unwrap());
    let line = format!("its day is 2020-02-29, its token {}\n", first.id);
    assert!(report.contains(&line), "{report}");
    let json = written_report(folder);
    assert_eq!(json["published"]["date"], "2020-02-29");
    assert_eq!(json["published"]["token"], first.id.to_string());
    assert_eq!(json["published"]["changes"], Value::Null);
    let inspected = ingest(folder, &["inspect", "index"]).1;
    assert!(inspected.contains("100 instruments of 2020-02-29") && inspected.contains(&line[27..]));

    let (code, _, error) = build(folder, &["--date", "2020-02-28"]);
    assert_eq!(code, 1);
    assert!(error.contains("--date 2020-02-28 is before 2020-02-29, the day of"), "{error}");
    assert_eq!(published(folder), first, "nothing is published");
    // The same dumps under another day, and a day in the future, are probably mistakes.
    let (code, report, _) = build(folder, &["--date", "2020-03-01"]);
    assert!(code == 0 && report.contains("the dumps are the same as those of"), "{report}");
    let (code, report, _) = build(folder, &["--date", "9999-01-01"]);
    assert!(code == 0 && report.contains("--date 9999-01-01 is in the future"), "{report}");
    // After a rollback the day is that of the generation that was published again.
    assert_eq!(ingest(folder, &["rollback", "index"]).0, 0);
    dump(folder, 1, 0);
    let (code, report, _) = build(folder, &["--date", "2020-03-01"]);
    assert!(code == 0 && !report.contains("warning"), "{report}");
    assert_eq!(published(folder).date.to_string(), "2020-03-01");
    // Without a day it is that of the build.
    let before = Date::today();
    assert_eq!(build(folder, &[]).0, 0);
    assert!((before..=Date::today()).contains(&published(folder).date));
    for wrong in ["2020-02-30", "yesterday", "20200301"] {
        let (code, _, error) = build(folder, &["--date", wrong]);
        assert!(code == 2 && error.contains("YYYY-MM-DD, such as 2026-11-20"), "{error}");
    }
}

/// The report says what has changed, and the file has it.
#[test]
fn changes_are_kept() {
    let desk = tempfile::tempdir().unwrap();
    let folder = desk.path();
    dump(folder, 0, 0);
    let keep = ["--keep-changes", "90d"];
    let (code, report, _) = build(folder, &keep);
    assert!(code == 0 && !report.contains("changes:"), "nothing was published before: {report}");
    let first = published(folder).id;
    dump(folder, 4, 3);
    let (code, report, _) = build(folder, &[&keep[..], &["--report", "report.json"]].concat());
    let line = "changes: 0 new, 3 gone, 1 different (0 of them only in importance or writing)";
    assert!(code == 0 && report.contains(line), "{report}");
    let second = published(folder);
    assert_eq!(second.parent, Some(first));
    let json = written_report(folder);
    let changes = &json["published"]["changes"];
    assert_eq!((&changes["deleted"], &changes["is_marker"]), (&3.into(), &false.into()));
    assert!(folder.join(changes["file"].as_str().unwrap()).is_file());
    assert_eq!(net(folder, first).len(), 4);
    assert_eq!(ingest(folder, &["verify", "index"]).0, 0);
    // The same dump again changes nothing, and after a rollback the way leads back.
    assert_eq!(build(folder, &keep).0, 0);
    assert_eq!(net(folder, second.id), []);
    assert_eq!(net(folder, first).len(), 4);
    assert_eq!(ingest(folder, &["rollback", "index"]).0, 0);
    assert_eq!(published(folder).id, second.id);
    assert_eq!(net(folder, first).len(), 4);

    // A build that keeps none says so, since the way ends there.
    let (code, report, _) = build(folder, &[]);
    assert!(code == 0 && report.contains("and this one does not"), "{report}");
    let (code, report, _) = build(folder, &[]);
    assert!(code == 0 && !report.contains("warning"), "it is said once: {report}");
    let index = folder.join("index");
    assert!(Net::between(&index, first, published(folder).id).is_err());
    // A damaged file is found.
    let kept = changes_kept(&index).unwrap();
    let path = change_file(&index, kept[0]);
    let mut bytes = fs::read(&path).unwrap();
    bytes[9] ^= 1;
    fs::write(&path, bytes).unwrap();
    let (code, _, error) = ingest(folder, &["verify", "index"]);
    assert!(code == 1 && error.contains(".changes is damaged"), "{error}");
    assert!(error.contains("remove this file: its readers export again"), "{error}");
    fs::copy(change_file(&index, kept[1]), &path).unwrap();
    let (code, _, error) = ingest(folder, &["verify", "index"]);
    assert!(code == 1 && error.contains(".changes is of another generation"), "{error}");
}

/// More than half of the instruments: the file only says so.
#[test]
fn too_many_changes_are_marked() {
    let desk = tempfile::tempdir().unwrap();
    let folder = desk.path();
    let build = |different| {
        dump(folder, different, 0);
        let (code, report, _) = build(folder, &["--keep-changes", "1d"]);
        assert_eq!(code, 0);
        (published(folder).id, report)
    };
    let (first, _) = build(0);
    let (second, report) = build(50);
    assert!(report.contains("50 different"), "{report}");
    let (third, report) = build(0);
    assert!(report.contains("50 different"), "{report}");
    let (_, report) = build(51);
    assert!(report.contains("more than half of the instruments have changed"), "{report}");
    let index = folder.join("index");
    for since in [first, second, third] {
        let error = Net::between(&index, since, published(folder).id).err().unwrap();
        assert!(error.to_string().starts_with("most instruments have changed since"), "{error}");
    }
}

/// Letters and importances are not half of the instruments, whatever their number.
#[test]
fn cosmetic_changes_are_kept() {
    let desk = tempfile::tempdir().unwrap();
    let folder = desk.path();
    let first = {
        dump(folder, 0, 0);
        assert_eq!(build(folder, &["--keep-changes", "1d"]).0, 0);
        published(folder).id
    };
    let rows = (0..100).map(|number| format!("{},Same {number},{number}\n", figi(number)));
    let text = format!("figi,name,importance\n{}", rows.collect::<String>());
    fs::write(folder.join("dump.csv"), text).unwrap();
    let (_, report, _) = build(folder, &["--keep-changes", "1d"]);
    assert!(report.contains("100 different (100 of them only"), "{report}");
    assert_eq!(net(folder, first).len(), 100);
}

/// The command knows what was published. When it fails, the message says that the index is there.
#[test]
fn a_command_after_the_publication() {
    let desk = tempfile::tempdir().unwrap();
    let folder = desk.path();
    let command = "env | grep ^FIGDEX_PUBLISHED_ | sort > published";
    for (different, keep) in [(0, None), (2, Some("90d")), (3, Some("90d"))] {
        dump(folder, different, different);
        let keep = keep.map(|days| ["--keep-changes", days]);
        let flags = ["--quiet", "--date", "2021-01-01", "--after-publish", command];
        let flags = [&flags[..], keep.as_ref().map_or(&[], |keep| &keep[..])].concat();
        assert_eq!(build(folder, &flags), (0, String::new(), String::new()));
        let manifest = published(folder);
        let mut expected = vec![
            "DATE=2021-01-01".to_owned(),
            format!("GENERATION={}", manifest.generation),
            "INDEX=index".to_owned(),
            format!("INSTRUMENTS={}", manifest.instruments),
            format!("TOKEN={}", manifest.id),
        ];
        if keep.is_some() {
            let gone = if different == 2 { 2 } else { 1 };
            let file = change_file(&folder.join("index"), manifest.id);
            expected.extend([
                format!("CHANGES={}", file.display()),
                format!("DELETED={gone}"),
                "INSERTED=0".to_owned(),
                "UPDATED=0".to_owned(),
            ]);
        }
        expected.sort_unstable();
        let expected: String =
            expected.iter().map(|line| format!("FIGDEX_PUBLISHED_{line}\n")).collect();
        assert_eq!(fs::read_to_string(folder.join("published")).unwrap(), expected);
    }
    let (code, _, error) = build(folder, &["--quiet", "--after-publish", "exit 3"]);
    assert_eq!(code, 1);
    let said = "the new index is published, but the command of --after-publish failed (exit status";
    assert!(error.contains(said) && error.contains('3'), "{error}");
    // A build that publishes nothing runs no command.
    fs::remove_file(folder.join("published")).unwrap();
    fs::write(folder.join("dump.csv"), "figi\n").unwrap();
    assert_eq!(build(folder, &["--after-publish", command]).0, 1);
    assert!(!folder.join("published").exists());
}

/// An export can say of which generation it is.
#[test]
fn the_token_of_an_export() {
    let desk = tempfile::tempdir().unwrap();
    let folder = desk.path();
    dump(folder, 0, 0);
    assert_eq!(build(folder, &[]).0, 0);
    let export = |flags: &[&str]| ingest(folder, &[&["export", "index"], flags].concat());
    assert_eq!(export(&["--out", "out.csv", "--token", "token"]).0, 0);
    let token = fs::read_to_string(folder.join("token")).unwrap();
    assert_eq!(token, format!("{}\n", published(folder).id));
    let (code, _, error) = export(&["--out", "same", "--token", "same"]);
    assert!(code == 1 && error.contains("--token"), "{error}");
}

/// The differences of two indexes, of an index and one of its generations, and of none.
#[test]
fn differences_of_two_indexes() {
    let desk = tempfile::tempdir().unwrap();
    let folder = desk.path();
    dump(folder, 0, 0);
    assert_eq!(build(folder, &[]).0, 0);
    dump(folder, 2, 1);
    assert_eq!(build(folder, &[]).0, 0);
    let diff = |arguments: &[&str]| ingest(folder, &[&["diff"], arguments].concat());
    let (code, printed, note) = diff(&["index/generation-000001", "index"]);
    assert_eq!(code, 0);
    let built_at = published(folder).built_at;
    let row = |kind: &str, number: u32, name: &str| {
        format!("{kind},2,{built_at},false,{},,,,{name} {number},", figi(number))
    };
    let expected = [
        row("delete", 0, "SAME"),
        row("update_preimage", 1, "SAME"),
        row("update_postimage", 1, "OTHER"),
    ];
    let mut lines = printed.lines();
    let heading = "_change_type,_commit_version,_commit_timestamp,_cosmetic,figi,compositeFIGI,";
    assert!(lines.next().unwrap().starts_with(heading), "{printed}");
    for (line, expected) in lines.by_ref().zip(&expected) {
        assert!(line.starts_with(expected), "{line} {expected}");
    }
    assert_eq!(lines.count(), 0);
    let said = "0 new, 1 gone, 1 different (0 of them only in importance or writing)\n";
    assert_eq!(note, said);
    let flags = ["--format", "jsonl", "--out", "diff.jsonl"];
    let (code, printed, _) = diff(&[&["index", "index/generation-000001"], &flags[..]].concat());
    assert_eq!((code, &*printed), (0, ""));
    let text = fs::read_to_string(folder.join("diff.jsonl")).unwrap();
    let first: Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
    assert_eq!((&first["_change_type"], &first["_commit_version"]), (&"insert".into(), &1.into()));
    assert_eq!(first["name"], "SAME 0");
    assert_eq!(text.lines().count(), 3);
    let (code, printed, note) = diff(&["index", "index"]);
    assert_eq!((code, printed.lines().count()), (0, 1), "{note}");
    let (code, _, error) = diff(&["index", "nowhere"]);
    assert!(code == 1 && error.contains("nowhere"), "{error}");
}

/// A published generation that cannot be read keeps no build from publishing the next one.
#[test]
fn a_damaged_index_is_built_again() {
    let desk = tempfile::tempdir().unwrap();
    let folder = desk.path();
    dump(folder, 0, 0);
    assert_eq!(build(folder, &["--keep-changes", "1d"]).0, 0);
    decay(&folder.join("index"), 1);
    let kept = "warning: the changes are not kept, so that";
    let (code, report, _) = build(folder, &["--keep-changes", "1d"]);
    assert!(code == 0 && report.contains(kept), "{report}");
    assert_eq!(changes_kept(&folder.join("index")).unwrap(), []);
    assert!(!folder.join("index/changes/next.new").exists());
    assert_eq!(published(folder).generation, 2);
    // A generation of which a file is missing is damaged too.
    let manifest = folder.join("index/generation-000002/part-000/rows.texts");
    fs::remove_file(manifest).unwrap();
    let (code, report, _) = build(folder, &["--keep-changes", "1d"]);
    assert!(code == 0 && report.contains(kept) && report.contains("rows.texts"), "{report}");
    // Where no file can be written, nothing is published.
    fs::remove_dir_all(folder.join("index/changes")).ok();
    fs::write(folder.join("index/changes"), "").unwrap();
    let (code, _, error) = build(folder, &["--keep-changes", "1d"]);
    assert!(code == 1 && error.contains("nothing is published: "), "{error}");
    assert!(error.contains("index/changes: "), "{error}");
    assert_eq!(published(folder).generation, 3);
}
