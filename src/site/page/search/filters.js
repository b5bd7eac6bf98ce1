// The panel of filters next to the results: the most frequent values with their counts, lists of
// all values, intervals, and unlisted equities. Each complete change (a value pressed, a list
// closed, a field left) calls `ask` once with the new question.

import { count, el, fill, say } from "../shared/dom.js";
import { exchangeName } from "../shared/about.js";
import { FACETS, valuesOf } from "./facets.js";
import { MEANING } from "../shared/level.js";
import { picker } from "../shared/picker.js";
import { CHOICES, LISTS, NUMBERS, DATES, fault, filterCount, yearAfter, isDate } from "./query.js";

const SECTORS = {
  Comdty: "commodities", Corp: "corporate bonds", Curncy: "currencies", Equity: "shares and funds", Govt: "government bonds",
  Index: "indices", "M-Mkt": "money market", Mtge: "mortgages", Muni: "municipal bonds", Pfd: "preferred shares",
};
/** The meaning of a value whose name does not explain it, or "". */
export const meaningOf = (name) => (value) => (name === "marketSecDes" ? SECTORS[value] ?? "" : name === "exchCode" ? exchangeName(value) : "");

const GROUPS = [
  ["Level", ["level"]],
  ["Where", ["exchCode", "micCode", "currency"]],
  ["What", ["securityType2", "securityType", "marketSecDes", "optionType"]],
  ["Terms", ["strike", "expiration", "contractSize", "coupon", "maturity", "stateCode"]],
];

/** Two filters that cannot be combined. */
const OTHER = { exchCode: "micCode", micCode: "exchCode" };

/** The last shown values. They stay, without their counts, until new ones come: nothing moves. */
let last = {};

/**
 * The panel of a question. `ask(question)` is called with each changed question. `take(counts,
 * reading)` is called before the panel is used, and again when they are asked for again. `counts` is
 * a promise: of `topValues`, of null without an answer, or of undefined if the view was left.
 * `reading` is a promise of the reading of the words, or of null.
 * @returns {{element: HTMLElement, take: (counts: Promise, reading: Promise) => void}}
 */
export function filters(question, ask) {
  let taken = null;
  const tops = Object.fromEntries(FACETS.map((name) => [name, el("ul", { class: "facet", "aria-label": `${CHOICES[name]}, most frequent` })]));
  const drawTops = (isOld) => FACETS.forEach((name) => fill(tops[name], (last[name]?.values ?? []).map((one) => top(name, one, isOld))));
  drawTops(true);

  function take(counts, reading) {
    taken = { counts, reading };
    counts.then((known) => {
      if (known === undefined || taken.counts !== counts) return;
      last = known?.facets ?? {};
      const focused = document.activeElement?.closest?.(".facet") ? document.activeElement.dataset.field : null;
      drawTops(false);
      if (focused) document.querySelector(`[data-field="${CSS.escape(focused)}"]`)?.focus({ preventScroll: true });
    });
  }

  function top(name, { value, count: number }, isOld) {
    const chosen = question.lists[name] ?? [];
    const isChosen = chosen.includes(value);
    const also = name === "level" ? "" : meaningOf(name)(value);
    const values = isChosen ? chosen.filter((one) => one !== value) : [...chosen, value];
    return el("li", {}, el("button", {
      type: "button", class: "facet-value", "aria-pressed": String(isChosen), disabled: Boolean(question.lists[OTHER[name]]), data: { field: `${name} ${value}` }, title: (name === "level" ? MEANING[value] : also) || null,
      on: { click: () => set("lists", name, values, values.length > 0) },
    }, el("span", { class: "f-value" }, value, also ? [" ", el("span", { class: "dim" }, also)] : null), " ", el("span", { class: "f-count" }, isOld ? "" : count(number))));
  }

  const set = (kind, name, value, isSet) => {
    const part = { ...question[kind] };
    if (isSet) part[name] = value;
    else delete part[name];
    ask({ ...question, [kind]: part });
  };
  const field = (name) => {
    if (!(name in LISTS) && name in CHOICES) return tops[name];
    if (name in LISTS) {
      return [picker({
        field: name, label: LISTS[name], values: async () => valuesOf(name, question, await taken.reading), chosen: question.lists[name] ?? [], meaning: meaningOf(name),
        disabled: question.lists[OTHER[name]] ? `Not together with ${LISTS[OTHER[name]]}` : "",
        onChange: (chosen) => set("lists", name, chosen, chosen.length > 0),
      }), tops[name]];
    }
    return interval(name, question.intervals[name] ?? ["", ""], (pair) => set("intervals", name, pair, Boolean(pair[0] || pair[1])));
  };
  const unlisted = el("input", {
    type: "checkbox", checked: question.unlisted, data: { field: "unlisted" }, on: { change: () => ask({ ...question, unlisted: unlisted.checked }) },
  });
  const active = filterCount(question);
  const element = el("section", { class: "filters", "aria-label": "Filters" },
    el("div", { class: "filters-head" }, el("h2", {}, "Filters"),
      active ? el("button", { type: "button", class: "link", on: { click: () => ask({ query: question.query, lists: {}, intervals: {}, unlisted: false }) } }, "Clear all") : null),
    GROUPS.map(([title, names]) => el("fieldset", {}, el("legend", {}, title), names.map(field))),
    el("label", { class: "check" }, unlisted, el("span", {}, "Include unlisted equities")));
  return { element, take };
}

/** Two fields, from and to, of numbers or dates. A fault is shown under them at once. */
function interval(name, [from, to], onChange) {
  const isDates = name in DATES;
  const label = NUMBERS[name] ?? DATES[name];
  const words = el("p", { class: "field-fault", id: `${name}-fault` });
  const input = (end, value) => el("input", {
    type: isDates ? "date" : "text", inputmode: isDates ? null : "decimal", value, data: { field: `${name}-${end}` },
    "aria-label": `${label} ${end}`,
    "aria-describedby": `${name}-fault`, placeholder: isDates ? null : end, autocomplete: "off",
    ...(isDates ? { min: "1900-01-01", max: "2999-12-31" } : {}),
    // A date field fires "change" while its year is still being typed. So it counts only when it is
    // left, or on Enter.
    on: {
      change: () => settle(!isDates),
      blur: () => settle(true),
      keydown: (event) => { if (event.key === "Enter") settle(true); },
    },
  });
  const first = input("from", from), second = input("to", to);
  let last = `${from}..${to}`;

  function settle(isWhole) {
    const pair = [first.value.trim(), second.value.trim()];
    const wrong = fault(name, pair);
    fill(words, wrong ?? hint(pair));
    words.classList.toggle("wrong", Boolean(wrong));
    for (const one of [first, second]) one.setAttribute("aria-invalid", String(Boolean(wrong)));
    if (wrong) say(`${label}: ${wrong}`);
    else if (isWhole && pair.join("..") !== last) {
      last = pair.join("..");
      onChange(pair);
    }
  }
  function hint([a, b]) {
    if (!isDates || (a && b) || !(a || b)) return "";
    return a && isDate(a) ? `Up to ${yearAfter(a)}: one year at most.` : "One year back from this day.";
  }
  fill(words, hint([from, to]));
  return el("div", { class: "interval", role: "group", "aria-label": label },
    el("span", { class: "field-label" }, label),
    el("div", { class: "pair" }, first, el("span", { "aria-hidden": "true" }, "–"), second), words);
}
