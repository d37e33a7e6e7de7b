"""Payloads: msgpack with the format's extension types, as strict as docs/skn.md, "Values", says."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import msgpack  # type: ignore[import-untyped]

from .limits import DEPTH, ENTRIES, MAX_INTEGER, Damage

BlobKind = Literal["bytes", "text", "utf16"]
_KINDS: tuple[BlobKind, ...] = ("bytes", "text", "utf16")


@dataclass(frozen=True)
class BlobRef:
    """Content that lies in the blob folder under its hash."""

    sha256: str
    bytes: int
    kind: BlobKind


@dataclass(frozen=True)
class TextDelta:
    """A text that begins and ends as the one in its place of the observation before. UTF-16 code units."""

    prefix: int
    suffix: int
    middle: str


@dataclass(frozen=True)
class UnknownExtension:
    """An extension value of a type that this package does not know: kept."""

    type: int
    data: bytes


def decode(data: bytes) -> Any:
    """The value that the bytes hold, all of them. Raises ``Damage``."""
    try:
        value = msgpack.unpackb(
            data,
            raw=False,
            strict_map_key=False,
            object_pairs_hook=_map,
            ext_hook=_extension,
            max_array_len=ENTRIES,
            max_map_len=ENTRIES,
        )
    except Damage:
        raise
    except (ValueError, TypeError, OverflowError, MemoryError, msgpack.exceptions.UnpackException) as error:
        raise Damage(f"it is not valid msgpack: {error}") from error
    _check(value, 0)
    return value


def map_leaves(value: Any, leaf: Callable[[str, Any], Any], path: str = "") -> Any:
    """The same structure, each leaf mapped with its place, a JSON Pointer."""
    if isinstance(value, dict):
        return {key: map_leaves(item, leaf, f"{path}/{_escaped(key)}") for key, item in value.items()}
    if isinstance(value, list):
        return [map_leaves(item, leaf, f"{path}/{at}") for at, item in enumerate(value)]
    return leaf(path, value)


def _escaped(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1") if "~" in key or "/" in key else key


def _map(pairs: list[tuple[Any, Any]]) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    for key, value in pairs:
        if not isinstance(key, str):
            raise Damage("a field's name is no text")
        if key in fields:
            raise Damage(f"the field {key!r} is there twice")
        fields[key] = value
    return fields


def _extension(code: int, data: bytes) -> Any:
    if code == 1:
        if len(data) != 41 or data[40] >= len(_KINDS):
            raise Damage("a reference to a blob is malformed")
        size = int.from_bytes(data[32:40], "big")
        if size > MAX_INTEGER:
            raise Damage("a reference to a blob is malformed")
        return BlobRef(data[:32].hex(), size, _KINDS[data[40]])
    if code == 2:
        if len(data) < 8:
            raise Damage("a change of a text is malformed")
        middle = data[8:].decode("utf-8")
        return TextDelta(int.from_bytes(data[:4], "big"), int.from_bytes(data[4:8], "big"), middle)
    if code == 3:
        if len(data) % 2 != 0:
            raise Damage("a text in UTF-16 is malformed")
        return from_utf16(data)
    if code < 0:
        raise Damage(f"there is no extension type {code}")
    return UnknownExtension(code, bytes(data))


def _check(value: Any, depth: int) -> None:
    kind = type(value)
    if kind is dict or kind is list:
        if depth >= DEPTH:
            raise Damage(f"it is nested deeper than {DEPTH}")
        for item in value.values() if kind is dict else value:
            _check(item, depth + 1)
    elif kind is int:
        if not -MAX_INTEGER <= value <= MAX_INTEGER:
            raise Damage(f"{value} is beyond 2^53-1")
    elif kind is msgpack.Timestamp:
        raise Damage("there is no extension type -1")


def from_utf16(data: bytes) -> str:
    """Code units, the more significant byte first; lone surrogates stay what they are."""
    return data.decode("utf-16-be", "surrogatepass")


def to_utf16(text: str) -> bytes:
    """The opposite of ``from_utf16``."""
    return text.encode("utf-16-be", "surrogatepass")


def code_units(text: str) -> int:
    """Length in UTF-16."""
    return len(text) if text.isascii() else len(to_utf16(text)) // 2
