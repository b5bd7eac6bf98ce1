"""A tab of a browser without a screen, which also records errors and unexpected requests."""

import json
import os
import urllib.request
from urllib.parse import urlsplit

from playwright.sync_api import expect

CHROMIUM = os.environ.get("CHROMIUM", "/usr/bin/chromium")
# The browser itself makes no requests, and draws without a graphics card.
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--no-first-run",
]

IBM = "BBG000BLNNH6"
ISIN = "US4592001014"
SHARE_CLASS = "BBG001S5S399"
WRONG_DIGIT = "US4592001015"

# Every view, with an element that exists once the view is drawn.
VIEWS = [
    ("", "h1"),
    ("#/search", ".empty"),
    ("#/search?query=ibm", ".rows"),
    ("#/search?exchCode=US&exchCode=GR", ".rows"),
    ("#/search?query=zzqqxx", ".empty"),
    (f"#/instrument/{IBM}", ".tree"),
    ("#/bulk", "#identifiers"),
    ("#/reference", ".runner"),
]


class Page:
    """A tab, and the errors in it."""

    def __init__(self, browser, base, width=1280, height=860, scheme="light", **context):
        self.base, self.origin = base, "{0.scheme}://{0.netloc}".format(urlsplit(base))
        self.context = browser.new_context(
            viewport={"width": width, "height": height},
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
        self.tab.on("dialog", self._dialog)
        self.context.on("request", self._request)

    def _console(self, message):
        # A browser reports each refused request. Tests that cause one on purpose set `allowed`.
        refused = "status of" in message.text or "ERR_FAILED" in message.text
        if message.type == "error" and refused and self.allowed:
            return
        if message.type in ("error", "warning"):
            self.faults.append(message.text)

    def _dialog(self, dialog):
        self.faults.append(f"a dialog: {dialog.message}")
        dialog.dismiss()

    def _request(self, request):
        if not request.url.startswith((f"{self.origin}/", f"blob:{self.origin}/")):
            self.faults.append(f"a call to another origin: {request.url}")

    def go(self, route, wait="#title"):
        self.tab.goto(f"{self.base}/{route}")
        if wait:
            self.tab.wait_for_selector(wait, state="attached")
        return self.tab

    def close(self):
        self.context.close()
        assert not self.faults, self.faults


def view(page, route, wait):
    """Shows a view with its panels open."""
    tab = page.go(route, wait)
    if route == "":
        tab.locator("#query").press_sequentially("ibm")
        tab.wait_for_selector("#suggestions [role=option]")
    if route.startswith("#/search?exchCode"):
        if tab.locator(".side-button").is_visible() and not tab.locator(".side.unfolded").count():
            tab.locator(".side-button").click()
        tab.locator("[data-field=currency]").click()
        tab.wait_for_selector(".picker-panel:not([hidden]) [role=option]")
    if route == "#/bulk":
        tab.get_by_role("button", name="Example").click()
        tab.locator(".begin .primary").click()
        expect(tab.locator(".run-line")).to_contain_text("Done", timeout=60_000)
    return tab


def ask(base, path, body=None):
    """The JSON answer of the server to a request that bypasses the browser."""
    data = None if body is None else json.dumps(body).encode()
    headers = {"Content-Type": "application/json"} if data else {}
    request = urllib.request.Request(f"{base}/{path}", data=data, headers=headers)
    with urllib.request.urlopen(request, timeout=30) as answer:
        return json.load(answer)


def download(tab):
    """The text of the file that the button downloads."""
    with tab.expect_download() as waiting:
        tab.get_by_role("button", name="Download CSV").click()
    return text_of(waiting)


def text_of(waiting):
    """The text of a downloaded file, after the mark by which a spreadsheet knows UTF-8."""
    with open(waiting.value.path(), newline="", encoding="utf-8") as file:
        text = file.read()
    assert text[0] == "\ufeff" and text.count("\ufeff", 0, 2) == 1, text[:20]
    return text[1:]
