"""The contestants: what each runs, on which dump, and the answer that it must give before it is timed."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Callable, Optional

from comparison import BENCH
from measure import COMMAND_SECS, Failed, measure

ROOT = Path(__file__).resolve().parents[2]
SLOTSCOPE = os.environ.get("SLOTSCOPE_BENCH_PROGRAM") or str(ROOT / "target" / "release" / "slotscope")

# Ways to run slotscope: what a row of it finds, and its options.
ONLY_SLOTS = ["--only", "slots"]
WAYS = {
    "`--only slots`": ("slots", ONLY_SLOTS),
    "`--one-pass --depth 0`": ("slots, tags within bounds", ["--one-pass", "--depth", "0"]),
    "`--depth 0`": ("slots, tags", ["--depth", "0"]),
    "default": ("slots, tags, patterns, prefixes", []),
}
# Their wall time over that of wc -l, which is to be reached with 2 threads, by the kernel.
LIMITS = {"avx512": [1.4, 2.4, 2.8, 5.0], "avx2": [1.8, 3.2, 4.0, 7.0]}

# What peers that run on one core, or nearly, read in a second or two.
REDIS_KEYS, GREP_KEYS = 500_000, 5_000_000


@dataclass
class Row:
    """One contestant. `read` turns its output into an answer, which must equal `expected`."""

    name: str
    finds: str
    command: list
    keys: int
    read: Callable
    expected: object
    checked: Optional[list] = None  # the command that shows the answer, where the timed one does not
    limit: Optional[float] = None   # most times the wall time of wc -l
    self_timed: bool = False        # it prints what it took, see answer.py
    rounds: int = 0
    runs: list = field(default_factory=list)

    def check(self):
        """Runs it once and compares the answer; returns the seconds that this took."""
        run = measure(self.checked or self.command)
        if self.read(run.output) != self.expected:
            raise Failed(f"its answer is not the expected one: {run.output[:80]!r}")
        return run.wall

    def run(self):
        """Runs it once and keeps what that took."""
        run = measure(self.command)
        if self.self_timed:
            answer = json.loads(run.output)
            run.wall, run.cpu = answer["wall"], answer["cpu"]
        self.runs.append(run)

    def wall(self):
        return median(run.wall for run in self.runs)

    def peak_mib(self):
        return max(run.peak_mib for run in self.runs)


def dump(keys):
    """The path of the dump of so many keys, which is made unless it is there as this build would make it.

    It is relative, so that it needs no quotes in SQL and in a shell."""
    path = BENCH / f"commerce-{keys}.keys"
    generate = [SLOTSCOPE, "generate", "--profile", "commerce", "--keys", str(keys)]
    try:
        if path.exists():
            with subprocess.Popen(generate, stdout=subprocess.PIPE) as made:
                same = subprocess.run(["cmp", "--silent", "-", path], stdin=made.stdout, timeout=COMMAND_SECS)
            if same.returncode == 0:
                return os.path.relpath(path)
        print(f"making a dump of {keys:,} keys", file=sys.stderr)
        with open("new.keys", "wb") as new:
            subprocess.run(generate, stdout=new, check=True, timeout=COMMAND_SECS)
        os.replace("new.keys", path)
    except (OSError, subprocess.SubprocessError) as error:
        raise Failed(f"cannot make {path.name}: {error}") from None
    return os.path.relpath(path)


def report(path, *options):
    """report.json of a dump."""
    return measure([SLOTSCOPE, "analyze", path, "--json", *options]).output


def slots(output):
    """The keys of each slot in report.json."""
    return json.loads(output)["slots"]["keys"]


def heaviest(output):
    """The five heaviest tags in report.json, with their keys."""
    return [(tag["tag"], tag["keys"]) for tag in json.loads(output)["tags"]["top"]][:5]


def counted_lines(output):
    """The tags in lines of `uniq -c`, with their keys."""
    pairs = (line.split() for line in output.splitlines())
    return [(tag[1:-1], int(count)) for count, tag in pairs]


def our_rows(path, keys, threads):
    """wc -l and slotscope in the ways that it is used, all of which must find the same slots."""
    expected = slots(report(path))

    def ours(name, finds, *options, limit=None, threads=threads):
        analyze = [SLOTSCOPE, "analyze", path, "--threads", str(threads), *options]
        return Row(f"slotscope, {name}", finds, [*analyze, "--no-files"], keys, slots, expected, [*analyze, "--json"], limit)

    rows = {"wc": Row("`wc -l`", "lines", ["wc", "-l", path], keys, lambda output: int(output.split()[0]), keys)}
    best, *others = kernels()
    for way, limit in zip(WAYS, LIMITS.get(best, [None] * len(WAYS))):
        finds, options = WAYS[way]
        rows[way] = ours(way, finds, *options, limit=limit)
    rows["one thread"] = ours("`--only slots --threads 1`", "slots", *ONLY_SLOTS, threads=1)
    for kernel in others:
        ways = WAYS if kernel in LIMITS else ["`--only slots`"]
        for way, limit in zip(ways, LIMITS.get(kernel, [None])):
            finds, options = WAYS[way]
            name = f"{way.strip('`')} --kernel {kernel}".replace("default ", "")
            rows[way, kernel] = ours(f"`{name}`", finds, *options, "--kernel", kernel, limit=limit)
    return rows


def kernels():
    """The names of the kernels that this CPU has, the best one first."""
    bench = measure([SLOTSCOPE, "bench", "--json", "--rounds", "1", "--keys", "1000"]).output
    return list(dict.fromkeys(row["kernel"] for row in json.loads(bench)["kernels"]))


def peer_rows(path, keys, threads):
    """What one would run in slotscope's place. A sample is a dump of its own, with a report of its own."""
    redis_keys, grep_keys = min(keys, REDIS_KEYS), min(keys, GREP_KEYS)
    redis_path, grep_path = dump(redis_keys), dump(grep_keys)
    expected = heaviest(report(path))

    def module(name, *arguments):
        return [sys.executable, str(Path(__file__).parent / f"{name}.py"), *arguments]

    def result(output):
        return json.loads(output)["result"]

    def tags(output):
        return [tuple(tag) for tag in result(output)]

    pipeline = (f"set -o pipefail; grep -o '{{[^}}]*}}' {grep_path} | sort --parallel={threads} -S 25% -T . "
                "| uniq -c | sort -rn | sed -n 1,5p")  # head would end sort by a broken pipe
    return {
        "ClickHouse": Row("ClickHouse (chdb)", "tags", module("tags_clickhouse", path, str(threads)), keys,
                          tags, expected, self_timed=True),
        "DuckDB": Row("DuckDB", "tags", module("tags_duckdb", path, str(threads)), keys,
                      tags, expected, self_timed=True),
        "redis-py": Row("redis-py, `key_slot` in a loop", "slots", module("slots_redis", redis_path), redis_keys,
                        result, slots(report(redis_path)), self_timed=True),
        "grep": Row("`grep -o \\| sort \\| uniq -c \\| sort -rn`", "tags", ["bash", "-c", pipeline], grep_keys,
                    counted_lines, heaviest(report(grep_path))),
    }
