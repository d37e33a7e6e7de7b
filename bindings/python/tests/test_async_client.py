"""The asyncio client against a real server."""

from __future__ import annotations

import asyncio

import pytest
from conftest import Server

import shinken_gym
from shinken_gym import AsyncClient, ShinkenError, StepResult

ECHO = {"type": "echo", "text": "hello"}


def cut(client: AsyncClient) -> None:
    """Breaks the connection as a fault of the network would."""
    assert client._socket is not None
    client._socket.transport.abort()


@pytest.mark.parametrize("encoding", ["msgpack", "json"])
async def test_an_episode(server: Server, encoding: str) -> None:
    async with await shinken_gym.connect_async(server.url, encoding=encoding) as client:  # type: ignore[arg-type]
        session = await client.create(environment="echo")
        assert (await session.reset(seed=3)).info["seed"] == 3
        step = await session.step(ECHO)
        assert (step.observation.text, step.step) == ("hello", 1)
        assert (await session.observe()).text == "hello"
        assert (await session.evaluate()).status == "ungraded"
        branch = await session.fork()
        assert (await branch.step({"type": "done"})).terminated
        assert not await session.cancel()
        assert len(await client.sessions()) == 2
        assert await client.tasks() == []
        await session.close()
        await session.close()


async def test_a_session_without_checkpoints_has_none_to_fork(server: Server) -> None:
    async with shinken_gym.connect_async(server.url) as client:
        with pytest.raises(ShinkenError) as caught:
            await client.create(environment="echo", checkpoints=True)
        assert (caught.value.code, caught.value.path) == ("bad_request", "checkpoints")
        session = await client.create(environment="echo")
        await session.reset()
        assert (await session.checkpoints()).checkpoints == ()
        with pytest.raises(ShinkenError) as caught:
            await session.fork("past", at_step=0)
        assert caught.value.code == "checkpoint_missing"


async def test_a_client_can_be_entered_without_being_awaited_first(server: Server) -> None:
    async with shinken_gym.connect_async(server.url) as client:
        session = await client.create(environment="echo")
        await session.reset()
    with pytest.raises(ShinkenError) as caught:
        await client.sessions()
    assert caught.value.code == "connection_lost"


async def test_calls_run_side_by_side(server: Server) -> None:
    async with await shinken_gym.connect_async(server.url) as client:
        sessions = await asyncio.gather(*(client.create(environment="echo") for _ in range(50)))
        await client.reset_all(sessions)

        async def play(session: shinken_gym.AsyncSession) -> list[int]:
            return [(await session.step(ECHO)).info["step"] for _ in range(10)]

        assert await asyncio.gather(*(play(session) for session in sessions)) == [list(range(1, 11))] * 50
        steps = await client.step_all((session, ECHO) for session in sessions)
        assert all(isinstance(step, StepResult) and step.step == 11 for step in steps)
        assert len(await client.evaluate_all(sessions)) == 50


async def test_a_broken_connection_is_replaced_and_no_step_is_done_twice(server: Server) -> None:
    async with await shinken_gym.connect_async(server.url) as client:
        sessions = await asyncio.gather(*(client.create(environment="echo") for _ in range(5)))
        await client.reset_all(sessions)
        for number in range(1, 11):
            steps = asyncio.create_task(client.step_all((session, ECHO) for session in sessions))
            if number % 2 == 0:
                await asyncio.sleep(0)
                cut(client)
            assert [step.info["step"] for step in await steps if isinstance(step, StepResult)] == [number] * 5


async def test_a_session_that_the_server_gave_up_says_so(server: Server) -> None:
    async with await shinken_gym.connect_async(server.url) as client:
        gone = await client.create(environment="echo", grace_s=0)
        kept = await client.create(environment="echo")
        await client.reset_all([gone, kept])
        cut(client)
        assert (await kept.step(ECHO)).info["step"] == 1
        with pytest.raises(ShinkenError) as caught:
            await gone.step(ECHO)
        assert caught.value.code == "unknown_session"


async def test_another_client_takes_over_and_the_first_is_told(server: Server) -> None:
    async with (
        await shinken_gym.connect_async(server.url) as one,
        await shinken_gym.connect_async(server.url) as two,
    ):
        session = await one.create(environment="echo")
        await session.reset()
        told = asyncio.Event()
        session.on_event(lambda event: told.set() if event.event == "detached" else None)
        taken = await two.attach(session.name, session.token)
        assert (await taken.step(ECHO)).step == 1
        await told.wait()


async def test_a_client_that_was_closed_says_so(server: Server) -> None:
    client = await shinken_gym.connect_async(server.url)
    session = await client.create(environment="echo")
    await client.close()
    await client.close()
    with pytest.raises(ShinkenError) as caught:
        await session.reset()
    assert caught.value.code == "connection_lost"


async def test_without_reconnecting_what_waits_fails(server: Server) -> None:
    client = await shinken_gym.connect_async(server.url, reconnect=False)
    session = await client.create(environment="echo")
    await session.reset()
    cut(client)
    with pytest.raises(ShinkenError) as caught:
        for _ in range(100):
            await session.step(ECHO)
    assert caught.value.code == "connection_lost"
    await client.close()


async def test_nobody_listens() -> None:
    with pytest.raises(ShinkenError, match=r"nobody listens at .*start a server"):
        await shinken_gym.connect_async("ws://127.0.0.1:1")
