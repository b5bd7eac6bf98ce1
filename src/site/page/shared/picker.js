// A searchable list of values; several may be chosen. A button names the chosen values. Under it is
// a text field with a listbox. Lists can have thousands of entries: at most `SHOWN` are on the
// page, and typing narrows them. Every change costs a request, so `onChange` is called only when
// the list closes with another choice. Back closes it too.

import { closed, opened } from "./back.js";
import { count, counted, el, fill, icon, say } from "./dom.js";

const SHOWN = 150;
const initials = (text) => text.split(/[^\p{L}\p{N}]+/u).map((word) => word.slice(0, 1)).join("").toLowerCase();
let number = 0;

/**
 * @param {{field?: string, label: string, values: () => Promise<{value: string, count: number}[]>, chosen: string[], several?: boolean,
 *   empty?: string, meaning?: (value: string) => string, disabled?: string, onChange: (chosen: string[]) => void}} options
 */
export function picker({ field: name = "", label, values, chosen, several = true, empty = "Any", meaning = () => "", disabled = "", onChange }) {
  const id = `picker-${++number}`;
  let all = [], counts = new Map(), shown = [], active = -1, open = false, picked = [...chosen];

  const summary = el("span", { class: "picker-summary" });
  const button = el("button", {
    type: "button", class: "picker-button", data: { field: name }, "aria-expanded": "false", "aria-controls": `${id}-panel`,
    "aria-labelledby": `${id}-label ${id}-summary`, disabled: Boolean(disabled), title: disabled || null,
    // Some browsers do not focus a clicked button: an open list would close and open again.
    on: { mousedown: (event) => { if (open) event.preventDefault(); }, click: () => (open ? close(true) : show()) },
  }, summary, icon("down"));
  summary.id = `${id}-summary`;
  const field = el("input", {
    type: "text", role: "combobox", "aria-expanded": "true", "aria-controls": `${id}-list`, "aria-autocomplete": "list",
    "aria-label": `Find in ${label}`, placeholder: "Type to narrow", autocomplete: "off", spellcheck: "false",
    on: { input: () => { active = -1; list(); }, keydown },
  });
  const options = el("div", { id: `${id}-list`, role: "listbox", "aria-label": label, "aria-multiselectable": several ? "true" : null, class: "picker-list" });
  const foot = el("p", { class: "picker-foot" });
  const panel = el("div", { id: `${id}-panel`, class: "picker-panel", hidden: true }, field, options, foot);
  const root = el("div", { class: "picker", on: { focusout } },
    el("span", { id: `${id}-label`, class: "field-label" }, label), button, panel);
  describe();
  return root;

  function describe() {
    fill(summary, picked.length === 0 ? empty : picked.length <= 3 ? picked.join(", ") : `${picked.slice(0, 2).join(", ")} and ${picked.length - 2} more`);
    button.classList.toggle("set", picked.length > 0);
  }

  async function show() {
    open = true;
    panel.hidden = false;
    button.setAttribute("aria-expanded", "true");
    field.value = "";
    active = -1;
    field.focus();
    opened(() => close(true));
    fill(foot, "Loading the list…");
    try {
      const known = await values();
      counts = new Map(known.map(({ value, count: number }) => [value, number]));
      all = [...new Set([...picked, ...counts.keys()])];
      if (open) list();
    } catch (failure) {
      fill(foot, failure.text, " ", el("button", { type: "button", class: "link", on: { mousedown: (event) => event.preventDefault(), click: show } }, "Try again"));
      say(failure.text);
    }
  }

  function close(focus) {
    if (!open) return;
    open = false;
    closed();
    panel.hidden = true;
    button.setAttribute("aria-expanded", "false");
    if (focus) button.focus();
    const changed = picked.length !== chosen.length || picked.some((value) => !chosen.includes(value));
    if (changed) { chosen = [...picked]; onChange([...picked]); }
  }

  // The matching values. Those that start with the text come first; then those that contain it, or
  // whose meaning has it as initials, like NYSE.
  function list() {
    const text = field.value.trim().toLowerCase();
    if (!text) shown = all;
    else {
      const starts = [], holds = [];
      for (const value of all) {
        const folded = `${value} ${meaning(value)}`.toLowerCase();
        if (folded.startsWith(text)) starts.push(value);
        else if (folded.includes(text) || (text.length > 2 && initials(meaning(value)) === text)) holds.push(value);
      }
      shown = starts.concat(holds);
    }
    const scroll = options.scrollTop;
    fill(options, shown.slice(0, SHOWN).map((value, place) => el("div", {
      id: `${id}-${place}`, role: "option", "aria-selected": String(picked.includes(value)),
      class: place === active ? "active" : null,
      // The text field keeps the focus, so that the panel stays open.
      on: { mousedown: (event) => event.preventDefault(), click: () => { active = place; toggle(value); } },
    }, el("span", { class: "box" }, icon("tick")), el("span", {}, value), meaning(value) ? el("span", { class: "dim" }, meaning(value)) : null,
    el("span", { class: "f-count" }, count(counts.get(value) ?? 0)))));
    options.scrollTop = scroll;
    if (active >= 0) field.setAttribute("aria-activedescendant", `${id}-${active}`);
    else field.removeAttribute("aria-activedescendant");
    const more = shown.length - SHOWN;
    fill(foot, !shown.length ? (all.length ? "No value matches." : "No instrument found has a value here.")
      : more > 0 ? `${count(more)} more: type to narrow` : counted(shown.length, "value"),
    several && picked.length ? el("button", { type: "button", class: "link", on: { mousedown: (event) => event.preventDefault(), click: () => { picked = []; describe(); list(); } } }, "Clear") : null);
  }

  function toggle(value) {
    if (!several) picked = picked.includes(value) ? [] : [value];
    else picked = picked.includes(value) ? picked.filter((other) => other !== value) : [...picked, value];
    describe();
    list();
    say(`${value} ${picked.includes(value) ? "chosen" : "removed"}`);
    if (!several) close(true);
  }

  function keydown(event) {
    const last = Math.min(shown.length, SHOWN) - 1;
    if (event.key === "ArrowDown") active = Math.min(active + 1, last);
    else if (event.key === "ArrowUp") active = Math.max(active - 1, -1);
    else if (event.key === "Home" && active >= 0) active = 0;
    else if (event.key === "End" && active >= 0) active = last;
    else if (event.key === "Enter") {
      event.preventDefault();
      if (active >= 0) toggle(shown[active]);
      else if (field.value && shown.length) toggle(shown[0]);
      else close(true);
      return;
    } else if (event.key === "Escape") {
      event.stopPropagation();
      close(true);
      return;
    } else return;
    event.preventDefault();
    list();
    options.querySelector(".active")?.scrollIntoView({ block: "nearest" });
  }

  function focusout(event) {
    if (open && !root.contains(event.relatedTarget)) close(false);
  }
}
