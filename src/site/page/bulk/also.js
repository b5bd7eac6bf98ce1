// Further columns of the download: identifiers, and the symbol as a vendor spells it. They are asked
// for only when they are chosen.

import { el } from "../shared/dom.js";

/** The names of the server, and those for people. */
const COLUMNS = {
  ID_ISIN: "ISIN", ID_CUSIP: "CUSIP", ID_SEDOL: "SEDOL", ID_WERTPAPIER: "WKN", OCC_SYMBOL: "OCC symbol", "symbol:yahoo": "Symbol (Yahoo)", "symbol:google": "Symbol (Google)", "symbol:tradingview": "Symbol (TradingView)",
};

/** The known ones among some names, in their order. */
export const known = (names) => Object.keys(COLUMNS).filter((name) => Array.isArray(names) && names.includes(name));

/** The boxes. `onChange(names)` gets the chosen names after each change. */
export function alsoField(chosen, onChange) {
  const names = new Set(chosen);
  const box = (name) => {
    const input = el("input", { type: "checkbox", checked: names.has(name), data: { also: name }, on: { change: () => {
      if (input.checked) names.add(name);
      else names.delete(name);
      onChange(known([...names]));
    } } });
    return el("label", { class: "check" }, input, el("span", {}, COLUMNS[name]));
  };
  return el("details", { class: "fold also" }, el("summary", {}, "Further columns of the download"),
    el("div", { class: "options", role: "group", "aria-label": "Further columns of the download" }, Object.keys(COLUMNS).map(box)));
}

/** The text of a cell: several identifiers are joined. */
export const cellOf = (value) => (Array.isArray(value) ? value.join("|") : value);
