"""Compares the answers of several clients with the recorded ones: compare.py CALLS RECORDED ANSWERS…

FIGDEX_BLESS=1 records the answers of the first client. Prints the sizes of the answers.
"""

import json
import os
import sys


def size(answer):
    return len(json.dumps(answer, separators=(",", ":"), ensure_ascii=False).encode())


def main():
    calls_file, recorded_file, *files = sys.argv[1:]
    calls = json.load(open(calls_file))
    if os.environ.get("FIGDEX_BLESS"):
        first = next(iter(json.load(open(files[0])).values()))
        with open(recorded_file, "w") as out:
            json.dump(first, out, indent=1, ensure_ascii=False, sort_keys=True)
            out.write("\n")
    recorded = json.load(open(recorded_file))
    assert len(recorded) == len(calls), "record the answers again with FIGDEX_BLESS=1"
    older = [answer for call, answer in zip(calls, recorded) if call.get("older")]
    differing = 0
    for file in files:
        for place, answers in json.load(open(file)).items():
            expected = older if len(answers) == len(older) else recorded
            assert len(answers) == len(expected), f"{file}: {len(answers)} answers"
            asked = [call for call in calls if call.get("older")] if expected is older else calls
            for call, answer, right in zip(asked, answers, expected):
                if answer != right:
                    differing += 1
                    print(f"{file}, {place}: {json.dumps(call)}\n  {answer}\n  instead of\n  {right}")
            print(f"{file}: {len(answers)} answers over {place.split('/')[-1]} are as recorded")
    for call, answer in zip(calls, recorded):
        bound = call["arguments"].get("maxBytes", 8192)
        assert size(answer) <= bound, f"{call}: {size(answer)} bytes"
    sizes = sorted(size(answer) for answer in recorded)
    print(f"sizes of the answers: {sizes[0]} to {sizes[-1]} bytes, half of them up to {sizes[len(sizes) // 2]}")
    sys.exit(f"{differing} answers differ" if differing else 0)


main()
