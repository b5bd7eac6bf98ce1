// Rows as CSV (RFC 4180, UTF-8, every cell in quotes) or for the clipboard. A spreadsheet runs a
// cell as a formula if it starts with = + - or @, even after blanks or hidden characters; some also
// accept the wide forms of these signs. An apostrophe in front makes such a cell text. A number is
// not a formula.

/** The members of a result row that a file has as columns. */
export const FIELDS = ["figi", "name", "ticker", "exchCode", "compositeFIGI", "securityType", "marketSector", "shareClassFIGI", "securityType2", "securityDescription"];

const GUARDED = /^[\s\u0000-\u001f\u200b-\u200f\u2060\ufeff]*[=+\-@＝＋－＠]|^[\t\r\n]/;
/** A number, perhaps with a currency, a percent sign and marks between thousands; or only dashes. */
const NUMBER = /^ *(?:[+-] ?\p{Sc}? ?\d+(?:[.,'’ \u00a0\u202f]\d+)*[.,]?\s?[%‰\p{Sc}]?|-{1,3}) *$/u;

function guarded(value) {
  const text = String(value ?? "");
  return GUARDED.test(text) && !NUMBER.test(text) ? `'${text}` : text;
}

const cell = (value) => `"${guarded(value).replaceAll('"', '""')}"`;

export const line = (cells) => `${cells.map(cell).join(",")}\r\n`;

/** A line in the clipboard format of spreadsheets: cells between tabs. */
export const tabbed = (cells) => `${cells.map((value) => guarded(value).replace(/[\t\r\n]+/g, " ")).join("\t")}\n`;

/** Makes the browser save a text, given in pieces. The mark in front shows that it is UTF-8. */
export function download(pieces, name) {
  const address = URL.createObjectURL(new Blob(["\uFEFF", ...pieces], { type: "text/csv;charset=utf-8" }));
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}
