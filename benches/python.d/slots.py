"""CPU time of `slotscope.slots` and of redis-py's `key_slot` for the same keys, in turn; medians."""

from __future__ import annotations

import datetime
import os
import platform
import statistics
import tempfile
import time
import zipfile
from typing import Any, Callable

import numpy
import pyarrow
import pyarrow.compute
import redis.crc

import slotscope
import tables
from rows import ROOT

KEYS = int(os.environ.get("SLOTSCOPE_BENCH_KEYS", "10_000_000"))
ROUNDS = int(os.environ.get("SLOTSCOPE_BENCH_ROUNDS", "5"))


def keys() -> pyarrow.Array:
    """Keys as of a shop: most of 20 to 30 bytes, every other one with a hash tag."""
    number = numpy.arange(KEYS)
    text = pyarrow.array(number * 7919 % 1_000_003).cast(pyarrow.string())
    tagged = pyarrow.compute.binary_join_element_wise("session:{", text, "}:cart", "")
    plain = pyarrow.compute.binary_join_element_wise("catalog:product:", text, ":price", "")
    return pyarrow.compute.if_else(pyarrow.array(number % 2 == 0), tagged, plain).cast(pyarrow.binary())


def cpu_seconds(work: Callable[[], Any]) -> tuple[float, Any]:
    before = time.process_time()
    result = work()
    return time.process_time() - before, result


def main() -> None:
    load = os.getloadavg()[0]
    array = keys()
    objects = array.to_pylist()
    fixed = numpy.array(objects)
    contestants: dict[str, Callable[[], Any]] = {
        "redis-py `key_slot`, each key": lambda: [redis.crc.key_slot(key) for key in objects],
        "`slotscope.slots`, list": lambda: slotscope.slots(objects),
        "`slotscope.slots`, Arrow": lambda: slotscope.slots(array),
        "`slotscope.slots`, NumPy S": lambda: slotscope.slots(fixed),
    }
    times: dict[str, list[float]] = {name: [] for name in contestants}
    wanted = numpy.array(next(iter(contestants.values()))(), dtype="u2")
    for _ in range(ROUNDS):
        for name, work in contestants.items():
            seconds, slots = cpu_seconds(work)
            times[name].append(seconds)
            assert numpy.array_equal(numpy.asarray(slots, dtype="u2"), wanted), name
            del slots
    # Commands leave files in their working directory.
    with tempfile.TemporaryDirectory() as scratch:
        os.chdir(scratch)
        print("\n".join([*facts(load), "", *table(times)]))
        os.chdir(ROOT)


def facts(load: float) -> list[str]:
    wheel = os.environ["SLOTSCOPE_BENCH_WHEEL"]
    module = next(part for part in zipfile.ZipFile(wheel).infolist() if part.filename.endswith(".so"))
    commit = tables.first_line("git", "-C", str(ROOT), "describe", "--always", "--dirty", "--exclude=*")
    # The settings of the wheel's build, if they differ from the profile in the manifest.
    profile = [f"{name}={value}" for name, value in sorted(os.environ.items()) if name.startswith("CARGO_PROFILE_DIST_")]
    built = f", the wheel built with {' '.join(profile)}" if profile else ""
    return [
        f"# Slots in Python: {tables.cpu_model()}",
        "",
        f"- {datetime.date.today()}: `SLOTSCOPE_BENCH_KEYS={KEYS} SLOTSCOPE_BENCH_ROUNDS={ROUNDS} benches/python`",
        f"- {tables.cpu_model()}, {os.cpu_count()} cores, load {load:.1f} at the start",
        f"- slotscope {slotscope.__version__} at {commit}{built}; redis-py {redis.__version__}, Python {platform.python_version()}",
        f"- {KEYS:,} keys in memory, medians of the rounds, one thread; all give the same slots",
        f"- the wheel has {os.path.getsize(wheel):,} bytes, its module {module.file_size:,}",
    ]


def table(times: dict[str, list[float]]) -> list[str]:
    slowest = statistics.median(next(iter(times.values())))
    lines = ["| | user+sys s | min..max | ns/key | times redis-py |", "|---|--:|--:|--:|--:|"]
    for name, seconds in times.items():
        median = statistics.median(seconds)
        span = f"{min(seconds):.3f}..{max(seconds):.3f}"
        lines.append(f"| {name} | {median:.3f} | {span} | {median / KEYS * 1e9:.1f} | {slowest / median:.1f} |")
    return lines


main()
