// Counts the instruments with each value of a property. If the property itself is filtered, it is
// counted without that filter, so that a person sees the results of other choices.

import * as api from "../shared/api.js";
import { parametersOf, without } from "./query.js";

/** The properties whose most frequent values are shown next to the results. */
export const FACETS = ["level", "exchCode", "currency", "securityType2"];

const TOP = 5;
const ALL = 10_000;

/** The `{total, facets}` of a question, with the most frequent values of `FACETS`. */
export async function topValues(question, signal) {
  const isSet = (name) => name in question.lists;
  const open = FACETS.filter((name) => !isSet(name));
  const ask = (asked, names) => api.facets(parametersOf(asked), names, TOP, signal);
  const [whole, ...rest] = await Promise.all([
    ask(question, open.length ? open : FACETS.slice(0, 1)),
    ...FACETS.filter(isSet).map((name) => ask(without(question, name), [name])),
  ]);
  return { total: whole.total, facets: Object.assign({}, whole.facets, ...rest.map(({ facets }) => facets)) };
}

/** All values of a property that find something with the rest of a question: `{value, count}`. */
export async function valuesOf(name, question) {
  const { facets } = await api.facets(parametersOf(without(question, name)), [name], ALL);
  return facets[name].values;
}

/** All values of a property in the data. */
export const valuesInData = (name) => valuesOf(name, { query: "", lists: {}, intervals: {}, unlisted: true });

