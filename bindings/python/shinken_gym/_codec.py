"""Frames: msgpack in binary ones, JSON in text ones. See docs/protocol.md, "Frames and values"."""

from __future__ import annotations

import json
import math
from typing import Any, Literal

import msgpack  # type: ignore[import-untyped]

from .errors import ShinkenError

Encoding = Literal["msgpack", "json"]

#: Largest magnitude of a number: beyond it, one of the encodings would round integers.
MAX_NUMBER = 2**53 - 1

#: Nesting that the client sends; the server's own limit is lower.
MAX_DEPTH = 64


def encode(message: dict[str, Any], encoding: Encoding) -> bytes | str:
    """One frame. Raises ``bad_request`` with the path of a value that the wire cannot carry."""
    _check(message, "", 0)
    if encoding == "json":
        return json.dumps(message, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    packed: bytes = msgpack.packb(message, use_bin_type=True)
    return packed


def decode(frame: bytes | str) -> Any:
    """The message of one frame; the kind of the frame says its encoding."""
    if isinstance(frame, str):
        return json.loads(frame)
    return msgpack.unpackb(frame, raw=False, strict_map_key=True)


def _check(value: Any, path: str, depth: int) -> None:
    if value is None or isinstance(value, (str, bool)):
        return
    if isinstance(value, (int, float)):
        if not math.isfinite(value) or abs(value) > MAX_NUMBER:
            raise _refusal(path, f"{value} cannot be sent: numbers are finite and at most 2^53-1")
        return
    if depth >= MAX_DEPTH:
        raise _refusal(path, "too deeply nested")
    if isinstance(value, dict):
        for key, entry in value.items():
            if not isinstance(key, str):
                raise _refusal(path, f"the key {key!r} is not a string")
            _check(entry, f"{path}.{key}" if path else key, depth + 1)
    elif isinstance(value, (list, tuple)):
        for index, entry in enumerate(value):
            _check(entry, f"{path}[{index}]", depth + 1)
    else:
        raise _refusal(path, f"a {type(value).__name__} cannot be sent")


def _refusal(path: str, what: str) -> ShinkenError:
    return ShinkenError("bad_request", f"{path}: {what}", path=path)
