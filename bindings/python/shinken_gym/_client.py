"""The blocking client. One thread at a time: give every thread a client of its own."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from types import TracebackType
from typing import Any, Literal, TypeVar

from websockets.exceptions import ConnectionClosed, InvalidStatus, WebSocketException
from websockets.sync.client import ClientConnection
from websockets.sync.client import connect as open_socket

from . import _codec
from ._core import (
    BUSY_RETRY,
    FIRST_RETRY,
    LAST_RETRY,
    MAX_FRAME,
    Call,
    Core,
    Recording,
    RolloutState,
    SessionState,
    address,
    outcomes,
)
from ._rollout import EpisodeView, Policy, Purpose, RolloutView, rollout_fields
from ._session import SessionView
from .errors import ShinkenError, connection_lost
from .types import (
    Action,
    Checkpoints,
    Observation,
    ResetResult,
    RolloutStats,
    ServerInfo,
    SessionInfo,
    StepResult,
    TaskInfo,
    Verdict,
)

T = TypeVar("T")


def connect(
    url: str,
    *,
    token: str | None = None,
    encoding: _codec.Encoding = "msgpack",
    reconnect: bool = True,
    timeout: float = 10.0,
) -> Client:
    """Connects to a server, e.g. ``ws://127.0.0.1:8080``. ``timeout``: seconds for one attempt to connect."""
    return Client(url, token=token, encoding=encoding, reconnect=reconnect, timeout=timeout)


class Client:
    """One connection and the sessions that it holds. Use it in a ``with`` statement, or close it."""

    def __init__(
        self,
        url: str,
        *,
        token: str | None = None,
        encoding: _codec.Encoding = "msgpack",
        reconnect: bool = True,
        timeout: float = 10.0,
    ) -> None:
        self._url = address(url)
        self._token = token
        self._reconnect = reconnect
        self._timeout = timeout
        self._core = Core(encoding)
        self._socket: ClientConnection | None = self._open()
        self._run(self._core.hello())

    @property
    def server(self) -> ServerInfo:
        """What the server said of itself."""
        assert self._core.server is not None
        return self._core.server

    def create(
        self,
        task: str | None = None,
        *,
        image: str | None = None,
        environment: str | None = None,
        session: str | None = None,
        grace_s: float | None = None,
        checkpoints: bool | int = False,
        record: bool = True,
        labels: Mapping[str, str | int | float | bool] | None = None,
        secrets: Sequence[str] = (),
        secret_variables: Sequence[str] = (),
    ) -> Session:
        """A session of a task, of a plain image, or of a built-in environment: give exactly one.

        With ``checkpoints`` the server keeps the state after the reset and after each step, for
        ``fork(at_step=...)``: in so many MiB, or, if True, in as many as it does by itself.

        The server keeps a bundle of each episode unless ``record`` is False. ``labels`` (at most 16) are
        what it says of the episode: run, group, replica, model. ``secrets`` are values, and
        ``secret_variables`` names of environment variables, that must not be in it.
        """
        return Session(
            self,
            self._run(
                self._core.create(
                    task,
                    image,
                    environment,
                    session,
                    grace_s,
                    checkpoints,
                    Recording(record, labels, secrets, secret_variables),
                )
            ),
        )

    def branch(
        self,
        bundle: str,
        step: int,
        *,
        session: str | None = None,
        grace_s: float | None = None,
        checkpoints: bool | int = False,
        record: bool = True,
        labels: Mapping[str, str | int | float | bool] | None = None,
        secrets: Sequence[str] = (),
        secret_variables: Sequence[str] = (),
    ) -> Session:
        """A session that goes on from a step of an episode that the server has recorded.

        ``bundle`` is the episode's id, ``step`` the last one that is kept (0: the reset). The server runs
        the episode again up to there, which takes its time; the next step is the one after. The rest is
        as for ``create``.
        """
        return Session(
            self,
            self._run(
                self._core.create(
                    None,
                    None,
                    None,
                    session,
                    grace_s,
                    checkpoints,
                    Recording(record, labels, secrets, secret_variables),
                    {"bundle": bundle, "step": step},
                )
            ),
        )

    def attach(self, session: str, token: str) -> Session:
        """Takes over a session that was detached, or that another connection holds."""
        return Session(self, self._run(self._core.attach(session, token)))

    def rollout(
        self,
        tasks: Literal["all"] | Sequence[str] | None = None,
        *,
        environment: str | None = None,
        purpose: Purpose | None = None,
        group: int | None = None,
        groups: int | None = None,
        seed: int | None = None,
        seeds: Sequence[int] | None = None,
        weights: Mapping[str, float] | None = None,
        priorities: Mapping[str, int] | None = None,
        quotas: Mapping[str, int] | None = None,
        warm: tuple[int, int] | None = None,
        stragglers: Policy = "wait",
        quorum: int | None = None,
        after_s: float | None = None,
        attempts: int | None = None,
        rollout: str | None = None,
        grace_s: float | None = None,
        checkpoints: bool | int = False,
        record: bool = True,
        labels: Mapping[str, str | int | float | bool] | None = None,
        secrets: Sequence[str] = (),
        secret_variables: Sequence[str] = (),
    ) -> Rollout:
        """Episodes to pull, forked and reset already: ``for episode in client.rollout("all", group=8)``.

        Give ``tasks`` or an ``environment`` without machines. ``group`` replicas share a task, its parameters
        and its golden; ``groups`` is how many there are in all, endless if None. ``stragglers`` says what
        becomes of replicas that are not through ``after_s`` seconds after ``quorum`` of their group are;
        ``warm`` bounds how many episodes wait ready. docs/protocol.md (``rollout.open``) explains each.
        """
        fields = rollout_fields(
            tasks,
            Recording(record, labels, secrets, secret_variables),
            warm=warm,
            policy=stragglers,
            quorum=quorum,
            after_s=after_s,
            checkpoints=checkpoints,
            environment=environment,
            purpose=purpose,
            group=group,
            groups=groups,
            seed=seed,
            seeds=None if seeds is None else list(seeds),
            weights=None if weights is None else dict(weights),
            priorities=None if priorities is None else dict(priorities),
            quotas=None if quotas is None else dict(quotas),
            attempts=attempts,
            rollout=rollout,
            grace_s=grace_s,
        )
        return Rollout(self, self._run(self._core.rollout_open(fields)))

    def join_rollout(self, rollout: str, token: str, *, events: bool = False) -> Rollout:
        """Pulls from a rollout that another client has opened; with ``events`` it is told everything, too."""
        return Rollout(
            self, self._run(self._core.rollout_open({"rollout": rollout, "events": events}, token))
        )

    def tasks(self) -> list[TaskInfo]:
        call = self._core.call(
            "list", lambda result: [TaskInfo.from_wire(row) for row in result["tasks"]], what="tasks"
        )
        return self._run(call)

    def sessions(self) -> list[SessionInfo]:
        """Sessions that this connection holds."""
        call = self._core.call(
            "list", lambda result: [SessionInfo.from_wire(row) for row in result["sessions"]], what="sessions"
        )
        return self._run(call)

    def step_all(
        self, steps: Iterable[tuple[Session, Action | Sequence[Action]]]
    ) -> list[StepResult | ShinkenError]:
        """Steps many sessions at once; results in the same order, a failed step as its error."""
        return self._run_all([self._core.step(session._state, actions) for session, actions in steps])

    def reset_all(
        self, sessions: Iterable[Session], seeds: Iterable[int | None] | None = None
    ) -> list[ResetResult | ShinkenError]:
        """Resets many sessions at once."""
        listed = [*sessions]
        chosen = [*seeds] if seeds is not None else [None] * len(listed)
        return self._run_all(
            [
                self._core.reset(session._state, seed, None)
                for session, seed in zip(listed, chosen, strict=True)
            ]
        )

    def evaluate_all(self, sessions: Iterable[Session]) -> list[Verdict | ShinkenError]:
        """Grades many sessions at once."""
        return self._run_all([self._core.evaluate(session._state) for session in sessions])

    def close(self) -> None:
        """Closes the connection; sessions that are still open live on for their grace time. Idempotent."""
        self._reconnect = False
        socket, self._socket = self._socket, None
        if socket is not None:
            socket.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Closes the sessions, then the connection."""
        try:
            if self._socket is not None:
                self._run_all([self._core.close(state) for state in [*self._core.sessions.values()]])
        finally:
            self.close()

    # --- inside

    def _run(self, call: Call[T]) -> T:
        self._run_all([call])
        return call.result()

    def _run_all(self, calls: Sequence[Call[T]]) -> list[T | ShinkenError]:
        if self._socket is None:
            self._core.fail_all(connection_lost("the client is closed"))
            return outcomes(calls)
        try:
            for call in calls:
                self._send(self._socket, call)
        except ConnectionClosed as cause:
            self._recover(cause)
        self._wait(calls)
        return outcomes(calls)

    def _send(self, socket: ClientConnection, call: Call[Any]) -> None:
        frame = self._core.encode(call)
        if frame is not None:
            socket.send(frame)

    def _wait(self, calls: Sequence[Call[Any]]) -> None:
        """Reads until all calls are settled, over as many connections as it takes."""
        while not all(call.done for call in calls):
            assert self._socket is not None
            try:
                self._read(self._socket)
            except ConnectionClosed as cause:
                self._recover(cause)

    def _read(self, socket: ClientConnection) -> None:
        again = self._core.receive(socket.recv())
        if again is not None:
            time.sleep(BUSY_RETRY)
            self._send(socket, again)

    def _recover(self, cause: ConnectionClosed) -> None:
        """Connects again, attaches the sessions and sends what waits; else everything that waits fails."""
        self._socket = None
        why = f"the connection closed: {cause}"
        self._core.lost(why)
        deadline = time.monotonic() + self._core.grace
        wait = FIRST_RETRY
        while self._reconnect:
            try:
                socket = self._open()
                waiting = [*self._core.pending.values()]
                self._attach_all(socket)
                for call in waiting:
                    self._send(socket, call)
                self._socket = socket
                return
            except (ConnectionClosed, ShinkenError) as error:
                self._core.lost(why)
                fatal = isinstance(error, ShinkenError) and not error.retry
                if fatal or time.monotonic() + wait > deadline:
                    break
            time.sleep(wait)
            wait = min(wait * 2, LAST_RETRY)
        self._core.fail_all(connection_lost(why))

    def _attach_all(self, socket: ClientConnection) -> None:
        attaching = [
            (state, self._core.attach(state.name, state.token)) for state in self._core.sessions.values()
        ]
        for _, call in attaching:
            self._send(socket, call)
        while not all(call.done for _, call in attaching):
            self._core.receive(socket.recv())
        for state, call in attaching:
            if call.error is not None and call.error.code == "unknown_session":
                self._core.gone(state)
            else:
                call.result()
        rejoining = [(state, self._core.rollout_again(state)) for state in self._core.rollouts.values()]
        for _, joined in rejoining:
            self._send(socket, joined)
        while not all(joined.done for _, joined in rejoining):
            self._core.receive(socket.recv())
        for rollout, joined in rejoining:
            if joined.error is not None and joined.error.code == "unknown_rollout":
                self._core.rollout_gone(rollout)
            else:
                joined.result()

    def _open(self) -> ClientConnection:
        headers = {"Authorization": f"Bearer {self._token}"} if self._token is not None else {}
        try:
            # Entered by hand: older releases of websockets connect in the call, newer ones on entering.
            socket = open_socket(
                self._url,
                additional_headers=headers,
                compression=None,
                max_size=MAX_FRAME,
                open_timeout=self._timeout,
            ).__enter__()
        except (OSError, TimeoutError, WebSocketException) as cause:
            raise not_opened(self._url, cause) from cause
        self._core.connected()
        return socket


def not_opened(url: str, cause: Exception) -> ShinkenError:
    """The error for a connection that could not be opened."""
    if isinstance(cause, ConnectionRefusedError):
        return connection_lost(f"nobody listens at {url}", suggestion="start a server: shinken serve")
    if not isinstance(cause, InvalidStatus):
        return connection_lost(f"cannot connect to {url}: {cause}")
    status = cause.response.status_code
    if status in (401, 403):
        return ShinkenError("unauthorized", f"the server at {url} wants a bearer token, and a right one")
    if status == 503:
        return ShinkenError("server_draining", f"the server at {url} takes no connections now", retry=True)
    return connection_lost(f"{url} answered with HTTP status {status}")


class Session(SessionView):
    """One episode after another on one machine."""

    def __init__(self, client: Client, state: SessionState) -> None:
        super().__init__(state)
        self._client = client

    def reset(self, *, seed: int | None = None, params: dict[str, Any] | None = None) -> ResetResult:
        """Starts an episode. The same seed gives the same machine to the bit."""
        return self._client._run(self._client._core.reset(self._state, seed, params))

    def step(
        self, actions: Action | Sequence[Action], *, decision: Mapping[str, Any] | None = None
    ) -> StepResult:
        """Does one action, or several in order.

        ``decision`` goes into the episode's bundle: what a model read and wrote for this step
        (``model``, ``input``, ``output``, ``prompt_token_ids``, ``token_ids``, ``logprobs``, ``usage``).
        """
        return self._client._run(self._client._core.step(self._state, actions, decision))

    def evaluate(self) -> Verdict:
        """Grades the present state in a throw-away fork; the episode goes on."""
        return self._client._run(self._client._core.evaluate(self._state))

    def observe(self) -> Observation:
        core = self._client._core
        call = core.call(
            "observe", lambda result: Observation.from_wire(result["observation"]), session=self.name
        )
        return self._client._run(call)

    def checkpoints(self) -> Checkpoints:
        """What the server keeps of this session's former steps."""
        return self._client._run(self._client._core.checkpoints(self._state))

    def fork(self, name: str | None = None, *, at_step: int | None = None) -> Session:
        """A second session that continues from this state, or from that after step ``at_step``."""
        return Session(self._client, self._client._run(self._client._core.fork(self._state, name, at_step)))

    def detach(self) -> float:
        """Leaves the session on the server; returns for how many seconds."""
        return self._client._run(self._client._core.detach(self._state))

    def close(self) -> None:
        """Frees the machine. Idempotent."""
        if self._state.name in self._client._core.sessions:
            self._client._run(self._client._core.close(self._state))

    def __enter__(self) -> Session:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class Episode(Session, EpisodeView):
    """A session that came out of a rollout. Closing it ends the episode and has it graded."""

    def __init__(self, client: Client, state: SessionState, pulled: Mapping[str, Any]) -> None:
        Session.__init__(self, client, state)
        EpisodeView.__init__(self, pulled)


class Rollout(RolloutView):
    """Episodes to pull. Iterating gives one after another, until there are no more."""

    def __init__(self, client: Client, state: RolloutState) -> None:
        self._client = client
        self._state = state

    def next(self, *, wait_s: float | None = None) -> Episode | None:
        """The next episode; None once there are no more.

        Raises ``no_episode_ready`` after ``wait_s`` seconds, the error of an episode that could not be begun,
        or that there is no room now; the next pull goes on behind it.
        """
        while True:
            try:
                pulled = self._client._run(self._client._core.rollout_next(self.state, wait_s))
            except ShinkenError as error:
                # What the lost reply would have given comes back to the rollout after its grace time.
                if error.code != "connection_lost" or self._client._socket is None:
                    raise
                continue
            if pulled is None:
                return None
            return Episode(self._client, self._client._core.sessions[pulled["session"]], pulled)

    def __iter__(self) -> Rollout:
        return self

    def __next__(self) -> Episode:
        episode = self.next()
        if episode is None:
            raise StopIteration
        return episode

    def set_weights(self, weights: Mapping[str, float]) -> None:
        """For the groups drawn from now on; tasks that are not named keep theirs."""
        self._client._run(self._client._core.rollout_weights(self.state, weights))

    def stats(self) -> RolloutStats:
        return self._client._run(self._client._core.rollout_stats(self.state))

    def close(self) -> None:
        """Ends it for all who pull from it, and frees its machines. Idempotent."""
        if self.state.name in self._client._core.rollouts:
            self._client._run(self._client._core.rollout_close(self.state))

    def __enter__(self) -> Rollout:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
