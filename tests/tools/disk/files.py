"""The files with which every run begins, and what a run made of them."""

import gzip
import hashlib
import json
import os
import re
import subprocess
from pathlib import Path

# The time in seconds after which a program counts as hung.
PATIENCE_SECONDS = 300
# The exit code of a program that succeeded.
DONE = 0
# The flags of a build that keeps the past, whatever has changed.
HISTORY = ["--history", "--history-derivatives", "--max-removed", "100%", "--max-changed", "100%", "--max-column-loss",
           "100%"]


class Files:
    """The programs, and the files with which every run begins."""

    INPUTS = ["dumps", "enrich.csv", "exchanges.csv", "values", "old.csv", "query.json", "retired.csv"]

    def __init__(self, scratch: Path, programs: Path):
        self.scratch, self.programs, self.template = scratch, programs, scratch / "template"
        self.environment = {"PATH": os.environ["PATH"], "RUST_BACKTRACE": "0"}
        desk = self.template
        (desk / "dumps").mkdir(parents=True)
        (desk / "values").mkdir()
        self.generate("dumps/a.csv", "--count", "120", "--seed", "1", "--dirt", "5%")
        self.generate("enrich.csv", "--count", "20", "--seed", "1")
        self.generate("old.csv", "--count", "10", "--seed", "9")
        self.generate("b.jsonl", "--count", "60", "--seed", "2", "--format", "jsonl")
        with gzip.open(desk / "dumps/b.jsonl.gz", "wb") as packed:
            packed.write((desk / "b.jsonl").read_bytes())
        (desk / "b.jsonl").unlink()
        (desk / "exchanges.csv").write_text("mic,exchCode\nXNAS,UW\n")
        (desk / "values/currency.json").write_text('{"values": ["USD"]}')
        (desk / "query.json").write_text('{"query": "bank"}')
        first = (desk / "old.csv").read_text().splitlines()[1].split(",")[0]
        (desk / "retired.csv").write_text(
            f"figi,idType,idValue,validFrom,validTo,kind,successor\n{first},TICKER,OLD,,2023-01-01,rename,\n")
        for day in ["2024-01-02", "2024-01-03"]:
            self.made(["figdex-ingest", "build", "old.csv", "--index", "index", "--quiet", "--date", day, *HISTORY])
        self.made(["figdex", "keys", "add", "first", "--keys", "keys.toml"])
        (desk / "out.csv").write_text("what an earlier export left\n")
        self.old = self.verify(desk / "index")

    def large(self) -> Path:
        """A dump of 77 MB, with more identifiers than are held in memory."""
        path = self.scratch / "large.jsonl"
        if not path.exists():
            with open(path, "w") as dump:
                for number in range(34_000):
                    identifiers = [f"V{number}-{place}" for place in range(31)]
                    row = {"figi": figi(number), "metadata": f"{number} ".ljust(1_800, "x"),
                           "VENDOR_INDEX_CODE": identifiers}
                    dump.write(json.dumps(row) + "\n")
        return path

    def generate(self, name: str, *flags: str) -> None:
        self.made(["figdex-ingest", "generate", *flags, "--out", name])

    def made(self, command: list[str]) -> None:
        done = self.run(self.template, command)
        assert done.returncode == DONE, done.stderr

    def run(self, desk: Path, command: list[str]) -> subprocess.CompletedProcess:
        program, *words = command
        return subprocess.run(
            [self.programs / Path(program).name, *words], cwd=desk, env=self.environment, capture_output=True, text=True,
            stdin=subprocess.DEVNULL, timeout=PATIENCE_SECONDS,
        )

    def verify(self, index: Path) -> str | None:
        """The answer of `verify` about an index and the days of its past, or the error; `None` without an index."""
        done = self.run(self.template, ["figdex-ingest", "verify", str(index)])
        if done.returncode == DONE:
            shown = self.run(self.template, ["figdex-ingest", "inspect", str(index)]).stdout
            past = re.search(r"^past: .*\)", shown, re.MULTILINE)
            return f"{done.stdout.partition(' instruments')[0]}, {past[0] if past else 'no past'}"
        return None if not (index / "CURRENT").exists() else done.stderr

    def past(self, index: Path) -> bytes | str:
        """The whole past of an index, or the error."""
        path = index.parent / "past.log"
        done = self.run(self.template, ["figdex-ingest", "export", str(index), "--history", str(path)])
        if done.returncode != DONE:
            return done.stderr
        past = path.read_bytes()
        path.unlink()
        return past

    def checksums(self, desk: Path) -> dict[str, str]:
        inputs = [path for name in self.INPUTS for path in [desk / name, *(desk / name).rglob("*")] if path.is_file()]
        return {str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in inputs}

    def outputs(self, desk: Path) -> list[object]:
        """The rejects and the report of a build, without what differs from run to run."""
        rejects, report = desk / "index.rejects.csv", desk / "report.json"
        kept = rejects.read_text().replace(str(desk), "") if rejects.exists() else None
        said = json.loads(report.read_text().replace(str(desk), "")) if report.exists() else {}
        # A file that tantivy could not remove makes the index larger, and each generation has its own id.
        published = said.get("published", {})
        for name in ("bytes", "token"):
            published.pop(name, None)
        (published.get("changes") or {}).pop("file", None)
        times = ("elapsed", "started", "ended")
        return [kept, {name: value for name, value in said.items() if not name.startswith(times)}]

    def unknown(self, desk: Path, known: list[str]) -> list[str]:
        return sorted(set(os.listdir(desk)) - set(os.listdir(self.template)) - {"stdout", *known})


def figi(number: int) -> str:
    """A valid FIGI for each number."""
    body = "".join(["BBG00", *("BCDFGHJKLM"[int(digit)] for digit in f"{number:06}")])
    doubled = [int(character, 36) * (1 + place % 2) for place, character in enumerate(body)]
    return body + str(-sum(value // 10 + value % 10 for value in doubled) % 10)
