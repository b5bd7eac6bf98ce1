"""The results of a search as a file, their ISINs, and what is sorted."""

import csv
import io
import re

from playwright.sync_api import expect

from tab import IBM, Page, ask, text_of

ROUTE = "#/search?marketSecDes=Equity"


def all_rows(base):
    """The FIGIs of the first pages of the server's answer, until there are 300."""
    found, start = [], None
    while len(found) < 300:
        page = ask(base, "v3/filter", {"marketSecDes": "Equity", **({"start": start} if start else {})})
        found += [row["figi"] for row in page["data"]]
        start = page.get("next")
    return found


def whole(browser, options):
    """The download holds all rows; the time is said before, and a stopped one says how many it has."""
    page = Page(browser, options.base)
    tab = page.go(ROUTE, ".rows tbody tr")
    expect(tab.locator(".status")).to_contain_text(" of ")
    first = all_rows(options.base)
    answers = []

    def short(route):
        """The server's own pages, and then an end."""
        answer = route.fetch()
        body = answer.json()
        answers.append(body)
        if len(answers) == 3:
            body.pop("next", None)
        body["total"] = 300
        route.fulfill(json=body)

    tab.route("**/v3/filter", short)
    tab.get_by_role("button", name="Download CSV").click()
    expect(tab.locator(".saving")).to_contain_text(" requests, about ")
    with tab.expect_download() as waiting:
        tab.locator(".saving .primary").click()
    rows = list(csv.DictReader(io.StringIO(text_of(waiting))))
    assert [row["figi"] for row in rows] == first[:300], len(rows)
    # Stopped: the file and its name say how many of how many.
    tab.unroute("**/v3/filter")
    held = []

    def slow(route):
        if held:
            tab.get_by_role("button", name="Stop").evaluate("button => button.click()")
        held.append(route)
        route.continue_()

    tab.route("**/v3/filter", slow)
    tab.reload()
    tab.wait_for_selector(".rows tbody tr")
    held.clear()
    tab.get_by_role("button", name="Download CSV").click()
    with tab.expect_download() as waiting:
        tab.locator(".saving .primary").click()
    rows = list(csv.DictReader(io.StringIO(text_of(waiting))))
    assert [row["figi"] for row in rows] == first[: len(rows)] and len(rows) in (100, 200), len(rows)
    name = waiting.value.suggested_filename
    assert name.startswith(f"figdex-{len(rows)}-of-"), name
    expect(tab.locator(".saving")).to_contain_text(f"The file has {len(rows)} of ")
    # Only what is shown, without a request.
    tab.unroute("**/v3/filter")
    asked = []
    tab.on("request", lambda request: asked.append(request.url))
    tab.get_by_role("button", name="Download CSV").click()
    with tab.expect_download() as waiting:
        tab.get_by_role("button", name="Only the").click()
    assert len(list(csv.DictReader(io.StringIO(text_of(waiting))))) == tab.locator(".rows tbody tr").count() and not [url for url in asked if "/v3/" in url]
    page.close()


def refused(browser, options):
    """Where the server's limit or a failure stops the reading, the rows so far are kept."""
    page = Page(browser, options.base)
    page.allowed = 1
    tab = page.go(ROUTE, ".rows tbody tr")
    expect(tab.locator(".status")).to_contain_text(" of ")
    answers = []

    # The first page too is tried again.
    def answer(route):
        answers.append(route)
        if len(answers) in (1, 4):
            return route.fulfill(status=429, headers={"retry-after": "1"}, body="Rate limit reached.")
        if len(answers) == 2 or len(answers) > 5:
            return route.fulfill(status=500, body="")
        route.continue_()

    tab.route("**/v3/filter", answer)
    tab.get_by_role("button", name="Download CSV").click()
    with tab.expect_download(timeout=30_000) as waiting:
        tab.locator(".saving .primary").click()
        expect(tab.locator(".saving")).to_contain_text("Going on in")
    assert len(list(csv.DictReader(io.StringIO(text_of(waiting))))) == 200
    expect(tab.locator(".saving")).to_contain_text("The file has 200 of ")
    page.close()


def sorting(browser, options):
    """While there are more rows than here, sorting says that it sorts these."""
    page = Page(browser, options.base)
    tab = page.go(ROUTE, ".rows tbody tr")
    expect(tab.locator(".status")).not_to_contain_text("sorted")
    tab.locator("[data-sort=name]").click()
    expect(tab.locator(".status")).to_have_text(re.compile(r"securit(y|ies) \(only these 100 are sorted\)$"))
    expect(tab.locator("#said")).to_have_text("Sorted by Name, ascending (only these 100 are sorted)")
    tab.locator("[data-sort=name]").click()
    tab.locator("[data-sort=name]").click()
    expect(tab.locator(".status")).not_to_contain_text("sorted")
    page.close()


def isins(browser, options):
    """A column of ISINs can be turned on; a server that hides identifiers is said to do so."""
    page = Page(browser, options.base)
    tab = page.go(f"#/search?query={IBM}", ".rows tbody tr")
    expect(tab.locator(".c-isin").first).to_be_hidden()
    button = tab.locator(".isin-act button")
    button.click()
    wanted = ask(options.base, f"instruments/{IBM}")["instrument"]["identifiers"]["ID_ISIN"][0]
    expect(tab.locator(".rows tbody .c-isin").first).to_have_text(wanted)
    with tab.expect_download() as waiting:
        tab.get_by_role("button", name="Download CSV").click()
    rows = list(csv.DictReader(io.StringIO(text_of(waiting))))
    assert rows[0]["ISIN"] == wanted, rows[0]
    button.click()
    expect(tab.locator(".c-isin").first).to_be_hidden()
    page.close()
    page = Page(browser, options.base)
    page.tab.route("**/instruments/*", lambda route: route.fulfill(json={"instrument": {"figi": IBM}, "family": None}))
    tab = page.go("#/search?query=ibm", ".rows tbody tr")
    tab.locator(".isin-act button").click()
    expect(tab.locator(".isin-act")).to_contain_text("does not show identifiers")
    expect(tab.locator(".c-isin").first).to_be_hidden()
    page.close()
    # So too in a later search, which has another button and another table.
    page = Page(browser, options.base)
    page.allowed = 1
    tab = page.go(f"#/search?query={IBM}", ".rows tbody tr")
    tab.locator(".isin-act button").click()
    expect(tab.locator(".rows tbody .c-isin").first).to_have_text(wanted)
    tab.route("**/instruments/*", lambda route: route.fulfill(status=429, headers={"retry-after": "30"}, body="Rate limit reached."))
    page.go("#/search?query=apple", ".rows tbody tr")
    expect(tab.locator(".isin-act")).to_contain_text("Try again in 30 s.")
    expect(tab.locator(".isin-act button")).to_have_attribute("aria-pressed", "false")
    expect(tab.locator(".c-isin").first).to_be_hidden()
    tab.unroute("**/instruments/*")
    tab.locator(".isin-act button").click()
    expect(tab.locator(".rows tbody .c-isin").first).to_have_text(re.compile("^[A-Z]{2}"))
    page.close()


def back(browser, options):
    """Back closes an open list and stays; a choice takes no further entry of the history."""
    page = Page(browser, options.base)
    page.go("", "h1")
    tab = page.go("#/search?query=ibm", ".rows tbody tr")
    here = tab.url
    picker = tab.locator("[data-field=currency]")
    for _ in range(2):
        picker.click()
        tab.wait_for_selector(".picker-panel:not([hidden]) [role=option]")
        tab.go_back()
        expect(tab.locator(".picker-panel:not([hidden])")).to_have_count(0)
        assert tab.url == here
    # Closed in another way, Back leaves the view at once.
    picker.click()
    tab.keyboard.press("Escape")
    tab.go_back()
    tab.wait_for_url(f"{page.base}/")
    tab.go_forward()
    tab.wait_for_selector(".rows tbody tr")
    # With a choice, Back undoes the choice.
    picker.click()
    tab.wait_for_selector(".picker-panel:not([hidden]) [role=option]")
    tab.keyboard.press("ArrowDown")
    tab.keyboard.press("Enter")
    tab.keyboard.press("Escape")
    expect(tab.locator(".chips")).to_be_visible()
    tab.go_back()
    expect(tab.locator(".chips")).to_have_count(0)
    assert tab.url == here
    # A link takes the place of the spare entry.
    picker.click()
    tab.keyboard.press("Escape")
    tab.locator(".nav a", has_text="Bulk mapping").click()
    tab.wait_for_selector("#identifiers")
    tab.go_back()
    tab.wait_for_selector(".rows tbody tr")
    tab.go_back()
    tab.wait_for_url(f"{page.base}/")
    page.close()


def copies(browser, options):
    """C copies the FIGI on the page of an instrument, except while writing."""
    page = Page(browser, options.base, permissions=["clipboard-read", "clipboard-write"])
    tab = page.go(f"#/instrument/{IBM}", ".family")
    tab.keyboard.press("c")
    expect(tab.locator("#said")).to_have_text(f"FIGI {IBM} copied")
    assert tab.evaluate("navigator.clipboard.readText()") == IBM
    tab.evaluate("navigator.clipboard.writeText('')")
    tab.locator("#query").focus()
    tab.keyboard.press("c")
    expect(tab.locator("#query")).to_have_value("c")
    assert tab.evaluate("navigator.clipboard.readText()") == ""
    page.close()
