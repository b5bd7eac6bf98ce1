"""The page for people, used as a person uses it, in a browser without a screen.

    python3 page.py http://127.0.0.1:8080

Needs playwright and Debian's chromium (`CHROMIUM` names another one). The server is
over any data that hold IBM's and Apple's listings, such as the bundled sample. Its
limits are best lifted (`--no-limits`); what the page says when a limit is reached is
tried with answers that the browser is given in the server's place.
"""

import csv
import io
import json
import os
import re
import sys
from string import ascii_uppercase
from urllib.parse import urlsplit

from playwright.sync_api import expect, sync_playwright

IBM = "BBG000BLNNH6"
ISIN = "US4592001014"
SHARE_CLASS = "BBG001S5S399"
CHROMIUM = os.environ.get("CHROMIUM", "/usr/bin/chromium")

# A line for each kind that is recognised, with what it should be read as.
MIXED = [
    (ISIN, "ISIN"),
    ("037833100", "CUSIP"),
    ("G0177J108", "CINS"),
    ("2005973", "SEDOL"),
    (IBM, "FIGI"),
    (SHARE_CLASS, "FIGI"),
    ("BMG022411000", "ISIN"),
    ("AAPL  240119C00150000", "OCC option symbol"),
    ("AAPL240119C00150000", "OCC option symbol"),
    ("45920010", "CUSIP, 8 characters"),
    ("018893517", "Common code"),
    ("851399", "WKN"),
    ("12345", "Italian code"),
    ("IBM", "Ticker"),
    ("IBM US Equity", "Ticker"),
    ("IBM {unknown} Equity", "Ticker"),
    ("=NONESUCH", "Ticker"),
]
WRONG_DIGIT = "US4592001015"


class Page:
    """A tab that watches what no test asks for: errors and calls to other origins."""

    def __init__(self, browser, base, width=1280, scheme="light", **context):
        self.base, self.origin = base, "{0.scheme}://{0.netloc}".format(urlsplit(base))
        self.context = browser.new_context(
            viewport={"width": width, "height": 860},
            color_scheme=scheme,
            reduced_motion="reduce",
            accept_downloads=True,
            **context,
        )
        self.tab = self.context.new_page()
        self.tab.set_default_timeout(15_000)
        self.faults, self.allowed = [], 0
        self.tab.on("console", self._console)
        self.tab.on("pageerror", lambda error: self.faults.append(str(error)))
        self.tab.on("request", self._request)

    def _console(self, message):
        # A browser reports each refused call; tests that provoke one say so.
        if message.type == "error" and "status of" in message.text and self.allowed:
            return
        if message.type == "error" and "ERR_FAILED" in message.text and self.allowed:
            return
        if message.type in ("error", "warning"):
            self.faults.append(message.text)

    def _request(self, request):
        if not request.url.startswith((self.origin, "blob:", "data:")):
            self.faults.append(f"a call to another origin: {request.url}")

    def go(self, route, wait="#title"):
        self.tab.goto(f"{self.base}/{route}")
        if wait:
            self.tab.wait_for_selector(wait, state="attached")
        return self.tab

    def close(self):
        self.context.close()
        assert not self.faults, self.faults


def type_ahead(browser, base):
    """Suggestions while typing, ruled by the keyboard."""
    page = Page(browser, base)
    tab = page.go("")
    box, options = tab.locator("#query"), tab.locator("#suggestions [role=option]")
    tab.locator("body").click(position={"x": 5, "y": 600})
    tab.keyboard.press("/")
    expect(box).to_be_focused()
    tab.keyboard.type("ibm", delay=30)
    expect(options.first).to_be_visible()
    expect(box).to_have_attribute("aria-expanded", "true")
    assert options.count() >= 2, "suggestions, and the line for all results"
    assert "IBM" in options.first.inner_text()

    def active():
        return box.get_attribute("aria-activedescendant")

    assert not active(), "nothing is chosen before an arrow is pressed"
    tab.keyboard.press("ArrowDown")
    first = active()
    expect(tab.locator(f"#{first}")).to_have_attribute("aria-selected", "true")
    tab.keyboard.press("End")
    assert active() != first
    tab.keyboard.press("Home")
    assert active() == first
    tab.keyboard.press("ArrowUp")
    assert active() != first, "up from the first is the last"
    tab.keyboard.press("Escape")
    expect(options.first).to_be_hidden()
    expect(box).to_have_value("ibm")
    tab.keyboard.press("ArrowDown")
    expect(options.first).to_be_visible()
    tab.keyboard.press("ArrowDown")
    tab.keyboard.press("Enter")
    tab.wait_for_url(re.compile("#/instrument/"))
    tab.go_back()
    # Without a choice Enter shows all results.
    box.fill("ibm")
    box.press("Enter")
    tab.wait_for_url(re.compile(r"#/search\?query=ibm"))
    tab.wait_for_selector(".rows tbody tr")
    # A slip is told while it is typed.
    box.fill(WRONG_DIGIT)
    expect(tab.locator("#query-hint")).to_contain_text("check digit should be 4")
    page.close()


def stale_suggestions(browser, base):
    """A late answer to an earlier text is not shown."""
    page = Page(browser, base)
    tab = page.go("")
    calls = []

    def answer(route):
        calls.append(route.request.url)
        route.continue_()

    tab.route("**/suggest?*", answer)
    tab.locator("#query").press_sequentially("international", delay=15)
    tab.wait_for_selector("#suggestions [role=option]")
    assert len(calls) <= 4, f"typing fast asks seldom: {calls}"
    expect(tab.locator("#suggestions .all strong")).to_have_text("international")
    page.close()


def routes(browser, base):
    """Each view has an address; back and forward, and a link that is sent, work."""
    page = Page(browser, base)
    tab = page.go("#/search?query=ibm", ".rows tbody tr")
    tab.locator(".rows tbody th a").first.click()
    tab.wait_for_url(re.compile("#/instrument/"))
    tab.wait_for_selector(".family")
    tab.go_back()
    tab.wait_for_selector(".rows tbody tr")
    expect(tab.locator("#query")).to_have_value("ibm")
    tab.go_forward()
    tab.wait_for_selector(".family")
    for name, title in [("bulk", "Bulk mapping"), ("reference", "for programs"), ("search", "Search and filter")]:
        page.go(f"#/{name}")
        expect(tab.locator("h1")).to_contain_text(title)
        assert title.split()[-1] in tab.title() or name in tab.title().lower(), tab.title()
    page.go("#/nonsense", "h1")
    page.close()


def instrument(browser, base):
    """All that is known, identifiers that a click copies, and the family."""
    page = Page(browser, base, permissions=["clipboard-read", "clipboard-write"])
    tab = page.go(f"#/instrument/{IBM}", ".tree")
    expect(tab.locator("h1")).to_contain_text("IBM")
    expect(tab.locator("[aria-current=true]")).to_have_count(1)
    links = tab.locator(".tree a.t-link")
    assert links.count() >= 3, "the rest of the family are links"
    tab.locator(".pairs .copyable").first.click()
    expect(tab.locator("#said")).to_contain_text(f"FIGI {IBM} copied")
    assert tab.evaluate("navigator.clipboard.readText()") == IBM
    venue = links.first
    to = venue.get_attribute("href")
    venue.click()
    tab.wait_for_url(re.compile(re.escape(to)))
    tab.wait_for_selector(".family")
    page.go("#/instrument/BBG000BLNNH7")
    expect(tab.locator("main")).to_contain_text("check digit should be 6")
    page.allowed = 1
    page.go("#/instrument/BBG000000000", None)
    expect(tab.locator("main")).to_contain_text("No such instrument")
    page.close()


def filters(browser, base):
    """Several values of one filter, intervals, chips, the total; all in the address."""
    page = Page(browser, base)
    tab = page.go("#/search", ".filters")
    bodies = []
    tab.on("request", lambda request: bodies.append((request.url, request.post_data)) if "/v3/" in request.url and request.post_data else None)
    button = tab.locator("[data-field=exchCode]")
    button.click()
    field = tab.locator(".picker-panel:not([hidden]) input")
    expect(tab.locator(".picker-panel:not([hidden]) [role=option]").first).to_be_visible()
    for code in ("US", "GR"):
        field.fill(code)
        field.press("ArrowDown")
        field.press("Enter")
    field.press("Escape")
    tab.wait_for_url(re.compile("exchCode=US&exchCode=GR"))
    tab.wait_for_selector(".rows tbody tr")
    expect(tab.locator("[data-field=exchCode]")).to_be_focused()
    expect(tab.locator("[data-field=micCode]")).to_be_disabled()
    expect(tab.locator(".status")).to_have_text(re.compile(r"\d instruments?$"))
    url, body = bodies[-1]
    assert url.endswith("/v3/filter") and json.loads(body) == {"exchCode": ["US", "GR"]}, (url, body)
    exchanges = set(tab.locator(".rows .c-exch").all_inner_texts())
    assert exchanges and exchanges <= {"US", "GR"}, exchanges
    expect(tab.locator(".chip")).to_have_count(2)
    tab.locator(".chip").first.click()
    tab.wait_for_url(re.compile(r"#/search\?exchCode=GR$"))
    tab.wait_for_selector(".rows tbody tr")
    # Intervals keep the contract's rules.
    strike = tab.locator("[data-field=strike-from]")
    strike.fill("ten")
    strike.press("Tab")
    expect(tab.locator("#strike-fault")).to_contain_text("not a number")
    strike.fill("10")
    strike.press("Enter")
    tab.wait_for_url(re.compile("strike=10.."))
    page.go("#/search?expiration=2025-01-01..2026-06-01")
    expect(tab.locator(".notice")).to_contain_text("At most one year apart")
    # More follows `next`, and going back finds the same rows without a request.
    page.go("#/search?exchCode=US", ".rows tbody tr")
    more = tab.locator(".more button")
    if more.count():
        before = tab.locator(".rows tbody tr").count()
        more.click()
        expect(tab.locator(".rows tbody tr").nth(before)).to_be_attached()
        assert "start" in json.loads(bodies[-1][1])
        asked, rows = len(bodies), tab.locator(".rows tbody tr").count()
        tab.locator(".rows tbody th a").first.click()
        tab.wait_for_selector(".family")
        tab.go_back()
        tab.wait_for_selector(".rows tbody tr")
        assert tab.locator(".rows tbody tr").count() == rows and len(bodies) == asked
    # Nothing found teaches.
    page.go("#/search?query=zzqqxx")
    expect(tab.locator(".empty")).to_contain_text("Nothing found")
    page.close()


def bulk(browser, base):
    """A mixed list is recognised, mapped, told apart and downloaded whole."""
    page = Page(browser, base)
    tab = page.go("#/bulk", "#identifiers")
    known = tab.request.get(f"{base}/v3/mapping/values/exchCode").json()["values"]
    unknown = next(a + b for a in ascii_uppercase for b in ascii_uppercase if a + b not in known)
    mixed = [(value.format(unknown=unknown), kind) for value, kind in MIXED]
    lines = ["Identifier"] + [value for value, _ in mixed] + [WRONG_DIGIT, ISIN]
    tab.locator("#identifiers").fill("\n".join(lines))
    expect(tab.locator(".drop")).to_contain_text("taken for a heading")
    rows = tab.locator(".v-plan .v-space .v-row")
    expect(rows).to_have_count(len(lines) - 1)
    for place, (value, kind) in enumerate(mixed):
        row = rows.nth(place)
        chosen = row.locator("select").evaluate("select => select.selectedOptions[0].textContent")
        assert chosen == kind, (value, chosen)
    expect(tab.locator(".v-plan")).to_contain_text("check digit should be 4")
    # For all alike, and for one row.
    tab.locator("[data-field='group 6 digits']").select_option("TICKER")
    tab.locator("[data-field='group 6 digits']").select_option("ID_WERTPAPIER")
    tab.get_by_label("Row 14, IBM, is").select_option("ID_BB")
    expect(rows.nth(13)).to_contain_text("set by you")
    tab.get_by_label("Row 14, IBM, is").select_option("TICKER")
    jobs = []
    tab.on("request", lambda request: jobs.append(json.loads(request.post_data)) if request.url.endswith("/v3/mapping") else None)
    tab.locator(".begin .primary").click()
    expect(tab.locator(".run-line")).to_contain_text("Done", timeout=120_000)
    assert all(len(batch) <= 10 for batch in jobs)
    asked = [job["idValue"] for batch in jobs for job in batch]
    assert asked.count(ISIN) == 1 and WRONG_DIGIT not in asked, "each once, and no slip"
    narrowed = [job for batch in jobs for job in batch if job.get("exchCode")]
    assert narrowed == [{"idType": "TICKER", "idValue": "IBM", "exchCode": "US", "marketSecDes": "Equity"}], narrowed
    expect(tab.locator("#tab-fault .tally")).not_to_have_text("0")
    tab.locator("#tab-several").click()
    expect(tab.locator("#outcome .v-space .v-row").first).to_contain_text(ISIN)
    tab.keyboard.press("ArrowRight")
    expect(tab.locator("#tab-miss")).to_be_focused()
    expect(tab.locator("#outcome")).to_contain_text("NONESUCH")
    text = download(tab)
    table = list(csv.DictReader(io.StringIO(text, newline="")))
    assert text.count("\r\n") == len(table) + 1 and table[0]["identifier"] == ISIN
    assert {row["identifier"].lstrip("'") for row in table} == {value.replace("AAPL2401", "AAPL  2401") for value, _ in mixed} | {WRONG_DIGIT}
    assert any(row["identifier"] == "'=NONESUCH" for row in table), "formulas are guarded"
    assert {row["outcome"] for row in table} >= {"several", "miss", "fault"}
    assert [int(row["row"]) for row in table] == sorted(int(row["row"]) for row in table)
    assert sum(row["row"] == str(len(mixed) + 2) for row in table) == sum(row["row"] == "1" for row in table), "rows of the same identifier end alike"
    assert {row["idType"] for row in table if row["identifier"] == SHARE_CLASS} == {"ID_BB_GLOBAL_SHARE_CLASS_LEVEL"}, "asked again"
    # Of the listings of an ISIN a person may want the composites alone.
    before = len(table)
    tab.get_by_label("Of several matches keep the composites").check()
    table = list(csv.DictReader(io.StringIO(download(tab), newline="")))
    assert 1 < len(table) < before and {row["level"] for row in table if row["identifier"] == ISIN} == {"composite"}
    # It is all still there after a look elsewhere.
    page.go("#/search")
    tab.go_back()
    expect(tab.locator(".run-line")).to_contain_text("Done")
    page.close()


def download(tab):
    with tab.expect_download() as waiting:
        tab.get_by_role("button", name="Download CSV").click()
    with open(waiting.value.path(), newline="", encoding="utf-8") as file:
        return file.read()


def bulk_troubles(browser, base):
    """Limits, refusals and an absent server: told in words, waited for, taken up again."""
    page = Page(browser, base)
    page.allowed = 1
    tab = page.go("#/bulk", "#identifiers")
    answers = [
        dict(status=429, headers={"retry-after": "2", "ratelimit-limit": "25"}, body="Rate limit reached."),
        dict(status=503, body="Service Unavailable."),
        dict(status=413, body="Payload too large."),
        dict(status=401, body="Invalid API key."),
    ]
    sizes = []

    def answer(route):
        batch = json.loads(route.request.post_data)
        sizes.append(len(batch))
        if answers:
            return route.fulfill(**answers.pop(0))
        if len(sizes) == 7:
            return route.abort()
        route.fulfill(json=[{"warning": "No identifier found."} for _ in batch])

    tab.route("**/v3/mapping", answer)
    tab.locator("#identifiers").fill("\n".join(f"NO-{number:03}" for number in range(40)))
    tab.locator(".begin .primary").click()
    notice = tab.locator(".bulk-results .notice")
    expect(notice).to_contain_text("request limit is reached")
    expect(notice).to_contain_text(re.compile(r"in \d s"))
    expect(notice).to_contain_text("taking a break")
    expect(notice).to_contain_text("key was not accepted", timeout=30_000)
    tab.get_by_role("button", name="Go on").click()
    expect(notice).to_contain_text("cannot be reached")
    tab.get_by_role("button", name="Try now").click()
    expect(tab.locator(".run-line")).to_contain_text("Done", timeout=30_000)
    expect(tab.locator("#tab-miss .tally")).to_have_text("40")
    assert sizes[0] == 10 and sizes[-1] == 5, sizes
    # Cancelled in the middle: what was found is kept, and the rest can go on.
    tab.unroute("**/v3/mapping")
    tab.route("**/v3/mapping", lambda route: route.fulfill(status=429, headers={"retry-after": "50"}, body=""))
    tab.locator(".begin .primary").click()
    expect(notice).to_contain_text("request limit")
    tab.get_by_role("button", name="Cancel").click()
    expect(tab.locator(".run-line")).to_contain_text("cancelled")
    assert "not asked" in download(tab)
    page.close()


def many_rows(browser, base):
    """Tens of thousands of rows, pasted as a file: few are drawn, all are downloaded."""
    page = Page(browser, base)
    tab = page.go("#/bulk", "#identifiers")
    rows = 30_000
    tab.route("**/v3/mapping", lambda route: route.fulfill(json=[{"warning": "No identifier found."} for _ in json.loads(route.request.post_data)]))
    content = "isin;name\n" + "".join(f"NO-{number % 500:05};x\n" for number in range(rows))
    tab.locator("#file").set_input_files({"name": "many.csv", "mimeType": "text/csv", "buffer": content.encode()})
    expect(tab.locator(".drop")).to_contain_text(f"{rows:,} rows")
    tab.locator(".begin .primary").click()
    expect(tab.locator(".run-line")).to_contain_text("Done", timeout=60_000)
    expect(tab.locator("#tab-miss .tally")).to_have_text(f"{rows:,}")
    assert tab.locator("#outcome .v-row").count() < 100
    tab.locator("#outcome .v-table").evaluate("table => table.scrollTo(0, table.scrollHeight)")
    expect(tab.locator("#outcome .v-row").last).to_contain_text("00499")
    assert download(tab).count("\r\n") == rows + 1
    page.close()


def search_troubles(browser, base):
    """A limit is counted down and then gone on from; an absent server is told."""
    page = Page(browser, base)
    page.allowed = 1
    tab = page.go("", "#title")
    answers = [dict(status=429, headers={"retry-after": "2", "ratelimit-limit": "5", "ratelimit-policy": "5;w=60"}, body="Rate limit reached.")]
    tab.route("**/v3/search", lambda route: route.fulfill(**answers.pop()) if answers else route.continue_())
    page.go("#/search?query=ibm", ".notice")
    expect(tab.locator(".notice")).to_contain_text("5 requests in 60 s")
    expect(tab.locator(".notice")).to_contain_text(re.compile(r"in [12] s"))
    tab.wait_for_selector(".rows tbody tr")
    tab.unroute("**/v3/search")
    tab.route("**/v3/search", lambda route: route.abort())
    page.go("#/search?query=apple", ".notice")
    expect(tab.locator(".notice")).to_contain_text("cannot be reached")
    tab.unroute("**/v3/search")
    tab.get_by_role("button", name="Try again").click()
    tab.wait_for_selector(".rows tbody tr")
    page.close()


def reference(browser, base):
    """Rendered from the schema; its examples run and can be copied."""
    page = Page(browser, base, permissions=["clipboard-read", "clipboard-write"])
    tab = page.go("#/reference", ".runner")
    expect(tab.locator(".operation")).to_have_count(4)
    for path in ("/mapping", "/search", "/filter", "/mapping/values/{key}"):
        tab.locator(f"[data-run='{path}']").click()
        output = tab.locator(f".runner:has([data-run='{path}']) .output")
        expect(output.locator(".status-line")).to_contain_text("200 OK")
        json.loads(output.locator("pre").inner_text()) if path != "/mapping/values/{key}" else None
    tab.get_by_role("button", name="Copy as curl").first.click()
    expect(tab.locator("#said")).to_contain_text("curl command is copied")
    curl = tab.evaluate("navigator.clipboard.readText()")
    assert curl.startswith("curl '") and "/v3/mapping'" in curl and "-d '[" in curl, curl
    page.go("#/reference/FigiResult")
    expect(tab.locator("[id='ref-FigiResult'] table")).to_be_visible()
    page.close()


def narrow(browser, base):
    """No view is wider than a small screen."""
    page = Page(browser, base, width=360)
    tab = page.tab
    for route, wait in [("", "h1"), ("#/search", ".empty"), ("#/search?query=ibm", ".rows"), ("#/search?exchCode=US", ".rows"),
                        (f"#/instrument/{IBM}", ".tree"), ("#/bulk", "#identifiers"), ("#/reference", ".runner")]:
        page.go(route, wait)
        if "bulk" in route:
            tab.get_by_role("button", name="Example").click()
            tab.wait_for_selector(".groups")
        if route == "#/search?exchCode=US":
            tab.locator(".side-button").click()
            tab.locator("[data-field=currency]").click()
            tab.wait_for_selector(".picker-panel:not([hidden]) [role=option]")
        width = tab.evaluate("document.documentElement.scrollWidth")
        assert width <= 360, f"{route} is {width} wide"
    page.close()


def theme(browser, base):
    """The system's preference holds until a person chooses; the choice stays."""
    page = Page(browser, base, scheme="dark")
    tab = page.go("")
    paper = "getComputedStyle(document.body).backgroundColor"
    dark = tab.evaluate(paper)
    tab.locator("#theme").click()
    light = tab.evaluate(paper)
    assert dark != light
    tab.reload()
    assert tab.evaluate(paper) == light
    page.close()


# Names, roles, labels and headings, and the contrast of each text with what is behind it.
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


def access(browser, base):
    """Every view, light and dark: names, roles, labels, one heading, contrast."""
    for scheme in ("light", "dark"):
        page = Page(browser, base, scheme=scheme)
        tab = page.tab
        for route, wait in [("", "h1"), ("#/search", ".empty"), ("#/search?query=ibm", ".rows"), ("#/search?exchCode=US", ".rows"),
                            ("#/search?query=zzqqxx", ".empty"), (f"#/instrument/{IBM}", ".tree"), ("#/bulk", "#identifiers"), ("#/reference", ".runner")]:
            page.go(route, wait)
            if route == "":
                tab.locator("#query").press_sequentially("ibm")
                tab.wait_for_selector("#suggestions [role=option]")
            if route == "#/search?exchCode=US":
                tab.locator("[data-field=currency]").click()
                tab.wait_for_selector(".picker-panel:not([hidden]) [role=option]")
            if route == "#/bulk":
                tab.get_by_role("button", name="Example").click()
                tab.locator(".begin .primary").click()
                expect(tab.locator(".run-line")).to_contain_text("Done", timeout=120_000)
            faults = tab.evaluate(ACCESS)
            assert not faults, (scheme, route, faults)
        page.close()


def keyboard(browser, base):
    """From the address bar to a result without a pointer; the focus is always to be seen."""
    page = Page(browser, base)
    tab = page.go("#/search?query=ibm", ".rows tbody tr")
    tab.locator("body").evaluate("body => { document.activeElement.blur(); }")
    tab.keyboard.press("Tab")
    expect(tab.locator(".skip")).to_be_focused()
    tab.keyboard.press("Enter")
    expect(tab.locator("main")).to_be_focused()
    assert "query=ibm" in tab.url, "the skip link is no route"
    for _ in range(60):
        tab.keyboard.press("Tab")
        outline = tab.evaluate("(() => { const one = document.activeElement; return one.matches('body') ? 'solid' : getComputedStyle(one).outlineStyle; })()")
        assert outline != "none", tab.evaluate("document.activeElement.outerHTML.slice(0, 120)")
        if tab.evaluate("document.activeElement.closest('.rows th') !== null"):
            break
    tab.keyboard.press("Enter")
    tab.wait_for_selector(".family")
    expect(tab.locator("h1")).to_be_focused()
    page.close()


CHECKS = [type_ahead, stale_suggestions, routes, instrument, filters, bulk, bulk_troubles, many_rows, search_troubles, reference, narrow, theme, access, keyboard]


def main(base, *names):
    base = base.rstrip("/")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        failed = []
        for check in CHECKS:
            if names and check.__name__ not in names:
                continue
            try:
                check(browser, base)
                print(f"ok      {check.__name__}")
            except Exception as error:  # each check stands for itself
                failed.append(check.__name__)
                words = str(error).split("Aria snapshot")[0].strip()
                print(f"FAILED  {check.__name__}: {type(error).__name__}: {words[:2000]}")
        browser.close()
    if failed:
        sys.exit(f"{len(failed)} failed")


if __name__ == "__main__":
    main(*sys.argv[1:])
