"""Errors of the client.

Codes are those of docs/errors.md; programs branch on ``code``, messages may change.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class ShinkenError(Exception):
    """An error reply of the server, or a failure of the connection (code ``connection_lost``)."""

    def __init__(
        self,
        code: str,
        message: str,
        *,
        path: str | None = None,
        suggestion: str | None = None,
        retry: bool = False,
    ) -> None:
        super().__init__(code, message)
        self.code = code
        self.message = message
        #: Place of the fault in the request, e.g. ``actions[0].argv``.
        self.path = path
        #: What was probably meant, or what to do.
        self.suggestion = suggestion
        #: Whether the same request, unchanged, may succeed later.
        self.retry = retry

    def __str__(self) -> str:
        hint = f" ({self.suggestion})" if self.suggestion else ""
        return f"{self.code}: {self.message}{hint}"

    @classmethod
    def from_wire(cls, error: Mapping[str, Any]) -> ShinkenError:
        """The exception for the ``error`` of a reply."""
        return cls(
            str(error.get("code", "internal")),
            str(error.get("message", "")),
            path=error.get("path"),
            suggestion=error.get("suggestion"),
            retry=bool(error.get("retry", False)),
        )


def connection_lost(why: str, suggestion: str | None = None) -> ShinkenError:
    """The connection broke before the reply came."""
    return ShinkenError("connection_lost", why, suggestion=suggestion, retry=True)
