// The columns of a pasted table, as the server recognises them: the column of identifiers, the type
// of these, and whether the first row is a heading.

import * as api from "../shared/api.js";
import { totalOf } from "../shared/footer.js";
import { headingOf } from "../shared/heading.js";
import { isBlank } from "../shared/table.js";

/** The server's limits on one question about columns. */
const COLUMNS_MAX = 64;
const TEXTS_MAX = 10_000;
/** The number of first rows whose texts are also recognised one by one. */
const TOP_ROWS = 10;

/** The types of columns that are preferred as identifiers, in order. Other types follow; a ticker comes last. */
const FIRST = ["ID_BB_GLOBAL", "ID_ISIN", "OCC_SYMBOL", "ID_SEDOL", "ID_CUSIP"];

/** The usual headings of a column with identifiers of several kinds. */
const NAMED = /^((security|instrument) (id|code|identifier)|identifier|isin|cusip|sedol|figi|ticker|symbol)s?\b\D*$/i;

/** A heading that names an account or its owner. Its numbers may have the form of a CUSIP. */
const ACCOUNT = /\b(account|acct|portfolio|konto|depot|client|customer|kunde|compte|conto|cuenta|rekening)|口座/i;

/**
 * Asks the server about the columns of a table. `known` is the column of identifiers, if that is
 * known, else -1.
 * @returns {Promise<{kinds: object[], heading: number, column: number, texts: number, limits: object}>}
 * `kinds` has `{idType, share}` for each column, or `{}`; `heading` is the place of the heading, -1
 * without one; `texts` is the number of values of the column that were asked about.
 */
export async function recognise({ rows: all, columns }, known, signal) {
  // Which column has the identifiers is not known yet: mostly the first one.
  const total = totalOf({ rows: all, columns }, headingOf(all), Math.max(0, known));
  const rows = total < 0 ? all : all.slice(0, total);
  // The heading of several columns is known by its form, that of one column by the types below it.
  const named = headingOf(rows);
  const start = named < 0 ? rows.findIndex((row) => !isBlank(row)) : named + 1;
  const names = rows[named < 0 ? start : named];
  const count = Math.min(columns, COLUMNS_MAX);
  const places = Array.from({ length: count }, (_, place) => place);
  const tops = Math.max(0, Math.min(TOP_ROWS, Math.floor(COLUMNS_MAX / count) - 1, rows.length - start));
  const from = named < 0 ? start + 1 : start;
  const below = rows.slice(from, from + Math.max(1, Math.floor(TEXTS_MAX / count) - tops));
  const cell = (row, place) => (row[place] ?? "").trim();
  const asked = places.map((place) => below.map((row) => cell(row, place)));
  const headings = places.map((place) => cell(names, place));
  for (let top = 0; top < tops; top += 1) {
    for (const place of places) {
      asked.push([cell(rows[start + top], place)]);
      headings.push("");
    }
  }
  const { columns: found, limits } = await api.recogniseColumns(asked, headings, signal);
  const kinds = below.length ? found.slice(0, count) : found.slice(count, 2 * count);
  const texts = (place) => below.map((row) => cell(row, place)).filter(Boolean);
  // The number of the row, an account number, or one number for all rows, is rarely an identifier of
  // securities. Yet 1 to 9 are tickers in Hong Kong.
  const isCount = places.map((place) => isCounting(texts(place)));
  const isOdd = places.map((place) => isCount[place] || ACCOUNT.test(headings[place]) || (texts(place).length > 1 && new Set(texts(place)).size === 1));
  const rank = (place) => {
    const { idType, share } = kinds[place];
    return !idType ? 0 : isOdd[place] ? 0.5 : idType === "TICKER" ? 1 : 3 + share - [...FIRST, idType].indexOf(idType) / 1000;
  };
  const used = Math.min(count - 1, firstUsed(rows.slice(start)));
  const first = isCount[used] ? Math.max(used, places.findIndex((place) => place > used && !isCount[place] && texts(place).length)) : used;
  const column = known >= 0 ? known : places.reduce((best, place) => (rank(place) > rank(best) ? place : best), first);

  const { idType } = kinds[column];
  const asTexts = (place) => Math.max(1, texts(place).length);
  // A column with identifiers of several kinds has no kind itself. Then each of the first rows
  // shows its kind.
  if (!idType || isOdd[column]) {
    const found = mixed();
    if (!idType || (known < 0 && found.isMost)) return { kinds, heading: found.heading, column: found.column, texts: asTexts(found.column), limits };
  }
  if (named >= 0) return { kinds, heading: named, column, texts: asTexts(column), limits };
  let heading = -1;
  for (let top = 0; below.length && top < tops; top += 1) {
    const row = rows[start + top];
    // The row has an identifier, perhaps a faulty one.
    if (found[count * (1 + top) + column].idType === idType || /\d/.test(cell(row, column))) break;
    if (cell(row, column)) heading = start + top;
    if (idType === "TICKER") break; // only its heading makes it a column of tickers
  }
  return { kinds, heading, column, texts: asTexts(column), limits };

  /** The column with identifiers in most of the first rows, and the row with its heading. */
  function mixed() {
    const isOne = (top, place) => Boolean(found[count * (1 + top) + place].idType);
    const ones = (place) => (isOdd[place] ? 0 : Array.from({ length: Math.max(0, tops) }, (_, top) => isOne(top, place)).filter(Boolean).length);
    const most = known >= 0 ? known : places.reduce((best, place) => (ones(place) > ones(best) ? place : best), first);
    const isMost = 2 * ones(most) > tops;
    if (named >= 0) return { column: most, heading: named, isMost };
    for (let top = 0; below.length && top < tops && !isOne(top, most); top += 1) {
      const row = rows[start + top];
      if (NAMED.test(cell(row, most)) || isAboveNumbers(row, below.slice(top), most)) return { column: most, heading: start + top, isMost };
    }
    return { column: most, heading: -1, isMost };
  }
}

/** Whether texts are at least three numbers that count up by one. A few others, such as the word of a subtotal, do not count. */
function isCounting(texts) {
  const numbers = texts.filter((text) => /^\d{1,6}[.)]?$/.test(text)).map((text) => parseInt(text, 10));
  return numbers.length > 2 && numbers.length > 0.7 * texts.length && numbers.every((number, at) => !at || number === numbers[at - 1] + 1);
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
  const row = rows.find((one) => !isBlank(one)) ?? [""];
  return Math.max(0, row.findIndex((cell) => cell.trim()));
}

/** The name of a column: its heading, or its number. */
export function columnName(rows, heading, place) {
  const name = heading < 0 ? "" : (rows[heading][place] ?? "").trim().replace(/\s+/g, " ");
  return name || `Column ${place + 1}`;
}

/** `99.2 %` */
export const percent = (share) => `${(Math.floor(share * 1000) / 10).toLocaleString("en")} %`;
