// The entry point: connects the frame, the search box and the views. Each route shows one view.

import { fill } from "./shared/dom.js";
import { about } from "./shared/about.js";
import { start as startRouter, current, go } from "./shared/router.js";
import { start as startSuggest } from "./search/suggest.js";
import { LISTS, read, write } from "./search/query.js";
import { focusFirst } from "./search/rows.js";
import * as home from "./search/home.js";
import * as results from "./search/results.js";
import * as instrument from "./instrument/instrument.js";
import * as bulk from "./bulk/bulk.js";
import * as reference from "./reference/reference.js";

const VIEWS = {
  home: { view: home, title: "Figdex" },
  search: { view: results, title: "Search" },
  instrument: { view: instrument, title: "Instrument" },
  bulk: { view: bulk, title: "Bulk mapping" },
  reference: { view: reference, title: "Reference" },
};

const main = document.getElementById("view");
let shown = false;
let scrolling;
// Aborted when another view is shown, so that a late answer does not draw over it.
let leaving = new AbortController();

const finder = startSuggest({
  // On the search view, new words keep the filters, and the best match comes first again.
  searchFor(text) {
    const route = current();
    const question = read(route.name === "search" ? route.parameters : new URLSearchParams());
    go(write({ ...question, query: text, sort: null }));
  },
  mapList(text) {
    bulk.open(text);
    go("#/bulk");
  },
  // The filters that suggestions must pass: `[[name, value], …]`.
  filters() {
    const { lists } = read(current().name === "search" ? current().parameters : new URLSearchParams());
    return Object.keys(LISTS).flatMap((name) => (lists[name] ?? []).map((value) => [name, value]));
  },
  enterResults: (text) => results.enter(text, current()),
});

// The scroll position is saved in the history entry: back and forward restore it. A new entry
// starts at the top, unless it only changes a search.
history.scrollRestoration = "manual";
addEventListener("scroll", () => {
  clearTimeout(scrolling);
  scrolling = setTimeout(() => history.replaceState({ ...history.state, place: scrollY }, ""), 120);
}, { passive: true });

function show(route) {
  const { view, title } = VIEWS[route.name] ?? VIEWS.home;
  const isFirst = !shown;
  const wasView = document.body.dataset.view;
  const name = VIEWS[route.name] ? route.name : "home";
  shown = true;
  clearTimeout(scrolling);
  document.body.dataset.view = name;
  document.title = name === "home" ? "Figdex: find financial instruments"
    : `${name === "search" && route.parameters.get("query") ? route.parameters.get("query") : title} · Figdex`;
  for (const link of document.querySelectorAll(".nav a")) {
    if (link.getAttribute("href") === `#/${name}`) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  finder.setText(name === "search" ? route.parameters.get("query") ?? "" : "");
  leaving.abort();
  leaving = new AbortController();
  view.show(main, route, leaving.signal);
  // Screen readers announce the new view's title, unless someone is typing in the search box.
  const inBox = document.activeElement?.id === "query";
  if (!isFirst && !(inBox && name === "search") && !main.contains(document.activeElement)) {
    if (name === "home") finder.focus();
    else document.getElementById("title")?.focus({ preventScroll: true });
  }
  if (isFirst && name === "home" && matchMedia("(hover: hover)").matches) finder.focus();
  const place = history.state?.place ?? (name === "search" && wasView === "search" ? scrollY : 0);
  requestAnimationFrame(() => scrollTo(0, place));
}

document.getElementById("to-results").addEventListener("click", (event) => {
  event.preventDefault();
  if (!focusFirst()) main.focus();
});
document.querySelector(".skip").addEventListener("click", (event) => {
  event.preventDefault();
  main.focus();
});
document.querySelector(".mark").addEventListener("click", () => { if (current().name === "home") finder.focus(); });
// C copies the FIGI of an instrument's page, as it does that of a row of results.
addEventListener("keydown", (event) => {
  if (event.key !== "c" || event.ctrlKey || event.metaKey || event.altKey || document.body.dataset.view !== "instrument") return;
  if (event.target.closest?.("input, textarea, select, [contenteditable]") || String(getSelection())) return;
  document.querySelector(".facts .copyable, .instrument .copyable")?.click();
});
about(); // asked while the first view is drawn
fill(main);
startRouter(show);
