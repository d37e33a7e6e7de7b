"""Shape and soundness of an SQLite database, read with Python's own SQLite. Extensions stay off, and nothing is written."""

import json
import os
import sqlite3
import stat
import sys
from urllib.parse import quote

ABSENT, MALFORMED = 3, 4
# Findings of a check; a database of noise has more than anybody reads.
FINDINGS = 100


def leave(code: int, why: str) -> None:
    print(why, file=sys.stderr)
    sys.exit(code)


def database(path: str) -> sqlite3.Connection:
    try:
        mode = os.stat(path).st_mode
    except OSError:
        leave(ABSENT, f"there is nothing at {path}")
    if not stat.S_ISREG(mode):
        leave(MALFORMED, f"{path} is no regular file")
    connection = sqlite3.connect(f"file:{quote(path)}?mode=ro", uri=True)
    connection.execute("PRAGMA trusted_schema = OFF")
    return connection


def named(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def schema(args: dict) -> dict:
    one = database(args["path"])
    names = [
        row[0]
        for row in one.execute(
            "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite!_%' ESCAPE '!' ORDER BY name"
        )
    ]
    tables = []
    for name in names:
        columns = [
            {"name": row[1], "type": row[2], "not_null": bool(row[3]), "key": row[5]}
            for row in one.execute(f"PRAGMA table_info({named(name)})")
        ]
        rows = one.execute(f"SELECT count(*) FROM {named(name)}").fetchone()[0]
        tables.append({"name": name, "columns": columns, "rows": rows})
    indexes = [
        row[0]
        for row in one.execute(
            "SELECT name FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL ORDER BY name"
        )
    ]
    return {
        "user_version": one.execute("PRAGMA user_version").fetchone()[0],
        "tables": tables,
        "indexes": indexes,
    }


def check(args: dict) -> dict:
    one = database(args["path"])
    found = [row[0] for row in one.execute(f"PRAGMA integrity_check({FINDINGS})")]
    broken = [
        f"{table} row {row}: no {parent}"
        for table, row, parent, _ in one.execute("PRAGMA foreign_key_check").fetchmany(
            FINDINGS
        )
    ]
    return {"integrity": [] if found == ["ok"] else found, "foreign_keys": broken}


if __name__ == "__main__":
    try:
        print(
            json.dumps(
                {"schema": schema, "check": check}[sys.argv[1]](json.load(sys.stdin))
            )
        )
    except sqlite3.DatabaseError as error:
        leave(MALFORMED, str(error))
