"""The golden frames that the TypeScript tests read, too."""

from __future__ import annotations

import json

import pytest
from conftest import GOLDEN

from shinken_gym import Event, StepResult, Verdict
from shinken_gym._codec import decode, encode
from shinken_gym._core import Core
from shinken_gym.errors import ShinkenError

NAMES = sorted(path.stem for path in GOLDEN.glob("*.json"))


def text(name: str) -> str:
    return (GOLDEN / f"{name}.json").read_text(encoding="utf-8")


def packed(name: str) -> bytes:
    return (GOLDEN / f"{name}.msgpack").read_bytes()


def test_the_frames_are_there() -> None:
    assert len(NAMES) >= 50


@pytest.mark.parametrize("name", NAMES)
def test_both_encodings_decode_to_the_same_message(name: str) -> None:
    assert decode(packed(name)) == decode(text(name))


@pytest.mark.parametrize("name", [name for name in NAMES if name.endswith(".request")])
def test_requests_are_encoded_to_the_byte(name: str) -> None:
    message = json.loads(text(name))
    assert encode(message, "msgpack") == packed(name)
    assert encode(message, "json") == text(name)


def test_a_reply_settles_the_call_of_its_id() -> None:
    core = Core("msgpack")
    calls = {}
    for name in [name for name in NAMES if name.endswith(".request")]:
        message = decode(packed(name))
        call = core.call(message["op"], lambda result: result)
        assert call.message["id"] == message["id"]
        calls[name] = call
    for name, call in calls.items():
        reply = decode(packed(name.replace(".request", ".reply")))
        core.receive(packed(name.replace(".request", ".reply")))
        assert call.done
        if reply["ok"]:
            assert call.result() == reply["result"]
        else:
            with pytest.raises(ShinkenError) as caught:
                call.result()
            assert caught.value.code == reply["error"]["code"]
    assert not core.pending


def test_results_have_types() -> None:
    step = StepResult.from_wire(decode(packed("07-step.reply"))["result"])
    assert (step.step, step.reward, step.over) == (1, 0.0, False)
    assert step.observation.results[0].text == "grüße, 世界 🌍"
    verdict = Verdict.from_wire(decode(packed("14-evaluate.reply"))["result"]["verdict"])
    assert (verdict.status, verdict.score, verdict.passed) == ("ungraded", None, None)


@pytest.mark.parametrize("name", [name for name in NAMES if name.startswith("event-")])
def test_events_are_read(name: str) -> None:
    event = Event.from_wire(decode(packed(name)))
    assert event.event == name.removeprefix("event-")
    assert event.session == "first"


@pytest.mark.parametrize(
    "value", [float("nan"), float("inf"), 2**53, -(2**53), 1e300, b"bytes", object(), {1: 2}]
)
def test_what_the_wire_cannot_carry_is_refused_by_path(value: object) -> None:
    for encoding in ("msgpack", "json"):
        with pytest.raises(ShinkenError) as caught:
            encode({"id": 1, "params": {"a": [0, value]}}, encoding)
        assert (caught.value.code, caught.value.path) == ("bad_request", "params.a[1]")
