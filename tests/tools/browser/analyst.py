"""Checks of what analysts need: securities instead of listings, counts, terms, names, ways out."""

import csv
import io
import json
import re
from functools import partial
from urllib.parse import quote

from playwright.sync_api import expect

from tab import IBM, ISIN, SHARE_CLASS, WRONG_DIGIT, Page, ask, text_of

ABOUT = {
    "instruments": 20051,
    "generation": 7,
    "built": "2026-11-22T03:04:05Z",
    "sample": False,
    "exchanges": {"LN": "London Stock Exchange", "US": "United States", "GR": "Germany"},
    "examples": {"ticker": "MSFT", "name": "microsoft corp"},
}


def named(page):
    """A tab whose server reports what is in its data."""
    page.tab.route("**/about", lambda route: route.fulfill(json=ABOUT))
    return page.tab


def securities(tab):
    """The ticker of the first row of each security."""
    return tab.locator(".rows tbody tr:first-child th").all_inner_texts()


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
    # By keys: right opens, left closes, down goes on.
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


def listing(number, share_class):
    """A row as the server has it."""
    names = ("figi", "name", "ticker", "exchCode", "compositeFIGI", "securityType", "marketSector", "shareClassFIGI", "securityType2", "securityDescription")
    return dict.fromkeys(names) | {"figi": f"BBG{number:09}", "ticker": f"T{share_class}", "name": f"COMPANY {share_class}", "shareClassFIGI": f"BBG001{share_class:06}"}


def reads_on(browser, options):
    """With words, further pages are read until 25 securities are there, but at most five pages."""
    page = Page(browser, options.base)
    tab = page.tab
    asked, headers = [], {}

    def answer(route):
        start = json.loads(route.request.post_data).get("start", "0")
        asked.append(start)
        from_row = int(start) * 100
        route.fulfill(headers=headers, json={"data": [listing(at, share_class(at)) for at in range(from_row, from_row + 100)], "next": str(int(start) + 1)})

    tab.route("**/v3/search", answer)
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
    # Not when few requests are left.
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
    page = Page(browser, options.base)
    tab = page.go("#/search?query=corp", ".rows tbody tr")
    expect(tab.locator(".status")).not_to_contain_text("reading on")
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
    # The order stays with another filter, and ends with other words.
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
    page = Page(browser, options.base)
    tab = page.go("#/search?query=ibm", ".rows tbody tr")
    expect(tab.locator(".status")).not_to_contain_text("reading on")
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
        # No option expires then: with fewer terms.
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
        # Mixed kinds have neither's name.
        tab = page.go("#/search?marketSecDes=Corp&marketSecDes=Equity&securityType2=Option&securityType2=Corp", ".rows tbody tr")
        expect(tab.locator("thead .c-terms")).to_have_text("Terms")
        page.close()


def filled(rows, route):
    route.fulfill(json={"data": rows, "total": len(rows)})


LONG = "The Long and Winding Name of an Investment Company"


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
    # The heading stays in view, also over a row that the keyboard reaches.
    tab.locator(".listings").first.click()
    tab.keyboard.press("End")
    expect(tab.locator("thead .c-ticker")).to_be_in_viewport(ratio=1)
    tab.keyboard.press("Home")
    edges = "one => { const { top, bottom } = one.getBoundingClientRect(); return [top, bottom]; }"
    tab.evaluate("scrollTo(0, 200)")
    tab.keyboard.press("ArrowDown")
    tab.keyboard.press("ArrowUp")
    assert tab.locator(".rows tbody tr").first.evaluate(edges)[0] >= tab.locator("thead .c-ticker").evaluate(edges)[1]
    # The ticker and the name are louder than the level.
    look = "one => { const { fontSize, fontWeight } = getComputedStyle(one); return [parseFloat(fontSize), Number(fontWeight)]; }"
    row = tab.locator(".rows tbody tr").first
    ticker, name, level = (row.locator(part).evaluate(look) for part in (".c-ticker", ".r-name", ".level"))
    assert ticker >= name > level, (ticker, name, level)
    paper = "one => getComputedStyle(one).backgroundColor"
    assert row.locator(".level").evaluate(paper) == "rgba(0, 0, 0, 0)"
    page.close()


def names(browser, options):
    """Exchanges have their names in rows, tooltips, the family and the lists of values."""
    page = Page(browser, options.base, width=1920)
    tab = named(page)
    page.go("#/search?query=ibm", ".rows tbody tr")
    expect(tab.locator(".rows tbody .c-exch").first).to_have_text("US United States")
    expect(tab.locator(".rows tbody .exchange").first).to_have_attribute("title", "United States")
    tab.locator("[data-field=exchCode]").click()
    option = tab.locator(".picker-panel:not([hidden]) [role=option]")
    for typed in ("LSE", "LONDON"):
        tab.locator(".picker-panel:not([hidden]) input").fill(typed)
        expect(option).to_have_count(1)
        expect(option).to_contain_text("LN")
    tab.keyboard.press("Enter")
    tab.keyboard.press("Escape")
    tab.wait_for_url(re.compile("exchCode=LN"))
    expect(tab.locator(".chip")).to_have_attribute("title", "London Stock Exchange")
    page.go(f"#/instrument/{IBM}", ".tree")
    expect(tab.locator(".tree .present")).to_contain_text("United States")
    expect(tab.locator(".facts")).to_contain_text("United States")
    page.go("#/search?query=microsoft", ".facet-value")
    expect(tab.locator("[data-field='exchCode US']")).to_contain_text("United States")
    # Also when the names come last.
    page.tab.route("**/about", lambda route: (tab.wait_for_timeout(800), route.fulfill(json=ABOUT)))
    page.go("#/search?query=ibm", ".facet-value")
    tab.reload()
    expect(tab.locator("[data-field='exchCode GR']")).to_contain_text("Germany")
    page.close()


def picker(browser, options):
    """A list of values has only those that find something, each with its number."""
    page = Page(browser, options.base)
    tab = page.go("#/search?query=ibm&exchCode=US", ".rows tbody tr")
    tab.locator("[data-field=exchCode]").click()
    shown = tab.locator(".picker-panel:not([hidden]) [role=option]")
    expect(shown.first).to_be_visible()
    values = ask(options.base, "facets?query=ibm&properties=exchCode")["facets"]["exchCode"]["values"]
    assert len(values) > 5
    texts = shown.evaluate_all("all => all.map((one) => [one.children[1].textContent, one.lastChild.textContent])")
    assert sorted(texts) == sorted([one["value"], f"{one['count']:,}"] for one in values), texts
    page.close()


def family_words(tab):
    return tab.locator(".family-head p").inner_text()


def counts_agree(browser, options):
    """The number of listings is the same in suggestions, results and family, and the sum of its parts."""
    page = Page(browser, options.base)
    tab = page.go(f"#/search?query={SHARE_CLASS}", ".rows tbody tr")
    number = int(re.match(r"\d+", tab.locator(".listings").first.inner_text())[0])
    tab.locator("#query").fill("ibm")
    expect(tab.locator("#suggestions [role=option]").first).to_contain_text(f"{number} listings")
    page.go(f"#/instrument/{IBM}", ".tree")
    all_, composites, venues = map(int, re.findall(r"\d+", family_words(tab)))
    assert all_ == number == composites + venues, family_words(tab)
    assert tab.locator(".tree a.t-link, .tree span.t-link").count() == number
    # IBM's composite in London is not in the sample: its branch is folded away.
    hidden = tab.locator(".t-partial")
    expect(hidden.locator("summary").first).to_have_text("1 venue of 1 composite that are not in the data")
    expect(hidden.locator(".t-link").first).to_be_hidden()
    hidden.locator("summary").first.click()
    expect(hidden.locator(".t-link").first).to_be_visible()
    page.close()


def share_class(browser, options):
    """A share class has a separate page, which the family and the identifiers link."""
    page = Page(browser, options.base)
    tab = page.tab
    page.go(f"#/instrument/{IBM}", ".tree")
    words = family_words(tab)
    tab.get_by_role("link", name="its family").click()
    expect(tab.locator("h1")).to_have_text("INTL BUSINESS MACHINES CORP")
    assert "INTL BUSINESS" in tab.title(), tab.title()
    expect(tab.locator(".head-line")).to_contain_text("share class")
    expect(tab.locator(".pairs .copyable")).to_have_text(SHARE_CLASS)
    # A search for it leads here too.
    page.go(f"#/search?query={SHARE_CLASS.lower()}", ".share-class-link")
    tab.get_by_role("link", name="its page").click()
    expect(tab.locator("h1")).to_have_text("INTL BUSINESS MACHINES CORP")
    assert family_words(tab) == words
    expect(tab.locator("[aria-current=true]")).to_have_count(0)
    tab.locator(".tree a.t-link").first.click()
    tab.get_by_role("link", name="Its page").click()
    expect(tab.locator("h1")).to_have_text("INTL BUSINESS MACHINES CORP")
    page.close()


def start(browser, options):
    """The start page says what is in the data, and its examples find something, in any data."""
    page = Page(browser, options.base)
    tab = named(page)
    page.go("", ".examples li")
    expect(tab.locator(".in-here")).to_contain_text("20,051 instruments, of 22 November 2026.")
    links = [link.get_attribute("href") for link in tab.locator(".examples a").all()]
    assert len(links) == 5 and any("MSFT" in link for link in links), links
    for link in links:
        page.go(link, ".rows tbody tr")
    page.close()
    # The server's own report, over the sample and over other data.
    for base, what in (options.base, "the sample that comes with the program"), (options.hostile, "instruments, of"):
        if not base:
            continue
        page = Page(browser, base)
        tab = page.go("", ".examples li")
        expect(tab.locator(".in-here")).to_contain_text(what)
        links = [link.get_attribute("href") for link in tab.locator(".examples a").all()]
        assert len(links) >= 3, links
        assert base == options.hostile or any("IBM" in link for link in links), links
        for link in links:
            page.go(link, ".rows tbody tr")
        page.close()


def three_keys(browser, options):
    """From the search box, the first result is at most three keys away."""
    page = Page(browser, options.base)
    tab = page.go("#/search?query=ibm", ".rows tbody tr")
    first = tab.locator(".rows tbody th a").first
    tab.locator("#query").focus()
    tab.keyboard.press("ArrowDown")
    expect(first).to_be_focused()
    tab.locator("#query").focus()
    for _ in range(2):
        tab.keyboard.press("Tab")
        if tab.evaluate("document.activeElement.id") == "to-results":
            break
    expect(tab.locator("#to-results")).to_be_in_viewport()
    tab.keyboard.press("Enter")
    expect(first).to_be_focused()
    # Straight from typing: Enter searches, and the arrow goes into the list.
    tab.locator("#query").fill("apple")
    tab.keyboard.press("Enter")
    tab.wait_for_url(re.compile("query=apple"))
    expect(tab.locator(".rows tbody th").first).to_have_text("AAPL")
    tab.keyboard.press("ArrowDown")
    expect(first).to_be_focused()
    # One more copies its FIGI.
    tab.keyboard.press("c")
    expect(tab.locator("#said")).to_have_text(re.compile("^FIGI BBG.* copied$"))
    tab.keyboard.press("Enter")
    tab.wait_for_url(re.compile("#/instrument/"))
    page.close()


def copied(browser, options):
    """The word that confirms a copy is not cut off, at any width."""
    for width in (380, 1280, 1920):
        page = Page(browser, options.base, width=width, permissions=["clipboard-read", "clipboard-write"])
        tab = page.go("#/search?query=ibm", ".rows tbody tr")
        button = tab.locator(".rows .copyable").first
        button.click()
        expect(button).to_have_class(re.compile("copied"))
        assert "Copied" in button.evaluate("one => getComputedStyle(one, '::after').content")
        # The word is drawn inside the button, and the button inside the table.
        assert button.evaluate("one => one.scrollWidth <= one.clientWidth"), width
        end, edge = button.evaluate("one => [one.getBoundingClientRect().right, one.closest('.scroller').getBoundingClientRect().right]")
        assert end <= edge + 1, (width, end, edge)
        page.close()


def underlying(browser, options):
    """An option leads to its underlying, and the underlying to its options."""
    page = Page(browser, options.base)
    tab = page.go("#/instrument/BBG019KNL404", ".related li")
    expect(tab.locator(".related li").first).to_have_text("Underlying: AAPL US APPLE INC")
    tab.locator(".related a").first.click()
    expect(tab.locator("h1")).to_have_text("AAPL US")
    tab.get_by_role("link", name=re.compile(r"^\d+ options on AAPL US$")).click()
    tab.wait_for_selector(".rows tbody tr")
    assert all("AAPL" in ticker for ticker in securities(tab)), securities(tab)
    # An option at an exchange that lists no shares: its name says on what it is.
    option = {"figi": IBM, "name": "May 26 Calls on AAPL US", "ticker": "AAPL 05/20/26 C330", "exchCode": "UG", "marketSector": "Equity",
              "securityType": "Equity Option", "securityType2": "Option", "compositeFIGI": "BBG0222Z51R6", "identifiers": {}}
    kin = {"shareClassFIGI": None, "composites": [{"compositeFIGI": "BBG0222Z51R6", "composite": None, "venues": [option]}]}
    tab.route("**/instruments/*", lambda route: route.fulfill(json={"instrument": option, "family": kin}))
    page.go(f"#/instrument/{IBM}", ".related li")
    expect(tab.locator(".related li").first).to_have_text("Underlying: AAPL US APPLE INC")
    expect(tab.locator(".head-line")).to_contain_text("Call 330 · 2026-05-20")
    expect(tab.locator(".family")).to_contain_text("Neither its composite nor another listing is in the data.")
    page.close()
