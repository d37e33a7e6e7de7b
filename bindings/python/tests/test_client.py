"""The blocking client against a real server."""

from __future__ import annotations

import os
import socket
import threading
import time

import pytest
from conftest import Server

import shinken_gym
from shinken_gym import Client, ShinkenError, StepResult

ECHO = {"type": "echo", "text": "hello"}


def cut(client: Client) -> None:
    """Breaks the connection as a fault of the network would."""
    assert client._socket is not None
    client._socket.socket.shutdown(socket.SHUT_RDWR)


@pytest.mark.parametrize("encoding", ["msgpack", "json"])
def test_an_episode(server: Server, encoding: str) -> None:
    with shinken_gym.connect(server.url, encoding=encoding) as client:  # type: ignore[arg-type]
        assert client.server.protocol == 1
        session = client.create(environment="echo")
        first = session.reset(seed=7)
        assert first.observation.instruction
        assert first.info["seed"] == 7
        step = session.step([ECHO, {"type": "other", "text": "more"}])
        assert step.observation.text == "hello\nmore"
        assert (step.step, step.over, session.next_step) == (1, False, 2)
        assert session.observe().results[0].text == "hello"
        assert session.evaluate().status == "ungraded"
        branch = session.fork("py-branch-" + encoding)
        assert branch.step({"type": "done"}).terminated
        assert not session.step(ECHO).terminated
        assert {row.session for row in client.sessions()} == {session.name, branch.name}
        session.close()
        session.close()
        assert [row.session for row in client.sessions()] == [branch.name]
        assert client.tasks() == []


def test_a_session_without_checkpoints_has_none_to_fork(server: Server) -> None:
    with shinken_gym.connect(server.url) as client:
        with pytest.raises(ShinkenError) as caught:
            client.create(environment="echo", checkpoints=8)
        assert (caught.value.code, caught.value.path) == ("bad_request", "checkpoints")
        session = client.create(environment="echo")
        session.reset()
        assert session.checkpoints() == shinken_gym.Checkpoints((), 0, 0, 0, 0)
        with pytest.raises(ShinkenError) as caught:
            session.fork(at_step=1)
        assert (caught.value.code, caught.value.path) == ("checkpoint_missing", "at_step")


def test_errors_are_exceptions_with_code_and_suggestion(server: Server) -> None:
    with shinken_gym.connect(server.url) as client:
        session = client.create(environment="echo")
        with pytest.raises(ShinkenError) as caught:
            session.step(ECHO)
        assert (caught.value.code, caught.value.suggestion, caught.value.retry) == (
            "not_reset",
            "send reset first",
            False,
        )
        with pytest.raises(ShinkenError) as caught:
            client.create(environment="ecko")
        assert (caught.value.code, caught.value.path) == ("unknown_environment", "environment")
        assert caught.value.suggestion == 'did you mean "echo"?'
        session.reset()
        with pytest.raises(ShinkenError) as caught:
            session.step({"text": "no type"})
        assert (caught.value.code, caught.value.path) == ("bad_action", "actions[0].type")


def test_many_sessions_step_at_once_each_with_its_own_outcome(server: Server) -> None:
    with shinken_gym.connect(server.url) as client:
        sessions = [client.create(environment="echo") for _ in range(100)]
        resets = client.reset_all(sessions, seeds=range(100))
        assert [reset.info["seed"] for reset in resets if not isinstance(reset, ShinkenError)] == list(
            range(100)
        )
        steps = client.step_all(
            (session, {"text": "no type"} if index == 7 else {"type": "echo", "text": str(index)})
            for index, session in enumerate(sessions)
        )
        for index, step in enumerate(steps):
            if index == 7:
                assert isinstance(step, ShinkenError) and step.code == "bad_action"
            else:
                assert isinstance(step, StepResult) and step.observation.text == str(index)
        assert len(client.evaluate_all(sessions)) == 100


def test_a_broken_connection_is_replaced_and_no_step_is_done_twice(server: Server) -> None:
    with shinken_gym.connect(server.url) as client:
        session = client.create(environment="echo")
        other = client.create(environment="echo")
        session.reset()
        other.reset()
        for number in range(1, 11):
            if number % 2 == 0:
                cut(client)
            assert session.step(ECHO).info["step"] == number
        assert other.step(ECHO).info["step"] == 1


def test_a_step_whose_reply_was_lost_is_not_done_again(server: Server) -> None:
    with shinken_gym.connect(server.url) as client:
        session = client.create(environment="echo")
        session.reset()
        call = client._core.step(session._state, ECHO)
        assert client._socket is not None
        client._send(client._socket, call)
        time.sleep(0.2)  # the server has done the step and has sent its reply
        cut(client)
        client._wait([call])
        assert call.result().info["step"] == 1
        assert session.step(ECHO).info["step"] == 2


def test_another_client_takes_over_by_token(server: Server) -> None:
    with shinken_gym.connect(server.url) as one, shinken_gym.connect(server.url) as two:
        session = one.create(environment="echo")
        session.reset()
        session.step(ECHO)
        taken = two.attach(session.name, session.token)
        assert taken.next_step == 2
        assert taken.step(ECHO).info["step"] == 2
        one.tasks()
        assert [event.event for event in session.events()] == ["detached"]
        assert taken.detach() == 5
        again = one.attach(taken.name, taken.token)
        assert again.step(ECHO).info["step"] == 3


def test_a_session_that_the_server_gave_up_says_so(server: Server) -> None:
    with shinken_gym.connect(server.url) as client:
        gone = client.create(environment="echo", grace_s=0)
        kept = client.create(environment="echo")
        gone.reset()
        kept.reset()
        cut(client)
        assert kept.step(ECHO).info["step"] == 1
        with pytest.raises(ShinkenError) as caught:
            gone.step(ECHO)
        assert caught.value.code == "unknown_session"


def test_a_message_above_the_limit_is_refused_before_it_is_sent(server: Server) -> None:
    with shinken_gym.connect(server.url) as client:
        session = client.create(environment="echo")
        session.reset()
        with pytest.raises(ShinkenError) as caught:
            session.step({"type": "echo", "text": "x" * 5_000_000})
        assert caught.value.code == "too_large"
        assert session.step(ECHO).info["step"] == 1


def test_a_refusal_without_an_id_reaches_its_call(server: Server) -> None:
    with shinken_gym.connect(server.url) as client:
        session = client.create(environment="echo")
        session.reset()
        deep: object = 1
        for _ in range(40):
            deep = [deep]
        with pytest.raises(ShinkenError) as caught:
            session.step({"type": "echo", "deep": deep})
        assert caught.value.code == "too_large"
        assert session.step(ECHO).info["step"] == 1


def test_a_token_is_asked_for() -> None:
    token = "0123456789abcdef0123"
    guarded = Server(env={**os.environ, "SHINKEN_TOKEN": token})
    try:
        with pytest.raises(ShinkenError) as caught:
            shinken_gym.connect(guarded.url)
        assert caught.value.code == "unauthorized"
        with shinken_gym.connect(guarded.url, token=token) as client:
            assert client.tasks() == []
    finally:
        guarded.stop()


def test_a_server_that_ends_fails_what_waits() -> None:
    ending = Server("--grace", "0")
    client = shinken_gym.connect(ending.url)
    session = client.create(environment="echo")
    session.reset()
    stopper = threading.Thread(target=ending.stop)
    stopper.start()
    stopper.join()
    with pytest.raises(ShinkenError) as caught:
        session.step(ECHO)
    assert caught.value.code in ("connection_lost", "unknown_session", "server_draining")
    with pytest.raises(ShinkenError):
        client.tasks()
    client.close()


def test_nobody_listens() -> None:
    with pytest.raises(ShinkenError) as caught:
        shinken_gym.connect("ws://127.0.0.1:1")
    assert (caught.value.code, caught.value.retry) == ("connection_lost", True)
    assert str(caught.value) == (
        "connection_lost: nobody listens at ws://127.0.0.1:1/v1 (start a server: shinken serve)"
    )


def test_a_branch_is_asked_for_by_the_episode_id_and_step(server: Server) -> None:
    with shinken_gym.connect(server.url) as client:
        session = client.create(environment="echo")
        assert session.episode is None
        session.reset()
        assert session.episode is not None
        branch = session.fork()
        assert branch.episode not in (None, session.episode)
        with pytest.raises(ShinkenError) as caught:
            client.branch(session.episode, 0)
        # It was recorded without a machine.
        assert (caught.value.code, caught.value.path) == ("not_repeatable", "image")
        with pytest.raises(ShinkenError) as caught:
            client.branch("7c0dd2c6-3b4f-4c59-9d6e-0f6a4b0b7d11", 0)
        assert (caught.value.code, caught.value.path) == ("bundle_missing", "from.bundle")
        unrecorded = client.create(environment="echo", record=False)
        unrecorded.reset()
        assert unrecorded.episode is None
