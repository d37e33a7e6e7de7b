"""The client's side of the protocol without any input or output: the sync and the asyncio client drive it."""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from . import _codec
from .errors import ShinkenError, connection_lost
from .types import Action, Checkpoints, Event, ResetResult, RolloutStats, ServerInfo, StepResult, Verdict

T = TypeVar("T")

PROTOCOL = 1

#: Requests that may be sent again on a new connection: a step's number makes it idempotent, and nothing that
#: the others change is changed again by a second one. Pulls, create, fork, attach and detach are not.
REPEATABLE = frozenset(
    {"hello", "reset", "step", "evaluate", "observe", "cancel", "close", "list"}
    | {"rollout.weights", "rollout.stats", "rollout.close"}
)

#: Events kept for a session until somebody reads them.
MAX_EVENTS = 1000

#: Seconds between attempts to connect again: the first, and the most.
FIRST_RETRY = 0.05
LAST_RETRY = 2.0
#: Seconds to wait where the server is still at work on what a former connection asked for.
BUSY_RETRY = 0.05

#: Largest frame that a client takes, bytes.
MAX_FRAME = 64 * 1024 * 1024


@dataclass
class SessionState:
    """What both kinds of session are a shell around."""

    name: str
    token: str
    task: str
    #: Number of the next step; None before the first reset.
    next: int | None = None
    #: Id of the present episode, where the server records it.
    episode: str | None = None
    events: deque[Event] = field(default_factory=lambda: deque(maxlen=MAX_EVENTS))
    on_event: Callable[[Event], None] | None = None


@dataclass
class RolloutState:
    """What both kinds of rollout are a shell around."""

    name: str
    token: str
    seed: int
    tasks: tuple[str, ...]
    left_out: tuple[str, ...]
    #: It is told of all episodes, not only of those that this connection plays.
    listens: bool
    #: Number of the latest event.
    heard: int = 0
    events: deque[Event] = field(default_factory=lambda: deque(maxlen=MAX_EVENTS))
    on_event: Callable[[Event], None] | None = None

    def attach_fields(self) -> dict[str, Any]:
        """What joins it anew on another connection."""
        heard = {"events": True, "after": self.heard} if self.listens else {}
        return {"rollout": self.name, "token": self.token, **heard}


@dataclass(eq=False)
class Call(Generic[T]):
    """A request and, once ``done``, its outcome."""

    message: dict[str, Any]
    finish: Callable[[dict[str, Any]], T]
    #: Which message of the present connection it was, counted from 1; 0 before it is sent.
    frame: int = 0
    #: It was sent on a connection that broke; the server may be at work on it still.
    resent: bool = False
    done: bool = False
    value: T | None = None
    error: ShinkenError | None = None
    #: Called once, when done.
    notify: Callable[[], None] | None = None

    def settle(self, value: T | None, error: ShinkenError | None) -> None:
        self.value, self.error, self.done = value, error, True
        if self.notify is not None:
            self.notify()

    def result(self) -> T:
        """The outcome; raises the error."""
        if self.error is not None:
            raise self.error
        return self.value  # type: ignore[return-value]


@dataclass(frozen=True)
class Recording:
    """What a server's recorder is told of a session: whether to record, what to say, what to leave out."""

    record: bool = True
    labels: Mapping[str, str | int | float | bool] | None = None
    values: Sequence[str] = ()
    variables: Sequence[str] = ()

    def to_wire(self) -> dict[str, Any]:
        """Fields of ``create``; None where nothing needs to be said."""
        secrets = {
            **({"values": list(self.values)} if self.values else {}),
            **({"variables": list(self.variables)} if self.variables else {}),
        }
        return {
            "record": None if self.record else False,
            "labels": None if self.labels is None else dict(self.labels),
            "secrets": secrets or None,
        }


class Core:
    """Ids, pending calls and sessions of one client, whatever becomes of its connections."""

    def __init__(self, encoding: _codec.Encoding) -> None:
        self.encoding = encoding
        self.server: ServerInfo | None = None
        self.sessions: dict[str, SessionState] = {}
        self.rollouts: dict[str, RolloutState] = {}
        self.pending: dict[int, Call[Any]] = {}
        self._ids = itertools.count(1)
        self._frames = 0

    # --- calls

    def call(self, op: str, finish: Callable[[dict[str, Any]], T], **fields: Any) -> Call[T]:
        """A new call; fields that are None are left out."""
        number = next(self._ids)
        message: dict[str, Any] = {"id": number, "op": op}
        message.update((key, value) for key, value in fields.items() if value is not None)
        made = Call(message, finish)
        self.pending[number] = made
        return made

    def hello(self) -> Call[ServerInfo]:
        def finish(result: dict[str, Any]) -> ServerInfo:
            self.server = ServerInfo.from_wire(result)
            return self.server

        return self.call("hello", finish, protocol=PROTOCOL, client="shinken-python")

    def create(
        self,
        task: str | None,
        image: str | None,
        environment: str | None,
        session: str | None,
        grace_s: float | None,
        checkpoints: bool | int,
        recording: Recording = Recording(),
        source: Mapping[str, Any] | None = None,
    ) -> Call[SessionState]:
        def finish(result: dict[str, Any]) -> SessionState:
            made = self._adopt(result)
            if source is not None:
                made.next, made.episode = result["next"], result.get("episode")
            return made

        # A number is a budget, and so not 0; True leaves it to the server.
        budget = {} if checkpoints is True else {"budget_mib": checkpoints}
        return self.call(
            "create",
            finish,
            session=session,
            task=task,
            image=image,
            environment=environment,
            grace_s=grace_s,
            checkpoints=None if checkpoints is False else budget,
            **recording.to_wire(),
            **({} if source is None else {"from": dict(source)}),
        )

    def attach(self, name: str, token: str) -> Call[SessionState]:
        def finish(result: dict[str, Any]) -> SessionState:
            known = self.sessions.get(name)
            state = known or self._adopt({**result, "token": token})
            state.next, state.episode = result["next"], result.get("episode")
            return state

        return self.call("attach", finish, session=name, token=token)

    def reset(
        self, state: SessionState, seed: int | None, params: dict[str, Any] | None
    ) -> Call[ResetResult]:
        def finish(result: dict[str, Any]) -> ResetResult:
            state.next, state.episode = result["next"], result.get("episode")
            return ResetResult.from_wire(result)

        return self.call("reset", finish, session=state.name, seed=seed, params=params)

    def step(
        self,
        state: SessionState,
        actions: Action | Sequence[Action],
        decision: Mapping[str, Any] | None = None,
    ) -> Call[StepResult]:
        def finish(result: dict[str, Any]) -> StepResult:
            state.next = result["next"]
            return StepResult.from_wire(result)

        listed = [dict(actions)] if isinstance(actions, Mapping) else [dict(action) for action in actions]
        # Before a reset the server answers not_reset, whatever the number.
        number = state.next if state.next is not None else 1
        told = None if decision is None else dict(decision)
        return self.call("step", finish, session=state.name, step=number, actions=listed, decision=told)

    def evaluate(self, state: SessionState) -> Call[Verdict]:
        return self.call("evaluate", lambda result: Verdict.from_wire(result["verdict"]), session=state.name)

    def checkpoints(self, state: SessionState) -> Call[Checkpoints]:
        return self.call("list", Checkpoints.from_wire, what="checkpoints", session=state.name)

    def fork(self, state: SessionState, name: str | None, at_step: int | None) -> Call[SessionState]:
        def finish(result: dict[str, Any]) -> SessionState:
            branch = self._adopt(result)
            branch.next, branch.episode = result["next"], result.get("episode")
            return branch

        return self.call("fork", finish, session=state.name, at_step=at_step, **{"as": name})

    def detach(self, state: SessionState) -> Call[float]:
        def finish(result: dict[str, Any]) -> float:
            self.sessions.pop(state.name, None)
            return float(result["grace_s"])

        return self.call("detach", finish, session=state.name)

    def close(self, state: SessionState) -> Call[None]:
        return self.call("close", lambda _: self._forget(state), session=state.name)

    # --- rollouts

    def rollout_open(self, fields: Mapping[str, Any], token: str | None = None) -> Call[RolloutState]:
        """Opens a rollout, or joins the one whose ``token`` is given."""

        def finish(result: dict[str, Any]) -> RolloutState:
            state = RolloutState(
                result["rollout"],
                token if token is not None else result["token"],
                result["seed"],
                tuple(result["tasks"]),
                tuple(result["left_out"]),
                token is None or bool(fields.get("events")),
            )
            self.rollouts[state.name] = state
            return state

        if token is None:
            return self.call("rollout.open", finish, **fields)
        return self.call("rollout.attach", finish, token=token, **fields)

    def rollout_again(self, state: RolloutState) -> Call[None]:
        """Joins a rollout anew after the connection broke."""
        return self.call("rollout.attach", lambda _: None, **state.attach_fields())

    def rollout_next(self, state: RolloutState, wait_s: float | None) -> Call[dict[str, Any] | None]:
        """The next episode; its session is adopted. None: there are no more."""

        def finish(result: dict[str, Any]) -> dict[str, Any] | None:
            if result["done"]:
                return None
            made = self._adopt(result)
            made.next, made.episode = result["next"], result.get("episode")
            return result

        return self.call("rollout.next", finish, rollout=state.name, wait_s=wait_s)

    def rollout_weights(self, state: RolloutState, weights: Mapping[str, float]) -> Call[None]:
        return self.call("rollout.weights", lambda _: None, rollout=state.name, weights=dict(weights))

    def rollout_stats(self, state: RolloutState) -> Call[RolloutStats]:
        return self.call("rollout.stats", RolloutStats.from_wire, rollout=state.name)

    def rollout_close(self, state: RolloutState) -> Call[None]:
        return self.call("rollout.close", lambda _: self.rollout_gone(state), rollout=state.name)

    def rollout_gone(self, state: RolloutState) -> None:
        """The server does not know the rollout any more."""
        if self.rollouts.get(state.name) is state:
            del self.rollouts[state.name]

    # --- frames

    def connected(self) -> None:
        """A new connection counts its messages from 1."""
        self._frames = 0

    def encode(self, call: Call[Any]) -> bytes | str | None:
        """The call's frame, or None if it cannot be sent; then it is settled."""
        try:
            frame = _codec.encode(call.message, self.encoding)
            limit = self.server.limits["message_bytes"] if self.server else None
            size = len(frame.encode()) if isinstance(frame, str) else len(frame)
            if limit is not None and size > limit:
                raise ShinkenError(
                    "too_large", f"the request has {size} bytes; the server's limit is {limit}"
                )
        except ShinkenError as error:
            self._settle(call, None, error)
            return None
        self._frames += 1
        call.frame = self._frames
        return frame

    def receive(self, frame: bytes | str) -> Call[Any] | None:
        """Takes one frame in; a call that is returned has to be sent again after a while."""
        message = _codec.decode(frame)
        if "event" in message:
            self._event(Event.from_wire(message))
            return None
        call = self._answered(message)
        if call is None:
            return None
        if message["ok"]:
            self._settle(call, call.finish(message["result"]), None)
            return None
        error = ShinkenError.from_wire(message["error"])
        if error.code == "session_busy" and call.resent:
            return call
        gone = {"close": "unknown_session", "rollout.close": "unknown_rollout"}
        if error.code == gone.get(call.message["op"]):
            self._settle(call, call.finish({}), None)
            return None
        self._settle(call, None, error)
        return None

    def lost(self, why: str) -> None:
        """The connection broke: calls that cannot be repeated fail, the others wait for the next one."""
        for call in [*self.pending.values()]:
            call.frame = 0
            if call.message["op"] in REPEATABLE:
                call.resent = True
            else:
                self._settle(call, None, connection_lost(why))

    def gone(self, state: SessionState) -> None:
        """The server does not know the session any more; its calls will say so."""
        self.sessions.pop(state.name, None)

    def fail_all(self, error: ShinkenError) -> None:
        for call in [*self.pending.values()]:
            self._settle(call, None, error)

    @property
    def grace(self) -> float:
        """Seconds within which a broken connection can be replaced."""
        return float(self.server.limits["grace_s"]) if self.server else 10.0

    # --- inside

    def _answered(self, message: dict[str, Any]) -> Call[Any] | None:
        if message["id"] is not None:
            return self.pending.get(message["id"])
        frame = message.get("frame")
        return next((call for call in self.pending.values() if call.frame == frame), None)

    def _settle(self, call: Call[Any], value: Any, error: ShinkenError | None) -> None:
        self.pending.pop(call.message["id"], None)
        call.settle(value, error)

    def _adopt(self, result: dict[str, Any]) -> SessionState:
        state = SessionState(result["session"], result["token"], result["task"])
        self.sessions[state.name] = state
        return state

    def _forget(self, state: SessionState) -> None:
        if self.sessions.get(state.name) is state:
            del self.sessions[state.name]

    def _event(self, event: Event) -> None:
        rollout = self.rollouts.get(event.data.get("rollout", ""))
        if rollout is not None:
            # What is told again after a broken connection may have been heard.
            if event.data["number"] > rollout.heard:
                rollout.heard = event.data["number"]
                rollout.events.append(event)
                if rollout.on_event is not None:
                    rollout.on_event(event)
            return
        state = self.sessions.get(event.session)
        if state is None:
            return
        if event.event in ("closed", "detached"):
            self._forget(state)
        state.events.append(event)
        if state.on_event is not None:
            state.on_event(event)


def outcomes(calls: Iterable[Call[T]]) -> list[T | ShinkenError]:
    """Results of settled calls in order, a failed one as its error."""
    return [call.error if call.error is not None else call.result() for call in calls]


def address(url: str) -> str:
    """``url`` with the protocol's path, if it has none."""
    base = url.rstrip("/")
    return base if base.endswith(f"/v{PROTOCOL}") else f"{base}/v{PROTOCOL}"
