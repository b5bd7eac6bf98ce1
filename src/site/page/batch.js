// Sends many jobs, a batch at a time: keeps to the server's limits, waits as the server asks, tries
// again when it is unavailable, and can be stopped and continued.

import * as api from "./api.js";
import { duration } from "./dom.js";

const WITHOUT_KEY = 10;
const WITH_KEY = 100;
const TRIES_MAX = 10;

/**
 * @param {{job: object}[]} jobs
 * @param {{onResults: (from: number, results: object[]) => void, onState: (state: object) => void}} listeners
 * @returns a run with `state`, `start()`, `cancel()` and `hurry()`, which ends a wait
 */
export function run(jobs, { onResults, onState }) {
  const state = { phase: "ready", done: 0, words: "", until: 0, remaining: null };
  let abort, wake, size = Infinity, tries = 0, limits = {}, busyMs = 0, requests = 0;
  const setState = (phase, words = "", until = 0) => {
    Object.assign(state, { phase, words, until, remaining: remaining() });
    onState(state);
  };

  async function start() {
    abort = new AbortController();
    const { signal } = abort;
    setState("running");
    while (state.done < jobs.length && !signal.aborted) {
      const batch = jobs.slice(state.done, state.done + batchSize());
      const began = performance.now();
      try {
        const answer = await api.map(batch.map(({ job }) => job), signal);
        busyMs += performance.now() - began;
        requests += 1;
        tries = 0;
        limits = answer.limits;
        onResults(state.done, answer.results);
        state.done += batch.length;
        setState("running");
        // Waiting for the next window spares the server a refusal, and is not slower.
        if (limits["ratelimit-remaining"] === "0" && state.done < jobs.length) {
          await pause(Number(limits["ratelimit-reset"]) || 1,
            `The server allows ${api.policy(limits)}${api.hasKey() ? "" : " without a key"}. Continuing`, signal);
        }
      } catch (failure) {
        if (signal.aborted || failure.name === "AbortError") break;
        if (!(failure instanceof api.Failure)) throw failure;
        if (!await recover(failure, signal)) return;
      }
    }
    if (signal.aborted) setState("cancelled");
    else setState("done");
  }

  /** Whether to go on after a failure. */
  async function recover(failure, signal) {
    switch (failure.kind) {
      case "limit":
        await pause(failure.wait, `${failure.message} Continuing`, signal);
        return true;
      case "large":
        if (batchSize() > 1) {
          size = batchSize() > WITHOUT_KEY ? WITHOUT_KEY : Math.floor(batchSize() / 2);
          setState("running", `The server allows fewer identifiers in one request: continuing with ${size}.`);
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
      wake = end;
      signal.addEventListener("abort", end);
    });
  }

  const batchSize = () => Math.min(size, api.hasKey() ? WITH_KEY : WITHOUT_KEY);

  /** The estimated seconds for the rest, from the server's headers and its speed so far. */
  function remaining() {
    if (!requests) return null;
    const left = Math.ceil((jobs.length - state.done) / batchSize());
    const atPace = (left * busyMs) / requests / 1000;
    const allowed = Number(limits["ratelimit-limit"]);
    const window = Number(/w=(\d+)/.exec(limits["ratelimit-policy"] ?? "")?.[1] ?? 60);
    if (!allowed) return atPace;
    const over = left - Number(limits["ratelimit-remaining"] ?? 0);
    const windows = Math.ceil(over / allowed);
    return over <= 0 ? atPace : Math.max(atPace, Number(limits["ratelimit-reset"] ?? window) + (windows - 1) * window);
  }

  return { state, start, cancel: () => abort?.abort(), hurry: () => wake?.() };
}

/** The number of requests for this many jobs, and their time at the usual limits as a text. */
export function estimate(jobs) {
  const perRequest = api.hasKey() ? WITH_KEY : WITHOUT_KEY;
  const window = api.hasKey() ? 6 : 60;
  const requests = Math.ceil(jobs / perRequest);
  const seconds = (Math.ceil(requests / 25) - 1) * window;
  return { requests, words: seconds <= 0 ? "a few seconds" : `about ${duration(Math.max(seconds, 6))}` };
}
