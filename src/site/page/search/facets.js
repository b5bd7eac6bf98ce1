// Counts the instruments with each value of a property. If the property itself is filtered, it is
// counted without that filter, so that a person sees the results of other choices.

import * as api from "../shared/api.js";
import { narrowed, parametersOf, without } from "./query.js";

/** The properties whose most frequent values are shown next to the results. */
export const FACETS = ["level", "exchCode", "currency", "securityType2"];

const TOP = 5;
const ALL = 10_000;

/**
 * The `{total, facets}` of a question, with the most frequent values of `FACETS`. `reading` is the
 * reading of its words, or null.
 */
export async function topValues(question, reading, signal) {
  const isSet = (name) => name in question.lists;
  const open = FACETS.filter((name) => !isSet(name));
  const ask = (asked, names) => api.facets(parametersOf(asked), names, TOP, signal);
  const [whole, ...rest] = await Promise.all([
    ask(narrowed(question, reading), open.length ? open : FACETS.slice(0, 1)),
    ...FACETS.filter(isSet).map((name) => ask(withoutOwn(question, reading, name), [name])),
  ]);
  return { total: whole.total, facets: Object.assign({}, whole.facets, ...rest.map(({ facets }) => facets)) };
}

/** The question without its own values of a property; those of its reading stay. */
function withoutOwn(question, reading, name) {
  const read = reading?.chips.find(({ property }) => property === name)?.values;
  const asked = without(narrowed(question, reading), name);
  return read ? { ...asked, lists: { ...asked.lists, [name]: read } } : asked;
}

/** All values of a property that find something with the rest of a question: `{value, count}`. */
export async function valuesOf(name, question, reading) {
  const { facets } = await api.facets(parametersOf(withoutOwn(question, reading, name)), [name], ALL);
  return facets[name].values;
}

/** All values of a property in the data. */
export const valuesInData = (name) => valuesOf(name, { query: "", lists: {}, intervals: {}, unlisted: true }, null);
