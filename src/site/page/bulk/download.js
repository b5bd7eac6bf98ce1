// The download of a list: every pasted row with all of its cells, in order. New columns after these
// have the result for the row's identifier.

import { FIELDS, line } from "../shared/csv.js";
import { byOf, idTypesOf, matchesOf, reasonOf, statusOf } from "./list.js";

const ADDED = ["row", "input", "match", "idType", "matches", "by", "reason", ...FIELDS];

/**
 * The lines of the file. Rows above the heading, such as a title, stay there. With `isMany`, an
 * ambiguous identifier has a line for each match.
 */
export function linesOf(table, heading, rows, isMany) {
  const cells = (row) => Array.from({ length: table.columns }, (_, place) => row[place] ?? "");
  const own = heading < 0 ? cells([]).map((_, place) => `Column ${place + 1}`) : cells(table.rows[heading]);
  const taken = new Set(own.map((name) => name.trim().toLowerCase()));
  const added = ADDED.map((name) => (taken.has(name.toLowerCase()) ? `figdex_${name}` : name));
  const empty = ADDED.map(() => "");
  const lines = table.rows.slice(0, Math.max(0, heading)).map((row) => line([...cells(row), ...empty]));
  lines.push(line([...own, ...added]));
  for (const { number, text, entry } of rows) {
    const status = statusOf(entry);
    const matches = matchesOf(entry);
    const shown = status === "resolved" ? matches : status === "ambiguous" && isMany ? matches : [];
    const count = entry.answer?.matches ?? (status === "resolved" ? 1 : 0);
    const head = [...cells(table.rows[number - 1]), number, text, status || "not asked", idTypesOf(entry).join("|"), count, byOf(entry), reasonOf(entry)];
    for (const match of shown.length ? shown : [{}]) lines.push(line([...head, ...FIELDS.map((name) => match[name])]));
  }
  return lines;
}
