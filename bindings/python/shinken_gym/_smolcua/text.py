"""Outer white space, and code fences around a whole answer."""

from __future__ import annotations

import re

#: The 25 code points of Unicode's property White_Space; ``str.strip`` would take U+001C to U+001F too.
OUTER = (
    "\t\n\x0b\x0c\r \x85\xa0\u1680"
    "\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000"
)

_OPENING = re.compile(r"(`{3,}|~{3,})[^`\n]*\Z")
_CLOSING = re.compile(r"(`{3,}|~{3,})\r?\Z")


def trim_outer(text: str) -> str:
    return text.strip(OUTER)


def units(text: str) -> int:
    """Length as JavaScript counts it: code points beyond U+FFFF are two."""
    return len(text) + sum(1 for character in text if character > "\uffff")


def inside_fence(text: str) -> str | None:
    """What stands in just one fence around the whole text; None where there is none, or one stands in it."""
    lines = text.split("\n")
    opening = _OPENING.match(lines[0])
    if opening is None or len(lines) < 2:
        return None
    mark = opening[1]

    def closes(line: str) -> bool:
        found = _CLOSING.match(line)
        return found is not None and found[1][0] == mark[0] and len(found[1]) >= len(mark)

    first = next((at for at, line in enumerate(lines) if at > 0 and closes(line)), -1)
    return "\n".join(lines[1:-1]) if first == len(lines) - 1 else None
