// The rows of a list and their identifiers. Each different identifier is sent once, and all rows
// with it share the answer.

import { isBlank } from "../shared/table.js";

export const STATUSES = { resolved: "Resolved", ambiguous: "Ambiguous", unknown: "Unknown", invalid: "Invalid" };

const BLANK = { status: "invalid", error: "it is blank" };

/**
 * The rows after the heading, and their different identifiers.
 * @param {{rows: string[][]}} table
 * @returns {{rows: object[], entries: object[]}} a row is `{number, text, entry}`, where `number`
 * counts all rows of the table from 1; an entry is `{text, job, rows, answer, chosen, correction, before}`, where
 * `before` is the answer before a correction
 */
export function listOf(table, heading, column, idType) {
  const byText = new Map();
  const blank = { text: "", rows: [], answer: BLANK };
  const rows = [];
  for (let place = heading + 1; place < table.rows.length; place += 1) {
    const text = (table.rows[place][column] ?? "").trim();
    let entry = text ? byText.get(text) : blank;
    if (!entry) byText.set(text, entry = { text, job: jobOf(text, idType), rows: [], answer: null, chosen: null, correction: "" });
    const row = { number: place + 1, text, entry, isBlank: isBlank(table.rows[place]) };
    entry.rows.push(row);
    rows.push(row);
  }
  return { rows, entries: [...byText.values()] };
}

/** A text is sent unchanged for recognition, or as an identifier of a given kind. */
export const jobOf = (text, idType) => (idType ? { idType, idValue: text } : text);

/** The type to try next for an unknown identifier, since its column may hold both. */
const ALSO = { ID_BB_GLOBAL: "COMPOSITE_ID_BB_GLOBAL", COMPOSITE_ID_BB_GLOBAL: "ID_BB_GLOBAL_SHARE_CLASS_LEVEL", ID_CUSIP: "ID_CINS" };

/** The job that may find an identifier after `job` has not; null when there is none. */
export const nextJob = (job) => (ALSO[job.idType] ? { ...job, idType: ALSO[job.idType] } : null);

/** The status of an entry, after a person's decision if there is one; "" before its answer. */
export const statusOf = ({ answer, chosen }) => (!answer ? "" : chosen ? "resolved" : answer.status);

/** The final rows of an entry: one if it is resolved, the candidates if it is ambiguous. */
export const matchesOf = ({ answer, chosen }) => (chosen ? [chosen] : answer?.data ?? []);

/** The idTypes that an entry was read as. */
export const idTypesOf = ({ answer }) => answer?.idTypes ?? (answer?.idType ? [answer.idType] : []);

/** The way the row was found: `only`, a step, or a person's choice. */
export const byOf = ({ answer, chosen }) => (chosen ? "chosen by you" : answer?.by ?? "");

/** The reason why an entry has no row, and a person's correction. */
export function reasonOf({ answer, chosen, text, correction }) {
  const corrected = correction ? `corrected by you from ${text} to ${correction}` : "";
  if (!answer) return corrected || "not asked";
  const open = answer.idTypes ? `different securities as ${answer.idTypes.join(" and ")}` : `${answer.matches} rows may be meant`;
  const reason = { unknown: "not found", invalid: answer.error, ambiguous: chosen ? "" : open }[answer.status] ?? "";
  const slip = answer.correction && reason ? `${reason}; did you mean ${answer.correction}?` : reason;
  return [corrected, slip].filter(Boolean).join("; ");
}
