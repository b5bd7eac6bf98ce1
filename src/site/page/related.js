// Ways from an option to its underlying, and from there to its options and futures. The data have no
// link between them: both are found by the ticker.

import { counted, el, fill } from "./dom.js";
import * as api from "./api.js";
import { href } from "./router.js";
import { optionTerms } from "./terms.js";

const DERIVED = { Option: "option", Future: "future" };

/** A section that is filled when the server has answered, and stays empty without anything related. */
export function related(instrument, signal) {
  const place = el("section", { class: "related", "aria-label": "Related", hidden: true });
  ways(instrument, signal).then((links) => {
    if (!links.length || signal.aborted) return;
    fill(place, el("h2", {}, "Related"), el("ul", {}, links.map((link) => el("li", {}, link))));
    place.hidden = false;
  }).catch(() => {}); // the page is whole without it
  return place;
}

async function ways(instrument, signal) {
  const { underlying } = optionTerms(instrument) ?? {};
  if (underlying) return [await underlyingOf(underlying, instrument.exchCode, signal), ...await derived(underlying, instrument.exchCode, signal)];
  if (instrument.securityType2 in DERIVED || !["Equity", "Index"].includes(instrument.marketSector) || !instrument.ticker) return [];
  return derived(instrument.ticker.replace(/ Index$/, ""), instrument.exchCode, signal);
}

const words = (ticker, exchCode) => [ticker, exchCode].filter(Boolean).join(" ");

async function underlyingOf(ticker, exchCode, signal) {
  const query = words(ticker, exchCode);
  const { data } = await api.page("search", { query }, signal);
  const row = data.find((one) => one.ticker === ticker && !(one.securityType2 in DERIVED));
  return ["Underlying: ", row ? [el("a", { href: href.instrument(row.figi) }, words(row.ticker, row.exchCode)), row.name ? ` ${row.name}` : ""]
    : el("a", { href: href.search(new URLSearchParams({ query })) }, `search for ${query}`)];
}

async function derived(ticker, exchCode, signal) {
  const query = words(ticker, exchCode);
  const { facets } = await api.facets([["query", query]], ["securityType2"], 100, signal);
  return facets.securityType2.values.filter(({ value }) => value in DERIVED).map(({ value, count }) =>
    el("a", { href: href.search(new URLSearchParams({ query, securityType2: value })) }, `${counted(count, DERIVED[value])} on ${query}`));
}
