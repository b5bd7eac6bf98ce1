//! Faults as a stranger reads them, and tables that are taken.

use super::*;
use crate::instrument::markets::exchange;
use crate::resolve::crosswalk::symbols::Vendor;

fn fault(text: &str) -> String {
    SymbolTable::parse(text.as_bytes()).unwrap_err().to_string()
}

/// A made-up vendor.
const DESK: &str = "[desk]\nmarks before\nclasses /\nhome LN\npad HK 4\n= H HK\n= X GY GF\n";

/// contract 21.6, 21.15: the table of the program is read as a file of an operator is, and names
/// exchanges that are known.
#[test]
fn the_table_of_the_program() {
    let text = include_bytes!("symbols.txt");
    let table = SymbolTable::parse(text).unwrap_or_else(|faults| panic!("{faults}"));
    assert_eq!(table, *SymbolTable::in_force());
    for vendor in &table.0 {
        for (place, mark) in vendor.marks.iter().enumerate() {
            assert!(!mark.codes.is_empty(), "{} {}", vendor.name, mark.text);
            let market = whole_market(mark.codes[0]);
            let of_market = vendor
                .marks
                .iter()
                .filter(|other| other.codes.iter().any(|code| whole_market(code) == market));
            let of_market: Vec<_> = of_market.collect();
            assert!(of_market.len() <= 16, "{} {}", vendor.name, mark.text);
            assert_eq!(of_market, vendor.of_market(mark.codes[0]).collect::<Vec<_>>());
            assert!(mark.codes.iter().all(|code| exchange(code).is_some()), "{:?}", mark.codes);
            let mut before = vendor.marks[..place].iter();
            assert!(before.all(|one| one.text != mark.text), "{}", mark.text);
            assert_eq!(vendor.mark(&mark.text), Some(mark));
        }
    }
}

/// contract 21.15: what is not stated has a default, and how lines end or are indented means nothing.
#[test]
fn forms_of_one_table() {
    let plain = SymbolTable::parse(DESK.as_bytes()).unwrap();
    let [desk] = &plain.0[..] else { panic!("{plain:?}") };
    assert_eq!((&*desk.name, desk.is_prefix, desk.class_mark), ("symbol:desk", true, '/'));
    let marks: Vec<_> = desk.marks.iter().map(|mark| (&*mark.text, mark.digits)).collect();
    assert_eq!(marks, [("X", 0), ("", 0), ("H", 4)]);
    for text in [
        DESK.replace('\n', "\r\n"),
        format!("\u{feff}{DESK}"),
        DESK.trim_end().to_owned(),
        format!("# the desk\r\n\n \t\n{}", DESK.replace('\n', " \n\t").replace("= ", "=\t ")),
    ] {
        assert_eq!(SymbolTable::parse(text.as_bytes()).unwrap(), plain, "{text:?}");
    }
    let least = SymbolTable::parse(b"[a-1]\nhome US").unwrap();
    assert_eq!((least.0[0].is_prefix, least.0[0].class_mark), (false, '-'));
}

/// contract 21.16: each fault has the number of its line, what was found, what was expected and what
/// to do.
#[test]
fn faults() {
    for (text, expected) in [
        ("", "it names no vendor: expected a section for each, such as [desk]"),
        ("# nothing\n\n", "it names no vendor: expected a section for each, such as [desk]"),
        (
            "# x\nhome US",
            "line 2: \"home\" is before the first vendor: begin with the name of a vendor, such as \
             [desk]",
        ),
        (
            "[Desk]\nhome US",
            "line 1: \"[Desk]\" is not the name of a vendor: expected at most 32 lowercase letters, \
             digits and hyphens in brackets, such as [desk]",
        ),
        (
            "[desk]\nhome US\n[desk]\nhome LN",
            "line 3: \"[desk]\" is already in line 1: put the lines of a vendor into one section",
        ),
        ("[desk]\n\n", "line 1: [desk] has no exchange: add lines such as home US or = L LN"),
        (
            "[desk]\nhom US",
            "line 2: \"hom\" is not a rule: expected one of marks, classes, home, pad, fused, \
             suffixes, =",
        ),
        (
            "[desk]\nhome US LN",
            "line 2: found \"home US LN\", expected home and an exchange code, such as home US",
        ),
        (
            "[desk]\nhome XX",
            "line 2: \"XX\" is not an exchange code that is known: expected one such as US, LN or \
             GY, as rows have it in exchCode",
        ),
        ("[desk]\n= L ln", "line 2: \"ln\" is not an exchange code that is known: write LN"),
        (
            "[desk]\nmarks behind",
            "line 2: found \"behind\", expected marks after, for TICKER.MARK, or marks before, for \
             MARK:TICKER",
        ),
        (
            "[desk]\nclasses --",
            "line 2: found \"--\", expected classes and one sign, such as classes -",
        ),
        (
            "[desk]\nclasses B",
            "line 2: found \"B\", expected classes and one sign, such as classes -",
        ),
        (
            "[desk]\nclasses",
            "line 2: found \"classes\", expected classes and one sign, such as classes -",
        ),
        (
            "[desk]\nclasses .\nhome US",
            "line 2: '.' already separates the mark of the exchange, by marks after: choose another \
             sign for classes, such as -",
        ),
        (
            "[desk]\nclasses :\nhome US\nmarks before",
            "line 2: ':' already separates the mark of the exchange, by marks before: choose another \
             sign for classes, such as -",
        ),
        (
            "[desk]\npad HK four",
            "line 2: \"four\" is not a number of digits: expected one from 1 to 12, such as pad HK 4",
        ),
        (
            "[desk]\npad HK 13",
            "line 2: \"13\" is not a number of digits: expected one from 1 to 12, such as pad HK 4",
        ),
        (
            "[desk]\npad HK 4\n= H HK\npad HK 5",
            "line 4: the digits of HK are already in line 2: keep one of both",
        ),
        (
            "[desk]\nhome US\npad HK 4",
            "line 3: no mark of [desk] has the exchange code HK: add one, or leave HK out of pad",
        ),
        (
            "[desk]\n= E FP NA\npad FP 4\npad NA 5",
            "line 4: NA has the mark \"E\", whose numbers have 4 digits by line 3: write the same \
             number, or another mark",
        ),
        (
            "[desk]\nhome US\nfused SS",
            "line 3: no mark of [desk] has the exchange code SS: add one, or leave SS out of fused",
        ),
        ("[desk]\n= S SS\nfused SS\nfused SS", "line 4: SS is already in line 3: keep one of both"),
        ("[desk]\nhome US\nhome LN", "line 3: home is already in line 2: keep one of both"),
        (
            "[desk]\nhome US\nmarks after\nmarks after",
            "line 4: marks is already in line 3: keep one of both",
        ),
        (
            "[desk]\nsuffixes all",
            "line 2: found \"suffixes all\", expected suffixes and nothing else",
        ),
        (
            "[desk]\n= L",
            "line 2: found \"= L\", expected =, a mark and its exchange codes, such as = L LN",
        ),
        ("[desk]\n= L LN LN", "line 2: LN is named twice: keep one of both"),
        (
            "[desk]\n= l LN",
            "line 2: \"l\" is not a mark: expected at most 16 capital letters, digits, hyphens and \
             underscores, such as = L LN",
        ),
        (
            "[desk]\n= L LN\n= L HK",
            "line 3: the mark \"L\" is already in line 2: keep one of both (suffixes stands \
             for many marks; without it, write those that you want)",
        ),
        (
            "[desk]\nsuffixes\n= L LN",
            "line 3: the mark \"L\" is already in line 2: keep one of both (suffixes stands \
             for many marks; without it, write those that you want)",
        ),
        (
            "[desk]\nhome US # of the desk",
            "line 2: found \"home US # of the desk\", expected home and an exchange code, such as \
             home US",
        ),
        (
            "# of an old Mac\r[desk]\rhome US",
            "line 1: there is a carriage return inside of the line: end all lines with a line feed, \
             or all with both",
        ),
        (
            "[desk]\nho\u{202e}me\u{7} US",
            "line 2: \"ho\\u{202e}me\\u{7}\" is not a rule: expected one of marks, classes, home, \
             pad, fused, suffixes, =",
        ),
    ] {
        assert_eq!(fault(text), expected, "{text}");
    }
    let latin = SymbolTable::parse(b"[desk]\n# G\xf6teborg\nhome US").unwrap_err().to_string();
    assert_eq!(latin, "line 2: the line is not UTF-8: save the file as UTF-8");
    let wide: Vec<u8> = "[desk]\n".encode_utf16().flat_map(u16::to_be_bytes).collect();
    assert!(SymbolTable::parse(&wide).is_err());
}

/// contract 21.16: faults are reported together, up to twenty; a long word is cut.
#[test]
fn many_faults() {
    assert_eq!(
        fault("[desk]\nhom US\n= L LN\npad LN x\n[Desk]"),
        "3 errors\n  \
         line 2: \"hom\" is not a rule: expected one of marks, classes, home, pad, fused, suffixes, \
         =\n  \
         line 4: \"x\" is not a number of digits: expected one from 1 to 12, such as pad LN 4\n  \
         line 5: \"[Desk]\" is not the name of a vendor: expected at most 32 lowercase letters, \
         digits and hyphens in brackets, such as [desk]"
    );
    let many = fault(&"x\n".repeat(1_000));
    assert!(many.starts_with("20 or more errors\n  line 1: "), "{many}");
    assert_eq!(many.lines().count(), 21);
    let long = fault(&format!("[desk]\n{}", "x".repeat(100_000)));
    assert!(long.starts_with(&format!("line 2: \"{}\"… is not", "x".repeat(40))), "{long}");
}

/// contract 21.16: every bound, at it and beyond it.
#[test]
fn bounds() {
    let is_ok = |text: &str| SymbolTable::parse(text.as_bytes()).is_ok();
    let vendors = |count: usize| -> String {
        (0..count).map(|number| format!("[v{number}]\nhome US\n")).collect()
    };
    assert!(is_ok(&vendors(16)));
    assert_eq!(
        fault(&vendors(17)),
        "line 33: \"[v16]\" is one vendor too many: leave some out, at most 16 are possible"
    );
    let marks = |count: usize| -> String {
        let lines = (1..count).map(|number| format!("= M{number} UN\n"));
        format!("[desk]\nhome US\n{}", lines.collect::<String>())
    };
    assert!(is_ok(&marks(16)));
    assert_eq!(
        fault(&marks(17)),
        "line 18: it is one mark too many for the market of UN: leave some out, at most 16 are \
         possible"
    );
    // A mark of two exchanges of one market is one mark of it.
    assert!(is_ok(&marks(16).replace("= M15 UN", "= M15 UN UW")));
    let name = |bytes: usize| format!("[{}]\nhome US", "n".repeat(bytes));
    assert!(is_ok(&name(32)) && !is_ok(&name(33)));
    let mark = |bytes: usize| format!("[desk]\n= {} US", "M".repeat(bytes));
    assert!(is_ok(&mark(16)) && !is_ok(&mark(17)));
    let codes = "US LN GY FP NA BB HK JT SS DC FH AT NZ SP KP TT";
    assert!(is_ok(&format!("[desk]\n= ALL {codes}")));
    assert_eq!(
        fault(&format!("[desk]\n= ALL {codes} AV")),
        "line 2: there are 17 exchange codes: leave some out, at most 16 are possible"
    );
    let filled = |bytes: usize| format!("{DESK}#{}", " ".repeat(bytes - DESK.len() - 1));
    assert!(is_ok(&filled(SYMBOL_TABLE_BYTES_MAX)));
    assert_eq!(
        fault(&filled(SYMBOL_TABLE_BYTES_MAX + 1)),
        "it has more than 1048576 bytes: expected a table of symbols, which is smaller"
    );
}

/// contract 21.15: a process has one table: another is refused once it was used.
#[test]
fn a_table_that_comes_too_late() {
    assert!(Vendor::from_name("symbol:yahoo").is_some());
    let late = SymbolTable::parse(DESK.as_bytes()).unwrap().put_in_force().unwrap_err();
    assert!(late.to_string().starts_with("symbols are already read and written"), "{late}");
    assert!(Vendor::from_name("symbol:desk").is_none());
}
