"""Older events as the present version has them: one step a version."""

from __future__ import annotations

import math
from typing import Any

from .limits import SKN_VERSION


def upcast(channel: str, event: dict[str, Any], version: int) -> dict[str, Any]:
    """The event as the present version has it."""
    for step in range(version, SKN_VERSION):
        event = _STEPS[step](channel, event)
    return event


def _from_0(channel: str, event: dict[str, Any]) -> dict[str, Any]:
    """Version 0 was never released: it proves the mechanism. docs/skn.md says how it differs."""
    now = {key: value for key, value in event.items() if key != "t"}
    seconds = event.get("t")
    if isinstance(seconds, (int, float)) and not isinstance(seconds, bool) and math.isfinite(seconds):
        now |= {"t_wall": math.floor(seconds * 1_000 + 0.5), "t_guest": None}
    if channel == "session":
        return {"parent": None, "labels": {}, **now, "skn": 1}
    if channel == "reward" and "value" in now:
        value = now.pop("value")
        return {"check": None, **now, "reward": value}
    return now


_STEPS = {0: _from_0}
