"""A real server with echo sessions, started once for all tests."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
GOLDEN = ROOT / "test" / "protocol" / "golden"


class Server:
    """``bin/shinken serve`` in a process of its own; it ends when its standard input does."""

    def __init__(self, *arguments: str, env: dict[str, str] | None = None) -> None:
        node = shutil.which("node")
        assert node is not None, "node is not on PATH"
        self.process = subprocess.Popen(
            [
                *(
                    node,
                    str(ROOT / "bin" / "shinken"),
                    "serve",
                    "--port",
                    "0",
                    "--json",
                    "--log-level",
                    "error",
                ),
                *("--drain", "0", "--stop-with-stdin", *arguments),
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=env,
        )
        assert self.process.stdout is not None
        first = self.process.stdout.readline()
        assert first, f"the server ended with {self.process.wait()}"
        said = json.loads(first)
        self.url: str = said["url"]
        self.pid: int = said["pid"]

    def stop(self) -> int:
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.close()
        self.process.stdout.close()
        return self.process.wait(timeout=30)


@pytest.fixture(scope="session", autouse=True)
def state_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Servers record: into a folder of the tests, never the user's."""
    before = os.environ.get("SHINKEN_STATE")
    if before is None:
        os.environ["SHINKEN_STATE"] = str(tmp_path_factory.mktemp("state"))
    yield
    if before is None:
        del os.environ["SHINKEN_STATE"]


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    running = Server("--grace", "5")
    yield running
    running.stop()
