// The rows of a list and their identifiers. Each different identifier is sent once, and all rows
// with it share the answer. With a column of currencies or of days, each is sent once for each of them.

import { leftOut } from "../shared/footer.js";
import { briefly, coverageOf, spanOf } from "../shared/past.js";

export const STATUSES = {
  resolved: "Resolved", ambiguous: "Ambiguous", historical: "Historical", gone: "Gone", uncertain: "Uncertain", outOfCoverage: "Not covered",
  unknown: "Unknown", invalid: "Invalid",
};
/** The statuses that only the past of an index gives. */
export const OF_PAST = new Set(["historical", "gone", "uncertain", "outOfCoverage"]);

/**
 * The rows after the heading, without those that are left out (`leftOut`), and their different identifiers.
 * @param {{rows: string[][]}} table
 * @param {{heading: number, column: number, idType: string, currency: number, name: number, total: number, dayColumn: number}} reading
 * the places of rows and columns, -1 for none
 * @returns {{rows: object[], entries: object[], left: Map<number, string>}} a row is `{number, text, name, entry}`, where `number`
 * counts all rows of the table from 1, and `name` is the list's own name of the security; an entry is `{text, currency, day, job, rows, answer, chosen, correction, before}`, where
 * `before` is the answer before a correction
 */
export function listOf(table, { heading, column, idType, currency, name = -1, total, dayColumn = -1 }) {
  const known = new Map();
  const left = leftOut(table, { heading, column, total });
  const rows = [];
  for (let place = heading + 1; place < table.rows.length; place += 1) {
    if (left.has(place)) continue;
    const cell = (at) => (table.rows[place][at] ?? "").trim();
    const text = cell(column), own = currency < 0 ? "" : cell(currency);
    const day = dayColumn < 0 ? null : cell(dayColumn);
    const key = `${own}\n${day}\n${text}`;
    let entry = known.get(key);
    if (!entry) known.set(key, entry = { text, currency: own, day, job: jobOf(text, idType, own, day), rows: [], answer: null, chosen: null, correction: "" });
    const row = { number: place + 1, text, name: name < 0 ? "" : cell(name), entry };
    entry.rows.push(row);
    rows.push(row);
  }
  return { rows, entries: [...known.values()], left };
}

/** The types that the server reads from a text. An identifier of another type must be exact. */
const READ = new Set(["ID_BB_GLOBAL", "COMPOSITE_ID_BB_GLOBAL", "ID_BB_GLOBAL_SHARE_CLASS_LEVEL", "ID_ISIN", "ID_CUSIP", "ID_CINS",
  "ID_CUSIP_8_CHR", "ID_SEDOL", "ID_COMMON", "ID_WERTPAPIER", "ID_ITALY", "OCC_SYMBOL", "OPRA_SYMBOL", "TICKER"]);

/**
 * A text is sent unchanged for recognition, or as a text of a column of the given kind, so that
 * `BRK.B` and `="US4592001014"` are found there too (contract 17.13). A currency narrows both; a blank
 * one narrows nothing. `day` is that of the row, or null; a blank one is sent, because it is a fault.
 */
export function jobOf(text, idType, currency, day = null) {
  if (!idType && !currency && day === null) return text;
  const asked = !idType ? { text } : READ.has(idType) ? { text, as: idType } : { idType, idValue: text };
  return { ...asked, ...(currency ? { currency } : {}), ...(day === null ? {} : { asOf: day }) };
}

/**
 * The job that may find an identifier after `job` has not; null when there is none. A column of
 * composite FIGIs may hold those of share classes.
 */
export const nextJob = (job) => (job.as === "COMPOSITE_ID_BB_GLOBAL" ? { ...job, as: "ID_BB_GLOBAL_SHARE_CLASS_LEVEL" } : null);

/** The status of an entry, after a person's decision if there is one; "" before its answer. */
export const statusOf = ({ answer, chosen }) => (!answer ? "" : chosen ? "resolved" : answer.status);

/** The final rows of an entry: one if it is resolved, the candidates if it is ambiguous. */
export const matchesOf = ({ answer, chosen }) => (chosen ? [chosen] : answer?.data ?? []);

/** The rows that an entry meant at another time, or may have meant. */
export const formerOf = ({ answer, chosen }) => (chosen ? [] : [answer?.former ?? []].flat());

/** The members of an answer from the past, besides its rows: `{former, today, validFrom, validTo, basis, successor}`, of one row. */
export function pastOf({ answer, chosen }) {
  if (!answer || chosen) return chosen ?? {};
  const [former, another] = formerOf({ answer });
  return !former ? answer : another ? {} : { ...former, ...answer, former };
}

/** Whether only the past knows an identifier, or knows nothing for its day. */
export const isOfPast = (entry) => OF_PAST.has(statusOf(entry)) || (statusOf(entry) === "ambiguous" && formerOf(entry).length > 0);

/** The reason why an identifier that was known, or may have been, has no row. */
function reasonOfPast(answer) {
  const words = (row) => [row.figi, briefly(row) && `(${briefly(row)})`].filter(Boolean).join(" ");
  const former = formerOf({ answer });
  switch (answer.status) {
    case "historical": case "gone": {
      const span = spanOf(answer);
      return `was ${words(former[0])}${span ? `, ${span}` : ""}`;
    }
    case "ambiguous": return `was of ${former.map(words).join(" or ")}`;
    case "uncertain":
      return `not observed on this day: ${[...former.map(words), ...(former.length > 1 ? [] : ["nothing"])].join(" or ") || "the rows before and after differ"}`;
    default: return coverageOf(answer.coverage);
  }
}

/** The idTypes that an entry was read as. */
export const idTypesOf = ({ answer }) => answer?.idTypes ?? (answer?.idType ? [answer.idType] : []);

/** The way the row was found: `only`, a step, or a person's choice. */
export const byOf = ({ answer, chosen }) => (chosen ? "chosen by you" : answer?.by ?? "");

/** The reason why an entry has no row, and a person's correction. */
export function reasonOf({ answer, chosen, text, correction }) {
  const corrected = correction ? `corrected by you from ${text} to ${correction}` : "";
  if (!answer) return corrected || "not asked";
  const open = answer.reason ?? (answer.idTypes ? `different securities as ${answer.idTypes.join(" and ")}` : `${answer.matches} rows may be meant`);
  const reason = isOfPast({ answer, chosen }) ? reasonOfPast(answer) : { unknown: "not found", invalid: answer.error, ambiguous: chosen ? "" : open }[answer.status] ?? "";
  const slip = answer.correction && reason ? `${reason}; did you mean ${answer.correction}?` : reason;
  return [corrected, slip].filter(Boolean).join("; ");
}
