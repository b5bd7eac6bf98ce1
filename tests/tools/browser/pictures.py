"""Screenshots of every view and of five brokers' files, for people to look at."""

import os

from brokers import FILES
from files import choose
from mapping import run
from tab import VIEWS, Page, view

NAMES = ["start", "search", "results", "filters", "nothing", "instrument", "bulk", "reference"]
SHAPES = [("wide", 1360, 900, "light"), ("dark", 1360, 900, "dark"), ("narrow", 360, 780, "light")]


def pictures(browser, options):
    """Wide, dark and narrow."""
    if not options.pictures:
        return "no folder is named"
    os.makedirs(options.pictures, exist_ok=True)
    for shape, width, height, scheme in SHAPES:
        page = Page(browser, options.base, width=width, height=height, scheme=scheme)
        for name, (route, wait) in zip(NAMES, VIEWS, strict=True):
            tab = view(page, route, wait)
            tab.evaluate("scrollTo(0, 0)")
            tab.wait_for_timeout(200)
            path = os.path.join(options.pictures, f"{name}-{shape}.png")
            tab.screenshot(path=path, full_page=name in ("bulk", "instrument"))
        for name, file in FILES.items():
            tab = page.go("#/bulk", "#identifiers")
            choose(tab, *file)
            run(tab)
            tab.evaluate("scrollTo(0, 0)")
            tab.screenshot(path=os.path.join(options.pictures, f"broker-{name}-{shape}.png"), full_page=True)
        page.close()
