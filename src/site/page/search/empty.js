// The search view without results. Before a question it shows advice; after a question that found
// nothing, possible reasons and similar questions that find something.

import { counted, el, fill, say } from "../shared/dom.js";
import * as api from "../shared/api.js";
import { exchangeName } from "../shared/about.js";
import { inWords } from "../shared/kinds.js";
import { chips, filterCount, parametersOf, write } from "./query.js";
import { href } from "../shared/router.js";

/** Advice for asking, and the most frequent types. `counts` is a promise of `topValues`. */
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

/** The most filters that are left out, one at a time, to see whether the others find something. */
const LOOSENED_MAX = 4;

/**
 * The notice that nothing was found. `found` may have the fault and the correction of an identifier.
 * `signal` aborts the search for the intended words.
 */
export function nothing(question, found, signal) {
  say("No results");
  const tips = [];
  if (filterCount(question)) tips.push("Filters are exact: exchange code US is the composite of all United States venues, not each of them. Remove a filter to see more.");
  if (question.query) {
    tips.push("No instrument has these words in its ticker, its name or its description, nor words that are similar to them.");
    tips.push("An identifier (ISIN, CUSIP, SEDOL, FIGI, …) must be typed in full.");
  }
  if (!question.unlisted) tips.push("Equities that no exchange lists are hidden unless the filter “Include unlisted equities” is set.");
  const meant = el("div", { class: "did-you-mean", "aria-live": "polite" });
  guess(question, found, meant, signal);
  return el("div", { class: "empty" }, el("h2", {}, "Nothing found"), meant, el("ul", {}, tips.map((tip) => el("li", {}, tip))));
}

/** Links to similar questions that find something, for results that are only guesses. */
export function similar(question, signal) {
  const meant = el("div", { class: "did-you-mean", "aria-live": "polite" });
  guess(question, {}, meant, signal);
  return meant;
}

/** Shows similar questions that find something: with fewer filters, or with other words. */
async function guess(question, { finding, correction }, place, signal) {
  try {
    if (finding) {
      return fill(place, el("p", {}, `${inWords(finding)}. Did you mean `, el("a", { href: write({ ...question, query: correction }) }, correction), "?"));
    }
    let shown = await (question.query ? freed : loosened)(question, signal);
    // A number is seldom part of a name.
    if (!shown && question.query && !/^\d+$/.test(question.query)) shown = await shorter(question, signal);
    if (!signal.aborted) fill(place, shown);
  } catch {
    // The tips alone are enough.
  }
}

const finds = async (question, signal) => (await api.facets(parametersOf(question), ["level"], 1, signal)).total;

/** The words without filters. */
async function freed(question, signal) {
  const free = { ...question, lists: {}, intervals: {} };
  const total = filterCount(free) < filterCount(question) ? await finds(free, signal) : 0;
  return total ? el("p", {}, "Without filters ", el("a", { href: write(free) }, question.query), ` finds ${counted(total, "instrument")}.`) : null;
}

/** The filters without one of them, for each of the first few. */
async function loosened(question, signal) {
  const active = chips(question);
  if (active.length < 2) return null;
  const found = await Promise.all(active.slice(0, LOOSENED_MAX).map(async (chip) => ({ chip, total: await finds(chip.without, signal) })));
  return found.filter(({ total }) => total).map(({ chip: { label, value, without }, total }) => el("p", {},
    "Without ", el("a", { href: write(without) }, `${label} ${value}`), `, the other filters find ${counted(total, "instrument")}.`));
}

/** The words without the last one, which may be an exchange, and without the first one. */
async function shorter(question, signal) {
  const words = question.query.split(/\s+/);
  if (words.length < 2) return null;
  const ways = [[words.at(-1), words.slice(0, -1)], [words[0], words.slice(1)]];
  const found = await Promise.all(ways.map(async ([left, rest]) => {
    const asked = { ...question, query: rest.join(" ") };
    return { left, asked, total: await finds(asked, signal) };
  }));
  const lines = found.filter(({ total }) => total).map(({ left, asked, total }) => el("p", {},
    "Without ", el("q", {}, left), exchangeName(left.toUpperCase()) ? ` (${exchangeName(left.toUpperCase())})` : null, ", ",
    el("a", { href: write(asked) }, asked.query), ` finds ${counted(total, "instrument")}.`));
  return lines.length ? lines : null;
}
