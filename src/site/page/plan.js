// What will be asked: each row with its reading, alike rows in groups whose reading is
// set together, and the distinct jobs that they make.

import { identify, faultAs } from "./identify.js";

/** A plan of a column of values. */
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

/** How a row is read: as set for itself, or as its group. */
export const kindOf = (row) => row.own || row.group.kind;

/** What is wrong with a row as it is read, or "". Rounded numbers are wrong as any kind. */
export function faultOf(row) {
  return faultAs(kindOf(row), row.value) || (row.group.form === "Rounded by a spreadsheet" ? row.group.fault : "");
}

/** Whether some rows bring an exchange code of their own: an unknown one fails a whole batch. */
export const hasOwnCodes = (rows) => rows.some((row) => row.narrowed?.filter.exchCode && kindOf(row) === "TICKER");

/**
 * The distinct jobs: `{job, rows}`. Rows with a fault are asked of nobody; with the list
 * of exchange codes at hand, that is so for unknown ones too.
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
