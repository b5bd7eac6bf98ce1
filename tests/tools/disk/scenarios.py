"""The programs, run while a call fails, and the rules for what they leave."""

import json
import os
import re
import shutil
import signal
import stat
import subprocess
import time
import urllib.request
from dataclasses import dataclass, field
from pathlib import Path

import calls
from calls import ERRORS, Point
from files import DONE, HISTORY, PATIENCE_SECONDS, Files

# The exit code of a program that failed.
FAILED = 1
# The calls whose failure need not end a program, with the reasons. They are matched by the name and
# the kind of the call. The result must be right anyway.
HARMLESS = [
    # The size of a file that is read next, and a check of a folder that is created next.
    r"(statx|newfstatat) .*",
    # The size of the published index, for an estimate of the space on the disk.
    r"(openat|read) (new/)?index/(CURRENT|generation-N/manifest\.toml(\.sha256)?)",
    # The check whether a folder above an output is an index.
    r"openat (new/|lists/)?CURRENT",
    # The lock against two commands that write the same file: some disks have no locks.
    r"flock (.*/)?\.[^/]*\.new",
    # Without its stamp an index is read in full.
    r"\w+ (new/)?index/generation-N\.verified(\.new)?",
    # The record of a build among those of the index. If it cannot be written, there is a warning.
    r"\w+ (new/)?index/builds\.jsonl(\.new)?",
    # tantivy may leave files that it no longer needs.
    r"\w+ .*/\.tantivy-meta\.lock",
]
# The search for generations that are no longer needed, and their removal. A failure is a warning,
# and the next build tries again.
REMOVAL = r"((openat|getdents64) index|rename index/generation-N|\w+ index/generation-N\.old.*)"
# The search for files of changes that are no longer kept. A failure is a warning.
CHANGES = r"(openat|getdents64|unlink) (new/)?index/changes(/.*)?"
# The report that a build is running. A failure is a warning, and the report is tried again at the
# end.
REPORT = r"(?!flock)\w+ \.report\.json\.new"
# The calls whose failure causes a warning, with one of its texts.
WARNED = {
    REMOVAL: ("old generations were not removed", "is left over and cannot be removed"),
    CHANGES: ("change files were not removed", "change files are not removed"),
    REPORT: ("the report is not written",),
}
# The messages of tantivy, which hides causes. It reports any error of a lock as the lock of another
# process, and any error of examining a folder as a missing folder.
MISTAKEN = {
    r"(openat|flock) .*/\.tantivy-\w+\.lock": "Lockfile",
    r"statx .*/segment": "not a directory",
}


@dataclass
class Outcome:
    end: str
    faults: list[str] = field(default_factory=list)


@dataclass
class Result:
    """A run of a program; the code is negative if a signal ended it."""

    code: int
    error: str
    is_reached: bool


class Scenario:
    """A program that runs once over a copy of the template."""

    # A kill could leave something half done.
    writes = True
    # All runs are made with `short` too.
    is_whole = False

    def __init__(self, name: str, files: Files, command: list[str]):
        self.name, self.files, self.command = name, files, command

    def lay(self, desk: Path) -> None:
        shutil.copytree(self.files.template, desk, symlinks=True)

    def words(self, desk: Path) -> list[str]:
        program, *words = self.command
        return [str(self.files.programs / program), *(word.replace("DESK", str(desk)) for word in words)]

    def trace(self, is_all: bool) -> list[Point]:
        """Runs it plainly. Returns the points of its calls."""
        desk = self.files.scratch / "desk-0"
        self.lay(desk)
        log = self.files.scratch / "trace"
        strace = ["strace", "-f", "-qq", "-y", "-o", str(log), "-e", f"trace={calls.TRACED}", "-e", "signal=none"]
        with open(desk / "stdout", "w") as stdout:
            done = subprocess.run(
                [*strace, "sh", "-c", calls.SHIFT, "-", *self.words(desk)], cwd=desk, env=self.files.environment,
                stdin=subprocess.DEVNULL, stdout=stdout, stderr=subprocess.PIPE, text=True,
            )
        assert done.returncode == DONE, done.stderr
        self.expect(desk)
        found = calls.points(log.read_text(), desk, is_all)
        shutil.rmtree(desk)
        return found

    def expect(self, desk: Path) -> None:
        """Keeps the result of a run in which no call failed."""

    def run(self, desk: Path, point: Point, way: str) -> Outcome:
        self.lay(desk)
        before = self.files.checksums(desk)
        result = self.attack(desk, point, way)
        faults = []
        if not result.is_reached:
            end = "not reached"
        elif way == "KILL":
            end = "killed"
            if result.code != -signal.SIGKILL:
                faults.append(f"it ended with {result.code}, not by the kill")
        elif result.code == DONE:
            end = "went on"
            faults += self.going_on(point, way, result)
        else:
            end = "failed"
            if way == "EINTR" and point.call.is_retried:
                faults.append(f"it did not try again: {result.error}")
            faults += self.message(desk, point, way, result)
        if self.files.checksums(desk) != before:
            faults.append("an input was changed")
        if not (result.code == DONE and not result.is_reached):
            faults += self.judge(desk, point, way, result)
        return Outcome(end, faults)

    def attack(self, desk: Path, point: Point, way: str) -> Result:
        log = desk.parent / f"{desk.name}.log"
        strace = ["strace", "-f", "-qq", "-y", "-o", str(log), "-e", "signal=none", *point.options(desk, way)]
        with open(desk / "stdout", "w") as stdout:
            done = subprocess.run(
                [*strace, *point.command(self.words(desk))], cwd=desk, env=self.files.environment,
                stdin=subprocess.DEVNULL, stdout=stdout, stderr=subprocess.PIPE, text=True, timeout=PATIENCE_SECONDS,
            )
        trace = log.read_text()
        is_reached = "INJECTED" in trace or done.returncode == -signal.SIGKILL
        return Result(done.returncode, done.stderr or f"(no message, ended with {done.returncode})", is_reached)

    def going_on(self, point: Point, way: str, result: Result) -> list[str]:
        """The faults of a run that ended as if nothing had failed."""
        text = f"{point.call.name} {point.call.kind}"
        if way == "EINTR" and point.call.is_retried:
            return []
        if self.warnings(text) and not text.startswith(("statx", "newfstatat")):
            return [] if self.is_named(point, way, result) else [f"no warning names the file: {result.error}"]
        return [] if any(re.fullmatch(harmless, text) for harmless in HARMLESS) else ["it ended with 0"]

    def warnings(self, text: str) -> tuple[str, ...]:
        """The texts of the warning when that call fails; none when its failure is an error."""
        return next((texts for calls, texts in WARNED.items() if re.fullmatch(calls, text)), ())

    def is_named(self, point: Point, way: str, result: Result) -> bool:
        name = Path(point.call.path).name
        text = f"{point.call.name} {point.call.kind}"
        if result.code == DONE:
            return any(words in result.error for words in self.warnings(text)) and ERRORS[way] in result.error
        if any(re.fullmatch(call, text) and words in result.error for call, words in MISTAKEN.items()):
            return True
        names = {"standard output" if name == "stdout" else name, re.sub(r"^\.(.*)\.new$", r"\1", name)}
        is_named = point.call.is_random or any(name in result.error for name in names)
        return is_named and ERRORS[way] in result.error

    def message(self, desk: Path, point: Point, way: str, result: Result) -> list[str]:
        """The faults of a failure: its message must say what a person needs to act."""
        if result.code != FAILED or "panicked" in result.error:
            return [f"it ended with {result.code}: {result.error}"]
        if self.is_named(point, way, result):
            return []
        return [f"the message does not name the file and the cause: {result.error}"]

    def judge(self, desk: Path, point: Point, way: str, result: Result) -> list[str]:
        """The faults of the files that it has left."""
        return []


class IndexScenario(Scenario):
    """A program that publishes: `build`, `rollback`."""

    def __init__(self, name: str, files: Files, command: list[str], index: str, old: str | None):
        super().__init__(name, files, command)
        self.index, self.old, self.new = index, old, None

    def expect(self, desk: Path) -> None:
        self.new = self.files.verify(desk / self.index)
        self.outputs = self.files.outputs(desk)

    def judge(self, desk: Path, point: Point, way: str, result: Result) -> list[str]:
        faults = []
        index = desk / self.index
        found = self.files.verify(index)
        # A failure before the index is touched need not mention the index.
        is_index = point.call.kind.startswith(f"{self.index}/")
        is_said = re.search("is published|is published again", result.error.replace("nothing is published", ""))
        if found not in {self.old, self.new}:
            faults.append(f"neither the old index nor the new one opens: {found}")
        elif result.code == DONE and found != self.new:
            faults.append(f"it ended with 0 and published nothing: {found}")
        elif result.code == FAILED and (found == self.new) != bool(is_said):
            faults.append(f"the message is wrong about what is published ({found}): {result.error}")
        elif result.code == FAILED and found != self.new and is_index and "nothing is" not in result.error:
            faults.append(f"the message does not say that nothing is published: {result.error}")
        if result.code == DONE and self.files.outputs(desk) != self.outputs:
            faults.append("it ended with 0, and its rejects or its report are not whole")
        left = self.left_over(desk)
        # A failed removal leaves files, and nothing is removed after a publication that a crash
        # may undo.
        removes = point.call.name in {"unlink", "unlinkat", "rmdir"}
        if left and result.code == FAILED and not removes and "may undo that" not in result.error:
            faults.append(f"it left {left}")
        if left or way == "KILL":
            again = self.files.run(desk, self.again(desk))
            if again.returncode != DONE:
                faults.append(f"the next build fails: {again.stderr}")
            if left := self.left_over(desk):
                faults.append(f"the next build leaves {left}")
        return faults

    def again(self, desk: Path) -> list[str]:
        """The same command again, or a build where the command can only run once."""
        is_build = self.command[1] == "build"
        return self.words(desk) if is_build else ["figdex-ingest", "build", "old.csv", "--index", self.index, *HISTORY]

    def left_over(self, desk: Path) -> list[str]:
        """Names that are neither those of an index nor those of the template."""
        index = desk / self.index
        names = os.listdir(index) if index.exists() else []
        generations = {name for name in names if re.fullmatch(r"generation-\d+", name)}
        whole = {"CURRENT", "LOCK", "builds.jsonl", "changes", *generations, *(f"{name}.verified" for name in generations)}
        left = [name for name in names if name not in whole]
        left += [path.name for path in (index / "changes").glob("*.new")]
        if len(generations) > 2:
            left.append(f"{len(generations)} generations")
        known = {*os.listdir(self.files.template), "stdout", "report.json", "index.rejects.csv", "new"}
        return left + sorted(set(os.listdir(desk)) - known)


class HistoryScenario(IndexScenario):
    """A build that carries the past on, killed at every call that changes a file outside of the parts: the past
    is the old one or the new one, to the byte. In a plain run every file is synced before it is published."""

    is_whole = True

    def expect(self, desk: Path) -> None:
        super().expect(desk)
        # The template is the same for all scenarios, so this is the past before the build.
        self.pasts = [self.files.past(self.files.template / self.index), self.files.past(desk / self.index)]
        assert self.pasts[0] != self.pasts[1], "the build changes nothing in the past"
        self.published = {str(path.relative_to(desk)) for path in (desk / self.index).rglob("*") if path.is_file()}

    def trace(self, is_all: bool) -> list[Point]:
        super().trace(is_all=True)
        desk = self.files.scratch / "desk-0"
        found = calls.parse((self.files.scratch / "trace").read_text(), desk)
        unsynced = sorted(calls.unsynced(found, self.published))
        assert not unsynced, f"published without being synced: {unsynced}"
        points = [calls.Kill(call, place) for place, call in enumerate(found) if calls.is_step(call)]
        return [point for point in points if point.call.is_selectable and point.call.kind.startswith(f"{self.index}")]

    def judge(self, desk: Path, point: Point, way: str, result: Result) -> list[str]:
        # What the next build makes of it is judged after the past.
        past = self.files.past(desk / self.index)
        is_known = past in self.pasts
        return [*([] if is_known else ["the past is neither the old one nor the new one"]),
                *super().judge(desk, point, way, result)]


class LargeScenario(IndexScenario):
    """A build of more than fits into memory: only calls on the files for sorting."""

    def lay(self, desk: Path) -> None:
        super().lay(desk)
        (desk / "large.jsonl").symlink_to(self.files.large())

    def trace(self, is_all: bool) -> list[Point]:
        is_sorted = re.compile(r"/(scratch/run-\d+|identifiers\.pairs-00)$|/scratch$")
        firsts = {}
        for point in super().trace(is_all=True):
            kind = re.sub(r"run-\d+-\d+$", "run-0", point.call.kind)
            if is_sorted.search(kind):
                firsts.setdefault((point.call.name, kind, point.call.opens_to_write), point)
        return list(firsts.values())


class Reader(Scenario):
    """A program that only reads: it prints the same as without a fault, or fails."""

    writes = False

    def expect(self, desk: Path) -> None:
        self.said = self.printed(desk)

    def printed(self, desk: Path) -> str:
        """Standard output, without the time that `explain` took."""
        return re.sub(r" in [\d.]+ m?s$", "", (desk / "stdout").read_text().replace(str(desk), ""), flags=re.M)

    def judge(self, desk: Path, point: Point, way: str, result: Result) -> list[str]:
        said = self.printed(desk)
        if result.code == DONE and said != self.said:
            return [f"it ended with 0 and said {said!r}"]
        return []


class Writer(Scenario):
    """A program that writes a file: the earlier file stays, or the new one is whole."""

    def __init__(self, name: str, files: Files, command: list[str], outputs: list[str]):
        super().__init__(name, files, command)
        self.outputs = outputs

    def expect(self, desk: Path) -> None:
        self.whole = {name: (desk / name).read_bytes() for name in self.outputs}

    def judge(self, desk: Path, point: Point, way: str, result: Result) -> list[str]:
        faults = []
        for name, whole in self.whole.items():
            path, old = desk / name, self.files.template / name
            allowed = {whole, old.read_bytes() if old.exists() else None}
            found = path.read_bytes() if path.exists() else None
            if found not in allowed:
                faults.append(f"{name} is half written")
            if result.code == DONE and found != whole:
                faults.append(f"it ended with 0 without {name}")
        known = [Path(name).parts[0] for name in self.outputs]
        left = self.files.unknown(desk, known)
        if left and way != "KILL" and not point.call.name.startswith("unlink"):
            faults.append(f"it left {left}")
        if left:
            again = self.files.run(desk, self.words(desk))
            if again.returncode != DONE or (left := self.files.unknown(desk, known)):
                faults.append(f"the next run leaves {left}: {again.stderr}")
        return faults


CHANGED = "keys.toml is changed, but|was added|was revoked"


class Keys(Scenario):
    """`figdex keys`: the old keys or the new ones, and never readable by others."""

    def __init__(self, name: str, files: Files, command: list[str], old: list[str] | None, new: list[str]):
        super().__init__(name, files, command)
        self.old, self.new = old, new

    def lay(self, desk: Path) -> None:
        super().lay(desk)
        if self.old is None:
            (desk / "keys.toml").unlink()
            (desk / "keys.toml.lock").unlink()

    def judge(self, desk: Path, point: Point, way: str, result: Result) -> list[str]:
        faults = []
        listed = self.files.run(desk, ["figdex", "keys", "list", "--keys", "keys.toml"])
        names = [line.split("\t")[1] for line in listed.stdout.splitlines()]
        found = None if not (desk / "keys.toml").exists() else names
        if found is not None and listed.returncode != DONE or found not in [self.old, self.new]:
            faults.append(f"the keys are {found}: {listed.stderr}")
        if result.code == DONE and found != self.new:
            faults.append("it ended with 0 and changed nothing")
        if result.code == FAILED and found == self.new != self.old and not re.search(CHANGED, result.error):
            faults.append(f"the message does not say that the keys are changed: {result.error}")
        for path in desk.glob("keys.toml*"):
            if stat.S_IMODE(path.stat().st_mode) != 0o600:
                faults.append(f"{path.name} has the mode {stat.S_IMODE(path.stat().st_mode):o}")
        left = self.files.unknown(desk, ["keys.toml", "keys.toml.lock"])
        if left and way != "KILL" and not point.call.name.startswith("unlink"):
            faults.append(f"it left {left}")
        if left:
            again = self.files.run(desk, ["figdex", "keys", "add", "next", "--keys", "keys.toml"])
            if again.returncode != DONE or self.files.unknown(desk, ["keys.toml", "keys.toml.lock"]):
                faults.append(f"the next key leaves {left}: {again.stderr}")
        return faults


class Reload(Scenario):
    """A server: it refuses what it cannot open, serves the old generation meanwhile, and
    opens the new one when the disk works again."""

    writes = False

    def lay(self, desk: Path) -> None:
        super().lay(desk)
        # The second generation of two is published while the server runs.
        index = desk / "index"
        (index / "CURRENT").rename(index / "CURRENT.next")
        (index / "CURRENT").write_text("generation-000001\n")

    def trace(self, is_all: bool) -> list[Point]:
        desk = self.files.scratch / "desk-0"
        self.lay(desk)
        log = self.files.scratch / "trace"
        options = ["-y", "-o", str(log), "-e", f"trace={calls.TRACED}"]
        with Server(self, desk, options) as server:
            self.served(server)
            assert server.stop() == DONE
        found = calls.points(log.read_text(), desk, is_all)
        shutil.rmtree(desk)
        # Files with random names cannot be selected by number among the many threads.
        return [point for point in found if not point.call.is_random and point.call.path != "server.log"]

    def served(self, server: "Server") -> None:
        server.publish()
        server.until(lambda: server.generation() == 2)

    def run(self, desk: Path, point: Point, way: str) -> Outcome:
        self.lay(desk)
        log = desk.parent / f"{desk.name}.log"
        options = ["-y", "-o", str(log), *point.options(desk, way)]
        before = self.files.checksums(desk)
        faults = []
        with Server(self, desk, options) as server:
            if server.has_ended():
                result = Result(server.process.returncode, server.log(), True)
                faults = self.message(desk, point, way, result)
                end = "failed"
            else:
                end = self.reload(server, desk, point, way, faults)
                if server.stop() != DONE or "panicked" in server.log():
                    faults.append(f"it ended with {server.process.returncode}: {server.log()}")
                if "INJECTED" not in log.read_text():
                    end = "not reached"
        if self.files.checksums(desk) != before:
            faults.append("an input was changed")
        return Outcome(end, faults)

    def reload(self, server: "Server", desk: Path, point: Point, way: str, faults: list[str]) -> str:
        if server.generation() != 1:
            faults.append("it does not serve the first generation")
        server.publish()
        server.until(lambda: server.generation() == 2 or server.refused())
        refused = server.refused()
        if not refused:
            return "went on"
        if way == "EINTR" and point.call.is_retried:
            faults.append(f"it did not try again: {refused}")
        faults += self.message(desk, point, way, Result(FAILED, "\n".join(refused), True))
        # Each thread counts its own calls, so the call may fail more than once.
        for _ in range(20):
            seen = len(server.refused())
            if server.generation() == 2:
                break
            os.kill(server.child(), signal.SIGHUP)
            server.until(lambda: server.generation() == 2 or len(server.refused()) > seen)
        if server.generation() != 2:
            faults.append(f"it does not open the new generation: {server.log()}")
        return "failed"


class Start(Reload):
    """A server without --index, over an existing index: it must not build the sample."""

    def lay(self, desk: Path) -> None:
        Scenario.lay(self, desk)
        (desk / "data").mkdir()
        (desk / "index").rename(desk / "data/index")

    def served(self, server: "Server") -> None:
        server.until(lambda: server.generation() == 2)

    def reload(self, server: "Server", desk: Path, point: Point, way: str, faults: list[str]) -> str:
        if server.generation() != 2:
            faults.append("it serves another generation")
        return "went on"


class Server:
    """A server under strace."""

    def __init__(self, scenario: Reload, desk: Path, options: list[str]):
        self.desk, self.address = desk, None
        command = ["strace", "-f", "-qq", "-e", "signal=none", *options, *scenario.words(desk)]
        with open(desk / "server.log", "w") as log:
            self.process = subprocess.Popen(
                command, cwd=desk, env=scenario.files.environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
            )

    def __enter__(self) -> "Server":
        self.until(lambda: self.has_ended() or "serving on http://" in self.log())
        if found := re.search(r"serving on (http://\S+)", self.log()):
            self.address = found[1]
        return self

    def __exit__(self, *_) -> None:
        if not self.has_ended():
            os.kill(self.child(), signal.SIGKILL)
            self.process.wait()

    def log(self) -> str:
        return re.sub("\x1b\\[[0-9;]*m", "", (self.desk / "server.log").read_text())

    def refused(self) -> list[str]:
        return [line for line in self.log().splitlines() if re.search("ERROR|WARN", line)]

    def has_ended(self) -> bool:
        return self.process.poll() is not None

    def child(self) -> int:
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
        return int(children.read_text().split()[0])

    def publish(self) -> None:
        (self.desk / "index/CURRENT.next").rename(self.desk / "index/CURRENT")
        os.kill(self.child(), signal.SIGHUP)

    def generation(self) -> int:
        with urllib.request.urlopen(f"{self.address}/readyz", timeout=PATIENCE_SECONDS) as answer:
            return json.load(answer)["generation"]

    def until(self, is_so) -> None:
        end = time.monotonic() + PATIENCE_SECONDS
        while not is_so():
            assert time.monotonic() < end, self.log()
            time.sleep(0.02)

    def stop(self) -> int:
        os.kill(self.child(), signal.SIGTERM)
        return self.process.wait(PATIENCE_SECONDS)


def of(scratch: Path, programs: Path, is_all: bool) -> list[Scenario]:
    files = Files(scratch, programs)
    build = ["figdex-ingest", "build", "DESK/dumps", "--enrich", "DESK/enrich.csv", "--exchanges", "DESK/exchanges.csv",
             "--values", "DESK/values", "--report", "DESK/report.json", "--max-rejects", "50%", "--keep-changes", "90d",
             "--date", "2024-01-04", *HISTORY, "--index"]
    keys = ["--keys", "DESK/keys.toml"]
    large = [
        LargeScenario("large", files, ["figdex-ingest", "build", "DESK/large.jsonl", "--memory", "256MiB", "--quiet",
                                       "--skip-space-check", *HISTORY, "--index", "DESK/index"], "index", files.old),
    ]
    return [
        HistoryScenario("history", files, ["figdex-ingest", "build", "DESK/dumps", "--retired", "DESK/retired.csv",
                                           "--keep-changes", "90d", "--date", "2024-01-04", "--quiet", *HISTORY,
                                           "--index", "DESK/index"], "index", files.old),
        IndexScenario("build", files, [*build, "DESK/index"], "index", files.old),
        IndexScenario("first", files, ["figdex-ingest", "build", "DESK/old.csv", "--index", "DESK/new/index"],
                      "new/index", None),
        IndexScenario("rollback", files, ["figdex-ingest", "rollback", "DESK/index"], "index", files.old),
        Reader("verify", files, ["figdex-ingest", "verify", "DESK/index"]),
        Reader("inspect", files, ["figdex-ingest", "inspect", "DESK/index"]),
        Reader("explain", files, ["figdex", "explain", "DESK/query.json", "--index", "DESK/index"]),
        Reader("export", files, ["figdex-ingest", "export", "DESK/index", "--format", "jsonl"]),
        Writer("export-file", files, ["figdex-ingest", "export", "DESK/index", "--out", "DESK/out.csv", "--values",
                                      "DESK/lists"], ["out.csv", "lists/currency.json"]),
        Writer("generate", files, ["figdex-ingest", "generate", "--count", "20", "--seed", "3", "--out",
                                   "DESK/out.csv"], ["out.csv"]),
        Keys("keys-first", files, ["figdex", "keys", "add", "second", *keys], None, ["second"]),
        Keys("keys-add", files, ["figdex", "keys", "add", "second", *keys], ["first"], ["first", "second"]),
        Keys("keys-revoke", files, ["figdex", "keys", "revoke", "first", *keys], ["first"], []),
        Reader("keys-list", files, ["figdex", "keys", "list", *keys]),
        Reload("reload", files, ["figdex", "--index", "DESK/index", "--listen", "127.0.0.1:0", *keys]),
        Start("start", files, ["figdex", "--listen", "127.0.0.1:0"]),
        *(large if is_all else []),
    ]
