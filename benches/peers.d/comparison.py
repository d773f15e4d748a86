"""The frame of every comparison in benches/: reads its sizes from the environment, runs where nothing it leaves stays, and
complains under its name."""

import os
import re
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

from measure import Failed

BENCH = Path(__file__).resolve().parents[2] / "target" / "bench"

# The script in benches/ to whose folder the running script belongs.
NAME = f"benches/{Path(sys.argv[0]).resolve().parent.stem}"


def number(name, default):
    """A whole number from the environment."""
    text = os.environ.get(name) or str(default)
    if not re.fullmatch(r"[1-9][0-9_]*", text):
        give_up(f"{name}: '{text}' is not a whole number above 0")
    return int(text.replace("_", ""))


def say(message):
    print(message, file=sys.stderr, flush=True)


def give_up(message):
    say(f"{NAME}: {message}")
    sys.exit(2)


def report(compare, *sizes):
    """The report whose lines `compare` gives. All commands run in a scratch folder, so that nothing they leave stays, and no
    path of this machine gets into the report."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # leave through the `with` that cleans up
    with tempfile.TemporaryDirectory(prefix="run-", dir=BENCH) as scratch:
        os.chdir(scratch)
        try:
            return "\n".join(compare(*sizes))
        except (Failed, subprocess.SubprocessError) as failure:
            give_up(failure)
        except KeyboardInterrupt:
            sys.exit(130)
        finally:
            os.chdir(BENCH)
