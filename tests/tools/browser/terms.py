"""Checks of words and terms: what was meant, strike and maturity, names that are long."""

import re
from functools import partial
from urllib.parse import quote

from playwright.sync_api import expect

from results import listing
from tab import ISIN, WRONG_DIGIT, Page


def meant(browser, options):
    """When nothing holds the words, guesses come under a heading, or one click searches for what was meant."""
    page = Page(browser, options.base)
    tab = page.go("#/search?query=micrsoft", ".rows tbody tr")
    expect(tab.locator("h2.guesses")).to_have_text("Did you mean")
    expect(tab.locator(".status")).to_have_text(re.compile(r"^No exact result · \d+ guess(es)?$"))
    expect(tab.locator(".rows tbody th").first).to_have_text("MSFT")
    tab.locator("#query").focus()
    tab.keyboard.press("ArrowDown")
    expect(tab.get_by_role("link", name="MSFT")).to_be_focused()
    tab.keyboard.press("Enter")
    tab.wait_for_url(re.compile("#/instrument/"))
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
    page.go("#/search?query=IBM%20ZZ", ".did-you-mean a")
    expect(tab.locator(".did-you-mean")).to_contain_text(re.compile(r"Without ZZ, IBM finds \d+ instruments\."))
    page.close()


def read_as_filters(browser, options):
    """Words that are forms, terms or places become filters, marked as read; removing one asks without its text."""
    page = Page(browser, options.base)
    tab = page.tab
    for query, chips, ticker in (
        ("AAPL call 2025 155", ["call Put or call Call", "2025 Expiration 2025-01-01 to 2025-12-31", "155 Strike 155"], "AAPL 01/17/25 C155"),
        ("AAPL call 01/17/25 C155", ["call Put or call Call", "01/17/25 Expiration 2025-01-17", "C155 Strike 155"], "AAPL 01/17/25 C155"),
        ("IBM 7% 2045", ["7% Coupon, % 7", "2045 Maturity 2045-01-01 to 2045-12-31"], "IBM 7 10/30/45"),
        ("IBM 2045", ["2045 Maturity 2045-01-01 to 2045-12-31"], "IBM 7 10/30/45"),
        ("IBM US Equity", ["US Exchange code US", "Equity Market sector Equity"], "IBM"),
    ):
        page.go(f"#/search?query={quote(query)}", ".chip.read")
        shown = [" ".join(text.rstrip("×").split()) for text in tab.locator(".chip.read").all_inner_texts()]
        assert shown == chips, shown
        expect(tab.locator(".rows tbody th").first).to_have_text(ticker)
    # The counts are those of the narrowed question.
    number = int(re.search(r"([\d,]+) instruments?", tab.locator(".status").inner_text())[1].replace(",", ""))
    expect(tab.locator("[data-field='level composite'] .f-count")).to_have_text(re.compile(r"\d"))
    composites = int(tab.locator("[data-field='level composite'] .f-count").inner_text().replace(",", ""))
    assert 0 < composites <= number, (composites, number)
    # Removing a chip asks again without its text.
    tab.get_by_role("button", name="Remove the filter Market sector Equity, read from “Equity”").click()
    tab.wait_for_url(re.compile("query=IBM(%20|\\+)US$"))
    expect(tab.locator(".chip")).to_have_count(0)
    # A term that nothing fits is left out, and the page says so.
    page.go(f"#/search?query={quote('AAPL calls 2099 155')}", ".left-out")
    expect(tab.locator(".left-out")).to_have_text("Nothing that fits the other words also fits 2099, so it was left out.")
    expect(tab.locator(".rows tbody th").first).to_have_text("AAPL 01/17/25 C155")
    # So are the words next to an identifier.
    page.go(f"#/search?query={quote(f'WKN: 851399 / ISIN: {ISIN}')}", ".left-out")
    expect(tab.locator(".left-out")).to_have_text(f"Read as {ISIN}, without WKN: 851399 / ISIN.")
    expect(tab.locator(".rows tbody th").first).to_be_visible()
    # The suggestions say how the text is read.
    tab.locator("#query").fill("IBM US Equity")
    expect(tab.locator(".read-as")).to_contain_text("Read as IBM")
    expect(tab.locator("#suggestions [role=option]").first).to_contain_text("IBM")
    page.close()


def filled(rows, route):
    route.fulfill(json={"securities": [{**row, "listings": 1, "matched": ["name"], "isGuess": False} for row in rows], "data": rows})


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
            page.tab.route("**/find?*", partial(filled, answer))
            tab = page.go(f"#/search?query=long{len(answer[0]['ticker'])}", ".rows tbody tr")
            row = tab.locator(".rows tbody tr").first
            expect(row.locator(".r-name")).to_have_text(LONG)
            for lines in row.locator(".lines").all():
                fits = lines.evaluate("one => one.scrollWidth <= one.clientWidth && one.scrollHeight <= one.clientHeight + 2")
                assert fits, (width, lines.inner_text())
            for cell in row.locator("td:is(.c-terms, .c-last, .c-exch):visible").all():
                assert answer is rows or cell.evaluate("cell => cell.scrollWidth <= cell.clientWidth"), (width, cell.inner_text())
            page.tab.unroute("**/find?*")
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
