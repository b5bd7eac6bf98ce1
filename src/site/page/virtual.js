// A table of any length in which only the visible rows exist as elements. Rows have a fixed height,
// and roles and row numbers for screen readers.

import { el } from "./dom.js";

/** The maximum number of rows: browsers cannot scroll further than some millions of pixels. */
export const VIRTUAL_ROWS_MAX = 100_000;
const ROW_PIXELS = 32;
const BEYOND = 6; // rows kept ready above and below

/**
 * @param {{label: string, kind: string, columns: string[], render: (place: number) => (Node|string)[]}} options
 * @returns {{element: HTMLElement, update: (rows: number) => void}}
 */
export function virtual({ label, kind, columns, render }) {
  const space = el("div", { class: "v-space", role: "rowgroup" });
  const element = el("div", { class: `v-table ${kind}`, role: "table", "aria-label": label, tabindex: "0", on: { scroll: () => requestAnimationFrame(draw) } },
    el("div", { role: "rowgroup", class: "v-head" }, el("div", { role: "row", class: "v-row", "aria-rowindex": "1" },
      columns.map((name) => el("div", { role: "columnheader" }, name)))), space);
  let rows = 0, from = -1, to = -1;
  new ResizeObserver(() => draw()).observe(element);

  function update(count) {
    rows = Math.min(count, VIRTUAL_ROWS_MAX);
    element.setAttribute("aria-rowcount", String(rows + 1));
    space.style.height = `${rows * ROW_PIXELS}px`;
    from = to = -1;
    draw();
  }

  function draw() {
    const first = Math.max(0, Math.floor(element.scrollTop / ROW_PIXELS) - BEYOND);
    const last = Math.min(rows, Math.ceil((element.scrollTop + element.clientHeight) / ROW_PIXELS) + BEYOND);
    if (first === from && last === to) return;
    [from, to] = [first, last];
    const out = [];
    for (let place = first; place < last; place += 1) {
      const row = el("div", { role: "row", class: "v-row", "aria-rowindex": String(place + 2) }, render(place).map((cell) => el("div", { role: "cell" }, cell)));
      row.style.top = `${place * ROW_PIXELS}px`;
      out.push(row);
    }
    // The row that has the focus is kept, so that it does not lose it.
    if (space.contains(document.activeElement) && out.length) {
      const focused = document.activeElement.closest("[role=row]").getAttribute("aria-rowindex");
      const place = out.findIndex((row) => row.getAttribute("aria-rowindex") === focused);
      if (place >= 0) out[place] = document.activeElement.closest("[role=row]");
      for (const old of [...space.children]) if (!out.includes(old)) old.remove();
      const kept = out[place];
      if (place >= 0) { kept.before(...out.slice(0, place)); kept.after(...out.slice(place + 1)); return; }
    }
    space.replaceChildren(...out);
  }
  return { element, update };
}
