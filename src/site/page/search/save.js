// The download of the results. If the server has more rows than the page, a person chooses: all rows,
// with the time that reading them takes, or those that are shown. Reading can be stopped; then the
// file has the rows so far, and its name says how many.

import * as api from "../shared/api.js";
import { count, counted, duration, el, fill, icon, say } from "../shared/dom.js";
import { download, line } from "../shared/csv.js";

/** The most rows that the server returns, and the rows of a page. */
const ROWS_MAX = 15_000;
const PAGE_ROWS = 100;
const TRIES_MAX = 3;

/** The seconds that this many requests take, by the time of one and the limit of an answer. */
function secondsFor(requests, { ms = 200, limits = {} }) {
  const most = Number(limits["ratelimit-limit"]);
  const over = requests - Number(limits["ratelimit-remaining"] ?? Infinity);
  if (!most || over <= 0) return (requests * ms) / 1000;
  const window = Number(/w=(\d+)/.exec(limits["ratelimit-policy"] ?? "")?.[1] ?? 60);
  return Number(limits["ratelimit-reset"] ?? window) + (Math.ceil(over / most) - 1) * window;
}

/**
 * The button, and the box in which it asks and reports. `found` has `next` and perhaps `total`, `ms`
 * and `limits` of its last page; `pageOf(start)` reads a page; `cells(rows)` are the lines of rows
 * under their names, and without `rows` those that are shown.
 * @returns {{button: HTMLElement, box: HTMLElement}}
 */
export function saving({ found, pageOf, cells, signal }) {
  const box = el("div", { class: "saving", role: "group", "aria-label": "Download" });
  const button = el("button", { type: "button", class: "quiet", on: { click: () => (found.next ? ask() : saveShown()) } }, icon("save"), "Download CSV");
  const choice = (words, act, kind = null) => el("button", { type: "button", class: kind, on: { click: act } }, words);
  const most = () => Math.min(found.total ?? ROWS_MAX, ROWS_MAX);
  let isStopped = false;
  return { button, box };

  function saveShown() {
    fill(box);
    save(cells(), "figdex.csv");
  }

  function save(lines, name) {
    download(lines.map(line), name);
    say("The download has started");
  }

  function ask() {
    const requests = Math.ceil(most() / PAGE_ROWS);
    const all = found.total === undefined ? `Up to ${counted(ROWS_MAX, "row")}` : found.total > ROWS_MAX ? `The first ${count(ROWS_MAX)} of ${counted(found.total, "row")}` : `All ${counted(found.total, "row")}`;
    const time = `${all}: ${counted(requests, "request")}, about ${duration(Math.max(1, secondsFor(requests, found)))}.`;
    fill(box, el("p", {}, time), choice(`Download ${counted(most(), "row")}`, read, "primary"), choice(`Only the ${count(cells().length - 1)} shown`, saveShown), choice("Cancel", () => { fill(box); button.focus(); }, "quiet"));
    say(time);
    box.querySelector("button").focus({ preventScroll: true });
  }

  async function read() {
    const rows = [];
    const bar = el("progress", { max: String(most()), "aria-label": "Rows read" });
    const words = el("p", {});
    const began = performance.now();
    let start = null, tries = 0, waited = 0; // null before the first page, "" after the last one
    isStopped = false;
    fill(box, bar, words, choice("Stop", () => { isStopped = true; }));
    box.querySelector("button").focus({ preventScroll: true });
    while (start !== "" && !isStopped && !signal.aborted && rows.length < ROWS_MAX) {
      try {
        const page = await pageOf(start);
        rows.push(...page.data);
        start = page.next ?? "";
        found.total ??= page.total;
        tries = 0;
      } catch (failure) {
        if (failure.name === "AbortError") return;
        if (!(failure instanceof api.Failure)) throw failure;
        tries += 1;
        const wait = failure.kind === "limit" ? failure.wait : 2 ** tries;
        if (failure.kind !== "limit" && tries === TRIES_MAX) return end(rows, failure.text);
        fill(words, `${count(rows.length)} of ${counted(most(), "row")}. ${failure.message} Going on in ${duration(wait)}.`);
        await pause(wait);
        waited += wait;
        continue;
      }
      bar.value = rows.length;
      const speed = ((performance.now() - began) / 1000 - waited) / Math.max(1, rows.length);
      fill(words, `${count(rows.length)} of ${counted(most(), "row")}, about ${duration(Math.max(1, (most() - rows.length) * speed))} left.`);
    }
    if (!signal.aborted) end(rows, "", start !== "" && rows.length < ROWS_MAX);
  }

  /** Ends with the rows so far: all of them, or a part that is named so. */
  function end(rows, trouble = "", isPart = Boolean(trouble)) {
    const all = isPart ? most() : Math.max(rows.length, found.total ?? 0);
    const isAll = rows.length >= all;
    const words = !rows.length ? "Nothing was read." : isAll ? `All ${counted(rows.length, "row")} are in the file.` : `The file has ${count(rows.length)} of ${counted(all, "row")}.`;
    if (rows.length) download(cells(rows).map(line), isAll ? "figdex.csv" : `figdex-${rows.length}-of-${all}.csv`);
    fill(box, el("p", {}, trouble ? `${trouble} ` : "", words), isAll ? null : choice("Read again", read));
    say(`${trouble} ${words}`);
    button.focus({ preventScroll: true });
  }

  /** Waits, unless a person stops the reading or leaves. */
  async function pause(seconds) {
    for (const until = Date.now() + 1000 * seconds; Date.now() < until && !isStopped && !signal.aborted;) await new Promise((resolve) => { setTimeout(resolve, 200); });
  }
}
