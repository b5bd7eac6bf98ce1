// The description of the server's data: the number of instruments, their day, the vendors of symbols,
// the names of exchanges, and examples that find something. It is fetched once. If that fails, exchanges have no
// names.

import * as api from "./api.js";

const NOTHING = { exchanges: {} };
const WAIT_MS = 3000;

let known = NOTHING, asked;

/** `{instruments, built, coverage, sample, symbols, exchanges, examples}`, where `coverage` is `{since, until}` if the index keeps one; or only `{exchanges: {}}`. Never fails. */
export function about() {
  asked ??= api.about(AbortSignal.timeout(WAIT_MS))
    .then((data) => { known = { ...NOTHING, ...data }; })
    .catch(() => {})
    .then(() => known);
  return asked;
}

/** The name of an exchange code, or ""; known once `about()` is answered. */
export const exchangeName = (code) => (Object.hasOwn(known.exchanges, code ?? "") ? known.exchanges[code] : "");
