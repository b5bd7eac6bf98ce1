// The list survives a reload: it is kept in the session storage of this tab, and nowhere else, since
// holdings are confidential. It is gone with the tab. A list that does not fit is not kept; then
// leaving the page asks first.

const TEXT = "figdex-list", SETTINGS = "figdex-list-settings";
/** Browsers keep about 5 MB. */
const CHARACTERS_MAX = 5_000_000;

/** Keeps a text. Returns whether it is kept. */
export function keepText(text) {
  forget();
  return !text || (text.length <= CHARACTERS_MAX && store(TEXT, text));
}

/** Keeps what a person has chosen for the list. */
export const keepSettings = (settings) => store(SETTINGS, JSON.stringify(settings));

/** The kept text, or "", and the settings, or null. */
export function kept() {
  try {
    return { text: sessionStorage.getItem(TEXT) ?? "", settings: JSON.parse(sessionStorage.getItem(SETTINGS) ?? "null") };
  } catch {
    return { text: "", settings: null };
  }
}

function forget() {
  try {
    sessionStorage.removeItem(TEXT);
  } catch { /* nothing was kept */ }
}

function store(name, text) {
  try {
    sessionStorage.setItem(name, text);
    return true;
  } catch { // it is full, or the browser has none
    return false;
  }
}

const guard = (event) => event.preventDefault();
const reasons = new Set();

/** Whether leaving the page would lose something, for one of several reasons. */
export function warnOnLeaving(reason, isLoss) {
  if (isLoss) reasons.add(reason);
  else reasons.delete(reason);
  if (reasons.size) addEventListener("beforeunload", guard);
  else removeEventListener("beforeunload", guard);
}
