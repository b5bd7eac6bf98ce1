// A person's choice for one identifier counts for the other identifiers of the list that may mean the
// same row, such as the ISIN and the CUSIP of one security.

import * as api from "../shared/api.js";

/** The most identifiers that are asked about again for one choice. */
const ASKED_MAX = 100;

/** A text that is written like a name has a reason: its matches are rows with it as their ticker. */
const isOpen = ({ answer, chosen }) => answer?.status === "ambiguous" && !answer.reason && !chosen;

/**
 * Chooses the row of `entry` for all other undecided identifiers that have it among their matches.
 * @returns {Promise<object[]>} these entries; each `follows` the entry
 */
export async function followed(entry, entries, options) {
  const { chosen } = entry;
  const others = [];
  const follow = (other, match) => {
    Object.assign(other, { chosen: match, follows: entry });
    others.push(other);
  };
  const hidden = [];
  for (const other of entries) {
    if (other === entry || !isOpen(other)) continue;
    const { data = [], matches } = other.answer;
    const match = data.find(({ figi }) => figi === chosen.figi);
    if (match) follow(other, match);
    // An answer has the first matches only.
    else if (matches > data.length && data.some(({ shareClassFIGI }) => shareClassFIGI && shareClassFIGI === chosen.shareClassFIGI)) hidden.push(other);
  }
  const asked = hidden.slice(0, ASKED_MAX);
  if (!asked.length) return others;
  const { results } = await api.resolve({ ...options, isMany: true, jobs: asked.map((other) => other.asked ?? other.job) }).catch(() => ({ results: [] }));
  results.forEach(({ data }, place) => {
    const match = data?.find(({ figi }) => figi === chosen.figi);
    if (match && entry.chosen === chosen && isOpen(asked[place])) follow(asked[place], match);
  });
  return others;
}
