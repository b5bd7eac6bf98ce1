"""Uses a client that is generated from `/schema`, as a third party would.

The module `figdex_client` is generated for each run. The server has the bundled sample.
"""

import sys

from figdex_client import Client
from figdex_client.api.default import (
    get_mapping_values_key,
    post_filter,
    post_mapping,
    post_search,
)
from figdex_client.models import (
    FilterRequest,
    GetMappingValuesKeyKey,
    MappingJob,
    MappingJobIdType,
    MappingJobResultError,
    MappingJobResultFigiList,
    MappingJobResultFigiNotFound,
    SearchRequest,
)
from figdex_client.types import UNSET

PAGE_ROWS_MAX = 100
PAGES_MAX = 150


def main(base):
    client = Client(base_url=base, raise_on_unexpected_status=True)
    maps(client)
    lists(client)
    searches(client)
    filters(client)
    refusals(client)


def maps(client):
    """One answer for each job, of the documented type."""

    def job(id_type, id_value, **properties):
        return MappingJob(id_type=MappingJobIdType(id_type), id_value=id_value, **properties)

    found, narrowed, number, none, fault = post_mapping.sync(
        client=client,
        body=[
            job("ID_ISIN", "US4592001014"),
            job("ID_ISIN", "US4592001014", exch_code="US"),
            job("ID_WERTPAPIER", 851399),
            job("TICKER", "NONESUCH"),
            job("ID_ISIN", "US4592001015"),
        ],
    )
    assert isinstance(found, MappingJobResultFigiList), found
    assert len(found.data) >= 8
    assert found.data[0].figi == "BBG000BLNNH6"
    assert all(row.share_class_figi == "BBG001S5S399" for row in found.data)
    assert [row.figi for row in narrowed.data] == ["BBG000BLNNH6"]
    assert number.data == found.data
    assert isinstance(none, MappingJobResultFigiNotFound), none
    assert isinstance(fault, MappingJobResultError), fault


def lists(client):
    """Every key has values."""
    for key in GetMappingValuesKeyKey:
        answer = get_mapping_values_key.sync(key, client=client)
        assert answer.values, key


def searches(client):
    """The first row is the one that a person would want."""
    answer = post_search.sync(client=client, body=SearchRequest(query="ibm", exch_code="US"))
    assert answer.data[0].figi == "BBG000BLNNH6", answer
    assert answer.error is UNSET and answer.next_ is UNSET
    answer = post_search.sync(client=client, body=SearchRequest(query=""))
    assert answer.error and answer.data is UNSET


def filters(client):
    """The pages joined are the whole answer, of search as of filter; those of filter in FIGI order."""
    pages = list(walk(client, post_filter, FilterRequest(market_sec_des="Equity")))
    total = pages[0].total
    figis = [row.figi for page in pages for row in page.data]
    assert total > 3 * PAGE_ROWS_MAX, total
    assert all(page.total == total for page in pages)
    assert len(figis) == min(total, PAGES_MAX * PAGE_ROWS_MAX)
    assert figis == sorted(set(figis))

    question = {"market_sec_des": "Equity", "currency": "USD"}
    filtered = list(walk(client, post_filter, FilterRequest(**question)))
    searched = list(walk(client, post_search, SearchRequest(**question)))
    figis = sorted(row.figi for page in searched for row in page.data)
    assert len(figis) == filtered[0].total > PAGE_ROWS_MAX
    assert figis == [row.figi for page in filtered for row in page.data]
    either = FilterRequest(market_sec_des=["Equity", "Corp"])
    corporate = FilterRequest(market_sec_des="Corp")
    sums = [post_filter.sync(client=client, body=body).total for body in (either, corporate)]
    assert sums[0] == total + sums[1] > total, sums
    print(f"{total} rows of filter and {len(figis)} of search, page by page")


def walk(client, endpoint, request):
    """The pages of a question."""
    while True:
        page = endpoint.sync(client=client, body=request)
        assert page.error is UNSET, page.error
        yield page
        if page.next_ is UNSET:
            return
        assert len(page.data) == PAGE_ROWS_MAX
        request.start = page.next_


def refusals(client):
    """A refusal has its status and its text."""
    answer = post_search.sync_detailed(client=client, body=SearchRequest(exch_code="??"))
    assert (answer.status_code, answer.parsed) == (400, "Invalid enum field."), answer


main(sys.argv[1])
