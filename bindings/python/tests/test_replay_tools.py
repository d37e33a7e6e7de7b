"""Bundles in the hands of the public mcap package alone: it seeks by the times of chunks."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import ROOT
from mcap.reader import SeekingReader, make_reader

FOLDER = ROOT / "test" / "conformance" / "skn" / "golden" / "bundles"
# The made-up older version has no summary to seek by.
BUNDLES = sorted(path for path in FOLDER.glob("[!.]*.skn") if path.stem != "version-0")


@pytest.mark.parametrize("path", BUNDLES, ids=lambda path: path.stem)
def test_messages_are_found_by_time_and_topic(path: Path) -> None:
    with path.open("rb") as stream:
        reader = make_reader(stream, validate_crcs=True)
        assert isinstance(reader, SeekingReader)
        every = [(channel.topic, message) for _, channel, message in reader.iter_messages()]
        summary = reader.get_summary()
        assert summary is not None and summary.statistics is not None
        assert summary.statistics.message_count == len(every)
        for at in {message.log_time for _, message in every[:: max(1, len(every) // 4)]}:
            later = [message for _, _, message in reader.iter_messages(start_time=at)]
            assert later == [message for _, message in every if message.log_time >= at]
            for topic in {topic for topic, _ in every}:
                found = [m for _, _, m in reader.iter_messages(topics=[topic], start_time=at)]
                assert found == [m for name, m in every if name == topic and m.log_time >= at]
