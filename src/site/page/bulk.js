// The view `#/bulk`: recognises the kinds of the identifiers in a list, lets them be changed, and
// sends batches to the server. A run continues while other views are shown.

import { el, fill, say, count, counted } from "./dom.js";
import * as api from "./api.js";
import { estimate } from "./batch.js";
import { outcome } from "./bulk-results.js";
import { meaningOf } from "./filters.js";
import { KINDS } from "./identify.js";
import { keyField } from "./key.js";
import { readColumn, readFile, ROWS_MAX } from "./lines.js";
import { notice } from "./notice.js";
import { picker } from "./picker.js";
import { plan, kindOf, faultOf, hasOwnCodes, jobs } from "./plan.js";
import { virtual } from "./virtual.js";

/** A longer text is not put into the text field, where it would make typing slow. */
const FIELD_CHARACTERS_MAX = 100_000;

const EXAMPLE = `US4592001014
037833100
BBG000B9XRY4
2005973
A     090718P00012500
US0378331006
018893517
851399
IBM
NONESUCH`;

/** The current list and its results, which outlive the view. */
const work = { text: "", source: "", values: [], heading: "", cut: 0, plan: null, filter: {}, results: null };

export function show(view) {
  let onlyUnsure = false;
  const area = el("textarea", {
    id: "identifiers", rows: "11", spellcheck: "false", autocomplete: "off", autocapitalize: "characters", class: "mono",
    placeholder: "One identifier a line. Of CSV, the first column is used.", value: work.source ? "" : work.text,
    on: { input: later(() => take(area.value, "")), paste: pasted },
  });
  const choose = el("input", { type: "file", id: "file", class: "unseen", accept: ".csv,.txt,.tsv,text/*", on: { change: () => { if (choose.files[0]) fromFile(choose.files[0]); choose.value = ""; } } });
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
  }, el("label", { for: "identifiers", class: "field-label" }, "Identifiers"), area,
  el("div", { class: "drop-foot" },
    el("label", { for: "file", class: "button" }, "Choose a file"), choose,
    el("span", { class: "dim small" }, "or drop one here: text or CSV"),
    el("button", { type: "button", class: "link", on: { click: () => { area.value = EXAMPLE; take(EXAMPLE, ""); } } }, "Example"),
    el("button", { type: "button", class: "link", on: { click: () => { area.value = ""; take("", ""); area.focus(); } } }, "Clear")), summary);
  const recognised = el("section", { class: "recognised", "aria-labelledby": "recognised-title" });
  const rows = el("section", { class: "plan-rows" });
  const results = el("section", { class: "bulk-results", "aria-label": "Results" });
  fill(view, el("div", { class: "bulk" },
    el("header", {}, el("h1", { id: "title", tabindex: "-1" }, "Bulk mapping"),
      el("p", { class: "dim" }, "Paste a column of identifiers; kinds may be mixed. Each is recognised by its form and check digit, and mapped to its FIGIs.")),
    el("div", { class: "bulk-in" }, drop, recognised), rows, results));
  summarise();
  draw();
  if (work.results) work.results.show(results);

  function pasted(event) {
    const text = event.clipboardData?.getData("text/plain") ?? "";
    if (text.length <= FIELD_CHARACTERS_MAX) return;
    event.preventDefault();
    take(text, "The pasted text");
  }

  async function fromFile(file) {
    try {
      const text = await readFile(file);
      if (text.length <= FIELD_CHARACTERS_MAX) area.value = text;
      take(text, text.length <= FIELD_CHARACTERS_MAX ? "" : file.name);
    } catch (error) {
      fill(summary, error.message);
      say(error.message);
    }
  }

  function take(text, source) {
    const { values, heading, cut } = readColumn(text);
    Object.assign(work, { text, source, values, heading, cut, plan: values.length ? plan(values) : null });
    if (source) area.value = "";
    summarise();
    draw();
  }

  function summarise() {
    fill(summary, [
      work.source ? `${work.source}: ${counted(work.values.length, "row")}. ` : "",
      work.heading ? `The first line, “${work.heading}”, was taken for a heading. ` : "",
      work.cut ? `${counted(work.cut, "row")} beyond ${count(ROWS_MAX)} were left out: split the list to map them. ` : "",
    ]);
  }

  function draw() {
    drawRecognised();
    drawRows();
  }

  function drawRecognised() {
    if (!work.plan) return fill(recognised, lesson());
    const { jobs: distinct, faulty } = jobs(work.plan.rows, work.filter);
    const unsure = work.plan.groups.filter(({ sure }) => !sure).reduce((sum, group) => sum + group.count, 0);
    const begin = el("button", { type: "button", class: "primary", disabled: !distinct.length && !faulty.length, on: { click: start } }, `Map ${counted(distinct.length, "identifier")}`);
    const time = el("p", { class: "dim small" });
    const retime = () => {
      const { requests, words } = estimate(distinct.length);
      fill(time, distinct.length ? `${counted(requests, "request")}; at the usual limits ${words}${api.hasKey() || requests < 25 ? "." : ". An API key makes it a hundred times faster."}` : "There is nothing to send.");
    };
    retime();
    fill(recognised, el("h2", { id: "recognised-title" }, "Recognised"),
      el("p", { class: "dim small" }, [counted(work.values.length, "row"), `, ${counted(distinct.length, "different identifier")}`,
        unsure ? `. Check ${counted(unsure, "row")}: ${unsure === 1 ? "it" : "they"} could be of another kind, or ${unsure === 1 ? "has" : "have"} a typo.` : "."]),
      el("div", { class: "scroller" }, el("table", { class: "groups" },
        el("thead", {}, el("tr", {}, ["Form", "Rows", "Read as"].map((name) => el("th", { scope: "col" }, name)))),
        el("tbody", {}, work.plan.groups.map((group) => el("tr", { class: group.sure ? null : "unsure" },
          el("th", { scope: "row" }, group.form, el("span", { class: "dim mono small" }, group.example)),
          el("td", { class: "number" }, count(group.count)),
          el("td", {}, kinds(group.kinds, group.kind, `All rows of the form ${group.form} are`, (kind) => { group.kind = kind; redraw(`group ${group.form}`); }, `group ${group.form}`))))))),
      el("fieldset", { class: "narrow" }, el("legend", {}, "For all rows (optional)"),
        one("exchCode", "Exchange code"), one("marketSecDes", "Market sector"), keyField(() => retime())),
      el("div", { class: "begin" }, begin, time));
  }

  function redraw(field) {
    draw();
    view.querySelector(`[data-field="${field}"]`)?.focus({ preventScroll: true });
  }

  function one(name, label) {
    return picker({
      field: name, label, several: false, values: () => api.values(name), chosen: work.filter[name] ? [work.filter[name]] : [], meaning: meaningOf(name),
      onChange: ([value]) => { if (value) work.filter[name] = value; else delete work.filter[name]; redraw(name); },
    });
  }

  function drawRows() {
    if (!work.plan) return fill(rows);
    const unsure = work.plan.rows.filter((row) => !row.group.sure || faultOf(row));
    const shown = onlyUnsure ? unsure : work.plan.rows;
    const table = virtual({
      label: "Rows and how they are read", kind: "v-plan", columns: ["Row", "Identifier", "Read as", "Remark"],
      render: (place) => {
        const row = shown[place];
        const fault = faultOf(row);
        return [count(row.place + 1), el("span", { class: "mono" }, row.value),
          kinds(row.group.kinds, kindOf(row), `Row ${row.place + 1}, ${row.value}, is`, (kind) => { row.own = kind; drawRecognised(); table.update(shown.length); }, `row ${row.place}`),
          el("span", { class: fault ? "wrong" : "dim", title: fault }, fault || (row.own ? "set by you" : row.group.sure ? "" : "could be another kind"))];
      },
    });
    const check = el("input", { type: "checkbox", checked: onlyUnsure, on: { change: () => { onlyUnsure = check.checked; drawRows(); rows.querySelector("input").focus(); } } });
    fill(rows, el("details", { open: unsure.length > 0 && !work.results, class: "fold" }, el("summary", {}, "Row by row"),
      el("label", { class: "check" }, check, el("span", {}, `Only the ${counted(unsure.length, "row")} to check`)), table.element));
    rows.querySelector("details").addEventListener("toggle", () => table.update(shown.length));
    table.update(shown.length);
  }

  async function start() {
    const { rows: all } = work.plan;
    let exchCodes = null;
    if (hasOwnCodes(all)) {
      try {
        exchCodes = new Set(await api.values("exchCode"));
      } catch (failure) {
        return fill(results, notice(failure, start));
      }
    }
    work.results?.cancel();
    const { jobs: distinct, faulty } = jobs(all, work.filter, exchCodes);
    work.results = outcome(all, distinct, faulty);
    rows.querySelector("details")?.removeAttribute("open");
    work.results.show(results);
    work.results.start();
    results.scrollIntoView({ block: "start", behavior: matchMedia("(prefers-reduced-motion: reduce)").matches ? "auto" : "smooth" });
  }
}

/** A select with the likely kinds first, then all others. */
function kinds(likely, chosen, label, onChange, field) {
  const option = (kind) => el("option", { value: kind }, KINDS[kind]);
  const others = Object.keys(KINDS).filter((kind) => !likely.includes(kind));
  const select = el("select", { "aria-label": label, data: { field }, on: { change: () => onChange(select.value) } },
    likely.map(option), el("optgroup", { label: "Other kinds" }, others.map(option)));
  select.value = chosen;
  return select;
}

function lesson() {
  const kind = (name, form) => [el("dt", {}, name), el("dd", {}, form)];
  return [el("h2", { id: "recognised-title" }, "What is recognised"),
    el("dl", { class: "pairs lesson" },
      kind("ISIN", "12 characters, check digit"), kind("CUSIP, CINS", "9 characters, check digit; CINS begin with a letter"),
      kind("SEDOL", "7 characters, check digit"), kind("FIGI", "12 characters, the third is G, check digit"),
      kind("OCC symbol", "21 characters: root, date, C or P, strike"), kind("Common code", "9 digits"),
      kind("WKN, Italian code", "6 characters; 5 or 6 digits"), kind("Ticker", "everything else; also IBM US Equity")),
    el("p", { class: "dim small" }, "When a form fits several kinds, you choose: for all such rows, or row by row. Nothing is sent before you start.")];
}

function later(act) {
  let timer;
  return () => { clearTimeout(timer); timer = setTimeout(act, 200); };
}
