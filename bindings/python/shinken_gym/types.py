"""What comes back from a server, as frozen dataclasses.

Fields that a newer server adds to results are kept in ``extra``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Action = Mapping[str, Any]
"""One action, e.g. ``{"type": "exec", "argv": ["ls", "-l"]}``."""

Info = dict[str, Any]
SessionState = Literal["created", "running", "over"]


def _rest(data: Mapping[str, Any], *known: str) -> dict[str, Any]:
    return {key: value for key, value in data.items() if key not in known}


@dataclass(frozen=True)
class ActionResult:
    """Result of one action."""

    type: str
    text: str
    #: The text was cut at the size limit.
    truncated: bool = False
    #: Set if the action itself failed; the episode goes on.
    error: dict[str, Any] | None = None
    extra: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def from_wire(cls, data: Mapping[str, Any]) -> ActionResult:
        return cls(
            data["type"],
            data["text"],
            data.get("truncated", False),
            data.get("error"),
            _rest(data, "type", "text", "truncated", "error"),
        )


@dataclass(frozen=True)
class Observation:
    """One result for each action of the step, and the task's instruction after a reset."""

    results: tuple[ActionResult, ...] = ()
    instruction: str | None = None
    extra: dict[str, Any] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """The results' texts, one below the other."""
        return "\n".join(result.text for result in self.results)

    @classmethod
    def from_wire(cls, data: Mapping[str, Any]) -> Observation:
        results = tuple(ActionResult.from_wire(result) for result in data["results"])
        return cls(results, data.get("instruction"), _rest(data, "results", "instruction"))


@dataclass(frozen=True)
class ResetResult:
    """The beginning of an episode."""

    observation: Observation
    info: Info

    @classmethod
    def from_wire(cls, data: Mapping[str, Any]) -> ResetResult:
        return cls(Observation.from_wire(data["observation"]), data["info"])


@dataclass(frozen=True)
class StepResult:
    """One step; ``terminated`` and ``truncated`` as in Gymnasium."""

    observation: Observation
    reward: float
    terminated: bool
    truncated: bool
    info: Info
    #: Number of the step in its episode, from 1.
    step: int

    @property
    def over(self) -> bool:
        """Only a reset goes on from here."""
        return self.terminated or self.truncated

    @classmethod
    def from_wire(cls, data: Mapping[str, Any]) -> StepResult:
        return cls(
            Observation.from_wire(data["observation"]),
            float(data["reward"]),
            data["terminated"],
            data["truncated"],
            data["info"],
            data["step"],
        )


@dataclass(frozen=True)
class CheckResult:
    """One check of a verdict. ``score`` is None where the check was skipped or could not be evaluated."""

    id: str
    status: Literal["passed", "failed", "skipped", "ungraded"]
    score: float | None
    weight: float
    evidence: str
    ms: float
    judge: Mapping[str, Any] | None = None
    """Of a judge node that was asked: model, votes, criteria, tokens and cost."""

    @classmethod
    def from_wire(cls, data: Mapping[str, Any]) -> CheckResult:
        return cls(
            data["id"],
            data["status"],
            data["score"],
            data["weight"],
            data.get("evidence", ""),
            data.get("ms", 0.0),
            data.get("judge"),
        )


@dataclass(frozen=True)
class Verdict:
    """What ``evaluate`` returns. Ungraded is never a score: then ``score`` and ``passed`` are None."""

    task: str
    task_version: str
    verifier_version: str
    status: Literal["graded", "ungraded"]
    score: float | None
    passed: bool | None
    reason: str | None
    checks: tuple[CheckResult, ...]
    judged_only: bool = False
    """Every leaf of the graph is a judge: no program stands behind the verdict."""

    @classmethod
    def from_wire(cls, data: Mapping[str, Any]) -> Verdict:
        return cls(
            data["task"],
            data["task_version"],
            data["verifier_version"],
            data["status"],
            data["score"],
            data["passed"],
            data.get("reason"),
            tuple(CheckResult.from_wire(check) for check in data["checks"]),
            data.get("judged_only", False),
        )


@dataclass(frozen=True)
class Event:
    """Something that the server said by itself: ``milestone``, ``closed``, ``rollout.result`` and so on."""

    event: str
    session: str
    data: dict[str, Any]

    @classmethod
    def from_wire(cls, data: Mapping[str, Any]) -> Event:
        return cls(data["event"], data.get("session") or "", _rest(data, "event", "session"))


@dataclass(frozen=True)
class TaskInfo:
    """A task that the server offers."""

    id: str
    version: str
    instruction: str
    tags: tuple[str, ...]

    @classmethod
    def from_wire(cls, data: Mapping[str, Any]) -> TaskInfo:
        return cls(data["id"], data["version"], data["instruction"], tuple(data["tags"]))


@dataclass(frozen=True)
class SessionInfo:
    """A session that this connection holds."""

    session: str
    task: str
    state: SessionState
    #: Number of the next step; None before the first reset.
    next: int | None
    busy: bool

    @classmethod
    def from_wire(cls, data: Mapping[str, Any]) -> SessionInfo:
        return cls(data["session"], data["task"], data["state"], data["next"], data["busy"])


@dataclass(frozen=True)
class Checkpoint:
    """The state after a step, as the server keeps it; ``info["checkpoint"]`` of that step says the same."""

    step: int
    #: State digest: equal digests mean bit-identical machines.
    digest: str
    #: What the step changed: guest pages of 4 KiB.
    delta_pages: int
    delta_bytes: int
    #: Since the reset.
    guest_ms: float
    instructions: int

    @classmethod
    def from_wire(cls, data: Mapping[str, Any]) -> Checkpoint:
        return cls(
            data["step"],
            data["digest"],
            data["delta_pages"],
            data["delta_bytes"],
            data["guest_ms"],
            data["instructions"],
        )


@dataclass(frozen=True)
class Checkpoints:
    """What a session keeps of its former steps."""

    checkpoints: tuple[Checkpoint, ...]
    budget_bytes: int
    held_bytes: int
    taken: int
    #: For want of budget.
    dropped: int

    @classmethod
    def from_wire(cls, data: Mapping[str, Any]) -> Checkpoints:
        return cls(
            tuple(Checkpoint.from_wire(one) for one in data["checkpoints"]),
            data["budget_bytes"],
            data["held_bytes"],
            data["taken"],
            data["dropped"],
        )


@dataclass(frozen=True)
class GroupProgress:
    """How far a group is; ``size`` replicas in all."""

    size: int
    ended: int
    graded: int
    passed: int

    @classmethod
    def from_wire(cls, data: Mapping[str, Any]) -> GroupProgress:
        return cls(data["size"], data["ended"], data["graded"], data["passed"])


@dataclass(frozen=True)
class EpisodeResult:
    """How an episode of a rollout ended. Only ``graded`` has a score; ``failed`` has no reward."""

    rollout: str
    #: Of the rollout's events, from 1.
    number: int
    group: str
    replica: int
    #: How often it was begun, from 1.
    attempt: int
    task: str
    #: Of its machine.
    seed: int
    status: Literal["graded", "ungraded", "failed"]
    verdict: Verdict | None
    #: Sum over its steps; None where infrastructure failed.
    reward: float | None
    steps: int
    reason: str | None
    session: str | None
    #: Id of its bundle, where it is recorded.
    episode: str | None
    progress: GroupProgress

    @property
    def score(self) -> float | None:
        """Of its verdict; None where there is none."""
        return self.verdict.score if self.verdict is not None else None

    @classmethod
    def from_wire(cls, data: Mapping[str, Any]) -> EpisodeResult:
        verdict, reward = data["verdict"], data["reward"]
        return cls(
            data["rollout"],
            data["number"],
            data["group"],
            data["replica"],
            data["attempt"],
            data["task"],
            data["seed"],
            data["status"],
            None if verdict is None else Verdict.from_wire(verdict),
            None if reward is None else float(reward),
            data["steps"],
            data["reason"],
            data["session"],
            data["episode"],
            GroupProgress.from_wire(data["progress"]),
        )


@dataclass(frozen=True)
class RolloutStats:
    """What a rollout has done and does; docs/protocol.md names the figures."""

    groups: dict[str, Any]
    episodes: dict[str, Any]
    pool: dict[str, Any]
    tasks: dict[str, dict[str, Any]]
    #: Every episode has ended.
    done: bool

    @classmethod
    def from_wire(cls, data: Mapping[str, Any]) -> RolloutStats:
        return cls(data["groups"], data["episodes"], data["pool"], data["tasks"], data["done"])


@dataclass(frozen=True)
class ServerInfo:
    """What the server said of itself when the client connected."""

    protocol: int
    server: str
    environments: tuple[str, ...]
    limits: dict[str, Any]

    @classmethod
    def from_wire(cls, data: Mapping[str, Any]) -> ServerInfo:
        return cls(data["protocol"], data["server"], tuple(data["environments"]), data["limits"])
