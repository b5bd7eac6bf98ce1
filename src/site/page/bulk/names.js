// Unknown texts may be names. The server says which securities may be meant (contract 17.15), and a
// person confirms one of them by a click. Nothing is chosen here.

import * as api from "../shared/api.js";
import { fewerJobs, jobsStated } from "./batch.js";

/**
 * The most names of one request: the server counts each of them as much as ten identifiers. It may
 * allow fewer.
 */
export const NAMES_MAX = 100;

/** A word with small letters, several words, or a text of a script without capitals. */
const NAME = /\p{L}\p{Ll}{2}|\p{L}{3,}[\s.]+\p{L}{3,}|[\p{Lo}ー]{2}/u;

/** Whether a text may be the name of a security: it looks like one, and was read without a type. */
export function canBeName({ text, answer, chosen, candidates, job }) {
  if (chosen || candidates || job.as || job.idType || !NAME.test(text)) return false;
  return (answer?.status === "unknown" && !answer.correction) || (answer?.status === "ambiguous" && Boolean(answer.reason));
}

/**
 * Asks for the candidates of the first `most` of these entries, or of as many as the server allows,
 * and keeps them there.
 * @returns {Promise<number>} the names that the next request may have; 0 if the server gives no
 * candidates at all
 */
export async function securitiesFor(entries, most, options) {
  const asked = entries.slice(0, most);
  try {
    const { results, limits } = await api.resolve({ ...options, isMany: false, candidates: true, jobs: asked.map(({ job }) => job) });
    results.forEach(({ candidates }, place) => { asked[place].candidates = candidates ?? []; });
    return Math.min(NAMES_MAX, jobsStated(limits.headers) || most);
  } catch (failure) {
    if (failure.status === 400) return 0; // a server without this option
    const fewer = failure.kind === "large" ? fewerJobs(asked.length, failure.limits) : 0;
    if (!fewer) throw failure;
    return securitiesFor(entries, fewer, options);
  }
}
