// The start page: examples of searches, and how instruments are related. It makes no request.

import { el, fill } from "./dom.js";
import { href } from "./router.js";

const EXAMPLES = [
  ["Ticker", "IBM", "also with an exchange code: IBM US, IBM US Equity"],
  ["Name", "apple inc", "the suggestions complete words"],
  ["ISIN", "US0378331005", "12 characters, the last a check digit"],
  ["CUSIP", "459200101", "9 characters; also CINS and SEDOL"],
  ["FIGI", "BBG000B9XRY4", "of a listing, a composite or a share class"],
];

export function show(view) {
  const example = ([kind, text, note]) => el("li", {},
    el("a", { href: href.search(new URLSearchParams({ query: text })) }, el("span", { class: "e-kind" }, kind), el("span", { class: "e-text mono" }, text)),
    el("span", { class: "dim" }, note));
  const node = (word, data, figi, note, children) => el("li", {},
    el("div", { class: "t-row" }, el("span", { class: "level", data: { level: data } }, word), el("span", { class: "mono" }, figi), el("span", { class: "dim" }, note)), children ?? null);
  fill(view, el("div", { class: "home" },
    el("h1", { id: "title", tabindex: "-1", class: "unseen" }, "Figdex"),
    el("section", { "aria-labelledby": "type-title" }, el("h2", { id: "type-title" }, "What you can type"),
      el("ul", { class: "examples" }, EXAMPLES.map(example))),
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
}
