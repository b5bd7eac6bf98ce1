// Further columns of the download: identifiers, and the symbol as a vendor spells it. They are asked
// for only when they are chosen.

import { about } from "../shared/about.js";
import { el } from "../shared/dom.js";

/** The identifiers by the names of the server, and the names for people. */
const IDENTIFIERS = { ID_ISIN: "ISIN", ID_CUSIP: "CUSIP", ID_SEDOL: "SEDOL", ID_WERTPAPIER: "WKN", OCC_SYMBOL: "OCC symbol" };
/** The vendors whose own names differ from those in the names of columns. */
const VENDORS = { "symbol:yahoo": "Yahoo", "symbol:google": "Google", "symbol:tradingview": "TradingView" };
const SYMBOL = "symbol:";

const labelOf = (name) => IDENTIFIERS[name] ?? `Symbol (${VENDORS[name] ?? name.slice(SYMBOL.length)})`;
const isSymbol = (name) => typeof name === "string" && name.startsWith(SYMBOL);

/** The names that may be columns, identifiers first. The server's own vendors are known later. */
export const known = (names) => (Array.isArray(names) ? [...Object.keys(IDENTIFIERS).filter((name) => names.includes(name)), ...names.filter(isSymbol)] : []);

/** The boxes. `onChange(names)` gets the chosen names after each change. */
export function alsoField(chosen, onChange) {
  const names = new Set(chosen);
  const box = (name) => {
    const input = el("input", { type: "checkbox", checked: names.has(name), data: { also: name }, on: { change: () => {
      if (input.checked) names.add(name);
      else names.delete(name);
      onChange(known([...names]));
    } } });
    return el("label", { class: "check" }, input, el("span", {}, labelOf(name)));
  };
  const boxes = el("div", { class: "options", role: "group", "aria-label": "Further columns of the download" }, Object.keys(IDENTIFIERS).map(box));
  // The operator may have another table of vendors than when the choice was made, and an index in a
  // cluster has no symbols: the server refuses a list that asks for one which it lacks.
  about().then(({ symbols = chosen.filter(isSymbol) }) => {
    boxes.append(...symbols.map(box));
    const gone = [...names].filter((name) => isSymbol(name) && !symbols.includes(name));
    if (!gone.length) return;
    for (const name of gone) names.delete(name);
    onChange(known([...names]));
  });
  return el("details", { class: "fold also" }, el("summary", {}, "Further columns of the download"), boxes);
}

/** The text of a cell: several identifiers are joined. */
export const cellOf = (value) => (Array.isArray(value) ? value.join("|") : value);
