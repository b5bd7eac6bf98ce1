// The reading of a pasted table: its column of identifiers, their kind, and its heading row. All of
// these are shown and can be changed.

import { el, fill, count, counted } from "../shared/dom.js";
import { columnName, percent } from "./columns.js";
import { KINDS, kindName } from "../shared/kinds.js";

const HEADING_ROWS = 20;
const SHOWN_ROWS = 6;
/** The rows of the preview below the heading, however far down that is. */
const ROWS_BELOW = 5;
const SHOWN_COLUMNS = 40;
/** A longer cell may be cut; then its whole text is its title. */
const CELL_CHARACTERS = 30;

/**
 * Fills `place` with the fields. `change({column?, idType?, heading?, currency?, name?, isTotalRead?})` gets
 * each change. `asked` rows have `different` identifiers; `left` has the reasons of those that are left out.
 */
export function readingFields(place, work, isAsking, change, { asked, different, left }) {
  const focused = place.contains(document.activeElement) ? document.activeElement.dataset.field : "";
  const { table: { rows, columns }, heading, column, idType, currency, name: own, kinds } = work;
  const name = (at) => `${columnName(rows, heading, at)}${kinds[at]?.idType ? ` (${kindName(kinds[at].idType)})` : ""}`;
  fill(place, el("p", { class: "recognition", role: "status" }, isAsking ? "Recognising the columns…" : recognition(work)),
    el("p", { class: "dim small" }, `${counted(asked, "row")}, ${counted(different, "different identifier")}.${aboveNote(heading)}${withoutNote(left, work)}`, totalNote(work, change)),
    el("div", { class: "reading-fields" },
      columns > 1 ? field("Identifiers are in", "column", String(column), Array.from({ length: columns }, (_, at) => [String(at), name(at)]),
        (value) => change({ column: Number(value), idType: kinds[Number(value)]?.idType ?? "" })) : null,
      field("They are", "kind", idType, [["", "Each by its own form"], ...Object.entries(KINDS)], (value) => change({ idType: value })),
      field("The heading is", "heading", String(heading), [["-1", "Nowhere"], ...rows.slice(0, HEADING_ROWS).map((row, at) => [String(at), `Row ${at + 1}`])],
        (value) => change({ heading: Number(value) })),
      columns > 1 ? field("Currencies are in", "currency", String(currency),
        [["-1", "Any currency"], ...Array.from({ length: columns }, (_, at) => [String(at), columnName(rows, heading, at)])],
        (value) => change({ currency: Number(value) })) : null,
      columns > 1 ? field("Names are in", "name", String(own),
        [["-1", "No column"], ...Array.from({ length: columns }, (_, at) => [String(at), columnName(rows, heading, at)])],
        (value) => change({ name: Number(value) })) : null));
  if (focused) place.querySelector(`[data-field="${focused}"]`)?.focus({ preventScroll: true });
}

/** A sentence about the rows above the heading, such as a title. */
const aboveNote = (heading) => (heading > 0 ? ` ${counted(heading, "row")} above the heading ${heading > 1 ? "are" : "is"} left out.` : "");

/** A sentence about the rows without an identifier. Those of a footer that is left out count with it. */
function withoutNote(left, { footer, isTotalRead }) {
  const end = footer < 0 || isTotalRead ? Infinity : footer;
  const without = [...left].filter(([place, reason]) => place < end && reason.startsWith("no identifier")).length;
  return without ? ` ${counted(without, "row")} without an identifier ${without > 1 ? "are" : "is"} left out.` : "";
}

/** A sentence about a footer, and a button to read what it has in place of identifiers, or to leave it out. */
function totalNote({ table: { rows }, column, footer, isTotalRead }, change) {
  if (footer < 0) return null;
  const last = rows.length - footer;
  const name = rows[footer].find((cell) => cell.trim()).trim();
  const are = last > 1 ? `The last ${counted(last, "row")}, from “${name}” on, are` : `The last row, “${name}”, is`;
  return [isTotalRead ? ` ${last > 1 ? `The last ${counted(last, "row")} are` : "The last row is"} read as ${last > 1 ? "instruments" : "an instrument"}. ` : ` ${are} a total${last > 1 ? " with its notes" : ""} and ${last > 1 ? "are" : "is"} left out. `,
    rows.slice(footer).some((row) => row[column]?.trim()) ? el("button", { type: "button", class: "link", data: { field: "total" }, on: { click: () => change({ isTotalRead: !isTotalRead }) } }, isTotalRead ? "Leave it out" : "Read it too") : null];
}

function field(label, name, value, options, onChange) {
  const select = el("select", { data: { field: name }, on: { change: () => onChange(select.value) } }, options.map(([one, words]) => el("option", { value: one }, words)));
  select.value = value;
  return el("label", {}, el("span", { class: "field-label" }, label), select);
}

function recognition(work) {
  const { table, heading, column, isAgain, known, trouble } = work;
  if (trouble) return `The columns could not be recognised: ${trouble}`;
  const words = recognised(work);
  if (!isAgain) return words;
  return ["This is an earlier result: the columns that were added to it are left out. ",
    known >= 0 && known === column && table.columns > 1 ? `“${columnName(table.rows, heading, column)}” is what was asked about. ` : "", words];
}

function recognised({ table, heading, column, idType, kinds, texts }) {
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
  const shown = table.rows.slice(0, Math.max(SHOWN_ROWS, heading + 1 + ROWS_BELOW));
  const left = table.rows.length - shown.length;
  const name = (at) => columnName(table.rows, heading, at);
  // A title above the heading has the width of the table, so that it is whole.
  const isTitle = (row, at) => at < heading && from === 0 && row[0]?.trim() && !row.slice(1).some((cell) => cell.trim());
  const cut = (text) => (text.length > CELL_CHARACTERS ? text : null);
  const notes = [columns.length < table.columns ? `columns ${count(from + 1)} to ${count(from + columns.length)} of ${count(table.columns)} are shown` : "", left > 0 ? `and ${counted(left, "more row")}` : ""].filter(Boolean);
  fill(place, el("details", { class: "fold", open: true }, el("summary", {}, "The first rows"),
    el("div", { class: "scroller", tabindex: "0", role: "region", "aria-label": "The first rows, scrollable" }, el("table", { class: "preview" },
      el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "Row"), columns.map((at) => el("th", { scope: "col", class: at === column ? "chosen" : null, title: cut(name(at)) },
        name(at), at === column ? el("span", { class: "unseen" }, ", the identifiers") : null)))),
      el("tbody", {}, shown.map((row, at) => el("tr", { class: at <= heading ? "above" : null },
        el("th", { scope: "row" }, count(at + 1)),
        isTitle(row, at) ? el("td", { colspan: String(columns.length) }, el("span", { class: "table-title" }, row[0]))
          : columns.map((one) => el("td", { class: one === column && at > heading ? "chosen mono" : null, title: cut(row[one] ?? "") }, row[one] ?? "")))))),
    ), notes.length ? el("p", { class: "dim small" }, notes.join("; ")) : null));
  // In a narrow box the column of identifiers is in view, not the first one.
  const box = place.querySelector(".scroller"), chosen = place.querySelector("th.chosen");
  const over = chosen.getBoundingClientRect().right - box.getBoundingClientRect().right;
  if (over > 0) box.scrollLeft = Math.min(over + 24, chosen.offsetLeft);
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
