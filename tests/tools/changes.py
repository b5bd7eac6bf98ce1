"""Random nights of a small universe, and a copy of it in DuckDB that follows by GET /changes."""

import json
import os
import random
import re
import shutil
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path

import duckdb

NIGHTS = 8
MERGE = """
MERGE INTO copy USING (
  SELECT * FROM changes WHERE _change_type <> 'update_preimage'
) AS feed ON copy.figi = feed.figi
WHEN MATCHED AND feed._change_type = 'delete' THEN DELETE
WHEN MATCHED THEN UPDATE SET {columns}
WHEN NOT MATCHED AND feed._change_type <> 'delete' THEN INSERT ({names}) VALUES ({values})
"""


def main():
    programs, scratch, universes = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])
    said = {"merged": 0, "pages": 0, "again": 0, "changes": 0}
    for seed in range(universes):
        desk = scratch / f"desk-{seed}"
        desk.mkdir()
        follow(programs, desk, random.Random(seed), said)
        shutil.rmtree(desk)
    print(", ".join(f"{name} {count}" for name, count in said.items()))
    # Otherwise the check would prove nothing.
    assert said["merged"] > universes and said["pages"] > said["merged"] and said["again"], said


def follow(programs, desk, dice, said):
    """Builds nights, and brings copies that are a different number of nights old up to date."""
    rows = {figi(number): row(dice) for number in range(300)}
    build(programs, desk, rows, [])
    copies = [export(programs, desk)]
    with Server(programs, desk) as server:
        for _ in range(NIGHTS):
            happening = dice.random()
            if happening < 0.15:
                run(programs, desk, "rollback", "index", may_fail=True)
            else:
                # A few nights change nearly everything, and a few keep no changes.
                change(rows, dice, 0.9 if happening > 0.95 else 0.05)
                keep = [] if happening < 0.2 else ["--keep-changes", "90d"]
                build(programs, desk, rows, keep)
            now = export(programs, desk)
            server.wait_for(now["token"])
            for copy in dice.sample(copies, min(2, len(copies))):
                feed = server.changes(copy["token"], said)
                if feed is None:
                    said["again"] += 1
                    continue
                assert feed["token"] == now["token"], feed["token"]
                merged(copy, feed["lines"], now)
                applied(copy, feed["lines"], now)
                said["merged"] += 1
                said["changes"] += len(feed["lines"])
            copies.append(now)


def merged(copy, lines, now):
    """One MERGE of the changes makes the copy the new export: no row more, and none less."""
    connection = duckdb.connect()
    for name, text in (("copy", copy["csv"]), ("now", now["csv"])):
        path = now["desk"] / f"{name}.csv"
        path.write_text(text, encoding="utf-8")
        connection.execute(f"CREATE TABLE {name} AS SELECT * FROM read_csv('{path}', all_varchar = true)")
    names = [name for name, *_ in connection.execute("DESCRIBE copy").fetchall()]
    path = now["desk"] / "changes.csv"
    path.write_text(as_csv(lines, names), encoding="utf-8")
    connection.execute(f"CREATE TABLE changes AS SELECT * FROM read_csv('{path}', all_varchar = true)")
    quoted = [f'"{name}"' for name in names]
    connection.execute(
        MERGE.format(
            columns=", ".join(f"{name} = feed.{name}" for name in quoted),
            names=", ".join(quoted),
            values=", ".join(f"feed.{name}" for name in quoted),
        )
    )
    for one, other in (("copy", "now"), ("now", "copy")):
        count = connection.execute(f"SELECT count(*) FROM (TABLE {one} EXCEPT ALL TABLE {other})").fetchone()
        assert count == (0,), f"{count} rows of {one} are not in {other}"


def as_csv(lines, names):
    """The feed in the columns of the export, each value as an export writes it in CSV."""
    def cell(value):
        text = value if isinstance(value, str) else ";".join(value) if isinstance(value, list) else number(value)
        return '"' + text.replace('"', '""') + '"' if re.search('[",\n]', text) else text

    heading = ["_change_type", *names]
    rows = [",".join(cell(line[name]) if name in line else "" for name in heading) for line in lines]
    return "\n".join([",".join(heading), *rows]) + "\n"


def number(value):
    return str(value).lower() if isinstance(value, bool) else re.sub(r"\.0$", "", str(value))


def applied(copy, lines, now):
    """The same by hand, in JSON lines: byte for byte, and each image is what was there."""
    rows = {json.loads(line)["figi"]: line for line in copy["jsonl"].splitlines()}
    for line in lines:
        kind, text = line["_change_type"], line["_text"]
        if kind in ("delete", "update_preimage"):
            assert rows.pop(line["figi"]) == text, text
        else:
            assert line["figi"] not in rows, text
            rows[line["figi"]] = text
    assert "".join(f"{rows[figi]}\n" for figi in sorted(rows)) == now["jsonl"], "JSON lines differ"


class Server:
    """A server over the index, which keeps what changed."""

    def __init__(self, programs, desk):
        self.log = open(desk / "server.log", "w+")
        self.process = subprocess.Popen(
            [programs / "figdex", "--index", "index", "--listen", "127.0.0.1:0", "--no-limits", "--changes"],
            cwd=desk, stderr=self.log,
        )
        self.path = desk / "server.log"

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

    def get(self, path):
        with urllib.request.urlopen(self.base + path) as answer:
            return answer.headers, answer.read().decode()

    def wait_for(self, token):
        for _ in range(300):
            if json.loads(self.get("/about")[1])["token"] == token:
                return
            time.sleep(0.1)
        raise SystemExit(f"{token} is not served")

    def changes(self, since, said):
        """All pages since a token; None when the copy must export again."""
        lines, parameters = [], {"since": since}
        while True:
            query = urllib.parse.urlencode({**parameters, "limit": 3})
            try:
                headers, text = self.get(f"/changes?{query}")
            except urllib.error.HTTPError as error:
                if error.code == 410:
                    return None
                raise SystemExit(f"{error.code}: {error.read().decode()}") from error
            said["pages"] += 1
            for line in text.splitlines():
                # The members of the export come after four others, with the same bytes.
                rest = re.sub(r'^\{("_\w+":("[^"]*"|\w+),){4}', "{", line)
                lines.append({**json.loads(line), "_text": rest})
            if headers.get("figdex-token"):
                return {"lines": lines, "token": headers["figdex-token"]}
            parameters = {"cursor": headers["figdex-cursor"]}


def row(dice):
    return {
        "name": dice.choice(["ALPHA", "Beta, Inc", 'GAMMA "X"', "Société", ""]),
        "ticker": dice.choice(["A", "B", ""]),
        "currency": dice.choice(["USD", "EUR", ""]),
        "strike": dice.choice(["1.5", "2", ""]),
        "listed": dice.choice(["true", "false", ""]),
        "importance": dice.choice(["1", "2.25", ""]),
        "ID_ISIN": dice.choice(["US4592001014", "US0378331005", "US4592001014;US0378331005", ""]),
    }


def change(rows, dice, share):
    for name in list(rows):
        if dice.random() < share:
            if dice.random() < 0.3:
                del rows[name]
            else:
                rows[name] = {**rows[name], **dict(dice.sample(list(row(dice).items()), 2))}
    for _ in range(dice.randrange(8)):
        rows[figi(dice.randrange(400))] = row(dice)


def build(programs, desk, rows, flags):
    columns = ["name", "ticker", "currency", "strike", "listed", "importance", "ID_ISIN"]
    quote = lambda text: '"' + text.replace('"', '""') + '"'
    lines = [",".join([name, *(quote(cells[column]) for column in columns)]) for name, cells in rows.items()]
    (desk / "dump.csv").write_text("\n".join([",".join(["figi", *columns]), *lines]) + "\n", encoding="utf-8")
    run(programs, desk, "build", "dump.csv", "--index", "index", "--keep", "3", "--quiet", *flags)


def export(programs, desk):
    """An export in both layouts, and its token."""
    run(programs, desk, "export", "index", "--out", "out.csv", "--token", "token")
    run(programs, desk, "export", "index", "--out", "out.jsonl", "--format", "jsonl")
    text = {name: (desk / name).read_text(encoding="utf-8") for name in ("out.csv", "out.jsonl", "token")}
    return {"desk": desk, "csv": text["out.csv"], "jsonl": text["out.jsonl"], "token": text["token"].strip()}


def run(programs, desk, *words, may_fail=False):
    done = subprocess.run(
        [programs / "figdex-ingest", *words], cwd=desk, capture_output=True, text=True, env={**os.environ, "TZ": "UTC"}
    )
    if done.returncode and not may_fail:
        raise SystemExit(f"{words}: {done.stderr}")


def figi(number):
    """A valid FIGI for each number, in ascending order."""
    body = "BBG00" + "".join("BCDFGHJKLM"[int(digit)] for digit in f"{number:06}")
    values = [int(c) if c.isdigit() else ord(c) - 55 for c in body]
    doubled = [value * (2 if place % 2 else 1) for place, value in enumerate(values)]
    total = sum(value // 10 + value % 10 for value in doubled)
    return f"{body}{-total % 10}"


if __name__ == "__main__":
    main()
