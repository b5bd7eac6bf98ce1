"""Calls to the file system: which a program makes, and how one of them is made to fail."""

import re
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from pathlib import Path

# The calls that may fail. Those of an old kind do not exist on every machine: `?`.
WRITING = ["write", "?pwrite64", "?writev", "?copy_file_range", "?sendfile", "fsync", "fdatasync", "ftruncate",
           "?fallocate", "?rename", "?renameat", "renameat2", "?link", "linkat", "?unlink", "unlinkat", "?rmdir",
           "?mkdir", "mkdirat", "?chmod", "fchmod", "fchmodat"]
READING = ["openat", "read", "pread64", "mmap", "flock", "getdents64", "?statfs", "statx", "?newfstatat"]
TRACED = ",".join(WRITING + READING)
# Calls of which a few per cent fail for any reason but the disk's are left out: those on
# what is no file of the desk.
ERRORS = {"EIO": "Input/output error", "ENOSPC": "No space left on device", "EINTR": "Interrupted system call"}
# What the standard library calls again after EINTR.
RETRIED = {"openat", "read", "pread64", "write", "pwrite64", "writev", "fsync", "fdatasync", "ftruncate", "fchmod",
           "chmod", "getdents64"}

LINE = re.compile(r"(?P<thread>\d+) +(?P<name>\w+)\((?P<arguments>.*)")
# A path as an argument, or the path of a descriptor, as `strace -y` shows both.
ARGUMENT = re.compile(r'(?:AT_FDCWD|\d+)?<(?P<descriptor>[^>]*)>|"(?P<text>(?:[^"\\]|\\.)*)"')
# Files of a part that the same code syncs, checks and maps.
PART_FILE = re.compile(r"(part-000|segment)/[^/]+$")
NUMBERS = re.compile(r"numbers\.\w+\.")
RANDOM = re.compile(r"[0-9a-f]{32}(?=\.)|(?<=/\.tmp)\w{6}$")
# Opens of other files, which shift the numbers of the first thread's calls away from
# those of the others.
SHIFT = 'i=0; while [ $i -lt 400 ]; do true </dev/null; i=$((i+1)); done; exec "$@"'


@dataclass
class Call:
    """A call as a plain run made it."""

    name: str
    kind: str
    # The path by which strace selects it, below the desk.
    path: str
    # Among the calls of its name with that path, and among all of its name, in its thread.
    nth: int
    number: int
    opens_to_write: bool

    @property
    def is_random(self) -> bool:
        return bool(RANDOM.search("/" + self.path))


@dataclass
class Point:
    """A call that is to fail."""

    call: Call
    place: int = field(default=0)

    def text(self) -> str:
        call = self.call
        which = f"number {call.number}" if call.is_random else f"call {call.nth}"
        return f"{call.name} {call.kind} ({which})"

    @property
    def writes(self) -> bool:
        call = self.call
        return call.opens_to_write or any(name.strip("?") == call.name for name in WRITING)

    def ways(self, is_all: bool, is_killed: bool) -> list[str]:
        """The errors, or `KILL`."""
        ways = ["EIO"]
        if self.writes:
            ways += ["ENOSPC"]
        if is_killed and self.writes:
            ways += ["KILL"]
        if is_all and self.call.name != "mmap":
            ways += ["EINTR"]
        return ways if is_all else [ways[self.place % len(ways)]]

    def options(self, desk: Path, way: str) -> list[str]:
        """The options of strace that let it fail."""
        call = self.call
        what = "signal=KILL" if way == "KILL" else f"error={way}"
        number = call.number if call.is_random else call.nth
        options = ["-e", f"trace={call.name}", "-e", f"inject={call.name}:{what}:when={number}"]
        return options if call.is_random else ["-P", str(desk / call.path), *options]

    def command(self, command: list[str]) -> list[str]:
        return ["sh", "-c", SHIFT, "-", *command] if self.call.is_random else command


def points(trace: str, desk: Path, is_all: bool) -> list[Point]:
    """The points of a plain run; without `is_all` one for each kind."""
    kinds = defaultdict(list)
    for call in parse(trace, desk):
        key = call.kind if is_all else short(call)
        kinds[call.name, key].append(call)
    found = []
    for calls in kinds.values():
        chosen = [calls[0]] if not is_all else [calls[0], *calls[1:2], calls[-1]]
        seen = set()
        for call in chosen:
            if id(call) not in seen:
                seen.add(id(call))
                found.append(Point(call, len(found)))
    return found


def short(call: Call) -> str:
    """A kind with the files of a part that one piece of code handles made one."""
    kind = NUMBERS.sub("numbers.*.", call.kind)
    if call.name in {"write", "unlink"} or call.opens_to_write:
        return kind
    return PART_FILE.sub(r"\1/*", kind)


def parse(trace: str, desk: Path) -> list[Call]:
    found, numbers, selected = [], Counter(), Counter()
    for line in trace.splitlines():
        if not (match := LINE.match(line)):
            continue
        thread, name, arguments = match.groups()
        numbers[thread, name] += 1
        paths = paths_of(name, arguments)
        for path in set(paths):
            selected[thread, name, path] += 1
        if not (path := next((path for path in paths if Path(path).is_relative_to(desk)), None)):
            continue
        relative = str(Path(path).relative_to(desk))
        kind = relative
        if name in {"openat", "unlinkat"} and len(paths) > 1 and not paths[1].startswith("/"):
            kind = f"{relative}/{paths[1]}" if name == "openat" else f"{relative}/…"
        kind = re.sub(r"generation-\d+", "generation-N", RANDOM.sub("…", "/" + kind)[1:])
        number, nth = numbers[thread, name], selected[thread, name, path]
        opens_to_write = name == "openat" and bool(re.search(r"O_WRONLY|O_RDWR|O_CREAT", arguments))
        found.append(Call(name, kind or ".", relative, nth, number, opens_to_write))
    return found


def paths_of(name: str, arguments: str) -> list[str]:
    """The paths that strace compares with its `-P`, the one to select by first."""
    paths = []
    for match in ARGUMENT.finditer(arguments):
        text = match["text"]
        if text is None:
            # The working folder stands for itself only.
            if not match[0].startswith("AT_FDCWD"):
                paths.append(match["descriptor"])
        elif name not in {"write", "read", "pread64", "pwrite64", "writev", "getdents64", "statfs"}:
            paths.append(text)
        elif name == "statfs" and not paths:
            paths.append(text)
    return paths
