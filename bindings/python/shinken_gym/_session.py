"""What both kinds of session know without asking the server."""

from __future__ import annotations

from collections.abc import Callable

from ._core import SessionState
from .types import Event


class SessionView:
    """Names, numbers and events of a session."""

    def __init__(self, state: SessionState) -> None:
        self._state = state

    @property
    def name(self) -> str:
        return self._state.name

    @property
    def token(self) -> str:
        """Whoever has it can attach to the session."""
        return self._state.token

    @property
    def task(self) -> str:
        return self._state.task

    @property
    def next_step(self) -> int | None:
        """Number that the next step will carry; None before the first reset."""
        return self._state.next

    @property
    def episode(self) -> str | None:
        """Id of the present episode, where the server records it: what ``branch`` takes."""
        return self._state.episode

    def events(self) -> list[Event]:
        """Events that came since the last call. The blocking client reads them along with replies."""
        events = [*self._state.events]
        self._state.events.clear()
        return events

    def on_event(self, listener: Callable[[Event], None] | None) -> None:
        """Calls ``listener`` for each event, as it is read."""
        self._state.on_event = listener
