// The rows of a table that are not asked: its footer, rows without an identifier, and its heading
// where it is repeated. `figdex map` leaves out the same rows (`src/commands/map/left_out.rs`):
// `tests/tables.jsonl` holds for both.

import { isBlank } from "./table.js";

/** The words for "total", folded, as those of lists (`index/src/resolve/footer.rs`). */
const TOTALS = new Set(["total", "totals", "grandtotal", "overalltotal", "subtotal", "portfoliototal", "totalportfolio", "accounttotal",
  "totalaccount", "sum", "summe", "summen", "gesamt", "gesamtsumme", "zwischensumme", "insgesamt", "totale", "totali", "totaux",
  "totalgeneral", "soustotal", "somme", "sommetotale", "totalegenerale", "totaalbedrag", "somma", "suma", "totaal", "итого", "всего",
  "razem", "合計", "総合計", "総計", "小計", "合计"]);

/** The words for "total" that end other words. */
const ENDINGS = ["合計", "総計", "小計", "合计"];

const textOf = (row, place) => (row[place] ?? "").trim();

/** Whether a text is a word for "total". Letter case, accents, blanks and punctuation do not count. */
function isTotal(text) {
  if (text.length > 64) return false;
  const word = text.normalize("NFKD").replace(/[^\p{L}\p{N}]+/gu, "").toLowerCase().replace(/^σ/u, "");
  return TOTALS.has(word) || ENDINGS.some((ending) => word.endsWith(ending));
}

/** Whether a text begins or ends with a word for "total". */
function hasTotal(text) {
  const words = text.split(/\s+/);
  return [1, 2].some((count) => count <= words.length && (isTotal(words.slice(0, count).join(" ")) || isTotal(words.slice(-count).join(" "))));
}

/**
 * A row as a part of a footer: a "total" whose cell of the identifier is blank, a "word" for "total"
 * in place of an identifier, a "note" (a blank row, or a single cell that is not an identifier), or "".
 */
function partOf(row, column, columns) {
  const first = [0, 1].find((place) => textOf(row, place)) ?? -1;
  if (first >= 0 && (first === column || !textOf(row, column))) {
    const text = textOf(row, first);
    if (isTotal(text)) return first === column ? "word" : "total";
    if (first !== column && hasTotal(text)) return "total";
  }
  if (isBlank(row)) return "note";
  if (columns < 2 || row.filter((cell) => cell.trim()).length > 1) return "";
  const own = textOf(row, column);
  return /^[a-z0-9]{5,12}$/i.test(own) && own.replace(/\D/g, "").length > 2 ? "" : "note";
}

/**
 * The place where the footer begins, -1 without one. Below its total there are only notes. `heading`
 * is the place of the heading, and `column` that of the identifiers.
 */
export function totalOf({ rows, columns }, heading, column) {
  let start = -1;
  for (let place = rows.length - 1; place > heading; place -= 1) {
    const part = partOf(rows[place], column, columns);
    if (part === "total") start = place;
    // Above a total, such a word may be a company.
    if (part === "word") return start < 0 ? place : start;
    if (!part) break;
  }
  return start;
}

/**
 * The reasons of the rows below the heading that are not asked, by their places. `total` is the place
 * where the footer begins, -1 for none.
 * @returns {Map<number, string>}
 */
export function leftOut({ rows, columns }, { heading, column, total }) {
  const names = rows[heading] ?? [];
  const isHeading = (row) => names.length && Array.from({ length: Math.max(row.length, names.length) }, (_, place) => place).every((place) => textOf(row, place) === textOf(names, place));
  const reasons = new Map();
  for (let place = heading + 1; place < rows.length; place += 1) {
    const row = rows[place];
    if (isBlank(row)) reasons.set(place, "no identifier");
    else if (total >= 0 && place >= total) reasons.set(place, ["total", "word"].includes(partOf(row, column, columns)) ? "footer: a total" : "footer: below the total");
    else if (isHeading(row)) reasons.set(place, "no identifier: the heading again");
    else if (!textOf(row, column)) reasons.set(place, "no identifier");
  }
  return reasons;
}
