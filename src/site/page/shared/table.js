// Reads a pasted or dropped text as a table of texts, with all rows and columns unchanged. The
// number of a row counts every row above it, including headings and blank rows. A quoted cell may
// contain line breaks (RFC 4180), so a row here is a row of the spreadsheet. `figdex map` cuts a
// text in the same way (`ingest/src/table/delimiter.rs`): `tests/tables.jsonl` holds for both.

/** The maximum number of rows. More would fill a browser's memory. */
export const ROWS_MAX = 200_000;

/** The delimiters, the preferred one first. A decimal comma makes the comma the last one. */
const DELIMITERS = ["\t", ";", "|", ","];
const SAMPLE_ROWS = 100;
const SAMPLE_CHARACTERS = 64 * 1024;

/**
 * Returns the rows as lists of cells; `columns`, the most cells of a row; `cut`, the number of rows
 * beyond the maximum; and the `delimiter`. Blank rows at the end are dropped.
 * @returns {{rows: string[][], columns: number, cut: number, delimiter: string}}
 */
export function readTable(text) {
  const clean = text.replace(/^\uFEFF/, "");
  const delimiter = delimiterOf(clean);
  let rows = split(clean, delimiter, Infinity);
  while (rows.length && isBlank(rows.at(-1))) rows.pop();
  // A single row of several cells is a list, not a record.
  if (rows.length === 1 && rows[0].length > 1) rows = rows[0].filter((cell) => cell.trim()).map((cell) => [cell]);
  const cut = Math.max(0, rows.length - ROWS_MAX);
  if (cut) rows.length = ROWS_MAX;
  return { rows, columns: rows.reduce((most, row) => Math.max(most, row.length), 0), cut, delimiter };
}

export const isBlank = (row) => row.every((cell) => !cell.trim());

/** The number of rows that are not blank. It shows whether a paste is a list. */
export const rowsIn = (text) => text.split(/\r\n|\n|\r/).filter((line) => line.trim()).length;

/**
 * The delimiter, or "" for a text of one column. A title above a table has other rows than the
 * table, and a decimal comma is not a delimiter: so the rows are cut by each delimiter, and compared.
 */
function delimiterOf(text) {
  const all = DELIMITERS.map((delimiter) => cutBy(text.slice(0, SAMPLE_CHARACTERS), delimiter));
  const comma = all.at(-1);
  const first = all.find(({ filled, cut }) => 2 * cut > filled);
  if (first) {
    // A cell may contain a semicolon in most rows of a text with commas.
    const isComma = 2 * comma.cut > comma.filled && comma.width > first.width && comma.ofWidth > first.ofWidth;
    return isComma ? "," : first.delimiter;
  }
  // Most rows are above the table or below it.
  const size = ({ width, ofWidth }) => (width > 2 && ofWidth > 1 ? ofWidth * (width - 1) : 0);
  const best = all.reduce((a, b) => (size(b) > size(a) ? b : a));
  if (size(best)) return best.delimiter;
  // Only a spreadsheet writes tabs.
  return all[0].cut ? "\t" : "";
}

/**
 * The first rows, cut by a delimiter: `filled`, those that are not blank; `cut`, those with several
 * cells; and `width`, the most frequent number of these cells, which `ofWidth` rows have.
 */
function cutBy(sample, delimiter) {
  const rows = split(sample, delimiter, SAMPLE_ROWS).filter((row) => !isBlank(row));
  const times = new Map();
  for (const { length } of rows) if (length > 1) times.set(length, (times.get(length) ?? 0) + 1);
  const [width, ofWidth] = [...times].reduce((a, b) => (b[1] > a[1] || (b[1] === a[1] && b[0] > a[0]) ? b : a), [0, 0]);
  return { delimiter, filled: rows.length, cut: rows.filter((row) => row.length > 1).length, width, ofWidth };
}

function split(text, delimiter, rowsMax) {
  const rows = [];
  const ends = delimiter ? new RegExp(`[\\r\\n${delimiter === "|" ? "\\|" : delimiter}]`, "g") : /[\r\n]/g;
  const endFrom = (place) => {
    ends.lastIndex = place;
    return ends.exec(text)?.index ?? text.length;
  };
  let cells = [], at = 0;
  while (at < text.length && rows.length < rowsMax) {
    const close = text[at] === '"' ? closing(text, at + 1) : -1;
    const end = endFrom(close < 0 ? at : close + 1);
    cells.push(close < 0 ? text.slice(at, end) : text.slice(at + 1, close).replaceAll('""', '"') + text.slice(close + 1, end));
    at = end + (text.startsWith("\r\n", end) ? 2 : 1);
    if (delimiter && text[end] === delimiter) {
      if (at < text.length) continue;
      cells.push("");
    }
    rows.push(cells);
    cells = [];
  }
  return rows;
}

/**
 * The place of the closing quote of a quoted cell, or -1. With -1, the opening quote is an ordinary
 * character.
 */
function closing(text, from) {
  for (let at = text.indexOf('"', from); at >= 0; at = text.indexOf('"', at + 2)) {
    if (text[at + 1] !== '"') return at;
  }
  return -1;
}
