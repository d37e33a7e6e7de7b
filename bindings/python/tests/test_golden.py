"""The golden frames that the TypeScript tests read, too."""

from __future__ import annotations

import json

import pytest
from conftest import GOLDEN

from shinken_gym import Checkpoint, Checkpoints, Event, StepResult, Verdict
from shinken_gym._codec import decode, encode
from shinken_gym._core import Core, Recording
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
    if name.startswith("event-rollout."):
        assert event.data["rollout"] == "r1"
    else:
        assert event.session == "first"


@pytest.mark.parametrize(
    "value", [float("nan"), float("inf"), 2**53, -(2**53), 1e300, b"bytes", object(), {1: 2}]
)
def test_what_the_wire_cannot_carry_is_refused_by_path(value: object) -> None:
    for encoding in ("msgpack", "json"):
        with pytest.raises(ShinkenError) as caught:
            encode({"id": 1, "params": {"a": [0, value]}}, encoding)
        assert (caught.value.code, caught.value.path) == ("bad_request", "params.a[1]")


def test_checkpoints_are_asked_for_as_in_the_frames() -> None:
    core = Core("json")
    create = core.create(None, None, "echo", "second", None, 64)
    assert create.message == {
        **json.loads(text("26-create-with-checkpoints.request")),
        "id": create.message["id"],
    }
    assert core.create("task", None, None, None, None, True).message["checkpoints"] == {}
    assert "checkpoints" not in core.create("task", None, None, None, None, False).message
    state = core._adopt({"session": "first", "token": "token", "task": "echo"})
    fork = core.fork(state, "past", 1)
    assert fork.message == {**json.loads(text("27-fork-at-step.request")), "id": fork.message["id"]}
    listing = core.checkpoints(state)
    assert listing.message == {**json.loads(text("28-list-checkpoints.request")), "id": listing.message["id"]}


def test_a_recorder_is_told_as_in_the_frames() -> None:
    core = Core("json")
    labels = {"run": "r7", "group": "g3", "replica": 0}
    recording = Recording(True, labels, ["sk-0123456789"], ["DEPLOY_KEY"])
    create = core.create(None, None, "echo", "labelled", None, False, recording)
    frame = json.loads(text("29-create-with-labels.request"))
    del frame["record"]  # True is what a server does by itself.
    assert create.message == {**frame, "id": create.message["id"]}
    unrecorded = core.create(None, None, "echo", None, None, False, Recording(False)).message
    assert unrecorded["record"] is False
    assert not {"labels", "secrets"} & unrecorded.keys()
    state = core._adopt({"session": "labelled", "token": "token", "task": "echo"})
    decision = {"model": "m-1", "token_ids": [5, 7], "logprobs": [-0.25, -1.5]}
    step = core.step(state, {"type": "echo", "text": "hello"}, decision)
    assert step.message == {**json.loads(text("31-step-with-decision.request")), "id": step.message["id"]}
    assert "decision" not in core.step(state, {"type": "echo"}).message


def test_a_listing_of_checkpoints_has_their_fields() -> None:
    one = {
        "step": 3,
        "digest": "00ff",
        "delta_pages": 2,
        "delta_bytes": 8192,
        "guest_ms": 1.5,
        "instructions": 9,
    }
    wire = {"checkpoints": [one], "budget_bytes": 4096, "held_bytes": 10, "taken": 4, "dropped": 3}
    assert Checkpoints.from_wire(wire) == Checkpoints(
        (Checkpoint(3, "00ff", 2, 8192, 1.5, 9),), 4096, 10, 4, 3
    )
