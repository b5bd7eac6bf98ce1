// The past of one instrument, as a timeline of its versions, newest first. A version says its days,
// and the values in which it differs from the next one.

import { el, fill } from "../shared/dom.js";
import * as api from "../shared/api.js";
import { about } from "../shared/about.js";
import { href } from "../shared/router.js";
import { spanOf } from "../shared/past.js";
import { FACTS, NAMES } from "./names.js";

const FIELDS = [...FACTS, ["Listed", "listed"], ["Composite FIGI", "compositeFIGI"], ["Share class FIGI", "shareClassFIGI"]];
const UNKNOWN = "not known";
/** Identifiers that are parts of another value: they are not named next to it. */
const PARTS = { "Base ticker": "Ticker", "CUSIP, 8 characters": "CUSIP" };

/** The past of a FIGI: the server's answer, or null if the index keeps no past or does not know the FIGI. */
export async function pastOf(figi, signal) {
  return (await about()).coverage ? api.history(figi, signal) : null;
}

/** The section of a past that is known. */
export function history({ versions, coveredSince, truncated, stated }) {
  return section(el("ol", { class: "versions" }, versions.map((version, place) => item(version, versions[place - 1]))),
    el("p", { class: "dim small" }, truncated ? "Only the newest versions are shown. " : "", `Observed since ${coveredSince}; what was before is not known.`),
    stated.length ? el("ul", { class: "stated" }, stated.map((one) => el("li", {}, statement(one)))) : null);
}

/** A section that is filled when the server answers. It stays hidden if the index keeps no past of the FIGI. */
export function laterHistory(figi, signal) {
  const place = el("div", { hidden: true });
  pastOf(figi, signal).then((past) => {
    if (!past?.versions.length || signal.aborted) return;
    fill(place, history(past));
    place.hidden = false;
  }).catch(() => {}); // the page is whole without it
  return place;
}

/** An identifier that a file of the operator states, in words. */
function statement({ idType, idValue, validFrom, validTo, kind, successor }) {
  const days = spanOf({ validFrom, validTo });
  return [`The operator of this index states: ${NAMES[idType] ?? idType} `, el("span", { class: "mono" }, idValue), days ? ` ${days}` : "", `, ${kind}`,
    successor ? [", successor ", el("a", { href: href.instrument(successor), class: "mono" }, successor)] : "", "."].flat();
}

function section(...content) {
  return el("section", { class: "history", "aria-labelledby": "history-title" }, el("h2", { id: "history-title" }, "History"), content);
}

function item(version, next) {
  const { validTo, end, row, learned } = version;
  const isOpen = validTo === null;
  const pairs = next ? differences(row, next.row) : [];
  return el("li", { class: isOpen ? "version now" : "version" },
    el("p", { class: "version-days" }, spanOf(version, isOpen)),
    el("div", { class: "version-was" },
      pairs.length ? el("dl", {}, pairs.map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", { class: value === UNKNOWN ? "dim" : null }, value)))) : null,
      notes(end, next, pairs, learned).map((text) => el("p", { class: "dim small" }, text))));
}

function notes(end, next, pairs, learned) {
  const first = next ? "" : end ? "The last known row." : "The row as it is today.";
  const after = {
    gone: next ? `After that, not in the data until ${next.validFrom}.` : "After that, not in the data.",
    expired: "Expired.",
    revised: "A mistake of the data, corrected within days.",
  }[end] ?? "";
  const same = next && !pairs.length ? `As from ${next.validFrom} on.` : "";
  const columns = Object.entries(learned ?? {});
  const later = [...new Set(columns.map(([, day]) => day))].map((day) => {
    const names = columns.filter(([, on]) => on === day).map(([column]) => labelOf(column));
    return `In the data since ${day} only: ${withoutParts(names, (name) => name).join(", ")}.`;
  });
  return [first, same, after, ...later].filter(Boolean);
}

/** The name of a column of the data, for people. */
const labelOf = (column) => NAMES[column] ?? FIELDS.find(([, field]) => field.toLowerCase() === column.toLowerCase())?.[0] ?? column;

const withoutParts = (all, nameOf) => all.filter((one) => !all.some((other) => nameOf(other) === PARTS[nameOf(one)]));

/** The values of a row that differ from those of the next row: `[name, value]` each. */
function differences(row, next) {
  const text = (value) => ({ true: "yes", false: "no" }[value] ?? (String(value ?? "") || UNKNOWN));
  const changed = FIELDS.filter(([, field]) => (row[field] ?? "") !== (next[field] ?? "")).map(([name, field]) => [name, text(row[field])]);
  const of = (one, idType) => (one.identifiers?.[idType] ?? []).join(", ");
  const types = [...new Set([row, next].flatMap(({ identifiers }) => Object.keys(identifiers ?? {})))];
  const others = types.filter((idType) => of(row, idType) !== of(next, idType)).map((idType) => [NAMES[idType] ?? idType, of(row, idType) || UNKNOWN]);
  return withoutParts([...changed, ...others], ([name]) => name);
}
