// The reading of a pasted table: its column of identifiers, their kind, and its heading row. All of
// these are shown and can be changed.

import { el, fill, count, counted } from "../shared/dom.js";
import { columnName, percent } from "./columns.js";
import { KINDS, kindName } from "../shared/kinds.js";

const HEADING_ROWS = 20;
const SHOWN_ROWS = 6;
const SHOWN_COLUMNS = 12;

/** Fills `place` with the fields. `change({column?, idType?, heading?})` gets each change. */
export function readingFields(place, work, isAsking, change, different) {
  const focused = place.contains(document.activeElement) ? document.activeElement.dataset.field : "";
  const { table: { rows, columns }, heading, column, idType, kinds } = work;
  const name = (at) => `${columnName(rows, heading, at)}${kinds[at]?.idType ? ` (${kindName(kinds[at].idType)})` : ""}`;
  fill(place, el("p", { class: "recognition", role: "status" }, isAsking ? "Recognising the columns…" : recognition(work)),
    el("p", { class: "dim small" }, `${counted(rows.length - heading - 1, "row")}, ${counted(different, "different identifier")}.`),
    el("div", { class: "reading-fields" },
      columns > 1 ? field("Identifiers are in", "column", String(column), Array.from({ length: columns }, (_, at) => [String(at), name(at)]),
        (value) => change({ column: Number(value), idType: kinds[Number(value)]?.idType ?? "" })) : null,
      field("They are", "kind", idType, [["", "Each by its own form"], ...Object.entries(KINDS)], (value) => change({ idType: value })),
      field("The heading is", "heading", String(heading), [["-1", "Nowhere"], ...rows.slice(0, HEADING_ROWS).map((row, at) => [String(at), `Row ${at + 1}`])],
        (value) => change({ heading: Number(value) }))));
  if (focused) place.querySelector(`[data-field="${focused}"]`)?.focus({ preventScroll: true });
}

function field(label, name, value, options, onChange) {
  const select = el("select", { data: { field: name }, on: { change: () => onChange(select.value) } }, options.map(([one, words]) => el("option", { value: one }, words)));
  select.value = value;
  return el("label", {}, el("span", { class: "field-label" }, label), select);
}

function recognition({ table, heading, column, idType, kinds, texts, trouble }) {
  if (trouble) return `The columns could not be recognised: ${trouble}`;
  const found = kinds[column];
  const where = table.columns > 1 ? `“${columnName(table.rows, heading, column)}”` : "The column";
  if (idType && found?.idType === idType) {
    const by = idType === "TICKER" ? "by its heading" : `${percent(found.share)} of ${texts === 1 ? "its values" : `its first ${count(texts)} values`}`;
    return [`${where} is recognised: `, el("strong", {}, kindName(idType)), ` (${by}).`];
  }
  if (idType) return [`${where} is read as `, el("strong", {}, kindName(idType)), ", as you chose."];
  return `${where} is not of one kind: each text is read by its own form.`;
}

/** The first rows, with their numbers and the chosen column marked. */
export function preview(place, { table, heading, column }) {
  const from = Math.max(0, Math.min(column - SHOWN_COLUMNS + 1, table.columns - SHOWN_COLUMNS));
  const columns = Array.from({ length: Math.min(table.columns, SHOWN_COLUMNS) }, (_, at) => from + at);
  const shown = table.rows.slice(0, Math.max(SHOWN_ROWS, heading + 3));
  const left = table.rows.length - shown.length;
  fill(place, el("details", { class: "fold", open: true }, el("summary", {}, "The first rows"),
    el("div", { class: "scroller", tabindex: "0", role: "region", "aria-label": "The first rows, scrollable" }, el("table", { class: "preview" },
      el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "Row"), columns.map((at) => el("th", { scope: "col", class: at === column ? "chosen" : null },
        columnName(table.rows, heading, at), at === column ? el("span", { class: "unseen" }, ", the identifiers") : null)))),
      el("tbody", {}, shown.map((row, at) => el("tr", { class: at <= heading ? "above" : null },
        el("th", { scope: "row" }, count(at + 1)),
        columns.map((one) => el("td", { class: one === column && at > heading ? "chosen mono" : null }, row[one] ?? "")))))),
    ), left > 0 ? el("p", { class: "dim small" }, `and ${counted(left, "more row")}`) : null));
}

/** The recognised forms, for a person who has no list yet. */
export function lesson() {
  const kind = (name, form) => [el("dt", {}, name), el("dd", {}, form)];
  return [el("dl", { class: "pairs lesson" },
    kind("ISIN", "12 characters, check digit"), kind("CUSIP, CINS", "9 characters, check digit; CINS begin with a letter"),
    kind("SEDOL", "7 characters, check digit"), kind("FIGI", "12 characters, the third is G, check digit"),
    kind("OCC symbol", "root, date, C or P, strike"), kind("Common code", "9 digits"),
    kind("WKN, Italian code", "6 characters; 5 or 6 digits"), kind("Ticker", "everything else; also IBM US Equity, IBM:XNYS, BRK.B")),
  el("p", { class: "dim small" }, "When a form fits several kinds, all of them are looked up. If they find different securities, you choose. Nothing is mapped before you start.")];
}
