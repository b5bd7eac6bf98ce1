"""The Parquet file of an index, read over HTTP by the engines that it is for."""

import argparse
import http.client
import http.server
import re
import subprocess
import tempfile
import threading
import time
import urllib.error
import urllib.request
from pathlib import Path

import duckdb
import duckdb_extension_httpfs
import pandas
import polars
import pyarrow
import pyarrow.parquet

import recipes

# The shares of the file that DuckDB may read to look a FIGI or a ticker up, by the least number of
# instruments. Small files have few row groups, and a row group is read or left out. The share of a
# FIGI is of each look-up, that of a ticker of the mean: how many filters err differs by ticker.
SHARES = [(10_000_000, 0.01, 0.04), (0, 0.60, 0.90)]
LOOK_UP = "SELECT figi, name, exchCode FROM read_parquet('{url}') WHERE {column} = '{value}'"
# What a reader may read besides the footer: DuckDB reads the end of a file in one piece.
END_BYTES = 16 << 10
LOOK_UPS = 20
MIXED = 20_000
ROUNDS = 4


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("programs", type=Path)
    parser.add_argument("scratch", type=Path)
    parser.add_argument("document", type=Path)
    parser.add_argument("--count", type=int, default=100_000)
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    desk = Desk(given.programs, given.scratch / "parquet")
    examples(desk, given.scratch, given.document, given.write)
    equal_to_the_export(desk)
    one_generation(desk)
    few_bytes(desk, given.count)


class Desk:
    def __init__(self, programs, folder):
        self.programs, self.folder = programs, folder
        folder.mkdir()

    def run(self, *words):
        done = subprocess.run(
            [self.programs / "figdex-ingest", *map(str, words)], cwd=self.folder, capture_output=True, text=True
        )
        if done.returncode:
            raise SystemExit(f"{words}: {done.stderr}")
        return done.stdout

    def generate(self, count, name, seed=1):
        self.run("generate", "--count", count, "--seed", seed, "--out", name)

    def build(self, dump, index, *flags):
        self.run("build", dump, "--index", index, "--quiet", *flags)


class Server:
    """A server over an index with a Parquet file."""

    def __init__(self, desk, index, *flags):
        self.path = desk.folder / f"{index}.log"
        self.log = open(self.path, "w+")
        words = ["--index", index, "--listen", "127.0.0.1:0", "--no-limits", "--parquet", *flags]
        self.process = subprocess.Popen([desk.programs / "figdex", *words], cwd=desk.folder, stderr=self.log)

    def __enter__(self):
        for _ in range(600):
            found = re.search(r"http://127\.0\.0\.1:\d+", self.path.read_text())
            if found:
                self.base = found.group()
                return self
            assert self.process.poll() is None, self.path.read_text()
            time.sleep(0.1)
        raise SystemExit("the server does not start")

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()
        self.log.close()

    def latest(self):
        """The address to which the newest generation leads."""
        latest = f"{self.base}/generations/latest/instruments.parquet"
        return urllib.request.urlopen(urllib.request.Request(latest, method="HEAD")).url


def engine():
    """DuckDB with the extension that its package brings; none is fetched from elsewhere."""
    connection = duckdb.connect()
    connection.execute("SET autoinstall_known_extensions = false")
    folder = Path(duckdb_extension_httpfs.__file__).parent
    (extension,) = folder.rglob("httpfs.duckdb_extension")
    connection.execute(f"LOAD '{extension}'")
    return connection


def examples(desk, scratch, document, writes):
    """The examples of the document, over the bundled sample."""
    desk.run("export", scratch / "data/index", "--out", "sample.csv")
    desk.build("sample.csv", "sample", "--parquet")
    text = document.read_text(encoding="utf-8")
    with Server(desk, "sample") as server, tempfile.TemporaryDirectory() as folder:
        # An engine of a reader fetches its extension; here it comes from a package.
        (extension,) = Path(duckdb_extension_httpfs.__file__).parent.rglob("httpfs.duckdb_extension")
        mine = text.replace('load_extension("httpfs")', f'load_extension("{extension}")')
        python = re.sub(r"^```sh\n.*?^```$", "", mine, flags=re.M | re.S)
        written, ran, failed = recipes.run(python, Path(folder), server.base)
    printed = re.findall(r"^```text\n(.*?)^```$", written, flags=re.M | re.S)
    if writes:
        blocks = iter(printed)
        text = re.sub(r"^```text\n.*?^```$", lambda _: f"```text\n{next(blocks)}```", text, flags=re.M | re.S)
        document.write_text(text, encoding="utf-8")
        failed = 0
    print(f"{document.name}: {ran} examples ran, {failed} differ")
    if failed or ran < 3:
        raise SystemExit("the examples of the document print something else")


def same(connection, one, other, what):
    """Two tables have the same rows, each as often."""
    for these, those in ((one, other), (other, one)):
        query = f"SELECT count(*) FROM (FROM {these} EXCEPT ALL FROM {those})"
        (count,) = connection.execute(query).fetchone()
        assert count == 0, f"{what}: {count} rows of {these} are not in {those}"


def equal_to_the_export(desk):
    """Every engine reads over HTTP what the export has, with all identifiers."""
    desk.generate(5_000, "small.csv")
    desk.build("small.csv", "small", "--parquet=all")
    desk.run("export", "small", "--out", "small-export.csv")
    desk.run("export", "small", "--format", "parquet", "--out", "small-export.parquet")
    connection = engine()
    with Server(desk, "small") as server:
        url = server.latest()
        connection.execute(f"CREATE TABLE remote AS FROM read_parquet('{url}')")
        by_polars = polars.read_parquet(url).to_arrow()
        by_scan = polars.scan_parquet(url).collect().to_arrow()
        by_pandas = pyarrow.Table.from_pandas(pandas.read_parquet(url), preserve_index=False)
    columns = connection.execute("DESCRIBE remote").fetchall()
    kinds = {name: kind for name, kind, *_ in columns}
    assert kinds["expiration"] == kinds["maturity"] == "DATE", kinds
    assert kinds["strike"] == kinds["importance"] == "DOUBLE" and kinds["listed"] == "BOOLEAN", kinds
    types = ", ".join(f"'{name}': '{kind}'" for name, kind in kinds.items())
    csv = desk.folder / "small-export.csv"
    connection.execute(f"CREATE TABLE csv AS FROM read_csv('{csv}', types = {{{types}}})")
    connection.execute(f"CREATE TABLE exported AS FROM read_parquet('{desk.folder / 'small-export.parquet'}')")
    (rows,) = connection.execute("SELECT count(*) FROM csv").fetchone()
    assert rows > 4_000, rows
    for name, table in (("by_polars", by_polars), ("by_scan", by_scan), ("by_pandas", by_pandas)):
        connection.register(f"{name}_read", table)
        cast = ", ".join(f'"{column}"::{kind} AS "{column}"' for column, kind in kinds.items())
        connection.execute(f"CREATE TABLE {name} AS SELECT {cast} FROM {name}_read")
    for other in ("csv", "exported", "by_polars", "by_scan", "by_pandas"):
        same(connection, "remote", other, f"DuckDB over HTTP and {other}")
    # Otherwise the check would prove nothing.
    (identifiers,) = connection.execute("SELECT count(ID_ISIN) FROM remote").fetchone()
    assert identifiers > 100, identifiers
    print(f"{rows} instruments: DuckDB, polars and pandas read over HTTP what the export has")


def by_duckdb(url):
    return engine().execute(f"SELECT count(*), min(name), max(name) FROM read_parquet('{url}')").fetchone()


def by_polars(url):
    column = polars.col("name")
    return polars.scan_parquet(url).select(polars.len(), column.min(), column.max().alias("most")).collect().row(0)


def by_pandas(url):
    names = pandas.read_parquet(url, columns=["name"])["name"]
    return len(names), names.min(), names.max()


def one_generation(desk):
    """While generations come and go, each answer is of one of them, or a clear error."""
    desk.generate(MIXED, "mixed.csv")
    dump = desk.folder / "mixed.csv"
    heading, *rows = dump.read_text(encoding="utf-8").splitlines()
    figis = [row.split(",", 1)[0] for row in rows if not row.startswith('"')]
    figis = sorted({figi for figi in figis if re.fullmatch(r"FDG[0-9A-Z]{9}", figi)})

    def build(number):
        # A name of each row says which generation it is of; the tickers make the file long.
        lines = (f"{figi},GENERATION {number},{number}T{place * 7919 % 1000003:06}" for place, figi in enumerate(figis))
        dump.write_text("\n".join(["figi,name,ticker", *lines]) + "\n", encoding="utf-8")
        desk.build("mixed.csv", "mixed", "--parquet", "--keep", "0")

    build(0)
    answers, errors, over = {}, {}, threading.Event()

    def read(name, ask, latest):
        # The pauses leave the builds some time.
        while not over.wait(0.1):
            try:
                url = f"{server.base}/generations/latest/instruments.parquet" if latest else server.latest()
                count, least, most = ask(url)
            except Exception as error:
                errors.setdefault(name, []).append(f"{type(error).__name__}: {error}")
                continue
            assert (count, least) == (len(figis), most), f"{name}: a mixture: {count} {least} {most}"
            answers.setdefault(name, set()).add(least)

    faults = []

    def guarded(*words):
        try:
            read(*words)
        except BaseException as error:
            faults.append(error)

    asks = {"DuckDB": by_duckdb, "polars": by_polars, "pandas": by_pandas}
    with Server(desk, "mixed") as server:
        threads = [
            threading.Thread(target=guarded, args=(f"{name}{', latest' if latest else ''}", ask, latest))
            for name, ask in asks.items()
            for latest in (False, True)
        ]
        for thread in threads:
            thread.start()
        for number in range(1, ROUNDS):
            build(number)
        time.sleep(2)
        over.set()
        for thread in threads:
            thread.join()
    if faults:
        raise SystemExit(f"{faults[0]}")
    for name in asks:
        assert len(answers.get(name, ())) > 1, f"{name}: answers {answers}, errors {errors}"
    # Generations that have gone are 404; ranges of the newest are 400.
    clear = re.compile(r"\b(404|400|Not Found|Bad Request)\b|Connection|closed")
    for name, said in errors.items():
        unclear = [text for text in said if not clear.search(text)]
        assert not unclear, f"{name}: {unclear[0]}"
    counted = ", ".join(f"{name} {len(found)}" for name, found in sorted(answers.items()))
    refused = sum(map(len, errors.values()))
    print(f"{ROUNDS} generations of {len(figis)} instruments: no mixture; seen by {counted}; {refused} clear errors")


class Counting(http.server.BaseHTTPRequestHandler):
    """A proxy that counts the bytes of bodies."""

    protocol_version = "HTTP/1.1"
    upstream, bytes = None, 0
    lock = threading.Lock()

    def log_message(self, *_):
        pass

    def do_GET(self):
        self.forward()

    def do_HEAD(self):
        self.forward()

    def forward(self):
        connection = http.client.HTTPConnection(self.upstream)
        headers = {name: value for name, value in self.headers.items() if name.lower() != "host"}
        connection.request(self.command, self.path, headers=headers)
        answer = connection.getresponse()
        body = answer.read()
        connection.close()
        with self.lock:
            Counting.bytes += len(body)
        self.send_response(answer.status)
        for name, value in answer.getheaders():
            if name.lower() not in ("connection", "date", "server"):
                self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)


def few_bytes(desk, count):
    """DuckDB reads the row groups that may have the value, and of these only the columns that it needs."""
    desk.generate(count, "large.csv")
    desk.build("large.csv", "large", "--parquet")
    (path,) = desk.folder.glob("large/generation-*/parquet/instruments.parquet")
    metadata = pyarrow.parquet.read_metadata(path)
    size, groups = path.stat().st_size, metadata.num_row_groups
    assert metadata.num_rows > count * 0.9 and groups > 1, metadata
    places = {metadata.schema.column(place).name: place for place in range(metadata.num_columns)}
    assert "ID_ISIN" not in places and metadata.metadata[b"figdex.identifiers"] == b"", places

    def chunk(group, column):
        return metadata.row_group(group).column(places[column]).total_compressed_size

    local = engine()
    picked = local.execute(f"""
        SELECT figi, ticker FROM (SELECT figi, ticker, count(*) OVER (PARTITION BY ticker) AS same
        FROM read_parquet('{path}') WHERE ticker IS NOT NULL) WHERE same = 1 ORDER BY hash(figi) LIMIT {LOOK_UPS}
    """).fetchall()
    reads = {"figi": [], "ticker": []}
    with Server(desk, "large") as server:
        Counting.upstream = server.base.removeprefix("http://")
        proxy = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Counting)
        threading.Thread(target=proxy.serve_forever, daemon=True).start()
        address = server.latest().removeprefix(server.base)
        url = f"http://127.0.0.1:{proxy.server_port}{address}"
        for figi, ticker in picked:
            for column, value in (("figi", figi), ("ticker", ticker)):
                Counting.bytes = 0
                found = engine().execute(LOOK_UP.format(url=url, column=column, value=value)).fetchall()
                assert [row[0] for row in found] == [figi], (column, value, found)
                reads[column].append(Counting.bytes)
        proxy.shutdown()
    largest = {column: max(read) for column, read in reads.items()}
    # The columns of one group, and the footer.
    footer = max(metadata.serialized_size + 8, END_BYTES)
    group = max(sum(chunk(group, name) for name in ("figi", "ticker", "name", "exchCode")) for group in range(groups))
    one = footer + group
    assert largest["figi"] <= one, f"a FIGI: {largest['figi']} bytes, and at most {one} are of one group"
    # Of the others the filter, and the tickers of those where the filter errs.
    (filters,) = local.execute(f"""
        SELECT sum(bloom_filter_length)::BIGINT FROM parquet_metadata('{path}') WHERE path_in_schema = 'ticker'
    """).fetchone()
    erring = max(1, groups // 8) * max(chunk(group, "ticker") for group in range(groups))
    most = one + filters + erring
    assert largest["ticker"] <= most, f"a ticker: {largest['ticker']} bytes, at most {most}"
    of_each = {column: read / size for column, read in largest.items()}
    mean = sum(reads["ticker"]) / len(picked) / size
    _, of_figi, of_ticker = next(bounds for bounds in SHARES if count >= bounds[0])
    print(
        f"{metadata.num_rows} instruments, {size} bytes, {groups} row groups: a look-up by FIGI reads at most "
        f"{of_each['figi']:.2%}, by ticker {mean:.2%}, and at most {of_each['ticker']:.2%}"
    )
    assert len(picked) == LOOK_UPS and of_each["figi"] <= of_figi and mean <= of_ticker, (of_each, mean)


if __name__ == "__main__":
    main()
