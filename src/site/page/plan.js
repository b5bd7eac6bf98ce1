// The plan of a mapping: each row with its kind, groups of similar rows whose kind is set together,
// and the distinct jobs to send.

import { identify, faultAs } from "./identify.js";

/** The plan of a column of values. */
export function plan(values) {
  const groups = new Map();
  const rows = values.map((text, place) => {
    const { value, kinds, sure, form, fault, narrowed } = identify(text);
    let group = groups.get(form);
    if (!group) groups.set(form, group = { form, kinds, sure, kind: kinds[0], count: 0, example: value, fault });
    group.count += 1;
    return { place, value, group, narrowed, own: "" };
  });
  return { rows, groups: [...groups.values()].sort((a, b) => Number(a.sure) - Number(b.sure) || b.count - a.count) };
}

/** The kind of a row: as set for the row, or else for its group. */
export const kindOf = (row) => row.own || row.group.kind;

/** The fault of a row as its kind, or "". Rounded numbers are wrong as any kind. */
export function faultOf(row) {
  return faultAs(kindOf(row), row.value) || (row.group.form === "Rounded by a spreadsheet" ? row.group.fault : "");
}

/** Whether some rows have their own exchange code, which fails the whole batch if unknown. */
export const hasOwnCodes = (rows) => rows.some((row) => row.narrowed?.filter.exchCode && kindOf(row) === "TICKER");

/**
 * The distinct jobs: `{job, rows}`. Rows with a fault get no job; when the list of exchange codes
 * is given, neither do rows with an unknown one.
 */
export function jobs(rows, filter, exchCodes = null) {
  const byKey = new Map();
  const faulty = [];
  for (const row of rows) {
    const kind = kindOf(row);
    const own = kind === "TICKER" && row.narrowed ? row.narrowed : { value: row.value, filter: {} };
    const code = own.filter.exchCode;
    const fault = faultOf(row) || (code && exchCodes && !exchCodes.has(code) ? `This server does not know the exchange code ${code}.` : "");
    if (fault) { faulty.push({ row, fault }); continue; }
    const key = `${kind} ${row.value}`;
    const known = byKey.get(key);
    if (known) known.rows.push(row);
    else byKey.set(key, { job: { idType: kind, idValue: own.value, ...filter, ...own.filter }, rows: [row] });
  }
  return { jobs: [...byKey.values()], faulty };
}
