"""What both kinds of rollout and of pulled episode know without asking the server."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

from ._core import Recording, RolloutState
from .types import EpisodeResult, Event, Info, Observation, ResetResult

Purpose = Literal["train", "eval"]
Policy = Literal["wait", "drop", "resample"]


def rollout_fields(
    tasks: Literal["all"] | Sequence[str] | None,
    recording: Recording,
    *,
    warm: tuple[int, int] | None,
    policy: Policy,
    quorum: int | None,
    after_s: float | None,
    checkpoints: bool | int,
    **fields: Any,
) -> dict[str, Any]:
    """Fields of ``rollout.open``; those that are None are left out when it is sent."""
    stragglers = {"policy": policy, "quorum": quorum, "after_s": after_s}
    said = {key: value for key, value in stragglers.items() if value is not None}
    budget = {} if checkpoints is True else {"budget_mib": checkpoints}
    return {
        "tasks": tasks if tasks is None or isinstance(tasks, str) else list(tasks),
        "warm": None if warm is None else {"min": warm[0], "max": warm[1]},
        "stragglers": None if said == {"policy": "wait"} else said,
        "checkpoints": None if checkpoints is False else budget,
        **fields,
        **recording.to_wire(),
    }


class EpisodeView:
    """Where a pulled episode stands in its rollout, and how it began."""

    def __init__(self, pulled: Mapping[str, Any]) -> None:
        self.group: str = pulled["group"]
        self.replica: int = pulled["replica"]
        #: From 1: how often it was begun.
        self.attempt: int = pulled["attempt"]
        self.seed: int = pulled["seed"]
        self.params: dict[str, Any] = pulled["params"]
        #: What ``reset`` would have given.
        self.first = ResetResult.from_wire(pulled)

    @property
    def observation(self) -> Observation:
        """The first one, with the instruction."""
        return self.first.observation

    @property
    def info(self) -> Info:
        return self.first.info


class RolloutView:
    """Names and events of a rollout."""

    _state: RolloutState | None

    @property
    def state(self) -> RolloutState:
        assert self._state is not None, "the rollout has not been opened: pull from it first"
        return self._state

    @property
    def name(self) -> str:
        return self.state.name

    @property
    def token(self) -> str:
        """Whoever has it may pull, too: ``client.join_rollout(name, token)``."""
        return self.state.token

    @property
    def seed(self) -> int:
        return self.state.seed

    @property
    def tasks(self) -> tuple[str, ...]:
        return self.state.tasks

    @property
    def left_out(self) -> tuple[str, ...]:
        """Tasks for measuring only, which ``tasks="all"`` has left out of training."""
        return self.state.left_out

    def events(self) -> list[Event]:
        """What was told since the last call: ``rollout.result``, ``rollout.group``, ``rollout.again``..."""
        events = [*self.state.events]
        self.state.events.clear()
        return events

    def results(self) -> list[EpisodeResult]:
        """Results that came since the last call; other events that came are dropped with them."""
        return [
            EpisodeResult.from_wire({**event.data, "session": event.session or None})
            for event in self.events()
            if event.event == "rollout.result"
        ]

    def on_event(self, listener: Callable[[Event], None] | None) -> None:
        """Calls ``listener`` for each event, as it is read."""
        self.state.on_event = listener
