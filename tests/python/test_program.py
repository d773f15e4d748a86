"""The program in the wheel."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path

import pytest

import slotscope
from conftest import PROGRAM, run


def test_it_is_the_program() -> None:
    assert run("--version").stdout == f"slotscope {slotscope.__version__}\n"
    assert run("keyslot", "foo").stdout.split()[0].isdigit()
    assert run("analyze", "samples/hot-tag.keys", "--no-files", "--fail-on", "input.keys > 1").returncode == 1
    failed = run("analyze", "no/such.keys")
    assert (failed.returncode, failed.stderr) == (
        2,
        "slotscope: no/such.keys: no such file or directory; check the spelling and the current directory\n",
    )
    assert run("analyse").returncode == 2
    report = run("analyze", "samples/hot-tag.keys", "--json").stdout
    assert '"command":"slotscope analyze samples/hot-tag.keys --json"' in report


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_and_leaves_nothing(number: signal.Signals, tmp_path: Path) -> None:
    read, write = os.pipe()
    words = ["analyze", "-", "--out", str(tmp_path / "out")]
    program = subprocess.Popen([PROGRAM, *words], stdin=read, stderr=subprocess.PIPE, text=True)
    os.close(read)
    # More than fits into a pipe: once it is written, the scan is running.
    os.write(write, b"user:1\n" * 50_000)
    program.send_signal(number)
    assert program.wait(60) == 128 + number
    os.close(write)
    assert not (tmp_path / "out").exists()
