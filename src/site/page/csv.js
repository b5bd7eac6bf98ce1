// Results as CSV: RFC 4180, UTF-8, every cell in quotes. A spreadsheet takes a cell that
// starts with = + - or @ (or a tab or line break before them) for a formula and would run
// it; such a cell gets an apostrophe in front, which the spreadsheet shows as text.

const GUARDED = /^\s*[=+\-@]|^[\t\r\n]/;

export function cell(value) {
  if (value === null || value === undefined) return '""';
  const text = String(value);
  return `"${(GUARDED.test(text) ? `'${text}` : text).replaceAll('"', '""')}"`;
}

export const line = (cells) => `${cells.map(cell).join(",")}\r\n`;

/** Hands a text, in pieces, to the browser as a file. */
export function download(pieces, name) {
  const address = URL.createObjectURL(new Blob(pieces, { type: "text/csv;charset=utf-8" }));
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}
