"""How each kind of contract reads an answer whose outer white space is gone: a reason of the protocol."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from .strict_json import Fault, equal, exact, read_json

Contract = Mapping[str, Any]


def _valued(right: bool) -> str:
    return "correct" if right else "wrong_value"


def _lines(answer: str, count: int) -> list[str]:
    if "\r" in answer:
        raise Fault("carriage_return")
    lines = answer.split("\n")
    if len(lines) != count:
        raise Fault("line_count")
    return lines


def _letter(answer: str, contract: Contract, key: Any) -> str:
    alone = len(answer) == 1 and answer in contract["letters"]
    return _valued(answer == key) if alone else "not_a_letter"


def _choice(answer: str, contract: Contract, key: Any) -> str:
    return _valued(answer == key) if answer in list(contract["options"]) else "not_an_option"


def _literal(answer: str, _contract: Contract, key: Any) -> str:
    return _valued(answer == key)


def _quoted(answer: str, contract: Contract, key: Any) -> str:
    opening, closing = contract["open"], contract["close"]
    held = len(answer) >= len(opening) + len(closing)
    if not (held and answer.startswith(opening) and answer.endswith(closing)):
        return "not_quoted"
    inner = answer[len(opening) : len(answer) - len(closing)]
    return "not_quoted" if opening in inner or closing in inner else _valued(inner == key)


def _json(answer: str, contract: Contract, key: Any) -> str:
    value = read_json(answer)
    if not isinstance(value, list if contract["type"] == "array" else dict):
        return "wrong_type"
    keys, length = contract.get("keys"), contract.get("length")
    if isinstance(value, dict) and keys is not None:
        if len(value) != len(keys) or any(name not in value for name in keys):
            return "wrong_keys"
    if isinstance(value, list) and length is not None and len(value) != length:
        return "wrong_length"
    return _valued(equal(value, exact(key)))


def _tsv(answer: str, contract: Contract, key: Any) -> str:
    cells = [line.split("\t") for line in _lines(answer, contract["rows"])]
    if any(len(row) != contract["columns"] for row in cells):
        return "column_count"
    return _valued(cells == [list(row) for row in key])


def _pairs(answer: str, contract: Contract, key: Any) -> str:
    names, separator = contract["names"], contract["separator"]
    lines = _lines(answer, len(names))
    if any(separator not in line for line in lines):
        return "no_separator"
    found = [line.split(separator, 1) for line in lines]
    if [name for name, _ in found] != list(names):
        return "wrong_keys"
    return _valued(all(value == key[name] for name, value in found))


def _text_lines(answer: str, contract: Contract, key: Any) -> str:
    return _valued(_lines(answer, contract["count"]) == list(key))


def _list(answer: str, contract: Contract, key: Any) -> str:
    lines = _lines(answer, contract["count"])
    marks = [contract["mark"].replace("{n}", str(at + 1)) for at in range(len(lines))]
    if not all(line.startswith(mark) for line, mark in zip(lines, marks, strict=True)):
        return "bad_mark"
    return _valued([line[len(mark) :] for line, mark in zip(lines, marks, strict=True)] == list(key))


#: A whole number of at most 16 digits, as JSON writes it, but for ``-0``.
_PLACE = re.compile(r"\{([a-z][a-z0-9_]*)\}")
_INTEGER = "(0|-?[1-9][0-9]{0,15})"


def _coordinates(answer: str, contract: Contract, key: Any) -> str:
    template = contract["template"]
    literal = _PLACE.split(template)[::2]
    match = re.fullmatch(_INTEGER.join(re.escape(part) for part in literal), answer)
    if match is None:
        return "bad_pattern"
    names, tolerance = _PLACE.findall(template), contract.get("tolerance", 0)
    found = zip(names, match.groups(), strict=True)
    return _valued(all(abs(int(number) - key[name]) <= tolerance for name, number in found))


FORMS: dict[str, Callable[[str, Contract, Any], str]] = {
    "letter": _letter,
    "choice": _choice,
    "literal": _literal,
    "quoted": _quoted,
    "json": _json,
    "tsv": _tsv,
    "pairs": _pairs,
    "lines": _text_lines,
    "list": _list,
    "coordinates": _coordinates,
}
