"""The page for people, used as a person uses it, in a browser without a screen.

    python3 tests/tools/browser http://127.0.0.1:8080 [NAME…]

Needs playwright and Debian's chromium (`CHROMIUM` names another one). The server has any data with
IBM's and Apple's listings, such as the bundled sample, and no limits (`--no-limits`). `--hostile`,
`--default` and `--limited` are servers over data that look like code: without limits, with the
default ones, and with those that count the page as any program. `--past` is a server whose index
keeps a past, built from the dumps in `past/`. `--axe` is the file of axe-core. Checks that lack one of these are skipped, and reported.
"""

import argparse
import sys
import time

from playwright.sync_api import sync_playwright

import access
import family
import files
import finding
import holdings
import hostile
import mapping
import past
import pictures
import reading
import results
import saved
import terms
from tab import ARGUMENTS, CHROMIUM

CHECKS = [
    finding.type_ahead,
    finding.stale_suggestions,
    finding.late_views,
    finding.filtered_suggestions,
    finding.routes,
    finding.instrument,
    finding.filters,
    finding.pages,
    finding.search_troubles,
    finding.retried,
    results.folded,
    results.reads_on,
    results.facets,
    results.sorted_rows,
    results.sorted_terms,
    results.lines_of_one,
    results.all_listings,
    results.taken,
    saved.whole,
    saved.refused,
    saved.sorting,
    saved.isins,
    saved.back,
    saved.copies,
    terms.meant,
    terms.read_as_filters,
    terms.terms,
    terms.two_lines,
    terms.wide,
    family.names,
    family.picker,
    family.counts_agree,
    family.share_class,
    family.start,
    family.three_keys,
    family.copied,
    family.underlying,
    mapping.spreadsheet,
    mapping.tables,
    mapping.columns,
    mapping.mixed_columns,
    mapping.steps,
    mapping.next_steps,
    mapping.dropped,
    mapping.bulk_troubles,
    mapping.two_generations,
    mapping.many_rows,
    mapping.pasted_lines,
    mapping.guarded,
    mapping.stated_bounds,
    mapping.true_estimate,
    files.shared_cases,
    files.long_japanese,
    files.brokers,
    files.boxes,
    files.kept,
    files.again,
    files.currency_column,
    files.same_security,
    files.candidates,
    files.names_at_once,
    files.phone,
    files.warned,
    holdings.typed_columns,
    holdings.further_columns,
    holdings.home_first,
    holdings.wide_facets,
    holdings.own_names,
    holdings.other_exchanges,
    holdings.whole_rows,
    holdings.counted_once,
    holdings.account_numbers,
    holdings.row_numbers,
    holdings.signed_numbers,
    holdings.whole_suggestions,
    holdings.other_names,
    holdings.first_rows,
    holdings.one_sort_block,
    reading.reference,
    reading.narrow,
    reading.theme,
    reading.printed,
    reading.keyboard,
    reading.keyboard_mapping,
    access.access,
    access.axe,
    hostile.escaped,
    hostile.policy,
    hostile.own_window,
    hostile.real_limits,
    past.history,
    past.retired,
    past.former_results,
    past.days,
    past.days_of_a_column,
    past.nothing_without,
    past.accessible,
    pictures.pictures,
]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("base")
    parser.add_argument("names", nargs="*")
    parser.add_argument("--key", default="")
    parser.add_argument("--hostile")
    parser.add_argument("--default")
    parser.add_argument("--limited")
    parser.add_argument("--past")
    parser.add_argument("--axe")
    parser.add_argument("--pictures")
    options = parser.parse_intermixed_args()
    options.base = options.base.rstrip("/")
    unknown = set(options.names) - {check.__name__ for check in CHECKS}
    if unknown:
        parser.error(f"there is no check {', '.join(sorted(unknown))}")
    failed = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        for check in CHECKS:
            name = check.__name__
            if options.names and name not in options.names:
                continue
            start = time.monotonic()
            try:
                left_out = check(browser, options)
                seconds = time.monotonic() - start
                print(f"ok      {name} {seconds:.1f} s" if not left_out else f"left out {name}: {left_out}", flush=True)
            except Exception as error:  # the other checks run all the same
                failed.append(name)
                words = str(error).split("Aria snapshot")[0].strip()
                print(f"FAILED  {name}: {type(error).__name__}: {words[:2000]}", flush=True)
        browser.close()
    if failed:
        sys.exit(f"{len(failed)} failed: {', '.join(failed)}")


main()
