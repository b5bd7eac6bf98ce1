"""Bulk mapping, from a list to a file."""

import csv
import io
import json
import re
from string import ascii_uppercase

from playwright.sync_api import expect

from tab import IBM, ISIN, SHARE_CLASS, WRONG_DIGIT, Page, ask, download

# A line for each recognised kind, with the expected reading.
MIXED = [
    (ISIN, "ISIN"),
    ("037833100", "CUSIP"),
    ("G0177J108", "CINS"),
    ("2005973", "SEDOL"),
    (IBM, "FIGI"),
    (SHARE_CLASS, "FIGI"),
    ("BMG022411000", "ISIN"),
    ("AAPL  240119C00150000", "OCC option symbol"),
    ("AAPL240119C00150000", "OCC option symbol"),
    ("45920010", "CUSIP, 8 characters"),
    ("018893517", "Common code"),
    ("851399", "WKN"),
    ("12345", "Italian code"),
    ("IBM", "Ticker"),
    ("IBM US Equity", "Ticker"),
    ("IBM {unknown} Equity", "Ticker"),
    ("=NONESUCH", "Ticker"),
]


def bulk(browser, options):
    """A mixed list is recognised, mapped, sorted by outcome and downloaded whole."""
    page = Page(browser, options.base)
    tab = page.go("#/bulk", "#identifiers")
    known = tab.request.get(f"{options.base}/v3/mapping/values/exchCode").json()["values"]
    unknown = next(a + b for a in ascii_uppercase for b in ascii_uppercase if a + b not in known)
    mixed = [(value.format(unknown=unknown), kind) for value, kind in MIXED]
    lines = ["Identifier"] + [value for value, _ in mixed] + [WRONG_DIGIT, ISIN]
    tab.locator("#identifiers").fill("\n".join(lines))
    expect(tab.locator(".drop")).to_contain_text("taken for a heading")
    rows = tab.locator(".v-plan .v-space .v-row")
    expect(rows).to_have_count(len(lines) - 1)
    for place, (value, kind) in enumerate(mixed):
        row = rows.nth(place)
        chosen = row.locator("select").evaluate("select => select.selectedOptions[0].textContent")
        assert chosen == kind, (value, chosen)
    expect(tab.locator(".v-plan")).to_contain_text("check digit should be 4")
    # A choice for all rows of one form, and one for a single row.
    tab.locator("[data-field='group 6 digits']").select_option("TICKER")
    tab.locator("[data-field='group 6 digits']").select_option("ID_WERTPAPIER")
    tab.get_by_label("Row 14, IBM, is").select_option("ID_BB")
    expect(rows.nth(13)).to_contain_text("set by you")
    tab.get_by_label("Row 14, IBM, is").select_option("TICKER")
    jobs = []
    tab.on("request", lambda request: jobs.append(json.loads(request.post_data)) if request.url.endswith("/v3/mapping") else None)
    tab.locator(".begin .primary").click()
    expect(tab.locator(".run-line")).to_contain_text("Done", timeout=120_000)
    assert all(len(batch) <= 10 for batch in jobs)
    asked = [job["idValue"] for batch in jobs for job in batch]
    assert asked.count(ISIN) == 1 and WRONG_DIGIT not in asked, "each once, and no slip"
    narrowed = [job for batch in jobs for job in batch if job.get("exchCode")]
    assert narrowed == [{"idType": "TICKER", "idValue": "IBM", "exchCode": "US", "marketSecDes": "Equity"}], narrowed
    expect(tab.locator("#tab-fault .tally")).not_to_have_text("0")
    tab.locator("#tab-several").click()
    expect(tab.locator("#outcome .v-space .v-row").first).to_contain_text(ISIN)
    tab.keyboard.press("ArrowRight")
    expect(tab.locator("#tab-miss")).to_be_focused()
    expect(tab.locator("#outcome")).to_contain_text("NONESUCH")
    text = download(tab)
    table = list(csv.DictReader(io.StringIO(text, newline="")))
    assert text.count("\r\n") == len(table) + 1 and table[0]["identifier"] == ISIN
    assert {row["identifier"].lstrip("'") for row in table} == {value.replace("AAPL2401", "AAPL  2401") for value, _ in mixed} | {WRONG_DIGIT}
    assert any(row["identifier"] == "'=NONESUCH" for row in table), "formulas are guarded"
    assert {row["outcome"] for row in table} >= {"several", "miss", "fault"}
    assert [int(row["row"]) for row in table] == sorted(int(row["row"]) for row in table)
    assert sum(row["row"] == str(len(mixed) + 2) for row in table) == sum(row["row"] == "1" for row in table), "rows of the same identifier end alike"
    assert {row["idType"] for row in table if row["identifier"] == SHARE_CLASS} == {"ID_BB_GLOBAL_SHARE_CLASS_LEVEL"}, "asked again"
    # A person may want only the composites among the listings of an ISIN.
    before = len(table)
    tab.get_by_label("Of several matches keep the composites").check()
    table = list(csv.DictReader(io.StringIO(download(tab), newline="")))
    assert 1 < len(table) < before and {row["level"] for row in table if row["identifier"] == ISIN} == {"composite"}
    # All of it is still there after a visit to another view.
    page.go("#/search")
    tab.go_back()
    expect(tab.locator(".run-line")).to_contain_text("Done")
    page.close()


def a_hundred(browser, options):
    """A hundred identifiers of many kinds, pasted: each finds its instrument, and the file has them all."""
    kinds = ["ID_ISIN", "ID_CUSIP", "ID_SEDOL", "OCC_SYMBOL"]
    wanted = {}
    questions = [
        ({"securityType2": "Common Stock", "exchCode": "US"}, 30),
        ({"marketSecDes": ["Corp", "Govt", "Muni"]}, 60),
        ({"securityType2": ["Option"]}, 70),
        ({"securityType2": ["Mutual Fund"]}, 100),
    ]
    for question, enough in questions:
        for row in ask(options.base, "v3/filter", question)["data"]:
            if len(wanted) == enough:
                break
            identifiers = ask(options.base, f"instruments/{row['figi']}")["instrument"]["identifiers"]
            turn = len(wanted) % len(kinds)
            kind = next((kind for kind in kinds[turn:] + kinds[:turn] if kind in identifiers), None)
            value = identifiers[kind][0] if kind else row["figi"]
            wanted.setdefault(value, (value, kind or "ID_BB_GLOBAL", row["figi"]))
    wanted = list(wanted.values())
    assert len(wanted) == 100 and {kind for _, kind, _ in wanted} == {*kinds, "ID_BB_GLOBAL"}, wanted
    page = Page(browser, options.base, permissions=["clipboard-read", "clipboard-write"])
    tab = page.go("#/bulk", "#identifiers")
    batches = []
    tab.on("request", lambda request: batches.append(json.loads(request.post_data)) if request.url.endswith("/v3/mapping") else None)
    tab.evaluate("text => navigator.clipboard.writeText(text)", "\n".join(value for value, _, _ in wanted))
    tab.locator("#identifiers").focus()
    tab.keyboard.press("Control+V")
    expect(tab.locator(".recognised")).to_contain_text("100 rows")
    tab.locator(".begin .primary").click()
    expect(tab.locator(".run-line")).to_contain_text("Done", timeout=60_000)
    expect(tab.locator("#tab-miss .tally")).to_have_text("0")
    expect(tab.locator("#tab-fault .tally")).to_have_text("0")
    assert [len(batch) for batch in batches] == [10] * 10, batches
    table = list(csv.DictReader(io.StringIO(download(tab), newline="")))
    for place, (value, kind, figi) in enumerate(wanted):
        found = [row for row in table if row["row"] == str(place + 1)]
        assert found and all(row["identifier"] == value and row["matches"] == str(len(found)) for row in found), (value, found)
        assert figi in {row["figi"] for row in found}, (value, kind, figi, found)
        assert {row["idType"] for row in found} == {kind}, (value, kind, found)
    if options.key:
        # With a key it is one request.
        batches.clear()
        tab.get_by_label("API key").fill(options.key)
        tab.locator(".begin .primary").click()
        expect(tab.locator(".run-line")).to_contain_text("Done", timeout=60_000)
        assert [len(batch) for batch in batches] == [100]
    page.close()


def dropped(browser, options):
    """A dropped file is read; a workbook is refused with a message."""
    page = Page(browser, options.base)
    tab = page.go("#/bulk", "#identifiers")
    drop = """([name, text]) => {
      const held = new DataTransfer();
      held.items.add(new File([text], name));
      document.querySelector('.drop').dispatchEvent(new DragEvent('drop', { dataTransfer: held, bubbles: true, cancelable: true }));
    }"""
    tab.evaluate(drop, ["list.csv", f'\ufeffISIN;Name\r\n{ISIN};"IBM; Inc"\r\n"US0378331005";Apple\r\n'])
    expect(tab.locator(".recognised")).to_contain_text("2 rows, 2 different identifiers")
    expect(tab.locator(".drop")).to_contain_text("“ISIN”, was taken for a heading")
    expect(tab.locator(".begin .primary")).to_have_text("Map 2 identifiers")
    tab.evaluate(drop, ["list.xlsx", "PK\x03\x04"])
    expect(tab.locator(".drop")).to_contain_text("Save the sheet as CSV first")
    page.close()


def bulk_troubles(browser, options):
    """Limits, refusals and an unreachable server: a message, a wait, then it goes on."""
    page = Page(browser, options.base)
    page.allowed = 1
    tab = page.go("#/bulk", "#identifiers")
    answers = [
        dict(status=429, headers={"retry-after": "2", "ratelimit-limit": "25"}, body="Rate limit reached."),
        dict(status=503, body="Service Unavailable."),
        dict(status=413, body="Payload too large."),
        dict(status=401, body="Invalid API key."),
    ]
    sizes = []

    def answer(route):
        batch = json.loads(route.request.post_data)
        sizes.append(len(batch))
        if answers:
            return route.fulfill(**answers.pop(0))
        if len(sizes) == 7:
            return route.abort()
        route.fulfill(json=[{"warning": "No identifier found."} for _ in batch])

    tab.route("**/v3/mapping", answer)
    tab.locator("#identifiers").fill("\n".join(f"NO-{number:03}" for number in range(40)))
    tab.locator(".begin .primary").click()
    notice = tab.locator(".bulk-results .notice")
    expect(notice).to_contain_text("request limit is reached")
    expect(notice).to_contain_text(re.compile(r"in \d s"))
    expect(notice).to_contain_text("unavailable or overloaded")
    expect(notice).to_contain_text("key was not accepted", timeout=30_000)
    tab.get_by_role("button", name="Continue").click()
    expect(notice).to_contain_text("cannot be reached")
    tab.get_by_role("button", name="Try now").click()
    expect(tab.locator(".run-line")).to_contain_text("Done", timeout=30_000)
    expect(tab.locator("#tab-miss .tally")).to_have_text("40")
    assert sizes[0] == 10 and sizes[-1] == 5, sizes
    # Cancelled in the middle: found rows are kept, and the rest can be mapped later.
    tab.unroute("**/v3/mapping")
    tab.route("**/v3/mapping", lambda route: route.fulfill(status=429, headers={"retry-after": "50"}, body=""))
    tab.locator(".begin .primary").click()
    expect(notice).to_contain_text("request limit")
    tab.get_by_role("button", name="Cancel").click()
    expect(tab.locator(".run-line")).to_contain_text("cancelled")
    assert "not asked" in download(tab)
    page.close()


def many_rows(browser, options):
    """Tens of thousands of rows from a file: few are drawn, all are downloaded."""
    page = Page(browser, options.base)
    tab = page.go("#/bulk", "#identifiers")
    rows = 30_000
    tab.route("**/v3/mapping", lambda route: route.fulfill(json=[{"warning": "No identifier found."} for _ in json.loads(route.request.post_data)]))
    content = "isin;name\n" + "".join(f"NO-{number % 500:05};x\n" for number in range(rows))
    tab.locator("#file").set_input_files({"name": "many.csv", "mimeType": "text/csv", "buffer": content.encode()})
    expect(tab.locator(".drop")).to_contain_text(f"{rows:,} rows")
    tab.locator(".begin .primary").click()
    expect(tab.locator(".run-line")).to_contain_text("Done", timeout=60_000)
    expect(tab.locator("#tab-miss .tally")).to_have_text(f"{rows:,}")
    assert tab.locator("#outcome .v-row").count() < 100
    tab.locator("#outcome .v-table").evaluate("table => table.scrollTo(0, table.scrollHeight)")
    expect(tab.locator("#outcome .v-row").last).to_contain_text("00499")
    assert download(tab).count("\r\n") == rows + 1
    page.close()
