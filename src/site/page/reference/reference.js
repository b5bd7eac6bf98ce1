// The view `#/reference`: the interface for programs. It is made from `GET /schema`, so it
// describes exactly this server.

import { el, fillView, prose, counted } from "../shared/dom.js";
import * as api from "../shared/api.js";
import { runner } from "./example.js";
import { keyField } from "../shared/key.js";
import { notice } from "../shared/notice.js";
import { operations, properties, resolve, shapeName, typeOf } from "./schema.js";

const VALUES_SHOWN = 30;

/** Fills `view` with the reference, unless `signal` is aborted before it is loaded. */
export async function show(view, route, signal) {
  const wanted = route.rest[0];
  // A link within the reference does not redraw it: the results of examples stay.
  if (view.querySelector(".reference-body")) return jump(view, wanted);
  fillView(view, el("div", { class: "reference" }, el("h1", { id: "title", tabindex: "-1" }, "Reference"), el("p", { class: "dim" }, "Loading…")));
  let document_;
  try {
    document_ = await api.schema();
  } catch (failure) {
    if (!signal.aborted) {
      fillView(view, el("div", { class: "reference" }, el("h1", { id: "title", tabindex: "-1" }, "Reference"), notice(failure, () => show(view, route, signal))));
    }
    return;
  }
  if (signal.aborted) return;
  draw(view, document_);
  jump(view, wanted);
}

function jump(view, wanted) {
  const place = wanted && view.querySelector(`[id="ref-${CSS.escape(wanted)}"]`);
  if (!place) return;
  if (place.matches(".shape")) place.querySelector("details")?.setAttribute("open", "");
  place.scrollIntoView({ block: "start" });
  place.querySelector("h2, h3")?.focus({ preventScroll: true });
}

const nameOf = ({ method, path }) => `${method.toLowerCase()}${path.replace(/[^a-z]+/gi, "-")}`.replace(/-+$/, "");
const ref = (name) => `#/reference/${encodeURIComponent(name)}`;

function draw(view, document_) {
  const all = operations(document_);
  const shapes = Object.entries(document_.components?.schemas ?? {});
  const base = serverBase(document_);
  const item = (name, ...words) => el("li", {}, el("a", { href: ref(name) }, ...words));
  fillView(view, el("div", { class: "reference" },
    el("nav", { class: "toc", "aria-label": "Reference" },
      el("p", { class: "field-label" }, "Endpoints"), el("ul", {}, all.map((one) => item(nameOf(one), el("span", { class: "method" }, one.method), base.prefix(one) + one.path)), item("further", el("span", { class: "method" }, "GET"), "/instruments/{figi}")),
      el("p", { class: "field-label" }, "For all"), el("ul", {}, item("start", "Address and key"), item("errors", "Errors"), item("limits", "Limits")),
      el("p", { class: "field-label toc-shapes" }, "Shapes"), el("ul", { class: "toc-shapes" }, shapes.map(([name]) => item(name, name)))),
    el("div", { class: "reference-body" },
      el("header", { id: "ref-start" }, el("h1", { id: "title", tabindex: "-1" }, `${document_.info?.title ?? "The interface"} for programs`),
        el("p", {}, prose(document_.info?.description)),
        el("p", {}, "Base address ", el("code", {}, base.shown), ", version ", document_.info?.version ?? "?", ". The same for programs: ", el("a", { href: api.address("schema") }, "OpenAPI ", document_.openapi), "."),
        keyField()),
      all.map((one) => operation(document_, one, base)),
      further(document_),
      errors(document_), limits(document_),
      el("section", { id: "ref-shapes" }, el("h2", { tabindex: "-1" }, "Shapes"), shapes.map(([name, schema]) => shape(document_, name, schema))))));
}

/** The address where examples run (this server), and the address that is shown and copied. */
function serverBase(document_) {
  const url = document_.servers?.[0]?.url ?? "/v3";
  const version = url.replace(/\/+$/, "").split("/").pop() || "v3";
  const own = api.address(version);
  // An operation with its own servers has no version.
  return { run: own, shown: /^https?:/.test(url) ? url.replace(/\/+$/, "") : own, prefix: ({ operation }) => (operation.servers ? "" : `/${version}`) };
}

/** The address of the endpoints without a version, at the root of this server. */
function rootBase() {
  const own = api.address("").replace(/\/+$/, "");
  return { run: own, shown: own };
}

function operation(document_, one, versioned) {
  const { method, path, request, parameters, answer } = one;
  const base = one.operation.servers ? rootBase() : versioned;
  return el("section", { class: "operation", id: `ref-${nameOf(one)}` },
    el("h2", { tabindex: "-1" }, el("span", { class: "method" }, method), el("code", {}, versioned.prefix(one) + path)),
    one.operation.summary ? el("p", {}, prose(one.operation.summary)) : null,
    one.operation.servers ? el("p", { class: "dim" }, "It has no version: its address is ", el("code", {}, `${base.shown}${path}`), ".") : null,
    el("p", {}, prose(one.operation.description)),
    parameters.length ? [el("h3", {}, "Parameters"), table(document_, `Parameters of ${method} ${path}`, parameters.map((parameter) => ({
      name: parameter.name, schema: parameter.schema, isRequired: parameter.required, description: `${parameter.description ?? ""} (${parameter.in})`,
      values: (resolve(document_, parameter.schema).enum ?? []).filter((value) => value !== null), example: parameter.example,
    })))] : null,
    request ? [el("h3", {}, "Request: ", types(document_, request.schema)), fold("Properties of the request", innerTable(document_, `Request of ${method} ${path}`, request.schema))] : null,
    answer ? [el("h3", {}, "Answer: ", types(document_, answer.schema)), fold("Properties of the answer", innerTable(document_, `Answer of ${method} ${path}`, answer.schema))] : null,
    runner(document_, one, base));
}

/** `GET /instruments/{figi}`, which is not part of the contract and not in the document. */
function further(document_) {
  const figi = { name: "figi", in: "path", schema: { type: "string" }, example: "BBG000BLNNH6" };
  return el("section", { id: "ref-further" }, el("h2", { tabindex: "-1" }, el("span", { class: "method" }, "GET"), el("code", {}, "/instruments/{figi}")),
    el("p", {}, "One instrument with all that this server knows about it, and its family, from the share class to the venues. This endpoint is not part of the public service's interface; it has no version and counts against no limit."),
    runner(document_, { method: "GET", path: "/instruments/{figi}", examples: [], parameters: [figi], request: null, isFree: true }, rootBase()));
}

const fold = (words, content) => (content ? el("details", { class: "fold" }, el("summary", {}, words), content) : null);

/** The properties of a shape, of an array's elements, or of each alternative. */
function innerTable(document_, of, schema) {
  const whole = resolve(document_, schema);
  if (whole.type === "array") return innerTable(document_, of, whole.items);
  if (whole.oneOf) {
    return el("div", {}, whole.oneOf.map((one) => [el("h4", {}, types(document_, one)), el("p", {}, prose(resolve(document_, one).description)), innerTable(document_, `${of}, ${shapeName(one)}`, one)]));
  }
  const rows = properties(document_, whole);
  return rows.length ? table(document_, of, rows) : null;
}

/** A table of properties. Its label starts with `of`, so that screen readers can tell it apart. */
function table(document_, of, all) {
  const rows = [...all].sort((a, b) => Number(b.isRequired ?? false) - Number(a.isRequired ?? false));
  return el("div", { class: "scroller", tabindex: "0", role: "region", "aria-label": `${of}, scrollable` }, el("table", { class: "properties" },
    el("thead", {}, el("tr", {}, ["Name", "Type", "Meaning"].map((name) => el("th", { scope: "col" }, name)))),
    el("tbody", {}, rows.map((row) => el("tr", {},
      el("th", { scope: "row" }, el("code", {}, row.name), row.isRequired ? el("span", { class: "required" }, "required") : null),
      el("td", {}, types(document_, row.schema)),
      el("td", {}, prose(row.description), row.example === undefined ? null : [" ", el("span", { class: "dim" }, "Example: ", el("code", {}, typeof row.example === "string" ? row.example : JSON.stringify(row.example)))],
        shapeName(row.schema) ? null : valuesOf(row.values)))))));
}

function valuesOf(values) {
  if (!values?.length) return null;
  const list = values.map((value, place) => [place ? " " : "", el("code", {}, String(value))]);
  return values.length <= VALUES_SHOWN ? el("p", { class: "values" }, list)
    : el("details", { class: "values" }, el("summary", {}, `${values.length} values`), el("p", {}, list));
}

function types(document_, schema) {
  return typeOf(document_, schema).map((piece) => (typeof piece === "string" ? piece : el("a", { href: ref(piece.shape) }, piece.shape)));
}

function shape(document_, name, schema) {
  const rows = properties(document_, schema);
  return el("section", { class: "shape", id: `ref-${name}` }, el("h3", { tabindex: "-1" }, name),
    el("p", {}, prose(schema.description)),
    rows.length ? fold(counted(rows.length, "property", "properties"), table(document_, name, rows)) : el("p", { class: "dim" }, types(document_, schema)),
    rows.length ? null : valuesOf((schema.enum ?? []).filter((value) => value !== null)));
}

const MEANING = {
  400: "The request as a whole is wrong. Correct it; repeating it fails again.", 401: "Correct the key, or leave it out.",
  404: "The address is wrong.", 405: "The address is right, the method is not.", 406: "Accept JSON.", 413: "Send fewer jobs, or a shorter body.",
  415: "Say that the body is JSON.", 429: "Wait retry-after seconds.", 500: "Try again later, each time after a longer wait.",
  503: "Try again later, each time after a longer wait.",
};

function errors(document_) {
  const responses = Object.entries(document_.components?.responses ?? {}).filter(([status]) => /^[45]/.test(status));
  const texts = (response) => Object.values(response.content ?? {}).flatMap((content) => Object.values(content.examples ?? {}).map((example) => resolve(document_, example).value));
  return el("section", { id: "ref-errors" }, el("h2", { tabindex: "-1" }, "Errors"),
    el("p", {}, "A refused request has one of these statuses and a short text. The fault of a single job or field is in the 200 answer, as ", el("code", {}, "error"), " or ", el("code", {}, "warning"), "."),
    el("div", { class: "scroller", tabindex: "0", role: "region", "aria-label": "Errors, scrollable" }, el("table", { class: "properties" },
      el("thead", {}, el("tr", {}, ["Status", "Text", "What to do"].map((name) => el("th", { scope: "col" }, name)))),
      el("tbody", {}, responses.map(([status, response]) => el("tr", {}, el("th", { scope: "row" }, status, el("span", { class: "dim small block" }, response.description)),
        el("td", {}, texts(response).map((text) => el("code", { class: "block" }, text))), el("td", {}, MEANING[status] ?? "")))))));
}

function limits(document_) {
  const headers = { ...document_.components?.headers };
  for (const [name, header] of Object.entries(resolve(document_, document_.components?.responses?.[429] ?? {}).headers ?? {})) headers[name] ??= header;
  return el("section", { id: "ref-limits" }, el("h2", { tabindex: "-1" }, "Limits"),
    el("p", {}, "The headers of each counted answer say how many requests are left. A server without limits sends none."),
    table(document_, "Headers", Object.entries(headers).map(([name, header]) => {
      const whole = resolve(document_, header);
      return { name, schema: whole.schema, description: whole.description ?? "", values: [] };
    })));
}
