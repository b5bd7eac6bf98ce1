// What the search view shows without results: examples before a question, and after one that found
// nothing a guess of what was meant and reasons.

import { counted, el, fill, say } from "./dom.js";
import * as api from "./api.js";
import { inWords } from "./kinds.js";
import { filterCount, parametersOf, write } from "./query.js";
import { href } from "./router.js";

/** A lesson how to ask, and the most frequent types in the data; `counts` is a promise of `topValues`. */
export function teaching(counts) {
  const list = el("ul", {});
  const filter = (name, value) => write({ query: "", lists: { [name]: [value] }, intervals: {}, unlisted: false });
  counts.then((known) => fill(list, (known?.facets.securityType2.values ?? []).map(({ value, count: number }) =>
    el("li", {}, el("a", { href: filter("securityType2", value) }, value), " ", el("span", { class: "dim" }, counted(number, "instrument"))))));
  return el("div", { class: "empty" },
    el("h2", {}, "Type in the box above, choose filters, or both"),
    el("p", {}, "With words, the best match comes first. With filters only, all matching instruments are listed in the order of FIGIs. The number next to a value says how many instruments have it."),
    list);
}

/** The notice that nothing was found; `signal` ends the question what was meant. */
export function nothing(question, signal) {
  say("No results");
  const tips = [];
  if (filterCount(question)) tips.push("Filters are exact: exchange code US is the composite of all United States venues, not each of them. Remove a filter to see more.");
  if (question.query) {
    tips.push("Every word must match a whole word of the ticker, the name or the description: “appl” does not find Apple. Only the suggestions under the search box complete words.");
    tips.push("An identifier (ISIN, CUSIP, SEDOL, FIGI, …) must be typed in full.");
  }
  if (!question.unlisted) tips.push("Equities that no exchange lists are hidden unless the filter “Include unlisted equities” is set.");
  const meant = el("div", { class: "did-you-mean", "aria-live": "polite" });
  if (question.query) guess(question, meant, signal);
  return el("div", { class: "empty" }, el("h2", {}, "Nothing found"), meant, el("ul", {}, tips.map((tip) => el("li", {}, tip))));
}

/** Shows that the words find something without filters, or what they may have been meant for. */
async function guess(question, place, signal) {
  const free = { ...question, lists: {}, intervals: {} };
  let total, found;
  try {
    total = filterCount(free) < filterCount(question) ? (await api.facets(parametersOf(free), ["level"], 1, signal)).total : 0;
    found = total ? null : await api.suggest(question.query, [], signal);
  } catch {
    return; // the tips are enough
  }
  if (signal.aborted) return;
  if (total) return fill(place, el("p", {}, "Without filters ", el("a", { href: write(free) }, question.query), ` finds ${counted(total, "instrument")}.`));
  const search = (query) => el("a", { href: write({ ...question, query }) }, query);
  if (found.finding) return fill(place, el("p", {}, `${inWords(found.finding)}. Did you mean `, search(found.correction), "?"));
  const names = [...new Set(found.rows.map((row) => row.name ?? row.ticker).filter((name) => name && name !== question.query))];
  if (!names.length) return;
  const [first, ...others] = names.slice(0, 4);
  fill(place, el("p", {}, "Did you mean ", search(first), "?"),
    others.length ? el("p", { class: "dim small" }, "Or ", others.map((name, at) => [at ? ", " : "", search(name)]), ".") : null,
    el("p", { class: "dim small" }, "Or open ", el("a", { href: href.instrument(found.rows[0].figi) }, [found.rows[0].ticker ?? found.rows[0].figi, found.rows[0].exchCode].filter(Boolean).join(" ")), "."));
}
