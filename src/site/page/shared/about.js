// What the server says of its data: how many instruments, of which day, the names of exchanges, and
// examples that find something. Asked once. A server that does not say it has no names.

import * as api from "./api.js";

const NOTHING = { exchanges: {} };
const WAIT_MS = 3000;

let known = NOTHING, asked;

/** `{instruments, built, sample, exchanges, examples}`, or only `{exchanges: {}}`. Never fails. */
export function about() {
  asked ??= api.about(AbortSignal.timeout(WAIT_MS))
    .then((data) => { known = { ...NOTHING, ...data }; })
    .catch(() => {})
    .then(() => known);
  return asked;
}

/** The name of an exchange code, or ""; known once `about()` is answered. */
export const exchangeName = (code) => (Object.hasOwn(known.exchanges, code ?? "") ? known.exchanges[code] : "");
