// The view `#/search`: filters with counts next to a table of securities. The rows of the last
// questions are kept while the site is open. So going back shows the same rows at the same place,
// without reading them again.

import { el, fill, say, copyText, count, counted, icon } from "../shared/dom.js";
import { about, exchangeName } from "../shared/about.js";
import * as api from "../shared/api.js";
import { download, FIELDS, line, tabbed } from "../shared/csv.js";
import { nothing, teaching } from "./empty.js";
import { topValues } from "./facets.js";
import { filters } from "./filters.js";
import { fold } from "./fold.js";
import { notice } from "../shared/notice.js";
import { read, write, body, chips, endpoint, faultOf, filterCount, isEmpty } from "./query.js";
import { focusFirst, listing } from "./rows.js";
import { go, href } from "../shared/router.js";

const KEPT = 30;
const kept = new Map(); // address → {securities, rows, next, total, isScarce, sort}

/** With words, pages are read until there are this many securities, but at most this many pages. */
const SECURITIES_AT_ONCE = 25;
const PAGES_AT_ONCE = 5;
const PAGE_ROWS = 100;
/** If fewer requests than this are left, no further page is read automatically. */
const REQUESTS_SPARED = 20;
/** If there is only one security, with at most this many listings, all listings are shown. */
const OPEN_LISTINGS_MAX = 40;
/** The most rows that the server returns. */
const ROWS_MAX = 15_000;

/** Fills `view` with the results of the route's question, as long as `signal` is not aborted. */
export function show(view, route, signal) {
  const question = read(route.parameters);
  const ask = (changed) => go(write({ ...changed, sort: question.sort }));
  const active = filterCount(question);
  const focused = view.contains(document.activeElement) ? document.activeElement.dataset.field : undefined;
  // Each change of a filter redraws the view. The focus stays where it was.
  const refocus = () => { if (focused) view.querySelector(`[data-field="${CSS.escape(focused)}"]`)?.focus({ preventScroll: true }); };
  const place = { status: el("p", { class: "status" }), acts: el("div", { class: "acts" }), answer: el("div", { class: "answer" }) };
  const fault = faultOf(question);
  // The names of exchanges are drawn together with the counts.
  const counts = fault ? Promise.resolve(null) : Promise.all([topValues(question, signal), about()]).then(([known]) => known, () => (signal.aborted ? undefined : null));
  fill(view, el("div", { class: "searching" }, side(question, active, ask, counts), el("section", { class: "found", "aria-labelledby": "title" },
    el("div", { class: "found-head" }, heading(question), place.status, place.acts),
    active ? el("ul", { class: "chips", "aria-label": "Active filters" }, chips(question).map((chip) => chipOf(chip, ask))) : null,
    place.answer)));
  refocus();

  if (isEmpty(question)) return fill(place.answer, teaching(counts));
  if (fault) return fill(place.answer, el("div", { class: "notice" }, el("p", {}, fault)));
  load(question, counts, place, signal);
}

function chipOf({ label, name, value, without }, ask) {
  return el("li", {}, el("button", {
    type: "button", class: "chip", "aria-label": `Remove the filter ${label} ${value}`, title: (name === "exchCode" && exchangeName(value)) || null, on: { click: () => ask(without) },
  }, el("span", { class: "dim" }, label), " ", value, el("span", { class: "chip-cross", "aria-hidden": "true" }, "×")));
}

// On a narrow screen the filters are folded under a button; on a wide one they are next to the
// results.
let unfolded = false, words = "";
function side(question, active, ask, counts) {
  if (question.query !== words) unfolded = false; // after new words, the results are in view
  words = question.query;
  const panel = filters(question, ask, counts);
  panel.id = "filters";
  const box = el("div", { class: "side" });
  const button = el("button", {
    type: "button", class: "side-button", "aria-controls": "filters",
    on: { click: () => { unfolded = !unfolded; turn(); } },
  }, active ? `Filters (${active})` : "Filters");
  const turn = () => {
    button.setAttribute("aria-expanded", String(unfolded));
    box.classList.toggle("unfolded", unfolded);
  };
  turn();
  return fill(box, button, panel);
}

function heading(question) {
  const words = question.query ? ["Results for ", el("q", {}, question.query)]
    : isEmpty(question) ? "Search and filter" : "Instruments by filter";
  return el("h1", { id: "title", tabindex: "-1" }, words);
}

/** A link to the page of a share class, if the text is its FIGI. */
function shareClassLink(found, { query }) {
  const [{ rows: [row] }] = found.securities.values();
  const figi = query.toUpperCase();
  return figi && row.shareClassFIGI === figi
    ? el("p", { class: "share-class-link" }, "This FIGI is a share class: ", el("a", { href: href.instrument(figi) }, "its page"), ".") : null;
}

async function load(question, counts, place, signal) {
  const address = write({ ...question, sort: null });
  let found = kept.get(address);
  if (!found) {
    fill(place.status, "Searching…");
    fill(place.answer, skeleton());
    found = { securities: new Map(), rows: 0, next: undefined, total: undefined, isScarce: false, sort: null };
    try {
      await Promise.all([readPage(found, question, signal), about()]);
    } catch (failure) {
      if (failure.name === "AbortError") return;
      fill(place.status);
      return fill(place.answer, notice(failure, () => load(question, counts, place, signal)));
    }
    const [first, ...others] = found.securities.values();
    if (first && !others.length && first.rows.length > 1) first.isOpen = !found.next && first.rows.length <= OPEN_LISTINGS_MAX;
    kept.set(address, found);
    if (kept.size > KEPT) kept.delete(kept.keys().next().value);
  }
  if (signal.aborted) return;
  if (!found.rows) {
    fill(place.status, "No results");
    return fill(place.answer, nothing(question, signal));
  }
  found.sort = question.sort;
  render(found, question, counts, place, signal);
}

/** Adds the next page to `found`. */
async function readPage(found, question, signal) {
  const page = await api.page(endpoint(question), { ...body(question), ...(found.next ? { start: found.next } : {}) }, signal);
  fold(found.securities, page.data);
  found.rows += page.data.length;
  found.next = page.next;
  found.isScarce = page.left < REQUESTS_SPARED;
  found.total = page.total ?? found.total;
}

function render(found, question, counts, place, signal) {
  const table = listing(found, changed);
  const opening = el("button", { type: "button", class: "quiet", title: "Show all listings of all securities that are here", on: { click: () => table.openAll(opening.getAttribute("aria-pressed") === "false") } }, icon("down"), "All listings");
  const foot = el("div", { class: "more" });
  fill(place.answer, shareClassLink(found, question), el("div", { class: "scroller", tabindex: "0", role: "region", "aria-label": "Results, scrollable" }, table.element), foot);
  fill(place.acts, opening,
    el("button", { type: "button", class: "quiet", on: { click: copyRows } }, icon("copy"), "Copy rows"),
    el("button", { type: "button", class: "quiet", on: { click: save } }, icon("save"), "Download CSV"));
  drawFoot();
  say(status());
  counts.then((known) => {
    if (signal.aborted) return;
    found.total ??= known?.total;
    drawFoot();
    if (!question.query || found.rows > PAGE_ROWS || found.isScarce) return;
    // One security with many listings must not hide all others. Short results are read to the end,
    // so that the listings of each security are counted.
    const isShort = found.total <= PAGES_AT_ONCE * PAGE_ROWS;
    readOn(isShort ? Infinity : SECURITIES_AT_ONCE, PAGES_AT_ONCE - 1).catch(() => {}); // "Show more" tries again
  });

  /** The order is part of the address, so it survives a reload and reaches a colleague. */
  function changed() {
    question.sort = found.sort;
    history.replaceState(history.state, "", write(question));
    drawOpening();
  }

  function drawOpening() {
    const several = table.shown().filter(({ rows }) => rows.length > 1);
    opening.hidden = !several.length;
    opening.setAttribute("aria-pressed", String(several.every(({ isOpen }) => isOpen)));
  }

  function status() {
    const securities = counted(found.securities.size, "security", "securities");
    const all = found.total ?? (found.next ? undefined : found.rows);
    if (all === undefined) return `${securities} in the first ${count(found.rows)} instruments`;
    const of = found.rows < all ? `${count(found.rows)} of ${counted(all, "instrument")}` : counted(all, "instrument");
    return `${of} · ${securities}`;
  }

  function drawFoot(isReading = false) {
    drawOpening();
    fill(place.status, status(), isReading ? ", reading on…" : null);
    const left = found.total === undefined ? "" : ` of ${count(found.total - found.rows)} left`;
    fill(foot, isReading ? el("p", { class: "dim" }, "Loading…")
      : found.next ? el("button", { type: "button", on: { click: more } }, question.query ? "Show more" : `Show 100 more${left}`)
        : found.rows >= PAGE_ROWS ? el("p", { class: "dim" }, found.total > found.rows || found.rows >= ROWS_MAX
          ? "The server returns at most 15,000 rows. Narrow the search with filters." : "End of the results.") : null);
  }

  /**
   * Reads pages until `securities` are there, but at most `pages`, or one page if few requests are
   * left.
   */
  async function readOn(securities, pages) {
    if (!found.next || found.securities.size >= securities) return;
    drawFoot(true);
    try {
      for (let read = 0; found.next && read < pages && found.securities.size < securities && !(read && found.isScarce); read += 1) {
        await readPage(found, question, signal);
        table.update();
        fill(place.status, status(), ", reading on…");
      }
    } finally {
      if (!signal.aborted) drawFoot();
    }
  }

  async function more() {
    const before = new Set(found.securities.values());
    try {
      await (question.query ? readOn(before.size + SECURITIES_AT_ONCE, PAGES_AT_ONCE) : readOn(Infinity, 1));
    } catch (failure) {
      if (failure.name !== "AbortError") fill(foot, notice(failure, more));
      return;
    }
    say(status());
    const first = table.shown().findIndex((security) => !before.has(security));
    table.element.tBodies[first]?.querySelector("a").focus({ preventScroll: true });
  }

  /** The rows on the page, as lists of cells under their names. */
  function cells() {
    return [[...FIELDS, "exchange"], ...table.rows().map((row) => [...FIELDS.map((name) => row[name]), exchangeName(row.exchCode)])];
  }

  function save() {
    download(cells().map(line), "figdex.csv");
    say("The download has started");
  }

  async function copyRows(event) {
    const rows = cells();
    const isCopied = await copyText(rows.map(tabbed).join(""));
    const words = isCopied ? `${counted(rows.length - 1, "row")} copied` : "Not copied";
    const label = event.target.closest("button").lastChild;
    label.textContent = words;
    say(words);
    setTimeout(() => { label.textContent = "Copy rows"; }, 1600);
  }
}

/** Moves the focus to the first result of the question `text`. False if it is not shown. */
export function enter(text, route) {
  return route.name === "search" && read(route.parameters).query === text && focusFirst();
}

/** Grey rows in the place of the results, of the same height. */
const skeleton = () => el("div", { class: "skeleton", "aria-hidden": "true" }, Array.from({ length: 8 }, () => el("span")));
