// Back closes what is open over a view, such as a list to choose from, and stays in the view. While
// something is open, the history has an entry more, with the same address. If it closes in another
// way, the entry stays as a spare one: the next opening or address takes its place.

let close = null; // closes what is open
let address = location.href;
let wasSpare = isSpare();

/** Whether the current entry is one of this module. */
export function isSpare() {
  return history.state?.layer === true;
}

/** Something was opened. `closing` closes it. */
export function opened(closing) {
  close = closing;
  if (!isSpare()) history.pushState({ ...history.state, layer: true }, "");
  [wasSpare, address] = [true, location.href];
}

/** It was closed, other than by Back. */
export function closed() {
  close = null;
}

addEventListener("hashchange", () => { [wasSpare, address] = [isSpare(), location.href]; });
addEventListener("popstate", () => {
  const isSame = address === location.href;
  const closing = isSame ? close : null;
  close = null;
  const skips = isSame && wasSpare && !closing && !isSpare();
  [wasSpare, address] = [isSpare(), location.href];
  if (closing) closing();
  else if (skips) history.back(); // the spare entry looked like this one
});
