// The start page: a description of the server's data, examples of searches that find something, and
// an explanation of how instruments are related.

import { count, el, fill } from "../shared/dom.js";
import { about } from "../shared/about.js";
import * as api from "../shared/api.js";
import { href } from "../shared/router.js";

/** The examples: a kind, a text that the sample has, and a note. */
const EXAMPLES = {
  ticker: ["Ticker", "IBM", "also with an exchange code: IBM US, IBM US Equity"],
  name: ["Name", "apple inc", "the suggestions complete words"],
  isin: ["ISIN", "US0378331005", "12 characters, the last a check digit"],
  cusip: ["CUSIP", "459200101", "9 characters; also CINS and SEDOL"],
  figi: ["FIGI", "BBG000B9XRY4", "of a listing, a composite or a share class"],
};

/** Draws the description, and examples that find something: the server's, or built-in ones. */
async function fillIn(data, list, signal) {
  const { instruments, built, sample, examples = {} } = await about();
  const own = Object.entries(EXAMPLES).map(async ([kind, [title, ours, note]]) => {
    // The built-in examples are well-known, and the sample has them.
    if (examples[kind] && !sample) return [title, examples[kind], note];
    const found = await api.suggest(ours, [], signal).catch(() => null);
    return found?.rows.length ? [title, ours, note] : null;
  });
  const shown = (await Promise.all(own)).filter(Boolean);
  if (signal.aborted) return;
  if (instruments !== undefined) {
    const day = built ? new Date(built).toLocaleDateString("en-GB", { day: "numeric", month: "long", year: "numeric", timeZone: "UTC" }) : "";
    fill(data, el("strong", {}, `${count(instruments)} instruments`), day ? `, of ${day}` : "", sample ? ": the sample that comes with the program" : "", ". ",
      el("a", { href: "#/search" }, "Look through them"));
  }
  fill(list, shown.map(([kind, text, note]) => el("li", {},
    el("a", { href: href.search(new URLSearchParams({ query: text })) }, el("span", { class: "e-kind" }, kind), el("span", { class: "e-text mono" }, text)),
    el("span", { class: "dim" }, note))));
}

export function show(view, route, signal) {
  const data = el("p", { class: "in-here" });
  const list = el("ul", { class: "examples" });
  const node = (word, data, figi, note, children) => el("li", {},
    el("div", { class: "t-row" }, el("span", { class: "level", data: { level: data } }, word), el("span", { class: "mono" }, figi), el("span", { class: "dim" }, note)), children ?? null);
  fill(view, el("div", { class: "home" },
    el("h1", { id: "title", tabindex: "-1", class: "unseen" }, "Figdex"),
    data,
    el("section", { "aria-labelledby": "type-title" }, el("h2", { id: "type-title" }, "What you can type"), list),
    el("section", { "aria-labelledby": "levels-title" }, el("h2", { id: "levels-title" }, "How instruments are related"),
      el("ul", { class: "tree" }, node("share class", "share-class", "BBG001S5S399", "IBM shares, worldwide",
        el("ul", {}, node("composite", "composite", "BBG000BLNNH6", "in the United States",
          el("ul", {}, node("venue", "venue", "BBG000BLNQ16", "on the New York Stock Exchange"), node("venue", "venue", "BBG000BLNPB7", "on another exchange there"))),
        node("composite", "composite", "BBG000K23JG0", "in Germany", el("ul", {}, node("venue", "venue", "BBG000K23L39", "on Xetra")))))),
      el("p", { class: "dim" }, "Each level has its own FIGI, which never changes. Options, futures and bonds are marked as such.")),
    el("section", { class: "ways", "aria-labelledby": "ways-title" }, el("h2", { id: "ways-title" }, "More ways to search"),
      el("ul", {},
        el("li", {}, el("a", { href: "#/search" }, "Filter without words"), el("span", { class: "dim" }, "by exchange, type, currency, strike, maturity")),
        el("li", {}, el("a", { href: "#/bulk" }, "Map a list"), el("span", { class: "dim" }, "paste identifiers or drop a file; download FIGIs as CSV")),
        el("li", {}, el("a", { href: "#/reference" }, "Use it from a program"), el("span", { class: "dim" }, "endpoints, limits, examples that run"))))));
  fillIn(data, list, signal);
}
