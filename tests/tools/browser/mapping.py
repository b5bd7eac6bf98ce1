"""Bulk mapping, from a list to a file."""

import csv
import io
import json
import re
from random import Random

from playwright.sync_api import expect

from tab import IBM, ISIN, SHARE_CLASS, WRONG_DIGIT, Page, ask, download

# A line for each form that is recognised.
MIXED = [ISIN, "037833100", "G0177J108", "2005973", IBM, SHARE_CLASS, "45920010", "IBM", "IBM US Equity", "NO-NE-SUCH"]


# A browser without a graphics card inserts some dozen lines a second into a text area, before the page
# learns of it; the page itself takes a fiftieth of a second for 1,000 lines.
TYPING_MS = 90_000


def fill(tab, text):
    """Writes a list, and waits until its columns are recognised."""
    tab.locator("#identifiers").fill(text, timeout=TYPING_MS)
    expect(tab.locator(".recognition")).not_to_contain_text("Recognising", timeout=15_000)
    expect(tab.locator(".recognition")).to_contain_text(re.compile("recognised|own form"))


def run(tab, rows=None):
    """Maps the list, and waits for its end."""
    tab.locator(".begin .primary").click()
    expect(tab.locator(".run-line")).to_contain_text("Done" if rows is None else f"Done: {rows:,} row", timeout=120_000)


def without_steps(tab):
    """Removes all steps, so that nothing is chosen."""
    for _ in range(tab.locator(".steps > li:not(.dim)").count()):
        tab.get_by_role("button", name="Remove: step 1, ").click()


def only_composites(tab):
    """Removes the step of the home country, which comes first in a new list."""
    tab.get_by_role("button", name="Remove: step 1, The listing in the home country").click()


def table_of(text, heading=0):
    """The rows of a downloaded file as dictionaries, after the heading."""
    lines = list(csv.reader(io.StringIO(text, newline="")))
    return [dict(zip(lines[heading], line, strict=True)) for line in lines[heading + 1 :]]


def tallies(tab):
    return {kind: int(tab.locator(f"#tab-{kind} .tally").inner_text().replace(",", "")) for kind in ("all", "resolved", "ambiguous", "unknown", "invalid")}


def answered(route, result):
    """Answers a request to /resolve without the server: `result(job)` for each job."""
    body = json.loads(route.request.post_data)
    if "columns" in body:
        return route.fulfill(json={"columns": [{} for _ in body["columns"]]})
    route.fulfill(json={"generation": 1, "results": [result(job) for job in body["jobs"]]})


def unknown(_):
    return {"status": "unknown"}


def with_isins(base, count):
    """ISINs of the server's data, and what `/v3/mapping` finds for each."""
    found = {}
    for question in ({"securityType2": "Common Stock"}, {"marketSecDes": ["Corp", "Govt", "Muni"]}, {"securityType2": "Mutual Fund"}):
        for row in ask(base, "v3/filter", question)["data"]:
            identifiers = ask(base, f"instruments/{row['figi']}")["instrument"]["identifiers"]
            for isin in identifiers.get("ID_ISIN", [])[:1]:
                found.setdefault(isin, None)
    isins = list(found)[:count]
    for at in range(0, len(isins), 10):
        batch = isins[at : at + 10]
        answers = ask(base, "v3/mapping", [{"idType": "ID_ISIN", "idValue": isin} for isin in batch])
        found.update({isin: answer.get("data", []) for isin, answer in zip(batch, answers, strict=True)})
    return {isin: found[isin] for isin in isins}


def meant(rows):
    """The one row that the step `composite` chooses; None when it leaves more, or none."""
    composites = [row for row in rows if row["figi"] == row["compositeFIGI"]]
    left = composites or rows if len(rows) > 1 else rows
    return left[0] if len(left) == 1 else None


def quoted(cell):
    """A cell as a spreadsheet copies it."""
    return '"' + cell.replace('"', '""') + '"' if re.search('["\t\n]', cell) else cell


def spreadsheet(browser, options):
    """5,000 rows of a spreadsheet, pasted: each keeps its number and cells, and gets its FIGI."""
    mapped = with_isins(options.base, 120)
    isins = list(mapped)
    assert len(isins) > 60, isins
    heading = 3
    pasted = [["Holdings of the fund", "", "", "", ""], [""] * 5, ["as of yesterday", "", "", "", ""], ["Account", "ISIN", "Name", "Held", "Note"]]
    while len(pasted) < 5000:
        number = len(pasted)
        if number % 97 == 0:
            pasted.append([""] * 5)
            continue
        isin = isins[number % len(isins)]
        if number % 41 == 0:
            isin = "XS0000000009" if number % 2 else WRONG_DIGIT
        note = 'two lines:\nhe said "no"\n' if number % 13 == 0 else "=1+1" if number % 17 == 0 else "＠wide" if number % 19 == 0 else ""
        pasted.append([f"A{number:05}", f" {isin}" if number % 5 == 0 else isin, f"Name, {number}", str(number - 2500), note])
    text = "\r\n".join("\t".join(quoted(cell) for cell in row) for row in pasted) + "\r\n"
    numbers = [number for number, row in enumerate(pasted, 1) if number > heading + 1 and any(row)]

    page = Page(browser, options.base, permissions=["clipboard-read", "clipboard-write"])
    tab = page.go("#/bulk", "#identifiers")
    tab.evaluate("text => navigator.clipboard.writeText(text)", text)
    tab.locator("#identifiers").focus()
    tab.keyboard.press("Control+V")
    expect(tab.locator(".recognition")).to_contain_text("“ISIN” is recognised: ISIN (", timeout=15_000)
    only_composites(tab)
    expect(tab.locator("[data-field=heading]")).to_have_value(str(heading))
    expect(tab.locator(".begin .primary")).to_have_text(f"Map {len(numbers):,} rows")
    # The server has no limits, and the page announces no wait.
    expect(tab.locator(".begin p")).to_contain_text("no limit")
    asked = []
    tab.on("request", lambda request: asked.append(request.url) if request.method == "POST" else None)
    run(tab, len(numbers))
    assert asked and all("/resolve" in url for url in asked), asked
    sums = tallies(tab)
    assert sums["all"] == len(numbers) == sums["resolved"] + sums["ambiguous"] + sums["unknown"] + sums["invalid"], sums

    # Any row can be scrolled into view by its number.
    table = tab.locator("#outcome .v-table")
    for number in (5, 1000, 4321, 5000):
        place = numbers.index(number)
        table.evaluate("(table, top) => table.scrollTo(0, top)", place * 32)
        row = tab.locator(f"#outcome .v-space .v-row[aria-rowindex='{place + 2}']")
        expect(row).to_contain_text(f"{number:,}")
        expect(row).to_contain_text(pasted[number - 1][1].strip())
    assert tab.locator("#outcome .v-row").count() < 100, "only the visible rows are drawn"

    # The file must repeat the pasted text line by line.
    lines = list(csv.reader(io.StringIO(download(tab), newline="")))
    assert len(lines) == len(pasted)
    own, names = lines[heading][:5], lines[heading][5:]
    assert own == pasted[heading] and names[:7] == ["row", "input", "match", "idType", "matches", "by", "reason"], lines[heading]
    for number, (line, row) in enumerate(zip(lines, pasted, strict=True), 1):
        guarded = ["'" + cell if cell.startswith(("=", "＠")) else cell for cell in row]
        assert line[:5] == guarded, (number, line, row)
        if number <= heading + 1:
            continue
        got = dict(zip(names, line[5:], strict=True))
        isin = row[1].strip()
        if not isin:
            assert (got["row"], got["match"], got["reason"]) == ("", "", "no identifier"), (number, got)
            continue
        assert (got["row"], got["input"]) == (str(number), isin), (number, got)
        rows = mapped.get(isin, [])
        one = meant(rows)
        wanted = "invalid" if isin == WRONG_DIGIT else "unknown" if not rows else "resolved" if one else "ambiguous"
        assert got["match"] == wanted, (number, got, rows)
        assert got["figi"] == (one["figi"] if one else ""), (number, got, rows)
        assert got["figdex_name"] == (one["name"] if one else ""), (number, got)
        assert got["by"] == ("" if not one else "only" if len(rows) == 1 else "composite"), (number, got)
        if isin == WRONG_DIGIT:
            assert "the check digit should be 4; did you mean " + ISIN in got["reason"], got
    page.close()


def tables(browser, options):
    """Any table is read as it was copied: every cell, in its row."""
    page = Page(browser, options.base)
    tab = page.go("")
    read = "async (texts) => { const { readTable } = await import('/page/shared/table.js'); return texts.map((text) => readTable(text).rows); }"
    pieces = ["", "a", "IBM US Equity", '"', '""', 'say "no"', "\n", "two\nlines", "\t", "a\tb", ",", ";", " ", "=1", "é", "0123"]
    random = Random(7)
    tables = []
    for _ in range(300):
        columns = random.randint(2, 5)
        rows = [[random.choice(pieces) for _ in range(columns)] for _ in range(random.randint(2, 12))]
        rows[-1][0] = "end"  # blank rows at the end are not rows
        tables.append(rows)
    texts = ["\r\n".join("\t".join(map(quoted, row)) for row in rows) + random.choice(["", "\r\n", "\r\n\r\n"]) for rows in tables]
    for rows, got in zip(tables, tab.evaluate(read, texts), strict=True):
        assert got == rows, (rows, got)
    for text, rows in [
        ("", []),
        ("\n \n", []),
        ("a\n\nb\n", [["a"], [""], ["b"]]),
        ("a\rb", [["a"], ["b"]]),
        ("IBM, AAPL", [["IBM"], [" AAPL"]]),
        ('a\n"b\nc', [["a"], ['"b'], ["c"]]),
        ("a;b,c\nd;e", [["a", "b,c"], ["d", "e"]]),
        ("Smith, J\nIBM\nAAPL", [["Smith, J"], ["IBM"], ["AAPL"]]),
    ]:
        assert tab.evaluate(read, [text]) == [rows], text
    page.close()


def columns(browser, options):
    """The column of identifiers is recognised and shown, and can be changed, as its kind and the heading."""
    page = Page(browser, options.base)
    tab = page.go("#/bulk", "#identifiers")
    fill(tab, f"Name;Ticker;ISIN\nIBM;IBM;{ISIN}\nApple;AAPL;US0378331005\n")
    expect(tab.locator("[data-field=column] option:checked")).to_have_text("ISIN (ISIN)")
    expect(tab.locator("[data-field=kind]")).to_have_value("ID_ISIN")
    expect(tab.locator("[data-field=heading] option:checked")).to_have_text("Row 1")
    expect(tab.locator(".recognition")).to_contain_text("100 % of its first 2 values")
    expect(tab.locator(".preview th.chosen")).to_contain_text("ISIN")
    tab.locator("[data-field=column]").focus()
    tab.locator("[data-field=column]").select_option("1")
    expect(tab.locator("[data-field=kind]")).to_have_value("TICKER")
    expect(tab.locator("[data-field=column]")).to_be_focused()
    jobs = []

    def asked(request):
        body = json.loads(request.post_data) if request.url.endswith("/resolve") else {}
        jobs.extend([] if "candidates" in body else body.get("jobs", []))

    tab.on("request", asked)
    # `Ticker` may be a name. Its candidates are checked elsewhere.
    tab.route("**/resolve", lambda route: answered(route, unknown) if "candidates" in json.loads(route.request.post_data) else route.continue_())
    run(tab, 2)
    assert jobs == [{"text": "IBM", "as": "TICKER"}, {"text": "AAPL", "as": "TICKER"}], jobs
    table = table_of(download(tab))
    assert [row["Ticker"] for row in table] == ["IBM", "AAPL"] and [row["row"] for row in table] == ["2", "3"], table
    assert "figdex_name" in table[0] and table[0]["Name"] == "IBM", "a name of the list is not taken over"
    # Without a kind each text is read by its own form; without a heading the first row counts.
    jobs.clear()
    tab.locator("[data-field=kind]").select_option("")
    tab.locator("[data-field=heading]").select_option("-1")
    run(tab, 3)
    assert jobs == ["Ticker", "IBM", "AAPL"], jobs
    assert list(table_of(download(tab))[0])[:3] == ["Column 1", "Column 2", "Column 3"]
    # A column of FIGIs of all levels.
    fill(tab, f"FIGI\n{IBM}\n{SHARE_CLASS}\n{IBM}")
    expect(tab.locator("[data-field=kind]")).to_have_value("ID_BB_GLOBAL")
    run(tab, 3)
    assert [row["idType"] for row in table_of(download(tab))] == ["ID_BB_GLOBAL", "ID_BB_GLOBAL_SHARE_CLASS_LEVEL", "ID_BB_GLOBAL"]
    # A list in one row, and one of mixed forms.
    fill(tab, f"{ISIN}, IBM, AAPL")
    expect(tab.locator(".begin .primary")).to_have_text("Map 3 rows")
    fill(tab, "\n".join(MIXED))
    expect(tab.locator(".recognition")).to_contain_text("each text is read by its own form")
    run(tab, len(MIXED))
    table = table_of(download(tab))
    read = {row["input"]: (row["match"], row["idType"]) for row in table}
    assert read[ISIN][1] == "ID_ISIN" and read["NO-NE-SUCH"][0] == "unknown", read
    assert read[IBM] == ("resolved", "ID_BB_GLOBAL") and read[SHARE_CLASS][1] == "ID_BB_GLOBAL_SHARE_CLASS_LEVEL", read
    assert read["IBM US Equity"] == ("resolved", "TICKER"), read
    page.close()


def mixed_columns(browser, options):
    """Next to names, a column of identifiers of several kinds is found, and its heading under a title."""
    page = Page(browser, options.base)
    tab = page.go("#/bulk", "#identifiers")
    held = [("IBM", ISIN), ("Apple", "037833100"), ("IBM", "IBM US Equity"), ("", ""), ("IBM", IBM), ("Sun", "2005973"), ("Option", "A     090718P00012500")]
    lines = ["Holdings as of 2026-03-31\t\t", "\t\t", "Name\tIdentifier\tQty", *(f"{name}\t{text}\t{text and 7}" for name, text in held)]
    fill(tab, "\n".join(lines))
    expect(tab.locator(".recognition")).to_contain_text("“Identifier” is not of one kind")
    expect(tab.locator("[data-field=heading]")).to_have_value("2")
    run(tab, 6)
    assert [row["input"] for row in table_of(download(tab), 2)] == [text for _, text in held]
    # A heading is recognised by its word too; without one, no row is lost.
    fill(tab, f"My list\n\nISIN / other\n{ISIN}\nIBM US Equity\n037833100")
    expect(tab.locator("[data-field=heading]")).to_have_value("2")
    fill(tab, f"IBM US Equity\nAAPL\n{ISIN}\n037833100")
    expect(tab.locator("[data-field=heading]")).to_have_value("-1")
    page.close()


def steps(browser, options):
    """The steps are shown, can be ordered, and choose; without one nothing is chosen."""
    page = Page(browser, options.base)
    tab = page.go("#/bulk", "#identifiers")
    asked = []
    tab.on("request", lambda request: asked.append(json.loads(request.post_data).get("prefer")) if request.url.endswith("/resolve") else None)
    fill(tab, ISIN)
    asked.clear()
    only_composites(tab)
    expect(tab.locator(".steps > li")).to_have_count(1)
    expect(tab.locator(".steps")).to_contain_text("Composites")
    run(tab, 1)
    tab.get_by_role("button", name="Remove: step 1, Composites").click()
    expect(tab.locator(".steps")).to_contain_text("stays ambiguous")
    run(tab, 1)
    expect(tab.locator("#tab-ambiguous .tally")).to_have_text("1")
    tab.get_by_label("Add a step").select_option("exchCode")
    expect(tab.locator("[data-field='step 0']")).to_be_focused()
    tab.locator("[data-field='step 0']").click()
    field = tab.locator(".picker-panel:not([hidden]) input")
    for code in ("LN", "US"):
        field.fill(code)
        field.press("ArrowDown")
        field.press("Enter")
    field.press("Escape")
    expect(tab.locator("[data-field='step 0']")).to_contain_text("LN, US")
    tab.get_by_label("Add a step").select_option("composite")
    run(tab, 1)
    tab.get_by_role("button", name="Move up: step 2, Composites").click()
    expect(tab.get_by_role("button", name="Move down: step 1, Composites")).to_be_focused()
    run(tab, 1)
    assert asked == [["composite"], [], ["exchCode=LN|US", "composite"], ["composite", "exchCode=LN|US"]], asked
    [row] = table_of(download(tab))
    assert row["match"] == "resolved" and row["by"] in ("composite", "exchCode=LN|US"), row
    page.close()


def next_steps(browser, options):
    """A wrong identifier is corrected by one click, and a person chooses among several."""
    page = Page(browser, options.base)
    tab = page.go("#/bulk", "#identifiers")
    fill(tab, f"{WRONG_DIGIT}\n{ISIN}\n\n{WRONG_DIGIT}\nNO-NE-SUCH")
    without_steps(tab)
    run(tab, 4)
    sums = tallies(tab)
    assert sums == {"all": 4, "resolved": 0, "ambiguous": 1, "unknown": 1, "invalid": 2}, sums
    rows = tab.locator("#outcome .v-space .v-row")
    expect(rows.nth(0)).to_contain_text("check digit should be 4")
    search = rows.nth(3).get_by_role("link", name="Search for it")
    assert search.get_attribute("href") == "#/search?query=NO-NE-SUCH"
    # One click corrects both rows with this identifier.
    tab.get_by_role("button", name=f"Row 1: use {ISIN} instead").click()
    expect(tab.locator("#tab-ambiguous .tally")).to_have_text("3")
    expect(tab.locator("#said")).to_contain_text("for 2 rows")
    # Make a choice, undo it, and make another one. It counts for the corrected rows too, and the line
    # of sums follows.
    choice = tab.get_by_label(re.compile(f"^Row 2, {ISIN}: choose one of"))
    choice.select_option("0")
    expect(tab.locator("#tab-resolved .tally")).to_have_text("3")
    expect(tab.locator(".run-line")).to_contain_text("3 resolved · 1 unknown")
    expect(rows.nth(1)).to_contain_text("chosen by you")
    first = rows.nth(1).locator(".copyable .mono").inner_text()
    tab.get_by_role("button", name="Row 2: undo").click()
    expect(tab.locator(".run-line")).to_contain_text("3 ambiguous · 1 unknown")
    choice.select_option("1")
    expect(tab.locator("#tab-resolved .tally")).to_have_text("3")
    second = rows.nth(1).locator(".copyable .mono").inner_text()
    assert first != second
    table = table_of(download(tab))
    assert [row["row"] for row in table] == ["1", "2", "", "4", "5"]
    assert [row["match"] for row in table] == ["resolved", "resolved", "", "resolved", "unknown"], table
    assert (table[1]["figi"], table[1]["by"]) == (second, "chosen by you") and int(table[1]["matches"]) > 1
    for row in (table[0], table[3]):
        assert (row["input"], row["figi"], row["by"]) == (WRONG_DIGIT, second, "chosen by you"), row
        assert row["reason"] == f"corrected by you from {WRONG_DIGIT} to {ISIN}", row
    assert table[2]["reason"] == "no identifier"
    # All matches on request: a line each, and the same number of rows.
    tab.get_by_label("Show all matches").check()
    run(tab, 4)
    table = table_of(download(tab))
    many = [row for row in table if row["row"] == "2"]
    assert len(many) == int(many[0]["matches"]) > 1 and len({row["figi"] for row in many}) == len(many), many
    tab.get_by_role("button", name=f"Row 2: choose {many[1]['figi']}").click()
    [row] = [row for row in table_of(download(tab)) if row["row"] == "2"]
    assert (row["figi"], row["by"]) == (many[1]["figi"], "chosen by you"), row
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
    expect(tab.locator("[data-field=heading]")).to_have_value("0")
    expect(tab.locator(".begin .primary")).to_have_text("Map 2 rows")
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
        body = json.loads(route.request.post_data)
        if "jobs" in body:
            sizes.append(len(body["jobs"]))
            if answers:
                return route.fulfill(**answers.pop(0))
            if len(sizes) == 6:
                return route.abort()
        answered(route, unknown)

    tab.route("**/resolve", answer)
    fill(tab, "\n".join(f"NO-{number:03}" for number in range(40)))
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
    expect(tab.locator("#tab-unknown .tally")).to_have_text("40")
    assert sizes[0] == 40 and sizes[-1] == 20, sizes
    # Cancelled in the middle: found rows are kept, and the rest can be mapped later.
    tab.unroute("**/resolve")
    tab.route("**/resolve", lambda route: route.fulfill(status=429, headers={"retry-after": "50"}, body=""))
    tab.locator(".begin .primary").click()
    expect(notice).to_contain_text("request limit")
    tab.get_by_role("button", name="Cancel").click()
    expect(tab.locator(".run-line")).to_contain_text("cancelled")
    assert "not asked" in download(tab)
    # The columns cannot be recognised, but the list can be mapped anyway.
    tab.locator("#identifiers").fill("IBM")
    expect(tab.locator(".recognition")).to_contain_text("could not be recognised: The server’s request limit")
    expect(tab.locator(".begin .primary")).to_be_enabled()
    page.close()


def two_generations(browser, options):
    """Answers of two generations are said to be so."""
    page = Page(browser, options.base)
    tab = page.go("#/bulk", "#identifiers")
    generation = iter((7, 8))

    def answer(route):
        body = json.loads(route.request.post_data)
        if "columns" in body:
            return answered(route, unknown)
        limits = {"ratelimit-limit": "25", "ratelimit-remaining": "2", "ratelimit-reset": "60", "ratelimit-policy": "25;w=60"}
        route.fulfill(headers=limits, json={"generation": next(generation), "results": [unknown(job) for job in body["jobs"]]})

    tab.route("**/resolve", answer)
    fill(tab, "\n".join(f"NO-{number:03}" for number in range(1010)))
    tab.locator(".begin .primary").click()
    expect(tab.locator(".run-line")).to_contain_text("Done", timeout=30_000)
    expect(tab.locator(".bulk-results")).to_contain_text("generations 7 and 8")
    page.close()


def many_rows(browser, options):
    """Tens of thousands of rows from a file: few are drawn, all are downloaded."""
    page = Page(browser, options.base)
    tab = page.go("#/bulk", "#identifiers")
    rows = 30_000
    tab.route("**/resolve", lambda route: answered(route, unknown))
    content = "isin;name\n" + "".join(f"NO-{number % 500:05};x\n" for number in range(rows))
    tab.locator("#file").set_input_files({"name": "many.csv", "mimeType": "text/csv", "buffer": content.encode()})
    expect(tab.locator(".drop")).to_contain_text(f"{rows + 1:,} rows")
    tab.locator("[data-field=heading]").select_option("0")
    tab.locator(".begin .primary").click()
    expect(tab.locator(".run-line")).to_contain_text("Done", timeout=60_000)
    expect(tab.locator("#tab-unknown .tally")).to_have_text(f"{rows:,}")
    assert tab.locator("#outcome .v-row").count() < 100
    tab.locator("#outcome .v-table").evaluate("table => table.scrollTo(0, table.scrollHeight)")
    expect(tab.locator("#outcome .v-row").last).to_contain_text("00499")
    assert download(tab).count("\r\n") == rows + 1
    page.close()


def pasted_lines(browser, options):
    """Several lines, pasted into the search box, are offered as a list; one line is a search."""
    page = Page(browser, options.base, permissions=["clipboard-read", "clipboard-write"])
    tab = page.go("")
    tab.evaluate("text => navigator.clipboard.writeText(text)", f"{ISIN}\r\n\r\nIBM US Equity\r\nAAPL\r\n")
    tab.locator("#query").focus()
    tab.keyboard.press("Control+V")
    first = tab.locator("#suggestions [role=option]").first
    expect(first).to_contain_text("Map these 3")
    expect(first).to_have_attribute("aria-selected", "true")
    tab.keyboard.press("Enter")
    tab.wait_for_url(re.compile("#/bulk"))
    expect(tab.locator("#identifiers")).to_have_value(f"{ISIN}\n\nIBM US Equity\nAAPL\n")
    expect(tab.locator(".begin .primary")).to_have_text("Map 3 rows")
    run(tab, 3)
    assert [row["row"] for row in table_of(download(tab))] == ["1", "", "3", "4"]
    tab.evaluate("text => navigator.clipboard.writeText(text)", "ibm\n")
    tab.locator("#query").fill("")
    tab.locator("#query").focus()
    tab.keyboard.press("Control+V")
    expect(tab.locator("#suggestions")).not_to_contain_text("Map these")
    expect(first).to_contain_text("IBM")
    page.close()


def guarded(browser, options):
    """No cell of the download is a formula for a spreadsheet; numbers stay as they are."""
    page = Page(browser, options.base)
    tab = page.go("#/bulk", "#identifiers")
    tab.route("**/resolve", lambda route: answered(route, unknown))
    formulas = ["=1+1", "+cmd", "-cmd", "@sum", "＝1", "＋1", "－1", "＠x", " =1", "\u200b=1", "-1+1"]
    fill(tab, "\n".join(f"NO-NE\t{text}" for text in [*formulas, "-5", "+1.50", "-1,000.5", "plain"]))
    run(tab, len(formulas) + 4)
    cells = [row["Column 2"] for row in table_of(download(tab))]
    assert cells == [f"'{text}" for text in formulas] + ["-5", "+1.50", "-1,000.5", "plain"], cells
    page.close()


def stated_bounds(browser, options):
    """The bounds are those that the server states; rows without room are asked for again."""
    page = Page(browser, options.base)
    tab = page.go("#/bulk", "#identifiers")
    sizes = []
    stated = {
        "figdex-jobs-per-list": "20", "figdex-jobs-per-request": "4",
        "ratelimit-limit": "25", "ratelimit-remaining": "25", "ratelimit-reset": "60", "ratelimit-policy": "25;w=60",
    }

    def answer(route):
        body = json.loads(route.request.post_data)
        if "jobs" not in body:
            return route.fulfill(headers=stated, json={"generation": 1, "columns": [{} for _ in body["columns"]]})
        sizes.append(len(body["jobs"]))
        results = [unknown(job) for job in body["jobs"]]
        if len(sizes) == 1:
            results[7] = {"status": "invalid", "error": "many rows", "askAgain": True}
        route.fulfill(headers=stated, json={"generation": 1, "results": results})

    tab.route("**/resolve", answer)
    fill(tab, "\n".join(f"NO-{number:03}" for number in range(50)))
    expect(tab.locator(".begin p")).to_contain_text("They count as 13 requests; the server allows 25 requests in 60 s")
    tab.locator(".begin .primary").click()
    expect(tab.locator(".run-line")).to_contain_text("Done", timeout=30_000)
    assert sizes[:4] == [20, 7, 14, 20], sizes
    expect(tab.locator("#tab-unknown .tally")).to_have_text("50")
    page.close()


def true_estimate(browser, options):
    """A server with limits: the estimate is what its headers say."""
    if not options.limited:
        return "no server is named"
    page = Page(browser, options.limited)
    tab = page.go("#/bulk", "#identifiers")
    fill(tab, "\n".join(f"NO-{number:04}" for number in range(200)))
    expect(tab.locator(".begin p")).to_contain_text("They count as 20 requests; the server allows 25 requests in 60 s: nothing has to wait.")
    tab.locator("#identifiers").fill("\n".join(f"NO-{number:04}" for number in range(1000)), timeout=TYPING_MS)
    # 100 requests: about 23 now, then four windows of 60 s.
    expect(tab.locator(".begin p")).to_contain_text(re.compile(r"They count as 100 requests; the server allows 25 requests in 60 s: about (3 min|4 min)"))
    sizes = []
    tab.on("request", lambda request: sizes.extend(len(jobs) for jobs in [json.loads(request.post_data).get("jobs")] if jobs))
    tab.locator(".begin .primary").click()
    expect(tab.locator(".bulk-results .notice")).to_contain_text("The server allows 25 requests in 60 s without a key")
    expect(tab.locator(".run-line")).to_contain_text(re.compile("about (3|4) min"))
    assert len(sizes) == 1 and 200 <= sizes[0] <= 250 and sizes[0] % 10 == 0, sizes  # all that fits, in one request
    tab.get_by_role("button", name="Cancel").click()
    if options.key:
        # With a key a request has ten times as many, and another window.
        tab.get_by_label("API key").fill(options.key)
        expect(tab.locator(".begin p")).to_contain_text("They count as 10 requests; the server allows 25 requests in 6 s: nothing has to wait.")
        run(tab, 1000)
        assert sizes[1:] == [1000], sizes
    page.close()
