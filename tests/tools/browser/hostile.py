"""Data that look like code, and a server with limits."""

import re

from playwright.sync_api import expect

from tab import Page, ask

# Elements that exist only if a text of the data was inserted as HTML.
MADE = "document.querySelectorAll('main :is(script, img, iframe, b, svg[onload]), [onerror], [onload]').length"


def escaped(browser, options):
    """Texts of the data are shown as texts, in every view, and never run."""
    if not options.hostile:
        return "no server is named"
    page = Page(browser, options.hostile, permissions=["clipboard-read", "clipboard-write"])
    tab = page.tab
    rows = ask(options.hostile, "v3/filter", {"includeUnlistedEquities": True})["data"]
    row = next(row for row in rows if "<script>" in (row["name"] or ""))

    def harmless(where):
        assert tab.evaluate("window.hit") is None, f"code of the data ran: {where}"
        assert tab.evaluate(MADE) == 0, f"markup of the data is in the document: {where}"

    page.go("#/search?includeUnlistedEquities=true", ".rows tbody tr")
    expect(tab.locator(".rows")).to_contain_text(row["name"])
    expect(tab.locator(".rows")).to_contain_text(row["ticker"])
    harmless("filter")
    page.go("#/search?query=window", ".rows tbody tr")
    expect(tab.locator(".rows")).to_contain_text(row["name"])
    harmless("search")
    tab.locator("#query").fill("")
    tab.locator("#query").press_sequentially("window")
    expect(tab.locator("#suggestions")).to_contain_text(row["name"])
    harmless("suggestions")
    page.go(f"#/instrument/{row['figi']}", ".family")
    for text in (row["ticker"], row["name"], row["exchCode"], row["securityType"], "<img src=x onerror=hit=1>"):
        expect(tab.locator("main")).to_contain_text(text)
    assert row["ticker"] in tab.title()
    harmless("instrument")
    tab.get_by_role("button", name="Copy FIGI").first.click()
    tab.locator(".pairs .copyable", has_text="<IMG SRC").first.click()
    expect(tab.locator("#said")).to_contain_text("copied")
    harmless("copied")
    # In a list of values, as a chosen value, and in a chip.
    page.go("#/search")
    tab.locator("[data-field=exchCode]").click()
    tab.locator(".picker-panel:not([hidden]) [role=option]", has_text=row["exchCode"]).click()
    tab.keyboard.press("Escape")
    expect(tab.locator(".chip")).to_contain_text(row["exchCode"])
    tab.wait_for_selector(".rows tbody tr")
    harmless("filters")
    # As a pasted identifier, and as a found row.
    page.go("#/bulk", "#identifiers")
    tab.locator("#identifiers").fill(f"{row['ticker']}\n<b onclick=hit=1>none</b>")
    tab.locator(".begin .primary").click()
    expect(tab.locator(".run-line")).to_contain_text("Done")
    expect(tab.locator("#outcome")).to_contain_text(row["name"])
    tab.locator("#tab-unknown").click()
    expect(tab.locator("#outcome")).to_contain_text("<b onclick=hit=1>none</b>")
    harmless("bulk")
    # In the URL, and in an answer that is shown.
    page.go("#/search?query=" + "%3Cimg%20src%3Dx%20onerror%3Dhit%3D1%3E", "h1")
    expect(tab.locator("h1")).to_contain_text("<img src=x onerror=hit=1>")
    harmless("address")
    page.go("#/reference", ".runner")
    tab.locator("[data-run='/mapping/values/{key}']").click()
    expect(tab.locator(".output").nth(3)).to_contain_text("200 OK")
    harmless("reference")
    page.close()


def policy(browser, options):
    """The browser itself refuses code that is not a file of the page."""
    page = Page(browser, options.base)
    tab = page.go("")
    tab.evaluate(
        """() => {
          const script = document.createElement('script');
          script.textContent = 'window.hit = 1';
          document.head.append(script);
          const image = document.createElement('img');
          image.src = 'data:image/gif;base64,R0lGODlhAQABAAAAACw=';
          document.body.append(image);
        }"""
    )
    tab.wait_for_timeout(200)
    assert tab.evaluate("window.hit") is None, "inline code ran"
    refused = [fault for fault in page.faults if "Content Security Policy" in fault]
    assert len(refused) >= 2, page.faults
    page.faults = [fault for fault in page.faults if fault not in refused and "data:image/gif" not in fault]
    page.close()


def own_window(browser, options):
    """At default settings a person is not stopped after five searches."""
    if not options.default:
        return "no server is named"
    page = Page(browser, options.default)
    for number in range(12):
        page.go(f"#/search?query=word{number}", ".empty, .rows, .notice")
        expect(page.tab.locator(".notice.limit")).to_have_count(0)
    page.close()


def real_limits(browser, options):
    """The server's own limit: shown with its seconds and its figures."""
    if not options.limited:
        return "no server is named"
    page = Page(browser, options.limited)
    page.allowed = 1
    tab = page.tab
    for sector in ["Equity", "Corp", "Govt", "Index", "Curncy", "Comdty"]:
        page.go(f"#/search?marketSecDes={sector}", ".empty, .rows, .notice")
    notice = tab.locator(".notice.limit")
    expect(notice).to_contain_text("request limit is reached (5 requests in 60 s)")
    expect(notice).to_contain_text(re.compile(r"tries again in (\d\d?|1 min)"))
    page.close()
