// The table of results. It has a row for each security. The other listings of the security open
// under its row. Columns sort the shown securities and the open listings. Arrow keys move between
// rows, and open and close a security. C copies the FIGI of a row.

import { count, counted, copyable, el, fill, icon, say } from "../shared/dom.js";
import { exchange } from "../shared/exchange.js";
import { isinCell, isinOf, isShown } from "./isin.js";
import { level, levelMark } from "../shared/level.js";
import { otherName } from "../shared/other-name.js";
import { go, href } from "../shared/router.js";
import { terms } from "../shared/terms.js";

/** The number of securities on a first screen. */
const TOP = 25;

const typeOf = (row) => row.securityType ?? row.securityType2 ?? "";

/** The columns. `key` orders the rows. `security` has one row or several. */
const COLUMNS = {
  ticker: { name: "Ticker", key: (row) => row.ticker ?? row.figi },
  name: { name: "Name", key: (row) => row.name ?? "" },
  terms: { name: "Terms", key: (row) => terms(row)?.by ?? "" },
  last: { name: "Last day", key: (row) => terms(row)?.last ?? "" },
  exch: { name: "Exchange", key: (row) => row.exchCode ?? "" },
  listings: { name: "Listings", key: (row, security) => security.rows.length },
  level: { name: "Level", key: (row) => level(row) },
  type: { name: "Type", key: (row) => typeOf(row) },
  sector: { name: "Sector", key: (row) => row.marketSector ?? "" },
  isin: { name: "ISIN", key: isinOf },
  figi: { name: "FIGI", key: (row) => row.figi },
};
/** The names of the columns of terms, if the first rows have terms of one kind only. */
const TERMS = { option: { terms: "Strike", last: "Expires" }, bond: { terms: "Coupon", last: "Matures" } };

const NAMES = new Intl.Collator("en", { numeric: true, sensitivity: "base" });

/** Sorts `all` by a column. `key(one)` is the value in the column; rows without one come last. */
function sorted(all, sort, key) {
  if (!sort) return all;
  const turn = sort.isDown ? -1 : 1;
  const compare = (a, b) => (typeof a === "number" ? a - b : NAMES.compare(a, b));
  return all.map((one) => [key(one), one])
    .sort(([a], [b]) => (a === "" || b === "" ? Number(a === "") - Number(b === "") : turn * compare(a, b)))
    .map(([, one]) => one);
}

/** The first click sorts ascending, the second descending, the third as the server answered. */
const turned = (sort, column) => (sort?.column !== column ? { column, isDown: false } : sort.isDown ? null : { column, isDown: true });

/**
 * The table of `found`, `{securities, sort, next}`. `securities` is the map of `fold`. `changed` is
 * called after a person has sorted the table, or opened or closed a security. `update` draws what
 * has changed in `found`. `shown` returns the securities in the order on the page, and `rows` all
 * rows that are shown.
 * @returns {{element: HTMLElement, update: () => void, shown: () => object[], rows: () => object[], openAll: (isOpen: boolean) => void}}
 */
export function listing(found, changed) {
  if (!Object.hasOwn(COLUMNS, found.sort?.column ?? "")) found.sort = null; // an address may name any column
  const heads = Object.keys(COLUMNS).map((column) => [column, el("th", { scope: "col", class: `c-${column}` },
    el("button", { type: "button", class: "sort", data: { sort: column }, on: { click: () => sort(column) } }, el("span", {}), el("span", { class: "sort-mark", "aria-hidden": "true" })))]);
  let names = {}; // the names of columns that depend on the rows
  const table = el("table", { class: "rows", on: { keydown: arrows } }, el("caption", { class: "unseen" }, "Securities found"),
    el("thead", {}, el("tr", {}, heads.map(([, head]) => head))));
  const drawn = new Map(); // security → {body, state}
  update();
  return { element: table, update, shown, rows: () => shown().flatMap(rowsOf), openAll };

  function keyOf(security) {
    const { key } = COLUMNS[found.sort.column];
    return (row) => key(row, security);
  }

  function shown() {
    return sorted([...found.securities.values()], found.sort, (security) => keyOf(security)(security.rows[0]));
  }

  /** The visible rows of a security: the first one, or all of them. */
  function rowsOf(security) {
    return security.isOpen ? sorted(security.rows, found.sort, (row) => keyOf(security)(row)) : security.rows.slice(0, 1);
  }

  function nameOf(column) {
    return names[column] ?? COLUMNS[column].name;
  }

  function update() {
    const securities = shown();
    // Terms have columns if most of the first rows have terms. Otherwise they follow the names,
    // which need the space.
    const top = securities.slice(0, TOP);
    const kinds = top.map(({ rows }) => terms(rows[0])?.kind).filter(Boolean);
    names = TERMS[kinds.every((kind) => kind === kinds[0]) ? kinds[0] : ""] ?? {};
    table.classList.toggle("has-terms", kinds.length > top.length / 2);
    table.classList.toggle("has-isin", isShown());
    table.classList.toggle("has-listings", securities.some(({ rows, listings }) => rows.length > 1 || listings > 1));
    for (const [column, head] of heads) {
      head.querySelector("span").textContent = nameOf(column);
      head.firstChild.title = `Sort the rows shown by ${nameOf(column)}`;
      if (found.sort?.column === column) head.setAttribute("aria-sort", found.sort.isDown ? "descending" : "ascending");
      else head.removeAttribute("aria-sort");
    }
    // Moved elements lose the focus, and redrawn rows are new elements.
    const focused = table.contains(document.activeElement) ? document.activeElement : null;
    const body = focused?.closest("tbody");
    table.append(...securities.map(bodyOf));
    (focused?.isConnected ? focused : body?.querySelector("th a"))?.focus({ preventScroll: true });
  }

  function bodyOf(security) {
    const order = security.isOpen && found.sort ? `${found.sort.column} ${found.sort.isDown}` : "";
    const state = `${security.rows.length} ${security.isOpen} ${security.rows.length > 1 && Boolean(found.next)} ${order} ${isShown()}`;
    const known = drawn.get(security) ?? { body: el("tbody", {}), state: "" };
    if (known.state !== state) {
      const [first, ...others] = rowsOf(security);
      fill(known.body, line(first, security), others.map((row) => line(row)));
      known.state = state;
      drawn.set(security, known);
    }
    return known.body;
  }

  function sort(column) {
    found.sort = turned(found.sort, column);
    update();
    changed();
    say(found.sort ? `Sorted by ${nameOf(column)}, ${found.sort.isDown ? "descending" : "ascending"}${sortNote(found)}` : "In the order of the answer");
  }

  /** Opens or closes all loaded securities. */
  function openAll(isOpen) {
    for (const security of found.securities.values()) security.isOpen = isOpen && security.rows.length > 1;
    update();
    changed();
    say(isOpen ? "All listings shown" : "Listings closed");
  }

  function toggle(security, isOpen) {
    if (security.rows.length < 2 || security.isOpen === isOpen) return;
    security.isOpen = isOpen;
    const { body } = drawn.get(security);
    const wasButton = document.activeElement?.matches(".listings");
    bodyOf(security);
    body.querySelector(wasButton ? ".listings" : "th a").focus({ preventScroll: true });
    changed();
    say(isOpen ? `${counted(security.rows.length, "listing")} shown` : "Listings closed");
  }

  /** A row of the table. The first row of a security has the button that opens the others. */
  function line(row, security) {
    const to = href.instrument(row.figi);
    const other = security && security.rows.length > 1;
    const { text: ownTerms = "", rate, last } = terms(row) ?? {};
    const also = ownTerms || [row.ticker, row.name].includes(row.securityDescription) ? "" : row.securityDescription;
    return el("tr", { class: security ? null : "member", on: { click: (event) => {
      // A click anywhere in the row opens the instrument, unless it selects text.
      if (!event.target.closest("a, button") && !String(getSelection())) go(to);
    } } },
    el("th", { scope: "row", class: "c-ticker" }, lines(el("a", { href: to, title: row.ticker ?? row.figi }, row.ticker ?? row.figi))),
    el("td", { class: "c-name", title: row.name ?? null }, lines(el("span", { class: "r-name" }, row.name ?? ""), ownTerms ? el("span", { class: "dim r-terms" }, ownTerms) : null, also ? el("span", { class: "dim" }, also) : null, row.matchedName ? el("span", { class: "dim r-other" }, otherName(row.matchedName)) : null)),
    el("td", { class: "c-terms" }, rate),
    el("td", { class: "c-last" }, last),
    el("td", { class: "c-exch" }, lines(exchange(row.exchCode))),
    el("td", { class: "c-listings" }, other ? openButton(row, security) : security?.listings > 1 ? el("a", { href: to, "aria-label": `${security.listings} listings of ${row.name ?? row.ticker ?? row.figi}` }, count(security.listings), el("span", { class: "l-word" }, " listings")) : null),
    el("td", { class: "c-level" }, levelMark(row)),
    el("td", { class: "c-type", title: typeOf(row) || null }, lines(typeOf(row))),
    el("td", { class: "c-sector" }, row.marketSector),
    el("td", { class: "c-isin" }, isinCell(row)),
    el("td", { class: "c-figi" }, copyable(row.figi, "FIGI")));
  }

  // While further pages exist, a security may have more listings than were read.
  function openButton(row, security) {
    const { rows, isOpen } = security;
    const number = `${count(rows.length)}${found.next ? "+" : ""}`;
    return el("button", {
      type: "button", class: "link listings", "aria-expanded": String(isOpen), "aria-label": `${number} listings of ${row.name ?? row.ticker ?? row.figi}`,
      on: { click: () => toggle(security, !security.isOpen) },
    }, icon("down"), number, el("span", { class: "l-word" }, " listings"));
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
    else if (event.key === "c") row.querySelector(".copyable").click();
    else if (to === -1) document.getElementById("query").focus();
    else if (to === undefined) return;
    else focusRow(rows[to]);
    event.preventDefault();
  }
}

/** A note that the page has not all rows that a sort concerns; "" without a sort, and with all rows. */
export const sortNote = ({ sort, next, rows }) => (sort && next ? ` (only these ${count(rows)} are sorted)` : "");

/** The content of a cell, which takes up to two lines. */
const lines = (...content) => el("div", { class: "lines" }, content);

function focusRow(row) {
  row?.querySelector("th a").focus();
  row?.scrollIntoView({ block: "nearest" });
}

/** Focuses the first result, or else the first guess. Returns whether there is one. */
export function focusFirst() {
  const row = document.querySelector(".rows tbody tr");
  const guess = row ? null : document.querySelector(".did-you-mean a");
  focusRow(row);
  guess?.focus();
  return Boolean(row ?? guess);
}
