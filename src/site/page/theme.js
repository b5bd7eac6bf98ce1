// Chooses light or dark before anything is painted. It is a plain script in the head, so that the
// page does not flash in the wrong colours. Without a choice, the system's preference applies.
(function () {
  "use strict";

  const KEY = "figdex-theme";
  const root = document.documentElement;

  // If the browser refuses storage, the choice lasts until the page is left.
  function stored() {
    try { return localStorage.getItem(KEY); } catch { return null; }
  }
  function store(theme) {
    try { localStorage.setItem(KEY, theme); } catch { /* not kept */ }
  }

  const system = matchMedia("(prefers-color-scheme: dark)");
  const shown = () => root.dataset.theme || (system.matches ? "dark" : "light");

  const choice = stored();
  if (choice === "dark" || choice === "light") root.dataset.theme = choice;

  document.addEventListener("DOMContentLoaded", () => {
    const button = document.getElementById("theme");
    const name = () => {
      const other = shown() === "dark" ? "light" : "dark";
      button.setAttribute("aria-label", `Use ${other} colours`);
      button.title = `Use ${other} colours`;
    };
    button.addEventListener("click", () => {
      root.dataset.theme = shown() === "dark" ? "light" : "dark";
      store(root.dataset.theme);
      name();
    });
    system.addEventListener("change", name);
    name();
  });
})();
