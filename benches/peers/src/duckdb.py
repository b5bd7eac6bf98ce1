"""Answers questions with DuckDB, in this process, and times them here.

Started by figdex-peers with the database to create and the two CSV files. Prints the version, the
time of loading and the size of the database. Then answers each command on standard input, a line of
JSON, with a line of JSON.
"""

import json
import os
import sys
import time

import duckdb

database, instruments, identifiers, columns = sys.argv[1:]
connection = duckdb.connect(database)
# The progress bar would be printed among the answers.
connection.execute("SET enable_progress_bar = false")


def load():
    connection.execute(f"CREATE TABLE instrument (id INTEGER, {columns})")
    connection.execute(
        "CREATE TABLE identifier (id_type SMALLINT, id_value VARCHAR, instrument INTEGER)"
    )
    for table, path in (("instrument", instruments), ("identifier", identifiers)):
        connection.execute(f"COPY {table} FROM '{path}' (FORMAT csv, HEADER false)")
    connection.execute("CHECKPOINT")


def answer(question):
    return connection.execute(question["sql"], question["values"]).fetchall()


def run(command):
    questions = command["questions"]
    if command["answers"]:
        return [answer(question) for question in questions]
    started = time.perf_counter()
    for question in questions:
        answer(question)
    return time.perf_counter() - started


started = time.perf_counter()
load()
print(
    json.dumps(
        {
            "version": duckdb.__version__,
            "seconds": time.perf_counter() - started,
            "bytes": os.path.getsize(database),
        }
    ),
    flush=True,
)
for line in sys.stdin:
    print(json.dumps(run(json.loads(line))), flush=True)
