// Links from an option to its underlying, and from an underlying to its options and futures. The
// data do not link them: the ticker finds both.

import { counted, el, fill } from "../shared/dom.js";
import * as api from "../shared/api.js";
import { href } from "../shared/router.js";
import { optionTerms } from "../shared/terms.js";

const DERIVED = { Option: "option", Future: "future" };

/** A section that is filled when the server answers. It stays empty if nothing is related. */
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
  if (underlying) {
    const [queries, row] = await underlyingOf(instrument, underlying, signal);
    const name = row ? [el("a", { href: href.instrument(row.figi) }, words(row.ticker, row.exchCode)), row.name ? ` ${row.name}` : ""]
      : el("a", { href: href.search(new URLSearchParams({ query: queries[0] })) }, `search for ${queries[0]}`);
    return [["Underlying: ", name], ...row ? await derived(row.ticker, row.exchCode, signal) : []];
  }
  if (instrument.securityType2 in DERIVED || !["Equity", "Index"].includes(instrument.marketSector) || !instrument.ticker) return [];
  return derived(instrument.ticker.replace(/ Index$/, ""), instrument.exchCode, signal);
}

const words = (ticker, exchCode) => [ticker, exchCode].filter(Boolean).join(" ");

/**
 * The words to search the underlying by, and its row if one of them finds it. The name of an option
 * is the best source (`May 26 Calls on AAPL US`): the option's exchange may list no shares.
 */
async function underlyingOf({ name, exchCode }, ticker, signal) {
  const named = / on (\S+(?: [A-Z]{2})?)$/.exec(name ?? "")?.[1];
  const queries = [...new Set([named, words(ticker, exchCode), ticker].filter(Boolean))];
  for (const query of queries) {
    const { data } = await api.page("search", { query }, signal);
    const row = data.find((one) => one.ticker === query.split(" ")[0] && !(one.securityType2 in DERIVED));
    if (row) return [queries, row];
  }
  return [queries, null];
}

async function derived(ticker, exchCode, signal) {
  const query = words(ticker, exchCode);
  const { facets } = await api.facets([["query", query]], ["securityType2"], 100, signal);
  return facets.securityType2.values.filter(({ value }) => value in DERIVED).map(({ value, count }) =>
    el("a", { href: href.search(new URLSearchParams({ query, securityType2: value })) }, `${counted(count, DERIVED[value])} on ${query}`));
}
