// The field for the API key. The key is kept in memory only: browsers offer to save the content of
// a password field, so this is a text field that looks like one.

import { el } from "./dom.js";
import { getKey, setKey } from "./api.js";

/** The field; it calls `onChange` when the key has changed. */
export function keyField(onChange = () => {}) {
  const input = el("input", {
    type: "text", autocomplete: "off", autocapitalize: "off", spellcheck: "false", value: getKey(), placeholder: "optional", class: "mono masked",
    on: { input: () => { setKey(input.value); onChange(); } },
  });
  return el("label", { class: "key" }, el("span", { class: "field-label" }, "API key"), input, el("span", { class: "dim small" }, "Kept in memory until this page is closed."));
}
