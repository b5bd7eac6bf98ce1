// The view `#/search`: filters with counts next to a table of securities. The rows of the last
// questions are kept while the site is open. So going back shows the same rows at the same place,
// without reading them again.

import { el, fill, say, copyText, count, counted, icon } from "../shared/dom.js";
import { about, exchangeName } from "../shared/about.js";
import * as api from "../shared/api.js";
import { FIELDS, tabbed } from "../shared/csv.js";
import { nothing, similar, teaching } from "./empty.js";
import { topValues } from "./facets.js";
import { filters } from "./filters.js";
import { fold, foldFound } from "./fold.js";
import { notice } from "../shared/notice.js";
import { isinButton, isinOf, isShown } from "./isin.js";
import { read, write, body, chips, chipsRead, faultOf, filterCount, isEmpty, parametersOf } from "./query.js";
import { focusFirst, listing, sortNote } from "./rows.js";
import { saving } from "./save.js";
import { go, href } from "../shared/router.js";

const KEPT = 30;
const kept = new Map(); // address → {securities, guesses, reading, rows, next, total, isScarce, sort}

/** With words, pages are read until there are this many securities, but at most this many pages. */
const SECURITIES_AT_ONCE = 25;
const PAGES_AT_ONCE = 5;
const PAGE_ROWS = 100;
/** If fewer requests than this are left, no further page is read automatically. */
const REQUESTS_SPARED = 20;
/** If there are more securities than this, guesses are not shown under them. */
const ENOUGH = 10;
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
  const place = { status: el("p", { class: "status" }), acts: el("div", { class: "acts" }), chips: el("div", {}), answer: el("div", { class: "answer" }) };
  const fault = faultOf(question);
  const isLoaded = !isEmpty(question) && !fault;
  const panel = filters(question, ask);
  fill(view, el("div", { class: "searching" }, side(question, active, panel.element), el("section", { class: "found", "aria-labelledby": "title" },
    el("div", { class: "found-head" }, heading(question), place.status, place.acts), place.chips, place.answer)));
  drawChips(place, question, null, ask);
  refocus();

  // Everything that depends on the first page is asked for together, and together again after a
  // failure.
  const begin = () => {
    const first = isLoaded ? firstPage(question, signal) : Promise.resolve(null);
    const reading = first.then((found) => found?.reading ?? null, () => null);
    // The names of exchanges are drawn together with the counts.
    const counts = fault ? Promise.resolve(null) : Promise.all([countsOf(question, reading, signal), about()]).then(([known]) => known, () => (signal.aborted ? undefined : null));
    panel.take(counts, reading);
    reading.then((known) => known && !signal.aborted && drawChips(place, question, known, ask));
    return { first, counts };
  };
  if (isLoaded) return load(question, begin, place, signal);
  const { counts } = begin();
  fill(place.answer, fault ? el("div", { class: "notice" }, el("p", {}, fault)) : teaching(counts));
}

/** The counts for a question. They are asked for at once, and again if its words have a reading. */
async function countsOf(question, reading, signal) {
  const asTyped = topValues(question, null, signal);
  asTyped.catch(() => {});
  const known = await reading;
  return known ? topValues(question, known, signal) : asTyped;
}

/** The active filters, those that were read from the text, and the words that nothing fits. */
function drawChips(place, question, reading, ask) {
  const all = [...chips(question), ...chipsRead(question, reading)];
  fill(place.chips,
    all.length ? el("ul", { class: "chips", "aria-label": "Active filters" }, all.map((chip) => chipOf(chip, ask))) : null,
    reading?.leftOut ? el("p", { class: "dim left-out" }, leftOutOf(reading)) : null);
}

/** The sentence about the words of a text that are left out: they do not fit, or are next to an identifier. */
function leftOutOf({ query, chips: narrowing, leftOut }) {
  const quoted = (between) => leftOut.map((text, at) => [at ? between : "", el("q", {}, text)]);
  if (!narrowing.length) return ["Read as ", el("q", {}, query), ", without ", quoted(" and "), "."];
  return ["Nothing that fits the other words also fits ", quoted(" or "), leftOut.length > 1 ? ", so they were left out." : ", so it was left out."];
}

function chipOf({ label, name, value, text, without }, ask) {
  const read = text ? `, read from “${text}”` : "";
  return el("li", {}, el("button", {
    type: "button", class: text ? "chip read" : "chip", "aria-label": `Remove the filter ${label} ${value}${read}`,
    title: text ? `Read from “${text}”. Remove it to search without these words.` : (name === "exchCode" && exchangeName(value)) || null, on: { click: () => ask(without) },
  }, text ? [el("q", {}, text), " "] : null, el("span", { class: "dim" }, label), " ", value, el("span", { class: "chip-cross", "aria-hidden": "true" }, "×")));
}

// On a narrow screen the filters are folded under a button; on a wide one they are next to the
// results.
let unfolded = false, words = "";
function side(question, active, panel) {
  if (question.query !== words) unfolded = false; // after new words, the results are in view
  words = question.query;
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

/** The first page of a question. It is kept, so that going back shows the same rows. */
async function firstPage(question, signal) {
  const address = write({ ...question, sort: null });
  let found = kept.get(address);
  if (!found) {
    found = { securities: new Map(), guesses: new Map(), reading: null, rows: 0, next: undefined, total: undefined, isScarce: false, sort: null };
    await Promise.all([readPage(found, question, signal), about()]);
    const [first, ...others] = found.securities.values();
    if (first && !others.length && first.rows.length > 1) first.isOpen = !found.next && first.rows.length <= OPEN_LISTINGS_MAX;
    kept.set(address, found);
    if (kept.size > KEPT) kept.delete(kept.keys().next().value);
  }
  return found;
}

/** Shows the first page. `begin()` asks for it, and returns its promise and that of the counts. */
async function load(question, begin, place, signal) {
  if (!kept.has(write({ ...question, sort: null }))) {
    fill(place.status, "Searching…");
    fill(place.answer, skeleton());
  }
  const { first, counts } = begin();
  let found;
  try {
    found = await first;
  } catch (failure) {
    if (failure.name === "AbortError") return;
    fill(place.status);
    return fill(place.answer, notice(failure, () => load(question, begin, place, signal)));
  }
  if (signal.aborted) return;
  if (!found.securities.size && !found.guesses.size) {
    fill(place.status, "No results");
    return fill(place.answer, nothing(question, found, signal));
  }
  found.sort = question.sort;
  render(found, question, counts, place, signal);
}

/** A page of a question. Words are asked for by `/find`, filters alone by a filter. */
const pageOf = (question, start, signal) => (question.query ? api.find(parametersOf(question), start, signal)
  : api.page("filter", { ...body(question), ...(start ? { start } : {}) }, signal));

/** Adds the next page to `found`. */
async function readPage(found, question, signal) {
  const began = performance.now();
  const page = await pageOf(question, found.next, signal);
  Object.assign(found, { ms: performance.now() - began, limits: page.limits });
  if (question.query) {
    if (!found.rows) Object.assign(found, { reading: page.reading, finding: page.finding, correction: page.correction, isGuessFirst: Boolean(page.securities[0]?.isGuess) });
    foldFound(found.securities, found.guesses, page);
  } else {
    fold(found.securities, page.data);
    found.total = page.total ?? found.total;
  }
  found.rows += page.data.length;
  found.next = page.next;
  found.isScarce = page.left < REQUESTS_SPARED;
}

function render(found, question, counts, place, signal) {
  // Without an exact result, the guesses are the results. A guess that is first in the answer comes
  // first; the others come last, if there are few exact results.
  const isGuessed = !found.securities.size;
  const [best, ...others] = isGuessed ? [] : guessesOf(found);
  const shown = isGuessed ? { ...found, securities: found.guesses } : found;
  const table = listing(shown, changed);
  const opening = el("button", { type: "button", class: "quiet", title: "Show all listings of all securities that are here", on: { click: () => table.openAll(opening.getAttribute("aria-pressed") === "false") } }, icon("down"), "All listings");
  const foot = el("div", { class: "more" });
  const last = el("div", {});
  const { button, box } = saving({ found, pageOf: (start) => pageOf(question, start, signal), cells, signal });
  fill(place.answer, isGuessed ? el("h2", { class: "guesses" }, "Did you mean") : null, guesses("Did you mean", best ? [best] : []),
    shareClassLink(shown, question), box, el("div", { class: "scroller", tabindex: "0", role: "region", "aria-label": "Results, scrollable" }, table.element), foot,
    isGuessed ? similar(question, signal) : last);
  fill(place.acts, opening, isinButton(() => table.update()),
    el("button", { type: "button", class: "quiet", on: { click: copyRows } }, icon("copy"), "Copy rows"),
    button);
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
    fill(place.status, status());
  }

  function drawOpening() {
    const several = table.shown().filter(({ rows }) => rows.length > 1);
    opening.hidden = !several.length;
    opening.setAttribute("aria-pressed", String(several.every(({ isOpen }) => isOpen)));
  }

  function status() {
    if (isGuessed) return `No exact result · ${counted(found.guesses.size, "guess", "guesses")}`;
    const securities = counted(found.securities.size, "security", "securities");
    if (!found.rows) return securities; // found by other names, which a search does not know
    const all = found.total ?? (found.next ? undefined : found.rows);
    if (all === undefined) return `${securities} in the first ${count(found.rows)} instruments${sortNote(found)}`;
    const of = found.rows < all ? `${count(found.rows)} of ${counted(all, "instrument")}` : counted(all, "instrument");
    return `${of} · ${securities}${sortNote(found)}`;
  }

  function drawFoot(isReading = false) {
    drawOpening();
    fill(last, found.next || found.securities.size > ENOUGH ? null : guesses("Similar names", others));
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

  /** Rows as lists of cells under their names: by default those that are shown. */
  function cells(rows = null) {
    const also = isShown() && !rows; // other rows have no ISIN here
    return [[...FIELDS, "exchange", ...(also ? ["ISIN"] : [])],
      ...(rows ?? table.rows()).map((row) => [...FIELDS.map((name) => row[name]), exchangeName(row.exchCode), ...(also ? [isinOf(row)] : [])])];
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

/** The guesses next to exact results: the one that is first in the answer, or null, and the others. */
function guessesOf({ guesses: all, isGuessFirst }) {
  const guessed = [...all.values()];
  return isGuessFirst ? guessed : [null, ...guessed];
}

/** A table of guesses under a heading; null without guesses. */
function guesses(title, securities) {
  if (!securities.length) return null;
  const table = listing({ securities: new Map(securities.entries()), sort: null, next: undefined }, () => {});
  return el("section", { class: "guesses" }, el("h2", {}, title), el("div", { class: "scroller", tabindex: "0", role: "region", "aria-label": `${title}, scrollable` }, table.element));
}

/** Moves the focus to the first result of the question `text`. False if it is not shown. */
export function enter(text, route) {
  return route.name === "search" && read(route.parameters).query === text && focusFirst();
}

/** Grey rows in the place of the results, of the same height. */
const skeleton = () => el("div", { class: "skeleton", "aria-hidden": "true" }, Array.from({ length: 8 }, () => el("span")));
