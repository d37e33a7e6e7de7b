"""Files that nano and Vim leave beside what is edited. Both write the same block at the head of their lock and swap files:
"b0", a name and version, the process at byte 24, the user at 28, the file at 108, and 0x55 at 1007 while changes are unsaved.
"""

import json
import os
import re
import stat
import struct
import sys

ABSENT, MALFORMED = 3, 4
BLOCK, DIRTY = 1024, 0x55
# Entries of a folder, and bytes of a name.
ENTRIES = 10_000


def leave(code: int, why: str) -> None:
    print(why, file=sys.stderr)
    sys.exit(code)


def names(folder: str) -> list:
    try:
        found = sorted(os.listdir(os.fsencode(folder)))
    except OSError as error:
        leave(ABSENT, f"{folder}: {error.strerror}")
    if len(found) > ENTRIES:
        leave(MALFORMED, f"{folder} holds more than {ENTRIES} entries")
    return found


def words(block: bytes, start: int, size: int) -> str:
    return (
        block[start : start + size].split(b"\0")[0].decode("utf-8", "backslashreplace")
    )


def head(folder: str, name: bytes) -> bytes:
    """The first block of a regular file, without waiting for anything else."""
    path = os.path.join(os.fsencode(folder), name)
    if not stat.S_ISREG(os.lstat(path).st_mode):
        return b""
    with open(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb") as file:
        return file.read(BLOCK)


def edited(args: dict) -> list:
    found = []
    for name in names(args["folder"]):
        if not (name.startswith(b".") and name.endswith(b".swp")):
            continue
        block = head(args["folder"], name)
        if len(block) < BLOCK or block[:2] != b"b0":
            continue
        found.append(
            {
                "file": os.path.basename(words(block, 108, 896))
                or name[1:-4].decode("utf-8", "backslashreplace"),
                "editor": words(block, 2, 10).strip(),
                "pid": struct.unpack_from("<I", block, 24)[0],
                "user": words(block, 28, 40),
                "unsaved": block[1007] == DIRTY,
            }
        )
    return found


def leftovers(args: dict) -> list:
    left = re.compile(rb".+(~|\.save(\.\d+)?)$")
    return [
        name.decode("utf-8", "backslashreplace")
        for name in names(args["folder"])
        if left.match(name)
    ]


if __name__ == "__main__":
    print(
        json.dumps(
            {"open": edited, "leftovers": leftovers}[sys.argv[1]](json.load(sys.stdin))
        )
    )
