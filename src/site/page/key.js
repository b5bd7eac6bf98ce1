// The field of the API key, wherever a view has one. The key lives in memory alone: a
// field of the kind "password" would be offered for keeping, so this one only looks so.

import { el } from "./dom.js";
import { getKey, setKey } from "./api.js";

/** Calls `tell` when the key has changed. */
export function keyField(tell = () => {}) {
  const input = el("input", {
    type: "text", autocomplete: "off", autocapitalize: "off", spellcheck: "false", value: getKey(), placeholder: "optional", class: "mono masked",
    on: { input: () => { setKey(input.value); tell(); } },
  });
  return el("label", { class: "key" }, el("span", { class: "field-label" }, "API key"), input, el("span", { class: "dim small" }, "Kept in memory until this page is closed."));
}
