// The server, as functions. Every answer is `{status, data, text, limits}`, and every
// failure a `Failure` with words for people and, where waiting helps, the seconds to wait.
// Addresses are relative to the page, so that a proxy may serve it all under a path.

const HEADERS = ["ratelimit-limit", "ratelimit-remaining", "ratelimit-reset", "ratelimit-policy", "retry-after"];

let key = "";
/** The API key lives in this variable alone: it is gone with the page. */
export const setKey = (value) => { key = value.trim(); };
export const getKey = () => key;
export const hasKey = () => key !== "";

/** What went wrong, told to a person; `kind` is for programs. */
export class Failure extends Error {
  constructor(kind, words, { status = 0, wait = null } = {}) {
    super(words);
    this.kind = kind;
    this.status = status;
    this.wait = wait;
  }

  /** The words with the seconds to wait, for places that do not count them down. */
  get told() {
    return this.kind === "limit" ? `${this.message} It opens again in ${this.wait} s.` : this.message;
  }
}

/** An address of the server, from the page's own. */
export const address = (path) => new URL(path.replace(/^\//, ""), document.baseURI).href.replace(/#.*$/, "");

function limitsOf(headers) {
  const limits = {};
  for (const name of HEADERS) if (headers.has(name)) limits[name] = headers.get(name);
  return limits;
}

/** Seconds that the server asks to wait, from whichever header it sent. */
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

/** One call: status, headers and body as they came. Throws only when there is no answer. */
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

/** The words of the server's own error, from JSON or plain text, where they are short. */
function told(answer) {
  if (typeof answer.data?.error === "string") return answer.data.error;
  if (answer.data === undefined && answer.text.length < 200 && !answer.text.includes("<")) return answer.text.trim();
  return "";
}

function failureOf(answer) {
  const status = answer.status;
  const wait = secondsToWait(answer.limits);
  const own = told(answer);
  const failure = (kind, words, seconds = wait) => new Failure(kind, words, { status, wait: seconds });
  switch (status) {
    case 400:
      return own === "Invalid enum field."
        ? failure("enum", "A filter has a value that this server does not know. Remove it, or choose one from the list.")
        : failure("request", `The server did not understand the request${own ? `: ${own}` : "."}`);
    case 401: return failure("key", "The API key was not accepted. Correct it, on the page Bulk mapping or Reference, or leave it empty there.");
    case 404: return failure("missing", own || "The server has nothing at this address.");
    case 413: return failure("large", "The request was too large for the server.");
    case 429: {
      const allowed = answer.limits["ratelimit-limit"];
      return failure("limit", `The server’s request limit is reached${allowed ? ` (${policy(answer.limits)})` : ""}.`, wait ?? 60);
    }
    case 502: case 503: case 504: return failure("busy", "The server is taking a break or is overloaded.");
    default:
      return failure(status >= 500 ? "broken" : "request",
        status >= 500 ? `The server failed with an error of its own (${status}).` : `The server refused the request (${status}${own ? `: ${own}` : ""}).`);
  }
}

/** `25 requests in 60 s`, from the rate-limit headers. */
export function policy(limits) {
  const allowed = limits["ratelimit-limit"];
  const window = /w=(\d+)/.exec(limits["ratelimit-policy"] ?? "")?.[1];
  return `${allowed} requests${window ? ` in ${window} s` : ""}`;
}

/** A call whose answer is good JSON, or a Failure. */
async function ask(method, path, options) {
  const answer = await call(method, address(path), options);
  if (answer.status !== 200) throw failureOf(answer);
  if (answer.data === undefined) throw new Failure("request", "The server’s answer could not be read.");
  return answer;
}

export async function suggest(query, filters, signal) {
  const parameters = new URLSearchParams([["query", query], ["limit", "10"], ...filters]);
  const { data } = await ask("GET", `suggest?${parameters}`, { signal });
  return data.data ?? [];
}

/** A page of `search` or `filter`. An operator may have wrapped it in an array of one. */
export async function page(endpoint, body, signal) {
  const { data } = await ask("POST", `v3/${endpoint}`, { body, signal });
  const found = Array.isArray(data) ? data[0] : data;
  if (found?.error) throw new Failure("question", found.error);
  return { data: found?.data ?? [], next: found?.next, total: found?.total };
}

export async function instrument(figi, signal) {
  return (await ask("GET", `instruments/${encodeURIComponent(figi)}`, { signal })).data;
}

/** The results of a batch of jobs, in their order, and the rate-limit headers. */
export async function map(jobs, signal) {
  const { data, limits } = await ask("POST", "v3/mapping", { body: jobs, signal });
  if (!Array.isArray(data) || data.length !== jobs.length) {
    throw new Failure("request", "The server answered another number of identifiers than were asked.");
  }
  return { results: data, limits };
}

const lists = new Map();
/** The values that a filter may have; asked for once. */
export function values(name) {
  if (name === "optionType") return Promise.resolve(["Call", "Put"]);
  if (!lists.has(name)) {
    const list = ask("GET", `v3/mapping/values/${name}`, {}).then(({ data }) => {
      if (data.error) throw new Failure("question", data.error);
      return data.values ?? [];
    });
    lists.set(name, list);
    list.catch(() => lists.delete(name)); // a failure is asked again
  }
  return lists.get(name);
}

let document_;
/** The OpenAPI document; asked for once. */
export function schema() {
  document_ ??= ask("GET", "schema", {}).then(({ data }) => data);
  document_.catch(() => { document_ = undefined; });
  return document_;
}
