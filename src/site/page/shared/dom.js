// Builds elements. Text from a server becomes text nodes and is never parsed as HTML. Also has
// helpers for every view: announcements to screen readers, copying, and number formats.

const SVG = "http://www.w3.org/2000/svg";

/**
 * A new element. `properties`: `class`, `on` (listeners by event), `data` (data-*), and attributes
 * by their names; an attribute that is false, null or undefined is left out. Children are nodes or
 * texts, in lists of any depth; null and false are skipped.
 */
export function el(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === false || value === null || value === undefined) continue;
    if (name === "class") element.className = value;
    else if (name === "on") {
      for (const [event, listener] of Object.entries(value)) element.addEventListener(event, listener);
    } else if (name === "data") Object.assign(element.dataset, value);
    else if (name === "value" || name === "checked" || name === "disabled") element[name] = value;
    else element.setAttribute(name, value === true ? "" : value);
  }
  add(element, children);
  return element;
}

function add(element, children) {
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    element.append(child instanceof Node ? child : String(child));
  }
}

/** Replaces the content of `element` by `children`. */
export function fill(element, ...children) {
  element.replaceChildren();
  add(element, children);
  return element;
}

/** Like `fill`, for a whole view. The focus stays on the title if it was there. */
export function fillView(view, ...children) {
  const hadTitle = document.activeElement?.id === "title";
  fill(view, ...children);
  if (hadTitle) document.getElementById("title")?.focus({ preventScroll: true });
  return view;
}

const ICONS = {
  copy: ["M5.5 5.5V3h7.5v7.5h-2.5", "M3 5.5h7.5V13H3z"],
  tick: ["M3 8.5 6.5 12 13 4.5"],
  cross: ["m4 4 8 8m0-8-8 8"],
  down: ["m4 6 4 4 4-4"],
  file: ["M4 2h5l3 3v9H4z", "M9 2v3h3"],
  save: ["M8 2v8m0 0 3-3m-3 3L5 7", "M3 13h10"],
  run: ["M5 3.5v9l7-4.5z"],
};

/** An icon, hidden from screen readers: the button around it has a label. */
export function icon(name) {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", "0 0 16 16");
  svg.setAttribute("width", "14");
  svg.setAttribute("height", "14");
  svg.setAttribute("aria-hidden", "true");
  for (const d of ICONS[name]) {
    const path = document.createElementNS(SVG, "path");
    path.setAttribute("d", d);
    path.setAttribute("fill", "none");
    path.setAttribute("stroke", "currentColor");
    path.setAttribute("stroke-width", "1.5");
    svg.append(path);
  }
  return svg;
}

/** Announces a text to screen readers, even if it equals the last one. */
export function say(words) {
  const region = document.getElementById("said");
  region.textContent = "";
  setTimeout(() => { region.textContent = words; }, 30);
}

/**
 * Copies a text; returns whether it is copied. Without HTTPS, `execCommand` does it, since there is
 * no clipboard.
 */
export async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = el("textarea", { class: "unseen", readonly: true, "aria-hidden": "true" });
    area.value = text;
    const focused = document.activeElement;
    document.body.append(area);
    area.select();
    let copied = false;
    try { copied = document.execCommand("copy"); } catch { /* `copied` stays false */ }
    area.remove();
    focused?.focus?.({ preventScroll: true });
    return copied;
  }
}

/** A value that is copied by a click, with a visible and an announced confirmation. */
export function copyable(text, what) {
  const mark = el("span", { class: "copy-mark", "aria-hidden": "true" }, icon("copy"));
  const button = el("button", {
    type: "button", class: "copyable", title: `Copy ${what}`, "aria-label": `Copy ${what} ${text}`,
    on: { click: async (event) => {
      event.stopPropagation();
      const copied = await copyText(text);
      say(copied ? `${what} ${text} copied` : `${what} could not be copied`);
      button.classList.toggle("copied", copied);
      fill(mark, icon(copied ? "tick" : "cross"));
      setTimeout(() => { button.classList.remove("copied"); fill(mark, icon("copy")); }, 1600);
    } },
  }, el("span", { class: "mono" }, text), mark);
  return button;
}

const NUMBER = new Intl.NumberFormat("en");
export const count = (number) => NUMBER.format(number);
/** `3 rows`, `1 row`. */
export const counted = (number, one, many = `${one}s`) => `${count(number)} ${number === 1 ? one : many}`;

/** A duration for people: `40 s`, `3 min 20 s`, `2 h 5 min`. */
export function duration(seconds) {
  const whole = Math.max(0, Math.ceil(seconds));
  if (whole < 60) return `${whole} s`;
  if (whole < 3600) return `${Math.floor(whole / 60)} min${whole % 60 ? ` ${whole % 60} s` : ""}`;
  const minutes = Math.ceil(whole / 60);
  return `${count(Math.floor(minutes / 60))} h${minutes % 60 ? ` ${minutes % 60} min` : ""}`;
}

/** A text whose `pieces between backticks` become code. */
export function prose(text) {
  return String(text ?? "").split("`").map((piece, place) =>
    place % 2 ? el("code", {}, piece) : piece);
}
