// Sends many jobs in batches. Respects the server's limits, waits as long as the server asks, and
// tries again when the server is unavailable. Can be stopped and continued.

import * as api from "../shared/api.js";
import { count, counted, duration } from "../shared/dom.js";

/** The most jobs of one request. A first request for all matches has at most `JOBS_MAX_MANY`. */
const JOBS_MAX = 1000;
const JOBS_MAX_MANY = 100;
/** The jobs of a first request, before the server's limits are known. */
const FIRST_JOBS = 100;
const TRIES_MAX = 10;

/** The number of jobs that count as one request: the server's, or else the default. */
const jobsPerRequest = (headers) => Number(headers["figdex-jobs-per-request"]) || (api.hasKey() ? 100 : 10);

/** The most jobs of a request, as the server's headers state it; 0 if they do not. */
export const jobsStated = (headers) => Number(headers["figdex-jobs-per-list"]) || 0;

/** The jobs to send when a request of `sent` jobs was too large: as the server states, or else half of them. */
export function fewerJobs(sent, headers) {
  const allowed = jobsStated(headers);
  return allowed > 0 && allowed < sent ? allowed : Math.floor(sent / 2);
}

/** The most jobs of a request: the server's maximum, but no more than useful. */
const jobsPerList = (limits) => Math.min(JOBS_MAX, jobsStated(limits?.headers ?? {}) || JOBS_MAX);

/** The rate-limit headers of an answer as numbers; null from a server without limits. */
function rateOf({ headers, at }) {
  const most = Number(headers["ratelimit-limit"]);
  if (!most) return null;
  const window = Number(/w=(\d+)/.exec(headers["ratelimit-policy"] ?? "")?.[1] ?? 60);
  return { most, window, each: jobsPerRequest(headers), left: Number(headers["ratelimit-remaining"] ?? 0), reset: at + 1000 * Number(headers["ratelimit-reset"] ?? window) };
}

/** The number of requests that are left now, and the seconds until there are more. */
const now = (rate) => (Date.now() < rate.reset
  ? { left: rate.left, reset: (rate.reset - Date.now()) / 1000 }
  : { left: rate.most, reset: rate.window });

/** The seconds that this many jobs must wait because of the server's limit. */
function waiting(jobs, rate) {
  if (!rate) return 0;
  const { left, reset } = now(rate);
  const over = Math.ceil(jobs / rate.each) - left;
  return over <= 0 ? 0 : reset + (Math.ceil(over / rate.most) - 1) * rate.window;
}

/** The results before the first one whose job must be sent again; at least one result. */
function withRoom(results) {
  const end = results.findIndex(({ askAgain }) => askAgain);
  return end < 0 ? results : results.slice(0, Math.max(1, end));
}

/** The cost of this many jobs, as a sentence. `limits` are the headers of an answer, or null. */
export function estimate(jobs, limits) {
  if (!limits || !jobs) return jobs ? "" : "There is nothing to send.";
  const rate = rateOf(limits);
  if (!rate) return "This server sets no limit: nothing has to wait.";
  const cost = `They count as ${counted(Math.ceil(jobs / rate.each), "request")}; the server allows ${api.policy(limits.headers)}`;
  const seconds = waiting(jobs, rate);
  return seconds ? `${cost}: about ${duration(seconds)}.${api.hasKey() ? "" : " An API key makes it much faster."}` : `${cost}: nothing has to wait.`;
}

/**
 * @param {{job: object}[]} jobs
 * @param {object} options what every request has besides its jobs
 * @param {{onResults: (from: number, answer: object) => void, onState: (state: object) => void}} listeners
 * @returns a run with `state`, `start()`, `cancel()` and `hurry()`, which ends a wait
 */
export function run(jobs, options, limits, { onResults, onState }) {
  const state = { phase: "ready", done: 0, words: "", until: 0, remaining: null };
  let rate = limits ? rateOf(limits) : undefined; // undefined: not known yet
  let abort, wake, size = jobsPerList(limits), fitting = options.isMany ? JOBS_MAX_MANY : JOBS_MAX, tries = 0, busyMs = 0;
  const setState = (phase, words = "", until = 0) => {
    Object.assign(state, { phase, words, until, remaining: remaining() });
    onState(state);
  };

  async function start() {
    abort = new AbortController();
    const { signal } = abort;
    setState("running");
    while (state.done < jobs.length && !signal.aborted) {
      if (rate && now(rate).left < 1) {
        // Waiting for the next window spares the server a refusal, and takes no longer.
        await pause(now(rate).reset, `The server allows ${count(rate.most)} requests in ${rate.window} s${api.hasKey() ? "" : " without a key"}. Continuing`, signal);
        continue;
      }
      const batch = jobs.slice(state.done, state.done + batchSize());
      const began = performance.now();
      try {
        const answer = await api.resolve({ ...options, jobs: batch.map(({ job }) => job) }, signal);
        busyMs += performance.now() - began;
        tries = 0;
        rate = rateOf(answer.limits);
        size = Math.min(size, jobsPerList(answer.limits));
        const results = withRoom(answer.results);
        // When rows had no room in one answer, the next requests are smaller, and then grow again.
        if (results.length < batch.length) fitting = results.length;
        else if (batch.length >= fitting) fitting = Math.min(JOBS_MAX, 2 * fitting);
        onResults(state.done, { ...answer, results });
        state.done += results.length;
        setState("running");
      } catch (failure) {
        if (signal.aborted || failure.name === "AbortError") break;
        if (!(failure instanceof api.Failure)) throw failure;
        if (!await recover(failure, batch.length, signal)) return;
      }
    }
    setState(signal.aborted ? "cancelled" : "done");
  }

  /** Recovers from a failure, perhaps after a wait. Returns whether to go on. */
  async function recover(failure, sent, signal) {
    switch (failure.kind) {
      case "limit":
        rate = undefined; // the wait is that of the refusal
        await pause(failure.wait, `${failure.message} Continuing`, signal);
        return true;
      case "large":
        if (sent > 1) {
          size = fewerJobs(sent, failure.limits);
          setState("running", `The server allows fewer identifiers in one request: continuing with ${count(size)}.`);
          return true;
        }
        break;
      case "away": case "busy": case "broken":
        tries += 1;
        if (tries < TRIES_MAX) {
          const seconds = Math.max(failure.wait ?? 0, Math.min(60, 2 ** tries));
          await pause(seconds, `${failure.message} Nothing is lost. Trying again`, signal);
          return true;
        }
        break;
      default:
    }
    tries = 0;
    setState("stopped", failure.message);
    return false;
  }

  function pause(seconds, words, signal) {
    setState("waiting", words, Date.now() + seconds * 1000);
    return new Promise((resolve) => {
      const end = () => {
        clearTimeout(timer);
        signal.removeEventListener("abort", end);
        if (!signal.aborted) setState("running");
        resolve();
      };
      const timer = setTimeout(end, seconds * 1000);
      wake = () => { rate = undefined; end(); };
      signal.addEventListener("abort", end);
    });
  }

  function batchSize() {
    const fits = rate === undefined ? FIRST_JOBS : rate === null ? JOBS_MAX : now(rate).left * rate.each;
    return Math.max(1, Math.min(size, fitting, fits));
  }

  /** The estimated seconds for the rest, from the server's headers and its speed so far. */
  function remaining() {
    if (!state.done) return null;
    const left = jobs.length - state.done;
    return Math.max((left * busyMs) / state.done / 1000, waiting(left, rate));
  }

  return { state, start, cancel: () => abort?.abort(), hurry: () => wake?.() };
}
