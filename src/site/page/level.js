// Which place an instrument has in its family, as one word a person understands.

import { el } from "./dom.js";

const BONDS = new Set(["Corp", "Govt", "Muni", "Mtge", "M-Mkt"]);

const MEANING = {
  composite: "Composite: all venues of one country or market together",
  venue: "Venue: the listing on one exchange",
  listing: "A listing of which no composite is known",
  single: "Stands for itself: no share class, no composite",
  "no data": "The server may not show more than the FIGI",
};

/** `composite`, `venue`, `option`, … of a row. Derivatives and bonds are what they are first. */
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
