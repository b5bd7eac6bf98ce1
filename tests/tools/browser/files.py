"""Files as brokers write them: encodings, titles, totals, many columns, a reload, a file that comes back."""

import base64
import csv
import io
import json
import os
import re

from playwright.sync_api import expect

from brokers import AMERICAN, BRITISH, FILES, GERMAN, JAPANESE, SWISS, rows_of
from mapping import answered, fill, run, table_of, tallies, unknown, without_steps
from tab import IBM, ISIN, VIEWS, Page, ask, download, view

CASES = os.path.join(os.path.dirname(__file__), "..", "..", "tables.jsonl")
APPLE = "US0378331005"

# The widths of screens; at 200 % a screen has half as many.
WIDTHS = [(390, 844), (1280, 800), (1920, 1080), (640, 400), (320, 568)]


def choose(tab, name, content):
    """Chooses a file, and waits until its columns are recognised."""
    tab.locator("#file").set_input_files({"name": name, "mimeType": "text/csv", "buffer": content})
    expect(tab.locator(".drop")).to_contain_text(name)
    expect(tab.locator(".recognition")).not_to_contain_text("Recognising", timeout=15_000)


def shared_cases(browser, options):
    """The page reads files as the command does: the same cases hold for both (ingest/src/table/tests.rs)."""
    with open(CASES, encoding="utf-8") as file:
        cases = [json.loads(line) for line in file]
    assert len(cases) >= 80
    page = Page(browser, options.base)
    read = """async (files) => {
      const { decoded } = await import('/page/shared/decode.js');
      const { readTable } = await import('/page/shared/table.js');
      const { headingOf } = await import('/page/shared/heading.js');
      const { leftOut, totalOf } = await import('/page/shared/footer.js');
      return files.map(([bytes, column]) => {
        const { text, encoding } = decoded(Uint8Array.from(bytes, (one) => one.charCodeAt(0)));
        const table = readTable(text);
        const { rows, delimiter } = table;
        const heading = headingOf(rows), total = totalOf(table, heading, column);
        const unasked = [...leftOut(table, { heading, column, total }).keys()].map((place) => place + 1);
        return { encoding, delimiter: delimiter || null, heading: heading + 1, total: total + 1, unasked, rows };
      });
    }"""
    found = page.go("").evaluate(read, [[case["bytes"], case.get("column", 0)] for case in cases])
    for case, got in zip(cases, found, strict=True):
        for name, value in got.items():
            assert value == case.get(name, value), (case["name"], name, value, case[name])
    page.close()


def long_japanese(browser, options):
    """A long Shift_JIS file is Japanese, whether or not the part that is looked at ends within a character."""
    head = 64 * 1024
    line = "7203,トヨタ自動車\r\n".encode("cp932")
    files = {}
    for shift in range(len(line)):
        content = b"x" * shift + line * (2 * head // len(line))
        files[shift] = content.decode("cp932")
    read = """async (files) => {
      const { decoded } = await import('/page/shared/decode.js');
      return files.map((bytes) => {
        const { text, encoding } = decoded(Uint8Array.from(atob(bytes), (one) => one.charCodeAt(0)));
        return [encoding, text];
      });
    }"""
    packed = [base64.b64encode(text.encode("cp932")).decode() for text in files.values()]
    page = Page(browser, options.base)
    tab = page.go("")
    ends = set()
    for text, (encoding, got) in zip(files.values(), tab.evaluate(read, packed), strict=True):
        try:
            text.encode("cp932")[:head].decode("cp932")
            ends.add("on")
        except UnicodeDecodeError:
            ends.add("within")
        assert (encoding, got == text) == ("shift_jis", True), (encoding, ends)
    assert ends == {"on", "within"}
    # A short file, or a long one with a fault before the end of the part, is not.
    faults = [line * 3 + b"\x8a", line * (head // len(line)) + b"\x8a\r" + line]
    found = tab.evaluate(read, [base64.b64encode(fault).decode() for fault in faults])
    assert "shift_jis" not in [encoding for encoding, _ in found], found
    page.close()


def brokers(browser, options):
    """Five brokers' files: the heading, the identifiers and the total are found, and every row comes out again."""
    page = Page(browser, options.base)
    tab = page.go("#/bulk", "#identifiers")
    tab.route("**/resolve", lambda route: route.continue_() if "columns" in json.loads(route.request.post_data) else answered(route, unknown))
    for name, text, delimiter, encoding, column, heading, rows in [
        ("german", GERMAN, ";", "Windows-1252", "ISIN", 6, 17),
        ("swiss", SWISS, "\t", "", "ISIN", 5, 12),
        ("american", AMERICAN, ",", "", "Symbol", 3, 14),
        ("british", BRITISH, ",", "Windows-1252", "ISIN", 5, 15),
        ("japanese", JAPANESE, ",", "Shift_JIS", "銘柄コード", 5, 15),
    ]:
        choose(tab, *FILES[name])
        expect(tab.locator(".drop")).to_contain_text(encoding)
        expect(tab.locator(".recognition")).to_contain_text(f"“{column}”")
        expect(tab.locator("[data-field=heading]")).to_have_value(str(heading - 1))
        expect(tab.locator(".begin .primary")).to_have_text(f"Map {rows} rows")
        run(tab, rows)
        lines = list(csv.reader(io.StringIO(download(tab), newline="")))
        own = rows_of(text, delimiter)
        width = max(map(len, own))
        # These numbers and dashes are not formulas, so none has an apostrophe in front.
        plain = [line[:width] for line in lines]
        assert plain == [row + [""] * (width - len(row)) for row in own], name
        assert lines[heading - 1][width : width + 3] == ["row", "input", "match"], name
        left_out = [line for line in lines[heading:] if not line[width]]
        assert len(left_out) == {"swiss": 3, "american": 4}.get(name, 1), left_out
        assert all(line[width + 6] for line in left_out), left_out
    # Words for a total in place of identifiers are read when a person wants it.
    choose(tab, *FILES["german"])
    expect(tab.locator(".recognised")).to_contain_text("“Summe”, is a total and is left out")
    expect(tab.get_by_role("button", name="Read it too")).to_have_count(0)
    choose(tab, *FILES["american"])
    expect(tab.locator(".recognised")).to_contain_text("The last 4 rows, from “Account Total” on, are a total with its notes and are left out")
    tab.get_by_role("button", name="Read it too").click()
    expect(tab.locator(".begin .primary")).to_have_text("Map 17 rows")
    tab.get_by_role("button", name="Leave it out").click()
    expect(tab.locator(".begin .primary")).to_have_text("Map 14 rows")
    choose(tab, *FILES["swiss"])
    expect(tab.locator(".recognised")).to_contain_text("2 rows without an identifier are left out")
    # In a list of tickers such a word may be one of them.
    tab.unroute("**/resolve")
    fill(tab, "Ticker\nIBM\nAAPL\nSUMA")
    expect(tab.locator(".begin .primary")).to_have_text("Map 3 rows")
    fill(tab, f"ISIN\n{ISIN}\n{APPLE}\nSuma")
    expect(tab.locator(".begin .primary")).to_have_text("Map 2 rows")
    page.close()


def boxes(browser, options):
    """Tables of 1 to 40 columns under a title stay in their half of the page, on every width and at 200 %."""
    measure = """() => {
      const [list, plan] = ['.bulk-list', '.bulk-plan'].map((part) => document.querySelector(part).getBoundingClientRect());
      const out = [...document.querySelectorAll('.bulk-list *')].filter((one) => !one.closest('table') && one.getBoundingClientRect().right > list.right + 1);
      return { wide: document.documentElement.scrollWidth - innerWidth, over: list.right > plan.left && list.bottom > plan.top, out: out.map((one) => one.outerHTML.slice(0, 80)) };
    }"""
    for width, height in WIDTHS:
        page = Page(browser, options.base, width=width, height=height)
        tab = page.go("#/bulk", "#identifiers")
        for columns in (1, 2, 5, 10, 12, 20, 40):
            rows = [["ISIN", *(f"A column with a name {number}" for number in range(1, columns))]]
            rows += [[ISIN, *["a rather long text in a cell of this table"] * (columns - 1)]] * 4
            title = ["Holdings of a fund with a rather long name, as of yesterday evening"] if columns > 1 else []
            fill(tab, "\n".join([*title, *("\t".join(row) for row in rows)]))
            expect(tab.locator(".preview thead th")).to_have_count(columns + 1)
            found = tab.evaluate(measure)
            assert found["wide"] <= 0 and not found["over"] and not found["out"], (width, columns, found)
        # A long cell is whole in its title.
        expect(tab.locator(".preview td[title='a rather long text in a cell of this table']").first).to_be_attached()
        page.close()
    # The reference, and all other views, at 200 % of 1,280 px.
    page = Page(browser, options.base, width=640, height=400)
    for route, wait in VIEWS:
        tab = view(page, route, wait)
        assert tab.evaluate("document.documentElement.scrollWidth <= innerWidth"), route
    page.close()


def kept(browser, options):
    """A list and its settings survive a reload, in this tab only; one that is too large warns before leaving."""
    page = Page(browser, options.base)
    tab = page.go("#/bulk", "#identifiers")
    fill(tab, f"Ccy\tISIN\nUSD\t{ISIN}\nEUR\t{APPLE}")
    tab.locator("[data-field=currency]").select_option("0")
    without_steps(tab)
    tab.reload()
    expect(tab.locator("#identifiers")).to_have_value(f"Ccy\tISIN\nUSD\t{ISIN}\nEUR\t{APPLE}")
    expect(tab.locator(".recognition")).to_contain_text("“ISIN” is recognised")
    expect(tab.locator("[data-field=currency]")).to_have_value("0")
    expect(tab.locator(".steps")).to_contain_text("No step")
    # A file too.
    choose(tab, *FILES["german"])
    tab.reload()
    expect(tab.locator(".drop")).to_contain_text("Depotuebersicht.csv: 24 rows, Windows-1252")
    expect(tab.locator(".begin .primary")).to_have_text("Map 17 rows")
    # Another tab has nothing, and after Clear neither has this one.
    other = page.context.new_page()
    other.goto(f"{page.base}/#/bulk")
    expect(other.locator("#identifiers")).to_have_value("")
    other.close()
    tab.get_by_role("button", name="Clear").click()
    assert tab.evaluate("JSON.stringify(sessionStorage).includes('DE0007164600')") is False
    tab.reload()
    expect(tab.locator("#identifiers")).to_have_value("")
    # Too large: the page says so, and leaving asks.
    tab.route("**/resolve", lambda route: answered(route, unknown))
    choose(tab, "large.csv", ("isin\n" + f"{ISIN}{'x' * 100}\n" * 60_000).encode())
    expect(tab.locator(".drop")).to_contain_text("too large to be kept", timeout=15_000)
    tab.locator("[data-field=kind]").click()
    tab.close(run_before_unload=True)
    for _ in range(50):
        if page.faults:
            break
        page.context.new_page().close()  # lets the browser report
    assert len(page.faults) == 1 and page.faults[0].startswith("a dialog"), page.faults
    page.faults.clear()
    page.close()


def again(browser, options):
    """A download that comes back: its added columns are left out, and the identifiers are those of before."""
    page = Page(browser, options.base)
    tab = page.go("#/bulk", "#identifiers")
    text = f"Holdings\n\nName,Sedol or else,ISIN\nIBM,2005973,{ISIN}\nApple,2046251,{APPLE}\nNone,,\n"
    choose(tab, "list.csv", text.encode())
    # The second choice of identifiers, so that the file alone knows it.
    tab.locator("[data-field=column]").select_option("1")
    run(tab, 2)
    first = download(tab)
    tab.get_by_label("Show all matches").check()
    run(tab, 2)
    many = download(tab)
    for content in (first, many):
        choose(tab, "figis.csv", content.encode())
        expect(tab.locator(".recognition")).to_contain_text("This is an earlier result")
        expect(tab.locator(".recognition")).to_contain_text("“Sedol or else” is what was asked about")
        expect(tab.locator("[data-field=column]")).to_have_value("1")
        expect(tab.locator("[data-field=column] option")).to_have_count(3)
        expect(tab.locator(".begin .primary")).to_have_text("Map 2 rows")
    tab.get_by_label("Show all matches").uncheck()
    run(tab, 2)
    assert download(tab) == first
    # The results of the list before are marked as such.
    expect(tab.locator(".bulk-results .note")).to_be_hidden()
    fill(tab, ISIN)
    expect(tab.locator(".bulk-results .note")).to_contain_text("as it was before")
    page.close()


def currency_column(browser, options):
    """A column of currencies narrows each row, as `--where currency=@Ccy` does; a blank cell narrows nothing."""
    page = Page(browser, options.base)
    tab = page.go("#/bulk", "#identifiers")
    jobs = []
    tab.on("request", lambda request: jobs.extend(json.loads(request.post_data).get("jobs", [])) if request.url.endswith("/resolve") else None)
    fill(tab, f"ISIN,Ccy\n{ISIN},EUR\n{ISIN},USD\n{ISIN},\n{ISIN},EUR\n{ISIN},Euro")
    tab.locator("[data-field=currency]").select_option(label="Ccy")
    expect(tab.locator(".recognised")).to_contain_text("5 rows, 4 different identifiers")
    run(tab, 5)
    assert [job.get("currency") for job in jobs] == ["EUR", "USD", None, "Euro"], jobs
    rows = table_of(download(tab))
    found = [ask(options.base, "v3/mapping", [{"idType": "ID_ISIN", "idValue": ISIN, **({"currency": currency} if currency else {})}])[0].get("data", []) for currency in ("EUR", "USD")]
    for row, data in zip(rows, found, strict=False):
        if row["match"] == "resolved":
            assert row["figi"] in [one["figi"] for one in data], (row, data)
    assert rows[0]["figi"] == rows[3]["figi"] and rows[4]["match"] == "invalid", rows
    # Texts of several kinds too.
    jobs.clear()
    tab.locator("[data-field=kind]").select_option("")
    run(tab, 5)
    assert jobs[0] == {"text": ISIN, "currency": "EUR"} and jobs[2] == ISIN, jobs
    page.close()


def same_security(browser, options):
    """A choice for one identifier counts for the others that may mean the row, and the sums follow; so does an undo."""
    page = Page(browser, options.base)
    tab = page.go("#/bulk", "#identifiers")
    fill(tab, f"{APPLE}\n037833100\n{ISIN}\n{IBM}")
    without_steps(tab)
    run(tab, 4)
    before = tallies(tab)
    assert before["ambiguous"] == 3, before
    choice = tab.get_by_label(re.compile(f"^Row 1, {APPLE}: choose one of"))
    choice.select_option("0")
    expect(tab.locator("#said")).to_contain_text("1 other identifier of this security")
    expect(tab.locator(".bulk-results .notes")).to_contain_text("also for 037833100")
    expect(tab.locator(".run-line")).to_contain_text("3 resolved · 1 ambiguous")
    rows = table_of(download(tab).replace("Column 1", "list", 1))
    assert rows[0]["figi"] == rows[1]["figi"] != "" and rows[1]["by"] == "chosen by you" and rows[2]["figi"] == "", rows
    tab.get_by_role("button", name="Row 1: undo").click()
    expect(tab.locator(".run-line")).to_contain_text("1 resolved · 3 ambiguous")
    page.close()


def candidates(browser, options):
    """The securities that an unknown name may mean are shown, and a click confirms one; nothing is chosen before."""
    page = Page(browser, options.base)
    tab = page.go("#/bulk", "#identifiers")
    nestle = {"figi": "BBG000CPBCL8", "ticker": "NESN", "exchCode": "SW", "name": "NESTLE SA-REG"}
    other = {"figi": "BBG000CPBCC8", "ticker": "NSRGF", "exchCode": "US", "name": "NESTLE SA"}
    stranger = {"figi": "BBG000F8Z5V2", "ticker": "NESTLE", "exchCode": "PA", "name": "NESTLE PAKISTAN LTD"}
    asked = []

    def result(job):
        if job == "Nestle":
            # Written like a name, and found as a ticker only.
            return {"status": "ambiguous", "idType": "TICKER", "matches": 1, "reason": "written like a name", "data": [stranger]}
        if job == "PK0025101012":
            return {"status": "ambiguous", "idType": "ID_ISIN", "matches": 2, "data": [stranger, {**stranger, "figi": "BBG000F8Z5W1"}]}
        return unknown(job)

    def answer(route):
        body = json.loads(route.request.post_data)
        if not body.get("candidates"):
            return answered(route, result)
        asked.append(body["jobs"])
        route.fulfill(json={"generation": 1, "results": [{**result(job), **({"candidates": [nestle, other, stranger]} if "estl" in job else {})} for job in body["jobs"]]})

    tab.route("**/resolve", answer)
    fill(tab, "Nestle\nNestlé S.A.\nNO-NE-SUCH\nNobody Knows\nPK0025101012")
    run(tab, 5)
    expect(tab.locator("#outcome .guess")).to_have_count(2)
    # Codes are not names, and are not asked about.
    assert asked == [["Nestle", "Nestlé S.A.", "Nobody Knows"]], asked
    expect(tab.locator(".run-line")).to_contain_text("2 ambiguous · 3 unknown")
    tab.get_by_role("button", name="Row 2, Nestlé S.A.: confirm NESTLE SA-REG · NESN · SW").click()
    expect(tab.locator(".run-line")).to_contain_text("1 resolved")
    # A choice for an ISIN decides nothing about the name, though the stranger has it as its ticker.
    tab.get_by_label("Row 5, PK0025101012: choose one of 2 matches").select_option("0")
    expect(tab.locator(".run-line")).to_contain_text("2 resolved · 1 ambiguous · 2 unknown")
    # The stranger is the last choice, and is there once.
    choice = tab.get_by_label("Row 1, Nestle: choose another security")
    assert [text.split(" · ")[0] for text in choice.locator("option").all_inner_texts()] == ["or another of 2", "NSRGF", "NESTLE"]
    choice.select_option("0")
    rows = table_of(download(tab))
    assert [(row["figi"], row["match"]) for row in rows] == [(other["figi"], "resolved"), (nestle["figi"], "resolved"), ("", "unknown"), ("", "unknown"), (stranger["figi"], "resolved")], rows
    # A server without candidates: the results stay as they are.
    page.allowed = 1
    tab.route("**/resolve", lambda route: route.fulfill(status=400, json={"error": "unknown option"}) if "candidates" in json.loads(route.request.post_data) else answered(route, unknown))
    fill(tab, "Nobody Knows")
    run(tab, 1)
    expect(tab.locator("#outcome")).to_contain_text("not found")
    expect(tab.locator(".bulk-results .notes")).not_to_contain_text("unknown option")
    page.close()


def names_at_once(browser, options):
    """The page asks about as many names at once as the server allows, and says how many are next."""
    page = Page(browser, options.base)
    page.allowed = 1
    tab = page.go("#/bulk", "#identifiers")
    asked, stated = [], True

    def answer(route):
        body = json.loads(route.request.post_data)
        if not body.get("candidates"):
            return answered(route, unknown)
        asked.append(len(body["jobs"]))
        headers = {"figdex-jobs-per-list": "25"} if stated else {}
        if len(body["jobs"]) > 25:
            return route.fulfill(status=413, headers=headers, json={"error": "too many"})
        route.fulfill(headers=headers, json={"generation": 1, "results": [{**unknown(job), "candidates": []} for job in body["jobs"]]})

    tab.route("**/resolve", answer)
    names = "\n".join(f"Nobody {chr(97 + number // 26)}{chr(97 + number % 26)}" for number in range(60))
    fill(tab, names)
    run(tab, 60)
    tab.get_by_role("button", name="Look for the next 25 of 35 unknown names").click()
    tab.get_by_role("button", name="Look for 10 unknown names").click()
    expect(tab.locator(".bulk-results .notes button")).to_have_count(0)
    assert asked == [60, 25, 25, 10], asked
    # A server, or a proxy, that does not say how many.
    asked.clear()
    stated = False
    run(tab, 60)
    tab.get_by_role("button", name="Look for the next 15 of 45 unknown names").click()
    tab.get_by_role("button", name="Look for the next 15 of 30 unknown names").click()
    assert asked[:3] == [60, 30, 15], asked
    page.close()


def phone(browser, options):
    """On a phone every row shows its status, in the screen's width."""
    page = Page(browser, options.base, width=390, height=844)
    tab = page.go("#/bulk", "#identifiers")
    fill(tab, f"{ISIN}\n{IBM}\nNO-NE-SUCH\nUS4592001015")
    without_steps(tab)
    run(tab, 4)
    rows = tab.locator("#outcome .v-space .v-row")
    for place, status in enumerate(["Ambiguous", "Resolved", "Unknown", "Invalid"]):
        shown = rows.nth(place).locator(".outcome")
        expect(shown).to_be_visible()
        expect(shown).to_have_text(status)
        box, row = shown.bounding_box(), rows.nth(place).bounding_box()
        assert box["x"] + box["width"] <= row["x"] + row["width"] + 1 <= 391, (box, row)
    # So does a name, with its button and the list of other securities.
    long = {"figi": IBM, "ticker": "IBM", "exchCode": "US", "name": "INTERNATIONAL BUSINESS MACHINES CORPORATION"}
    tab.route("**/resolve", lambda route: answered(route, lambda job: {**unknown(job), "candidates": [long, {**long, "figi": "BBG000B9XRY4"}]}))
    fill(tab, "Machines Corporation")
    run(tab, 1)
    for part in (".outcome", ".guess", ".other-guesses"):
        # The candidates are drawn after the results.
        expect(tab.locator(f"#outcome .v-space {part}")).to_be_visible()
        box = tab.locator(f"#outcome .v-space {part}").bounding_box()
        assert 0 <= box["x"] and box["x"] + box["width"] <= 391 and box["width"] > 40, (part, box)
    page.close()


def warned(browser, options):
    """A person's choices are lost by leaving, so leaving asks; not after they are downloaded."""
    page = Page(browser, options.base)
    tab = page.go("#/bulk", "#identifiers")
    fill(tab, ISIN)
    without_steps(tab)
    run(tab, 1)
    tab.get_by_label(re.compile("choose one of")).select_option("0")
    expect(tab.locator("#tab-resolved .tally")).to_have_text("1")
    prevented = "() => !dispatchEvent(new Event('beforeunload', { cancelable: true }))"
    assert tab.evaluate(prevented)
    download(tab)
    assert not tab.evaluate(prevented)
    page.close()
