"""The reference, narrow screens, light and dark, the keyboard."""

import json

from playwright.sync_api import expect

from tab import ISIN, SHARE_CLASS, VIEWS, WRONG_DIGIT, Page, text_of, view


def reference(browser, options):
    """Rendered from the schema; its examples run and can be copied."""
    page = Page(browser, options.base, permissions=["clipboard-read", "clipboard-write"])
    tab = page.go("#/reference", ".runner")
    expect(tab.locator(".operation")).to_have_count(9)
    posted = ("/mapping", "/search", "/filter", "/resolve")
    read = ("/mapping/values/{key}", "/resolve", "/suggest", "/facets", "/find")
    for method, path in [("POST", path) for path in posted] + [("GET", path) for path in read]:
        run = f"[data-run='{path}'][data-method='{method}']"
        tab.locator(run).click()
        output = tab.locator(f".runner:has({run}) .output")
        expect(output.locator(".status-line")).to_contain_text("200 OK")
        json.loads(output.locator("pre").inner_text()) if path != "/mapping/values/{key}" else None
    # Each endpoint is under its own address: with a version, or at the root.
    heads = tab.locator(".operation h2 code").all_inner_texts()
    assert {"/v3/mapping", "/v3/search", "/suggest", "/resolve", "/facets"} <= set(heads), heads
    tab.locator(".operation", has=tab.locator("[data-run='/facets']")).get_by_role("button", name="Copy as curl").click()
    expect(tab.locator("#said")).to_contain_text("curl command is copied")
    curl = tab.evaluate("navigator.clipboard.readText()")
    assert curl.startswith(f"curl '{page.base}/facets?properties="), curl
    tab.get_by_role("button", name="Copy as curl").first.click()
    expect(tab.locator("#said")).to_contain_text("curl command is copied")
    curl = tab.evaluate("navigator.clipboard.readText()")
    assert curl.startswith("curl '") and "/v3/mapping'" in curl and "-d '[" in curl, curl
    page.go("#/reference/FigiResult")
    expect(tab.locator("[id='ref-FigiResult'] table")).to_be_visible()
    page.close()


def narrow(browser, options):
    """No view is wider than a small screen."""
    page = Page(browser, options.base, width=360)
    for route, wait in VIEWS:
        tab = view(page, route, wait)
        width = tab.evaluate("document.documentElement.scrollWidth")
        assert width <= 360, f"{route} is {width} wide"
    page.close()
    page = Page(browser, options.base, width=320)
    tab = page.go(f"#/instrument/{SHARE_CLASS}", ".tree")
    assert tab.evaluate("document.querySelector('main').scrollWidth") <= 320
    page.close()


def theme(browser, options):
    """The system's preference holds until a person chooses; the choice stays."""
    page = Page(browser, options.base, scheme="dark")
    tab = page.go("")
    paper = "getComputedStyle(document.body).backgroundColor"
    dark = tab.evaluate(paper)
    tab.locator("#theme").click()
    light = tab.evaluate(paper)
    assert dark != light
    tab.reload()
    assert tab.evaluate(paper) == light
    page.close()


def printed(browser, options):
    """On paper there is the answer and nothing to press, dark on light also where the screen is dark."""
    page = Page(browser, options.base, scheme="dark")
    for route, wait in VIEWS:
        tab = view(page, route, wait)
        tab.emulate_media(media="print", color_scheme="dark")
        for part in (".top", ".foot", ".side", ".acts", ".bulk-in", ".run-buttons"):
            for one in tab.locator(part).all():
                expect(one).to_be_hidden()
        ink = tab.evaluate("getComputedStyle(document.body).color")
        assert ink == "rgb(23, 27, 30)", (route, ink)
        tab.emulate_media(media="screen", color_scheme="dark")
    page.close()


def keyboard(browser, options):
    """From the address bar to a result without a pointer; the focus is always visible."""
    page = Page(browser, options.base)
    tab = page.go("#/search?query=ibm", ".rows tbody tr")
    tab.locator("body").evaluate("body => { document.activeElement.blur(); }")
    tab.keyboard.press("Tab")
    expect(tab.locator(".skip").first).to_be_focused()
    tab.keyboard.press("Enter")
    expect(tab.locator("main")).to_be_focused()
    assert "query=ibm" in tab.url, "the skip link is not a route"
    for _ in range(60):
        tab.keyboard.press("Tab")
        outline = tab.evaluate("(() => { const one = document.activeElement; return one.matches('body') ? 'solid' : getComputedStyle(one).outlineStyle; })()")
        assert outline != "none", tab.evaluate("document.activeElement.outerHTML.slice(0, 120)")
        if tab.evaluate("document.activeElement.closest('.rows tbody th') !== null"):
            break
    tab.keyboard.press("Enter")
    tab.wait_for_selector(".family")
    expect(tab.locator("h1")).to_be_focused()
    page.close()


def keyboard_mapping(browser, options):
    """A list is mapped, looked through and saved without a pointer."""
    page = Page(browser, options.base)
    tab = page.go("#/bulk", "#identifiers")

    def to(selector, most=40):
        for _ in range(most):
            tab.keyboard.press("Tab")
            if tab.evaluate("selector => document.activeElement.matches(selector)", selector):
                return
        raise AssertionError(f"{selector} cannot be reached")

    to("#identifiers")
    tab.keyboard.insert_text(f"{ISIN}\nNO-NE-SUCH\n{WRONG_DIGIT}")
    expect(tab.locator(".begin .primary")).to_contain_text("Map 3 rows")
    expect(tab.locator(".recognition")).to_contain_text("own form")
    # After a kind is chosen, the focus stays.
    to("[data-field=kind]")
    tab.keyboard.press("ArrowDown")
    expect(tab.locator("[data-field=kind]")).to_be_focused()
    tab.keyboard.press("ArrowUp")
    to("[data-field='remove 0']")
    tab.keyboard.press("Enter")
    expect(tab.locator("[data-field='add step']")).to_be_focused()
    to(".begin .primary")
    tab.keyboard.press("Enter")
    expect(tab.locator(".run-line")).to_contain_text("Done")
    to("[role=tab][aria-selected=true]")
    tab.keyboard.press("End")
    expect(tab.locator("#tab-invalid")).to_be_focused()
    to("#outcome .v-table")
    # The correction moves the row to another tab.
    to("#outcome button[data-row]")
    tab.keyboard.press("Enter")
    expect(tab.locator("#tab-invalid .tally")).to_have_text("0")
    tab.locator("#tab-invalid").focus()
    for _ in range(2):
        tab.keyboard.press("ArrowLeft")
    expect(tab.locator("#tab-ambiguous")).to_have_attribute("aria-selected", "true")
    to("#outcome select[data-row]")
    tab.keyboard.press("ArrowDown")
    # The corrected row may mean the same security.
    expect(tab.locator("#tab-resolved .tally")).to_have_text("2")
    for _ in range(60):
        tab.keyboard.press("Shift+Tab")
        if tab.evaluate("document.activeElement.textContent === 'Download CSV'"):
            break
    with tab.expect_download() as waiting:
        tab.keyboard.press("Enter")
    assert ISIN in text_of(waiting)
    page.close()
