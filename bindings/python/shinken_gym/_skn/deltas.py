"""Observations that are told as changes of the one before."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .limits import DELTA_CHARS, Damage
from .values import TextDelta, code_units, from_utf16, map_leaves, to_utf16


class ObservationDeltas:
    """One for each file: what it has seen decides what a delta means."""

    def __init__(self) -> None:
        self._known: dict[str, str] = {}

    def decode(self, observation: Any, grown: Callable[[int], None]) -> Any:
        """The observation as it was. ``grown`` is told the length of each text before it is made."""
        seen: dict[str, str] = {}

        def leaf(path: str, value: Any) -> Any:
            text = self._changed(path, value, grown) if isinstance(value, TextDelta) else value
            if isinstance(text, str) and code_units(text) >= DELTA_CHARS:
                seen[path] = text
            return text

        decoded = map_leaves(observation, leaf)
        self._known = seen
        return decoded

    def _changed(self, path: str, delta: TextDelta, grown: Callable[[int], None]) -> str:
        before = self._known.get(path)
        if before is None or delta.prefix + delta.suffix > (length := code_units(before)):
            raise Damage(f"{path} is told as a change of a text that is not there")
        grown(delta.prefix + code_units(delta.middle) + delta.suffix)
        if before.isascii():
            return before[: delta.prefix] + delta.middle + before[length - delta.suffix :]
        units = to_utf16(before)
        kept = units[: 2 * delta.prefix], units[2 * (length - delta.suffix) :]
        return from_utf16(kept[0] + to_utf16(delta.middle) + kept[1])
