"""The scorer in Python gives the verdicts of the corpus that holds the one in TypeScript."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from shinken_gym.errors import ShinkenError
from shinken_gym.smolcua import grade, grade_lines

CORPUS = Path(__file__).parents[3] / "test" / "smolcua" / "corpus.jsonl"
LINES = [json.loads(line) for line in CORPUS.read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize("line", LINES, ids=[line["id"] for line in LINES])
def test_a_line_of_the_corpus_has_its_verdict(line: dict) -> None:
    found = grade(line["contract"], line["key"], line["answer"])
    assert (found.correct, found.reason, found.correct_without_fence) == (
        line["correct"],
        line["reason"],
        line["correct_without_fence"],
    )


def test_an_answer_is_bounded_before_anything_is_read() -> None:
    literal = {"kind": "literal"}
    assert grade(literal, "x", "x" * 65_537).reason == "too_long"
    assert grade(literal, "x", " " * 65_535 + "x").correct
    assert grade(literal, "x", "\U0001f600" * 32_768).reason == "wrong_value"
    assert grade(literal, "x", "\U0001f600" * 32_769).reason == "too_long"
    number = {"kind": "json", "type": "array"}
    assert grade(number, [1], "[" + "1" * 60_000 + "]").reason == "wrong_value"
    assert grade(number, [1], "[1e" + "1" * 60_000 + "]").reason == "wrong_value"


def test_a_contract_of_no_kind_is_refused_with_its_place() -> None:
    with pytest.raises(ShinkenError) as refused:
        grade({"kind": "lettre"}, "A", "A")
    assert (refused.value.code, refused.value.path) == ("bad_request", "contract.kind")
    with pytest.raises(ShinkenError) as lacking:
        grade({"kind": "tsv", "rows": 1}, [["a"]], "a")
    assert lacking.value.path == "contract.columns"
    with pytest.raises(ShinkenError) as broken:
        list(grade_lines(["", '{"id":"a"}']))
    assert broken.value.path == "line 2"


def test_the_command_reads_lines_and_prints_lines() -> None:
    line = {"id": "q", "contract": {"kind": "letter", "letters": "AB"}, "key": "A", "answer": "```\nA\n```"}
    done = subprocess.run(
        [sys.executable, "-m", "shinken_gym.smolcua"],
        input=json.dumps(line),
        capture_output=True,
        text=True,
        check=True,
    )
    expected = {"id": "q", "correct": False, "reason": "code_fence", "correct_without_fence": True}
    assert json.loads(done.stdout) == expected
