//! The heading of a table of several columns. Brokers write a title, an account and a date above
//! it. The page does the same (`src/site/page/shared/heading.js`), and one file of cases
//! (`tests/tables.jsonl`) holds for both.

/// The number of first rows among which the heading is looked for.
pub(super) const ROWS_MAX: usize = 60;

/// The rows below a heading that are compared with it.
const BELOW_MAX: usize = 20;

/// The longest name of a column, in characters.
const NAME_CHARS_MAX: usize = 100;

/// Names of columns that identify a security. A row with one of them is a heading, even if no
/// column below has digits.
const NAMES: [&str; 24] = [
    "isin",
    "isin code",
    "cusip",
    "sedol",
    "figi",
    "wkn",
    "valor",
    "valoren",
    "valor no",
    "ticker",
    "tickers",
    "symbol",
    "symbols",
    "ric",
    "identifier",
    "identifiers",
    "security id",
    "instrument",
    "security",
    "銘柄コード",
    "証券コード",
    "コード",
    "銘柄",
    "kennnummer",
];

/// The place of the heading among the first rows of a table: the first row that is nearly as wide
/// as the table, or else one below a blank row, or else the first one of several cells. Its cells
/// are names, and one of its columns has digits below the name or a name that says what it holds.
/// `None` when there is no such row, and in a table of one column.
pub(super) fn heading_of<S: AsRef<str>>(rows: &[Vec<S>]) -> Option<usize> {
    let rows = &rows[..rows.len().min(ROWS_MAX)];
    let widest = rows.iter().map(|row| filled(row)).max()?;
    let is_wide = |row: &Vec<S>| filled(row) > 1 && 5 * filled(row) >= 3 * widest;
    let wide = rows.iter().position(is_wide);
    let several = rows.iter().position(|row| filled(row) > 1);
    let below =
        (1..rows.len()).filter(|place| is_wide(&rows[*place]) && filled(&rows[place - 1]) == 0);
    let mut places = wide.into_iter().chain(below).chain(several);
    places.find(|place| is_heading(&rows[*place], &rows[place + 1..]))
}

fn is_heading<S: AsRef<str>>(row: &[S], rows: &[Vec<S>]) -> bool {
    let labels = row.iter().filter(|cell| is_label(cell.as_ref())).count();
    if 5 * labels < 4 * filled(row) {
        return false;
    }
    let below = rows.iter().filter(|row| filled(row) > 1);
    let below: Vec<&Vec<S>> = below.take(BELOW_MAX).collect();
    let is_above_digits = |column: usize| {
        let cells = below.iter().filter_map(|row| row.get(column)).map(AsRef::as_ref);
        let cells: Vec<&str> = cells.filter(|cell| !cell.trim().is_empty()).collect();
        let digits = cells.iter().filter(|cell| has_digit(cell)).count();
        !cells.is_empty() && 5 * digits >= 3 * cells.len()
    };
    let names = row.iter().enumerate().map(|(column, cell)| (column, cell.as_ref()));
    let mut names = names.filter(|(_, name)| is_label(name) && !has_digit(name));
    names.any(|(column, name)| is_known(name) && !below.is_empty() || is_above_digits(column))
}

/// The number of cells that are not blank.
fn filled<S: AsRef<str>>(row: &[S]) -> usize {
    row.iter().filter(|cell| !cell.as_ref().trim().is_empty()).count()
}

/// Whether a cell may name a column. An identifier, a number, a date and a sentence do not.
fn is_label(cell: &str) -> bool {
    let cell = cell.trim();
    let first = cell.chars().find(|one| one.is_alphanumeric());
    let digits = cell.chars().filter(is_digit).count();
    let is_identifier =
        digits > 2 && cell.chars().count() > 5 && !cell.contains(char::is_whitespace);
    cell.chars().any(char::is_alphabetic)
        && first.is_some_and(|first| !is_digit(&first))
        && !is_identifier
        && cell.chars().count() <= NAME_CHARS_MAX
}

/// A digit, also in full width.
fn is_digit(one: &char) -> bool {
    matches!(one, '0'..='9' | '０'..='９')
}

fn has_digit(cell: &str) -> bool {
    cell.chars().any(|one| is_digit(&one))
}

fn is_known(name: &str) -> bool {
    let name = name.trim().trim_end_matches(['.', ':', '#']).trim_end().to_lowercase();
    NAMES.contains(&&*name)
}
