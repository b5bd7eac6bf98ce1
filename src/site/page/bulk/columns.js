// The columns of a pasted table, as the server recognises them: the column of identifiers, the type
// of these, and whether the first row is a heading.

import * as api from "../shared/api.js";
import { isBlank } from "../shared/table.js";

/** The server's limits on one question about columns. */
const COLUMNS_MAX = 64;
const TEXTS_MAX = 10_000;
/** The most columns to ask about, and the number of first rows that may be the heading. */
const ASKED_MAX = 32;
const TOP_ROWS = 10;

/** The types of columns that are preferred as identifiers, in order. A ticker comes last. */
const FIRST = ["ID_BB_GLOBAL", "ID_ISIN", "OCC_SYMBOL", "ID_SEDOL", "ID_CUSIP"];

/** The usual headings of a column with identifiers of several kinds. */
const NAMED = /^((security|instrument) (id|code|identifier)|identifier|isin|cusip|sedol|figi|ticker|symbol)s?\b\D*$/i;

/**
 * Asks the server about the columns of a table.
 * @returns {Promise<{kinds: object[], heading: number, column: number, texts: number, limits: object}>}
 * `kinds` has `{idType, share}` for each column, or `{}`; `heading` is the place of the heading, -1
 * without one; `texts` is the number of rows that were asked about.
 */
export async function recognise({ rows, columns }, signal) {
  const start = rows.findIndex((row) => !isBlank(row));
  const count = Math.min(columns, ASKED_MAX);
  const places = Array.from({ length: count }, (_, place) => place);
  // The first rows are also recognised one by one: the heading is above the first identifier.
  const tops = Math.min(TOP_ROWS, Math.floor(COLUMNS_MAX / count) - 1, rows.length - start);
  const below = rows.slice(start + 1, start + 1 + Math.floor(TEXTS_MAX / count) - tops);
  const cell = (row, place) => (row[place] ?? "").trim();
  const asked = places.map((place) => below.map((row) => cell(row, place)));
  const headings = places.map((place) => cell(rows[start], place));
  for (let top = 0; top < tops; top += 1) {
    for (const place of places) {
      asked.push([cell(rows[start + top], place)]);
      headings.push("");
    }
  }
  const { columns: found, limits } = await api.recogniseColumns(asked, headings, signal);
  const kinds = below.length ? found.slice(0, count) : found.slice(count, 2 * count);
  const rank = ({ idType, share }) => (!idType ? 0 : idType === "TICKER" ? 1 : 3 + share - FIRST.indexOf(idType) / 1000);
  const column = places.reduce((best, place) => (rank(kinds[place]) > rank(kinds[best]) ? place : best), firstUsed(rows));

  const { idType } = kinds[column];
  // A column with identifiers of several kinds has no kind itself. Then each of the first rows
  // shows its kind.
  if (!idType) return { kinds, ...mixed(), texts: Math.max(1, below.length), limits };
  let heading = -1;
  for (let top = 0; below.length && top < tops; top += 1) {
    const row = rows[start + top];
    // The row has an identifier, perhaps a faulty one.
    if (found[count * (1 + top) + column].idType === idType || /\d/.test(cell(row, column))) break;
    if (!isBlank(row)) heading = start + top;
    if (idType === "TICKER") break; // only its heading makes it a column of tickers
  }
  return { kinds, heading, column, texts: Math.max(1, below.length), limits };

  /** The column with identifiers in most of the first rows, and the row with its heading. */
  function mixed() {
    const isOne = (top, place) => Boolean(found[count * (1 + top) + place].idType);
    const ones = (place) => Array.from({ length: Math.max(0, tops) }, (_, top) => isOne(top, place)).filter(Boolean).length;
    const most = places.reduce((best, place) => (ones(place) > ones(best) ? place : best), firstUsed(rows));
    for (let top = 0; below.length && top < tops && !isOne(top, most); top += 1) {
      const row = rows[start + top];
      if (NAMED.test(cell(row, most)) || isAboveNumbers(row, below.slice(top), most)) return { column: most, heading: start + top };
    }
    return { column: most, heading: -1 };
  }
}

/** Whether a row without digits is above a column of numbers, other than the identifiers. */
function isAboveNumbers(row, below, column) {
  const hasDigit = (cell) => /\d/.test(cell ?? "");
  if (row.some(hasDigit)) return false;
  return row.some((name, place) => {
    const cells = below.map((one) => one[place] ?? "").filter((cell) => cell.trim());
    return place !== column && name.trim() && cells.length > 1 && cells.filter(hasDigit).length > 0.9 * cells.length;
  });
}

/** The first column with a text. */
export function firstUsed(rows) {
  const row = rows.find((one) => !isBlank(one)) ?? [];
  return Math.max(0, row.findIndex((cell) => cell.trim()));
}

/** The name of a column: its heading, or its number. */
export function columnName(rows, heading, place) {
  const name = heading < 0 ? "" : (rows[heading][place] ?? "").trim().replace(/\s+/g, " ");
  return name || `Column ${place + 1}`;
}

/** `99.2 %` */
export const percent = (share) => `${(Math.floor(share * 1000) / 10).toLocaleString("en")} %`;
