// The steps that choose one of several rows, as a list that a person orders. Without a step, none
// of several rows is chosen.

import { el, fill, say } from "../shared/dom.js";
import { valuesInData } from "../search/facets.js";
import { meaningOf } from "../search/filters.js";
import { picker } from "../shared/picker.js";
import { LISTS } from "../search/query.js";

const STEPS_MAX = 16;
/** The steps without values. */
const PLAIN = { composite: "Composites", home: "The listing in the home country" };
/** The rows that each of them keeps. */
const KEEPS = { composite: "one row for each country, in place of one for each exchange", home: "the composite in the country of the ISIN" };

/** The default steps of a new list. */
export const DEFAULT_STEPS = () => ["home", "composite"].map((property) => ({ property, values: [] }));

/** The steps in the server's notation. A property without values is left out. */
export const preferOf = (steps) => steps
  .filter(({ property, values: chosen }) => PLAIN[property] || chosen.length)
  .map(({ property, values: chosen }) => (PLAIN[property] ? property : `${property}=${chosen.join("|")}`));

/** The editor of `steps`. It changes them in place, and calls `onChange()` after each change. */
export function stepsEditor(steps, onChange) {
  const list = el("ol", { class: "steps" });
  const add = el("select", { "aria-label": "Add a step", data: { field: "add step" }, on: { change: added } });
  const box = el("fieldset", { class: "prefer" }, el("legend", {}, "When an identifier has several listings"),
    el("p", { class: "dim small" }, "Each step keeps the listings that fit, if any do, until one is left. What no step decides stays ambiguous: nothing is guessed. At first the steps are the listing in the country of the ISIN, then composites. You can remove, add and reorder them."),
    list, add);
  const acts = {
    up: (place) => moved(place, place - 1),
    down: (place) => moved(place, place + 1),
    remove: (place) => { steps.splice(place, 1); draw("add step"); say("Removed"); onChange(); },
  };
  draw();
  return box;

  function draw(focus) {
    const plain = Object.entries(PLAIN).filter(([name]) => !steps.some(({ property }) => property === name));
    const options = [["", "Add a step…"], ...plain, ...Object.entries(LISTS)];
    fill(add, options.map(([value, name]) => el("option", { value }, name)));
    add.value = "";
    add.disabled = steps.length === STEPS_MAX;
    fill(list, steps.length ? steps.map(item) : el("li", { class: "dim small" }, "No step: an identifier with several listings stays ambiguous."));
    if (focus) box.querySelector(`[data-field="${focus}"]`)?.focus({ preventScroll: true });
  }

  function item(step, place) {
    const name = PLAIN[step.property] ?? LISTS[step.property];
    const button = (act, label, sign, disabled) => el("button", {
      type: "button", class: "quiet icon", "aria-label": `${label}: step ${place + 1}, ${name}`, title: label, disabled, data: { field: `${act} ${place}` }, on: { click: () => acts[act](place) },
    }, sign);
    return el("li", {},
      PLAIN[step.property] ? el("span", { class: "step-name" }, name, el("span", { class: "dim small" }, `: ${KEEPS[step.property]}`))
        : picker({
          field: `step ${place}`, label: `${name}, the first that fits`, values: () => valuesInData(step.property), chosen: step.values, empty: "Choose values, the first one first", meaning: meaningOf(step.property),
          onChange: (chosen) => { step.values = chosen; draw(`step ${place}`); onChange(); },
        }),
      el("span", { class: "step-buttons" }, button("up", "Move up", "↑", place === 0), button("down", "Move down", "↓", place === steps.length - 1), button("remove", "Remove", "✕", false)));
  }

  function moved(place, to) {
    steps.splice(to, 0, ...steps.splice(place, 1));
    draw(to === 0 ? `down ${to}` : to === steps.length - 1 ? `up ${to}` : `${to < place ? "up" : "down"} ${to}`);
    say(`Now step ${to + 1} of ${steps.length}`);
    onChange();
  }

  function added() {
    if (!add.value) return;
    steps.push({ property: add.value, values: [] });
    draw(PLAIN[add.value] ? "add step" : `step ${steps.length - 1}`);
    onChange();
  }
}
