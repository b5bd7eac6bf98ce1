// The family tree of a share class: share class → composites → venues, as nested lists. The shown
// instrument is marked, and all others are links.

import { copyable, counted, el } from "../shared/dom.js";
import { exchange } from "../shared/exchange.js";
import { levelMark } from "../shared/level.js";
import { href } from "../shared/router.js";

/** Trees with at most this many venues are open at first. */
const OPEN_VENUES_MAX = 40;

/** All rows of a family, the composites first. */
export const members = (kin) => [...(kin?.composites ?? []).flatMap(({ composite }) => composite ?? []), ...(kin?.composites ?? []).flatMap(({ venues }) => venues)];

/** The tree. `figi` is that of the shown instrument, or "" on the page of a share class. */
export function family(figi, kin) {
  const rows = members(kin);
  const branches = kin?.composites ?? [];
  const venues = branches.reduce((sum, branch) => sum + branch.venues.length, 0);
  if (!kin?.shareClassFIGI && rows.length <= 1) {
    const [composite] = branches.map(({ compositeFIGI }) => compositeFIGI).filter((one) => one && one !== figi);
    return section(null, el("p", { class: "dim" }, composite
      ? "Neither its composite nor another listing is in the data." : "This instrument has no share class, composite or other listing."));
  }
  const isOwn = (branch) => branch.compositeFIGI === figi || branch.venues.some((venue) => venue.figi === figi);
  const name = ({ composite, venues: [venue] }) => composite?.exchCode ?? venue?.exchCode ?? "~";
  const isBest = ({ composite, venues }) => [composite, ...venues].some((row) => row?.figi === kin.bestListing);
  const ordered = [...branches].sort((a, b) => Number(isOwn(b)) - Number(isOwn(a)) || Number(isBest(b)) - Number(isBest(a)) || name(a).localeCompare(name(b)));
  // A branch that names a composite which is not in the data means little, unless it has the shown
  // instrument. Such branches are folded away together.
  const isFull = (branch) => branch.composite || isOwn(branch) || !branch.compositeFIGI;
  const [full, partial] = [ordered.filter(isFull), ordered.filter((branch) => !isFull(branch))];
  const shown = { figi, best: kin.bestListing };
  const draw = (branch) => composite(branch, shown, venues <= OPEN_VENUES_MAX || isOwn(branch));
  const of = kin.truncated ? "The first " : "";
  return section(
    `${of}${counted(rows.length, "listing")}: ${counted(rows.length - venues, "composite")}, ${counted(venues, "venue")}`,
    el("ul", { class: "tree" }, el("li", { class: "t-class" }, root(kin, figi),
      el("ul", {}, full.map(draw), partial.length ? el("li", {}, el("details", { class: "t-partial", open: full.length === 0 },
        el("summary", {}, `${counted(partial.reduce((sum, branch) => sum + branch.venues.length, 0), "venue")} of ${counted(partial.length, "composite")} that are not in the data`),
        el("ul", {}, partial.map(draw)))) : null))),
    kin.truncated ? el("p", { class: "note" }, "The family has more members than are shown here. “All members” lists them all.") : null);
}

function section(words, ...content) {
  return el("section", { class: "family", "aria-labelledby": "family-title" },
    el("div", { class: "family-head" }, el("h2", { id: "family-title" }, "Family"), words ? el("p", { class: "dim" }, words) : null), content);
}

function root({ shareClassFIGI }, figi) {
  if (!shareClassFIGI) return el("div", { class: "t-row dim" }, "No share class");
  return el("div", { class: figi ? "t-row" : "t-row present" }, el("span", { class: "level", data: { level: "share-class" } }, "share class"), copyable(shareClassFIGI, "Share class FIGI"),
    figi ? el("a", { class: "t-all", href: href.instrument(shareClassFIGI) }, "Its page") : null,
    el("a", { class: "t-all", href: href.search(new URLSearchParams({ query: shareClassFIGI })) }, "All members"));
}

function composite({ compositeFIGI, composite, venues }, shown, isOpen) {
  const head = composite ? line(composite, shown)
    : el("div", { class: "t-row dim" }, compositeFIGI ? ["Composite ", copyable(compositeFIGI, "Composite FIGI"), " is not in the data"] : "Without a composite");
  if (!venues.length) return el("li", {}, head);
  return el("li", {}, head,
    el("details", { open: isOpen }, el("summary", {}, counted(venues.length, "venue")),
      el("ul", {}, venues.map((venue) => el("li", {}, line(venue, shown))))));
}

function line(row, { figi, best }) {
  const isPresent = row.figi === figi;
  const names = [
    el("span", { class: "t-ticker" }, row.ticker ?? "–"),
    el("span", { class: "t-exch" }, exchange(row.exchCode)),
    el("span", { class: "t-mic dim" }, row.micCode ?? ""),
  ];
  return el("div", { class: isPresent ? "t-row present" : "t-row" },
    isPresent ? el("span", { class: "t-link", "aria-current": "true" }, names)
      : el("a", { class: "t-link", href: href.instrument(row.figi) }, names),
    levelMark(row), copyable(row.figi, "FIGI"), row.figi === best ? el("span", { class: "t-best dim", title: "The row that stands for this security in suggestions" }, "best listing") : null,
    isPresent ? el("span", { class: "t-here" }, "shown here") : null);
}
