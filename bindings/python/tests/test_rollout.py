"""Pulling episodes from a real server, with both clients."""

from __future__ import annotations

import asyncio
import socket

import pytest
from conftest import Server

import shinken_gym
from shinken_gym import EpisodeResult, ShinkenError

SAY = {"type": "echo", "text": "hello"}
DONE = {"type": "done"}


@pytest.mark.parametrize("encoding", ["msgpack", "json"])
def test_a_loop_over_the_episodes_of_a_rollout(server: Server, encoding: str) -> None:
    with shinken_gym.connect(server.url, encoding=encoding) as client:  # type: ignore[arg-type]
        rollout = client.rollout(environment="echo", group=2, groups=3, seed=7)
        assert (rollout.seed, rollout.tasks, rollout.left_out) == (7, ("echo",), ())
        order, results = [], []
        for episode in rollout:
            assert episode.observation.instruction
            assert (episode.info["seed"], episode.attempt, episode.next_step) == (episode.seed, 1, 1)
            order.append((episode.group, episode.replica))
            assert episode.step(SAY).observation.text == "hello"
            assert episode.step(DONE).over
            episode.close()
            results += rollout.results()
        assert order == [(group, replica) for group in ("g1", "g2", "g3") for replica in (0, 1)]
        assert [(one.group, one.replica, one.steps, one.status) for one in results] == [
            (*name, 2, "ungraded") for name in order
        ]
        assert all(isinstance(one, EpisodeResult) and one.score is None for one in results)
        assert rollout.stats().done
        rollout.close()
        rollout.close()
        assert client.sessions() == []


def test_errors_of_a_rollout_name_the_field(server: Server) -> None:
    with shinken_gym.connect(server.url) as client:
        with pytest.raises(ShinkenError) as caught:
            client.rollout(environment="ecko")
        assert (caught.value.code, caught.value.path) == ("unknown_environment", "environment")
        with pytest.raises(ShinkenError) as caught:
            client.rollout(environment="echo", weights={"other": 1})
        assert (caught.value.code, caught.value.path) == ("unknown_task", "weights.other")
        with client.rollout(environment="echo", weights={"echo": 0}) as rollout:
            with pytest.raises(ShinkenError) as caught:
                rollout.next(wait_s=0.05)
            assert (caught.value.code, caught.value.retry) == ("no_episode_ready", True)
            rollout.set_weights({"echo": 2})
            assert rollout.stats().tasks["echo"]["weight"] == 2
            episode = rollout.next()
            assert episode is not None
            with pytest.raises(ShinkenError) as caught:
                episode.reset()
            assert caught.value.code == "bad_request"


def test_two_clients_pull_from_one_rollout(server: Server) -> None:
    with shinken_gym.connect(server.url) as opener, shinken_gym.connect(server.url) as worker:
        with opener.rollout(environment="echo", groups=4) as rollout:
            joined = worker.join_rollout(rollout.name, rollout.token)
            assert joined.seed == rollout.seed
            groups = []
            for pulled in (rollout, joined, rollout, joined):
                episode = pulled.next()
                assert episode is not None
                groups.append(episode.group)
                episode.step(DONE)
                episode.close()
            assert groups == ["g1", "g2", "g3", "g4"]
            assert rollout.next() is None and joined.next() is None
            # Whoever opened it hears of all; a worker of what it played.
            assert [one.group for one in rollout.results()] == groups
            assert [one.group for one in joined.results()] == ["g2", "g4"]


def test_a_broken_connection_keeps_the_episode_and_its_rollout(server: Server) -> None:
    with shinken_gym.connect(server.url) as client:
        with client.rollout(environment="echo", groups=1) as rollout:
            episode = rollout.next()
            assert episode is not None
            episode.step(SAY)
            assert client._socket is not None
            client._socket.socket.shutdown(socket.SHUT_RDWR)
            assert episode.step(DONE).step == 2
            episode.close()
            assert [one.steps for one in rollout.results()] == [2]
            assert rollout.next() is None


def test_asyncio_workers_share_a_rollout(server: Server) -> None:
    async def play() -> None:
        async with shinken_gym.connect_async(server.url) as client:
            rollout = client.rollout(environment="echo", group=4, groups=5, seed=3)
            heard: list[str] = []
            await rollout.open()
            rollout.on_event(lambda event: heard.append(event.event))
            seen: list[tuple[str, int]] = []

            async def worker() -> None:
                async for episode in rollout:
                    seen.append((episode.group, episode.replica))
                    await episode.step([SAY, DONE])
                    assert (await episode.evaluate()).status == "ungraded"
                    await episode.close()

            await asyncio.gather(*(worker() for _ in range(6)))
            assert sorted(seen) == [(f"g{group}", replica) for group in range(1, 6) for replica in range(4)]
            assert heard.count("rollout.result") == 20
            assert heard.count("rollout.group") == 5
            await rollout.close()

    asyncio.run(play())


def test_asyncio_rollouts_survive_a_broken_connection(server: Server) -> None:
    async def play() -> None:
        async with shinken_gym.connect_async(server.url) as client:
            async with client.rollout(environment="echo", weights={"echo": 0}) as rollout:
                pull = asyncio.create_task(rollout.next())
                await rollout.stats()
                assert client._socket is not None
                client._socket.transport.abort()
                await rollout.set_weights({"echo": 1})
                episode = await pull
                assert episode is not None and episode.group == "g1"
                await episode.step(DONE)
                await episode.close()

    asyncio.run(play())
