// The column ISIN of the results, which a person can turn on. Results have no identifiers, so the
// page asks for the instruments whose rows are shown, a few at a time. A server may hide them.

import * as api from "../shared/api.js";
import { el, fill, say } from "../shared/dom.js";

const AT_ONCE = 4;
const known = new Map(); // FIGI → ISINs, kept while the site is open
const waiting = new Map(); // FIGI → its cells
let asking = 0, isOn = false, trouble = "";
let refused = () => {}; // turns the column off, by the button of the current view

/** Whether the column is turned on. */
export const isShown = () => isOn;

/** The button that turns the column on and off. `draw` draws the rows again. */
export function isinButton(draw) {
  const note = el("span", { class: "dim small", role: "status" }, trouble);
  const button = el("button", { type: "button", class: "quiet", "aria-pressed": String(isOn), title: "Show the ISINs of the rows", on: { click: () => turn(!isOn) } }, "ISIN");
  // The column may be on already, and then asks for the rows of this view.
  refused = (why) => turn(false, why);
  return el("span", { class: "isin-act" }, button, note);

  function turn(on, words = "") {
    isOn = on;
    trouble = words;
    button.setAttribute("aria-pressed", String(on));
    fill(note, words);
    if (!on) waiting.clear();
    say(words || (on ? "ISINs shown" : "ISINs hidden"));
    draw();
  }
}

/** The sortable ISIN of a row: "" as long as it is not known. */
export const isinOf = ({ figi }) => known.get(figi)?.[0] ?? "";

/** The cell's content. It is filled when the server has answered. */
export function isinCell({ figi }) {
  if (!isOn) return "";
  const cell = el("span", { class: "mono" });
  if (known.has(figi)) return draw(cell, figi);
  fill(cell, "…");
  waiting.set(figi, [...(waiting.get(figi) ?? []), cell]);
  setTimeout(ask);
  return cell;
}

function draw(cell, figi) {
  const [first = "–", ...others] = known.get(figi);
  fill(cell, others.length ? `${first} +${others.length}` : first);
  cell.title = known.get(figi).join(", ") || "No ISIN is known";
  return cell;
}

async function ask() {
  while (isOn && asking < AT_ONCE && waiting.size) {
    const [figi, cells] = waiting.entries().next().value;
    waiting.delete(figi);
    // A row that is no longer on the page is not asked about.
    if (!cells.some((cell) => cell.isConnected)) continue;
    asking += 1;
    api.instrument(figi).then(({ instrument }) => {
      if (instrument && !instrument.identifiers) return refused("This server does not show identifiers.");
      known.set(figi, instrument?.identifiers?.ID_ISIN ?? []);
      for (const cell of cells) draw(cell, figi);
    }).catch((failure) => {
      if (!(failure instanceof api.Failure)) throw failure;
      if (failure.kind === "missing") known.set(figi, []);
      else refused(failure.text);
    }).finally(() => { asking -= 1; ask(); });
  }
}
