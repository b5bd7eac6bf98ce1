"""Accessibility: our own rules, and those of axe-core."""

from tab import VIEWS, Page, view


# Checks names, roles, labels and headings, and the contrast of each text with its background.
ACCESS = """() => {
  const faults = [];
  const ids = new Set();
  for (const one of document.querySelectorAll('[id]')) {
    if (ids.has(one.id)) faults.push('id twice: ' + one.id);
    ids.add(one.id);
  }
  const seen = (one) => one.checkVisibility({ opacityProperty: true, visibilityProperty: true });
  const nameOf = (one) => (one.getAttribute('aria-label') || (one.getAttribute('aria-labelledby') || '').split(' ').map((id) => document.getElementById(id)?.textContent || '').join(' ')
    || [...(one.labels || [])].map((label) => label.textContent).join(' ') || one.textContent || one.title || '').trim();
  for (const one of document.querySelectorAll('a[href], button, input, select, textarea, [role=option], [role=tab], [role=listbox], [role=table]')) {
    if (seen(one) && !nameOf(one)) faults.push('no name: ' + one.outerHTML.slice(0, 120));
  }
  for (const one of document.querySelectorAll('[aria-controls], [aria-labelledby], [aria-describedby]')) {
    for (const name of ['aria-controls', 'aria-labelledby', 'aria-describedby']) {
      for (const id of (one.getAttribute(name) || '').split(' ').filter(Boolean)) if (!document.getElementById(id)) faults.push(name + ' leads nowhere: ' + id);
    }
  }
  if (document.querySelectorAll('main').length !== 1 || document.querySelectorAll('h1').length !== 1) faults.push('one main and one h1');
  for (const role of ['header', 'nav', 'main', 'footer', '[role=search]']) if (!document.querySelector(role)) faults.push('no ' + role);
  if (!document.documentElement.lang) faults.push('no language');
  const rgb = (text) => (text.match(/[\\d.]+/g) || []).map(Number);
  const light = ([r, g, b]) => [r, g, b].map((part) => part / 255).map((part) => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)
    .reduce((sum, part, place) => sum + part * [0.2126, 0.7152, 0.0722][place], 0);
  const behind = (one) => {
    for (let at = one; at; at = at.parentElement) {
      const colour = rgb(getComputedStyle(at).backgroundColor);
      if (colour.length < 4 || colour[3] > 0.99) return colour;
    }
    return [255, 255, 255];
  };
  for (const one of document.querySelectorAll('body *')) {
    if (!seen(one) || one.closest('.unseen, .skip, :disabled')) continue;
    if (![...one.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim())) continue;
    const [a, b] = [light(rgb(getComputedStyle(one).color)), light(behind(one))];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < 4.5) faults.push('contrast ' + ratio.toFixed(2) + ': ' + one.className + ' ' + one.textContent.trim().slice(0, 40));
  }
  return faults;
}"""


def each_view(browser, options):
    """Every view, light and dark, wide and narrow, with its panels open."""
    for scheme, width in (("light", 1280), ("dark", 1280), ("light", 360), ("dark", 360)):
        page = Page(browser, options.base, width=width, scheme=scheme)
        for route, wait in VIEWS:
            yield (scheme, width, route), view(page, route, wait)
        page.close()


def access(browser, options):
    """Names, roles, labels, one heading, contrast."""
    for where, tab in each_view(browser, options):
        faults = tab.evaluate(ACCESS)
        assert not faults, (where, faults)


def axe(browser, options):
    """axe-core finds nothing, with all its rules."""
    if not options.axe:
        return "axe-core is not here"
    with open(options.axe, encoding="utf-8") as file:
        source = file.read()
    for where, tab in each_view(browser, options):
        tab.evaluate(source)
        found = tab.evaluate("() => axe.run(document, { resultTypes: ['violations'] })")
        assert len(found["passes"]) > 10, "it has looked"
        faults = [(one["id"], one["help"], [node["html"][:160] for node in one["nodes"][:3]]) for one in found["violations"]]
        assert not faults, (where, faults)
