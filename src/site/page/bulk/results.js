// The results of a list: progress, waits with their seconds, a tab for all rows and one for each
// status, the rows that a person decided, and the download. All results are kept here; the page has
// only the visible ones.

import * as api from "../shared/api.js";
import { el, fill, say, count, counted, duration, icon } from "../shared/dom.js";
import { run } from "./batch.js";
import { followed } from "./choices.js";
import { download, FIELDS } from "../shared/csv.js";
import { linesOf } from "./download.js";
import { warnOnLeaving } from "./kept.js";
import { jobOf, matchesOf, nextJob, OF_PAST, STATUSES, statusOf } from "./list.js";
import { kindName } from "../shared/kinds.js";
import { canBeName, NAMES_MAX, securitiesFor } from "./names.js";
import { countdown } from "../shared/notice.js";
import { columnsOf, exchangeOfMost, hasOtherName, isElsewhere, renderRow } from "./result-row.js";
import { virtual, VIRTUAL_ROWS_MAX } from "./virtual.js";

const TABS = { all: "All rows", ...STATUSES };
const REDRAW_MS = 250;

/**
 * The outcome of a list. `question` is `{table, heading, column, total, hasNames, hasPast, asOf, idType,
 * prefer, unlisted, isMany, also, limits}`; `rows` and `entries` are those of `listOf`.
 */
export function outcome({ rows, entries }, question) {
  const options = { prefer: question.prefer, fields: [...FIELDS, ...question.also], unlisted: question.unlisted, isMany: question.isMany, asOf: question.asOf };
  const generations = new Set();
  let isStale = false, names = "", namesAtOnce = NAMES_MAX, lists = {}, tab = "all", isOtherFirst = false, most = "", view = null, clock = null, redraw = null, table = null;

  const queue = entries.map((entry) => ({ entry, job: entry.job }));
  const take = (entry, answer, generation, job) => {
    const isFound = Boolean(answer.data);
    if (isFound || !entry.answer) Object.assign(entry, { answer, asked: job });
    generations.add(generation);
    return isFound;
  };
  const work = run(queue, options, question.limits, {
    onResults(from, { results, generation }) {
      results.forEach((answer, at) => {
        const { entry, job } = queue[from + at];
        const next = take(entry, answer, generation, job) || answer.correction ? null : nextJob(job);
        if (next) queue.push({ entry, job: next });
      });
      redraw ??= setTimeout(drawRows, REDRAW_MS);
    },
    onState(state) {
      const isBusy = state.phase === "running" || state.phase === "waiting";
      // Leaving the page during the run would lose the results.
      warnOnLeaving("run", isBusy);
      drawState(state);
      if (["done", "cancelled", "stopped"].includes(state.phase)) { drawRows(); say(summary(state)); }
      if (state.phase === "done") suggestNames();
    },
  });

  /**
   * A person's decisions about a row. They apply to all rows with the same identifier, and to other
   * identifiers that may mean the chosen row.
   */
  const acts = {
    async choose({ entry, number }, match) {
      entry.chosen = match;
      const others = await followed(entry, entries, options).catch(() => []);
      decided(entry, "Chosen", number, others);
    },
    undo({ entry, number }) {
      const others = entries.filter((other) => other.follows === entry && other.chosen);
      for (const other of [entry, ...others]) Object.assign(other, { follows: null }, other.chosen ? { chosen: null } : { answer: other.before, correction: "" });
      decided(entry, "Undone", number, others);
    },
    async correct({ entry, number }, text) {
      const before = entry.answer;
      const job = jobOf(text, question.idType, entry.currency, entry.day);
      Object.assign(entry, { correction: text, before, answer: null });
      drawRows();
      try {
        const { results, generation } = await api.resolve({ ...options, jobs: [job] });
        take(entry, results[0], generation, job);
        decided(entry, `Corrected to ${text}`, number);
      } catch (failure) {
        if (!(failure instanceof api.Failure)) throw failure;
        Object.assign(entry, { answer: before, correction: "" });
        drawRows();
        drawNote(`${text} could not be asked about. ${failure.text}`);
        say(failure.text);
      }
    },
  };

  /** Asks which securities the next unknown names may mean. Nothing is chosen. */
  async function suggestNames() {
    const next = entries.filter(canBeName);
    if (!next.length) return;
    names = "asking";
    drawNote();
    try {
      const most = await securitiesFor(next, namesAtOnce, options);
      names = most ? "" : "none";
      namesAtOnce = most || namesAtOnce;
    } catch (failure) {
      if (!(failure instanceof api.Failure)) throw failure;
      names = failure.text;
    }
    drawRows();
  }

  function decided({ rows: same }, words, number, others = []) {
    warnOnLeaving("choices", entries.some(({ chosen, correction }) => chosen || correction));
    // The row with the focus would not be redrawn, so it loses the focus. Its control may then be
    // in another tab.
    if (view?.panel.contains(document.activeElement)) document.activeElement.blur();
    drawRows();
    drawLine();
    const control = view?.panel.querySelector(`[data-row="${number}"]`);
    if (control) control.focus({ preventScroll: true });
    else view?.panel.querySelector(".v-table")?.focus({ preventScroll: true });
    const also = others.length ? `, and ${counted(others.length, "other identifier")} of this security` : "";
    say(same.length > 1 ? `${words} for ${counted(same.length, "row")} with this identifier${also}` : `${words}${also}`);
    drawNote(others.length ? `${words} also for ${others.map(({ text }) => text).slice(0, 5).join(", ")}${others.length > 5 ? ` and ${count(others.length - 5)} more` : ""}, which may mean the same security.` : "");
  }

  function show(place) {
    view = {
      stale: el("p", { class: "note small", hidden: !isStale }, "These are the results of the list as it was before. Map again for those of the list above."),
      bar: el("progress", { max: String(Math.max(1, queue.length)), "aria-label": "Identifiers sent" }),
      line: el("p", { class: "run-line" }), wait: el("div", {}), buttons: el("div", { class: "run-buttons" }),
      tabs: el("div", { role: "tablist", "aria-label": "Statuses", class: "tabs", on: { keydown: arrows } }, Object.keys(TABS).map((kind) => el("button", {
        type: "button", role: "tab", id: `tab-${kind}`, "aria-controls": "outcome", on: { click: () => { tab = kind; drawRows(); } },
      }))),
      others: el("p", { class: "dim small other-names" }),
      panel: el("div", { role: "tabpanel", id: "outcome", tabindex: "-1" }), note: el("div", { class: "notes small" }),
    };
    table = null;
    const save = el("button", { type: "button", on: { click: () => {
      download(linesOf(rows, question), "figis.csv");
      warnOnLeaving("choices", false);
      say("The download has started");
    } } }, icon("save"), "Download CSV");
    fill(place, el("div", { class: "run" }, el("div", { class: "run-head" }, el("h2", {}, "Results"), view.buttons, save), view.stale, view.bar, view.line, view.wait),
      view.tabs, view.others, view.panel, view.note,
      el("p", { class: "dim small" }, "The download has all rows and columns of the list in their order, and the results in new columns after them. It is UTF-8 with all cells in quotes. A cell that a spreadsheet would run as a formula gets an apostrophe in front. Some spreadsheets drop the zeros in front of a CUSIP or SEDOL when they open a file: import the column as text."));
    drawState(work.state);
    drawRows();
  }

  function drawState(state) {
    if (!view) return;
    view.bar.max = Math.max(1, queue.length);
    view.bar.value = state.done;
    drawLine();
    const button = (words, act, kind = "") => el("button", { type: "button", class: kind, on: { click: act } }, words);
    const isBusy = state.phase === "running" || state.phase === "waiting";
    fill(view.buttons, isBusy ? button("Cancel", () => work.cancel()) : null,
      ["cancelled", "stopped"].includes(state.phase) ? button("Continue", () => work.start(), "primary") : null);
    clock?.remove();
    clock = null;
    if (state.phase === "waiting") {
      clock = el("span", { class: "clock", "aria-hidden": "true" });
      const left = (state.until - Date.now()) / 1000;
      fill(view.wait, el("div", { class: "notice limit" }, el("p", {}, state.words, " ", clock), button("Try now", () => work.hurry())));
      const shown = clock;
      countdown(left, shown, (seconds) => fill(shown, `in ${duration(seconds)}.`), () => {});
      say(`${state.words} in ${duration(left)}.`);
    } else {
      fill(view.wait, state.words ? el("div", { class: "notice" }, el("p", {}, state.words, state.phase === "stopped" ? " The results so far are kept." : "")) : null);
    }
  }

  function drawLine() {
    if (view) fill(view.line, summary(work.state));
  }

  function summary(state) {
    const parts = [`${count(state.done)} of ${counted(queue.length, "different identifier")} sent`];
    if (state.phase === "done") parts[0] = `Done: ${counted(rows.length, "row")}`;
    if (question.asOf) parts.push(`as of ${question.asOf}`);
    if (state.phase === "cancelled") parts.push("cancelled");
    const isBusy = state.phase === "running" || state.phase === "waiting";
    if (isBusy && state.remaining !== null && state.done < queue.length) parts.push(`about ${duration(Math.max(1, state.remaining))} left`);
    if (state.phase === "done") for (const [kind, name] of Object.entries(STATUSES)) if (tally()[kind]) parts.push(`${count(tally()[kind])} ${name.toLowerCase()}`);
    return parts.join(" · ");
  }

  function tally() {
    const sums = { all: rows.length, ...Object.fromEntries(Object.keys(STATUSES).map((kind) => [kind, 0])) };
    for (const { entry } of rows) sums[statusOf(entry)] += 1;
    return sums;
  }

  function drawRows() {
    clearTimeout(redraw);
    redraw = null;
    if (!view) return;
    lists = Object.fromEntries(Object.keys(TABS).map((kind) => [kind, []]));
    for (const row of rows) {
      const status = statusOf(row.entry);
      const lines = question.isMany && status === "ambiguous" ? Math.max(1, matchesOf(row.entry).length) : 1;
      for (let at = 0; at < lines; at += 1) {
        lists.all.push([row, at]);
        if (status) lists[status].push([row, at]);
      }
    }
    most = exchangeOfMost(rows);
    drawOthers();
    const sums = tally();
    Object.entries(TABS).forEach(([kind, name], place) => {
      const button = view.tabs.children[place];
      button.hidden = OF_PAST.has(kind) && !sums[kind] && kind !== tab;
      fill(button, name, " ", el("span", { class: "tally" }, count(sums[kind])));
      button.setAttribute("aria-selected", String(kind === tab));
      button.tabIndex = kind === tab ? 0 : -1;
    });
    view.panel.setAttribute("aria-labelledby", `tab-${tab}`);
    const list = lists[tab];
    if (!list.length) {
      table = null;
      fill(view.panel, el("p", { class: "empty-line dim" }, EMPTY[tab]));
    } else {
      if (table?.kind !== tab) {
        const kind = tab;
        table = { kind, ...virtual({ label: TABS[kind], kind: question.hasNames ? "v-results has-names" : "v-results", columns: columnsOf(question), render: (place) => renderRow(...lists[kind][place], { ...question, most }, acts) }) };
        fill(view.panel, table.element);
      }
      table.update(list.length);
    }
    drawNote();
  }

  /** The numbers of resolved rows that may be other securities, by their names or exchanges, and a button that lists them first. */
  function drawOthers() {
    const named = question.hasNames ? rows.filter(hasOtherName) : [];
    const elsewhere = rows.filter((row) => isElsewhere(row, most));
    const others = new Set([...named, ...elsewhere]);
    if (isOtherFirst) for (const list of [lists.all, lists.resolved]) list.sort(([a], [b]) => others.has(b) - others.has(a));
    const button = el("button", {
      type: "button", class: "link", "aria-pressed": String(isOtherFirst), on: { click: () => {
        isOtherFirst = !isOtherFirst;
        if (isOtherFirst && lists.resolved.length && tab !== "all") tab = "resolved";
        drawRows();
        if (table) table.element.scrollTop = 0;
        view.others.querySelector("button")?.focus({ preventScroll: true });
        say(isOtherFirst ? "Listed first" : "In the order of the list");
      } },
    }, isOtherFirst ? "List all rows in their order" : "List them first");
    fill(view.others, others.size ? [
      !named.length ? "" : named.length === 1 ? "1 resolved row has a name that shares no word with the name of its result. "
        : `${count(named.length)} resolved rows have names that share no word with the names of their results. `,
      elsewhere.length ? `Most tickers were found on ${most}, but ${elsewhere.length === 1 ? "1 was" : `${count(elsewhere.length)} were`} found on another exchange or on none. ` : "", button] : null);
  }

  function drawNote(words = "") {
    if (!view || !lists[tab]) return;
    const shown = lists[tab].length;
    const left = work.state.phase === "done" && names !== "none" ? entries.filter(canBeName).length : 0;
    fill(view.note, left && names !== "asking" ? el("p", { class: "dim" }, names ? `${names} ` : "",
      el("button", { type: "button", class: "link", on: { click: suggestNames } }, left > namesAtOnce ? `Look for the next ${count(namesAtOnce)} of ${counted(left, "unknown name")}` : `Look for ${counted(left, "unknown name")}`)) : null, [
      names === "asking" ? "Looking for the securities that unknown names may mean…" : "",
      words,
      isNothingFound() ? `No identifier of the list was found as ${kindName(question.idType)}. The data may have no such identifiers: choose another column above.` : "",
      generations.size > 1 ? `The server changed to newer data during this run: the answers are of the generations ${[...generations].join(" and ")}. Map the list again for answers of one.` : "",
      shown > VIRTUAL_ROWS_MAX ? `The first ${count(VIRTUAL_ROWS_MAX)} of ${count(shown)} lines are shown.` : "",
    ].filter(Boolean).map((text) => el("p", { class: "dim" }, text)));
  }

  /** Whether all of several identifiers of one type are unknown. */
  function isNothingFound() {
    return work.state.phase === "done" && Boolean(question.idType) && entries.length > 2 && entries.every((entry) => statusOf(entry) === "unknown");
  }

  function arrows(event) {
    const kinds = Object.keys(TABS).filter((kind) => !view.tabs.querySelector(`#tab-${kind}`).hidden);
    const at = kinds.findIndex((kind) => view.tabs.querySelector(`#tab-${kind}`) === document.activeElement);
    const to = { ArrowRight: (at + 1) % kinds.length, ArrowLeft: (at + kinds.length - 1) % kinds.length, Home: 0, End: kinds.length - 1 }[event.key];
    if (to === undefined || at < 0) return;
    event.preventDefault();
    tab = kinds[to];
    drawRows();
    view.tabs.querySelector(`#tab-${tab}`).focus();
  }

  return {
    show, start: () => work.start(),
    /** Says whether the list has changed since. */
    setStale(stale) {
      isStale = stale;
      if (view) view.stale.hidden = !stale;
    },
    /** Ends the run, for a newer outcome. */
    leave: () => { view = null; work.cancel(); warnOnLeaving("run", false); warnOnLeaving("choices", false); },
  };
}

const EMPTY = {
  all: "The list has no rows.",
  resolved: "No identifier is resolved so far.",
  ambiguous: "No identifier is ambiguous.",
  historical: "No identifier is known from the past only.",
  gone: "No identifier is of an instrument that has left the data.",
  uncertain: "No identifier is uncertain.",
  outOfCoverage: "Every day is covered.",
  unknown: "Every identifier asked about so far was found.",
  invalid: "Every identifier has a valid form.",
};
