// The family tree of an instrument: share class → composites → venues, as nested lists. The shown
// instrument is marked, and all others are links.

import { el, copyable, counted } from "./dom.js";
import { levelMark } from "./level.js";
import { href } from "./router.js";

/** Trees with up to this many venues are open at first. */
const OPEN_VENUES_MAX = 40;

export function family(instrument, kin) {
  const composites = kin?.composites ?? [];
  const venues = composites.reduce((sum, { venues }) => sum + venues.length, 0);
  const isAlone = !kin?.shareClassFIGI && venues + composites.filter(({ composite }) => composite).length <= 1;
  return el("section", { class: "family", "aria-labelledby": "family-title" },
    el("div", { class: "family-head" }, el("h2", { id: "family-title" }, "Family"),
      isAlone ? null : el("p", { class: "dim" }, [counted(composites.filter(({ compositeFIGI }) => compositeFIGI).length, "composite"), ", ", counted(venues, "venue")])),
    isAlone
      ? el("p", { class: "dim" }, "This instrument has no share class, composite or other listing.")
      : el("ul", { class: "tree" }, el("li", { class: "t-class" },
        kin.shareClassFIGI
          ? el("div", { class: "t-row" }, el("span", { class: "level", data: { level: "share-class" } }, "share class"), copyable(kin.shareClassFIGI, "Share class FIGI"),
            el("a", { class: "t-all", href: href.search(new URLSearchParams({ query: kin.shareClassFIGI })) }, "All members"))
          : el("div", { class: "t-row dim" }, "No share class"),
        el("ul", {}, inOrder(composites, instrument).map((branch) => composite(branch, instrument, venues <= OPEN_VENUES_MAX))))),
    kin?.truncated ? el("p", { class: "note" }, "The family has more members than are shown here. “All members” lists them all.") : null);
}

/** The branch of the shown instrument first, then by exchange code. */
function inOrder(composites, instrument) {
  const isOwn = ({ compositeFIGI, venues }) => (compositeFIGI ?? "") === (instrument.compositeFIGI ?? "") || venues.some(({ figi }) => figi === instrument.figi);
  const name = ({ composite, venues }) => composite?.exchCode ?? venues[0]?.exchCode ?? "~";
  return [...composites].sort((a, b) => Number(isOwn(b)) - Number(isOwn(a)) || name(a).localeCompare(name(b)));
}

function composite({ compositeFIGI, composite, venues }, instrument, isOpen) {
  const isOwn = compositeFIGI === instrument.figi || venues.some(({ figi }) => figi === instrument.figi);
  const head = composite ? line(composite, instrument)
    : el("div", { class: "t-row dim" }, compositeFIGI ? ["Composite ", copyable(compositeFIGI, "Composite FIGI"), " is not in the data"] : "Without a composite");
  if (!venues.length) return el("li", {}, head);
  return el("li", {}, head,
    el("details", { open: isOpen || isOwn }, el("summary", {}, counted(venues.length, "venue")),
      el("ul", {}, venues.map((venue) => el("li", {}, line(venue, instrument))))));
}

function line(row, instrument) {
  const isPresent = row.figi === instrument.figi;
  const names = [
    el("span", { class: "t-ticker" }, row.ticker ?? "–"),
    el("span", { class: "t-exch" }, row.exchCode ?? ""),
    el("span", { class: "t-mic dim" }, row.micCode ?? ""),
  ];
  return el("div", { class: isPresent ? "t-row present" : "t-row" },
    isPresent ? el("span", { class: "t-link", "aria-current": "true" }, names)
      : el("a", { class: "t-link", href: href.instrument(row.figi) }, names),
    levelMark(row), copyable(row.figi, "FIGI"), isPresent ? el("span", { class: "t-here" }, "shown here") : null);
}
