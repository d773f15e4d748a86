"""Runs a command and tells what it took, as the system counted it."""

import os
import signal
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

# A command that takes longer is killed.
COMMAND_SECS = 300

LAUNCH = [sys.executable, "-I", "-S", str(Path(__file__).parent / "launch.py")]


class Failed(Exception):
    """A command that failed, took too long or answered wrong."""


@dataclass
class Run:
    """Seconds, user and system seconds, the most memory held by the command or a child of it, what it printed."""

    wall: float
    cpu: float
    peak_mib: float
    output: str


def measure(command):
    """Runs `command` in the current directory. Raises Failed with the last lines of its errors."""
    program = os.path.basename(command[0])
    # Not /dev/null: grep would then stop at the first match.
    with tempfile.TemporaryFile(dir=".") as output, tempfile.TemporaryFile(dir=".") as errors:
        # In its own session, so that a whole pipeline can be killed.
        child = subprocess.Popen([*LAUNCH, *command], stdin=subprocess.DEVNULL, stdout=output, stderr=errors,
                                 env={**os.environ, "LC_ALL": "C"}, start_new_session=True)
        try:
            status = child.wait(COMMAND_SECS)
        except BaseException as reason:  # interrupted, it would continue
            os.killpg(child.pid, signal.SIGKILL)
            child.wait()
            if isinstance(reason, subprocess.TimeoutExpired):
                raise Failed(f"{program} took more than {COMMAND_SECS} s") from None
            raise
        if status != 0:
            errors.seek(0)
            last = errors.read().decode(errors="replace").split("\n")[-6:]
            raise Failed(f"{program} ended with {status}: {' '.join(' '.join(last).split())}")
        output.seek(0)
        wall, cpu, peak_kib = map(float, Path("took").read_text().split())
        return Run(wall, cpu, peak_kib / 1024, output.read().decode())


def read_through(path):
    """Reads a file, so that it is in the page cache."""
    buffer = bytearray(1 << 20)
    with open(path, "rb", buffering=0) as file:
        while file.readinto(buffer):
            pass
