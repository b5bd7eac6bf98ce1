//! Commands that root runs over the files of another user, and umasks that hide files: afterwards
//! everything belongs to the owner of the folder, and gives at least the folder's access.

use std::fs::{self, File, Permissions};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::support::program;

/// The user and group to whom the folders of these tests belong; no account needs to exist.
const OWNER: u32 = 61_234;
const GROUP: u32 = 61_235;

const FIGDEX: &str = env!("CARGO_BIN_EXE_figdex");

const DUMP: &str = "figi,ticker\nBBG000BLNNH6,IBM\nBBG000BLNNH5,WRONG\n";

/// A folder of [`OWNER`] with a dump; `None` when root does not run this.
fn desk() -> Option<tempfile::TempDir> {
    let desk = tempfile::tempdir().unwrap();
    let give = |path: &Path| chown(path, Some(OWNER), Some(GROUP));
    if give(desk.path()).is_err() {
        let is_required = std::env::var_os("FIGDEX_REQUIRE_ROOT").is_some();
        assert!(!is_required, "FIGDEX_REQUIRE_ROOT is set, and this is not root");
        eprintln!("skipped: only root can give files away");
        return None;
    }
    fs::set_permissions(desk.path(), Permissions::from_mode(0o755)).unwrap();
    fs::write(desk.path().join("dump.csv"), DUMP).unwrap();
    fs::set_permissions(desk.path().join("dump.csv"), Permissions::from_mode(0o644)).unwrap();
    let index = desk.path().join("index");
    fs::create_dir(&index).unwrap();
    give(&index).unwrap();
    fs::set_permissions(&index, Permissions::from_mode(0o750)).unwrap();
    Some(desk)
}

/// Runs a program under a umask, in a folder.
fn run(umask: &str, folder: &Path, program: &Path, arguments: &[&str]) -> Output {
    let script = format!("umask {umask}; exec \"$0\" \"$@\"");
    let mut command = Command::new("sh");
    command.current_dir(folder).args(["-c", &script]).arg(program).args(arguments);
    command.output().unwrap()
}

fn ingest(umask: &str, folder: &Path, arguments: &[&str]) -> String {
    let output = run(umask, folder, &program(), arguments);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{arguments:?}: {said}");
    said
}

const BUILD: [&str; 6] = ["build", "dump.csv", "--index", "index", "--max-rejects", "60%"];

/// Everything in a folder, and the folder itself.
fn all(folder: &Path) -> Vec<PathBuf> {
    let mut found = vec![folder.to_owned()];
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => found.extend(all(&path)),
            false => found.push(path),
        }
    }
    found
}

/// Everything in the index, and the rejects file, belongs to the owner, whose group can read it.
fn assert_owned(desk: &Path) {
    let mut files = all(&desk.join("index"));
    assert!(files.iter().any(|file| file.ends_with("CURRENT")));
    assert!(files.iter().any(|file| file.extension().is_some_and(|end| end == "verified")));
    for file in &files {
        let metadata = fs::metadata(file).unwrap();
        assert_eq!((metadata.uid(), metadata.gid()), (OWNER, GROUP), "{}", file.display());
        let access = if metadata.is_dir() { 0o750 } else { 0o640 };
        assert_eq!(metadata.mode() & access, access, "{}: {:o}", file.display(), metadata.mode());
    }
    files = vec![desk.join("index.rejects.csv")];
    assert_eq!(fs::metadata(&files[0]).unwrap().uid(), OWNER);
}

/// An emergency build of root, and its rollback, leave nothing that is in the owner's way.
#[test]
fn root_builds_as_the_owner_of_the_folder() {
    let Some(desk) = desk() else { return };
    for umask in ["027", "077"] {
        let said = ingest(umask, desk.path(), &BUILD);
        assert!(said.contains(&format!("works as the user with the number {OWNER}")), "{said}");
        assert_owned(desk.path());
    }
    ingest("077", desk.path(), &["rollback", "index"]);
    assert_owned(desk.path());
    // A reader stamps too, if there is no stamp.
    fs::remove_file(desk.path().join("index/generation-000001.verified")).unwrap();
    ingest("077", desk.path(), &["verify", "index"]);
    assert_owned(desk.path());
}

/// A leftover that cannot be removed, here one of root's, is named in a warning. No build fails for
/// it, on any night.
#[test]
fn a_leftover_of_another_user_fails_no_build() {
    let Some(desk) = desk() else { return };
    let left = ["generation-000002.new", "generation-000003.old"];
    for name in left {
        let folder = desk.path().join("index").join(name);
        fs::create_dir_all(folder.join("part-000")).unwrap();
        File::create(folder.join("part-000/rows")).unwrap();
    }
    for night in 0..4 {
        let said = ingest("022", desk.path(), &BUILD);
        for name in left {
            assert!(said.contains(&format!("index/{name} is left over")), "{night}: {said}");
        }
    }
    let current = fs::read_to_string(desk.path().join("index/CURRENT")).unwrap();
    assert_eq!(current, "generation-000006\n", "their numbers are not used");
}

/// A lock that root left and nobody else may open fails a build, with what to do.
#[test]
fn a_lock_of_root_is_explained() {
    let Some(desk) = desk() else { return };
    let lock = desk.path().join("index/LOCK");
    File::create(&lock).unwrap();
    fs::set_permissions(&lock, Permissions::from_mode(0o600)).unwrap();
    let output = run("022", desk.path(), &program(), &BUILD);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success(), "{said}");
    let expected = "index/LOCK belongs to the user root: give it to the user that runs this, for \
                    example with: sudo chown USER index/LOCK";
    assert!(said.contains(expected), "{said}");
}

/// A report that root replaces stays its owner's, also when the build cannot begin.
#[test]
fn a_report_keeps_its_owner() {
    let Some(desk) = desk() else { return };
    let report = desk.path().join("report.json");
    fs::write(&report, "yesterday").unwrap();
    chown(&report, Some(OWNER), Some(GROUP)).unwrap();
    let flags = ["--report", "report.json", "--work", "work"];
    let output = run("022", desk.path(), &program(), &[&BUILD[..], &flags].concat());
    assert!(!output.status.success());
    assert!(fs::read_to_string(&report).unwrap().contains("published elsewhere"));
    let metadata = fs::metadata(&report).unwrap();
    assert_eq!((metadata.uid(), metadata.gid()), (OWNER, GROUP));
}

/// A new folder below one of root's that a group shares: nobody knows whose it should be.
#[test]
fn root_makes_no_folder_that_others_share() {
    let Some(desk) = desk() else { return };
    chown(desk.path(), Some(0), Some(GROUP)).unwrap();
    fs::set_permissions(desk.path(), Permissions::from_mode(0o1770)).unwrap();
    fs::write(desk.path().join("report.json"), "yesterday").unwrap();
    let arguments = ["build", "dump.csv", "--index", "another", "--report", "report.json"];
    let output = run("022", desk.path(), &program(), &arguments);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && said.contains("is shared with the group 61235"), "{said}");
    let report = fs::read_to_string(desk.path().join("report.json")).unwrap();
    assert!(report.contains("is shared with the group 61235"), "{report}");
    let output =
        run("022", desk.path(), Path::new(FIGDEX), &["keys", "add", "desk", "--keys", "keys.toml"]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && said.contains("is shared with the group 61235"), "{said}");
    assert!(!desk.path().join("another").exists() && !desk.path().join("keys.toml").exists());
}

/// A server that root runs does not fill the copy of another user.
#[test]
fn root_is_refused_the_copy_of_another_user() {
    let Some(desk) = desk() else { return };
    let folder = desk.path().join("index");
    let locked = figdex_index::BuildLock::acquire(&folder);
    let said = locked.unwrap_err().to_string();
    assert!(said.contains("belongs to the user with the number 61234"), "{said}");
    assert_eq!(all(&folder).len(), 1);
}

/// `SECURITY.md`: a change of the keys by root keeps the owner and the mode of the file; a new one
/// belongs to the owner of its folder.
#[test]
fn keys_keep_their_owner_and_mode() {
    let Some(desk) = desk() else { return };
    let keys = |arguments: &[&str]| {
        let output = run("022", desk.path(), Path::new(FIGDEX), arguments);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    };
    let found = |name: &str| {
        let metadata = fs::metadata(desk.path().join(name)).unwrap();
        (metadata.uid(), metadata.gid(), metadata.mode() & 0o777)
    };
    keys(&["keys", "add", "one", "--keys", "keys.toml"]);
    for name in ["keys.toml", "keys.toml.lock"] {
        assert_eq!(found(name), (OWNER, GROUP, 0o600), "{name}");
    }
    let file = desk.path().join("keys.toml");
    for (user, mode) in [(OWNER, 0o640), (0, 0o640), (OWNER, 0o600)] {
        chown(&file, Some(user), Some(GROUP)).unwrap();
        fs::set_permissions(&file, Permissions::from_mode(mode)).unwrap();
        keys(&["keys", "add", "two", "--keys", "keys.toml"]);
        assert_eq!(found("keys.toml"), (user, GROUP, mode));
        keys(&["keys", "revoke", "two", "--keys", "keys.toml"]);
        assert_eq!(found("keys.toml"), (user, GROUP, mode));
    }
}

/// A user who may read the folder can read all of the index, whatever the umask is.
#[test]
fn a_umask_does_not_hide_the_index() {
    let desk = tempfile::tempdir().unwrap();
    fs::write(desk.path().join("dump.csv"), DUMP).unwrap();
    let index = desk.path().join("index");
    fs::create_dir(&index).unwrap();
    fs::set_permissions(&index, Permissions::from_mode(0o755)).unwrap();
    for _ in 0..2 {
        ingest("077", desk.path(), &BUILD);
    }
    ingest("077", desk.path(), &["rollback", "index"]);
    for file in all(&index) {
        let metadata = fs::metadata(&file).unwrap();
        let access = if metadata.is_dir() { 0o755 } else { 0o644 };
        assert_eq!(metadata.mode() & access, access, "{}: {:o}", file.display(), metadata.mode());
    }
}
