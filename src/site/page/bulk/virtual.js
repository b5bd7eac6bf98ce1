// A table of any length. Only its visible rows exist as elements. Rows have the height of the style
// sheet (`--v-row`), and roles and row numbers for screen readers.

import { el } from "../shared/dom.js";

/** The maximum number of rows: browsers cannot scroll further than some millions of pixels. */
export const VIRTUAL_ROWS_MAX = 100_000;
const BEYOND = 6; // rows kept ready above and below

const pixelsOf = (element) => parseInt(getComputedStyle(element).getPropertyValue("--v-row"), 10) || 32;

/** The cells of a row. Each has the class of its column, or of its first one. */
function cellsOf(cells, keys) {
  let at = 0;
  return cells.map((cell) => {
    const key = keys[at];
    at += cell?.columns ?? 1;
    return cellOf(cell, `v-${key}`);
  });
}

function cellOf(cell, name) {
  if (!cell?.columns) return el("div", { role: "cell", class: name }, cell);
  const wide = el("div", { role: "cell", class: name, "aria-colspan": String(cell.columns) }, cell.content);
  wide.style.gridColumn = `span ${cell.columns}`;
  return wide;
}

/**
 * `columns` has the name of each column by its key. A cell of several columns is `{columns, content}`.
 * @param {{label: string, kind: string, columns: object, render: (place: number) => (Node|string|object)[]}} options
 * @returns {{element: HTMLElement, update: (rows: number) => void}}
 */
export function virtual({ label, kind, columns, render }) {
  const space = el("div", { class: "v-space", role: "rowgroup" });
  const element = el("div", { class: `v-table ${kind}`, role: "table", "aria-label": label, tabindex: "0", on: { scroll: () => requestAnimationFrame(draw) } },
    el("div", { role: "rowgroup", class: "v-head" }, el("div", { role: "row", class: "v-row", "aria-rowindex": "1" },
      Object.entries(columns).map(([key, name]) => el("div", { role: "columnheader", class: `v-${key}` }, name)))), space);
  let rows = 0, from = -1, to = -1, pixels = 32, drawn = new Map();
  new ResizeObserver(() => {
    if (pixelsOf(element) === pixels) draw();
    else update(rows);
  }).observe(element);

  function update(count) {
    rows = Math.min(count, VIRTUAL_ROWS_MAX);
    pixels = pixelsOf(element);
    element.setAttribute("aria-rowcount", String(rows + 1));
    space.style.height = `${rows * pixels}px`;
    from = to = -1;
    // Every row is redrawn except the one with the focus, which would lose it.
    const focused = space.contains(document.activeElement) ? document.activeElement.closest("[role=row]") : null;
    drawn = new Map([...drawn].filter(([place, row]) => row === focused && place < rows));
    draw();
  }

  function draw() {
    const first = Math.max(0, Math.floor(element.scrollTop / pixels) - BEYOND);
    const last = Math.min(rows, Math.ceil((element.scrollTop + element.clientHeight) / pixels) + BEYOND);
    if (first === from && last === to) return;
    [from, to] = [first, last];
    const visible = new Map();
    for (let place = first; place < last; place += 1) visible.set(place, drawn.get(place) ?? rowOf(place));
    drawn = visible;
    const kept = new Set(visible.values());
    for (const row of [...space.children]) if (!kept.has(row)) row.remove();
    let at = space.firstChild;
    for (const row of kept) {
      if (row === at) at = at.nextSibling;
      else space.insertBefore(row, at);
    }
  }

  function rowOf(place) {
    const row = el("div", { role: "row", class: "v-row", "aria-rowindex": String(place + 2) }, cellsOf(render(place), Object.keys(columns)));
    row.style.top = `${place * pixels}px`;
    return row;
  }
  return { element, update };
}
