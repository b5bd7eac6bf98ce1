// The view `#/search`: filters next to a table of results. Pages are kept while the site is open, so
// that going back shows the same rows at the same place without a request.

import { el, fill, say, copyable, count, counted } from "./dom.js";
import * as api from "./api.js";
import { filters } from "./filters.js";
import { inWords } from "./kinds.js";
import { levelMark } from "./level.js";
import { notice } from "./notice.js";
import { read, write, body, chips, endpoint, faultOf, filterCount, isEmpty } from "./query.js";
import { go, href } from "./router.js";

const KEPT = 30;
const kept = new Map(); // address → {rows, next, total}

/** Fills `view` with the results of the route's question, as long as `signal` is not aborted. */
export function show(view, route, signal) {
  const question = read(route.parameters);
  const ask = (changed) => go(write(changed));
  const active = filterCount(question);
  const focused = view.contains(document.activeElement) ? document.activeElement.dataset.field : undefined;
  const status = el("p", { class: "status" });
  const body_ = el("div", { class: "answer" });
  fill(view, el("div", { class: "searching" }, side(question, active, ask), el("section", { class: "found", "aria-labelledby": "title" },
    el("div", { class: "found-head" }, heading(question), status),
    active ? el("ul", { class: "chips", "aria-label": "Active filters" }, chips(question).map(({ label, value, without }) =>
      el("li", {}, el("button", { type: "button", class: "chip", "aria-label": `Remove the filter ${label} ${value}`, on: { click: () => ask(without) } },
        el("span", { class: "dim" }, label), " ", value, el("span", { class: "chip-cross", "aria-hidden": "true" }, "×"))))) : null,
    body_)));

  // Each change of a filter draws the view again; the focus stays where it was.
  if (focused) view.querySelector(`[data-field="${focused}"]`)?.focus({ preventScroll: true });

  const fault = faultOf(question);
  if (isEmpty(question)) return fill(body_, teaching(ask));
  if (fault) return fill(body_, el("div", { class: "notice" }, el("p", {}, fault)));
  load(write(question), question, status, body_, signal);
}

// On a narrow screen the filters are folded under a button; on a wide one they are at the side.
let unfolded = false, words = "";
function side(question, active, ask) {
  if (question.query !== words) unfolded = false; // after new words, the results are in view
  words = question.query;
  const panel = filters(question, ask);
  panel.id = "filters";
  const box = el("div", { class: "side" });
  const button = el("button", {
    type: "button", class: "side-button", "aria-controls": "filters",
    on: { click: () => { unfolded = !unfolded; fold(); } },
  }, active ? `Filters (${active})` : "Filters");
  const fold = () => {
    button.setAttribute("aria-expanded", String(unfolded));
    box.classList.toggle("unfolded", unfolded);
  };
  fold();
  return fill(box, button, panel);
}

function heading(question) {
  const words = question.query ? ["Results for ", el("q", {}, question.query)]
    : isEmpty(question) ? "Search and filter" : "Instruments by filter";
  return el("h1", { id: "title", tabindex: "-1" }, words);
}

async function load(address, question, status, place, signal) {
  let found = kept.get(address);
  if (!found) {
    fill(status, "Searching…");
    fill(place, skeleton());
    found = { rows: [], next: undefined, total: undefined };
    if (!await fetchMore(found, question, status, place, signal, () => load(address, question, status, place, signal))) return;
    kept.set(address, found);
    if (kept.size > KEPT) kept.delete(kept.keys().next().value);
  }
  render(found, question, status, place, signal);
}

/** Adds the next page to `found`. On failure it shows a notice and returns false. */
async function fetchMore(found, question, status, place, signal, retry) {
  try {
    const page = await api.page(endpoint(question), { ...body(question), ...(found.next ? { start: found.next } : {}) }, signal);
    found.rows.push(...page.data);
    found.next = page.next;
    found.total = page.total ?? found.total;
    return true;
  } catch (failure) {
    if (failure.name === "AbortError") return false;
    if (!found.rows.length) fill(status);
    fill(place, notice(failure, retry));
    return false;
  }
}

function render(found, question, status, place, signal) {
  const rows = el("tbody", {}, found.rows.map(row));
  const foot = el("div", { class: "more" });
  if (!found.rows.length) {
    fill(status, "No results");
    say("No results");
    fill(place, nothing(question));
    if (question.query) suggestFor(question, place.querySelector(".did-you-mean"), signal);
    return;
  }
  fill(place, el("div", { class: "scroller", tabindex: "0", role: "region", "aria-label": "Results, scrollable" },
    el("table", { class: "rows" },
      el("caption", { class: "unseen" }, "Instruments found"),
      el("thead", {}, el("tr", {}, ["Ticker", "Name", "Level", "Exchange", "Type", "Sector", "FIGI"].map((name) => el("th", { scope: "col" }, name)))),
      rows)), foot);
  foots();
  say(words());

  function words() {
    if (found.total !== undefined) {
      return found.rows.length < found.total ? `${count(found.rows.length)} of ${counted(found.total, "instrument")}` : counted(found.total, "instrument");
    }
    return found.next ? `The first ${count(found.rows.length)}, best first` : counted(found.rows.length, "instrument");
  }

  function foots() {
    fill(status, words(), found.total === undefined && found.next
      ? [" · ", el("button", { type: "button", class: "link", on: { click: total } }, "Count all")] : null);
    const left = found.total === undefined ? "" : ` of ${count(found.total - found.rows.length)} left`;
    fill(foot, found.next
      ? el("button", { type: "button", on: { click: more } }, `Show 100 more${left}`)
      : found.rows.length >= 100 ? el("p", { class: "dim" }, found.total > found.rows.length || found.rows.length >= 15000
        ? "The server returns at most 15,000 rows. Narrow the search with filters." : "End of the results.") : null);
  }

  async function more() {
    const before = found.rows.length;
    fill(foot, el("p", { class: "dim" }, "Loading…"));
    if (!await fetchMore(found, question, status, foot, signal, more)) return;
    rows.append(...found.rows.slice(before).map(row));
    foots();
    say(words());
    rows.children[before]?.querySelector("a")?.focus({ preventScroll: true });
  }

  // Search returns no total; filter does, for the same question.
  async function total() {
    fill(status, "Counting…");
    try {
      found.total = (await api.page("filter", body(question))).total;
      foots();
      say(words());
    } catch (failure) {
      fill(status, words(), ` · ${failure.text}`);
      say(failure.text);
    }
  }
}

function row(one) {
  const to = href.instrument(one.figi);
  const name = one.name ?? "";
  const description = one.securityDescription && one.securityDescription !== one.ticker && one.securityDescription !== name ? one.securityDescription : "";
  return el("tr", { on: { click: (event) => {
    // A click anywhere in the row opens the instrument, unless it selects text.
    if (!event.target.closest("a, button") && !String(getSelection())) go(to);
  } } },
  el("th", { scope: "row" }, el("a", { href: to }, one.ticker ?? one.figi)),
  el("td", { class: "c-name" }, el("span", {}, name), description ? el("span", { class: "dim" }, description) : null),
  el("td", {}, levelMark(one)),
  el("td", { class: "c-exch" }, one.exchCode),
  el("td", { class: "c-type" }, one.securityType ?? one.securityType2),
  el("td", {}, one.marketSector),
  el("td", {}, copyable(one.figi, "FIGI")));
}

/** Grey rows in the place of the results, of the same height. */
const skeleton = () => el("div", { class: "skeleton", "aria-hidden": "true" }, Array.from({ length: 8 }, () => el("span")));

/** Shows the right check digit of the typed text, or suggestions. */
async function suggestFor(question, place, signal) {
  let found;
  try {
    found = await api.suggest(question.query, [], signal);
  } catch {
    return; // the tips are enough
  }
  if (signal.aborted) return;
  const meant = found.rows.slice(0, 3);
  fill(place, found.finding ? el("p", {}, `${inWords(found.finding)}. Did you mean `,
    el("a", { href: write({ ...question, query: found.correction }) }, found.correction), "?")
    : meant.length ? el("p", {}, "Did you mean ", meant.map((one, at) => [at ? ", " : "", el("a", { href: href.instrument(one.figi) }, one.ticker ?? one.figi), one.name ? ` (${one.name})` : ""]), "?") : null);
}

function nothing(question) {
  const tips = [];
  if (filterCount(question)) tips.push("Filters are exact: exchange code US is the composite of all United States venues, not each of them. Remove a filter to see more.");
  if (question.query) {
    tips.push("Every word must match a whole word of the ticker, the name or the description: “appl” does not find Apple. Only the suggestions under the search box complete words.");
    tips.push("An identifier (ISIN, CUSIP, SEDOL, FIGI, …) must be typed in full.");
  }
  if (!question.unlisted) tips.push("Equities that no exchange lists are hidden unless the filter “Include unlisted equities” is set.");
  return el("div", { class: "empty" }, el("h2", {}, "Nothing found"), el("div", { class: "did-you-mean", "aria-live": "polite" }), el("ul", {}, tips.map((tip) => el("li", {}, tip))));
}

function teaching(ask) {
  const example = (words, question) => el("li", {}, el("button", { type: "button", class: "link", on: { click: () => ask({ query: "", lists: {}, intervals: {}, unlisted: false, ...question }) } }, words));
  const year = new Date().getUTCFullYear();
  return el("div", { class: "empty" },
    el("h2", {}, "Type in the box above, choose filters, or both"),
    el("p", {}, "With words, the best match comes first. With filters only, all matching instruments are listed in the order of FIGIs, with their total."),
    el("ul", {},
      example("All rows named IBM", { query: "ibm" }),
      example("Composites of the United States", { lists: { exchCode: ["US"] } }),
      example("Government and municipal bonds", { lists: { marketSecDes: ["Govt", "Muni"] } }),
      example(`Options that expire in ${year}`, { lists: { securityType2: ["Option"] }, intervals: { expiration: [`${year}-01-01`, `${year}-12-31`] } })));
}
