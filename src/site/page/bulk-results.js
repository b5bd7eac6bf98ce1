// The results of a list: progress, waits with their seconds, a tab for each of the four outcomes,
// and the download. All results are kept here; the page has only the visible ones.

import { el, fill, say, count, counted, duration, copyable, icon } from "./dom.js";
import { run } from "./batch.js";
import { line, download } from "./csv.js";
import { KINDS } from "./identify.js";
import { level, levelMark } from "./level.js";
import { countdown } from "./notice.js";
import { kindOf } from "./plan.js";
import { href } from "./router.js";
import { virtual, VIRTUAL_ROWS_MAX } from "./virtual.js";

const TABS = { match: "One match", several: "Several matches", miss: "No match", fault: "Faults" };
const FIELDS = ["figi", "name", "ticker", "exchCode", "compositeFIGI", "securityType", "marketSector", "shareClassFIGI", "securityType2", "securityDescription"];
const SHARE_CLASS = "ID_BB_GLOBAL_SHARE_CLASS_LEVEL";
const REDRAW_MS = 250;

/** The outcome of `rows`: their jobs are `distinct`, and the rows in `faulty` are not sent. */
export function outcome(rows, distinct, faulty) {
  // The answer for each row, and the outcome that follows from it: `{kind, data?, words?}`.
  const answers = new Array(rows.length);
  const ends = new Array(rows.length);
  let lists, tally, onlyComposites = false;
  let tab = "", view = null, clock = null, redraw = null;

  // Leaving the page during the run would lose the results.
  const guard = (event) => event.preventDefault();

  const end = (row, answer) => {
    answers[row.place] = answer;
    const one = onlyComposites ? composites(answer) : answer;
    ends[row.place] = one;
    tally[one.kind] += 1;
    if (one.kind === "several") one.data.forEach((_, at) => lists.several.push([row, one, at]));
    else lists[one.kind].push([row, one, 0]);
  };
  const clear = () => {
    lists = { match: [], several: [], miss: [], fault: [] };
    tally = { match: 0, several: 0, miss: 0, fault: 0 };
  };
  clear();
  for (const { row, fault } of faulty) end(row, { kind: "fault", words: fault });

  const work = run(distinct, {
    onResults(from, results) {
      results.forEach((result, at) => {
        const { job, rows: asking } = distinct[from + at];
        // The FIGI of a share class looks like that of a listing: a FIGI that is not found as a
        // listing is sent again as a share class.
        const isMiss = !result.error && !result.data?.length;
        if (isMiss && job.idType === "ID_BB_GLOBAL") {
          distinct.push({ job: { ...job, idType: SHARE_CLASS }, rows: asking });
          return;
        }
        const wasAskedAgain = job.idType === SHARE_CLASS && asking.some((row) => kindOf(row) === "ID_BB_GLOBAL");
        const one = result.data?.length > 1 ? { kind: "several", data: result.data }
          : result.data?.length === 1 ? { kind: "match", data: result.data }
            : result.warning !== undefined || result.data ? { kind: "miss", words: result.warning ?? "No identifier found." }
              : { kind: "fault", words: plain(result.error) };
        if (wasAskedAgain && one.data) one.readAs = SHARE_CLASS;
        for (const row of asking) end(row, one);
      });
      drawLater();
    },
    onState(state) {
      const isBusy = state.phase === "running" || state.phase === "waiting";
      if (isBusy) addEventListener("beforeunload", guard);
      else removeEventListener("beforeunload", guard);
      drawState(state);
      if (["done", "cancelled", "stopped"].includes(state.phase)) { drawNow(); say(summary(state)); }
    },
  });

  function show(place) {
    view = {
      bar: el("progress", { max: String(Math.max(1, distinct.length)), "aria-label": "Identifiers sent" }),
      line: el("p", { class: "run-line" }), wait: el("div", {}), buttons: el("div", { class: "run-buttons" }),
      tabs: el("div", { role: "tablist", "aria-label": "Outcomes", class: "tabs", on: { keydown: arrows } }),
      panel: el("div", { role: "tabpanel", id: "outcome", tabindex: "-1" }), note: el("p", { class: "dim small" }),
    };
    const save = el("button", { type: "button", on: { click: () => save_() } }, icon("save"), "Download CSV");
    const check = el("input", { type: "checkbox", checked: onlyComposites, on: { change: () => {
      onlyComposites = check.checked;
      clear();
      for (const row of rows) if (answers[row.place]) end(row, answers[row.place]);
      drawState(work.state);
      drawNow();
      say(summary(work.state));
    } } });
    fill(place, el("div", { class: "run" }, el("div", { class: "run-head" }, el("h2", {}, "Results"), view.buttons, save), view.bar, view.line, view.wait),
      el("label", { class: "check" }, check, el("span", {}, "Of several matches keep the composites, if there are any")),
      view.tabs, view.panel, view.note,
      el("p", { class: "dim small" }, "The download has all rows, including those that are not shown here. It is UTF-8 with all cells in quotes. A cell that begins with = + - or @ gets an apostrophe in front, so that a spreadsheet does not treat it as a formula."));
    drawState(work.state);
    drawNow();
  }

  function drawState(state) {
    if (!view) return;
    view.bar.value = state.done;
    view.bar.max = Math.max(1, distinct.length);
    fill(view.line, summary(state));
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

  function summary(state) {
    const parts = [`${count(state.done)} of ${counted(distinct.length, "identifier")} sent`];
    if (state.phase === "done") parts[0] = distinct.length ? `Done: ${counted(distinct.length, "identifier")} sent` : "Done: nothing had to be sent";
    if (state.phase === "cancelled") parts.push("cancelled");
    if (state.phase === "running" && state.remaining !== null && state.done < distinct.length) parts.push(`about ${duration(state.remaining)} left`);
    if (state.phase === "waiting" && state.remaining !== null) parts.push(`about ${duration(Math.max(state.remaining, (state.until - Date.now()) / 1000))} left`);
    if (state.phase === "done") for (const [kind, name] of Object.entries(TABS)) if (tally[kind]) parts.push(`${name.toLowerCase()}: ${count(tally[kind])}`);
    return parts.join(" · ");
  }

  function drawLater() {
    redraw ??= setTimeout(drawNow, REDRAW_MS);
  }

  let table, tableOf = "";
  function drawNow() {
    clearTimeout(redraw);
    redraw = null;
    if (!view) return;
    const isFirst = !view.tabs.children.length;
    if (isFirst) {
      fill(view.tabs, Object.keys(TABS).map((kind) => el("button", {
        type: "button", role: "tab", id: `tab-${kind}`, "aria-controls": "outcome", on: { click: () => { tab = kind; drawNow(); } },
      })));
    }
    const shown = tab || Object.keys(TABS).find((kind) => tally[kind]) || "match";
    Object.entries(TABS).forEach(([kind, name], place) => {
      const button = view.tabs.children[place];
      fill(button, name, " ", el("span", { class: "tally" }, count(tally[kind])));
      button.setAttribute("aria-selected", String(kind === shown));
      button.tabIndex = kind === shown ? 0 : -1;
    });
    view.panel.setAttribute("aria-labelledby", `tab-${shown}`);
    const list = lists[shown];
    if (!list.length) {
      tableOf = "";
      fill(view.panel, el("p", { class: "empty-line dim" }, EMPTY[shown]));
    } else {
      if (tableOf !== shown || !view.panel.contains(table.element)) {
        table = shown === "miss" || shown === "fault" ? failures(shown) : found(shown);
        tableOf = shown;
        fill(view.panel, table.element);
      }
      table.update(list.length);
    }
    fill(view.note, list.length > VIRTUAL_ROWS_MAX ? `The first ${count(VIRTUAL_ROWS_MAX)} of ${count(list.length)} lines are shown.` : "");
  }

  function found(kind) {
    return virtual({
      label: TABS[kind], kind: "v-found", columns: ["Row", "Identifier", "Kind", "Ticker", "Name", "Level", "Exch.", "FIGI"],
      render: (place) => {
        const [row, one, at] = lists[kind][place];
        const match = one.data[at];
        const again = at > 0;
        return [again ? "" : count(row.place + 1), again ? "" : el("span", { class: "mono" }, row.value),
          again ? "" : el("span", { class: "dim" }, KINDS[one.readAs ?? kindOf(row)], kind === "several" ? ` · ${counted(one.data.length, "match", "matches")}` : ""),
          el("a", { href: href.instrument(match.figi) }, match.ticker ?? "–"), match.name ?? "", levelMark(match), match.exchCode ?? "", copyable(match.figi, "FIGI")];
      },
    });
  }

  function failures(kind) {
    return virtual({
      label: TABS[kind], kind: "v-failures", columns: ["Row", "Identifier", "Read as", kind === "miss" ? "Answer" : "What is wrong"],
      render: (place) => {
        const [row, one] = lists[kind][place];
        return [count(row.place + 1), el("span", { class: "mono" }, row.value), KINDS[kindOf(row)], el("span", { title: one.words }, one.words)];
      },
    });
  }

  function arrows(event) {
    const kinds = Object.keys(TABS);
    const at = kinds.findIndex((kind) => view.tabs.querySelector(`#tab-${kind}`) === document.activeElement);
    const to = { ArrowRight: (at + 1) % kinds.length, ArrowLeft: (at + kinds.length - 1) % kinds.length, Home: 0, End: kinds.length - 1 }[event.key];
    if (to === undefined || at < 0) return;
    event.preventDefault();
    tab = kinds[to];
    drawNow();
    view.tabs.children[to].focus();
  }

  function save_() {
    const pieces = [line(["row", "identifier", "idType", "outcome", "message", "matches", "level", ...FIELDS])];
    for (const row of rows) {
      const one = ends[row.place];
      const head = [row.place + 1, row.value, one?.readAs ?? kindOf(row), one?.kind ?? "not asked", one?.words ?? "", one?.data?.length ?? 0];
      if (!one?.data) pieces.push(line([...head, "", ...FIELDS.map(() => "")]));
      else for (const match of one.data) pieces.push(line([...head, level(match), ...FIELDS.map((name) => match[name])]));
    }
    download(pieces, "figis.csv");
    say("The download has started");
  }

  return { show, start: () => work.start(), cancel: () => work.cancel() };
}

/** An answer of several matches reduced to its composites, if there are any. */
function composites(answer) {
  if (answer.kind !== "several") return answer;
  const data = answer.data.filter((match) => match.figi === match.compositeFIGI);
  return data.length ? { ...answer, kind: data.length === 1 ? "match" : "several", data } : answer;
}

const EMPTY = {
  match: "No identifier has exactly one match so far.",
  several: "No identifier has several matches. With an exchange code for all rows, an ISIN usually has one.",
  miss: "Every identifier sent so far was found.",
  fault: "No faults: every identifier has a valid form.",
};

/** A clearer text for the server's error of one job. */
function plain(words = "") {
  return {
    "Invalid idValue format.": "The identifier is not valid for its kind: wrong length, characters or check digit.",
    "Invalid value for idType.": "This server does not know this kind of identifier.",
  }[words] ?? words;
}
