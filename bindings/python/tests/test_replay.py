"""The conformance folder of bundles that the TypeScript tests read, too."""

from __future__ import annotations

import base64
import json
import math
import shutil
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT

from shinken_gym import ShinkenError
from shinken_gym._skn import schema
from shinken_gym.replay import (
    BlobRef,
    Bundle,
    BundleStep,
    TextDelta,
    UnknownExtension,
    is_foreign,
    read_bundle,
    read_events,
)

FOLDER = ROOT / "test" / "conformance" / "skn" / "golden"
NAMES = sorted(path.stem for path in (FOLDER / "bundles").glob("[!.]*.skn"))
HOSTILE: dict[str, str] = json.loads((FOLDER / "hostile.json").read_text())


def number(text: str) -> float:
    """JSON's numbers are doubles to the other reader: a long row of digits is not exact."""
    return int(text) if abs(int(text)) < 2**53 else float(text)


def tagged(value: Any) -> Any:
    """Values as the expected files have them: what JSON cannot say in a tagged form."""
    if isinstance(value, bytes):
        return {"$bytes": base64.b64encode(value).decode()}
    if isinstance(value, UnknownExtension):
        return {"$extension": value.type, "data": base64.b64encode(value.data).decode()}
    if isinstance(value, float) and not math.isfinite(value):
        return {"$number": "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"}
    if isinstance(value, list):
        return [tagged(item) for item in value]
    if isinstance(value, dict):
        return {key: tagged(item) for key, item in value.items()}
    return value


def reading(path: Path) -> dict[str, Any]:
    events: list[Any] = []
    try:
        reader = read_events(path)
        for event in reader:
            events.append(tagged(event))
    except ShinkenError as error:
        return {"events": events, "error": error.code}
    assert reader.end is not None
    return {"events": events, "end": vars(reader.end)}


def outline(path: Path) -> dict[str, Any]:
    def name(event: dict[str, Any]) -> Any:
        return f"{event['channel']} {event['seq']}" if is_foreign(event) else event["seq"]

    def step(one: BundleStep) -> dict[str, Any]:
        return {
            "step": one.step,
            "actions": [name(event) for event in one.actions],
            "observation": None if one.observation is None else name(one.observation),
            "rewards": [name(event) for event in one.rewards],
            "decisions": [name(event) for event in one.decisions],
            "snapshot": None if one.snapshot is None else name(one.snapshot),
            "others": [name(event) for event in one.others],
        }

    try:
        bundle: Bundle = read_bundle(path)
    except ShinkenError as error:
        return {"error": error.code}
    return {
        "session": name(bundle.session),
        "start": step(bundle.start),
        "steps": [step(one) for one in bundle.steps],
        "verdicts": [name(event) for event in bundle.verdicts],
    }


def expected(path: Path) -> dict[str, Any]:
    return {**reading(path), "bundle": outline(path)}


def test_the_bundles_are_there() -> None:
    assert len(NAMES) >= 12
    assert len(HOSTILE) >= 60


@pytest.mark.parametrize("name", NAMES)
def test_a_bundle_reads_as_in_typescript(name: str) -> None:
    text = (FOLDER / "expected" / f"{name}.json").read_text(encoding="utf-8")
    wanted = json.loads(text, parse_int=number)
    assert expected(FOLDER / "bundles" / f"{name}.skn") == wanted


@pytest.mark.parametrize("name", ["deltas", "blobs"])
def test_the_release_of_version_1_reads_as_it_did(name: str) -> None:
    released = FOLDER / "version-1"
    wanted = json.loads((released / "expected" / f"{name}.json").read_text(encoding="utf-8"))
    assert expected(released / "bundles" / f"{name}.skn") == wanted


@pytest.mark.parametrize("name,code", HOSTILE.items())
def test_a_hostile_file_is_refused_with_the_same_code(name: str, code: str) -> None:
    assert reading(FOLDER / "hostile" / f"{name}.skn").get("error") == code


def test_a_file_that_was_cut_off_reads_as_the_same_prefix(tmp_path: Path) -> None:
    wanted = json.loads((FOLDER / "cuts.json").read_text())
    whole = (FOLDER / "bundles" / f"{wanted['file']}.skn").read_bytes()
    path = tmp_path / "cut" / "cut.skn"
    path.parent.mkdir()
    for cut in wanted["cuts"]:
        path.write_bytes(whole[: cut["bytes"]])
        found = reading(path)
        ending = {"error": found["error"]} if "error" in found else {"finished": found["end"]["finished"]}
        assert {"bytes": cut["bytes"], "events": len(found["events"]), **ending} == cut


@pytest.mark.parametrize("name", ["graded", "empty", "version-0"])
def test_any_single_flipped_bit_is_refused(name: str, tmp_path: Path) -> None:
    whole = (FOLDER / "bundles" / f"{name}.skn").read_bytes()
    path = tmp_path / "bundles" / "flipped.skn"
    path.parent.mkdir()
    bits = len(whole) * 8
    for bit in range(bits):
        if 600 <= bit < bits - 500 and bit % 499:
            continue
        flipped = bytearray(whole)
        flipped[bit >> 3] ^= 1 << (bit & 7)
        path.write_bytes(flipped)
        assert (bit, reading(path).get("error")) == (bit, "bad_bundle")


def test_content_and_changes_stay_as_they_are_in_the_file_if_that_is_asked_for() -> None:
    texts = [
        result["text"]
        for event in read_events(FOLDER / "bundles" / "blobs.skn", blobs=False)
        if event["channel"] == "observation"
        for result in event["observation"]["results"]
        if "text" in result
    ]
    assert {type(text) for text in texts} == {str, BlobRef, TextDelta}


def test_a_bundle_may_lie_beside_its_blobs(tmp_path: Path) -> None:
    shutil.copy(FOLDER / "bundles" / "blobs.skn", tmp_path)
    with pytest.raises(ShinkenError) as caught:
        read_bundle(tmp_path / "blobs.skn")
    assert caught.value.code == "blob_missing"
    shutil.copytree(FOLDER / "blobs", tmp_path / "blobs")
    assert len(read_bundle(tmp_path / "blobs.skn").steps) == 4
    (tmp_path / "far" / "away").mkdir(parents=True)
    moved = shutil.move(tmp_path / "blobs.skn", tmp_path / "far" / "away" / "blobs.skn")
    assert len(read_bundle(moved, folder=tmp_path).steps) == 4


@pytest.mark.parametrize("place", ["none.skn", "."])
def test_what_is_no_file_is_a_missing_bundle(place: str, tmp_path: Path) -> None:
    with pytest.raises(ShinkenError) as caught:
        read_bundle(tmp_path / place)
    assert caught.value.code == "bundle_missing"


def test_the_schemas_are_those_of_the_documentation() -> None:
    folder = ROOT / "docs" / "skn" / "schemas"
    documented = {path.stem: json.loads(path.read_text()) for path in folder.glob("*.json")}
    assert schema.schemas() == documented
