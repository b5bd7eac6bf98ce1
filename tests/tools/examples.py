"""Runs the examples with curl of documents over the bundled sample, and demands that each finds
something.

    examples.py BASE DOCUMENT…    BASE is the address of the server

An example is every curl command of a fenced `sh` block that asks a lookup of LOOKUPS. Its answer
must have at least one row and neither an error nor a warning. A file that an example sends
(`@NAME`) is what the blocks of its document before it print into NAME.
"""

import json
import pathlib
import re
import subprocess
import sys
import tempfile

BLOCK = re.compile(r"^```sh\n(.*?)^```$", re.M | re.S)
ADDRESS = re.compile(r"http://(?:127\.0\.0\.1|localhost):8080")
LOOKUPS = re.compile(r"8080/(?:v\d/)?(mapping|search|filter|suggest|resolve)\b")
PRINTS = re.compile(r"^printf .*> *\S+$", re.M)


def main():
    base, *paths = sys.argv[1:]
    ran, faults = 0, []
    for path in map(pathlib.Path, paths):
        with tempfile.TemporaryDirectory() as folder:
            for block in BLOCK.findall(path.read_text(encoding="utf-8")):
                for line in PRINTS.findall(block):
                    subprocess.run(["bash", "-c", line], cwd=folder, check=True)
                for command in commands(block):
                    if LOOKUPS.search(command):
                        ran += 1
                        fault = ask(command, base, folder)
                        faults += [f"{path.name}: {fault}\n{command}"] if fault else []
    print(*faults, sep="\n", end="\n" if faults else "")
    print(f"{ran} examples with curl ran, {len(faults)} find nothing")
    sys.exit(1 if faults or not ran else 0)


def commands(block):
    """The curl commands of a block, each with its continued lines."""
    found, command = [], ""
    for line in block.splitlines():
        if not command and not line.startswith("curl "):
            continue
        command += line + "\n"
        if not line.endswith("\\") and command.count("'") % 2 == 0:
            found.append(command)
            command = ""
    return found


def ask(command, base, folder):
    """The fault of a command's answer, or None."""
    command = ADDRESS.sub(base, command)
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", command.replace("curl ", "curl --silent --fail-with-body ", 1)],
        cwd=folder, capture_output=True, text=True, timeout=60,
    )
    if done.returncode:
        return f"curl failed ({done.returncode}): {done.stdout}{done.stderr}"
    return fault_of(done.stdout)


def fault_of(answer):
    """An answer is JSON, or CSV with a line for each row after the heading."""
    try:
        answer = json.loads(answer)
    except ValueError:
        rows = answer.splitlines()[1:]
        return None if any(",resolved," in row for row in rows) else f"no row is resolved: {answer}"
    # A mapping answers an array with an entry for each job, the others an object.
    for entry in answer if isinstance(answer, list) else [answer]:
        if "error" in entry or "warning" in entry:
            return f"an error or a warning: {json.dumps(entry)}"
        rows = next((entry[key] for key in ("data", "results", "suggestions") if key in entry), [])
        if not rows:
            return f"no row: {json.dumps(entry)}"
        statuses = [row["status"] for row in rows if "status" in row]
        if statuses and "resolved" not in statuses:
            return f"nothing is resolved: {json.dumps(entry)}"
    return None


if __name__ == "__main__":
    main()
