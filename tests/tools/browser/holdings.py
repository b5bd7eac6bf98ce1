"""Holdings as analysts have them: columns of one type, own names, account numbers, long lists on a phone."""

import json
import re

from playwright.sync_api import expect

from brokers import FILES
from files import choose
from mapping import answered, fill, run, table_of, unknown, without_steps
from tab import IBM, ISIN, WRONG_DIGIT, Page, download

APPLE = "US0378331005"


def typed_columns(browser, options):
    """The texts of a recognised column are read as `figdex map` reads them (contract 17.13)."""
    page = Page(browser, options.base)
    tab = page.go("#/bulk", "#identifiers")
    asked = []
    tab.on("request", lambda request: asked.extend(json.loads(request.post_data).get("jobs", [])) if request.url.endswith("/resolve") else None)
    wide = "".join(chr(ord(letter) + 0xFEE0) for letter in ISIN)
    for heading, kind, texts in [
        ("Ticker", "TICKER", ["BRK.B", "BRK-B", "IBM US Equity", "005930 KS", "８０３５"]),
        ("ISIN", "ID_ISIN", [f'="{ISIN}"', f"'{ISIN}", f"ISIN: {ISIN}", wide, ISIN]),
        # FIGIs of all levels, and CINS among CUSIPs.
        ("FIGI", "ID_BB_GLOBAL", [IBM, "BBG001S5S399"]),
        ("CUSIP", "ID_CUSIP", ["459200101", "037833100"]),
    ]:
        fill(tab, "\n".join([heading, *(f'"{text.replace(chr(34), chr(34) * 2)}"' for text in texts)]))
        expect(tab.locator("[data-field=kind]")).to_have_value(kind)
        asked.clear()
        run(tab, len(texts))
        assert asked == [{"text": text, "as": kind} for text in texts], asked
        rows = table_of(download(tab))
        assert [row["match"] for row in rows] == ["resolved"] * len(texts), rows
        assert [row["input"].removeprefix("'") for row in rows] == [text.removeprefix("'") for text in texts], rows
    # A correction is read in the same way, and a column of currencies narrows it.
    fill(tab, f'ISIN\tCcy\n=""{WRONG_DIGIT}""\tUSD\n{APPLE}\tUSD'.replace('=""', '="').replace('""\t', '"\t'))
    tab.locator("[data-field=currency]").select_option(label="Ccy")
    run(tab, 2)
    asked.clear()
    tab.get_by_role("button", name=f"Row 2: use {ISIN} instead").click()
    expect(tab.locator("#tab-invalid .tally")).to_have_text("0")
    assert asked == [{"text": ISIN, "as": "ID_ISIN", "currency": "USD"}], asked
    # A type that a text is never read as is asked for exactly.
    tab.locator("[data-field=kind]").select_option("ID_BB_8_CHR")
    asked.clear()
    tab.route("**/resolve", lambda route: answered(route, unknown))
    run(tab, 2)
    assert asked[1] == {"idType": "ID_BB_8_CHR", "idValue": APPLE, "currency": "USD"}, asked
    page.close()


def further_columns(browser, options):
    """A download has identifiers and a vendor's symbols when they are chosen (contract 21.1)."""
    page = Page(browser, options.base)
    tab = page.go("#/bulk", "#identifiers")
    fill(tab, ISIN)
    run(tab, 1)
    plain = table_of(download(tab))[0]
    assert "ID_CUSIP" not in plain and "symbol:yahoo" not in plain, plain
    tab.get_by_text("Further columns of the download").click()
    for name in ("ID_CUSIP", "OCC_SYMBOL", "symbol:yahoo"):
        tab.locator(f"[data-also='{name}']").check()
    run(tab, 1)
    row = table_of(download(tab))[0]
    assert (row["ID_CUSIP"], row["OCC_SYMBOL"], row["symbol:yahoo"]) == ("459200101", "", "IBM"), row
    assert {name: row[name] for name in plain} == plain, row
    # The vendors are those that the server has now: a chosen one that has gone is not asked for.
    names = {"symbols": ["symbol:desk"], "exchanges": {}, "examples": {}}
    tab.route("**/about", lambda route: route.fulfill(json=names))
    tab.reload()
    tab.get_by_text("Further columns of the download").click()
    expect(tab.get_by_label("Symbol (desk)")).not_to_be_checked()
    expect(tab.locator("[data-also='symbol:yahoo']")).to_have_count(0)
    expect(tab.locator("[data-also='ID_CUSIP']")).to_be_checked()
    run(tab, 1)
    row = table_of(download(tab))[0]
    assert row["ID_CUSIP"] == "459200101" and "symbol:yahoo" not in row, row
    page.close()


def home_first(browser, options):
    """A new list begins with the home country and composites. Both are shown and explained, and can be removed."""
    page = Page(browser, options.base)
    tab = page.go("#/bulk", "#identifiers")
    fill(tab, f"{ISIN}\n{APPLE}")
    steps = tab.locator(".steps > li")
    expect(steps).to_have_count(2)
    expect(steps.first).to_contain_text("The listing in the home country: the composite in the country of the ISIN")
    expect(steps.nth(1)).to_contain_text("Composites: one row for each country")
    run(tab, 2)
    rows = table_of(download(tab).replace("Column 1", "list", 1))
    assert [(row["match"], row["by"], row["exchCode"]) for row in rows] == [("resolved", "home", "US")] * 2, rows
    tab.get_by_role("button", name="Remove: step 1, The listing in the home country").click()
    expect(steps).to_have_count(1)
    tab.reload()
    expect(tab.locator(".steps > li")).to_have_count(1)
    page.close()


def wide_facets(browser, options):
    """A long name of an exchange does not widen the filters."""
    for width in (1280, 1440):
        page = Page(browser, options.base, width=width)

        def named(route):
            answer = route.fetch().json()
            answer["exchanges"] = dict.fromkeys(answer["exchanges"], "the Euronext Amsterdam Stock Exchange, with a still longer name")
            route.fulfill(json=answer)

        page.tab.route("**/about", named)
        tab = page.go("#/search?query=ibm", ".facet-value")
        expect(tab.locator(".facet-value", has_text="Amsterdam").first).to_be_visible()
        found = tab.evaluate("""() => {
          const end = document.querySelector('.side').getBoundingClientRect().right;
          return [...document.querySelectorAll('.side :is(fieldset, .facet-value, .picker-button)')]
            .filter((one) => one.getBoundingClientRect().right > end + 7).map((one) => one.outerHTML.slice(0, 80));
        }""")
        assert not found, (width, found)
        page.close()


def own_names(browser, options):
    """The list's own names stand next to the results; those without a word in common are marked, and can be listed first."""
    text = f"ISIN\tQty\tName\n{ISIN}\t3\tIntl. Business Machs.\n{APPLE}\t1\tTerra Mining Ltd\nXS0000000009\t2\tNobody Inc\n{APPLE}\t4\tApple Computer"
    for width in (390, 1280, 1920):
        page = Page(browser, options.base, width=width, height=844)
        tab = page.go("#/bulk", "#identifiers")
        fill(tab, text)
        expect(tab.locator("[data-field=name] option:checked")).to_have_text("Name")
        run(tab, 4)
        rows = tab.locator("#outcome .v-space .v-row")
        for place, name in enumerate(["Intl. Business Machs.", "Terra Mining Ltd", "Nobody Inc", "Apple Computer"]):
            own = rows.nth(place).locator(".own-name")
            expect(own).to_be_visible()
            expect(own).to_have_text(name)
            box = own.bounding_box()
            assert 0 <= box["x"] and box["x"] + box["width"] <= width, (width, box)
            # Nothing covers another cell of the row.
            boxes = [cell.bounding_box() for cell in rows.nth(place).locator("> div:visible").all()]
            for one in boxes:
                for other in boxes:
                    apart = one is other or one["x"] + one["width"] <= other["x"] + 1 or other["x"] + other["width"] <= one["x"] + 1
                    assert apart or one["y"] + one["height"] <= other["y"] + 1 or other["y"] + other["height"] <= one["y"] + 1, (width, boxes)
        expect(tab.locator("#outcome .differs")).to_have_count(1)
        expect(rows.nth(1).locator(".differs")).to_have_text("name differs")
        expect(tab.locator(".other-names")).to_contain_text("1 resolved row has a name")
        tab.get_by_role("button", name="List them first").click()
        expect(rows.first.locator(".own-name")).to_have_text("Terra Mining Ltd")
        # The order of the download stays.
        assert [row["row"] for row in table_of(download(tab))] == ["2", "3", "4", "5"]
        tab.get_by_role("button", name="List all rows in their order").click()
        expect(rows.first.locator(".own-name")).to_have_text("Intl. Business Machs.")
        # Without names the column is away.
        tab.locator("[data-field=name]").select_option("-1")
        run(tab, 4)
        expect(tab.locator("#outcome .v-own")).to_have_count(0)
        page.close()
    # The column is known by its heading, or else as the widest of texts; and names are compared as people write them.
    page = Page(browser, options.base)
    read = """async ([tables, names]) => {
      const { nameColumn, isOtherName } = await import('/page/bulk/own-names.js');
      return [tables.map((rows) => nameColumn({ rows, columns: rows[0].length }, { heading: 0, column: 0, currency: -1, kinds: [] })),
        names.map(([own, name]) => isOtherName(own, { name, ticker: 'TCK' }))];
    }"""
    tables = [
        [["ISIN", "Note", "Bezeichnung"], [ISIN, "a rather long remark on it", "IBM"], [APPLE, "another long remark on it", "Apple"]],
        [["ISIN", "x", "y"], [ISIN, "Buy", "International Business Machines"], [APPLE, "Sell", "Apple Computer"]],
        [["コード", "市場", "銘柄名"], ["7203", "東証プライム", "トヨタ自動車"], ["6758", "東証プライム", "ソニーグループ"]],
        [["ISIN", "Held", "Day"], [ISIN, "12", "2025-01-01"], [APPLE, "13", "2025-01-02"]],
    ]
    alike = [("DT.TELEKOM AG NA", "DEUTSCHE TELEKOM AG-REG"), ("MUENCHENER RUECK", "MÜNCHENER RÜCKVERSICHERUNG"), ("JP MORGAN", "JPMORGAN CHASE & CO"), ("BP Plc Ordinary US$0.25", "BP PLC"),
             ("トヨタ自動車", "TOYOTA MOTOR CORP"), ("--", "APPLE INC"), ("TCK Inc", "SOMETHING ELSE"), ("Coca-Cola", "The Coca-Cola Company"), ("三菱ＵＦＪフィナンシャル・グループ", "MITSUBISHI UFJ FINANCIAL GRO"), ("ブラザーＡＢＣ", "ABC CORP")]
    other = [("Apple Inc", "TERRA MINING INC"), ("Siemens AG", "SAP AG"), ("任天堂", "トヨタ自動車"), ("ＩＮＰＥＸ", "WALSIN LIHWA CORPORATION")]
    found, differ = page.go("").evaluate(read, [tables, alike + other])
    assert found == [2, 2, 2, -1], found
    assert differ == [False] * len(alike) + [True] * len(other), list(zip(alike + other, differ, strict=True))
    page.close()


def other_exchanges(browser, options):
    """Among tickers of one exchange, those that were found elsewhere are marked and counted: they may be other securities."""
    found = {"7203": None, "1605": "TT", "6861 JP": "TT"}

    def result(job):
        row = {"figi": IBM, "ticker": job["text"], "name": "A CORP", "exchCode": found.get(job["text"], "JP")}
        return {"status": "resolved", "idType": "TICKER", "matches": 1, "by": "only", "data": [row]}

    for width in (360, 800, 1280):
        page = Page(browser, options.base, width=width, height=800)
        tab = page.go("#/bulk", "#identifiers")
        tab.route("**/resolve", lambda route: route.continue_() if "columns" in json.loads(route.request.post_data) else answered(route, result))
        fill(tab, "Ticker\tQty\n" + "".join(f"{code}\t1\n" for code in ["7203", "1605", "6861 JP", "1925", "2502", "3407", "4063", "4502"]))
        run(tab, 8)
        expect(tab.locator("#outcome .differs")).to_have_text(["no exchange", "not JP"])
        expect(tab.locator(".other-names")).to_contain_text("Most tickers were found on JP, but 2 were found on another exchange or on none.")
        for mark in tab.locator("#outcome .differs").all():
            box = mark.bounding_box()
            assert box["x"] + box["width"] <= width, (width, box)
        tab.get_by_role("button", name="List them first").click()
        expect(tab.locator("#outcome .v-space .v-row").first.locator(".differs")).to_be_visible()
        # No exchange is that of most.
        fill(tab, "Ticker\tQty\n7203\t1\n1605\t1\n1925\t1\n2502\t1")
        run(tab, 4)
        expect(tab.locator("#outcome .differs")).to_have_count(0)
        page.close()


def whole_rows(browser, options):
    """At every width the FIGI is on the screen, an error can be read, and a choice can be undone."""
    for width in (360, 700, 800, 1024, 1150, 1280):
        page = Page(browser, options.base, width=width, height=900)
        tab = page.go("#/bulk", "#identifiers")
        for columns in ("ISIN\tQty\tName", "ISIN\tQty"):
            fill(tab, f"{columns}\n{ISIN}\t3\tIntl. Business Machs.\n{WRONG_DIGIT}\t1\tIntl. Business Machs.\nUS459200101\t1\tA short one\n")
            without_steps(tab)
            run(tab, 3)
            tab.get_by_label(re.compile("Row 2, .*choose one of")).select_option("0")
            table, rows = tab.locator("#outcome .v-table"), tab.locator("#outcome .v-space .v-row")
            assert table.evaluate("table => table.scrollWidth <= table.clientWidth"), (width, columns)
            for part in (rows.first.locator(".v-figi"), rows.first.get_by_role("button", name="undo"), rows.nth(1).get_by_role("button", name="use"), rows.nth(2).locator(".wrong")):
                expect(part).to_be_visible()
                assert part.evaluate("""(part) => {
                  const box = part.getBoundingClientRect(), cell = part.closest('[role=cell]').getBoundingClientRect();
                  return box.right <= Math.min(cell.right + 1, innerWidth) && box.bottom <= cell.bottom + 1 && part.scrollWidth <= part.clientWidth + 1;
                }"""), (width, columns, part.inner_text(), part.bounding_box())
            rows.first.get_by_role("button", name="undo").click()
            expect(rows.first).to_contain_text("Ambiguous")
        page.close()


def counted_once(browser, options):
    """The rows that are left out are said, and each counts once: a blank row of a footer is not one without an identifier too."""
    page = Page(browser, options.base)
    tab = page.go("#/bulk", "#identifiers")
    text = f"Depot 4711;;\n;;\nISIN;Name;Wert\n{ISIN};IBM;1,50\n;Konto;2,50\n{APPLE};Apple;3,50\n;Gesamt;7,50\n;;\nOhne Gewähr;;\n"
    fill(tab, text)
    expect(tab.locator(".recognised")).to_contain_text("2 rows above the heading are left out. 1 row without an identifier is left out. The last 3 rows, from “Gesamt” on, are a total with its notes and are left out.")
    page.close()


def account_numbers(browser, options):
    """An account number, or one number for all rows, is not taken for the identifiers while there are others."""
    page = Page(browser, options.base)
    tab = page.go("#/bulk", "#identifiers")
    held = [("AAPL", "1"), ("IBM", "2"), ("MSFT", "3")]
    for heading, numbers in [("Account Number", ["459200101", "037833100", "594918104"]), ("Number", ["037833100"] * 3), ("Depotnummer", ["037833100"] * 3)]:
        fill(tab, "\n".join([f"{heading}\tSymbol\tQty", *(f"{number}\t{symbol}\t{quantity}" for number, (symbol, quantity) in zip(numbers, held, strict=True))]))
        expect(tab.locator("[data-field=column] option:checked")).to_have_text("Symbol (Ticker)")
    # Identifiers of several kinds next to an account.
    fill(tab, f"Account\tHolding\tQty\n037833100\t{ISIN}\t1\n037833100\t2005973\t2\n037833100\t{IBM}\t3")
    expect(tab.locator("[data-field=column] option:checked")).to_have_text("Holding")
    # Without another column it is taken.
    fill(tab, "CUSIP\tQty\n037833100\t1\n037833100\t2")
    expect(tab.locator("[data-field=column] option:checked")).to_have_text("CUSIP (CUSIP)")
    page.close()


def row_numbers(browser, options):
    """The numbers of the rows are not taken for tickers, and an ISIN and a WKN may be in one cell."""
    page = Page(browser, options.base)
    tab = page.go("#/bulk", "#identifiers")
    both = [f"{ISIN} / 851399", "US0378331005 / 865985", "US5949181045 / 870747", "US0231351067 / 906866"]
    fill(tab, "\n".join(["Nr.\tBezeichnung\tISIN / WKN\tStück", *(f"{number}\tPapier {number}\t{text}\t{number}0" for number, text in enumerate(both, 1))]))
    expect(tab.locator("[data-field=column] option:checked")).to_have_text("ISIN / WKN (ISIN)")
    run(tab, 4)
    assert table_of(download(tab))[0]["match"] == "resolved"
    # When nothing of a type is found, the page says what may be wrong.
    fill(tab, "Sedol\tName\nB63H849\tRolls-Royce\n0237400\tDiageo\nBH4HKS3\tVodafone")
    run(tab, 3)
    expect(tab.locator("main")).to_contain_text("No identifier of the list was found as SEDOL. The data may have no such identifiers: choose another column above.")
    # Without a column of identifiers the names are offered, in a language of any country.
    fill(tab, "\n".join(["Nr.\tName\tQty", *(f"{number}.\tApple\t{number}0" for number in range(1, 6))]))
    expect(tab.locator("[data-field=column] option:checked")).to_have_text("Name")
    fill(tab, "コード\t銘柄名\t保有数\nIBM\tアイビーエム\t100\nAAPL\tアップル\t200")
    expect(tab.locator("[data-field=column] option:checked")).to_have_text("コード (Ticker)")
    # Numbers that do not count the rows are tickers.
    fill(tab, "Number\tName\n7974\tNintendo\n6758\tSony\n8306\tMUFG")
    expect(tab.locator("[data-field=column] option:checked")).to_have_text("Number")
    page.close()


def signed_numbers(browser, options):
    """Numbers as brokers write them are not guarded; formulas that begin like them are."""
    page = Page(browser, options.base)
    tab = page.go("#/bulk", "#identifiers")
    tab.route("**/resolve", lambda route: answered(route, unknown))
    numbers = ["-37,01 %", "--", "-", "+$0.01", "-$1,714.32", "-1'234.50", "-1 234,50", "-1.714,32 €", "+5%", "-37,01\u00a0%", "- 5"]
    formulas = ["-1+cmd", "-1+1", "--1", "+$A$1", "-$0.01+A1", "-1'!A1", "- cmd", "-5 %+1", "-1 A1", "=-1", "+1*2", "-1%%0"]
    fill(tab, "\n".join(["Identifier\tGain", *(f"NO-{number}\t{text}" for number, text in enumerate([*numbers, *formulas]))]))
    run(tab, len(numbers + formulas))
    cells = [row["Gain"] for row in table_of(download(tab))]
    assert cells == numbers + [f"'{text}" for text in formulas], cells
    page.close()


def whole_suggestions(browser, options):
    """The tickers of options are whole where there is room; on a phone a long name has two lines."""
    option = {"figi": IBM, "ticker": "AAPL 12/19/25 C200.5", "name": "December 25 Calls on AAPL US", "exchCode": "US", "securityType2": "Option"}
    fund = {"figi": IBM, "ticker": "IWDA", "name": "iShares Core MSCI World UCITS ETF USD (Acc)", "exchCode": "LN", "securityType": "ETP"}
    # The text is whole if its element has room for all of it.
    whole = "(part) => part.scrollWidth <= part.clientWidth && part.scrollHeight <= part.clientHeight + 2"
    for width in (390, 1280, 1920):
        page = Page(browser, options.base, width=width, height=844)
        page.tab.route("**/suggest?*", lambda route: route.fulfill(json={"data": [option, fund]}))
        tab = page.go("#/search", ".empty")
        tab.locator("#query").press_sequentially("whatever")
        rows = tab.locator("#suggestions .suggestion")
        expect(rows.first).to_be_visible()
        for part in (rows.first.locator(".s-ticker"), rows.nth(1).locator(".s-name")):
            assert part.evaluate(whole), (width, part.inner_text(), part.bounding_box())
        # The names are below each other.
        assert rows.first.locator(".s-name").bounding_box()["x"] == rows.nth(1).locator(".s-name").bounding_box()["x"]
        page.close()


def other_names(browser, options):
    """A result that is found by another name says by which, also when a search finds no row."""
    page = Page(browser, options.base)
    tab = page.go("#/search?query=iphone", ".rows tbody tr")
    expect(tab.locator(".rows tbody tr").first).to_contain_text("brand iPhone")
    expect(tab.locator(".status")).to_have_text("1 security")
    expect(tab.locator(".rows tbody .c-listings")).to_have_text(re.compile(r"^\d+ listings$"))
    page.tab.route("**/find?*", lambda route: route.fulfill(json={"data": [], "securities": [
        {"figi": IBM, "name": "META PLATFORMS INC", "ticker": "META", "exchCode": "US", "listings": 1, "matched": ["name"], "isGuess": False, "matchedName": {"kind": "former", "name": "FACEBOOK INC"}}]}))
    page.go("#/search?query=facebook", ".rows tbody tr")
    expect(tab.locator(".rows tbody tr").first).to_contain_text("formerly FACEBOOK INC")
    page.close()


def first_rows(browser, options):
    """The first rows show the title whole, five rows below the heading, and the identifiers also on a phone."""
    for width in (390, 1280):
        page = Page(browser, options.base, width=width, height=844)
        tab = page.go("#/bulk", "#identifiers")
        for name, column, heading in [("american", "Symbol", 3), ("swiss", "ISIN", 5), ("british", "ISIN", 5), ("german", "ISIN", 6)]:
            choose(tab, *FILES[name])
            shown = tab.locator(".preview tbody tr")
            expect(shown).to_have_count(heading + 5)
            chosen, box = tab.locator(".preview th.chosen").bounding_box(), tab.locator(".first-rows .scroller").bounding_box()
            expect(tab.locator(".preview th.chosen")).to_contain_text(column)
            assert box["x"] <= chosen["x"] and chosen["x"] + chosen["width"] <= box["x"] + box["width"] + 1, (width, name, chosen, box)
            for title in tab.locator(".table-title").all():
                place = title.bounding_box()
                assert box["x"] <= place["x"] and place["x"] + place["width"] <= box["x"] + box["width"] + 1, (width, name, place, box)
        # The total counts in neither number.
        expect(tab.locator(".recognition")).to_contain_text("100 % of its first 17 values")
        expect(tab.locator(".recognised")).to_contain_text("17 rows")
        # The buttons are on one line, and all tabs of the results are on the screen.
        tops = [tab.get_by_role("button", name=name, exact=True).bounding_box()["y"] for name in ("Example", "Clear")]
        assert abs(tops[0] - tops[1]) < 4, (width, tops)
        run(tab)
        for kind in ("all", "resolved", "ambiguous", "unknown", "invalid"):
            place = tab.locator(f"#tab-{kind}").bounding_box()
            assert place["x"] >= 0 and place["x"] + place["width"] <= width, (width, kind, place)
        page.close()


def one_sort_block(browser, options):
    """On a phone a table of guesses has no block for sorting: only the table of the results has one."""
    page = Page(browser, options.base, width=390, height=844)
    row = {"figi": IBM, "name": "A CORP", "ticker": "A", "exchCode": "US"}
    page.tab.route("**/find?*", lambda route: route.fulfill(json={"data": [row], "securities": [
        {**row, "figi": "BBG000B9XRY4", "ticker": "GUESS", "listings": 1, "matched": ["guess"], "isGuess": True}, {**row, "listings": 1, "matched": ["name"], "isGuess": False}]}))
    tab = page.go("#/search?query=whatever", "section.guesses")
    expect(tab.locator(".rows")).to_have_count(2)
    expect(tab.locator(".rows thead:visible")).to_have_count(1)
    expect(tab.locator(".scroller > .rows thead").last).to_be_visible()
    page.close()
