// The view `#/bulk`: takes a list, and shows how the list is read and which steps choose a listing.
// A person can change both and send the list to the server. A run continues while other views are
// shown.

import { el, fill, say, count, counted } from "../shared/dom.js";
import { about } from "../shared/about.js";
import * as api from "../shared/api.js";
import { alsoField, known } from "./also.js";
import { asOfField } from "./as-of.js";
import { estimate } from "./batch.js";
import { outcome } from "./results.js";
import { firstUsed, recognise } from "./columns.js";
import { original } from "./download.js";
import { keepSettings, keepText, kept, warnOnLeaving } from "./kept.js";
import { ENCODINGS, readFile } from "../shared/decode.js";
import { totalOf } from "../shared/footer.js";
import { headingOf } from "../shared/heading.js";
import { keyField } from "../shared/key.js";
import { listOf } from "./list.js";
import { nameColumn } from "./own-names.js";
import { lesson, readingFields, preview } from "./reading.js";
import { DEFAULT_STEPS, preferOf, stepsEditor } from "./steps.js";
import { readTable, ROWS_MAX } from "../shared/table.js";

/** The longest text for the text field. A longer one would make typing slow. */
const FIELD_CHARACTERS_MAX = 100_000;
/** The pause in typing after which the server is asked about the columns. */
const TYPING_PAUSE_MS = 2000;

const EXAMPLE = `Identifier\tHeld
US4592001014\t120
037833100\t60
BBG000B9XRY4\t15
2005973\t8
A     090718P00012500\t2
US0378331006\t40

018893517\t7
851399\t11
IBM US Equity\t30
NONESUCH\t1`;

const NOTHING = { rows: [], columns: 0, cut: 0 };

/**
 * The current list, the way it is read, and its results. They outlive the view. `source` names a
 * text that is not in the text field; `known` is the column of identifiers of an earlier download.
 */
const work = {
  text: "", source: "", file: null, isKept: true, isAgain: false, known: -1,
  table: NOTHING, heading: -1, column: 0, idType: "", currency: -1, dayColumn: -1, isTotalRead: false, kinds: [], texts: 0, trouble: "", limits: null,
  decided: {}, // what a person has changed about the reading
  steps: DEFAULT_STEPS(), unlisted: false, isMany: false, also: [], day: null, results: null, mapped: null, // the table of the results
};
let asked = null; // aborts the question about the columns

restore();

/** Takes a text from another view. This view then shows it. */
export function open(text) {
  setText(text, text.length > FIELD_CHARACTERS_MAX ? "The pasted text" : "");
}

function setText(text, source, file = null) {
  readText(text, source, file);
  work.isKept = keepText(text);
  warnOnLeaving("list", !work.isKept);
  keep();
}

function readText(text, source, file) {
  asked?.abort();
  asked = null;
  const whole = readTable(text);
  const again = original(whole, headingOf(whole.rows));
  const table = again?.table ?? whole;
  Object.assign(work, {
    text, source, file, table, isAgain: Boolean(again), known: again?.column ?? -1,
    heading: -1, column: firstUsed(table.rows), idType: "", currency: -1, dayColumn: -1, isTotalRead: false, kinds: [], texts: 0, trouble: "", decided: {},
  });
}

/** The place where the footer begins, -1 without one. In a list of tickers a word for "total" may be one of them. */
const footer = () => (work.table.columns === 1 && work.idType === "TICKER" ? -1 : totalOf(work.table, work.heading, work.column));

/** The way the list is read: `total` is the place where a footer begins that is left out. */
const reading = () => ({ ...work, total: work.isTotalRead ? -1 : footer(), name: work.decided.name ?? nameColumn(work.table, work) });

function keep() {
  const { source, file, decided, steps, unlisted, isMany, also, day } = work;
  keepSettings({ source, file, decided, steps, unlisted, isMany, also, day });
}

/** Takes the list that was here before a reload. */
function restore() {
  const { text, settings } = kept();
  if (!settings) return;
  const { source, file, decided, steps, unlisted, isMany, also, day = null } = settings;
  Object.assign(work, { steps, unlisted, isMany, also: known(also), day });
  if (!text) return;
  readText(text, source, file);
  Object.assign(work, { decided }, decided);
}

export function show(view) {
  let typing;
  const area = el("textarea", {
    id: "identifiers", rows: "11", spellcheck: "false", autocomplete: "off", autocapitalize: "characters", class: "mono", wrap: "off",
    placeholder: "Paste a column, or several columns of a spreadsheet", value: work.source ? "" : work.text,
    on: { input: (event) => take(area.value, "", event.inputType === "insertFromPaste" ? 0 : TYPING_PAUSE_MS), paste: pasted },
  });
  const choose = el("input", { type: "file", id: "file", class: "unseen", accept: ".csv,.txt,.tsv,.tab,.psv,text/*", on: { change: () => { if (choose.files[0]) fromFile(choose.files[0]); choose.value = ""; } } });
  const summary = el("p", { class: "dim small", role: "status" });
  const drop = el("div", {
    class: "drop", on: {
      dragover: (event) => { event.preventDefault(); drop.classList.add("over"); },
      dragleave: () => drop.classList.remove("over"),
      drop: (event) => {
        drop.classList.remove("over");
        const [file] = event.dataTransfer.files;
        if (file) { event.preventDefault(); fromFile(file); }
      },
    },
  }, el("label", { for: "identifiers", class: "field-label" }, "The list"), area,
  el("div", { class: "drop-foot" },
    el("label", { for: "file", class: "button" }, "Choose a file"), choose,
    el("span", { class: "dim small" }, "or drop one here: text or CSV"),
    el("button", { type: "button", class: "link", on: { click: () => { area.value = EXAMPLE; take(EXAMPLE, "", 0); } } }, "Example"),
    el("button", { type: "button", class: "link", on: { click: () => { area.value = ""; take("", "", 0); area.focus(); } } }, "Clear")), summary);

  const fields = el("div", { class: "reading" });
  const time = el("p", { class: "dim small" });
  const begin = el("button", { type: "button", class: "primary", on: { click: start } });
  const check = (name, label) => {
    const box = el("input", { type: "checkbox", checked: work[name], on: { change: () => { work[name] = box.checked; keep(); } } });
    return el("label", { class: "check" }, box, el("span", {}, label));
  };
  const asOf = asOfField(({ dayColumn = work.dayColumn, day = work.day }) => {
    if (dayColumn !== work.dayColumn) work.decided.dayColumn = work.dayColumn = dayColumn;
    work.day = day;
    keep();
    draw();
  });
  const recognised = el("section", { class: "recognised", "aria-labelledby": "recognised-title" },
    el("h2", { id: "recognised-title" }, "How it is read"), fields, asOf.element);
  const choosing = el("section", { class: "choosing" }, stepsEditor(work.steps, keep),
    el("div", { class: "options" }, check("isMany", "Show all matches of an ambiguous identifier, a line each"), check("unlisted", "Include unlisted equities"), keyField(keyChanged)),
    alsoField(work.also, (also) => { work.also = also; keep(); }),
    el("div", { class: "begin" }, begin, time));
  const first = el("section", { class: "first-rows" });
  const results = el("section", { class: "bulk-results", "aria-label": "Results" });
  fill(view, el("div", { class: "bulk" },
    el("header", {}, el("h1", { id: "title", tabindex: "-1" }, "Bulk mapping"),
      el("p", { class: "dim" }, "Paste a list or a table. Its identifiers are recognised by their form, and each row gets the FIGI that your steps choose.")),
    el("div", { class: "bulk-in" }, el("div", { class: "bulk-list" }, drop, first), el("div", { class: "bulk-plan" }, recognised, choosing)), results));
  draw();
  if (work.table.rows.length && !work.kinds.length && !asked) ask();
  if (work.results) work.results.show(results);

  function pasted(event) {
    const text = event.clipboardData?.getData("text/plain") ?? "";
    if (text.length <= FIELD_CHARACTERS_MAX) return;
    event.preventDefault();
    take(text, "The pasted text", 0);
  }

  async function fromFile(file) {
    try {
      const { text, encoding } = await readFile(file);
      const fits = text.length <= FIELD_CHARACTERS_MAX;
      if (fits) area.value = text;
      take(text, fits ? "" : file.name, 0, { name: file.name, encoding });
    } catch (error) {
      fill(summary, error.message);
      say(error.message);
    }
  }

  function take(text, source, pause, file = null) {
    clearTimeout(typing);
    setText(text, source, file);
    if (source) area.value = "";
    if (work.table.rows.length) typing = setTimeout(ask, pause);
    draw();
  }

  /** Asks the server for the types of the columns. Without these, texts are read by their form. */
  async function ask() {
    clearTimeout(typing);
    const own = asked = new AbortController();
    draw();
    try {
      const { limits, ...found } = await recognise(work.table, work.known, own.signal);
      if (own.signal.aborted) return;
      Object.assign(work, found, { idType: found.kinds[found.column]?.idType ?? "", limits, trouble: "" }, work.decided);
    } catch (failure) {
      if (own.signal.aborted) return;
      if (!(failure instanceof api.Failure)) throw failure;
      Object.assign(work, { kinds: [{}], trouble: failure.text });
    }
    asked = null;
    draw();
  }

  // A new key has other limits. The next answer has them.
  function keyChanged() {
    work.limits = null;
    clearTimeout(typing);
    if (work.table.rows.length) typing = setTimeout(learnLimits, TYPING_PAUSE_MS);
    draw();
  }

  async function learnLimits() {
    try {
      work.limits = (await api.recogniseColumns([[""]], [""])).limits;
    } catch (failure) {
      if (!(failure instanceof api.Failure)) throw failure;
    }
    draw();
  }

  function draw() {
    const { table, file, heading } = work;
    const source = file?.name ?? work.source;
    const encoding = ENCODINGS[file?.encoding];
    fill(summary, source ? `${source}: ${counted(table.rows.length, "row")}${encoding ? `, ${encoding}` : ""}. ` : "",
      work.source ? "The text is too long for the field, and is read all the same. " : "",
      work.isKept ? "" : "The list is too large to be kept: a reload loses it. ",
      table.cut ? `${counted(table.cut, "row")} beyond ${count(ROWS_MAX)} were left out: split the list, or use the command figdex map. ` : "");
    choosing.hidden = !table.rows.length;
    asOf.update(work);
    work.results?.setStale(work.table !== work.mapped);
    if (!table.rows.length) {
      fill(fields, lesson());
      return fill(first);
    }
    const read = reading();
    const { rows, entries, left } = listOf(table, read);
    readingFields(fields, { ...work, name: read.name, footer: footer() }, !work.kinds.length, (changed) => { Object.assign(work.decided, changed); Object.assign(work, changed); keep(); draw(); }, { asked: rows.length, different: entries.length, left });
    fill(begin, `Map ${counted(rows.length, "row")}`);
    begin.disabled = !rows.length || work.day === "";
    fill(time, work.day === "" ? "Enter the day first." : work.limits ? estimate(entries.length, work.limits) : "");
    preview(first, work);
  }

  async function start() {
    if (!work.kinds.length) await ask();
    work.results?.leave();
    const list = listOf(work.table, reading());
    const { table, heading, column, total, name, idType, unlisted, isMany, also, day, limits } = reading();
    const { coverage } = await about();
    work.results = outcome(list, { table, heading, column, total, hasNames: name >= 0, hasPast: Boolean(coverage), asOf: day, idType, prefer: preferOf(work.steps), unlisted, isMany, also, limits });
    work.mapped = table;
    work.results.show(results);
    work.results.start();
    results.scrollIntoView({ block: "start", behavior: matchMedia("(prefers-reduced-motion: reduce)").matches ? "auto" : "smooth" });
  }
}
