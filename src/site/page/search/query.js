// A question: key words and filters. It has three forms: the address of the page, the fields of the
// panel, and the body of a request. This module also checks intervals.

import { href } from "../shared/router.js";

/** Filters that take values from a list. */
export const LISTS = {
  exchCode: "Exchange code",
  micCode: "MIC (ISO 10383)",
  marketSecDes: "Market sector",
  securityType: "Security type",
  securityType2: "Security type 2",
  optionType: "Put or call",
  currency: "Currency",
  stateCode: "State code",
};
/** All filters that allow several values. */
export const CHOICES = { level: "Level", ...LISTS };
export const NUMBERS = { strike: "Strike", contractSize: "Contract size", coupon: "Coupon, %" };
export const DATES = { expiration: "Expiration", maturity: "Maturity" };
const INTERVALS = { ...NUMBERS, ...DATES };

/**
 * The question in an address: `{query, lists, intervals, unlisted, sort}`. `sort` is the display
 * order, `{column, isDown}` or null; it is not part of the request.
 */
export function read(parameters) {
  const question = { query: (parameters.get("query") ?? "").trim(), lists: {}, intervals: {}, unlisted: false, sort: sortIn(parameters.get("sort")) };
  for (const name of Object.keys(CHOICES)) {
    const values = [...new Set(parameters.getAll(name).filter(Boolean))];
    if (values.length) question.lists[name] = values;
  }
  for (const name of Object.keys(INTERVALS)) {
    const text = parameters.get(name);
    if (!text) continue;
    const [from = "", to = ""] = text.split("..");
    if (from || to) question.intervals[name] = [from, to];
  }
  question.unlisted = parameters.get("includeUnlistedEquities") === "true";
  return question;
}

/** `exch` is ascending, `-exch` descending. */
function sortIn(text) {
  const isDown = Boolean(text?.startsWith("-"));
  return text ? { column: isDown ? text.slice(1) : text, isDown } : null;
}

/** The question as parameters, for the address of the page and for `GET /facets`. */
export function parametersOf(question) {
  const parameters = new URLSearchParams();
  if (question.query) parameters.set("query", question.query);
  for (const name of Object.keys(CHOICES)) {
    for (const value of question.lists[name] ?? []) parameters.append(name, value);
  }
  for (const name of Object.keys(INTERVALS)) {
    const [from, to] = question.intervals[name] ?? ["", ""];
    if (from || to) parameters.set(name, `${from}..${to}`);
  }
  if (question.unlisted) parameters.set("includeUnlistedEquities", "true");
  return parameters;
}

/**
 * The question with the words and the filters of a reading, for requests that read no text.
 * `reading` is that of the answer of `/find`, or null.
 */
export function narrowed(question, reading) {
  if (!reading) return question;
  const { level, includeUnlistedEquities: unlisted, ...filters } = reading.filters;
  const lists = { ...(level ? { level } : {}) }, intervals = {};
  for (const [name, values] of Object.entries(filters)) {
    if (name in INTERVALS) intervals[name] = values.map((end) => (end === null ? "" : String(end)));
    else lists[name] = values;
  }
  return { ...question, query: reading.query, lists, intervals, unlisted: Boolean(unlisted) };
}

/** The address of a question. */
export function write(question) {
  const parameters = parametersOf(question);
  if (question.sort) parameters.set("sort", `${question.sort.isDown ? "-" : ""}${question.sort.column}`);
  return href.search(parameters);
}

/** The question without one of its lists. */
export function without(question, name) {
  const { [name]: _, ...lists } = question.lists;
  return { ...question, lists };
}

export const isEmpty = (question) => !question.query && !hasFilters(question);
/** Whether a filter is set. `includeUnlistedEquities` counts too, though it only widens results. */
export const hasFilters = (question) =>
  Object.keys(question.lists).length > 0 || Object.keys(question.intervals).length > 0 || question.unlisted;
export const filterCount = (question) =>
  Object.keys(question.lists).length + Object.keys(question.intervals).length + (question.unlisted ? 1 : 0);

/** The endpoint: search for key words, best match first; filter for filters only, in FIGI order. */
export const endpoint = (question) => (question.query ? "search" : "filter");

/** The body of a request. One value is a string, several values are an array. */
export function body(question) {
  const body = {};
  if (question.query) body.query = question.query;
  for (const [name, values] of Object.entries(question.lists)) body[name] = values.length === 1 ? values[0] : values;
  for (const [name, [from, to]] of Object.entries(question.intervals)) {
    const entry = name in NUMBERS ? Number : String;
    body[name] = [from === "" ? null : entry(from), to === "" ? null : entry(to)];
  }
  if (question.unlisted) body.includeUnlistedEquities = true;
  return body;
}

/** The fault of an interval, as a text, or null. */
export function fault(name, [from, to]) {
  if (name in NUMBERS) {
    for (const text of [from, to]) {
      if (text !== "" && !/^[-+]?(\d+\.?\d*|\.\d+)$/.test(text)) return `“${text}” is not a number. Write 12.5, with a point.`;
    }
    if (from !== "" && to !== "" && Number(from) > Number(to)) return "The first number is larger than the second.";
    return null;
  }
  for (const text of [from, to]) {
    if (text !== "" && !isDate(text)) return `“${text}” is not a date. Write year-month-day: 2026-03-20.`;
  }
  if (from && to && from > to) return "The first date is after the second.";
  if (from && to && to > yearAfter(from)) return `At most one year apart: from ${from} up to ${yearAfter(from)}.`;
  return null;
}

export function isDate(text) {
  if (!/^\d{4}-\d\d-\d\d$/.test(text)) return false;
  const date = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text);
}

/** The same day a year later; one year after 29 February is 28 February. */
export function yearAfter(text) {
  const moved = `${String(Number(text.slice(0, 4)) + 1).padStart(4, "0")}${text.slice(4)}`;
  return isDate(moved) ? moved : moved.replace("-29", "-28");
}

/** The fault of a question, as a text, or null. */
export function faultOf(question) {
  for (const [name, interval] of Object.entries(question.intervals)) {
    const words = fault(name, interval);
    if (words) return `${INTERVALS[name]}: ${words}`;
  }
  if (question.lists.exchCode && question.lists.micCode) {
    return "Exchange code and MIC cannot be combined. Remove one of the two.";
  }
  return null;
}

const inWords = ([from, to]) => (from === to ? String(from) : from && to ? `${from} to ${to}` : from ? `from ${from}` : `up to ${to}`);

/** The most values of a chip that was read from the text; further ones are counted. */
const VALUES_SHOWN = 2;

/** The filters that were read from the text, as `chips` has its own, with the `text` of each. */
export function chipsRead(question, reading) {
  return (reading?.chips ?? []).map(({ text, property, values, interval, without: query }) => {
    const more = values ? values.length - VALUES_SHOWN : 0;
    const value = interval ? inWords(interval) : `${values.slice(0, VALUES_SHOWN).join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
    return { label: CHOICES[property] ?? INTERVALS[property], name: property, value, text, without: { ...question, query } };
  });
}

/**
 * The active filters: `{label, value, without}`, and `name` if it is one of `CHOICES`; `without` is
 * the question without the filter.
 */
export function chips(question) {
  const chips = [];
  for (const [name, values] of Object.entries(question.lists)) {
    for (const value of values) {
      const rest = values.filter((other) => other !== value);
      const lists = { ...question.lists, [name]: rest };
      if (!rest.length) delete lists[name];
      chips.push({ label: CHOICES[name], name, value, without: { ...question, lists } });
    }
  }
  for (const [name, [from, to]] of Object.entries(question.intervals)) {
    const intervals = { ...question.intervals };
    delete intervals[name];
    chips.push({ label: INTERVALS[name], value: inWords([from, to]), without: { ...question, intervals } });
  }
  if (question.unlisted) {
    chips.push({ label: "Unlisted equities", value: "included", without: { ...question, unlisted: false } });
  }
  return chips;
}
