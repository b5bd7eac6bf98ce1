"""Runs the examples of documents and compares what they print.

A document's fenced blocks, in order, in one folder for each document:

* ```csv NAME        is written to the file NAME, and so is ```toml NAME;
* ```sh and ```python are run, and must succeed;
* ```text            is what the command before it prints on standard output;
* ```text stderr     is what the command before it prints on standard error.

A command's `data/index` is the index of the server, and its `http://localhost:8080` the server.
Seconds and rates differ from run to run: a number before " s" or "rows/s" counts as equal.
"""

import pathlib
import re
import subprocess
import sys
import tempfile

FENCE = re.compile(r"^```(\S*)(?: (\S+))?\n(.*?)^```$", re.M | re.S)
CHANGING = re.compile(r"[\d.,]+(?= (?:s|rows/s)\b)")


def main():
    base, data, *rest = sys.argv[1:]
    split = rest.index("--")
    writes = "--write" in rest[:split]
    failures = 0
    for path in map(pathlib.Path, rest[split + 1 :]):
        text = path.read_text(encoding="utf-8")
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            (folder / "data").symlink_to(data)
            written, ran, failed = run(text, folder, base)
        failures += failed
        if writes and written != text:
            path.write_text(written, encoding="utf-8")
        print(f"{path.name}: {ran} examples ran, {failed} differ")
        if not ran:
            sys.exit(f"{path.name}: no example was found")
    sys.exit(1 if failures and not writes else 0)


def run(text, folder, base):
    """The document with what its examples print now, their number, and how many differ."""
    pieces, end, ran, failed = [], 0, 0, 0
    printed = {}
    for block in FENCE.finditer(text):
        kind, argument, body = block.group(1), block.group(2), block.group(3)
        if kind in ("csv", "toml", "txt") and argument:
            (folder / argument).write_text(body, encoding="utf-8")
        elif kind in ("sh", "python"):
            ran += 1
            printed = execute(kind, body, folder, base)
        elif kind == "text" and printed:
            stream = argument or "stdout"
            now = printed[stream].replace(base, "http://localhost:8080")
            if not now.endswith("\n"):
                now += "\n"
            if CHANGING.sub("0", now) != CHANGING.sub("0", body):
                failed += 1
                print(f"expected on {stream}:\n{body}\nprinted:\n{now}")
                pieces += [text[end : block.start(3)], now]
                end = block.end(3)
    return "".join([*pieces, text[end:]]), ran, failed


def execute(kind, body, folder, base):
    body = body.replace("http://localhost:8080", base)
    program = ["bash", "-euo", "pipefail", "-c"] if kind == "sh" else [sys.executable, "-c"]
    done = subprocess.run([*program, body], cwd=folder, capture_output=True, text=True, timeout=600)
    if done.returncode:
        sys.exit(f"exit {done.returncode} of\n{body}\n{done.stdout}{done.stderr}")
    return {"stdout": done.stdout, "stderr": done.stderr}


if __name__ == "__main__":
    main()
