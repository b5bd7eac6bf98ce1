// Reads a pasted or dropped text as a table of texts, with all rows and columns unchanged. The
// number of a row counts every row above it, including headings and blank rows. A quoted cell may
// contain line breaks (RFC 4180), so a row here is a row of the spreadsheet.

/** The maximum number of rows. More would fill a browser's memory. */
export const ROWS_MAX = 200_000;

const SAMPLE_ROWS = 50;
const SAMPLE_CHARACTERS = 50_000;

/**
 * Returns the rows as lists of cells; `columns`, the most cells of a row; and `cut`, the number of
 * rows beyond the maximum. Blank rows at the end are dropped.
 * @returns {{rows: string[][], columns: number, cut: number}}
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
  return { rows, columns: rows.reduce((most, row) => Math.max(most, row.length), 0), cut };
}

export const isBlank = (row) => row.every((cell) => !cell.trim());

/** The number of rows that are not blank. It shows whether a paste is a list. */
export const rowsIn = (text) => text.split(/\r\n|\n|\r/).filter((line) => line.trim()).length;

/** A tab always separates cells; another sign does only if most rows have it. */
function delimiterOf(text) {
  const sample = text.slice(0, SAMPLE_CHARACTERS);
  if (sample.includes("\t")) return "\t";
  const shares = [";", ",", "|"].map((delimiter) => {
    const rows = split(sample, delimiter, SAMPLE_ROWS).filter((row) => !isBlank(row));
    return [delimiter, rows.filter((row) => row.length > 1).length / Math.max(1, rows.length)];
  });
  const [best, share] = shares.reduce((a, b) => (b[1] > a[1] ? b : a));
  return share > 0.5 ? best : "";
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

/** The text of a file, in UTF-8 or as its byte order mark says. Throws an Error to show. */
export async function readFile(file) {
  if (file.size > 64 * 1024 * 1024) throw new Error("The file is larger than 64 MB. Split it, or use the command figdex map.");
  const bytes = new Uint8Array(await file.arrayBuffer());
  if (bytes[0] === 0x50 && bytes[1] === 0x4b) throw new Error("This is a workbook or an archive. Save the sheet as CSV first, and choose that file.");
  const encoding = bytes[0] === 0xff && bytes[1] === 0xfe ? "utf-16le" : bytes[0] === 0xfe && bytes[1] === 0xff ? "utf-16be" : "utf-8";
  const text = new TextDecoder(encoding).decode(bytes);
  if (text.slice(0, 2000).includes("\0")) throw new Error("This is not a text file. Choose a text or CSV file with one identifier a line.");
  return text;
}
