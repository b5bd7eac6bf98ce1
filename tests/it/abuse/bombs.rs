//! Small dumps that unpack to gigabytes, and dumps that are one endless record: a build refuses
//! them within seconds, with little memory, and the old index stays published.

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use flate2::Compression;
use flate2::write::GzEncoder;

use crate::support::process::skip_memory;
use crate::support::{ingest, program};

/// The size of an unpacked bomb.
const UNPACKED_BYTES: usize = 20 << 30;

/// The piece that is packed once and then repeated: both formats allow any number of pieces.
const PIECE_BYTES: usize = 8 << 20;

/// The memory that a build may take over a bomb, including zstd's window and the program's own
/// buffers.
const MEMORY_MAX: u64 = 512 << 20;

/// The time that a build may take, in a debug build and while other tests run.
const PATIENCE: Duration = Duration::from_secs(30);

type Packer = fn(&[u8]) -> Vec<u8>;

fn gz(piece: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::new(9));
    encoder.write_all(piece).unwrap();
    encoder.finish().unwrap()
}

fn zst(piece: &[u8]) -> Vec<u8> {
    zstd::encode_all(piece, 3).unwrap()
}

/// The interval at which the memory of a build is sampled; a build of a bomb takes far longer.
const LOOK_PERIOD: Duration = Duration::from_millis(1);

/// Runs a build over a dump. Returns its exit code, its messages and the most memory that it was
/// seen to take.
fn build(folder: &Path, dump: &str) -> (Option<i32>, String, u64) {
    let start = Instant::now();
    let mut child = Command::new(program())
        .current_dir(folder)
        .args(["build", dump, "--index", "index"])
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let status = format!("/proc/{}/status", child.id());
    let mut most = 0;
    while child.try_wait().unwrap().is_none() {
        if start.elapsed() > PATIENCE {
            child.kill().unwrap();
            panic!("{dump} took longer than {PATIENCE:?}");
        }
        let status = fs::read_to_string(&status).unwrap_or_default();
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let peak = peak.and_then(|peak| peak.trim().strip_suffix(" kB")?.parse::<u64>().ok());
        most = most.max(peak.unwrap_or(0) << 10);
        std::thread::sleep(LOOK_PERIOD);
    }
    if most == 0 {
        skip_memory();
    }
    let output = child.wait_with_output().unwrap();
    let errors = String::from_utf8(output.stderr).unwrap();
    eprintln!("{dump}: {:?}, {} MB: {}", start.elapsed(), most >> 20, errors.trim_end());
    (output.status.code(), errors, most)
}

#[test]
fn compressed_bombs_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("old.csv"), "figi,ticker\nBBG000BPH459,OLD\n").unwrap();
    assert_eq!(ingest(folder.path(), &["build", "old.csv", "--index", "index"]).0, 0);
    let too_long = "a record is longer than 4194304 bytes";
    let too_much = "the file unpacks to more than 200 times its size";
    let one_line = vec![b'a'; PIECE_BYTES];
    let blank_lines = vec![b'\n'; PIECE_BYTES];
    let blanks = vec![b' '; PIECE_BYTES];
    for (ending, pack) in [("gz", gz as Packer), ("zst", zst)] {
        for (name, begin, piece, expected) in [
            ("one-line.csv", "figi,ticker\n", &one_line, too_long),
            ("one-quote.csv", "figi,ticker\n\"", &one_line, too_long),
            ("one-header.csv", "figi,ticker", &one_line, too_long),
            ("one-line.jsonl", "", &one_line, too_long),
            ("one-text.json", "[{\"figi\": \"BBG000BLNNH6\"}, {\"figi\": \"", &one_line, too_long),
            ("blank-lines.csv", "figi,ticker\n", &blank_lines, too_long),
            ("blanks.json", "[{\"figi\": \"BBG000BLNNH6\"},", &blanks, too_much),
        ] {
            let name = format!("{name}.{ending}");
            let mut file = fs::File::create(folder.path().join(&name)).unwrap();
            file.write_all(&pack(begin.as_bytes())).unwrap();
            let packed = pack(piece);
            for _ in 0..UNPACKED_BYTES / PIECE_BYTES {
                file.write_all(&packed).unwrap();
            }
            let bytes = file.metadata().unwrap().len();
            assert!(bytes < 32 << 20, "{name} has {bytes} bytes");
            let (code, errors, most) = build(folder.path(), &name);
            assert_eq!(code, Some(1), "{name}: {errors}");
            assert!(errors.contains(expected), "{name}: {errors}");
            assert!(most < MEMORY_MAX, "{name}: {most} bytes of memory");
        }
    }
    // Five bytes ask for a window of 2 GB: the build refuses it.
    let frame = [0x28, 0xb5, 0x2f, 0xfd, 0x00, 0xa8, 0x01, 0x00, 0x00];
    fs::write(folder.path().join("window.csv.zst"), frame).unwrap();
    let (code, errors, most) = build(folder.path(), "window.csv.zst");
    assert_eq!(code, Some(1), "{errors}");
    assert!(errors.contains("Frame requires too much memory"), "{errors}");
    assert!(most < MEMORY_MAX, "{most} bytes of memory");

    let (code, printed, error) = ingest(folder.path(), &["verify", "index"]);
    assert_eq!(code, 0, "{printed}{error}");
    let index = figdex_index::Catalogue::open(&folder.path().join("index")).unwrap();
    assert_eq!(index.manifest().generation, 1, "the old index stands");
}

/// Deep nesting and huge numbers, over which a parser may stumble, reject their row or drop their
/// cell; the other rows are taken.
#[test]
fn hostile_records() {
    let folder = tempfile::tempdir().unwrap();
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let deep_objects = format!("{}1{}", "{\"a\":".repeat(100_000), "}".repeat(100_000));
    let digits = "9".repeat(400);
    let lines = [
        "{\"figi\": \"BBG000BLNNH6\", \"ticker\": \"IBM\"}".to_owned(),
        format!("{{\"figi\": \"BBG000BPH459\", \"ticker\": {deep}}}"),
        format!("{{\"figi\": \"BBG000B9XRY4\", \"name\": {deep_objects}}}"),
        format!("{{\"figi\": \"BBG000BVPV84\", \"strike\": {digits}}}"),
        "{\"figi\": \"BBG000BVPV84\", \"strike\": 1e999}".to_owned(),
        "{\"figi\": \"BBG000BVPV84\", \"ticker\": \"AMZN\"}".to_owned(),
        "[".repeat(100_000),
    ];
    fs::write(folder.path().join("hurt.jsonl"), lines.join("\n")).unwrap();
    let (code, _, errors) =
        ingest(folder.path(), &["build", "hurt.jsonl", "--index", "index", "--max-rejects", "90%"]);
    assert_eq!(code, 0, "{errors}");
    let index = figdex_index::Catalogue::open(&folder.path().join("index")).unwrap();
    assert!(index.manifest().instruments >= 2, "{errors}");
    eprintln!("{errors}");
}
