"""Checks events against the JSON Schemas of docs/skn/schemas: the keywords that stand in them."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from functools import cache
from importlib import resources
from typing import Any

from .limits import Damage


@cache
def schemas() -> dict[str, Any]:
    """By channel."""
    text = resources.files(__package__).joinpath("schemas.json").read_text(encoding="utf-8")
    loaded: dict[str, Any] = json.loads(text)
    return loaded


@cache
def envelope(channel: str) -> dict[str, Any]:
    """Of what stands before every payload."""
    whole = schemas()[channel]
    names = ("seq", "step", "t_guest", "t_wall", "action_id", "redacted")
    return {
        "type": "object",
        "properties": {name: whole["properties"][name] for name in names},
        "required": [name for name in names if name in whole["required"]],
    }


def check(schema: dict[str, Any], value: Any, path: str = "") -> None:
    """Raises ``Damage`` that names the first place that breaks the schema."""
    for keyword, wanted in schema.items():
        if keyword == "anyOf":
            if not any(_holds(one, value) for one in wanted):
                raise Damage(f"{path} is of no kind that it may be")
        elif keyword == "properties":
            if isinstance(value, dict):
                for name, inner in wanted.items():
                    if name in value:
                        check(inner, value[name], f"{path}.{name}" if path else name)
        elif keyword == "additionalProperties":
            if isinstance(value, dict):
                for name in value.keys() - schema.get("properties", {}).keys():
                    check(wanted, value[name], f"{path}.{name}" if path else name)
        elif keyword == "items":
            if isinstance(value, list) and wanted:
                for at, item in enumerate(value):
                    check(wanted, item, f"{path}.{at}")
        elif not _KEYWORDS[keyword](wanted, value):
            raise Damage(f"{path} breaks its {keyword}")


def _holds(schema: dict[str, Any], value: Any) -> bool:
    try:
        check(schema, value)
    except Damage:
        return False
    return True


def _number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


_TYPES: dict[str, Callable[[Any], bool]] = {
    "object": lambda value: isinstance(value, dict),
    "array": lambda value: isinstance(value, list),
    "string": lambda value: isinstance(value, str),
    "boolean": lambda value: isinstance(value, bool),
    "null": lambda value: value is None,
    "number": _number,
    "integer": lambda value: _number(value) and value == math.floor(value),
}


def _type(wanted: str | list[str], value: Any) -> bool:
    return any(_TYPES[one](value) for one in ([wanted] if isinstance(wanted, str) else wanted))


def _matches(pattern: str, text: str) -> bool:
    # Python's $ would let a line's end pass.
    return re.search(pattern.replace("$", r"\Z"), text) is not None


_KEYWORDS: dict[str, Callable[[Any, Any], bool]] = {
    "type": _type,
    "enum": lambda wanted, value: value in wanted,
    "const": lambda wanted, value: value == wanted,
    "required": lambda wanted, value: not isinstance(value, dict) or all(name in value for name in wanted),
    "minimum": lambda wanted, value: not _number(value) or value >= wanted,
    "maximum": lambda wanted, value: not _number(value) or value <= wanted,
    "pattern": lambda wanted, value: not isinstance(value, str) or _matches(wanted, value),
    # Names are texts; these say nothing of values.
    "propertyNames": lambda wanted, value: True,
    "description": lambda wanted, value: True,
    "$schema": lambda wanted, value: True,
}
