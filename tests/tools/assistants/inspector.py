"""Asks all recorded calls by the command line of the inspector: inspector.py CALLS OUT CLIENTS PLACE…

Each call is a process of a second or more, so several run at a time. Writes the answers of each place
as JSON.
"""

import concurrent.futures
import json
import os
import shlex
import subprocess
import sys


def ask(program, place, call):
    arguments = [f"{name}={json.dumps(value)}" for name, value in call["arguments"].items()]
    command = [*program, *shlex.split(place), "--method", "tools/call", "--tool-name", call["tool"]]
    if arguments:
        command += ["--tool-arg", *arguments]
    asked = subprocess.run(command, capture_output=True, text=True)
    try:
        result = json.loads(asked.stdout)
    except ValueError:
        sys.exit(f"{shlex.join(command)}\n{asked.stdout}\n{asked.stderr}")
    names = ("content", "structuredContent", "isError")
    return {name: result[name] for name in names if name in result}


def main():
    calls_file, out, clients, *places = sys.argv[1:]
    calls = json.load(open(calls_file))
    program = ["node", f"{clients}/node_modules/.bin/mcp-inspector", "--cli"]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as threads:
        answers = {
            place: list(threads.map(lambda call, place=place: ask(program, place, call), calls))
            for place in places
        }
    json.dump(answers, open(out, "w"))


main()
