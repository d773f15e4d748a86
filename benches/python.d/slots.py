"""CPU time of `slotscope.slots` and of redis-py's `key_slot` for the same keys, in turn; medians."""

from __future__ import annotations

import os
import statistics
import time
from typing import Any, Callable

import numpy
import pyarrow
import pyarrow.compute
import redis.crc

import slotscope

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
    array = keys()
    objects = array.to_pylist()
    contestants: dict[str, Callable[[], Any]] = {
        "redis-py key_slot, each key": lambda: [redis.crc.key_slot(key) for key in objects],
        "slotscope.slots, list": lambda: slotscope.slots(objects),
        "slotscope.slots, Arrow": lambda: slotscope.slots(array),
        "slotscope.slots, NumPy S": (lambda fixed: lambda: slotscope.slots(fixed))(numpy.array(objects)),
    }
    times: dict[str, list[float]] = {name: [] for name in contestants}
    wanted = numpy.array(contestants["redis-py key_slot, each key"](), dtype="u2")
    for _ in range(ROUNDS):
        for name, work in contestants.items():
            seconds, slots = cpu_seconds(work)
            times[name].append(seconds)
            assert numpy.array_equal(numpy.asarray(slots, dtype="u2"), wanted), name
            del slots
    slowest = statistics.median(next(iter(times.values())))
    print(f"{KEYS:,} keys, CPU time, median of {ROUNDS} rounds")
    for name, seconds in times.items():
        median = statistics.median(seconds)
        print(f"{name:<28} {median:8.3f} s {median / KEYS * 1e9:7.1f} ns/key {slowest / median:7.1f} x")


main()
