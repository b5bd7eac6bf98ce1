"""Checks of the results: securities with their listings, counts, sorting, what is taken away."""

import csv
import io
import json
import re
from urllib.parse import parse_qsl, urlsplit

from playwright.sync_api import expect

from tab import IBM, SHARE_CLASS, Page, ask, text_of


def results(browser, options, query):
    """A page with all results of a query, and its tab."""
    page = Page(browser, options.base)
    tab = page.go(f"#/search?{query}", ".rows tbody tr")
    expect(tab.locator(".status")).not_to_contain_text("reading on")
    return page, tab


def securities(tab):
    """The ticker of the first row of each security."""
    return tab.locator(".rows tbody tr:first-child th").all_inner_texts()


def listing(number, share_class):
    """A row as the server has it."""
    names = ("figi", "name", "ticker", "exchCode", "compositeFIGI", "securityType", "marketSector", "shareClassFIGI", "securityType2", "securityDescription")
    return dict.fromkeys(names) | {"figi": f"BBG{number:09}", "ticker": f"T{share_class}", "name": f"COMPANY {share_class}", "shareClassFIGI": f"BBG001{share_class:06}"}


def folded(browser, options):
    """One row for each security; its listings open in place, by the pointer and by keys."""
    page = Page(browser, options.base)
    tab = page.go("#/search?query=ibm", ".rows tbody tr")
    rows = ask(options.base, "v3/search", {"query": "ibm"})["data"]
    listings = [row for row in rows if row["shareClassFIGI"] == SHARE_CLASS]
    first = tab.locator(".rows tbody").first
    button = first.get_by_role("button", name=f"{len(listings)} listings of INTL BUSINESS MACHINES CORP")
    expect(button).to_have_text(f"{len(listings)} listings")
    expect(button).to_have_attribute("aria-expanded", "false")
    expect(first.locator("tr")).to_have_count(1)
    assert first.locator(".copyable .mono").inner_text() == rows[0]["figi"], "the best row stands for the security"
    button.click()
    figis = first.locator(".copyable .mono")
    expect(figis).to_have_count(len(listings))
    assert figis.all_inner_texts() == [row["figi"] for row in listings], "in the order of the answer"
    expect(first.locator(".listings")).to_be_focused()
    # With keys: right opens, left closes, down moves on.
    first.locator("tr:first-child th a").focus()
    tab.keyboard.press("ArrowLeft")
    expect(first.locator("tr")).to_have_count(1)
    tab.keyboard.press("ArrowRight")
    expect(first.locator("tr")).to_have_count(len(listings))
    tab.keyboard.press("ArrowDown")
    expect(first.locator("tr:nth-child(2) th a")).to_be_focused()
    tab.keyboard.press("ArrowLeft")
    expect(first.locator("tr:first-child th a")).to_be_focused()
    tab.keyboard.press("ArrowDown")
    expect(tab.locator(".rows tbody:nth-of-type(2) th a")).to_be_focused()
    tab.keyboard.press("End")
    tab.keyboard.press("Home")
    tab.keyboard.press("ArrowUp")
    expect(tab.locator("#query")).to_be_focused()
    page.close()


def reads_on(browser, options):
    """With words, further pages are read until 25 securities are there, but at most five pages."""
    page = Page(browser, options.base)
    tab = page.tab
    asked, headers = [], {}

    def answer(route):
        start = dict(parse_qsl(urlsplit(route.request.url).query)).get("start", "0")
        asked.append(start)
        from_row = int(start) * 100
        rows = [listing(at, share_class(at)) for at in range(from_row, from_row + 100)]
        first = {row["shareClassFIGI"]: row for row in reversed(rows)}.values()
        securities = [{**row, "listings": 1, "matched": ["name"], "isGuess": False} for row in reversed(first)]
        route.fulfill(headers=headers, json={"securities": securities, "data": rows, "next": str(int(start) + 1)})

    tab.route("**/find?*", answer)
    tab.route("**/facets?*", lambda route: route.fulfill(json={"total": 5000, "facets": {}}))

    # One company with 265 listings, then others.
    def share_class(at):
        return max(0, at - 264)

    page.go("#/search?query=apple", ".rows tbody tr")
    expect(tab.locator(".status")).to_contain_text("300 of 5,000 instruments · 36 securities")
    assert asked == ["0", "1", "2"], asked
    assert securities(tab)[:3] == ["T0", "T1", "T2"], "the next company is on the first screen"
    expect(tab.locator(".rows tbody").nth(1)).to_be_in_viewport()
    expect(tab.locator(".listings").first).to_have_text("265+ listings")
    tab.get_by_role("button", name="Show more").click()
    expect(tab.locator(".status")).to_contain_text("400 of")

    def share_class(at):  # noqa: F811
        return 0

    asked.clear()
    page.go("#/search?query=endless", ".rows tbody tr")
    expect(tab.locator(".status")).to_have_text("500 of 5,000 instruments · 1 security")
    assert len(asked) == 5, asked
    # No page is read automatically when few requests are left.
    asked.clear()
    headers["ratelimit-remaining"] = "4"
    page.go("#/search?query=scarce", ".rows tbody tr")
    expect(tab.locator(".status")).to_have_text("100 of 5,000 instruments · 1 security")
    tab.get_by_role("button", name="Show more").click()
    expect(tab.locator(".status")).to_have_text("200 of 5,000 instruments · 1 security")
    assert asked == ["0", "1"], asked
    page.close()


def facets(browser, options):
    """Next to each frequent value is the number of rows that it finds; other choices stay visible."""
    page = Page(browser, options.base)
    tab = page.go("#/search?query=ibm", ".facet-value .f-count")
    for name, value in (("level", "venue"), ("exchCode", "GR"), ("securityType2", "Common Stock")):
        page.go("#/search?query=ibm", ".facet-value .f-count")
        pressed = tab.locator(f"[data-field='{name} {value}']")
        expect(pressed.locator(".f-count")).to_have_text(re.compile(r"\d"))
        number = int(pressed.locator(".f-count").inner_text().replace(",", ""))
        before = tab.locator(f".facet-value[data-field^='{name} ']").all_inner_texts()
        pressed.click()
        tab.wait_for_url(re.compile(name))
        expect(tab.locator(".status")).to_contain_text(re.compile(rf"^{number:,} instruments? "))
        pressed = tab.locator(f"[data-field='{name} {value}']")
        expect(pressed).to_have_attribute("aria-pressed", "true")
        expect(pressed).to_be_focused()
        expect(pressed.locator(".f-count")).to_have_text(f"{number:,}")
        assert tab.locator(f".facet-value[data-field^='{name} ']").all_inner_texts() == before, "one can switch"
        pressed.click()
        expect(tab.locator(".chip")).to_have_count(0)
    page.close()


def sorted_rows(browser, options):
    """A column sorts the rows that are shown; the third click is the order of the answer."""
    page, tab = results(browser, options, "query=corp")
    answer = securities(tab)
    head = tab.locator("th.c-ticker").first
    head.get_by_role("button").click()
    expect(head).to_have_attribute("aria-sort", "ascending")
    up = securities(tab)
    assert sorted(up) == sorted(answer) and up != answer
    head.get_by_role("button").press("Enter")
    expect(head).to_have_attribute("aria-sort", "descending")
    assert securities(tab) == up[::-1] or len(set(up)) < len(up)
    head.get_by_role("button").click()
    assert head.get_attribute("aria-sort") is None
    assert securities(tab) == answer
    page.close()


def sorted_terms(browser, options):
    """Options and bonds are sorted by strike or coupon as numbers, and by their last day."""
    page = Page(browser, options.base)
    for query, rate in (
        ("#/search?securityType2=Option", r"[\d.]+"),
        ("#/search?marketSecDes=Corp", r"[\d.]+( \d+/\d+)?"),
    ):
        tab = page.go(query, ".rows tbody tr")
        expect(tab.locator(".status")).not_to_contain_text("reading on")

        def column(name):
            texts = tab.locator(f".rows tbody tr:first-child .{name}").all_inner_texts()
            return [text for text in texts if text]

        def number(text):
            whole, *fraction = re.search(rate, text)[0].split()
            return float(whole) + sum(int(above) / int(below) for above, below in [part.split("/") for part in fraction])

        tab.locator("[data-sort=terms]").click()
        rates = [number(text) for text in column("c-terms")]
        assert len(set(rates)) > 2 and rates == sorted(rates), rates
        tab.locator("[data-sort=last]").click()
        tab.locator("[data-sort=last]").click()
        days = column("c-last")
        assert len(set(days)) > 2 and days == sorted(days, reverse=True), days
    page.close()


def lines_of_one(browser, options):
    """One security shows its lines at once; a column sorts them too, and the address keeps the order."""
    page = Page(browser, options.base)
    tab = page.go(f"#/search?query={IBM}", ".rows tbody tr")
    rows = ask(options.base, "v3/search", {"query": IBM})["data"]
    shown = tab.locator(".rows .copyable .mono")
    expect(shown).to_have_count(len(rows))
    tab.locator("[data-sort=exch]").click()
    tab.locator("[data-sort=exch]").click()
    codes = tab.locator(".rows tbody .x-code").all_inner_texts()
    assert len(codes) > 3 and codes == sorted(codes, reverse=True), codes
    with tab.expect_download() as waiting:
        tab.get_by_role("button", name="Download CSV").click()
    assert [row["exchCode"] for row in csv.DictReader(io.StringIO(text_of(waiting)))] == codes
    assert tab.url.endswith("&sort=-exch"), tab.url
    tab.reload()
    tab.wait_for_selector(".rows tbody tr")
    expect(tab.locator("thead .c-exch")).to_have_attribute("aria-sort", "descending")
    assert tab.locator(".rows tbody .x-code").all_inner_texts() == codes
    # The order survives another filter, but not other words.
    tab.locator(".facet-value").first.click()
    tab.wait_for_url(re.compile("level=.*sort=-exch"))
    expect(tab.locator("thead .c-exch")).to_have_attribute("aria-sort", "descending")
    tab.locator("#query").fill("ibm")
    tab.keyboard.press("Enter")
    tab.wait_for_url(re.compile("query=ibm"))
    assert "sort" not in tab.url, tab.url
    page.go("#/search?query=ibm&sort=nonsense", ".rows tbody tr")
    expect(tab.locator("[aria-sort]")).to_have_count(0)
    page.close()


def all_listings(browser, options):
    """One button opens all securities, and closes them; the download has what is open."""
    page, tab = results(browser, options, "query=ibm")
    button = tab.get_by_role("button", name="All listings")
    expect(button).to_have_attribute("aria-pressed", "false")
    few = tab.locator(".rows tbody tr").count()
    button.click()
    expect(button).to_have_attribute("aria-pressed", "true")
    number = int(re.match(r"[\d,]+", tab.locator(".status").inner_text())[0].replace(",", ""))
    expect(tab.locator(".rows tbody tr")).to_have_count(number)
    with tab.expect_download() as waiting:
        tab.get_by_role("button", name="Download CSV").click()
    assert len(list(csv.DictReader(io.StringIO(text_of(waiting))))) == number > few
    tab.locator(".listings").first.click()
    expect(button).to_have_attribute("aria-pressed", "false")
    button.click()
    button.click()
    expect(tab.locator(".rows tbody tr")).to_have_count(few)
    page.close()


def taken(browser, options):
    """The download and the copied rows are what is shown, in its order."""
    page = Page(browser, options.base, permissions=["clipboard-read", "clipboard-write"])
    tab = page.go("#/search?query=ibm", ".rows tbody tr")
    expect(tab.locator(".status")).not_to_contain_text("reading on")
    tab.locator(".listings").first.click()
    tab.locator("[data-sort=figi]").click()
    shown = tab.locator(".rows .copyable .mono").all_inner_texts()
    with tab.expect_download() as waiting:
        tab.get_by_role("button", name="Download CSV").click()
    rows = list(csv.DictReader(io.StringIO(text_of(waiting))))
    assert [row["figi"] for row in rows] == shown
    assert rows[0].keys() >= {"ticker", "name", "exchCode", "exchange", "shareClassFIGI"}, rows[0].keys()
    tab.get_by_role("button", name="Copy rows").click()
    expect(tab.locator("#said")).to_have_text(f"{len(shown)} rows copied")
    lines = tab.evaluate("navigator.clipboard.readText()").splitlines()
    assert [line.split("\t")[0] for line in lines] == ["figi", *shown], lines[:2]
    page.close()
