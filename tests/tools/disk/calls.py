"""The calls of a program to the file system, and the options of strace that make one fail."""

import re
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from pathlib import Path

# The system calls that are made to fail, only on files of the working folder. Calls with `?` do not
# exist on every machine.
WRITING = ["write", "?pwrite64", "?writev", "?copy_file_range", "?sendfile", "fsync", "fdatasync", "ftruncate",
           "?fallocate", "?rename", "?renameat", "renameat2", "?link", "linkat", "?unlink", "unlinkat", "?rmdir",
           "?mkdir", "mkdirat", "?chmod", "fchmod", "fchmodat"]
READING = ["openat", "read", "pread64", "mmap", "flock", "getdents64", "?statfs", "statx", "?newfstatat"]
TRACED = ",".join(WRITING + READING)
ERRORS = {"EIO": "Input/output error", "ENOSPC": "No space left on device", "EINTR": "Interrupted system call"}
# The calls that are repeated after EINTR; `openat` only if it opens a file.
RETRIED = {"openat", "read", "pread64", "write", "pwrite64", "writev", "fsync", "fdatasync", "ftruncate", "fchmod",
           "chmod"}

# The calls that no signal interrupts.
UNINTERRUPTED = {"mmap", "statx", "newfstatat", "statfs", "getdents64", "chmod", "fchmod", "fchmodat"}

LINE = re.compile(r"(?P<thread>\d+) +(?P<name>\w+)\((?P<arguments>.*)")
# A path argument, or the path of a descriptor as `strace -y` shows it.
ARGUMENT = re.compile(r'(?:AT_FDCWD|\d+)<(?P<descriptor>[^>]*)>|"(?P<text>(?:[^"\\]|\\.)*)"')
# Files of a part that the same code syncs, checks and maps.
PART_FILE = re.compile(r"(part-000|segment)/[^/]+$")
LISTS = re.compile(r"lists/\.?\w+\.json(\.new)?$")
NUMBERS = re.compile(r"numbers\.\w+\.")
RANDOM = re.compile(r"[0-9a-f]{32}(?=\.)|(?<=/\.tmp)\w{6}$")
# The calls that no program makes at its start, and the highest number of any other call at that
# time.
LATE = {"write", "fsync", "fdatasync", "flock", "rename", "renameat", "unlink", "unlinkat", "chmod"}
STARTING = 12
# strace counts the calls of each thread by itself, so that a number selects a call in every thread.
# Opening other files and writing to them shifts the numbers of the first thread's calls away from
# those of the other threads. Otherwise the write of the error message could fail too.
SHIFT = 'i=0; while [ $i -lt 400 ]; do echo </dev/null >/dev/null; i=$((i+1)); done; exec "$@"'


@dataclass
class Call:
    """A call of a plain run."""

    name: str
    kind: str
    # The path in strace's filter, below the working folder. A program that runs in that folder
    # passes relative paths to the system.
    path: str
    is_relative: bool
    # The number of the call in its thread: among the calls of its name with that path, and among
    # all calls of its name.
    nth: int
    number: int
    opens_to_write: bool
    is_folder: bool

    @property
    def is_random(self) -> bool:
        return bool(RANDOM.search("/" + self.path))

    @property
    def is_retried(self) -> bool:
        return self.name in RETRIED and not self.is_folder

    @property
    def is_selectable(self) -> bool:
        """Whether selecting it by its number fails no call that every program makes at its start."""
        return not self.is_random or self.name in LATE or self.number > STARTING


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
        if is_all:
            return ways if self.call.name in UNINTERRUPTED else [*ways, "EINTR"]
        if is_step(self.call) and is_killed:
            return ["EIO", "KILL"]
        if self.call.is_retried and self.place % 8 == 7:
            return ["EINTR"]
        return [ways[self.place % len(ways)]]

    def options(self, desk: Path, way: str) -> list[str]:
        """The options of strace that make it fail."""
        call = self.call
        what = "signal=KILL" if way == "KILL" else f"error={way}"
        number = call.number if call.is_random else call.nth
        options = ["-e", f"trace={call.name}", "-e", f"inject={call.name}:{what}:when={number}"]
        path = call.path if call.is_relative else str(desk / call.path)
        return options if call.is_random else ["-P", path, *options]

    def command(self, command: list[str]) -> list[str]:
        return ["sh", "-c", SHIFT, "-", *command] if self.call.is_random else command


class Kill(Point):
    """A call at which the program is killed."""

    def ways(self, is_all: bool, is_killed: bool) -> list[str]:
        return ["KILL"]


def unsynced(found: list[Call], published: set[str]) -> set[str]:
    """The published files of generations and of changes that were not synced after they were written, and before
    the pointer to the generation was."""
    state = {}
    for call in found:
        path = re.sub(r"(generation-\d+)\.new/", r"\1/", call.path).removesuffix(".new")
        if path.endswith("/CURRENT") and call.name.startswith("rename"):
            break
        if call.opens_to_write or call.name in {"write", "pwrite64", "writev", "copy_file_range", "sendfile"}:
            state[path] = False
        elif call.name in {"fsync", "fdatasync"}:
            state[path] = True
    is_kept = re.compile(r"/(generation-\d+|changes)/")
    return {path for path, is_synced in state.items() if path in published and is_kept.search(path) and not is_synced}


def points(trace: str, desk: Path, is_all: bool) -> list[Point]:
    """The points of a plain run; without `is_all` one for each kind."""
    kinds = defaultdict(list)
    for call in parse(trace, desk):
        key = call.kind if is_all else short(call)
        kinds[call.name, key].append(call)
    found = []
    for calls in kinds.values():
        calls = [call for call in calls if call.is_selectable]
        # Several places sync the folder of the index, and each is a different step.
        chosen = [*calls[:2], *calls[2:][-1:]] if is_all or any(map(is_step, calls)) else calls[:1]
        found += [Point(call, len(found) + place) for place, call in enumerate(chosen)]
    return found


def is_step(call: Call) -> bool:
    """Whether a call is a separate step: one that writes outside of the parts."""
    return Point(call).writes and "part-000" not in call.kind


def short(call: Call) -> str:
    """A kind, in which the files of a part that the same code handles are one."""
    kind = LISTS.sub(r"lists/*\1", NUMBERS.sub("numbers.*.", call.kind))
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
        if not (path := next((path for path in paths if (desk / path).is_relative_to(desk)), None)):
            continue
        relative = str((desk / path).relative_to(desk))
        kind = relative
        if name in {"openat", "unlinkat"} and len(paths) > 1 and not paths[1].startswith("/"):
            kind = f"{relative}/{paths[1]}" if name == "openat" else f"{relative}/…"
        kind = re.sub(r"generation-\d+", "generation-N", RANDOM.sub("…", "/" + kind)[1:])
        number, nth = numbers[thread, name], selected[thread, name, path]
        opens_to_write = name == "openat" and bool(re.search(r"O_WRONLY|O_RDWR|O_CREAT", arguments))
        found.append(Call(name, kind or ".", relative, not path.startswith("/"), nth, number, opens_to_write,
                          "O_DIRECTORY" in arguments))
    return found


def paths_of(name: str, arguments: str) -> list[str]:
    """The paths that strace compares with its `-P`; the first one is used to select."""
    paths = []
    for match in ARGUMENT.finditer(arguments):
        text = match["text"]
        if text is None:
            # The working folder only matches itself.
            if not match[0].startswith("AT_FDCWD") and match["descriptor"].startswith("/"):
                paths.append(match["descriptor"])
        elif name not in {"write", "read", "pread64", "pwrite64", "writev", "getdents64", "statfs"}:
            paths.append(text)
        elif name == "statfs" and not paths:
            paths.append(text)
    return paths
