// One line of a list's results: the found row, or the next step if nothing was found.

import { el, copyable, count, counted, icon } from "../shared/dom.js";
import { byOf, formerOf, idTypesOf, isOfPast, matchesOf, pastOf, reasonOf, STATUSES, statusOf } from "./list.js";
import { inWords, kindName } from "../shared/kinds.js";
import { level, levelMark } from "../shared/level.js";
import { isOtherName } from "./own-names.js";
import { briefly } from "../shared/past.js";
import { href } from "../shared/router.js";

/** The columns, by their keys. With `hasNames`, the list has its own names. */
export const columnsOf = ({ hasNames }) => ({
  number: "Row", id: "Identifier", ...(hasNames ? { own: "Name in the list" } : {}), kind: "Read as", status: "Status", found: "Result", figi: "FIGI", how: "How",
});

/** The most links to former rows in one line. */
const LINKS_MAX = 3;
const BY = { only: "the only row" };

/**
 * The cells of line `at` of a row. `acts` has `choose(row, match)`, `correct(row, text)` and
 * `undo(row)`.
 */
export function renderRow(row, at, { isMany, hasNames, most }, acts) {
  const { entry, number, text } = row;
  const status = statusOf(entry);
  const isFirst = at === 0;
  const head = [
    isFirst ? count(number) : "",
    isFirst ? el("span", { class: "mono", title: text }, text) : "",
    ...(hasNames ? [isFirst ? ownName(row) : ""] : []),
    isFirst ? readAs(entry) : "",
    isFirst && status ? el("span", { class: "outcome", data: { status } }, STATUSES[status]) : "",
  ];
  if (status === "resolved") {
    const [match] = matchesOf(entry);
    const by = byOf(entry), today = now(entry, match);
    const how = entry.correction && !entry.chosen ? "corrected by you" : [today, BY[by] ?? by].filter(Boolean).join(", ");
    const undo = entry.chosen || entry.correction
      ? el("button", { type: "button", class: "link", data: { row: number }, "aria-label": `Row ${number}: undo`, on: { click: () => acts.undo(row) } }, "undo") : null;
    return [...head, security(match, { today, most: isElsewhere(row, most) ? most : "" }), copyable(match.figi, "FIGI"),
      el("span", { class: "how", title: entry.correction ? reasonOf(entry) : how }, el("span", { class: "how-words" }, how), undo)];
  }
  if (isOfPast(entry)) return [...head, { columns: 2, content: el("span", { class: "was", title: reasonOf(entry) }, el("span", { class: "was-whole" }, reasonOf(entry)), el("span", { class: "was-short" }, shortReason(entry))) }, pastLink(entry)];
  if (status === "ambiguous" && isMany) {
    const match = matchesOf(entry)[at];
    return [...head, security(match), copyable(match.figi, "FIGI"),
      el("button", { type: "button", class: "link", data: { row: number }, "aria-label": `Row ${number}: choose ${match.figi}`, on: { click: () => acts.choose(row, match) } }, `Choose (${at + 1} of ${count(entry.answer.matches)})`)];
  }
  if (entry.candidates?.length && (status === "unknown" || status === "ambiguous")) return [...head, { columns: 2, content: guesses(row, acts) }, search(entry)];
  if (status === "ambiguous") return [...head, { columns: 2, content: choice(row, acts) }, search(entry)];
  if (!status) return [...head, { columns: 2, content: el("span", { class: "dim" }, entry.correction ? `asking about ${entry.correction}…` : "not asked yet") }, ""];
  const slip = entry.answer.correction;
  const words = (entry.correction ? `${entry.correction}: ` : "") + inWords(entry.answer.error ?? "not found").replace(/^asOf must be a day/, "The day must be");
  return [...head, { columns: 2, content: el("span", { class: "next", title: words },
    slip ? el("button", {
      type: "button", class: "small-button", data: { row: number }, "aria-label": `Row ${number}: use ${slip} instead`, title: words, on: { click: () => acts.correct(row, slip) },
    }, icon("tick"), "Use ", el("span", { class: "mono" }, slip)) : null, el("span", { class: text ? "wrong" : "dim" }, words)) }, text ? search(entry) : ""];
}

/** The reason of a result from the past, for a narrow screen. */
function shortReason(entry) {
  const former = formerOf(entry).map((row) => briefly(row) || row.figi);
  const { validTo, coverage } = pastOf(entry);
  if (coverage) return `known ${coverage.since} – ${coverage.until}`;
  if (statusOf(entry) === "uncertain") return former.length > 1 ? former.join(" or ") : `${former[0] ?? "one"} or nothing`;
  if (former.length > 1) return `${former.length} securities had it`;
  return `was ${former[0]}${validTo ? ` until ${validTo}` : ""}`;
}

/** A link to the page of what a former row is today, or of what is known of it; or links to those of several. */
function pastLink(entry) {
  const [former, another] = formerOf(entry);
  if (!former) return "";
  if (another) return el("span", { class: "was-links" }, formerOf(entry).slice(0, LINKS_MAX).map(({ figi, today }) => el("a", { href: href.instrument(figi) }, today?.ticker ?? figi)));
  const { today, successor } = pastOf(entry);
  if (today) return el("a", { href: href.instrument(today.figi) }, `Now ${briefly(today) || today.figi}`);
  return successor ? el("a", { href: href.instrument(successor) }, "Its successor") : el("a", { href: href.instrument(former.figi) }, "Its history");
}

/** The name today of the row of a day, if it differs. */
function now(entry, match) {
  const { today } = pastOf(entry);
  if (today === undefined) return "";
  if (!today) return "now gone";
  return briefly(today) === briefly(match) ? "" : `now ${briefly(today)}`;
}

/** The fewest tickers, and the part of all of them, that make an exchange that of a list. */
const TICKERS_MIN = 5, PART_MIN = 2 / 3;

/** The row that a ticker without an exchange was found as; null for any other identifier. */
function ofTicker({ text, entry }) {
  const [idType, another] = idTypesOf(entry);
  return statusOf(entry) === "resolved" && !entry.chosen && idType === "TICKER" && !another && !/[\s:]/.test(text) ? matchesOf(entry)[0] : null;
}

/** The exchange of most tickers of a list, such as `JP`; "" if there is none. */
export function exchangeOfMost(rows) {
  const times = new Map();
  const found = rows.map(ofTicker).filter(Boolean);
  for (const { exchCode } of found) if (exchCode) times.set(exchCode, (times.get(exchCode) ?? 0) + 1);
  const [most, ofMost] = [...times].reduce((a, b) => (b[1] > a[1] ? b : a), ["", 0]);
  return ofMost >= TICKERS_MIN && ofMost >= PART_MIN * found.length ? most : "";
}

/** Whether a ticker was found on another exchange than most of them, or on none: it may be another security. */
export function isElsewhere(row, most) {
  const match = most ? ofTicker(row) : null;
  return Boolean(match) && match.exchCode !== most;
}

const compared = new WeakMap(); // row → {match, isOther}: a long list is drawn many times

/** Whether the found security has another name than the row. */
export function hasOtherName(row) {
  if (!row.name || statusOf(row.entry) !== "resolved") return false;
  const [match] = matchesOf(row.entry);
  if (compared.get(row)?.match !== match) compared.set(row, { match, isOther: isOtherName(row.name, match) });
  return compared.get(row).isOther;
}

function readAs(entry) {
  const kinds = idTypesOf(entry).map(kindName).join(" or ");
  return el("span", { class: "dim", title: kinds }, kinds);
}

function ownName(row) {
  return el("span", { class: "own" }, el("span", { class: "own-name dim", title: row.name }, row.name),
    hasOtherName(row) ? el("span", { class: "differs", title: "The name in the list and the name of the result have no word in common" }, "name differs") : null);
}

/** A row: `today` is its name today for a narrow screen, and `most` the exchange of most tickers if this one is not of it. */
function security(match, { today = "", most = "" } = {}) {
  return el("span", { class: "security" },
    el("a", { href: href.instrument(match.figi) }, match.ticker ?? match.figi), match.exchCode ? el("span", { class: "dim" }, match.exchCode) : null,
    most ? el("span", { class: "differs", title: `Most tickers of the list were found on ${most}` }, match.exchCode ? `not ${most}` : "no exchange") : null,
    today ? el("span", { class: "now-short dim" }, today) : null,
    levelMark(match), el("span", { class: "security-name", title: match.name ?? "" }, match.name ?? ""));
}

const words = (match) => [match.ticker, match.exchCode, level(match), match.name, match.figi].filter(Boolean).join(" · ");

/** The securities that a name may mean: a button for the first one, and a list of the others. */
function guesses(row, acts) {
  const { entry, number, text } = row;
  const known = new Set(); // a match may be one of the candidates
  const [first, ...others] = [...entry.candidates, ...(entry.answer.data ?? [])].filter(({ figi }) => !known.has(figi) && known.add(figi));
  const short = [first.name, first.ticker, first.exchCode].filter(Boolean).join(" · ");
  const select = others.length ? el("select", {
    class: "other-guesses", "aria-label": `Row ${number}, ${text}: choose another security`, data: { row: number },
    on: { change: () => acts.choose(row, others[Number(select.value)]) },
  }, el("option", { value: "" }, `or another of ${count(others.length)}`), others.map((match, place) => el("option", { value: String(place) }, words(match)))) : null;
  return el("span", { class: "next" }, el("button", {
    type: "button", class: "small-button guess", data: { row: number }, title: words(first), "aria-label": `Row ${number}, ${text}: confirm ${short}`, on: { click: () => acts.choose(row, first) },
  }, icon("tick"), el("span", { class: "guess-name" }, short)), select);
}

function choice(row, acts) {
  const { entry, number, text } = row;
  const { data, matches } = entry.answer;
  const more = matches > data.length ? `; the first ${data.length} are here` : "";
  const select = el("select", {
    "aria-label": `Row ${number}, ${text}: choose one of ${counted(matches, "match", "matches")}`, data: { row: number },
    on: { change: () => acts.choose(row, data[Number(select.value)]) },
  }, el("option", { value: "" }, `${counted(matches, "match", "matches")}: choose one${more}`), data.map((match, place) => el("option", { value: String(place) }, words(match))));
  return select;
}

const search = ({ text, correction }) => el("a", { href: href.search(new URLSearchParams({ query: correction || text })) }, "Search for it");
