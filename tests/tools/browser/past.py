"""The past: the history of an instrument, FIGIs that have left the data, and lists as of a day."""

import os
import re

from playwright.sync_api import expect

from access import ACCESS
from mapping import fill, run, table_of, without_steps
from tab import IBM, Page, download

META, FUND, TWITTER, MICROSOFT = "BBG000MM2P62", "BBG011MM1B25", "BBG000H6HNW3", "BBG000BPH459"
TWINS = ["BBG00ZNKXY10", "BBG00ZNKXY29"]
WIDTHS = [("phone", 390), ("wide", 1280), ("widest", 1920)]
TABLE = "Ticker\tTraded\nMETA\t2022-05-20\nFB\t2022-05-20\nMETA\t2022-06-10\nTWTR\t2022-06-20\nMSFT\t2021-01-04\nMSFT\t\n"


def picture(options, tab, name):
    """Saves a screenshot, and fails if the page is wider than the screen."""
    shown = tab.evaluate("[document.documentElement.scrollWidth, innerWidth]")
    assert shown[0] <= shown[1], (name, shown)
    if options.pictures:
        os.makedirs(options.pictures, exist_ok=True)
        tab.evaluate("scrollTo(0, 0)")
        tab.wait_for_timeout(200)
        tab.screenshot(path=os.path.join(options.pictures, f"past-{name}.png"), full_page=True)


def narrow(tab):
    return tab.viewport_size["width"] < 640


def each_width(browser, options, route, wait, name, **context):
    """A tab at each width with a view; its screenshot is saved after the caller has used it."""
    for shape, width in WIDTHS:
        page = Page(browser, options.past, width=width, **context)
        tab = page.go(route, wait)
        yield page, tab
        picture(options, tab, f"{name}-{shape}")
        page.close()


def history(browser, options):
    """The history of an instrument says the days of its versions, and what differed."""
    for _, tab in each_width(browser, options, f"#/instrument/{META}", ".history", "history"):
        expect(tab.locator(".version-days")).to_have_text(["2022-06-09 – today", "2022-05-18 – 2022-06-08"])
        older = tab.locator(".version").nth(1)
        expect(older.locator("dt")).to_have_text(["Name", "Ticker"])
        expect(older.locator("dd")).to_have_text(["FACEBOOK INC-CLASS A", "FB"])
        expect(tab.locator(".history")).to_contain_text("Observed since 2022-05-18; what was before is not known.")
        expect(tab.locator(".family .present")).to_be_visible()
    page = Page(browser, options.past)
    tab = page.go(f"#/instrument/{MICROSOFT}", ".history")
    expect(tab.locator(".version-days")).to_have_text(["2022-05-18 – today"])
    expect(tab.locator(".version")).to_contain_text("In the data since 2022-06-01 only: ISIN, CUSIP.")
    page.close()


def retired(browser, options):
    """A FIGI that has left the data shows its last known row, the last day, and its history."""
    for page, tab in each_width(browser, options, "#/", "#title, h1", "retired"):
        page.allowed = 1
        page.go(f"#/instrument/{TWITTER}", ".history")
        expect(tab.locator("h1")).to_contain_text("TWTR")
        assert "TWTR US" in tab.title(), tab.title()
        expect(tab.locator(".instrument .note")).to_contain_text("Last seen on 2022-06-09.")
        expect(tab.locator(".pairs").first).to_contain_text("US90184L1026")
        expect(tab.locator(".version-days")).to_have_text(["2022-05-18 – 2022-06-09"])
        expect(tab.locator(".version")).to_contain_text("After that, not in the data.")
        expect(tab.locator(".stated li")).to_have_text([f"The operator of this index states: Ticker TWIT until 2013-11-06, merger, successor {META}."])
    # The successor is another instrument.
    page = Page(browser, options.past)
    page.allowed = 1
    tab = page.tab
    page.go(f"#/instrument/{TWITTER}", ".history")
    tab.locator(".note").get_by_role("link", name=META).click()
    expect(tab.locator("h1")).to_contain_text("META")
    # A FIGI that the past does not know either is not found, as without a past.
    page.go(f"#/instrument/{IBM}", ".empty")
    expect(tab.locator(".empty")).to_contain_text("no instrument of this index has it")
    page.close()


def former_results(browser, options):
    """Identifiers of the past are unmatched, with the former FIGI and its days, and link what they are today."""
    for page, tab in each_width(browser, options, "#/bulk", "#identifiers", "former"):
        fill(tab, "Ticker\nFB\nTWTR\nMSFT\nMETA\nNONESUCH\nVIAC\n")
        without_steps(tab)
        tab.locator("[data-field='add step']").select_option("composite")
        run(tab, 6)
        expect(tab.locator("#tab-historical .tally")).to_have_text("1")
        expect(tab.locator("#tab-gone .tally")).to_have_text("1")
        expect(tab.locator("#tab-resolved .tally")).to_have_text("2")
        for kind in ("uncertain", "outOfCoverage"):
            expect(tab.locator(f"#tab-{kind}")).to_be_hidden()
        rows = tab.locator("#outcome .v-space .v-row")
        reason = f"was {META} (FB US), 2022-05-18 – 2022-06-08"
        expect(rows.nth(0).locator(".was")).to_have_attribute("title", reason)
        expect(rows.nth(0).locator(".was > :visible")).to_have_text("was FB US until 2022-06-08" if narrow(tab) else reason)
        expect(rows.nth(0).get_by_role("link")).to_have_attribute("href", f"#/instrument/{META}")
        expect(rows.nth(0).get_by_role("link")).to_have_text("Now META US")
        # What is gone leads to its successor, where the operator states one.
        expect(rows.nth(1).get_by_role("link")).to_have_text("Its successor")
        expect(rows.nth(1).get_by_role("link")).to_have_attribute("href", f"#/instrument/{META}")
        # Two securities had it: none of them is chosen.
        expect(tab.locator("#tab-ambiguous .tally")).to_have_text("1")
        expect(rows.nth(5).locator(".was")).to_have_attribute("title", f"was of {TWINS[0]} (VIAC US) or {TWINS[1]} (VIAC US)")
        expect(rows.nth(5).get_by_role("link")).to_have_text(["PARA", "PARAA"])
        lines = table_of(download(tab))
        first, gone, found = lines[:3]
        assert lines[5]["formerFigi"] == "|".join(TWINS), lines[5]
        assert (first["match"], first["figi"], first["formerFigi"], first["todayFigi"]) == ("historical", "", META, META), first
        assert (first["validFrom"], first["validTo"], first["basis"]) == ("2022-05-18", "2022-06-08", "observed"), first
        assert (gone["match"], gone["formerFigi"], gone["todayFigi"], gone["successorFigi"]) == ("gone", TWITTER, "", META), gone
        assert (found["match"], found["figi"], found["formerFigi"], found["asOf"]) == ("resolved", MICROSOFT, "", ""), found
        # The tabs that are hidden are not in the way of the arrow keys.
        tab.locator("#tab-ambiguous").click()
        tab.keyboard.press("ArrowRight")
        expect(tab.locator("#tab-historical")).to_be_focused()
        tab.keyboard.press("ArrowRight")
        tab.keyboard.press("ArrowRight")
        expect(tab.locator("#tab-unknown")).to_be_focused()
        tab.locator("#tab-all").click()


def days(browser, options):
    """One day for the whole list: the rows as they were, and the choice survives a reload."""
    for page, tab in each_width(browser, options, "#/bulk", "#identifiers", "day"):
        expect(tab.locator(".as-of")).to_be_visible()
        fill(tab, "Ticker\nMETA\nFB\nTWTR\n")
        tab.locator("[data-field='as of']").select_option("day")
        expect(tab.locator("[data-field=day]")).to_be_focused()
        expect(tab.locator(".begin .primary")).to_be_disabled()
        expect(tab.locator(".begin")).to_contain_text("Enter the day first.")
        tab.keyboard.type("06202022")
        expect(tab.locator("[data-field=day]")).to_have_value("2022-06-20")
        tab.reload()
        expect(tab.locator("[data-field=day]")).to_have_value("2022-06-20")
        expect(tab.locator(".recognition")).to_contain_text("recognised")
        run(tab, 3)
        rows = tab.locator("#outcome .v-space .v-row")
        expect(rows.nth(2)).to_contain_text("Uncertain")
        expect(rows.nth(2)).to_contain_text(f"not observed on this day: {TWITTER} (TWTR US) or nothing")
        tab.locator("[data-field=day]").fill("2022-05-20")
        run(tab, 3)
        expect(rows.nth(0)).to_contain_text("Uncertain")
        expect(tab.locator(".run-line")).to_contain_text("as of 2022-05-20")
        assert {line["asOf"] for line in table_of(download(tab))} == {"2022-05-20"}
        tab.locator("[data-field=day]").fill("2022-05-18")
        run(tab, 3)
        expect(rows.nth(0)).to_contain_text("ROUNDHILL")
        expect(rows.nth(0).locator(".now-short" if narrow(tab) else ".how-words")).to_have_text(re.compile("^now METV US"))
        expect(rows.nth(0).locator(".now-short:visible")).to_have_count(1 if narrow(tab) else 0)
        expect(rows.nth(1)).to_contain_text("FACEBOOK")
        expect(rows.nth(2)).to_contain_text("now gone")
        lines = table_of(download(tab))
        assert [line["figi"] for line in lines] == [FUND, META, TWITTER], lines
        assert [line["todayFigi"] for line in lines] == [FUND, META, ""], lines


def days_of_a_column(browser, options):
    """A column has the day of each row; a blank day is invalid, and others are outside of the past."""
    for page, tab in each_width(browser, options, "#/bulk", "#identifiers", "column"):
        fill(tab, TABLE)
        tab.locator("[data-field='as of']").select_option(label="The days in Traded")
        expect(tab.locator("[data-field=day]")).to_be_hidden()
        expect(tab.locator(".as-of")).to_contain_text("1 row has no day of the form 2022-06-08, and will be invalid.")
        expect(tab.locator(".as-of")).to_contain_text("The past is known from 2022-05-18 to 2022-07-01.")
        tab.reload()
        expect(tab.locator("[data-field='as of']")).to_have_value("1")
        expect(tab.locator(".recognition")).to_contain_text("recognised")
        expect(tab.locator(".reading")).to_contain_text("6 different identifiers")
        run(tab, 6)
        sums = {kind: tab.locator(f"#tab-{kind} .tally").inner_text() for kind in ("resolved", "uncertain", "outOfCoverage", "invalid")}
        assert sums == {"resolved": "2", "uncertain": "2", "outOfCoverage": "1", "invalid": "1"}, sums
        rows = tab.locator("#outcome .v-space .v-row")
        expect(rows.nth(4)).to_contain_text("The past is known from 2022-05-18 to 2022-07-01.")
        lines = table_of(download(tab))
        assert [line["asOf"] for line in lines][:5] == ["2022-05-20", "2022-05-20", "2022-06-10", "2022-06-20", "2021-01-04"], lines


def nothing_without(browser, options):
    """Without a past, nothing of it is shown or asked for."""
    page = Page(browser, options.base)
    asked = []
    page.tab.on("request", lambda request: asked.append(request.url))
    tab = page.go(f"#/instrument/{IBM}", ".tree")
    page.go("#/bulk", "#identifiers")
    fill(tab, "IBM\nNONESUCH\n")
    run(tab, 2)
    expect(tab.locator(".as-of")).to_be_hidden()
    expect(tab.locator(".tabs button:visible")).to_have_count(5)
    assert "formerFigi" not in download(tab).split("\n")[0]
    assert not [url for url in asked if url.endswith("/history")], asked
    page.close()


def accessible(browser, options):
    """The views of the past pass our rules and axe-core's, light and dark, wide and narrow."""
    axe = ""
    if options.axe:
        with open(options.axe, encoding="utf-8") as file:
            axe = file.read()
    for scheme, width in (("light", 1280), ("dark", 1280), ("light", 360), ("dark", 360)):
        page = Page(browser, options.past, width=width, scheme=scheme)
        page.allowed = 1
        for name, route in (("history", f"#/instrument/{META}"), ("retired", f"#/instrument/{TWITTER}"), ("column", "#/bulk")):
            tab = page.go(route, "#identifiers" if name == "column" else ".history")
            if name == "column":
                fill(tab, TABLE)
                tab.locator("[data-field='as of']").select_option("1")
                run(tab, 6)
            faults = tab.evaluate(ACCESS)
            assert not faults, (scheme, width, name, faults)
            if axe:
                tab.evaluate(axe)
                found = tab.evaluate("() => axe.run(document, { resultTypes: ['violations'] })")
                faults = [(one["id"], [node["html"][:160] for node in one["nodes"][:3]]) for one in found["violations"]]
                assert not faults, (scheme, width, name, faults)
        page.close()
