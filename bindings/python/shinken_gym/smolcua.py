"""The SmolCUA scorer in Python, for who has answers and no Node.

>>> grade({"kind": "letter", "letters": "ABCD"}, "B", " B\\n").correct
True

As a command it reads lines ``{"id", "contract", "key", "answer"}`` and prints lines
``{"id", "correct", "reason", "correct_without_fence"}``, as ``shinken smolcua grade`` does::

    python -m shinken_gym.smolcua < answers.jsonl
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ._smolcua.forms import FORMS
from ._smolcua.strict_json import Fault
from ._smolcua.text import inside_fence, trim_outer, units
from .errors import ShinkenError

__all__ = ["ANSWER_AT_MOST", "PROTOCOL", "Grade", "grade", "grade_lines"]

PROTOCOL = "v2-outer-whitespace-insensitive"

#: Characters (UTF-16 units) of an answer that are read.
ANSWER_AT_MOST = 65_536


@dataclass(frozen=True)
class Grade:
    """Whether an answer is right, and why; docs/smolcua.md lists the reasons."""

    correct: bool
    reason: str
    #: A diagnostic: right as it is, or after removal of exactly one code fence around it.
    correct_without_fence: bool


def grade(contract: Mapping[str, Any], key: Any, answer: str | None) -> Grade:
    """Grade an answer. ``answer=None`` means that none was given.

    Raises :class:`ShinkenError` ``bad_request`` for a contract of no known kind, or one that lacks a field.
    """
    kind = contract.get("kind")
    if kind not in FORMS:
        raise ShinkenError("bad_request", f"contract.kind: there is no kind {kind!r}", path="contract.kind")
    if answer is None:
        return Grade(False, "missing", False)
    if units(answer) > ANSWER_AT_MOST:
        return Grade(False, "too_long", False)
    text = trim_outer(answer)
    if text == "":
        return Grade(False, "empty", False)
    reason = _read(contract, key, text)
    if reason == "correct":
        return Grade(True, reason, True)
    inside = inside_fence(text)
    if inside is None:
        return Grade(False, reason, False)
    unfenced = trim_outer(inside)
    return Grade(False, "code_fence", unfenced != "" and _read(contract, key, unfenced) == "correct")


def grade_lines(lines: Iterable[str]) -> Iterator[str]:
    """The verdict of each line, as a line; empty lines are passed over."""
    for at, line in enumerate(lines):
        if line.strip() == "":
            continue
        try:
            request = json.loads(line)
            found = grade(request["contract"], request["key"], request["answer"])
        except (ValueError, KeyError, TypeError) as error:
            raise ShinkenError("bad_request", f"line {at + 1}: {error!r}", path=f"line {at + 1}") from error
        yield json.dumps(
            {
                "id": request.get("id"),
                "correct": found.correct,
                "reason": found.reason,
                "correct_without_fence": found.correct_without_fence,
            },
            separators=(",", ":"),
        )


def _read(contract: Mapping[str, Any], key: Any, text: str) -> str:
    try:
        return FORMS[contract["kind"]](text, contract, key)
    except Fault as fault:
        return str(fault)
    except KeyError as error:
        path = f"contract.{error.args[0]}"
        raise ShinkenError("bad_request", f"{path}: it is missing, or the key lacks it", path=path) from error


if __name__ == "__main__":
    try:
        for verdict in grade_lines(sys.stdin):
            print(verdict)
    except ShinkenError as failure:
        print(failure, file=sys.stderr)
        sys.exit(2)
