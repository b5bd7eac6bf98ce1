// The view `#/instrument/FIGI`: all data of one instrument, its identifiers with buttons to copy
// them, its family, its past, and related instruments. The FIGI of a share class shows its family,
// and one that has left the data its last known row.

import { el, fillView, say, copyable } from "../shared/dom.js";
import * as api from "../shared/api.js";
import { about, exchangeName } from "../shared/about.js";
import { family, members } from "./family.js";
import { history, laterHistory, pastOf } from "./history.js";
import { inWords, KINDS } from "../shared/kinds.js";
import { level, levelMark } from "../shared/level.js";
import { FACTS, NAMES } from "./names.js";
import { notice } from "../shared/notice.js";
import { related } from "./related.js";
import { href } from "../shared/router.js";
import { terms } from "../shared/terms.js";

const OWN = { ID_BB_UNIQUE: "uniqueID", UNIQUE_ID_FUT_OPT: "uniqueIDFutOpt" };

/** Fills `view` with the instrument of the route, unless `signal` is aborted before it is loaded. */
export async function show(view, route, signal) {
  const figi = (route.rest[0] ?? "").trim().toUpperCase();
  if (!figi) return fillView(view, missing("", "The address names no FIGI.", "Search instead", "."));
  fillView(view, el("div", { class: "instrument" }, el("h1", { id: "title", tabindex: "-1", class: "mono" }, figi), el("p", { class: "dim" }, "Loading…")));
  try {
    const [{ instrument, family: kin }] = await Promise.all([api.instrument(figi, signal), about()]);
    if (signal.aborted) return;
    if (instrument) render(view, instrument, kin, signal);
    else renderShareClass(view, kin);
  } catch (failure) {
    if (failure.name === "AbortError") return;
    if (failure.status === 400) return notFigi(view, figi, failure.own, signal);
    const past = failure.kind === "missing" ? await pastOf(figi, signal).catch(() => null) : null;
    if (signal.aborted) return;
    if (past?.versions.length) return renderRetired(view, past, signal);
    fillView(view, failure.kind === "missing"
      ? missing(figi, "The FIGI is well formed, but no instrument of this index has it. It may be newer than the data.")
      : el("div", { class: "instrument" }, el("h1", { id: "title", tabindex: "-1", class: "mono" }, figi), notice(failure, () => show(view, route, signal))));
  }
}

/** A text that is not a FIGI: its fault, and the FIGI with the right check digit. */
async function notFigi(view, figi, words, signal) {
  const { finding, correction } = await api.suggest(figi, [], signal).catch(() => ({}));
  if (signal.aborted) return;
  fillView(view, missing(figi, finding ? `${inWords(finding)}.` : words, "Search for it instead", ".",
    correction ? el("p", {}, "Did you mean ", el("a", { href: href.instrument(correction), class: "mono" }, correction), "?") : null));
}

function missing(figi, words, link = "Search for it instead", more = ": a search also finds all members of a share class or composite by its FIGI.", also = null) {
  say(words);
  return el("div", { class: "instrument" },
    el("h1", { id: "title", tabindex: "-1", class: "mono" }, figi || "No FIGI"),
    el("div", { class: "empty" }, el("h2", {}, "No such instrument"), el("p", {}, words), also,
      el("p", {}, el("a", { href: href.search(new URLSearchParams({ query: figi })) }, link), more)));
}

/** The page of a share class. Its name is that of its first member. */
function renderShareClass(view, kin) {
  const [first = {}] = members(kin);
  const title = first.name ?? kin.shareClassFIGI;
  document.title = `${title} · Figdex`;
  fillView(view, el("div", { class: "instrument" },
    el("header", { class: "instrument-head" },
      el("h1", { id: "title", tabindex: "-1" }, title),
      el("p", { class: "head-line" }, el("span", { class: "level", data: { level: "share-class" } }, "share class"),
        [first.securityType, first.marketSector].filter(Boolean).map((text) => el("span", {}, text)))),
    el("section", { "aria-labelledby": "identifiers-title" }, el("h2", { id: "identifiers-title" }, "Identifiers"),
      el("dl", { class: "pairs" }, el("dt", {}, "Share class FIGI"), el("dd", {}, copyable(kin.shareClassFIGI, "Share class FIGI")))),
    family("", kin)));
  say(`${title}, share class`);
}

/** The page of a FIGI that has left the data: its last known row, and its successor if one is stated. */
function renderRetired(view, past, signal) {
  const [{ row, validTo, end }] = past.versions;
  const successor = past.stated.map((one) => one.successor).findLast(Boolean);
  render(view, row, null, signal, [
    el("div", { class: "note" }, el("p", {}, end === "expired" ? "This instrument has expired. " : "This instrument is no longer in the data. ", el("strong", {}, `Last seen on ${validTo ?? past.coverage.until}.`)),
      successor ? el("p", {}, "Its successor: ", el("a", { href: href.instrument(successor), class: "mono" }, successor)) : null),
    history(past),
  ]);
}

/** Shows an instrument. `former` has a note and the history of one that is no longer in the data. */
function render(view, instrument, kin, signal, former = null) {
  const title = instrument.ticker ?? instrument.name ?? instrument.figi;
  document.title = `${title}${instrument.exchCode ? ` ${instrument.exchCode}` : ""} · Figdex`;
  const fact = (name, value) => [el("dt", {}, name), el("dd", {}, value)];
  const known = FACTS.filter(([, name]) => instrument[name] !== null && instrument[name] !== undefined && instrument[name] !== "");
  const alias = instrument.alias ?? [];
  fillView(view, el("div", { class: "instrument" },
    el("header", { class: "instrument-head" },
      el("h1", { id: "title", tabindex: "-1" }, title, " ", instrument.exchCode ? el("span", { class: "head-exch" }, instrument.exchCode) : null),
      el("p", { class: "head-name" }, instrument.name && instrument.name !== title ? instrument.name : instrument.securityDescription ?? ""),
      el("p", { class: "head-line" }, levelMark(instrument), ...[terms(instrument)?.text, instrument.securityType, instrument.marketSector, instrument.currency].filter(Boolean).map((text) => el("span", {}, text)),
        instrument.listed === false ? el("span", { class: "flag" }, "unlisted") : null)),
    former?.[0],
    instrument.metadata ? el("p", { class: "note" }, "This server may only show the FIGI of this instrument (Metadata N/A).") : null,
    el("div", { class: "instrument-body" },
      el("div", { class: "facts" },
        el("section", { "aria-labelledby": "identifiers-title" }, el("h2", { id: "identifiers-title" }, "Identifiers"),
          el("dl", { class: "pairs" }, identifiers(instrument, former)),
          Object.keys(instrument.identifiers ?? {}).length ? null : el("p", { class: "dim small" },
            instrument.identifiers ? "No third-party identifiers are shown." : "This server does not show third-party identifiers.")),
        el("section", { "aria-labelledby": "facts-title" }, el("h2", { id: "facts-title" }, "Attributes"),
          el("dl", { class: "pairs" }, known.map(([label, name]) => fact(label, filterable(name, instrument[name]))),
            // Null when the data do not say.
            typeof instrument.listed === "boolean" ? fact("Listed", instrument.listed ? "yes" : "no") : null,
            alias.length ? fact("Also known as", alias.join(", ")) : null),
          known.length ? null : el("p", { class: "dim" }, "No attributes are known.")),
        former ? null : related(instrument, signal)),
      former ? former[1] : el("div", { class: "kin" }, family(instrument.figi, kin), laterHistory(instrument.figi, signal)))));
  say(former ? `${title}, no longer in the data` : `${title}, ${level(instrument)}`);

  // A value that is also a filter links to all instruments with it.
  function filterable(name, value) {
    const filter = { marketSector: "marketSecDes" }[name] ?? name;
    // No instrument may have the value of a former row any more.
    if (former || !["exchCode", "micCode", "currency", "stateCode", "marketSecDes", "securityType", "securityType2"].includes(filter)) return String(value);
    const link = el("a", { class: "quiet-link", href: href.search(new URLSearchParams({ [filter]: value })), title: "All instruments with this value" }, String(value));
    const also = filter === "exchCode" ? exchangeName(value) : "";
    return also ? [link, el("span", { class: "dim" }, also)] : link;
  }
}

function identifiers(instrument, former) {
  const rows = [];
  const row = (name, value, link) => rows.push(el("dt", {}, name), el("dd", {}, copyable(String(value), name), link ?? null));
  row("FIGI", instrument.figi);
  if (instrument.compositeFIGI) row("Composite FIGI", instrument.compositeFIGI);
  if (instrument.shareClassFIGI) row("Share class FIGI", instrument.shareClassFIGI, el("a", { class: "t-all", href: former ? href.search(new URLSearchParams({ query: instrument.shareClassFIGI })) : href.instrument(instrument.shareClassFIGI) }, "its family"));
  const shown = new Set();
  const order = Object.keys(NAMES);
  const place = ([name]) => (order.includes(name) ? order.indexOf(name) : order.length);
  for (const [name, values] of Object.entries(instrument.identifiers ?? {}).sort((a, b) => place(a) - place(b))) {
    for (const value of values) row(NAMES[name] ?? name, value);
    shown.add(name);
  }
  // The two unique IDs are fields of a row, and nearly always among the identifiers too.
  for (const [name, field] of Object.entries(OWN)) if (instrument[field] && !shown.has(name)) row(KINDS[name], instrument[field]);
  return rows;
}
