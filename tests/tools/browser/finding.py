"""Typing, suggestions, results, filters, one instrument."""

import json
import re
from urllib.parse import parse_qsl, quote, urlsplit

from playwright.sync_api import Error, expect

from tab import IBM, ISIN, WRONG_DIGIT, Page


def type_ahead(browser, options):
    """Suggestions while typing, controlled by the keyboard."""
    page = Page(browser, options.base)
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
    # A typing error is reported at once.
    box.fill(WRONG_DIGIT)
    expect(tab.locator("#query-hint")).to_contain_text("check digit should be 4")
    tab.get_by_role("button", name=f"Use {ISIN}").click()
    expect(box).to_have_value(ISIN)
    expect(options.first).to_contain_text("IBM")
    page.close()


def stale_suggestions(browser, options):
    """A late answer to an earlier text is not shown."""
    page = Page(browser, options.base)
    tab = page.go("")
    calls = []

    def answer(route):
        calls.append(route.request.url)
        route.fallback()

    tab.route("**/suggest?*", answer)
    tab.locator("#query").press_sequentially("international", delay=15)
    tab.wait_for_selector("#suggestions [role=option]")
    assert len(calls) <= 4, f"typing fast asks seldom: {calls}"
    expect(tab.locator("#suggestions .all strong")).to_have_text("international")
    page.close()


def late_views(browser, options):
    """A late answer for a view that was left does not draw over the next one."""
    page = Page(browser, options.base)
    tab = page.go("")
    held = []
    tab.route("**/instruments/*", lambda route: held.append(route))
    with tab.expect_request("**/instruments/*"):
        tab.evaluate(f"location.hash = '#/instrument/{IBM}'")
    tab.evaluate("location.hash = '#/search?query=ibm'")
    tab.wait_for_selector(".rows tbody tr")
    for route in held:
        try:
            route.continue_()
        except Error:
            pass  # The page has given the request up.
    tab.wait_for_timeout(500)
    expect(tab.locator(".rows tbody tr").first).to_be_visible()
    page.close()


def filtered_suggestions(browser, options):
    """All suggestions pass the filters that are set, with all their values."""
    page = Page(browser, options.base)
    tab = page.go("#/search?query=ibm&exchCode=US&exchCode=GR&marketSecDes=Equity&strike=1..2", ".empty, .rows")
    with tab.expect_request("**/suggest?*") as asked:
        tab.locator("#query").fill("ibm corp")
    query = parse_qsl(urlsplit(asked.value.url).query)
    assert query == [("query", "ibm corp"), ("limit", "10"), ("exchCode", "US"), ("exchCode", "GR"), ("marketSecDes", "Equity")], query
    page.close()


def routes(browser, options):
    """Each view has a URL; back, forward and shared links work."""
    page = Page(browser, options.base)
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


def instrument(browser, options):
    """All known properties, identifiers that a click copies, and the family."""
    page = Page(browser, options.base, permissions=["clipboard-read", "clipboard-write"])
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
    page.allowed = 1
    page.go("#/instrument/BBG000BLNNH8", None)
    expect(tab.locator("main")).to_contain_text("check digit should be 6")
    page.go("#/instrument/BBG000000000", None)
    expect(tab.locator("main")).to_contain_text("No such instrument")
    page.close()


def filters(browser, options):
    """Several values of one filter, intervals, chips, the total; all of them in the URL."""
    page = Page(browser, options.base)
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
    expect(tab.locator(".status")).to_have_text(re.compile(r"\d instruments? · [\d,]+ securit"))
    url, body = bodies[-1]
    assert url.endswith("/v3/filter") and json.loads(body) == {"exchCode": ["US", "GR"]}, (url, body)
    exchanges = set(tab.locator(".rows tbody .c-exch").all_inner_texts())
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
    # Without results the page gives advice.
    page.go("#/search?query=zzqqxx")
    expect(tab.locator(".empty")).to_contain_text("Nothing found")
    page.close()


def pages(browser, options):
    """"More" follows `next`; going back shows the same rows without another request."""
    page = Page(browser, options.base)
    tab = page.tab
    bodies = []
    tab.on("request", lambda request: bodies.append(json.loads(request.post_data)) if "/v3/" in request.url and request.post_data else None)
    page.go("#/search?exchCode=US&exchCode=GR&marketSecDes=Equity", ".rows tbody tr")
    rows, status = tab.locator(".rows tbody tr"), tab.locator(".status")
    total = int(re.search(r"of ([\d,]+) instruments", tab.locator(".status").inner_text())[1].replace(",", ""))
    for pages_shown in (1, 2, 3):
        expect(status).to_have_text(re.compile(rf"^{100 * pages_shown} of {total:,} instruments · \d+ securities$"))
        tab.locator(".more button").click()
    expect(status).to_contain_text("400 of")
    expect(rows).to_have_count(int(re.search(r"(\d+) securities", status.inner_text())[1]))
    assert ["start" in body for body in bodies] == [False, True, True, True], bodies
    figis = tab.locator(".rows .copyable .mono").all_inner_texts()
    assert figis == sorted(figis), "securities are in the order of their first FIGIs"
    for security in tab.locator(".listings").all():
        security.click()
    expect(rows).to_have_count(400)
    assert len(set(tab.locator(".rows .copyable .mono").all_inner_texts())) == 400, "each once"
    asked = len(bodies)
    tab.locator(".rows tbody th a").first.click()
    tab.wait_for_selector(".family")
    tab.go_back()
    expect(rows).to_have_count(400)
    assert len(bodies) == asked
    page.close()


def retried(browser, options):
    """After a limit or a lost connection, the view is the same as without one: its reading, counts and total."""
    for query in ("apple xetra", "AAPL calls 2099 155"):
        seen = []
        for trouble in (None, "limit", "away"):
            page = Page(browser, options.base)
            page.allowed = 1
            tab = page.tab
            if trouble == "limit":
                tab.route("**/find?*", lambda route: route.fulfill(status=429, headers={"retry-after": "1"}, body="Rate limit reached."), times=1)
            if trouble == "away":
                tab.route("**/find?*", lambda route: route.abort(), times=1)
            page.go(f"#/search?query={quote(query)}", ".notice" if trouble else ".rows tbody tr")
            typed = tab.locator("[data-field=strike-from]")
            if trouble == "limit":
                typed.fill("1")
            if trouble == "away":
                tab.get_by_role("button", name="Try again").click()
            expect(tab.locator(".chip.read").first).to_be_visible()
            expect(tab.locator(".status")).to_contain_text(re.compile(r"^\d+ instruments? "))
            expect(tab.locator("[data-field^='level '] .f-count").first).to_have_text(re.compile(r"\d") if not seen else seen[0][2][0])
            if trouble == "limit":
                # The page has tried again by itself, and keeps what is being typed.
                expect(typed).to_have_value("1")
                expect(typed).to_be_focused()
            seen.append((tab.locator(".status").inner_text(), tab.locator(".chip, .left-out").all_inner_texts(), tab.locator("[data-field^='level '] .f-count").all_inner_texts()))
            page.close()
        assert seen[0] == seen[1] == seen[2] and seen[0][1], seen


def search_troubles(browser, options):
    """After a limit the page counts down and goes on; a server that cannot be reached is reported."""
    page = Page(browser, options.base)
    page.allowed = 1
    tab = page.go("", "#title")
    answers = [dict(status=429, headers={"retry-after": "2", "ratelimit-limit": "5", "ratelimit-policy": "5;w=60"}, body="Rate limit reached.")]
    tab.route("**/find?*", lambda route: route.fulfill(**answers.pop()) if answers else route.continue_())
    page.go("#/search?query=ibm", ".notice")
    expect(tab.locator(".notice")).to_contain_text("5 requests in 60 s")
    expect(tab.locator(".notice")).to_contain_text(re.compile(r"in [12] s"))
    tab.wait_for_selector(".rows tbody tr")
    tab.unroute("**/find?*")
    tab.route("**/find?*", lambda route: route.abort())
    page.go("#/search?query=apple", ".notice")
    expect(tab.locator(".notice")).to_contain_text("cannot be reached")
    tab.unroute("**/find?*")
    # Without counts, none are shown: those of the last question do not stay.
    tab.route("**/facets?*", lambda route: route.abort())
    page.go("#/search?query=microsoft", ".rows tbody tr")
    expect(tab.locator(".facet-value")).to_have_count(0)
    tab.unroute("**/facets?*")
    tab.route("**/find?*", lambda route: route.abort())
    page.go("#/search?query=corp", ".notice")
    tab.unroute("**/find?*")
    tab.get_by_role("button", name="Try again").click()
    tab.wait_for_selector(".rows tbody tr")
    page.close()
