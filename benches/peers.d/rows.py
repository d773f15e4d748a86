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

# Ways to run slotscope: the result of a row, and its options.
ONLY_SLOTS = ["--only", "slots"]
WAYS = {
    "`--only slots`": ("slots", ONLY_SLOTS),
    "`--depth 0`": ("slots, tags", ["--depth", "0"]),
    "default": ("slots, tags, patterns, prefixes", []),
}
# Limits for each dump with 2 threads, by the kernel: user+sys over that of `--only slots` with the same kernel,
# and wall time over that of wc -l, which drifts more.
LIMITS = {
    "avx512": {"`--only slots`": (None, 1.4), "`--depth 0`": (2.1, 2.8), "default": (3.1, 4.0)},
    "avx2": {"`--only slots`": (None, 1.8), "`--depth 0`": (2.4, 3.6), "default": (3.6, 5.5)},
}

# The dumps: a shop; millions of hash tags, most with few keys; no tags at all.
PROFILES = ["commerce", "zipf-tail", "uniform"]

# Keys that peers on about one core read in a second or two.
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
    checked: Optional[list] = None  # the command that prints the answer, if the timed one does not
    limits: tuple = (None, None)    # maximum ratios to user+sys of `slots` and to the wall time of wc -l
    slots: Optional["Row"] = None   # `--only slots` with its kernel
    self_timed: bool = False        # it prints its time, see answer.py
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

    def cpu(self):
        return median(run.cpu for run in self.runs)

    def peak_mib(self):
        return max(run.peak_mib for run in self.runs)


def dump(keys, profile="commerce"):
    """The path of the dump of this many keys, which is made unless it is there as this build would make it.

    It is relative, so that it needs no quotes in SQL and in a shell."""
    path = BENCH / f"{profile}-{keys}.keys"
    generate = [SLOTSCOPE, "generate", "--profile", profile, "--keys", str(keys)]
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

    def ours(name, finds, *options, threads=threads, **about):
        analyze = [SLOTSCOPE, "analyze", path, "--threads", str(threads), *options]
        return Row(f"slotscope, {name}", finds, [*analyze, "--no-files"], keys, slots, expected, [*analyze, "--json"], **about)

    rows = {"wc": Row("`wc -l`", "lines", ["wc", "-l", path], keys, lambda output: int(output.split()[0]), keys)}
    best, *others = kernels()
    only_slots = next(iter(WAYS))
    for way, (finds, options) in WAYS.items():
        limits = LIMITS.get(best, {}).get(way, (None, None))
        rows[way] = ours(way, finds, *options, limits=limits, slots=rows.get(only_slots))
    rows["one thread"] = ours("`--only slots --threads 1`", "slots", *ONLY_SLOTS, threads=1)
    for kernel in others:
        for way in WAYS if kernel in LIMITS else [only_slots]:
            finds, options = WAYS[way]
            name = f"{way.strip('`')} --kernel {kernel}".replace("default ", "")
            limits = LIMITS.get(kernel, {}).get(way, (None, None))
            rows[way, kernel] = ours(f"`{name}`", finds, *options, "--kernel", kernel, limits=limits,
                                     slots=rows.get((only_slots, kernel)))
    return rows


def kernels():
    """The names of the kernels that this CPU has, the best one first."""
    bench = measure([SLOTSCOPE, "bench", "--json", "--rounds", "1"]).output
    return list(dict.fromkeys(row["kernel"] for row in json.loads(bench)["kernels"]))


def peer_rows(path, profile, keys, threads):
    """Peers that one would run in slotscope's place. A sample is a dump of its own, with a report of its own."""
    redis_keys, grep_keys = min(keys, REDIS_KEYS), min(keys, GREP_KEYS)
    redis_path, grep_path = dump(redis_keys, profile), dump(grep_keys, profile)
    expected = heaviest(report(path))

    def module(name, *arguments):
        return [sys.executable, str(Path(__file__).parent / f"{name}.py"), *arguments]

    def result(output):
        return json.loads(output)["result"]

    def tags(output):
        return [tuple(tag) for tag in result(output)]

    pipeline = (f"set -o pipefail; grep -o '{{[^}}]*}}' {grep_path} | sort --parallel={threads} -S 25% -T . "
                "| uniq -c | sort -rn | sed -n 1,5p")  # head would kill sort by a broken pipe
    peers = {
        "ClickHouse": Row("ClickHouse (chdb)", "tags", module("tags_clickhouse", path, str(threads)), keys,
                          tags, expected, self_timed=True),
        "DuckDB": Row("DuckDB", "tags", module("tags_duckdb", path, str(threads)), keys,
                      tags, expected, self_timed=True),
        "redis-py": Row("redis-py, `key_slot` in a loop", "slots", module("slots_redis", redis_path), redis_keys,
                        result, slots(report(redis_path)), self_timed=True),
        "grep": Row("`grep -o \\| sort \\| uniq -c \\| sort -rn`", "tags", ["bash", "-c", pipeline], grep_keys,
                    counted_lines, heaviest(report(grep_path))),
    }
    # grep exits with 1 if it finds nothing, and the others would count nothing.
    return peers if expected else {"redis-py": peers["redis-py"]}
