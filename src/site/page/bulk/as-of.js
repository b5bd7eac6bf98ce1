// The day as of which a list is mapped: today, one day for all rows, or the days of a column. It is
// shown if the index keeps a past.

import { el, fill, counted } from "../shared/dom.js";
import { about } from "../shared/about.js";
import { columnName } from "./columns.js";
import { coverageOf } from "../shared/past.js";

const DAY = /^\d{4}-\d\d-\d\d$/;

/**
 * The control. `change({day?, dayColumn?})` gets each change: `day` is null for today, and "" before
 * a day is entered; `dayColumn` is the place of a column, -1 for none. `update(work)` shows both.
 * @returns {{element: HTMLElement, update: (work: object) => void}}
 */
export function asOfField(change) {
  let columns = "";
  const select = el("select", { data: { field: "as of" }, on: { change: () => {
    change(select.value === "today" ? { day: null, dayColumn: -1 } : select.value === "day" ? { day: input.value, dayColumn: -1 } : { day: null, dayColumn: Number(select.value) });
    if (select.value === "day") input.focus();
  } } });
  const input = el("input", { type: "date", "aria-label": "The day", data: { field: "day" }, on: { input: () => change({ day: input.value }) } });
  const note = el("p", { class: "dim small" });
  const element = el("div", { class: "as-of", hidden: true },
    el("label", {}, el("span", { class: "field-label" }, "As of"), select), input, note);
  let coverage = null;

  function update(work) {
    const { table, heading, day, dayColumn } = work;
    const ofColumns = table.columns < 2 ? [] : Array.from({ length: table.columns }, (_, at) => [String(at), `The days in ${columnName(table.rows, heading, at)}`]);
    const options = [["today", "Today"], ["day", "A day"], ...ofColumns];
    if (columns !== String(options)) fill(select, options.map(([value, name]) => el("option", { value }, name)));
    columns = String(options);
    select.value = dayColumn >= 0 ? String(dayColumn) : day === null ? "today" : "day";
    input.hidden = dayColumn >= 0 || day === null;
    if (!input.hidden && input.value !== day && document.activeElement !== input) input.value = day;
    // A day that is chosen is shown even if the server does not say that there is a past.
    element.hidden = !coverage && select.value === "today";
    fill(note, select.value === "today" || !coverage ? "" : [dayColumn < 0 ? "" : otherDays(work), `Each row is mapped as it was on ${dayColumn < 0 ? "that" : "its"} day. `, coverageOf(coverage)]);
  }

  about().then((known) => {
    coverage = known.coverage ?? null;
    if (coverage) change({});
  });
  return { element, update };
}

/** A sentence about the cells that are not days. */
function otherDays({ table, heading, dayColumn }) {
  const cells = table.rows.slice(heading + 1).filter((row) => row.some((cell) => cell.trim())).map((row) => (row[dayColumn] ?? "").trim());
  const others = cells.filter((cell) => !DAY.test(cell)).length;
  return others ? `${counted(others, "row")} ${others === 1 ? "has" : "have"} no day of the form 2022-06-08, and will be invalid. ` : "";
}
