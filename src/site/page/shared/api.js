// Functions for the server's endpoints. `call` returns every answer as `{status, data, text,
// limits}`. Every failure is thrown as a `Failure` with a message for people and, where waiting
// helps, the seconds to wait; an aborted call throws an `AbortError`. Addresses are relative to the
// page, so that a proxy may serve everything under a path.

const HEADERS = ["ratelimit-limit", "ratelimit-remaining", "ratelimit-reset", "ratelimit-policy", "retry-after", "figdex-jobs-per-list", "figdex-jobs-per-request"];

let key = "";
/** Sets the API key. It is kept only in this variable, and is lost with the page. */
export const setKey = (value) => { key = value.trim(); };
export const getKey = () => key;
export const hasKey = () => key !== "";

/** A failure with a message for people. The code looks at `kind`. */
export class Failure extends Error {
  constructor(kind, message, { status = 0, wait = null, own = "", limits = {} } = {}) {
    super(message);
    this.kind = kind;
    this.status = status;
    this.wait = wait;
    this.own = own; // the server's text
    this.limits = limits; // the headers of its answer
  }

  /** The message, with the seconds to wait after a rate limit, for places without a countdown. */
  get text() {
    return this.kind === "limit" ? `${this.message} Try again in ${this.wait} s.` : this.message;
  }
}

/** An address on the server, relative to the page's address. */
export const address = (path) => new URL(path.replace(/^\//, ""), document.baseURI).href.replace(/#.*$/, "");

function limitsOf(headers) {
  const limits = {};
  for (const name of HEADERS) if (headers.has(name)) limits[name] = headers.get(name);
  return limits;
}

/** The seconds that the server asks to wait, from one of its headers, or null. */
function secondsToWait(limits) {
  for (const name of ["retry-after", "ratelimit-reset"]) {
    const text = limits[name];
    if (text === undefined) continue;
    const seconds = Number(text);
    if (Number.isFinite(seconds)) return Math.max(1, Math.ceil(seconds));
    const date = Date.parse(text);
    if (Number.isFinite(date)) return Math.max(1, Math.ceil((date - Date.now()) / 1000));
  }
  return null;
}

/** One call: status, headers and body as received. Throws only when there is no answer. */
export async function call(method, url, { body, signal } = {}) {
  const headers = { Accept: "application/json" };
  if (body !== undefined) headers["Content-Type"] = "application/json";
  if (key) headers["X-OPENFIGI-APIKEY"] = key;
  let response, text;
  try {
    response = await fetch(url, {
      method, headers, signal, credentials: "same-origin", cache: "no-store",
      body: body === undefined ? undefined : typeof body === "string" ? body : JSON.stringify(body),
    });
    text = await response.text();
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Failure("away", "The server cannot be reached. Check the connection, or try again in a moment.");
  }
  let data;
  try { data = JSON.parse(text); } catch { /* plain text */ }
  return { status: response.status, data, text, limits: limitsOf(response.headers) };
}

/** The server's error text, from JSON or short plain text, or "". */
function errorText(answer) {
  if (typeof answer.data?.error === "string") return answer.data.error;
  if (answer.data === undefined && answer.text.length < 200 && !answer.text.includes("<")) return answer.text.trim();
  return "";
}

function failureOf(answer) {
  const status = answer.status;
  const wait = secondsToWait(answer.limits);
  const own = errorText(answer);
  const failure = (kind, message, seconds = wait) => new Failure(kind, message, { status, wait: seconds, own, limits: answer.limits });
  switch (status) {
    case 400:
      return own === "Invalid enum field."
        ? failure("enum", "A filter has a value that this server does not know. Remove it, or choose one from the list.")
        : failure("request", `The server did not understand the request${own ? `: ${own}` : "."}`);
    case 401: return failure("key", "The API key was not accepted. Correct or remove it on the page Bulk mapping or Reference.");
    case 404: return failure("missing", own || "The server has nothing at this address.");
    case 413: return failure("large", "The request was too large for the server.");
    case 429: {
      const allowed = answer.limits["ratelimit-limit"];
      return failure("limit", `The server’s request limit is reached${allowed ? ` (${policy(answer.limits)})` : ""}.`, wait ?? 60);
    }
    case 502: case 503: case 504: return failure("busy", "The server is unavailable or overloaded.");
    default:
      return failure(status >= 500 ? "broken" : "request",
        status >= 500 ? `The server failed with an internal error (${status}).` : `The server refused the request (${status}${own ? `: ${own}` : ""}).`);
  }
}

/** `25 requests in 60 s`, from the rate-limit headers. */
export function policy(limits) {
  const allowed = limits["ratelimit-limit"];
  const window = /w=(\d+)/.exec(limits["ratelimit-policy"] ?? "")?.[1];
  return `${allowed} requests${window ? ` in ${window} s` : ""}`;
}

/** A call whose answer is 200 with JSON; otherwise it throws a Failure. */
async function ask(method, path, options) {
  const answer = await call(method, address(path), options);
  if (answer.status !== 200) throw failureOf(answer);
  if (answer.data === undefined) throw new Failure("request", "The server’s answer could not be read.");
  return answer;
}

/** Suggestions, and the `finding` and the `correction` of a text with a wrong check digit. */
export async function suggest(query, filters, signal) {
  const parameters = new URLSearchParams([["query", query], ["limit", "10"], ...filters]);
  const { data } = await ask("GET", `suggest?${parameters}`, { signal });
  return { rows: data.data ?? [], reading: data.reading ?? null, finding: data.finding ?? "", correction: data.correction ?? "" };
}

/**
 * A page of what a text means: `securities`, the rows that represent them; `data`, the rows that the
 * search finds; and the `reading` of the text, or null. `left` is the number of requests that the
 * server still allows.
 */
export async function find(parameters, start, signal) {
  const asked = new URLSearchParams([...parameters, ...(start ? [["start", start]] : [])]);
  const { data, limits } = await ask("GET", `find?${asked}`, { signal });
  return {
    securities: data.securities ?? [], data: data.data ?? [], next: data.next, reading: data.reading ?? null,
    finding: data.finding ?? "", correction: data.correction ?? "", limits, left: Number(limits["ratelimit-remaining"] ?? Infinity),
  };
}

/**
 * A page of `search` or `filter`. A proxy may have wrapped it in an array. `left` is the number of
 * requests that the server still allows, from the rate-limit headers in `limits`.
 */
export async function page(endpoint, body, signal) {
  const { data, limits } = await ask("POST", `v3/${endpoint}`, { body, signal });
  const found = Array.isArray(data) ? data[0] : data;
  if (found?.error) throw new Failure("question", found.error);
  return { data: found?.data ?? [], next: found?.next, total: found?.total, limits, left: Number(limits["ratelimit-remaining"] ?? Infinity) };
}

export async function instrument(figi, signal) {
  return (await ask("GET", `instruments/${encodeURIComponent(figi)}`, { signal })).data;
}

/** The versions of one instrument, newest first; null if the index keeps no past or does not know the FIGI. */
export async function history(figi, signal) {
  const answer = await call("GET", address(`instruments/${encodeURIComponent(figi)}/history`), { signal });
  if (answer.status === 404) return null;
  if (answer.status !== 200) throw failureOf(answer);
  return answer.data;
}

/**
 * Resolves a batch of identifiers. `jobs` are texts or mapping jobs. With `candidates`, results of
 * unknown names have the securities that may be meant. `asOf` is a day, or "" for today.
 * @returns {Promise<{results: object[], generation: string, limits: object}>} the results in the
 * order of the jobs; `limits` are the rate-limit headers and when they came, `{headers, at}`
 */
export async function resolve({ jobs, prefer, fields, unlisted, isMany, candidates, asOf }, signal) {
  const body = { jobs, prefer, fields, ...(unlisted ? { includeUnlistedEquities: true } : {}), ...(candidates ? { candidates } : {}), ...(asOf ? { asOf } : {}) };
  const { data, limits } = await ask("POST", isMany ? "resolve?many=all" : "resolve", { body, signal });
  if (data.results?.length !== jobs.length) {
    throw new Failure("request", "The server returned a different number of results than identifiers were sent.");
  }
  return { results: data.results, generation: String(data.generation), limits: { headers: limits, at: Date.now() } };
}

/** The types of the columns of a table, in `columns`: `{idType, share}` for each, or `{}`. */
export async function recogniseColumns(columns, headings, signal) {
  const { data, limits } = await ask("POST", "resolve", { body: { columns, headings }, signal });
  if (data.columns?.length !== columns.length) throw new Failure("request", "The server’s answer could not be read.");
  return { columns: data.columns, limits: { headers: limits, at: Date.now() } };
}

/** The counts of instruments: `{total, facets}`, with at most `limit` values per property. */
export async function facets(parameters, properties, limit, signal) {
  const asked = new URLSearchParams([...parameters, ["properties", properties.join()], ["limit", limit]]);
  return (await ask("GET", `facets?${asked}`, { signal })).data;
}

/** The answer of `GET /about`. */
export const about = async (signal) => (await ask("GET", "about", { signal })).data;

let document_;
/** The OpenAPI document. It is fetched once, or again after a failure. */
export function schema() {
  document_ ??= ask("GET", "schema", {}).then(({ data }) => data);
  document_.catch(() => { document_ = undefined; });
  return document_;
}
