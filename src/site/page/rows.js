// The table of results: a row for each security, under which its other listings open. Its columns
// sort the rows that are shown. Arrow keys move between rows, and open and close a security.

import { count, counted, copyable, el, fill, icon, say } from "./dom.js";
import { exchange } from "./exchange.js";
import { level, levelMark } from "./level.js";
import { go, href } from "./router.js";
import { terms } from "./terms.js";

/** The securities on a first screen. */
const TOP = 25;

const typeOf = (row) => row.securityType ?? row.securityType2 ?? "";

/** The columns: `key` orders the rows by a security, and `cell` shows a row. */
const COLUMNS = {
  ticker: { name: "Ticker", key: ({ rows: [row] }) => row.ticker ?? row.figi },
  name: { name: "Name", key: ({ rows: [row] }) => row.name ?? "" },
  terms: { name: "Terms", key: ({ rows: [row] }) => terms(row)?.order ?? "" },
  exch: { name: "Exchange", key: ({ rows: [row] }) => row.exchCode ?? "" },
  listings: { name: "Listings", key: ({ rows }) => rows.length },
  level: { name: "Level", key: ({ rows: [row] }) => level(row) },
  type: { name: "Type", key: ({ rows: [row] }) => typeOf(row) },
  sector: { name: "Sector", key: ({ rows: [row] }) => row.marketSector ?? "" },
  figi: { name: "FIGI", key: ({ rows: [row] }) => row.figi },
};

const NAMES = new Intl.Collator("en", { numeric: true, sensitivity: "base" });

/** The securities in the order of a column; those without a value last. */
function sorted(securities, sort) {
  if (!sort) return securities;
  const { key } = COLUMNS[sort.column];
  const turn = sort.isDown ? -1 : 1;
  const compare = (a, b) => (typeof a === "number" ? a - b : NAMES.compare(a, b));
  return securities.map((security) => [key(security), security])
    .sort(([a], [b]) => (a === "" || b === "" ? Number(a === "") - Number(b === "") : turn * compare(a, b)))
    .map(([, security]) => security);
}

/** A click sorts ascending, another one descending, a third one as the server answered. */
const turned = (sort, column) => (sort?.column !== column ? { column, isDown: false } : sort.isDown ? null : { column, isDown: true });

/**
 * The table of `found`, `{securities, sort, next}`, where `securities` is the map of `fold`.
 * `update` draws what has changed since; `shown` is the securities in the order on the page.
 * @returns {{element: HTMLElement, update: () => void, shown: () => object[]}}
 */
export function listing(found) {
  const heads = Object.entries(COLUMNS).map(([column, { name }]) => [column, el("th", { scope: "col", class: `c-${column}` },
    el("button", { type: "button", class: "sort", title: `Sort the rows shown by ${name}`, data: { sort: column }, on: { click: () => sort(column) } }, name, el("span", { class: "sort-mark", "aria-hidden": "true" })))]);
  const table = el("table", { class: "rows", on: { keydown: arrows } }, el("caption", { class: "unseen" }, "Securities found"),
    el("thead", {}, el("tr", {}, heads.map(([, head]) => head))));
  const drawn = new Map(); // security → {body, state}
  update();
  return { element: table, update, shown };

  function shown() {
    return sorted([...found.securities.values()], found.sort);
  }

  function update() {
    for (const [column, head] of heads) {
      if (found.sort?.column === column) head.setAttribute("aria-sort", found.sort.isDown ? "descending" : "ascending");
      else head.removeAttribute("aria-sort");
    }
    const securities = shown();
    // Terms have a column if most of the first rows have terms; else they follow the names, which need
    // the room.
    const top = securities.slice(0, TOP);
    table.classList.toggle("has-terms", top.filter(({ rows }) => terms(rows[0])).length > top.length / 2);
    table.classList.toggle("has-listings", securities.some(({ rows }) => rows.length > 1));
    // What moves loses the focus, and rows that are drawn again are other ones.
    const focused = table.contains(document.activeElement) ? document.activeElement : null;
    const body = focused?.closest("tbody");
    table.append(...securities.map(bodyOf));
    (focused?.isConnected ? focused : body?.querySelector("th a"))?.focus({ preventScroll: true });
  }

  function bodyOf(security) {
    const state = `${security.rows.length} ${security.isOpen} ${security.rows.length > 1 && Boolean(found.next)}`;
    const known = drawn.get(security) ?? { body: el("tbody", {}), state: "" };
    if (known.state !== state) {
      const { rows, isOpen } = security;
      fill(known.body, line(rows[0], security), isOpen ? rows.slice(1).map((row) => line(row)) : null);
      known.state = state;
      drawn.set(security, known);
    }
    return known.body;
  }

  function sort(column) {
    found.sort = turned(found.sort, column);
    update();
    say(found.sort ? `Sorted by ${COLUMNS[column].name}, ${found.sort.isDown ? "descending" : "ascending"}` : "In the order of the answer");
  }

  function toggle(security, isOpen) {
    if (security.rows.length < 2 || security.isOpen === isOpen) return;
    security.isOpen = isOpen;
    const { body } = drawn.get(security);
    const wasButton = document.activeElement?.matches(".listings");
    bodyOf(security);
    body.querySelector(wasButton ? ".listings" : "th a").focus({ preventScroll: true });
    say(isOpen ? `${counted(security.rows.length, "listing")} shown` : "Listings closed");
  }

  /** A row of the table; the first one of a security has the button that opens its others. */
  function line(row, security) {
    const to = href.instrument(row.figi);
    const other = security && security.rows.length > 1;
    const ownTerms = terms(row)?.text ?? "";
    const also = ownTerms || [row.ticker, row.name].includes(row.securityDescription) ? "" : row.securityDescription;
    return el("tr", { class: security ? null : "member", on: { click: (event) => {
      // A click anywhere in the row opens the instrument, unless it selects text.
      if (!event.target.closest("a, button") && !String(getSelection())) go(to);
    } } },
    el("th", { scope: "row", class: "c-ticker" }, el("a", { href: to, title: row.ticker ?? row.figi }, row.ticker ?? row.figi)),
    el("td", { class: "c-name", title: row.name ?? null }, el("span", { class: "r-name" }, row.name ?? ""), ownTerms ? el("span", { class: "dim r-terms" }, ownTerms) : null, also ? el("span", { class: "dim" }, also) : null),
    el("td", { class: "c-terms" }, ownTerms),
    el("td", { class: "c-exch" }, exchange(row.exchCode)),
    el("td", { class: "c-listings" }, other ? openButton(row, security) : null),
    el("td", { class: "c-level" }, levelMark(row)),
    el("td", { class: "c-type", title: typeOf(row) || null }, typeOf(row)),
    el("td", { class: "c-sector" }, row.marketSector),
    el("td", { class: "c-figi" }, copyable(row.figi, "FIGI")));
  }

  // While there are further pages, a security may have more listings than were read.
  function openButton(row, security) {
    const { rows, isOpen } = security;
    const words = `${count(rows.length)}${found.next ? "+" : ""} listings`;
    return el("button", {
      type: "button", class: "link listings", "aria-expanded": String(isOpen), "aria-label": `${words} of ${row.name ?? row.ticker ?? row.figi}`,
      on: { click: () => toggle(security, !security.isOpen) },
    }, icon("down"), words);
  }

  function arrows(event) {
    const row = event.target.closest("tbody tr");
    if (!row || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
    const rows = [...table.querySelectorAll("tbody tr")];
    const at = rows.indexOf(row);
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: rows.length - 1 }[event.key];
    const security = shown().find((one) => drawn.get(one).body === row.parentElement);
    if (event.key === "ArrowRight") toggle(security, true);
    else if (event.key === "ArrowLeft") toggle(security, false);
    else if (to === -1) document.getElementById("query").focus();
    else if (to === undefined) return;
    else focusRow(rows[to]);
    event.preventDefault();
  }
}

function focusRow(row) {
  row?.querySelector("th a").focus();
  row?.scrollIntoView({ block: "nearest" });
}

/** Moves the focus to the first result; whether there is one. */
export function focusFirst() {
  const row = document.querySelector(".rows tbody tr");
  focusRow(row);
  return Boolean(row);
}
