// An exchange for people: its code and, where there is room, its name.

import { exchangeName } from "./about.js";
import { el } from "./dom.js";

export function exchange(code) {
  if (!code) return null;
  const name = exchangeName(code);
  return el("span", { class: "exchange", title: name || null }, el("span", { class: "x-code" }, code),
    name ? [" ", el("span", { class: "x-name dim" }, name)] : null);
}
