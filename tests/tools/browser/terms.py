"""Checks of words and terms: what was meant, strike and maturity, names that are long."""

import re
from functools import partial
from urllib.parse import quote

from playwright.sync_api import expect

from results import listing
from tab import ISIN, WRONG_DIGIT, Page


def meant(browser, options):
    """When nothing is found, one click searches for what was meant."""
    page = Page(browser, options.base)
    tab = page.go("#/search?query=micrsoft", ".did-you-mean a")
    expect(tab.locator(".did-you-mean")).to_contain_text("Did you mean MICROSOFT CORP?")
    tab.locator("#query").focus()
    tab.keyboard.press("ArrowDown")
    expect(tab.get_by_role("link", name="MICROSOFT CORP")).to_be_focused()
    tab.keyboard.press("Enter")
    expect(tab.locator(".rows tbody th").first).to_have_text("MSFT")
    page.go("#/search?query=microsoft&exchCode=KS", ".did-you-mean a")
    expect(tab.locator(".did-you-mean")).to_contain_text(re.compile(r"Without filters microsoft finds \d+ instruments\."))
    tab.locator(".did-you-mean a").click()
    expect(tab.locator(".rows tbody th").first).to_have_text("MSFT")
    page.go("#/search?currency=USD&securityType2=Option&strike=0.001..0.001", ".did-you-mean a")
    expect(tab.locator(".did-you-mean p")).to_have_text(re.compile(r"^Without Strike 0.001, the other filters find [\d,]+ instruments?\.$"))
    tab.locator(".did-you-mean a").click()
    tab.wait_for_selector(".rows tbody tr")
    page.go(f"#/search?query={WRONG_DIGIT}", ".did-you-mean a")
    expect(tab.locator(".did-you-mean")).to_contain_text("the check digit should be 4")
    tab.get_by_role("link", name=ISIN).click()
    expect(tab.locator(".rows tbody th").first).to_have_text("IBM")
    # Names that differ only in letter case or punctuation are offered once.
    names = ["Microsoft Corp.", "MICROSOFT CORP", "Micro Soft"]
    tab.route("**/suggest?*", lambda route: route.fulfill(json={"data": [{**listing(at, at), "name": name} for at, name in enumerate(names)]}))
    page.go("#/search?query=micrrsoft", ".did-you-mean a")
    assert tab.locator(".did-you-mean a").all_inner_texts()[:-1] == ["Microsoft Corp.", "Micro Soft"]
    page.close()


def meant_as_terms(browser, options):
    """Words that are terms of options or bonds are offered as filters; else the words that find something."""
    page = Page(browser, options.base)
    tab = page.tab
    for query, filters, ticker in (
        ("AAPL call 2025 155", "securityType2=Option&optionType=Call&strike=155..155&expiration=2025-01-01..2025-12-31", "AAPL 01/17/25 C155"),
        ("AAPL call 01/17/25 C155", "securityType2=Option&optionType=Call&strike=155..155&expiration=2025-01-17..2025-01-17", "AAPL 01/17/25 C155"),
        # No option expires then, so fewer terms are used.
        ("AAPL calls 2099 155", "securityType2=Option&optionType=Call&strike=155..155", "AAPL 01/17/25 C155"),
        ("IBM 7% 2045", "coupon=7..7&maturity=2045-01-01..2045-12-31", "IBM 7 10/30/45"),
        ("IBM 2045", "maturity=2045-01-01..2045-12-31", "IBM 7 10/30/45"),
    ):
        page.go(f"#/search?query={quote(query)}", ".did-you-mean a")
        expect(tab.locator(".did-you-mean")).to_contain_text(re.compile(r"^As filters: .* finds [\d,]+ instruments?\."))
        tab.locator(".did-you-mean a").first.click()
        tab.wait_for_selector(".rows tbody tr")
        assert tab.url.split("&", 1)[1] == filters, tab.url
        expect(tab.locator(".rows tbody th").first).to_have_text(ticker)
    page.go("#/search?query=IBM%20ZZ", ".did-you-mean a")
    expect(tab.locator(".did-you-mean")).to_contain_text(re.compile(r"Without ZZ, IBM finds \d+ instruments\."))
    tab.locator(".did-you-mean a").click()
    expect(tab.locator(".rows tbody th").first).to_have_text("IBM")
    page.close()


def filled(rows, route):
    route.fulfill(json={"data": rows, "total": len(rows)})


LONG = "The Long and Winding Name of an Investment Company"


def terms(browser, options):
    """Strike, put or call and maturity can be read in full, on wide and on narrow screens."""
    for width in (380, 1280):
        page = Page(browser, options.base, width=width)
        for query, words in (
            ("AAPL 01/17/25 C155", ("Strike", "Call 155", "Expires", "2025-01-17")),
            ("IBM 5 7/8 11/29/32", ("Coupon", "5 7/8 %", "Matures", "2032-11-29")),
            ("IBM 7 10/30/45", ("Coupon", "7 %", "Matures", "2045-10-30")),
            ("CT UNVHGR 4 02/15/2020", ("Coupon", "4 %", "Matures", "2020-02-15")),
        ):
            tab = page.go(f"#/search?query={quote(query)}", ".rows tbody tr")
            row = tab.locator(".rows tbody tr").first
            cells = [tab.locator("thead .c-terms"), row.locator(".c-terms"), tab.locator("thead .c-last"), row.locator(".c-last")]
            for cell, text in zip(cells, words, strict=True):
                expect(cell).to_have_text(text)
                expect(cell).to_be_visible()
            for cell in (*cells, row.locator(".c-ticker")):
                assert cell.evaluate("cell => cell.scrollWidth <= cell.clientWidth"), (width, query)
        # Rows of mixed kinds have the name of neither kind.
        tab = page.go("#/search?marketSecDes=Corp&marketSecDes=Equity&securityType2=Option&securityType2=Corp", ".rows tbody tr")
        expect(tab.locator("thead .c-terms")).to_have_text("Terms")
        page.close()


def two_lines(browser, options):
    """A long name, ticker or type takes a second line, next to terms and without them; nothing is cut off."""
    rows = [{**listing(number, number), "name": LONG, "securityType": "PRIV PLACEMENT", "exchCode": "NOT LISTED"} for number in range(4)]
    # A security with several listings: their number has a column too.
    rows.append({**rows[0], "figi": rows[0]["figi"][:-1] + "9"})
    bonds = [{**row, "ticker": "CORTS 0.725 12/01/96 144A", "securityDescription": None, "marketSector": "Corp"} for row in rows]
    for width in (380, 1024, 1200, 1280, 1366, 1500, 1920):
        page = Page(browser, options.base, width=width)
        for answer in (rows, bonds):
            page.tab.route("**/v3/search", partial(filled, answer))
            tab = page.go(f"#/search?query=long{len(answer[0]['ticker'])}", ".rows tbody tr")
            row = tab.locator(".rows tbody tr").first
            expect(row.locator(".r-name")).to_have_text(LONG)
            for lines in row.locator(".lines").all():
                fits = lines.evaluate("one => one.scrollWidth <= one.clientWidth && one.scrollHeight <= one.clientHeight + 2")
                assert fits, (width, lines.inner_text())
            for cell in row.locator("td:is(.c-terms, .c-last, .c-exch):visible").all():
                assert answer is rows or cell.evaluate("cell => cell.scrollWidth <= cell.clientWidth"), (width, cell.inner_text())
            page.tab.unroute("**/v3/search")
        page.close()


def wide(browser, options):
    """A wide screen is used, and header and content begin and end at the same lines."""
    page = Page(browser, options.base, width=1920)
    tab = page.go("#/search?query=ibm", ".rows tbody tr")
    edges = "one => { const { left, right } = one.getBoundingClientRect(); return [left, right]; }"
    left, right = tab.locator(".searching").evaluate(edges)
    assert right - left > 1750, (left, right)
    assert abs(tab.locator(".mark").evaluate(edges)[0] - left) < 1
    assert abs(tab.locator("#theme").evaluate(edges)[1] - right) < 1
    assert abs(tab.locator("#query").evaluate(edges)[0] - tab.locator(".found").evaluate(edges)[0]) < 1
    for cell in tab.locator(".rows .c-name").all():
        assert cell.evaluate("cell => cell.scrollWidth <= cell.clientWidth"), cell.inner_text()
    # The heading stays visible, even above a row that the keyboard reaches.
    tab.locator(".listings").first.click()
    tab.keyboard.press("End")
    expect(tab.locator("thead .c-ticker")).to_be_in_viewport(ratio=1)
    tab.keyboard.press("Home")
    edges = "one => { const { top, bottom } = one.getBoundingClientRect(); return [top, bottom]; }"
    tab.evaluate("scrollTo(0, 200)")
    tab.keyboard.press("ArrowDown")
    tab.keyboard.press("ArrowUp")
    assert tab.locator(".rows tbody tr").first.evaluate(edges)[0] >= tab.locator("thead .c-ticker").evaluate(edges)[1]
    # The ticker and the name are more prominent than the level.
    look = "one => { const { fontSize, fontWeight } = getComputedStyle(one); return [parseFloat(fontSize), Number(fontWeight)]; }"
    row = tab.locator(".rows tbody tr").first
    ticker, name, level = (row.locator(part).evaluate(look) for part in (".c-ticker", ".r-name", ".level"))
    assert ticker >= name > level, (ticker, name, level)
    paper = "one => getComputedStyle(one).backgroundColor"
    assert row.locator(".level").evaluate(paper) == "rgba(0, 0, 0, 0)"
    page.close()
