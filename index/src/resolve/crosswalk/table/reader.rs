//! Reading a table of symbols, line by line: the rules of a vendor, and their bounds.

use std::collections::HashMap;

use super::{FAULTS_MAX, LineFault, Mark, SymbolTable, SymbolTableFaults, VendorTable};
use crate::instrument::id_type::IdType;
use crate::instrument::markets::{exchange, known_code, whole_market};
use crate::part::rows::Field;
use crate::resolve::crosswalk::LIST_FIELDS_MAX;
use crate::resolve::recognise::SUFFIXES;

/// The most vendors of a table: a list may ask for all of its columns.
const VENDORS_MAX: usize = 16;

/// The columns with identifiers in another spelling.
const SPELLED: usize = 2;

const _: () =
    assert!(Field::ALL.len() + IdType::ALL.len() + SPELLED + VENDORS_MAX <= LIST_FIELDS_MAX);

/// The most bytes of a vendor's name, which each row of an answer repeats.
const NAME_BYTES_MAX: usize = 32;

/// The most bytes of the mark of an exchange.
const MARK_BYTES_MAX: usize = 16;

/// The most marks of one market: the symbol of a row is written and read back with each.
const MARKS_OF_MARKET_MAX: usize = 16;

/// The most exchange codes of a mark: a symbol is read as a ticker on all of them.
const CODES_OF_MARK_MAX: usize = 16;

/// The most digits to which numbers are filled up.
const DIGITS_MAX: usize = 12;

/// The prefix of the names of vendors' columns.
const PREFIX: &str = "symbol:";

/// A table that is being read.
#[derive(Default)]
pub(super) struct TableReader {
    /// The number of the current line.
    line: usize,
    /// The vendors that are read, with the line of each.
    done: Vec<(usize, VendorTable)>,
    section: Option<VendorSection>,
    faults: Vec<LineFault>,
}

/// The lines of a vendor so far, each with its number.
struct VendorSection {
    line: usize,
    name: String,
    /// The number of faults before it.
    faults: usize,
    /// Rules that a vendor has once, by their first word.
    once: Vec<(&'static str, usize)>,
    is_prefix: bool,
    class_mark: char,
    marks: Vec<Mark>,
    /// The line of each mark.
    texts: HashMap<String, usize>,
    /// The number of marks of each market.
    of_market: HashMap<&'static str, usize>,
    padded: Vec<(usize, &'static str, usize)>,
    fused: Vec<(usize, &'static str)>,
}

impl TableReader {
    fn fault(&mut self, what: String) {
        self.fault_at(self.line, what);
    }

    fn fault_at(&mut self, line: usize, what: String) {
        self.faults.push(LineFault { line: Some(line), what });
    }

    /// Takes in the next line, without its line end. Returns whether to go on.
    pub(super) fn read(&mut self, line: &[u8]) -> bool {
        self.line += 1;
        match str::from_utf8(line) {
            Ok(line) => self.read_text(line),
            Err(_) => self.fault("the line is not UTF-8: save the file as UTF-8".to_owned()),
        }
        self.faults.len() < FAULTS_MAX
    }

    fn read_text(&mut self, line: &str) {
        if line.contains('\r') {
            // The rest of the line could be a rule that somebody relies on.
            let what = "there is a carriage return inside of the line: end all lines with a line \
                        feed, or all with both";
            return self.fault(what.to_owned());
        }
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        match &words[..] {
            [] => {}
            [first, ..] if first.starts_with('#') => {}
            [first, ..] if first.starts_with('[') => self.begin(line.trim_ascii()),
            [key, words @ ..] => match self.section.take() {
                Some(mut section) => {
                    if let Err(what) = section.add(self.line, key, words) {
                        self.fault(what);
                    }
                    self.section = Some(section);
                }
                None => self.fault(format!(
                    "{} is before the first vendor: begin with the name of a vendor, such as \
                     [desk]",
                    quoted(key)
                )),
            },
        }
    }

    /// Begins the section of a vendor.
    fn begin(&mut self, line: &str) {
        self.end_section();
        let named = line.strip_prefix('[').and_then(|line| line.strip_suffix(']'));
        let is_name = |name: &&str| {
            let is_sign = |c: u8| c.is_ascii_lowercase() || c.is_ascii_digit() || c == b'-';
            !name.is_empty() && name.len() <= NAME_BYTES_MAX && name.bytes().all(is_sign)
        };
        let faults = self.faults.len();
        if named.filter(is_name).is_none() {
            self.fault(format!(
                "{} is not the name of a vendor: expected at most {NAME_BYTES_MAX} lowercase \
                 letters, digits and hyphens in brackets, such as [desk]",
                quoted(line)
            ));
        }
        let name = format!("{PREFIX}{}", named.unwrap_or(line));
        if let Some((first, _)) = self.done.iter().find(|(_, table)| table.name == name) {
            self.fault(format!(
                "{} is already in line {first}: put the lines of a vendor into one section",
                quoted(line)
            ));
        }
        if self.done.len() >= VENDORS_MAX {
            self.fault(format!(
                "{} is one vendor too many: leave some out, at most {VENDORS_MAX} are possible",
                quoted(line)
            ));
        }
        self.section = Some(VendorSection {
            line: self.line,
            name,
            faults,
            once: Vec::new(),
            is_prefix: false,
            class_mark: '-',
            marks: Vec::new(),
            texts: HashMap::new(),
            of_market: HashMap::new(),
            padded: Vec::new(),
            fused: Vec::new(),
        });
    }

    /// Ends the section of a vendor. Rules that need its other lines are checked here, unless a
    /// line has a fault: a mark that was not understood would make others look wrong.
    fn end_section(&mut self) {
        let Some(section) = self.section.take() else { return };
        let line = section.line;
        if section.faults == self.faults.len() {
            section.check(|line, what| self.fault_at(line, what));
        }
        self.done.push((line, section.table()));
    }

    /// The table, or the faults.
    pub(super) fn end(mut self) -> Result<SymbolTable, SymbolTableFaults> {
        self.end_section();
        if self.done.is_empty() && self.faults.is_empty() {
            let what = "it names no vendor: expected a section for each, such as [desk]";
            self.faults.push(LineFault { line: None, what: what.to_owned() });
        }
        match self.faults.is_empty() {
            true => Ok(SymbolTable(self.done.into_iter().map(|(_, table)| table).collect())),
            false => {
                self.faults.sort_by_key(|fault| fault.line);
                self.faults.truncate(FAULTS_MAX);
                Err(SymbolTableFaults(self.faults))
            }
        }
    }
}

/// The rules of a vendor: the first word, and the whole line for people.
const RULES: [(&str, &str); 7] = [
    ("marks", "marks after, for TICKER.MARK, or marks before, for MARK:TICKER"),
    ("classes", "classes and one sign, such as classes -"),
    ("home", "home and an exchange code, such as home US"),
    ("pad", "pad, an exchange code and a number of digits, such as pad HK 4"),
    ("fused", "fused and exchange codes, such as fused SS DC"),
    ("suffixes", "suffixes and nothing else"),
    ("=", "=, a mark and its exchange codes, such as = L LN"),
];

impl VendorSection {
    /// Takes in a line, or returns its fault.
    fn add(&mut self, line: usize, key: &str, words: &[&str]) -> Result<(), String> {
        match (key, words) {
            ("marks", [place]) => {
                self.is_prefix = match *place {
                    "after" => false,
                    "before" => true,
                    place => return Err(expected(place, "marks")),
                };
                self.once("marks", line)
            }
            ("classes", [sign]) => {
                let mut signs = sign.chars();
                match (signs.next(), signs.next()) {
                    (Some(sign), None) if sign.is_ascii_punctuation() => self.class_mark = sign,
                    _ => return Err(expected(sign, "classes")),
                }
                self.once("classes", line)
            }
            ("home", [home]) => {
                self.once("home", line)?;
                self.mark(line, "", vec![code(home)?])
            }
            ("pad", [padded, digits]) => {
                let padded = code(padded)?;
                if let Some((first, ..)) = self.padded.iter().find(|(_, code, _)| *code == padded) {
                    return Err(format!(
                        "the digits of {padded} are already in line {first}: keep one of both"
                    ));
                }
                let number = digits.parse().ok().filter(|digits| (1..=DIGITS_MAX).contains(digits));
                let number = number.ok_or_else(|| {
                    format!(
                        "{} is not a number of digits: expected one from 1 to {DIGITS_MAX}, such \
                         as pad {padded} 4",
                        quoted(digits)
                    )
                })?;
                self.padded.push((line, padded, number));
                Ok(())
            }
            ("fused", [_, ..]) => {
                for code in codes(words)? {
                    if let Some((first, _)) = self.fused.iter().find(|(_, one)| *one == code) {
                        return Err(format!("{code} is already in line {first}: keep one of both"));
                    }
                    self.fused.push((line, code));
                }
                Ok(())
            }
            ("suffixes", []) => {
                self.once("suffixes", line)?;
                let mut suffixes: Vec<_> = SUFFIXES.iter().collect();
                suffixes.sort();
                suffixes.into_iter().try_for_each(|(mark, codes)| {
                    let added = self.mark(line, mark, codes.clone());
                    added.map_err(|what| format!("the mark {mark:?} of suffixes: {what}"))
                })
            }
            ("=", [mark, listed @ ..]) if !listed.is_empty() => {
                let is_sign =
                    |c: u8| c.is_ascii_uppercase() || c.is_ascii_digit() || b"-_".contains(&c);
                if mark.len() > MARK_BYTES_MAX || !mark.bytes().all(is_sign) {
                    return Err(format!(
                        "{} is not a mark: expected at most {MARK_BYTES_MAX} capital letters, \
                         digits, hyphens and underscores, such as = L LN",
                        quoted(mark)
                    ));
                }
                self.mark(line, mark, codes(listed)?)
            }
            (key, _) if RULES.iter().any(|(name, _)| *name == key) => {
                Err(expected(&[&[key], words].concat().join(" "), key))
            }
            (key, _) => {
                let names = RULES.map(|(name, _)| name).join(", ");
                Err(format!("{} is not a rule: expected one of {names}", quoted(key)))
            }
        }
    }

    /// Notes a rule that a vendor has once.
    fn once(&mut self, rule: &'static str, line: usize) -> Result<(), String> {
        if let Some((_, first)) = self.once.iter().find(|(name, _)| *name == rule) {
            return Err(format!("{rule} is already in line {first}: keep one of both"));
        }
        self.once.push((rule, line));
        Ok(())
    }

    /// Adds a mark.
    fn mark(&mut self, line: usize, text: &str, codes: Vec<&'static str>) -> Result<(), String> {
        if let Some(first) = self.texts.get(text) {
            return Err(format!(
                "the mark {text:?} is already in line {first}: keep one of both (suffixes \
                 stands for many marks; without it, write those that you want)"
            ));
        }
        let of_market = codes.iter().filter_map(|code| Some((*code, whole_market(code)?)));
        let markets: HashMap<&str, &str> = of_market.map(|(code, market)| (market, code)).collect();
        let marks = |market: &str| self.of_market.get(market).copied().unwrap_or(0);
        let full = markets.iter().find(|(market, _)| marks(market) >= MARKS_OF_MARKET_MAX);
        if let Some((_, code)) = full {
            return Err(format!(
                "it is one mark too many for the market of {code}: leave some out, at most \
                 {MARKS_OF_MARKET_MAX} are possible"
            ));
        }
        for market in markets.into_keys() {
            *self.of_market.entry(market).or_default() += 1;
        }
        self.texts.insert(text.to_owned(), line);
        self.marks.push(Mark { text: text.to_owned(), codes, digits: 0, is_fused: false });
        Ok(())
    }

    /// Checks what depends on several lines.
    fn check(&self, mut fault: impl FnMut(usize, String)) {
        let name = &self.name[PREFIX.len()..];
        if self.marks.is_empty() {
            let what = format!("[{name}] has no exchange: add lines such as home US or = L LN");
            fault(self.line, what);
        }
        let (separator, place) = if self.is_prefix { (':', "before") } else { ('.', "after") };
        let classes = self.once.iter().find(|(rule, _)| *rule == "classes");
        if let Some((_, line)) = classes.filter(|_| self.class_mark == separator) {
            let what = format!(
                "{separator:?} already separates the mark of the exchange, by marks {place}: \
                 choose another sign for classes, such as -"
            );
            fault(*line, what);
        }
        let has = |code: &&str| self.marks.iter().any(|mark| mark.codes.contains(code));
        let padded = self.padded.iter().map(|(line, code, _)| (*line, "pad", *code));
        let fused = self.fused.iter().map(|(line, code)| (*line, "fused", *code));
        for (line, rule, code) in padded.chain(fused).filter(|(_, _, code)| !has(code)) {
            let what = format!(
                "no mark of [{name}] has the exchange code {code}: add one, or leave {code} out \
                 of {rule}"
            );
            fault(line, what);
        }
        for mark in &self.marks {
            let mut padded = self.padded.iter().filter(|(_, code, _)| mark.codes.contains(code));
            let Some((first, _, digits)) = padded.next() else { continue };
            for (line, code, _) in padded.filter(|(.., other)| other != digits) {
                let what = format!(
                    "{code} has the mark {:?}, whose numbers have {digits} digits by line {first}: \
                     write the same number, or another mark",
                    mark.text
                );
                fault(*line, what);
            }
        }
    }

    fn table(self) -> VendorTable {
        let Self { name, is_prefix, class_mark, mut marks, padded, fused, .. } = self;
        for mark in &mut marks {
            let digits = padded.iter().find(|(_, code, _)| mark.codes.contains(code));
            mark.digits = digits.map_or(0, |(.., digits)| *digits);
            mark.is_fused = fused.iter().any(|(_, code)| mark.codes.contains(code));
        }
        marks.sort_by(|one, other| {
            let place = |mark: &Mark| {
                let first = exchange(mark.codes.first()?)?;
                Some((first.country, first.rank))
            };
            (place(one), &one.text).cmp(&(place(other), &other.text))
        });
        let (mut by_text, mut by_market) = (HashMap::new(), HashMap::<_, Vec<usize>>::new());
        for (place, mark) in marks.iter().enumerate() {
            by_text.insert(mark.text.clone(), place);
            for market in mark.codes.iter().filter_map(|code| whole_market(code)) {
                let places = by_market.entry(market).or_default();
                if places.last() != Some(&place) {
                    places.push(place);
                }
            }
        }
        VendorTable { name, is_prefix, class_mark, marks, by_text, by_market }
    }
}

/// The fault of a rule that is not written as it should be.
fn expected(found: &str, rule: &str) -> String {
    let form = RULES.iter().find(|(name, _)| *name == rule).map_or(rule, |(_, form)| form);
    format!("found {}, expected {form}", quoted(found))
}

/// The exchange code, as the table of exchanges has it.
fn code(word: &str) -> Result<&'static str, String> {
    known_code(word).ok_or_else(|| {
        let advice = match known_code(&word.to_ascii_uppercase()) {
            Some(meant) => format!("write {meant}"),
            None => "expected one such as US, LN or GY, as rows have it in exchCode".to_owned(),
        };
        format!("{} is not an exchange code that is known: {advice}", quoted(word))
    })
}

/// Exchange codes, each once.
fn codes(words: &[&str]) -> Result<Vec<&'static str>, String> {
    if words.len() > CODES_OF_MARK_MAX {
        return Err(format!(
            "there are {} exchange codes: leave some out, at most {CODES_OF_MARK_MAX} are possible",
            words.len()
        ));
    }
    let mut codes = Vec::new();
    for word in words {
        let code = code(word)?;
        if codes.contains(&code) {
            return Err(format!("{code} is named twice: keep one of both"));
        }
        codes.push(code);
    }
    Ok(codes)
}

/// A piece of the text as a fault shows it: quoted, and not longer than a line.
fn quoted(text: &str) -> String {
    const CHARACTERS_MAX: usize = 40;
    let more = if text.chars().nth(CHARACTERS_MAX).is_some() { "…" } else { "" };
    let shown: String = text.chars().take(CHARACTERS_MAX).collect();
    format!("{shown:?}{more}")
}
