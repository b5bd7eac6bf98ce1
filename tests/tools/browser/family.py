"""Checks of names of exchanges, of the family of an instrument, and of the start page."""

import re

from playwright.sync_api import expect

from results import securities
from tab import IBM, SHARE_CLASS, Page, ask


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
    # This must also work when the names arrive last.
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
    # Right after typing, Enter searches, and the arrow key moves into the list.
    tab.locator("#query").fill("apple")
    tab.keyboard.press("Enter")
    tab.wait_for_url(re.compile("query=apple"))
    expect(tab.locator(".rows tbody th").first).to_have_text("AAPL")
    tab.keyboard.press("ArrowDown")
    expect(first).to_be_focused()
    # The key c copies the FIGI of the row.
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
    # The option's exchange lists no shares, but the option's name has the underlying.
    option = {"figi": IBM, "name": "May 26 Calls on AAPL US", "ticker": "AAPL 05/20/26 C330", "exchCode": "UG", "marketSector": "Equity",
              "securityType": "Equity Option", "securityType2": "Option", "compositeFIGI": "BBG0222Z51R6", "identifiers": {}}
    kin = {"shareClassFIGI": None, "composites": [{"compositeFIGI": "BBG0222Z51R6", "composite": None, "venues": [option]}]}
    tab.route("**/instruments/*", lambda route: route.fulfill(json={"instrument": option, "family": kin}))
    page.go(f"#/instrument/{IBM}", ".related li")
    expect(tab.locator(".related li").first).to_have_text("Underlying: AAPL US APPLE INC")
    expect(tab.locator(".head-line")).to_contain_text("Call 330 · 2026-05-20")
    expect(tab.locator(".family")).to_contain_text("Neither its composite nor another listing is in the data.")
    page.close()
