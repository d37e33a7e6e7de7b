"""JSON as the contracts take it: RFC 8259, no duplicate keys, numbers by their exact value."""

from __future__ import annotations

import json
import re
from typing import Any

DEPTH_AT_MOST = 64

_NUMBER = re.compile(r"(-?)([0-9]+)(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]+))?\Z")
# Pure Python's decoder takes digits of other scripts; outside of strings no document has any such character.
_FOREIGN_DIGIT = re.compile(r"[^\x00-\x7f]")


class Fault(Exception):
    """Why a text is not read; its only argument is a reason of the protocol."""


class Number:
    """A number as its exact value: sign, digits without zeros around them, power of ten."""

    __slots__ = ("value",)

    def __init__(self, literal: str) -> None:
        match = _NUMBER.match(literal)
        if match is None:
            raise Fault("bad_json")
        sign, whole, fraction, power = match[1], match[2], match[3] or "", match[4] or "0"
        digits = (whole + fraction).lstrip("0")
        kept = digits.rstrip("0")
        exponent = _integer(power) - len(fraction) + len(digits) - len(kept)
        self.value = (sign, kept, exponent) if kept else ("", "0", 0)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Number) and self.value == other.value

    def __hash__(self) -> int:
        return hash(self.value)


def read_json(text: str) -> Any:
    """The value, with :class:`Number` for numbers. Raises :class:`Fault`."""
    if _deepest(text) > DEPTH_AT_MOST:
        raise Fault("too_deep")
    doubled: list[str] = []

    def pairs(items: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(items)
        if len(found) != len(items):
            doubled.append("")
        return found

    def refuse(_name: str) -> Any:
        raise Fault("bad_json")

    try:
        if _FOREIGN_DIGIT.search(_outside_strings(text)):
            raise Fault("bad_json")
        value = json.loads(
            text, object_pairs_hook=pairs, parse_int=Number, parse_float=Number, parse_constant=refuse
        )
    except (ValueError, RecursionError) as error:
        raise Fault("bad_json") from error
    # What is no document at all has no keys either.
    if doubled:
        raise Fault("duplicate_key")
    return value


def exact(value: Any) -> Any:
    """A value of Python as ``read_json`` gives it."""
    if isinstance(value, bool) or value is None or isinstance(value, (str, Number)):
        return value
    if isinstance(value, (int, float)):
        return Number(json.dumps(value, allow_nan=False))
    if isinstance(value, (list, tuple)):
        return [exact(item) for item in value]
    if isinstance(value, dict):
        return {name: exact(held) for name, held in value.items()}
    raise TypeError(f"JSON has no value of type {type(value).__name__}")


def equal(a: Any, b: Any) -> bool:
    """Whether two values are the same; unlike ``==``, true is not 1."""
    if isinstance(a, list):
        return isinstance(b, list) and len(a) == len(b) and all(map(equal, a, b))
    if isinstance(a, dict):
        return isinstance(b, dict) and a.keys() == b.keys() and all(equal(a[name], b[name]) for name in a)
    return type(a) is type(b) and a == b


def _integer(text: str) -> int:
    # `int` refuses texts of more than 4,300 digits.
    sign = -1 if text.startswith("-") else 1
    digits = text.lstrip("+-")
    value = 0
    for at in range(0, len(digits), 4_000):
        piece = digits[at : at + 4_000]
        value = value * 10 ** len(piece) + int(piece)
    return sign * value


def _outside_strings(text: str) -> str:
    return re.sub(r'"(?:[^"\\]|\\.)*"', '""', text, flags=re.DOTALL)


def _deepest(text: str) -> int:
    depth = most = 0
    quoted = escaped = False
    for character in text:
        if quoted:
            if escaped:
                escaped = False
            elif character == "\\":
                escaped = True
            elif character == '"':
                quoted = False
        elif character == '"':
            quoted = True
        elif character in "[{":
            depth += 1
            most = max(most, depth)
        elif character in "]}":
            depth -= 1
    return most
