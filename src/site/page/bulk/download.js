// The download of a list: every pasted row with all of its cells, in order. New columns after these
// have the result for the row's identifier.

import { FIELDS, line } from "../shared/csv.js";
import { cellOf } from "./also.js";
import { leftOut } from "../shared/footer.js";
import { byOf, formerOf, idTypesOf, matchesOf, pastOf, reasonOf, statusOf } from "./list.js";

const ADDED = ["row", "input", "match", "idType", "matches", "by", "reason", ...FIELDS];
/** The columns after those, if the index keeps a past. */
const OF_PAST = ["asOf", "formerFigi", "todayFigi", "validFrom", "validTo", "basis", "successorFigi"];

/**
 * The lines of the file. Rows above the heading, such as a title, stay there, and so do rows that are
 * left out, with the reason. With `isMany`, an ambiguous identifier has a line for each match.
 */
export function linesOf(rows, { table, heading, column, total, isMany, hasPast, also = [] }) {
  const names = [...ADDED, ...also, ...(hasPast ? OF_PAST : [])];
  const cells = (row) => Array.from({ length: table.columns }, (_, place) => row[place] ?? "");
  const own = heading < 0 ? cells([]).map((_, place) => `Column ${place + 1}`) : cells(table.rows[heading]);
  const taken = new Set(own.map((name) => name.trim().toLowerCase()));
  const added = names.map((name) => (taken.has(name.toLowerCase()) ? `figdex_${name}` : name));
  const empty = names.map(() => "");
  const lines = table.rows.slice(0, Math.max(0, heading)).map((row) => line([...cells(row), ...empty]));
  lines.push(line([...own, ...added]));
  const left = leftOut(table, { heading, column, total });
  const byPlace = new Map(rows.map((row) => [row.number - 1, row]));
  for (let place = heading + 1; place < table.rows.length; place += 1) {
    if (left.has(place)) {
      lines.push(line([...cells(table.rows[place]), ...names.map((name) => (name === "reason" ? left.get(place) : ""))]));
      continue;
    }
    const { number, text, entry } = byPlace.get(place);
    const status = statusOf(entry);
    const matches = matchesOf(entry);
    const shown = status === "resolved" ? matches : status === "ambiguous" && isMany ? matches : [];
    const count = entry.answer?.matches ?? (status === "resolved" ? 1 : 0);
    const head = [...cells(table.rows[number - 1]), number, text, status || "not asked", idTypesOf(entry).join("|"), count, byOf(entry), reasonOf(entry)];
    for (const match of shown.length ? shown : [{}]) lines.push(line([...head, ...[...FIELDS, ...also].map((name) => cellOf(match[name])), ...(hasPast ? pastCells(entry, shown.length > 1 ? match : {}) : [])]));
  }
  return lines;
}

/** The cells of the past. One of several rows of a day has its own days. */
function pastCells(entry, match) {
  const { today, validFrom, validTo, basis, successor } = { ...pastOf(entry), ...match };
  const former = formerOf(entry);
  const figis = (rows) => rows.map(({ figi }) => figi).join("|");
  const present = former.length > 1 ? former.map((row) => row.today).filter(Boolean) : [today ?? []].flat();
  return [entry.answer?.asOf, figis(former), figis(present), validFrom, validTo, basis, successor];
}

const PREFIX = /^figdex_/i;
/** The first names that a download adds, and those that `figdex map` adds. */
const SIGNS = [ADDED.slice(0, 7), ["match", "matches", "reason"]].map((names) => names.map((name) => name.toLowerCase()));

/**
 * The table of an earlier download, without the columns that it has added: `{table, column}`, where
 * `column` has the identifiers that were asked about, -1 if that is not known. Null for any other
 * table.
 */
export function original(table, heading) {
  const names = (table.rows[heading] ?? []).map((name) => name.trim().replace(PREFIX, "").toLowerCase());
  const sign = SIGNS.find((one) => names.some((_, at) => at > 0 && one.every((name, place) => names[at + place] === name)));
  if (!sign) return null;
  const end = names.findIndex((_, at) => at > 0 && sign.every((name, place) => names[at + place] === name));
  const rows = [];
  let column = -1;
  if (sign === SIGNS[0]) {
    const below = table.rows.slice(heading + 1).filter((row) => row[end + 1]?.trim());
    const same = (at) => below.filter((row) => row[at]?.trim() === row[end + 1].trim()).length;
    column = below.length ? names.slice(0, end).findIndex((_, at) => same(at) > 0.9 * below.length) : -1;
  }
  for (const [place, row] of table.rows.entries()) {
    const number = sign === SIGNS[0] && place > heading ? row[end] : "";
    // An ambiguous identifier may have a line for each match.
    if (!number || table.rows[place - 1][end] !== number) rows.push(row.slice(0, end));
  }
  return { table: { ...table, rows, columns: end }, column };
}
