//! Citations: the clauses and decisions that code and documents cite exist, and are about what the
//! citing place says, as far as it says so: a citation may name the title of the chapter after the
//! number, in quotes, and a constant that is a text of the contract cites the clause of that text.
//! Every clause of the contract is cited by a test, and no comment cites a paper that is not in the
//! repository.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use super::workspace::{members, root};

/// The folders whose files may cite, besides the files of the root and the crates of the workspace.
const CITING: [&str; 8] =
    [".ci", "benches", "docs", "examples", "fuzz", "packaging", "src", "tests"];

/// The endings of files that may cite. Scripts have none.
const ENDINGS: [&str; 6] = ["", "js", "md", "py", "rs", "toml"];

/// The ways in which comments used to name such papers; `#` is any digit.
const PAPERS: [&str; 10] = [
    "(decisions",
    "commands, \"",
    "commands.md",
    "contract, \"",
    "contract: \"",
    "decisions,",
    "decisions:",
    "decisions.md",
    "engine, decision",
    "promise #",
];

/// A file of the repository, by its path from the root.
pub(super) struct File {
    path: String,
    text: String,
}

/// A document with numbered clauses.
struct Numbered {
    /// The word that stands before the number in a citation.
    word: &'static str,
    /// The text of each clause, by its number.
    clauses: BTreeMap<String, String>,
    /// The title of each chapter, by its number.
    titles: BTreeMap<String, String>,
}

/// A citation: its line, the number, and the title that it names.
#[derive(Debug)]
struct Citation {
    line: usize,
    number: String,
    title: Option<String>,
}

impl Numbered {
    fn new(word: &'static str, document: &str) -> Self {
        Self { word, clauses: clauses(document), titles: chapters(document) }
    }

    /// The reason why a citation is wrong, if it is.
    fn fault(&self, Citation { number, title, .. }: &Citation) -> Option<String> {
        let chapter = number.split('.').next().unwrap_or(number);
        if !self.clauses.contains_key(number) && !self.titles.contains_key(number) {
            return Some(format!("there is no {} {number}", self.word));
        }
        let (title, is) = (title.as_ref()?, &self.titles[chapter]);
        (!is.starts_with(title)).then(|| format!("{} {chapter} is \"{is}\"", self.word))
    }
}

/// The text of a document of `docs/`.
fn document(name: &str) -> String {
    fs::read_to_string(root().join("docs").join(name)).unwrap()
}

/// The files that may cite, of the repository at `root`.
pub(super) fn files(root: &Path) -> Vec<File> {
    let others = CITING.map(|folder| root.join(folder));
    let mut paths: BTreeSet<PathBuf> =
        others.into_iter().chain(members(root)).filter(|path| path.exists()).collect();
    assert!(paths.len() > CITING.len() / 2, "the folders are not where they were");
    // The root package has the other folders and files of the root.
    paths.remove(root);
    // A crate inside another folder is searched with it.
    let mut paths: Vec<PathBuf> = paths
        .iter()
        .filter(|path| path.ancestors().skip(1).all(|outer| !paths.contains(outer)))
        .cloned()
        .collect();
    let own = fs::read_dir(root).unwrap().map(|entry| entry.unwrap().path());
    paths.extend(own.filter(|path| path.is_file()));
    let mut files = Vec::new();
    while let Some(path) = paths.pop() {
        if path.is_dir() {
            // The build folder is not part of the repository.
            if path.file_name().is_some_and(|name| name != "target") {
                paths.extend(fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()));
            }
            continue;
        }
        let ending = path.extension().unwrap_or_default();
        if ENDINGS.iter().any(|known| ending == *known)
            && let Ok(text) = fs::read_to_string(&path)
        {
            let path = path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
            files.push(File { path, text });
        }
    }
    files
}

/// The clauses of a document: their numbers begin an entry of a list, which ends before the next
/// line that is not indented, or a line of a table.
fn clauses(document: &str) -> BTreeMap<String, String> {
    let mut clauses = BTreeMap::new();
    let mut current = None;
    for line in document.lines() {
        let entry = line.strip_prefix("- **").or_else(|| line.strip_prefix("| **"));
        if let Some((number, text)) = entry.and_then(|entry| entry.split_once("**"))
            && number
                .split_once('.')
                .is_some_and(|(chapter, place)| is_number(chapter) && is_number(place))
        {
            let before = clauses.insert(number.to_owned(), text.to_owned());
            assert!(before.is_none(), "clause {number} is there twice");
            current = Some(number.to_owned());
        } else if !line.starts_with("  ") {
            current = None;
        } else if let Some(text) = current.as_ref().and_then(|number| clauses.get_mut(number)) {
            *text += &line[1..];
        }
    }
    clauses
}

/// The chapters of a document, by their numbers.
fn chapters(document: &str) -> BTreeMap<String, String> {
    let titles = document.lines().filter_map(|line| line.strip_prefix("## ")?.split_once(' '));
    let numbered = titles.filter(|(number, _)| is_number(number));
    numbered.map(|(number, title)| (number.to_owned(), title.to_owned())).collect()
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// The text with each comment of several lines joined to one line, so that a citation may continue
/// in the next line. Offsets stay the same.
fn joined(text: &str) -> String {
    let mut bytes = text.as_bytes().to_vec();
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let marks = line.trim_start();
        let mark = ["///", "//!", "//", "#"].into_iter().find(|mark| marks.starts_with(mark));
        if start > 0 {
            let indent = line.len() - marks.len();
            let blank = indent + mark.map_or(0, str::len);
            bytes[start - 1..start + blank].fill(b' ');
        }
        start += line.len();
    }
    String::from_utf8(bytes).unwrap()
}

/// The numbers that follow a word, with their lines: `4.3`, `4.3, 4.5 and 5.1`, `4.3 to 4.6`. The
/// last one may have the title of its chapter after it: `4.3 "Mapping jobs"`.
fn cited(text: &str, word: &str) -> Vec<Citation> {
    let joined = joined(text);
    let mut found = Vec::new();
    for (at, _) in joined.match_indices(word) {
        let before = joined[..at].chars().next_back();
        if before.is_some_and(|before| before.is_alphanumeric() || before == '_') {
            continue;
        }
        let line = text[..at].matches('\n').count() + 1;
        let mut rest = joined[at + word.len()..].trim_start_matches(' ');
        if rest.len() == joined[at + word.len()..].len() {
            continue;
        }
        let mut from = None;
        while let Some(number) = number(rest) {
            let citation = |number| Citation { line, number, title: None };
            match from.take().and_then(|from| between(from, number)) {
                Some(numbers) => found.extend(numbers.map(citation)),
                None => found.push(citation(number.to_owned())),
            }
            rest = &rest[number.len()..];
            let separators = [", ", " and ", " to "];
            let next = separators.map(|separator| after(rest, separator));
            from = next[2].map(|_| number);
            match next.into_iter().flatten().next() {
                Some(next) => rest = next,
                None => {
                    let quoted = after(rest, " \"").and_then(|rest| rest.split_once('"'));
                    let last = found.last_mut().expect("one was found");
                    last.title = quoted.map(|(title, _)| title.to_owned());
                    break;
                }
            }
        }
    }
    found
}

/// The rest after a separator, in which a blank stands for one or more blanks.
fn after<'a>(rest: &'a str, separator: &str) -> Option<&'a str> {
    let mut rest = rest;
    for (place, word) in separator.split(' ').enumerate() {
        if place > 0 {
            let trimmed = rest.trim_start_matches(' ');
            if trimmed.len() == rest.len() {
                return None;
            }
            rest = trimmed;
        }
        rest = rest.strip_prefix(word)?;
    }
    Some(rest)
}

/// The number at the beginning of a text: digits, and perhaps a point and more digits.
fn number(text: &str) -> Option<&str> {
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let whole = digits(text);
    let place = text[whole..].strip_prefix('.').map_or(0, digits);
    let length = if place > 0 { whole + 1 + place } else { whole };
    (whole > 0).then(|| &text[..length])
}

/// The clauses after `from` up to `to`, if both are of one chapter.
fn between(from: &str, to: &str) -> Option<impl Iterator<Item = String> + use<>> {
    let ((chapter, first), (other, last)) = (from.split_once('.')?, to.split_once('.')?);
    let (first, last): (u32, u32) = (first.parse().ok()?, last.parse().ok()?);
    let chapter = (chapter == other && first < last).then(|| chapter.to_owned())?;
    Some((first + 1..=last).map(move |place| format!("{chapter}.{place}")))
}

/// The tests in a file: the whole file, or its module `tests`.
fn tests(file: &File) -> &str {
    let File { path, text } = file;
    let is_test = path.split('/').any(|folder| folder == "tests");
    if is_test || path.ends_with("/tests.rs") {
        return text;
    }
    if !path.ends_with(".rs") {
        return "";
    }
    text.find("#[cfg(test)]\nmod tests {").map_or("", |at| &text[at..])
}

/// Fails with a list of all faults, if there are any.
fn assert_none(faults: &[String], title: &str) {
    assert!(faults.is_empty(), "{title}\n{}", faults.join("\n"));
}

/// The wrong citations of clauses of the contract and of the engine.
pub(super) fn broken_in(files: &[File]) -> Vec<String> {
    let contract = Numbered::new("contract", &document("contract.md"));
    let engine = Numbered::new("engine", &document("engine.md"));
    assert!(contract.clauses.len() > 150, "{} clauses", contract.clauses.len());
    assert!(engine.titles.len() > 10, "{} decisions", engine.titles.len());
    broken(files, &[contract, engine])
}

/// The citations of clauses that do not exist, or whose chapter has another title.
fn broken(files: &[File], documents: &[Numbered]) -> Vec<String> {
    let mut broken = Vec::new();
    for File { path, text } in files {
        for document in documents {
            let capital = document.word[..1].to_uppercase() + &document.word[1..];
            for citation in [document.word, &capital].iter().flat_map(|word| cited(text, word)) {
                let fault = document.fault(&citation);
                broken.extend(fault.map(|fault| format!("{path}:{}: {fault}", citation.line)));
            }
        }
    }
    broken
}

/// The constants that are a text of the contract, and whose comments cite only other clauses.
fn elsewhere(File { path, text }: &File, contract: &Numbered) -> Vec<String> {
    let mut found = Vec::new();
    let mut comment = String::new();
    for (line, at) in text.lines().zip(1..) {
        if line.trim_start().starts_with("///") {
            comment = comment + line + "\n";
            continue;
        }
        let citations = cited(&std::mem::take(&mut comment), contract.word);
        let value = line.split_once(": &str = \"").and_then(|(_, rest)| rest.strip_suffix("\";"));
        let Some(value) = value.filter(|_| !citations.is_empty()) else { continue };
        // The names of headers are in lower case in code.
        let quoted = format!("`{value}`").to_lowercase();
        let has = |clause: &String| clause.to_lowercase().contains(&quoted);
        let is_cited =
            citations.iter().any(|citation| contract.clauses.get(&citation.number).is_none_or(has));
        if !is_cited && contract.clauses.values().any(has) {
            let (word, number) = (contract.word, &citations[0].number);
            found.push(format!("{path}:{at}: `{value}` is not in {word} {number}"));
        }
    }
    found
}

/// The comments that cite a paper which is not in the repository.
fn absent_papers(path: &str, text: &str) -> Vec<String> {
    // Each comment on one line, without its marks, and the places where its lines begin.
    let (mut comments, mut starts) = (String::new(), Vec::new());
    for (line, number) in text.lines().zip(1..) {
        let line = line.trim_start();
        let mark = ["///", "//!", "//", "#"].into_iter().find(|mark| line.starts_with(mark));
        match mark.filter(|_| !line.starts_with("#[") && !line.starts_with("#!")) {
            Some(mark) => {
                starts.push((comments.len(), number));
                let comment = line[mark.len()..].trim().to_lowercase();
                let digits = |c: char| if c.is_ascii_digit() { '#' } else { c };
                comments.extend(comment.chars().map(digits).chain([' ']));
            }
            None => comments.push('\n'),
        }
    }
    let cited = PAPERS.iter().flat_map(|paper| comments.match_indices(paper));
    let absent = cited.map(|(at, paper)| {
        let line = starts.partition_point(|(start, _)| *start <= at) - 1;
        format!("{path}:{}: {paper}", starts[line].1)
    });
    absent.collect()
}

/// Every cited clause or chapter, as `contract 4.3` or `engine 2`, exists.
#[test]
fn every_citation_leads_to_a_clause() {
    let files = files(root());
    let citations: usize = files.iter().map(|file| cited(&file.text, "contract").len()).sum();
    assert!(citations > 300, "{citations} citations of the contract");
    assert_none(&broken_in(&files), "wrong citations:");
}

/// A constant that is a text of the contract cites the clause of that text.
#[test]
fn texts_cite_their_clauses() {
    let contract = Numbered::new("contract", &document("contract.md"));
    let found: Vec<_> = files(root()).iter().flat_map(|file| elsewhere(file, &contract)).collect();
    assert_none(&found, "texts of the contract that cite another clause:");
}

/// Every clause of the contract is cited by a test.
#[test]
fn every_clause_has_a_test() {
    let mut tested: BTreeMap<_, _> =
        clauses(&document("contract.md")).into_keys().map(|clause| (clause, false)).collect();
    for file in files(root()) {
        for citation in cited(tests(&file), "contract") {
            if let Some(is_tested) = tested.get_mut(&citation.number) {
                *is_tested = true;
            }
        }
    }
    let untested = tested.into_iter().filter(|(_, is_tested)| !is_tested);
    let untested: Vec<_> = untested.map(|(clause, _)| format!("contract {clause}")).collect();
    assert_none(&untested, "clauses that no test cites:");
}

/// The clauses to which the contract itself refers exist.
#[test]
fn the_contract_refers_to_its_clauses() {
    let contract = document("contract.md");
    let known = clauses(&contract);
    let mut broken = Vec::new();
    for (line, at) in contract.lines().zip(1..) {
        // Texts in code style, and the version of a standard, are not references.
        let plain: String = line.split('`').step_by(2).collect();
        let plain = plain.replace("OpenAPI 3.0", "");
        for word in plain.split(|c: char| !c.is_ascii_digit() && c != '.') {
            let number = word.trim_matches('.');
            if number.contains('.') && !known.contains_key(number) {
                broken.push(format!("docs/contract.md:{at}: there is no {number}"));
            }
        }
    }
    assert_none(&broken, "references to clauses that do not exist:");
}

/// The comments in all files that cite a paper which is not in the repository.
pub(super) fn absent_papers_in(files: &[File]) -> Vec<String> {
    // The lines of a document that begin with `#` are titles.
    let searched = files.iter().filter(|file| file.path != file!() && !file.path.ends_with(".md"));
    searched.flat_map(|File { path, text }| absent_papers(path, text)).collect()
}

/// No comment cites a paper that is not in the repository.
#[test]
fn no_comment_cites_an_absent_paper() {
    let absent = absent_papers_in(&files(root()));
    assert_none(&absent, "comments that cite a paper which is not in the repository:");
}

/// The checks find the faults that they are for.
#[test]
fn the_checks_find_faults() {
    let numbers = |text: &str| -> Vec<_> {
        let found = cited(text, "law").into_iter();
        found.map(|Citation { line, number, .. }| format!("{line}: {number}")).collect()
    };
    assert_eq!(numbers("a\n/// law 4.3, 4.5 and 5.1: b"), ["2: 4.3", "2: 4.5", "2: 5.1"]);
    assert_eq!(numbers("# law 4.9 to 4.11."), ["1: 4.9", "1: 4.10", "1: 4.11"]);
    assert_eq!(numbers("    /// (law\n    /// 4.3,\n    /// 4)."), ["1: 4.3", "1: 4"]);
    assert_eq!(numbers("outlaw 4.3, a law of 4.3, law4.3, laws 4.3"), [] as [&str; 0]);

    let law = "# a\n## 1 b c\n### 2 c\n## d\n- **1.1** a `b\n  c`\n| **1.2** | d |\n- **c**\n";
    let texts: Vec<_> = clauses(law).into_iter().collect();
    let expected = [("1.1", " a `b c`"), ("1.2", " | d |")];
    assert_eq!(texts, expected.map(|(number, text)| (number.to_owned(), text.to_owned())));
    assert_eq!(chapters(law).into_iter().collect::<Vec<_>>(), [("1".to_owned(), "b c".to_owned())]);
    let file = |text: &str| File { path: "src/a.rs".to_owned(), text: text.to_owned() };
    let cited_in = |text: &str| broken(&[file(text)], &[Numbered::new("law", law)]);
    assert_eq!(cited_in("// law 1.2\n// Law 1.3\n"), ["src/a.rs:2: there is no law 1.3"]);
    assert_eq!(cited_in("// law 1, 1.2\n// \"b\": a\n"), [] as [&str; 0]);
    assert_eq!(cited_in("// law 1.2 \"c\"\n"), ["src/a.rs:1: law 1 is \"b c\""]);
    let text_of = |number: &str| {
        let text = format!("/// law {number}\nconst A: &str = \"b c\";\n");
        elsewhere(&file(&text), &Numbered::new("law", law))
    };
    assert_eq!(text_of("1.1"), [] as [&str; 0]);
    assert_eq!(text_of("1.2"), ["src/a.rs:2: `b c` is not in law 1.2"]);
    let file = file("// law 1.1\n#[cfg(test)]\nmod tests {\n/// law 1.2\n}");
    assert_eq!(cited(tests(&file), "law").len(), 1, "outside of tests nothing is held");

    for comment in [
        "/// Decisions, \"x\".",
        "  // (engine, decision 4)",
        "# promise 11",
        "// (engine,\n// decision 4)",
    ] {
        assert_eq!(absent_papers("a", &format!("\n{comment}\n")).len(), 1, "{comment}");
    }
    for line in ["commands, faults = [], []", "/// a promise of 3", "#[doc = \"decisions,\"]"] {
        assert_eq!(absent_papers("a", line), [] as [&str; 0], "{line}");
    }
}
