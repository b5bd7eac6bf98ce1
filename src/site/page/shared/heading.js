// The heading of a table of several columns, as `figdex map` finds it
// (`ingest/src/table/heading.rs`).

import { isBlank } from "./table.js";

/** The number of first rows among which the heading is looked for, and of rows compared with it. */
const ROWS_MAX = 60;
const BELOW_MAX = 20;
const NAME_CHARACTERS_MAX = 100;

/**
 * Names of columns that identify a security. A row with one of them is a heading, even if no column
 * below has digits.
 */
const NAMES = new Set(["isin", "isin code", "cusip", "sedol", "figi", "wkn", "valor", "valoren", "valor no", "ticker",
  "tickers", "symbol", "symbols", "ric", "identifier", "identifiers", "security id", "instrument",
  "security", "銘柄コード", "証券コード", "コード", "銘柄", "kennnummer"]);

const DIGIT = /[0-9０-９]/;
const filled = (row) => row.filter((cell) => cell.trim()).length;

/**
 * The place of the heading: the first row that is nearly as wide as the table, or else one below a
 * blank row, or else the first one of several cells. Its cells are names, and one of its columns has
 * digits below the name or a name that says what it holds. -1 when there is no such row, and in a
 * table of one column.
 */
export function headingOf(all) {
  const rows = all.slice(0, ROWS_MAX);
  const widest = rows.reduce((most, row) => Math.max(most, filled(row)), 0);
  const isWide = (row) => filled(row) > 1 && 5 * filled(row) >= 3 * widest;
  const below = rows.map((row, place) => place).filter((place) => isWide(rows[place]) && place > 0 && isBlank(rows[place - 1]));
  const places = [rows.findIndex(isWide), ...below, rows.findIndex((row) => filled(row) > 1)];
  return places.find((place) => place >= 0 && isHeading(rows[place], rows.slice(place + 1))) ?? -1;
}

function isHeading(row, rows) {
  if (5 * row.filter(isLabel).length < 4 * filled(row)) return false;
  const below = rows.filter((one) => filled(one) > 1).slice(0, BELOW_MAX);
  const isAboveDigits = (column) => {
    const cells = below.map((one) => one[column] ?? "").filter((cell) => cell.trim());
    return cells.length > 0 && 5 * cells.filter((cell) => DIGIT.test(cell)).length >= 3 * cells.length;
  };
  return row.some((name, column) => isLabel(name) && !DIGIT.test(name) && ((isKnown(name) && below.length > 0) || isAboveDigits(column)));
}

/** Whether a cell may name a column. An identifier, a number, a date and a sentence do not. */
function isLabel(cell) {
  const text = cell.trim();
  const first = /[\p{L}\p{N}]/u.exec(text)?.[0];
  const isIdentifier = (text.match(/[0-9０-９]/g) ?? []).length > 2 && [...text].length > 5 && !/\s/.test(text);
  return /\p{L}/u.test(text) && !DIGIT.test(first) && !isIdentifier && [...text].length <= NAME_CHARACTERS_MAX;
}

const isKnown = (name) => NAMES.has(name.trim().replace(/[.:#]+$/, "").trimEnd().toLowerCase());
