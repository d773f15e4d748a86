"""Shared parts of the tests, which run in the root of the repository, next to the samples."""

from __future__ import annotations

import json
import os
import pathlib
import signal
import subprocess
import sys
from typing import Any

import pytest

ROOT = pathlib.Path(__file__).parents[2]
PROGRAM = pathlib.Path(sys.executable).with_name("slotscope")

# Programs ignore the signals that their parent ignores, as under `nohup` or `&`; a handler they do not inherit.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True)
def in_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)


def run(*words: str, **more: Any) -> subprocess.CompletedProcess[str]:
    """The program in the wheel."""
    return subprocess.run([PROGRAM, *words], capture_output=True, text=True, check=False, **more)


def of_program(*words: str) -> dict[str, Any]:
    """The JSON that the program prints, without the parts that vary from run to run."""
    done = run(*words, "--json")
    assert done.returncode == 0, done.stderr
    return comparable(json.loads(done.stdout))


def comparable(report: dict[str, Any]) -> dict[str, Any]:
    return {part: value for part, value in report.items() if part != "run"}


def samples() -> list[str]:
    return sorted(str(path.relative_to(ROOT)) for path in (ROOT / "samples").iterdir() if path.is_file())


os.environ.pop("SLOTSCOPE_KERNEL", None)
