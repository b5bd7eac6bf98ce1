// A failure told where the answer would stand: in clear words, with the seconds to wait
// counted down, and a way on.

import { el, fill, say, duration } from "./dom.js";

/**
 * The notice of a Failure. With seconds to wait it tries again by itself when they are
 * over; otherwise it offers a button. It stops when it leaves the page.
 */
export function notice(failure, retry) {
  const clock = el("span", { class: "clock", "aria-hidden": "true" });
  const box = el("div", { class: `notice ${failure.kind}` }, el("p", {}, failure.message, " ", clock));
  const again = (label) => el("button", { type: "button", on: { click: () => retry() } }, label);
  if (failure.kind === "limit") {
    countdown(failure.wait, box, (left) => {
      fill(clock, `It opens again in ${duration(left)}; this page then goes on by itself.`);
    }, retry);
    say(`${failure.message} It opens again in ${duration(failure.wait)}. This page then goes on by itself.`);
  } else {
    say(failure.message);
    if (["away", "busy", "broken", "request"].includes(failure.kind)) box.append(again("Try again"));
  }
  return box;
}

/** Calls `tick` with the seconds left, and `done` at the end while `element` is on the page. */
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
