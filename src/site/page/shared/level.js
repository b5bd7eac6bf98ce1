// The level of an instrument in its family, as one word.

import { el } from "./dom.js";

const BONDS = new Set(["Corp", "Govt", "Muni", "Mtge", "M-Mkt"]);

/** The meaning of each level of the filter, and of other levels that a row may have. */
export const MEANING = {
  composite: "Composite: all venues of one country or market together",
  venue: "Venue: the listing on one exchange",
  listing: "A listing without a known composite",
  single: "On its own: no share class, no composite",
  "no data": "The server may only show the FIGI",
};

/** The level of a row: `composite`, `venue`, … Derivatives and bonds are named as such instead. */
export function level(row) {
  if (row.metadata) return "no data";
  const kind = `${row.securityType2 ?? ""} ${row.securityType ?? ""}`;
  if (row.securityType2 === "Option") return "option";
  if (row.securityType2 === "Future" || /\bfuture\b/i.test(kind)) return "future";
  if (row.securityType2 === "Warrant") return "warrant";
  if (BONDS.has(row.marketSector)) return row.marketSector === "Mtge" ? "mortgage" : row.marketSector === "M-Mkt" ? "money market" : "bond";
  if (row.figi === row.compositeFIGI) return "composite";
  if (row.compositeFIGI) return "venue";
  if (row.marketSector === "Index") return "index";
  if (row.marketSector === "Curncy") return "currency";
  if (row.marketSector === "Comdty") return "commodity";
  if (row.shareClassFIGI) return "listing";
  return "single";
}

export function levelMark(row) {
  const word = level(row);
  return el("span", { class: "level", data: { level: word.replace(" ", "-") }, title: MEANING[word] ?? null }, word);
}
