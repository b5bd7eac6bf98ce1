// The search box: suggestions while typing, chosen by keyboard or pointer (the ARIA combobox
// pattern with a listbox). Without a choice, Enter shows all results. Several pasted lines are a
// list; the box offers to map it.

import { el, fill, say, count, counted } from "../shared/dom.js";
import { exchangeName } from "../shared/about.js";
import * as api from "../shared/api.js";
import { inWords } from "../shared/kinds.js";
import { levelMark } from "../shared/level.js";
import { otherName } from "../shared/other-name.js";
import { chipsRead } from "./query.js";
import { go, href } from "../shared/router.js";
import { rowsIn } from "../shared/table.js";

const PAUSE_MS = 110;
const MATCHED = { ticker: "ticker", name: "name", identifier: "identifier", description: "description", guess: "a guess" };

const NOTHING = { rows: [], reading: null, finding: "", correction: "" };

/**
 * Starts the box. `searchFor(text)` shows all results, `mapList(text)` maps a list, and `filters()`
 * returns the current filters. `enterResults(text)` moves the focus to the first result of the
 * text, if it is on the page.
 */
export function start({ searchFor, mapList, filters, enterResults }) {
  const form = document.getElementById("finder");
  const input = document.getElementById("query");
  const list = document.getElementById("suggestions");
  const hint = document.getElementById("query-hint");
  const clear = document.getElementById("clear");
  const known = new Map(); // answers since the page was opened, by question
  let timer, request, rows = [], active = -1, quietUntil = 0;

  input.addEventListener("input", () => {
    clear.hidden = !input.value;
    fill(hint);
    clearTimeout(timer);
    request?.abort();
    if (!input.value.trim()) return close();
    timer = setTimeout(ask, PAUSE_MS);
  });
  input.addEventListener("paste", pasted);
  input.addEventListener("keydown", keydown);
  input.addEventListener("blur", () => setTimeout(() => { if (document.activeElement !== input) close(); }, 120));
  form.addEventListener("submit", (event) => { event.preventDefault(); choose(); });
  clear.addEventListener("click", () => { setText(""); input.focus(); });
  addEventListener("keydown", (event) => {
    if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target.closest("input, textarea, select, [contenteditable]")) return;
    event.preventDefault();
    input.focus();
    input.select();
  });

  async function ask() {
    const text = input.value.trim();
    const set = filters();
    const question = JSON.stringify([text, set]);
    request = new AbortController();
    try {
      const found = known.get(question) ?? (Date.now() < quietUntil ? NOTHING : await api.suggest(text, set, request.signal));
      if (Date.now() >= quietUntil) remember(question, found);
      if (input.value.trim() === text && document.activeElement === input) show(found, text);
    } catch (failure) {
      if (failure.name === "AbortError") return;
      // Without suggestions, Enter still searches and shows any error.
      if (failure.kind === "limit") quietUntil = Date.now() + failure.wait * 1000;
      if (failure.kind === "missing") quietUntil = Infinity;
      show(NOTHING, text, failure);
    }
  }

  function remember(question, found) {
    known.set(question, found);
    if (known.size > 200) known.delete(known.keys().next().value);
  }

  function show({ rows: found, reading, finding, correction }, text, failure) {
    rows = [...found.map((row) => ({ row })), { all: text }];
    draw((entry) => (entry.row ? parts(entry.row, text) : [
      el("span", {}, "All results for ", el("strong", {}, text)),
      failure ? el("span", { class: "dim" }, failure.kind === "limit" ? `No suggestions for ${failure.wait} s: the request limit is reached` : failure.kind === "away" ? "The server cannot be reached" : "")
        : found.length ? el("kbd", {}, "Enter") : el("span", { class: "dim" }, "No suggestion"),
    ]));
    if (reading) list.prepend(readAs(reading));
    // A wrong check digit is reported while typing: no request would find the identifier.
    fill(hint, finding ? [`${inWords(finding)}. `, el("button", { type: "button", class: "link", on: { click: () => correct(correction) } }, `Use ${correction}`)] : null);
    say(failure ? "No suggestions now" : inWords(finding) || counted(found.length, "suggestion"));
  }

  /** A line above the suggestions: the words, and the filters that were read from the text. */
  function readAs(reading) {
    return el("p", { class: "read-as dim", "aria-hidden": "true" }, "Read as ", el("strong", {}, reading.query),
      chipsRead({}, reading).map(({ text: piece, label, value }) => [", ", el("q", {}, piece), ` ${label} ${value}`]));
  }

  function draw(content) {
    active = -1;
    fill(list, rows.map((entry, place) => el("div", {
      id: `suggestion-${place}`, role: "option", "aria-selected": "false", class: entry.row ? "suggestion" : "suggestion all",
      on: { mousedown: (event) => event.preventDefault(), mousemove: () => activate(place), click: () => { activate(place); choose(); } },
    }, content(entry))));
    open();
  }

  // A text field holds one line. Several lines are offered as a list.
  function pasted(event) {
    const text = event.clipboardData?.getData("text/plain") ?? "";
    const lines = rowsIn(text);
    if (lines < 2) return;
    event.preventDefault();
    clearTimeout(timer);
    request?.abort();
    fill(hint);
    input.value = text.trim().replace(/\s+/g, " ").slice(0, input.maxLength);
    clear.hidden = false;
    rows = [{ list: text }, { all: input.value }];
    draw((entry) => (entry.list
      ? [el("span", {}, el("strong", {}, `Map these ${count(lines)}`), " as a list"), el("kbd", {}, "Enter")]
      : [el("span", {}, "Search for all of it as one text")]));
    activate(0);
    say(`Map these ${count(lines)} as a list`);
  }

  function correct(text) {
    setText(text);
    clear.hidden = false;
    input.focus();
    ask();
  }

  function parts(row, text) {
    const matched = (row.matched ?? []).map((name) => MATCHED[name] ?? name);
    return [
      el("span", { class: "s-ticker" }, marked(row.ticker ?? "–", text)),
      el("span", { class: "s-name" }, marked(row.name ?? row.securityDescription ?? row.figi, text)),
      el("span", { class: "s-level" }, levelMark(row)),
      el("span", { class: "s-exch" }, row.exchCode ?? "", " ", exchangeName(row.exchCode) ? el("span", { class: "x-name" }, exchangeName(row.exchCode)) : null),
      el("span", { class: "s-more" }, el("span", {}, row.securityType ?? row.securityType2 ?? row.marketSector ?? ""),
        row.listings > 1 ? el("span", {}, counted(row.listings, "listing")) : null,
        row.matchedName ? el("span", {}, otherName(row.matchedName)) : null,
        matched.length ? el("span", {}, `found by ${matched.join(", ")}`) : null),
    ];
  }

  function activate(place) {
    if (place === active) return;
    const options = list.querySelectorAll("[role=option]");
    options[active]?.setAttribute("aria-selected", "false");
    active = place;
    const option = options[active];
    option?.setAttribute("aria-selected", "true");
    option?.scrollIntoView({ block: "nearest" });
    if (option) input.setAttribute("aria-activedescendant", option.id);
    else input.removeAttribute("aria-activedescendant");
  }

  function open() {
    list.hidden = false;
    input.setAttribute("aria-expanded", "true");
  }

  function close() {
    clearTimeout(timer);
    request?.abort();
    list.hidden = true;
    activate(-1);
    input.setAttribute("aria-expanded", "false");
  }

  function choose() {
    const entry = rows[active];
    const text = input.value.trim();
    const isOpen = !list.hidden;
    close();
    if (isOpen && entry?.row) go(href.instrument(entry.row.figi));
    else if (isOpen && entry?.list) mapList(entry.list);
    else searchFor(text);
  }

  function keydown(event) {
    const isOpen = !list.hidden;
    const last = rows.length - 1;
    switch (event.key) {
      case "ArrowDown":
        if (isOpen) activate(active >= last ? 0 : active + 1);
        else if (input.value.trim() && !enterResults(input.value.trim())) ask();
        break;
      case "ArrowUp":
        if (isOpen) activate(active <= 0 ? last : active - 1);
        break;
      // These keys move in the list while a suggestion is chosen, and in the text otherwise.
      case "Home": if (!isOpen || active < 0) return; activate(0); break;
      case "End": if (!isOpen || active < 0) return; activate(last); break;
      case "Escape":
        if (isOpen) close();
        else if (input.value) setText("");
        else input.blur();
        break;
      case "Tab": close(); return;
      default: return;
    }
    event.preventDefault();
  }

  function setText(text) {
    input.value = text;
    rows = [];
    clear.hidden = !text;
    fill(hint);
    close();
  }
  return { setText, focus: () => input.focus() };
}

/** The text with the typed beginnings of its words marked. */
export function marked(text, typed) {
  const words = typed.toLowerCase().split(/[^\p{L}\p{N}]+/u).filter(Boolean).sort((a, b) => b.length - a.length);
  if (!words.length) return text;
  const out = [];
  for (const piece of text.split(/(?<![\p{L}\p{N}])(?=[\p{L}\p{N}])/u)) {
    const word = words.find((one) => piece.toLowerCase().startsWith(one));
    if (word) out.push(el("mark", {}, piece.slice(0, word.length)), piece.slice(word.length));
    else out.push(piece);
  }
  return out;
}
