// The notice of a failure, shown in place of the answer: its message, a countdown of the seconds
// to wait, and a button to try again.

import { el, fill, say, duration } from "./dom.js";

/**
 * The notice of a Failure. After a rate limit it waits, then tries again automatically, unless it
 * has left the page. After other failures that may pass, it offers a button.
 */
export function notice(failure, retry) {
  const clock = el("span", { class: "clock", "aria-hidden": "true" });
  const box = el("div", { class: `notice ${failure.kind}` }, el("p", {}, failure.message, " ", clock));
  const again = (label) => el("button", { type: "button", on: { click: () => retry() } }, label);
  if (failure.kind === "limit") {
    countdown(failure.wait, box, (left) => {
      fill(clock, `This page tries again in ${duration(left)}.`);
    }, retry);
    say(`${failure.message} This page tries again in ${duration(failure.wait)}.`);
  } else {
    say(failure.message);
    if (["away", "busy", "broken", "request"].includes(failure.kind)) box.append(again("Try again"));
  }
  return box;
}

/** Calls `tick` with the seconds left, then `done`. Stops when `element` leaves the page. */
export function countdown(seconds, element, tick, done) {
  const end = Date.now() + seconds * 1000;
  let wasShown = false;
  const beat = () => {
    wasShown ||= element.isConnected;
    if (wasShown && !element.isConnected) return;
    const left = Math.max(0, Math.ceil((end - Date.now()) / 1000));
    tick(left);
    if (left === 0) done();
    else setTimeout(beat, Math.min(1000, Math.max(50, end - Date.now() - (left - 1) * 1000)));
  };
  beat();
}
