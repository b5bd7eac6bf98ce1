// Addresses of views: `#/name/rest?parameters`. The hash is the whole state of the view, so that
// back, forward, reload and a link sent to a colleague all show the same.

import { isSpare } from "./back.js";

/** The route that the address bar names. */
export function current() {
  const hash = location.hash.replace(/^#\/?/, "");
  const [path, parameters = ""] = split(hash, "?");
  const [name, ...rest] = path.split("/").filter(Boolean).map(decoded);
  return { name: name || "home", rest, parameters: new URLSearchParams(parameters), hash };
}

function split(text, at) {
  const place = text.indexOf(at);
  return place < 0 ? [text] : [text.slice(0, place), text.slice(place + 1)];
}

function decoded(text) {
  try { return decodeURIComponent(text); } catch { return text; }
}

export const href = {
  home: () => "#/",
  instrument: (figi) => `#/instrument/${encodeURIComponent(figi)}`,
  search: (parameters) => {
    const text = String(parameters);
    return text ? `#/search?${text}` : "#/search";
  },
};

/** Goes to an address, as a link would. */
export function go(to) {
  if (isSpare()) {
    history.replaceState(null, "", to);
    dispatchEvent(new HashChangeEvent("hashchange"));
  } else if (location.hash === to) dispatchEvent(new HashChangeEvent("hashchange"));
  else location.hash = to;
}

/** Calls `show` for the current route and for every later one. */
export function start(show) {
  addEventListener("hashchange", () => {
    // `#view` is the target of the skip link, not a route.
    if (location.hash === "#view") return;
    show(current());
  });
  // A link takes the place of a spare entry too.
  addEventListener("click", (event) => {
    const to = event.target.closest?.("a[href^='#/']")?.getAttribute("href");
    if (!to || !isSpare() || event.defaultPrevented || event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    go(to);
  });
  show(current());
}
