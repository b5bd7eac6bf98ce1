//! Files that the commands write: never one that they read, by whatever name, and always the whole
//! file.

use std::fs::{self, File};
use std::io::Write as _;
use std::os::unix::fs::{FileTypeExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use serde_json::Value;

use crate::support::process::{PATIENCE, figdex, run};
use crate::support::{ingest, program};

/// One row is an instrument, the other is rejected.
const DUMP: &str = "figi,ticker\nBBG000BLNNH6,IBM\nBBG000BLNNH5,WRONG\n";
const GOOD: &str = "figi,ticker\nBBG000BLNNH6,IBM\n";

/// A folder with every kind of file that a build reads.
fn desk() -> tempfile::TempDir {
    let desk = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| fs::write(desk.path().join(name), text).unwrap();
    for folder in ["lists", "dumps", "elsewhere"] {
        fs::create_dir(desk.path().join(folder)).unwrap();
    }
    write("dump.csv", DUMP);
    write("dumps/day.csv", DUMP);
    write("more.csv", "ID_ISIN,name\nUS4592001014,IBM\n");
    write("exchanges.csv", "mic,exchCode\nXNYS,UN\n");
    write("lists/exchCode.json", r#"{"values":["UN"]}"#);
    let columns = "format = 'delimited'\n[columns]\nfigi = 'figi'\nticker = 'ticker'\n";
    write("columns.toml", columns);
    desk
}

/// Every file of a folder with its content, and every link with its target.
fn files(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_symlink() {
            found.push((
                path.clone(),
                fs::read_link(&path).unwrap().into_os_string().into_encoded_bytes(),
            ));
        } else if path.is_dir() {
            found.extend(files(&path));
        } else {
            found.push((path.clone(), fs::read(&path).unwrap()));
        }
    }
    found.sort();
    found
}

/// Other names of a file: relative, absolute, through a folder, through a link to its folder, a
/// symbolic link, a link to a link, and a hard link.
fn other_names(folder: &Path, file: &str) -> Vec<String> {
    let path = folder.join(file);
    let (above, name) = (path.parent().unwrap(), path.file_name().unwrap().to_str().unwrap());
    symlink(above, folder.join("link-to-folder")).unwrap();
    symlink(&path, folder.join("link")).unwrap();
    symlink("link", folder.join("link-to-link")).unwrap();
    fs::hard_link(&path, folder.join("hard-link")).unwrap();
    let mut names = vec![file.to_owned(), format!("elsewhere/../{file}")];
    names.push(path.to_str().unwrap().to_owned());
    names.push(format!("link-to-folder/{name}"));
    names.extend(["link", "link-to-link", "hard-link"].map(str::to_owned));
    names
}

/// A build refuses every file that it reads, by every name, as every file that it writes. It refuses
/// before it writes anything, and each file stays unchanged.
#[test]
fn a_build_destroys_nothing_that_it_reads() {
    let arguments = [
        "build",
        "dump.csv",
        "--index",
        "index",
        "--enrich",
        "more.csv",
        "--exchanges",
        "exchanges.csv",
        "--values",
        "lists",
        "--columns",
        "columns.toml",
        "--max-rejects",
        "1",
    ];
    for input in ["dump.csv", "more.csv", "exchanges.csv", "lists/exchCode.json", "columns.toml"] {
        let desk = desk();
        let names = other_names(desk.path(), input);
        let before = files(desk.path());
        for flag in ["--rejects", "--report"] {
            for name in &names {
                let (code, _, error) =
                    ingest(desk.path(), &[&arguments[..], &[flag, name]].concat());
                let case = format!("{flag} {name}: {error}");
                assert!(files(desk.path()) == before, "{case}");
                assert_eq!(code, 1, "{case}");
                assert!(error.contains("are the same file"), "{case}");
                assert!(error.contains(flag), "{case}");
            }
        }
    }
    let desk = desk();
    let (code, _, error) = ingest(desk.path(), &arguments);
    assert_eq!(code, 0, "{error}");
}

/// The same for standard input, under its own names and under the name of its file.
#[test]
fn a_build_destroys_no_standard_input() {
    for (input, output) in [
        ("-", "dump.csv"),
        ("/dev/stdin", "dump.csv"),
        ("dump.csv", "/proc/self/fd/0"),
        ("-", "/proc/self/fd/0"),
    ] {
        for flag in ["--rejects", "--report"] {
            let desk = desk();
            let before = files(desk.path());
            let mut command = Command::new(program());
            command.current_dir(desk.path()).args(["build", input, "--index", "index"]);
            command.stdin(File::open(desk.path().join("dump.csv")).unwrap());
            let (code, _, error) = run(command.args(["--max-rejects", "1", flag, output]));
            assert!(files(desk.path()) == before, "{input} {flag} {output}: {error}");
            assert_eq!(code, Some(1), "{input} {flag} {output}");
            assert!(error.contains("are the same file"), "{input} {flag} {output}: {error}");
        }
    }
    // A report on standard output, which is redirected into the dump.
    let desk = desk();
    let before = files(desk.path());
    let mut command = Command::new(program());
    command.current_dir(desk.path()).args(["build", "dump.csv", "--index", "index"]);
    let dump = File::options().append(true).open(desk.path().join("dump.csv")).unwrap();
    let output = command.args(["--max-rejects", "1"]).stdout(dump).output().unwrap();
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(files(desk.path()) == before, "{error}");
    assert!(error.contains("standard output and the input dump.csv are the same file"), "{error}");
}

/// A FIFO that is the input is refused as an output.
#[test]
fn a_pipe_is_not_both_ends() {
    let desk = desk();
    assert!(Command::new("mkfifo").arg(desk.path().join("pipe")).status().unwrap().success());
    for flag in ["--rejects", "--report"] {
        let (code, _, error) =
            ingest(desk.path(), &["build", "pipe", "--index", "index", flag, "pipe"]);
        assert_eq!(code, 1);
        assert!(error.contains("the input pipe are the same file"), "{error}");
    }
    assert!(!desk.path().join("index").exists());
}

/// An output in a folder of dumps is refused, because the next build would read it; so is an output
/// in an index folder, because its files belong to the index, and a server may have them open.
#[test]
fn outputs_lie_neither_among_dumps_nor_in_an_index() {
    let desk = desk();
    let run = |arguments: &str| ingest(desk.path(), &arguments.split(' ').collect::<Vec<_>>());
    assert_eq!(run("build dump.csv --index index --max-rejects 1").0, 0);
    fs::remove_file(desk.path().join("index.rejects.csv")).unwrap();
    symlink("index", desk.path().join("link-to-index")).unwrap();
    fs::create_dir(desk.path().join("index/own")).unwrap();
    fs::write(desk.path().join("index/own/dump.csv"), GOOD).unwrap();
    let before = files(desk.path());
    let mut cases = Vec::new();
    for flag in ["--rejects", "--report"] {
        for output in ["dumps/new.csv", "dumps/../dumps/day.csv"] {
            cases.push(format!("build dumps --index index --max-rejects 1 {flag} {output}"));
        }
        for place in [
            "index/CURRENT",
            "index/LOCK",
            "index/new",
            "index/generation-000001/manifest.toml",
            "link-to-index/CURRENT",
        ] {
            cases.push(format!("build dump.csv --index index --max-rejects 1 {flag} {place}"));
            // The folder is the index of another server.
            cases.push(format!("build dump.csv --index other --max-rejects 1 {flag} {place}"));
        }
        cases.push(format!("build dump.csv --index other --max-rejects 1 {flag} other/new"));
        cases.push(format!("build dump.csv --index other --max-rejects 1 {flag} other"));
    }
    for place in ["index/CURRENT", "link-to-index/generation-000001/manifest.toml", "index/new"] {
        cases.push(format!("export index --out {place}"));
        cases.push(format!("generate --count 1 --seed 1 --out {place}"));
    }
    cases.push("export index --values index".to_owned());
    cases.push("export link-to-index --values index/new".to_owned());
    // An input that the build would remove together with a generation.
    cases.push("build index/own/dump.csv --index index".to_owned());
    cases.push("build index/own --index index".to_owned());
    cases.push("build dumps --index dumps".to_owned());
    for case in cases {
        let (code, _, error) = run(&case);
        assert!(files(desk.path()) == before, "{case}: {error}");
        assert_eq!(code, 1, "{case}: {error}");
        let reason = ["lies in", "are the same file"].into_iter().find(|text| error.contains(text));
        assert!(reason.is_some(), "{case}: {error}");
    }
    assert_eq!(run("build dumps --index index --max-rejects 1 --rejects dumps.rejects.csv").0, 0);
}

/// Two outputs must be different files, also when neither exists yet.
#[test]
fn outputs_differ_from_each_other() {
    let desk = desk();
    symlink("absent.csv", desk.path().join("dangling")).unwrap();
    symlink("elsewhere", desk.path().join("link-to-folder")).unwrap();
    let build = ["build", "dump.csv", "--index", "index", "--max-rejects", "1"];
    for [first, second] in [
        ["absent.csv", "absent.csv"],
        ["absent.csv", "./elsewhere/../absent.csv"],
        ["absent.csv", "dangling"],
        ["elsewhere/absent.csv", "link-to-folder/absent.csv"],
        ["index.rejects.csv", "index.rejects.csv"],
    ] {
        let flags = ["--rejects", first, "--report", second];
        let (code, _, error) = ingest(desk.path(), &[&build[..], &flags].concat());
        assert_eq!(code, 1, "{flags:?}");
        assert!(error.contains("are the same file"), "{flags:?}: {error}");
        assert!(!desk.path().join("index").exists(), "{flags:?}");
    }
    assert_eq!(ingest(desk.path(), &build).0, 0);
    let export = ["export", "index", "--out", "lists/exchCode.json", "--values", "lists"];
    let (code, _, error) = ingest(desk.path(), &export);
    assert!(code == 1 && error.contains("are the same file"), "{error}");
}

/// An earlier rejects file stays until a build has a new one: neither a failed nor a killed build
/// removes it. The report is that of the last build that began. The next build removes what a killed
/// one left.
#[test]
fn an_earlier_rejects_file_stays_until_there_is_another() {
    let desk = desk();
    let folder = desk.path();
    let flags = ["--index", "index", "--rejects", "r.csv", "--report", "r.json"];
    let build = |input: &str, more: &[&str]| {
        ingest(folder, &[&["build", input], &flags[..], more].concat()).0
    };
    let both = || ["r.csv", "r.json"].map(|name| fs::read(folder.join(name)).ok());
    assert_eq!(build("dump.csv", &["--max-rejects", "1"]), 0);
    let first = both();
    assert!(first.iter().all(Option::is_some));

    fs::write(folder.join("broken.csv"), format!("{DUMP}\"")).unwrap();
    assert_eq!(build("broken.csv", &["--max-rejects", "9"]), 1);
    let result = || -> Value {
        serde_json::from_slice::<Value>(&both()[1].clone().unwrap()).unwrap()["result"].clone()
    };
    assert!(both()[0] == first[0] && result() == "failed", "a build that fails");

    let pipe = folder.join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let mut command = Command::new(program());
    command.current_dir(folder).args(["build", "pipe"]).args(flags).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    // The pipe is opened for reading and writing, so that opening does not wait for a reader. It
    // gets more rows than the build reads ahead to recognise the format, and all are rejected.
    let mut pipe = File::options().read(true).write(true).open(&pipe).unwrap();
    let new = folder.join(".r.csv.new");
    let start = Instant::now();
    pipe.write_all(b"figi,ticker\n").unwrap();
    while !new.exists() {
        assert!(start.elapsed() < PATIENCE, "no row was rejected");
        pipe.write_all(b"BBG000BLNNH5,WRONG\n".repeat(200).as_slice()).unwrap();
    }
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(both()[0] == first[0] && result() == "running", "a build that is killed");
    assert!(new.exists());

    // This build fails because of its rows, so it writes a new rejects file and report.
    assert_eq!(build("dump.csv", &["--strict"]), 1);
    let [rejects, report] = both();
    assert_eq!(rejects, first[0]);
    let report: Value = serde_json::from_slice(&report.unwrap()).unwrap();
    assert!(report["published"].is_null());
    assert!(!new.exists());

    fs::write(folder.join("good.csv"), GOOD).unwrap();
    assert_eq!(build("good.csv", &[]), 0);
    let [rejects, report] = both();
    assert_eq!(rejects, None, "it would hold another build's rows");
    let report: Value = serde_json::from_slice(&report.unwrap()).unwrap();
    assert_eq!(report["published"]["generation"], 2);
}

/// A link still points to the written file, whose mode stays; a pipe is written into.
#[test]
fn links_and_pipes_stay() {
    use std::os::unix::fs::PermissionsExt as _;
    let desk = desk();
    let folder = desk.path();
    let kept = folder.join("elsewhere/report.json");
    fs::write(&kept, "old").unwrap();
    fs::set_permissions(&kept, fs::Permissions::from_mode(0o604)).unwrap();
    symlink(&kept, folder.join("report.json")).unwrap();
    let build = ["build", "dump.csv", "--index", "index", "--max-rejects", "1", "--report"];
    assert_eq!(ingest(folder, &[&build[..], &["report.json"]].concat()).0, 0);
    assert!(folder.join("report.json").is_symlink());
    assert!(fs::read_to_string(&kept).unwrap().starts_with("{\n"));
    assert_eq!(fs::metadata(&kept).unwrap().permissions().mode() & 0o777, 0o604);

    let (code, printed, error) =
        ingest(folder, &[&build[..], &["/proc/self/fd/1", "--quiet"]].concat());
    assert_eq!(code, 0, "{error}");
    let report: Value = serde_json::from_str(&printed).unwrap();
    assert_eq!(report["published"]["generation"], 2);
    // The file that standard output is redirected into stays that file, and loses nothing.
    let printed = folder.join("printed");
    fs::write(&printed, "before\n").unwrap();
    let mut command = Command::new(program());
    let out = File::options().append(true).open(&printed).unwrap();
    command.current_dir(folder).args(build).arg("/proc/self/fd/1").stdout(out);
    assert!(command.status().unwrap().success());
    let text = fs::read_to_string(&printed).unwrap();
    assert!(text.starts_with("before\n{\n") && text.contains("published generation 3"), "{text}");

    // A failed export leaves no new file, and the earlier file stays.
    fs::write(folder.join("alias.jsonl"), r#"{"figi":"BBG000BLNNH6","alias":["a;b"]}"#).unwrap();
    assert_eq!(ingest(folder, &["build", "alias.jsonl", "--index", "index"]).0, 0);
    fs::write(folder.join("elsewhere/export.csv"), "earlier").unwrap();
    let (code, _, error) = ingest(folder, &["export", "index", "--out", "elsewhere/export.csv"]);
    assert!(code == 1 && error.contains("of BBG000BLNNH6 contains ';'"), "{error}");
    assert_eq!(fs::read_to_string(folder.join("elsewhere/export.csv")).unwrap(), "earlier");
    assert_eq!(fs::read_dir(folder.join("elsewhere")).unwrap().count(), 2);
}

/// `figdex keys` replaces no settings file, and writes nothing into an index.
#[test]
fn keys_destroy_no_settings() {
    let desk = desk();
    let folder = desk.path();
    assert_eq!(
        ingest(folder, &["build", "dump.csv", "--index", "index", "--max-rejects", "1"]).0,
        0
    );
    // As installed, the settings file is only comments, so it reads as a keys file without keys.
    fs::write(folder.join("figdex.toml"), "# Settings.\n#listen = \"0.0.0.0:80\"\n").unwrap();
    fs::write(folder.join("keys.toml.new"), "# Settings.\n").unwrap();
    let names = other_names(folder, "figdex.toml");
    let before = files(folder);
    let refused = |config: &str, keys: &str, reason: &str| {
        let mut command = figdex();
        command.current_dir(folder).args(["keys", "add", "desk", "--config", config]);
        let (code, _, error) = run(command.args(["--keys", keys]));
        assert!(files(folder) == before, "{config} {keys}: {error}");
        assert_eq!(code, Some(1), "{config} {keys}");
        assert!(error.contains(reason), "{config} {keys}: {error}");
    };
    for name in &names {
        refused("figdex.toml", name, "are the same file");
    }
    refused("keys.toml.new", "keys.toml", "are the same file");
    for place in ["index/LOCK", "index/CURRENT", "index/keys.toml"] {
        refused("figdex.toml", place, "the folder of an index");
    }
}

/// A pipe, a link to standard output, and the file that standard output is redirected into are not
/// removed when no row was rejected, and a keys file does not replace a pipe.
#[test]
fn pipes_and_standard_output_are_not_removed() {
    let desk = tempfile::tempdir().unwrap();
    let path = |name: &str| desk.path().join(name);
    fs::write(path("good.csv"), GOOD).unwrap();
    assert!(Command::new("mkfifo").arg(path("pipe")).status().unwrap().success());
    symlink("/dev/stdout", path("link")).unwrap();
    for output in ["pipe", "link", "printed"] {
        let mut command = Command::new(program());
        command.current_dir(desk.path()).args(["build", "good.csv", "--index", "index"]);
        command.stdout(File::create(path("printed")).unwrap());
        let child = command.args(["--rejects", output]).spawn().unwrap();
        assert!(child.wait_with_output().unwrap().status.success(), "{output}");
        assert!(fs::metadata(path("printed")).unwrap().len() > 0, "{output}");
    }
    let is_pipe = || fs::symlink_metadata(path("pipe")).unwrap().file_type().is_fifo();
    assert!(is_pipe() && path("link").is_symlink());
    let mut command = figdex();
    let (code, _, error) = run(command.args(["keys", "add", "x", "--keys"]).arg(path("pipe")));
    assert_eq!(code, Some(1), "{error}");
    assert!(error.contains("not a regular file") && is_pipe(), "{error}");
}
