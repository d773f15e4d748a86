"""Checks all contestants, times them in turn and prints the report; benches/rdb starts it and says what the variables mean."""

import datetime
import json
import os
import re
import shlex
import sys
from dataclasses import dataclass, field
from statistics import median
from typing import Callable

import files
import measure
import tables
from comparison import give_up, number, report, say
from measure import Failed, read_through

PROGRAM = os.environ["SLOTSCOPE_BENCH_PROGRAM"]

# Seconds; a slower command runs only once.
SLOW_SECS = 10

# A file that rdb-tools reads completely in seconds.
RDB_TOOLS_KEYS = 100_000


@dataclass
class Row:
    """One contestant on one file. `count` finds the number of keys in its output, which must be that of the file."""

    file: files.File
    name: str
    command: list
    count: Callable
    rounds: int = 0
    runs: list = field(default_factory=list)

    def check(self, rounds):
        """Runs it once, which is its first round where it is slow."""
        run = measure.measure(self.command)
        keys = self.count(run.output)
        if keys != self.file.keys:
            raise Failed(f"it finds {keys} keys, not {self.file.keys}")
        is_slow = run.wall > SLOW_SECS
        self.rounds = 0 if is_slow else rounds
        self.runs = [run] if is_slow else []

    def wall(self):
        return median(run.wall for run in self.runs)


def ours(file, threads):
    """slotscope on the file: reads all of it to verify the checksum, or not; finds all, or the slots."""
    analyze = [PROGRAM, "analyze", *map(str, file.paths), "--threads", str(threads), "--json"]
    for name, options in [
        ("default", []),
        ("`--no-verify`", ["--no-verify"]),
        ("`--only slots`", ["--only", "slots"]),
        ("`--only slots --no-verify`", ["--only", "slots", "--no-verify"]),
    ]:
        yield Row(file, f"slotscope, {name}", [*analyze, *options], lambda output: json.loads(output)["input"]["keys"])


def checkers(file):
    """The programs that come with the servers, one file after the other."""
    def all_of(program, *options, before=""):
        each = (f"{before}{shlex.quote(str(program))} {shlex.quote(str(path))} {' '.join(options)}" for path in file.paths)
        return ["bash", "-c", " && ".join(each)]

    def keys_read(output):
        return sum(int(count) for count in re.findall(r"(\d+) keys read", output))

    redis, valkey = files.SERVERS / files.REDIS, files.SERVERS / files.VALKEY
    if file.writer != files.VALKEY:
        libraries = f"LD_LIBRARY_PATH={shlex.quote(str(redis))} "
        yield Row(file, "redis-check-rdb 7.4.1", all_of(redis / "redis-check-rdb", before=libraries), keys_read)
    yield Row(file, "valkey-check-rdb 9.1.2", all_of(valkey / "valkey-check-rdb"), keys_read)
    yield Row(file, "valkey-check-rdb 9.1.2, `--stats`", all_of(valkey / "valkey-check-rdb", "--stats"), keys_read)


def rdb_tools(file):
    """rdb-tools, which estimates memory key by key."""
    command = [sys.executable, "-m", "rdbtools.cli.rdb", "--command", "memory", str(file.paths[0])]
    yield Row(file, "rdb-tools 0.1.15, `-c memory`", command, lambda output: len(output.splitlines()) - 1)


def compare(keys, sparse_gib, rounds, threads):
    """The lines of the report."""
    load = os.getloadavg()[0]
    failures = []
    lines = [
        "| file | GB | keys | | rounds | wall s | min..max | user+sys s | peak MiB | GB/s | M keys/s | times default |",
        "|---|--:|--:|---|--:|--:|--:|--:|--:|--:|--:|--:|",
    ]
    old_keys = min(keys, RDB_TOOLS_KEYS)
    old = files.File("small strings, version 9", [files.of_version_9(old_keys)], old_keys, files.REDIS)
    for file in [*files.all_files(keys, sparse_gib), old]:
        rows = [*ours(file, threads), *checkers(file), *(rdb_tools(file) if file is old else ())]
        for row in list(rows):
            say(f"checking {row.name} on {file.name}")
            try:
                row.check(rounds)
            except Failed as failure:
                if row is rows[0]:
                    raise
                failures.append(f"{row.name} on {file.name} is left out: {failure}.")
                rows.remove(row)
        for turn in range(rounds):
            say(f"{file.name}, round {turn + 1} of {rounds}")
            if not file.name.startswith("sparse"):
                for path in file.paths:
                    read_through(path)
            for row in rows:
                if turn < row.rounds:
                    row.runs.append(measure.measure(row.command))
        lines += [line(row, rows[0]) for row in rows]
    return [*facts(keys, sparse_gib, rounds, threads, load), "", *lines, "", *notes(failures)]


def line(row, default):
    """Medians, of one contestant."""
    walls = [run.wall for run in row.runs]
    wall, gigabytes = row.wall(), row.file.bytes() / 1e9
    return (f"| {row.file.name} ({row.file.writer}) | {gigabytes:.2f} | {row.file.keys:,} | {row.name} | {len(walls)} "
            f"| {wall:.3f} | {min(walls):.3f}..{max(walls):.3f} | {median(run.cpu for run in row.runs):.2f} "
            f"| {max(run.peak_mib for run in row.runs):.0f} | {gigabytes / wall:.2f} | {row.file.keys / wall / 1e6:.2f} "
            f"| {wall / default.wall():.2f} |")


def facts(keys, sparse_gib, rounds, threads, load):
    """The subject of the measurement, and its tools."""
    commit = tables.first_line("git", "-C", str(files.ROOT), "describe", "--always", "--dirty", "--exclude=*")
    return [
        f"# RDB files: {tables.cpu_model()}",
        "",
        f"- {datetime.date.today()}: `SLOTSCOPE_BENCH_KEYS={keys} SLOTSCOPE_BENCH_SPARSE_GIB={sparse_gib} "
        f"SLOTSCOPE_BENCH_ROUNDS={rounds} SLOTSCOPE_BENCH_THREADS={threads} benches/rdb`",
        f"- {tables.cpu_model()}, {os.cpu_count()} cores, load {load:.1f} at the start",
        f"- {tables.first_line(PROGRAM, '--version')} at {commit}; files of Redis 7.4.1 and Valkey 9.1.2 in cluster mode, with "
        "their headers of slots, in the page cache",
    ]


def notes(failures):
    """Notes that a reader of the figures needs."""
    text = [
        "Medians of rounds in which all take turns, file by file. All were checked to find the number of keys first. With "
        "default options all of them verify the checksum; rdb-tools has no such check. The checkers read several files "
        "one after the other, slotscope reads them in one run. The sparse file has no checksum, and its holes are read as "
        f"zeros unless they are passed over. What takes more than {SLOW_SECS} s runs once.",
        *failures,
    ]
    return "\n\n".join(text).splitlines()


def main():
    keys = number("SLOTSCOPE_BENCH_KEYS", 10_000_000)
    sparse_gib = number("SLOTSCOPE_BENCH_SPARSE_GIB", 20)
    rounds = number("SLOTSCOPE_BENCH_ROUNDS", 5)
    threads = number("SLOTSCOPE_BENCH_THREADS", 2)
    if keys < 20_000:
        give_up("SLOTSCOPE_BENCH_KEYS: fewer than 20,000 keys show nothing")
    print(report(compare, keys, sparse_gib, rounds, threads))


main()
