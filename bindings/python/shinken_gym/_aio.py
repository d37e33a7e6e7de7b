"""The asyncio client: the same shape as the blocking one, with any number of calls at a time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from types import TracebackType
from typing import Any, Literal, TypeVar

from websockets.asyncio.client import ClientConnection
from websockets.asyncio.client import connect as open_socket
from websockets.exceptions import ConnectionClosed, WebSocketException

from . import _codec
from ._client import not_opened
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


def connect_async(
    url: str,
    *,
    token: str | None = None,
    encoding: _codec.Encoding = "msgpack",
    reconnect: bool = True,
    timeout: float = 10.0,
) -> Connecting:
    """Connects to a server, e.g. ``ws://127.0.0.1:8080``: await it, or enter it with ``async with``.

    ``timeout``: seconds for one attempt to connect.
    """
    return Connecting(AsyncClient(url, token=token, encoding=encoding, reconnect=reconnect, timeout=timeout))


class Connecting:
    """A client on its way: ``await`` gives it connected, ``async with`` also closes it."""

    def __init__(self, client: AsyncClient) -> None:
        self._client = client

    def __await__(self) -> Generator[Any, None, AsyncClient]:
        return self._opened().__await__()

    async def __aenter__(self) -> AsyncClient:
        return await self._client.__aenter__()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._client.__aexit__(kind, error, trace)

    async def _opened(self) -> AsyncClient:
        await self._client.open()
        return self._client


class AsyncClient:
    """One connection and the sessions that it holds. Use it in an ``async with`` statement, or close it."""

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
        self._socket: ClientConnection | None = None
        #: Sessions are attached on the present connection, so calls may be sent.
        self._ready = False
        self._closed = False
        self._reader: asyncio.Task[None] | None = None
        self._sends: set[asyncio.Task[None]] = set()

    async def open(self) -> None:
        """Called on awaiting ``connect_async`` and on entering ``async with``."""
        if self._reader is not None:
            return
        self._socket = await self._open()
        self._ready = True
        self._reader = asyncio.create_task(self._read())
        try:
            await self._run(self._core.hello())
        except BaseException:
            await self.close()
            raise

    @property
    def server(self) -> ServerInfo:
        """What the server said of itself."""
        assert self._core.server is not None
        return self._core.server

    async def create(
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
    ) -> AsyncSession:
        """A session of a task, of a plain image, or of a built-in environment: give exactly one.

        With ``checkpoints`` the server keeps the state after the reset and after each step, for
        ``fork(at_step=...)``: in so many MiB, or, if True, in as many as it does by itself.

        The server keeps a bundle of each episode unless ``record`` is False. ``labels`` (at most 16) are
        what it says of the episode: run, group, replica, model. ``secrets`` are values, and
        ``secret_variables`` names of environment variables, that must not be in it.
        """
        return AsyncSession(
            self,
            await self._run(
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

    async def branch(
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
    ) -> AsyncSession:
        """A session that goes on from a step of an episode that the server has recorded.

        ``bundle`` is the episode's id, ``step`` the last one that is kept (0: the reset). The server runs
        the episode again up to there, which takes its time; the next step is the one after. The rest is
        as for ``create``.
        """
        return AsyncSession(
            self,
            await self._run(
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

    async def attach(self, session: str, token: str) -> AsyncSession:
        """Takes over a session that was detached, or that another connection holds."""
        return AsyncSession(self, await self._run(self._core.attach(session, token)))

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
    ) -> AsyncRollout:
        """Episodes to pull, forked and reset already: ``async for e in client.rollout("all", group=8)``.

        Give ``tasks`` or an ``environment`` without machines. ``group`` replicas share a task, its parameters
        and its golden; ``groups`` is how many there are in all, endless if None. ``stragglers`` says what
        becomes of replicas that are not through ``after_s`` seconds after ``quorum`` of their group are;
        ``warm`` bounds how many episodes wait ready. docs/protocol.md (``rollout.open``) explains each.
        It is opened by the first pull, by ``open`` or by ``async with``.
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
        return AsyncRollout(self, lambda: self._core.rollout_open(fields))

    async def join_rollout(self, rollout: str, token: str, *, events: bool = False) -> AsyncRollout:
        """Pulls from a rollout that another client has opened; with ``events`` it is told everything, too."""
        fields = {"rollout": rollout, "events": events}
        return await AsyncRollout(self, lambda: self._core.rollout_open(fields, token)).open()

    async def tasks(self) -> list[TaskInfo]:
        call = self._core.call(
            "list", lambda result: [TaskInfo.from_wire(row) for row in result["tasks"]], what="tasks"
        )
        return await self._run(call)

    async def sessions(self) -> list[SessionInfo]:
        """Sessions that this connection holds."""
        call = self._core.call(
            "list", lambda result: [SessionInfo.from_wire(row) for row in result["sessions"]], what="sessions"
        )
        return await self._run(call)

    async def step_all(
        self, steps: Iterable[tuple[AsyncSession, Action | Sequence[Action]]]
    ) -> list[StepResult | ShinkenError]:
        """Steps many sessions at once; results in the same order, a failed step as its error."""
        return await self._run_all([self._core.step(session._state, actions) for session, actions in steps])

    async def reset_all(
        self, sessions: Iterable[AsyncSession], seeds: Iterable[int | None] | None = None
    ) -> list[ResetResult | ShinkenError]:
        """Resets many sessions at once."""
        listed = [*sessions]
        chosen = [*seeds] if seeds is not None else [None] * len(listed)
        return await self._run_all(
            [
                self._core.reset(session._state, seed, None)
                for session, seed in zip(listed, chosen, strict=True)
            ]
        )

    async def evaluate_all(self, sessions: Iterable[AsyncSession]) -> list[Verdict | ShinkenError]:
        """Grades many sessions at once."""
        return await self._run_all([self._core.evaluate(session._state) for session in sessions])

    async def close(self) -> None:
        """Closes the connection; sessions that are still open live on for their grace time. Idempotent."""
        self._closed = True
        self._ready = False
        self._core.fail_all(connection_lost("the client is closed"))
        socket, self._socket = self._socket, None
        if socket is not None:
            await socket.close()
        if self._reader is not None and self._reader is not asyncio.current_task():
            self._reader.cancel()
            await asyncio.gather(self._reader, return_exceptions=True)

    async def __aenter__(self) -> AsyncClient:
        await self.open()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Closes the sessions, then the connection."""
        try:
            if not self._closed:
                await self._run_all([self._core.close(state) for state in [*self._core.sessions.values()]])
        finally:
            await self.close()

    # --- inside

    async def _run(self, call: Call[T]) -> T:
        await self._run_all([call])
        return call.result()

    async def _run_all(self, calls: Sequence[Call[T]]) -> list[T | ShinkenError]:
        if self._closed:
            self._core.fail_all(connection_lost("the client is closed"))
            return outcomes(calls)
        settled = [asyncio.Event() for _ in calls]
        for call, event in zip(calls, settled, strict=True):
            call.notify = event.set
        if self._ready and self._socket is not None:
            await self._send_all(self._socket, calls)
        for event in settled:
            await event.wait()
        return outcomes(calls)

    async def _send_all(self, socket: ClientConnection, calls: Iterable[Call[Any]]) -> None:
        """A broken connection is the reader's business: it sends again what has to be."""
        try:
            for call in calls:
                if not call.done:
                    frame = self._core.encode(call)
                    if frame is not None:
                        await socket.send(frame)
        except ConnectionClosed:
            pass

    async def _read(self) -> None:
        """Takes frames in as long as there is a connection to be had."""
        while self._socket is not None:
            socket = self._socket
            try:
                again = self._core.receive(await socket.recv())
            except ConnectionClosed as cause:
                await self._recover(cause)
                continue
            if again is not None:
                task = asyncio.create_task(self._send_later(socket, again))
                self._sends.add(task)
                task.add_done_callback(self._sends.discard)

    async def _send_later(self, socket: ClientConnection, call: Call[Any]) -> None:
        await asyncio.sleep(BUSY_RETRY)
        if self._socket is socket:
            await self._send_all(socket, [call])

    async def _recover(self, cause: ConnectionClosed) -> None:
        """Connects again, attaches the sessions and sends what waits; else everything that waits fails."""
        self._socket = None
        self._ready = False
        why = f"the connection closed: {cause}"
        self._core.lost(why)
        loop = asyncio.get_running_loop()
        deadline = loop.time() + self._core.grace
        wait = FIRST_RETRY
        while self._reconnect and not self._closed:
            try:
                socket = await self._open()
                await self._attach_all(socket)
                self._socket = socket
                self._ready = True
                await self._send_all(socket, [*self._core.pending.values()])
                return
            except (ConnectionClosed, ShinkenError) as error:
                self._core.lost(why)
                fatal = isinstance(error, ShinkenError) and not error.retry
                if fatal or loop.time() + wait > deadline:
                    break
            await asyncio.sleep(wait)
            wait = min(wait * 2, LAST_RETRY)
        self._closed = True
        self._core.fail_all(connection_lost(why))

    async def _attach_all(self, socket: ClientConnection) -> None:
        attaching = [
            (state, self._core.attach(state.name, state.token)) for state in self._core.sessions.values()
        ]
        for _, call in attaching:
            frame = self._core.encode(call)
            if frame is not None:
                await socket.send(frame)
        while not all(call.done for _, call in attaching):
            self._core.receive(await socket.recv())
        for state, call in attaching:
            if call.error is not None and call.error.code == "unknown_session":
                self._core.gone(state)
            else:
                call.result()
        rejoining = [(state, self._core.rollout_again(state)) for state in self._core.rollouts.values()]
        for _, joined in rejoining:
            frame = self._core.encode(joined)
            if frame is not None:
                await socket.send(frame)
        while not all(joined.done for _, joined in rejoining):
            self._core.receive(await socket.recv())
        for rollout, joined in rejoining:
            if joined.error is not None and joined.error.code == "unknown_rollout":
                self._core.rollout_gone(rollout)
            else:
                joined.result()

    async def _open(self) -> ClientConnection:
        headers = {"Authorization": f"Bearer {self._token}"} if self._token is not None else {}
        try:
            socket = await open_socket(
                self._url,
                additional_headers=headers,
                compression=None,
                max_size=MAX_FRAME,
                open_timeout=self._timeout,
            )
        except (OSError, TimeoutError, WebSocketException) as cause:
            raise not_opened(self._url, cause) from cause
        self._core.connected()
        return socket


class AsyncSession(SessionView):
    """One episode after another on one machine."""

    def __init__(self, client: AsyncClient, state: SessionState) -> None:
        super().__init__(state)
        self._client = client

    async def reset(self, *, seed: int | None = None, params: dict[str, Any] | None = None) -> ResetResult:
        """Starts an episode. The same seed gives the same machine to the bit."""
        return await self._client._run(self._client._core.reset(self._state, seed, params))

    async def step(
        self, actions: Action | Sequence[Action], *, decision: Mapping[str, Any] | None = None
    ) -> StepResult:
        """Does one action, or several in order.

        ``decision`` goes into the episode's bundle: what a model read and wrote for this step
        (``model``, ``input``, ``output``, ``prompt_token_ids``, ``token_ids``, ``logprobs``, ``usage``).
        """
        return await self._client._run(self._client._core.step(self._state, actions, decision))

    async def evaluate(self) -> Verdict:
        """Grades the present state in a throw-away fork; the episode goes on."""
        return await self._client._run(self._client._core.evaluate(self._state))

    async def observe(self) -> Observation:
        core = self._client._core
        call = core.call(
            "observe", lambda result: Observation.from_wire(result["observation"]), session=self.name
        )
        return await self._client._run(call)

    async def checkpoints(self) -> Checkpoints:
        """What the server keeps of this session's former steps."""
        return await self._client._run(self._client._core.checkpoints(self._state))

    async def fork(self, name: str | None = None, *, at_step: int | None = None) -> AsyncSession:
        """A second session that continues from this state, or from that after step ``at_step``."""
        return AsyncSession(
            self._client, await self._client._run(self._client._core.fork(self._state, name, at_step))
        )

    async def cancel(self) -> bool:
        """Asks what is running to stop; that call then raises ``cancelled``. False if nothing was running."""
        core = self._client._core
        return await self._client._run(
            core.call("cancel", lambda result: bool(result["cancelled"]), session=self.name)
        )

    async def detach(self) -> float:
        """Leaves the session on the server; returns for how many seconds."""
        return await self._client._run(self._client._core.detach(self._state))

    async def close(self) -> None:
        """Frees the machine. Idempotent."""
        if self._state.name in self._client._core.sessions:
            await self._client._run(self._client._core.close(self._state))

    async def __aenter__(self) -> AsyncSession:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()


class AsyncEpisode(AsyncSession, EpisodeView):
    """A session that came out of a rollout. Closing it ends the episode and has it graded."""

    def __init__(self, client: AsyncClient, state: SessionState, pulled: Mapping[str, Any]) -> None:
        AsyncSession.__init__(self, client, state)
        EpisodeView.__init__(self, pulled)


class AsyncRollout(RolloutView):
    """Episodes to pull, by any number of tasks at a time; iterating gives one after another."""

    def __init__(self, client: AsyncClient, start: Callable[[], Call[RolloutState]]) -> None:
        self._client = client
        self._start = start
        self._state: RolloutState | None = None
        self._opening = asyncio.Lock()

    async def open(self) -> AsyncRollout:
        """Opens it on the server; the first pull does that by itself."""
        async with self._opening:
            if self._state is None:
                self._state = await self._client._run(self._start())
        return self

    async def next(self, *, wait_s: float | None = None) -> AsyncEpisode | None:
        """The next episode; None once there are no more.

        Raises ``no_episode_ready`` after ``wait_s`` seconds, the error of an episode that could not be begun,
        or that there is no room now; the next pull goes on behind it.
        """
        await self.open()
        while True:
            try:
                pulled = await self._client._run(self._client._core.rollout_next(self.state, wait_s))
            except ShinkenError as error:
                # What the lost reply would have given comes back to the rollout after its grace time.
                if error.code != "connection_lost" or self._client._closed or not self._client._reconnect:
                    raise
                continue
            if pulled is None:
                return None
            return AsyncEpisode(self._client, self._client._core.sessions[pulled["session"]], pulled)

    def __aiter__(self) -> AsyncRollout:
        return self

    async def __anext__(self) -> AsyncEpisode:
        episode = await self.next()
        if episode is None:
            raise StopAsyncIteration
        return episode

    async def set_weights(self, weights: Mapping[str, float]) -> None:
        """For the groups drawn from now on; tasks that are not named keep theirs."""
        await self.open()
        await self._client._run(self._client._core.rollout_weights(self.state, weights))

    async def stats(self) -> RolloutStats:
        await self.open()
        return await self._client._run(self._client._core.rollout_stats(self.state))

    async def close(self) -> None:
        """Ends it for all who pull from it, and frees its machines. Idempotent."""
        if self._state is not None and self._state.name in self._client._core.rollouts:
            await self._client._run(self._client._core.rollout_close(self._state))

    async def __aenter__(self) -> AsyncRollout:
        return await self.open()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()
