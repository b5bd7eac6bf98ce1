// Reads a column of identifiers from a pasted text or a file: one a line, or the first column of
// CSV (comma, semicolon or tab). A heading is recognised and left out.

/** The maximum number of rows. More would fill a browser's memory. */
export const ROWS_MAX = 200_000;

const HEADING = /^"?(id_?)?(isin|cusip|cins|sedol|figi|ticker|symbol|identifier|id|id_?value|wkn|wertpapier|common|code|security|instrument|occ[ _]symbol)s?([ _](code|number|no|id|value))?"?$/i;

/**
 * The values, the heading if there is one, and `cut`, the number of rows beyond the maximum.
 * @returns {{values: string[], heading: string, cut: number}}
 */
export function readColumn(text) {
  const clean = text.replace(/^\uFEFF/, "");
  const delimiter = delimiterOf(clean);
  let values = firstCells(clean, delimiter);
  // A single line of several cells is a list, not a record.
  if (values.length === 1 && delimiter) values = clean.trim().split(delimiter).map(unquoted).filter(Boolean);
  const heading = values.length > 1 && HEADING.test(values[0]) ? values.shift() : "";
  const cut = Math.max(0, values.length - ROWS_MAX);
  return { values: cut ? values.slice(0, ROWS_MAX) : values, heading, cut };
}

function delimiterOf(text) {
  const sample = text.slice(0, 4000);
  return ["\t", ";", ","].find((delimiter) => sample.includes(delimiter)) ?? "";
}

const unquoted = (cell) => cell.trim().replace(/^"([\s\S]*)"$/, "$1").replaceAll('""', '"').trim();

function firstCells(text, delimiter) {
  if (!text.includes('"')) {
    return text.split(/\r\n|\n|\r/).map((line) => {
      const end = delimiter ? line.indexOf(delimiter) : -1;
      return (end < 0 ? line : line.slice(0, end)).trim();
    }).filter(Boolean);
  }
  // With quotes a cell may hold delimiters and line breaks (RFC 4180).
  const cells = [];
  let cell = "", isFirst = true, isQuoted = false;
  const end = () => {
    if (cell.trim()) cells.push(unquoted(cell));
    cell = "";
    isFirst = true;
  };
  for (const character of text) {
    if (character === '"') isQuoted = !isQuoted;
    if (!isQuoted && (character === "\n" || character === "\r")) { end(); continue; }
    if (!isQuoted && character === delimiter) { isFirst = false; continue; }
    if (isFirst) cell += character;
  }
  end();
  return cells.filter(Boolean);
}

/** The text of a file, in UTF-8 or as its byte order mark says. Throws an Error to show. */
export async function readFile(file) {
  if (file.size > 64 * 1024 * 1024) throw new Error("The file is larger than 64 MB. Split it, or use the interface from a program.");
  const bytes = new Uint8Array(await file.arrayBuffer());
  if (bytes[0] === 0x50 && bytes[1] === 0x4b) throw new Error("This is a workbook or an archive. Save the sheet as CSV first, and choose that file.");
  const encoding = bytes[0] === 0xff && bytes[1] === 0xfe ? "utf-16le" : bytes[0] === 0xfe && bytes[1] === 0xff ? "utf-16be" : "utf-8";
  const text = new TextDecoder(encoding).decode(bytes);
  if (text.slice(0, 2000).includes("\0")) throw new Error("This is not a text file. Choose a text or CSV file with one identifier a line.");
  return text;
}
