// An example that can be run. The request can be changed and copied as a curl command. The answer
// is shown with its status, rate-limit headers and time.

import { el, fill, say, copyText, icon, count } from "../shared/dom.js";
import { call, hasKey } from "../shared/api.js";
import { notice } from "../shared/notice.js";
import { resolve } from "./schema.js";

const SHOWN_CHARACTERS_MAX = 20_000;
/** Only the first parameters of a query string have a field. The example has no others. */
const FIELDS_MAX = 3;
let number = 0;

export function runner(document_, { method, path, examples, parameters, request, isFree = false }, base) {
  const id = `example-${++number}`;
  const inPath = parameters.filter((parameter) => parameter.in === "path");
  const inQuery = parameters.filter((parameter) => parameter.in === "query").slice(0, FIELDS_MAX);
  const fields = new Map([...inPath, ...inQuery].map((parameter) => {
    const values = (resolve(document_, parameter.schema).enum ?? []).filter((value) => value !== null);
    // Of a parameter that may be repeated, one value is sent.
    return [parameter.name, values.length
      ? el("select", { "aria-label": parameter.name }, values.map((value) => el("option", { value }, value)))
      : el("input", { type: "text", "aria-label": parameter.name, value: [parameter.example ?? ""].flat()[0] })];
  }));
  const area = request ? el("textarea", { id, class: "mono", spellcheck: "false", autocomplete: "off", "aria-label": `Body of the request ${method} ${path}` }) : null;
  const output = el("div", { class: "output", role: "region", "aria-label": `Answer of ${method} ${path}`, "aria-live": "off" });
  const run = el("button", { type: "button", class: "primary", data: { run: path, method }, on: { click: send } }, icon("run"), "Run");
  const curl = el("button", { type: "button", on: { click: copyCurl } }, icon("copy"), el("span", {}, "Copy as curl"));
  const choices = examples.length > 1 ? el("div", { class: "choices", role: "group", "aria-label": "Examples" }, examples.map((example) =>
    el("button", { type: "button", "aria-pressed": "false", on: { click: () => choose(example) } }, example.summary))) : null;
  if (area) choose(examples[0] ?? { value: {} });

  return el("div", { class: "runner" }, el("h3", {}, "Try it"), choices,
    fields.size ? el("p", { class: "run-path" }, [...fields].map(([name, field]) => el("label", {}, el("span", { class: "field-label" }, name), field))) : null,
    area, el("div", { class: "run-buttons" }, run, curl, isFree ? null : el("span", { class: "dim small" }, "This request counts against the limits.")), output);

  function choose(example) {
    const text = JSON.stringify(example.value, null, 2);
    area.value = text;
    area.rows = Math.min(16, text.split("\n").length);
    if (choices) [...choices.children].forEach((button, place) => button.setAttribute("aria-pressed", String(examples[place] === example)));
  }

  function target(from) {
    let filled = path;
    for (const { name } of inPath) filled = filled.replace(`{${name}}`, encodeURIComponent(fields.get(name).value));
    const query = new URLSearchParams(inQuery.map(({ name }) => [name, fields.get(name).value]).filter(([, value]) => value));
    return from + filled + (query.size ? `?${query}` : "");
  }

  async function send() {
    if (area) {
      try {
        JSON.parse(area.value);
      } catch (error) {
        fill(output, el("div", { class: "notice" }, el("p", {}, `The body is not JSON: ${error.message}`)));
        say("The body is not JSON");
        return;
      }
    }
    run.disabled = true;
    const began = performance.now();
    try {
      show(await call(method, target(base.run), area ? { body: area.value } : {}), performance.now() - began);
    } catch (failure) {
      fill(output, notice(failure, send));
    } finally {
      run.disabled = false;
    }
  }

  function show(answer, took) {
    const text = answer.data === undefined ? answer.text : JSON.stringify(answer.data, null, 2);
    const cut = text.length > SHOWN_CHARACTERS_MAX;
    fill(output,
      el("p", { class: "status-line" }, el("span", { class: answer.status === 200 ? "good" : "bad" }, `${answer.status} ${WORDS[answer.status] ?? ""}`), el("span", { class: "dim" }, `${Math.round(took)} ms`)),
      el("dl", { class: "headers" }, Object.keys(answer.limits).length
        ? Object.entries(answer.limits).map(([name, value]) => [el("dt", {}, name), el("dd", { class: "mono" }, value)])
        : [el("dt", {}, "The server sent no rate limits.")]),
      el("pre", { tabindex: "0", "aria-label": "Body of the answer" }, text.slice(0, SHOWN_CHARACTERS_MAX)),
      cut ? el("p", { class: "dim small" }, `These are the first ${count(SHOWN_CHARACTERS_MAX)} of ${count(text.length)} characters.`) : null);
    say(`Answer ${answer.status} ${WORDS[answer.status] ?? ""}`);
  }

  async function copyCurl() {
    // The body is quoted for a shell. The key is not copied.
    const quoted = (text) => `'${text.replaceAll("'", "'\\''")}'`;
    const parts = [`curl ${method === "POST" || method === "GET" ? "" : `-X ${method} `}${quoted(target(base.shown))}`];
    if (hasKey()) parts.push('-H "X-OPENFIGI-APIKEY: $FIGI_API_KEY"');
    if (area) parts.push("-H 'Content-Type: application/json'", `-d ${quoted(compact(area.value))}`);
    const copied = await copyText(parts.join(" \\\n  "));
    fill(curl.lastElementChild, copied ? "Copied" : "Not copied");
    say(copied ? "The curl command is copied" : "It could not be copied");
    setTimeout(() => fill(curl.lastElementChild, "Copy as curl"), 1600);
  }
}

const WORDS = { 200: "OK", 400: "Bad request", 401: "Unauthorized", 404: "Not found", 405: "Method not allowed", 406: "Not acceptable", 413: "Too large", 415: "Unsupported media type", 429: "Too many requests", 500: "Server error", 503: "Unavailable" };

function compact(text) {
  try { return JSON.stringify(JSON.parse(text)); } catch { return text; }
}
