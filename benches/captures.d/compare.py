"""Checks all contestants, times them in turn and prints the table; benches/captures says what the variables mean."""

import datetime
import json
import os
from statistics import median

import files
import measure
import tables
from comparison import number, report, say
from measure import Failed, read_through

PROGRAM = os.environ["SLOTSCOPE_BENCH_PROGRAM"]


class Row:
    """A contestant on a file."""

    def __init__(self, name, command):
        self.name, self.command, self.runs = name, command, []

    def wall(self):
        return median(run.wall for run in self.runs)


def rows(path, threads):
    """`wc -l`, which reads the bytes and no more, then slotscope."""
    def ours(command, name, *options):
        words = [PROGRAM, command, str(path), "--json", "--threads", str(threads), *options]
        return Row(f"`{command}`{name}", words)

    return [
        Row("`wc -l`", ["wc", "-l", str(path)]),
        ours("analyze", ", `--only slots`", "--only", "slots"),
        ours("analyze", ", default"),
        ours("timeline", ""),
    ]


def check(contestants, count):
    """All of slotscope find the same operations."""
    found = []
    for row in contestants[1:]:
        output = json.loads(measure.measure(row.command).output)
        found.append(sum(output["slots"]["ops"]) if "input" in output else output["ops"])
    if len(set(found)) != 1 or found[0] < count:
        raise Failed(f"they find {found} operations of {count} commands")
    return found[0]


def compare(count, rounds, threads):
    """The lines of the report."""
    load = os.getloadavg()[0]
    lines = [
        "| file | GB | operations | | wall s | min..max | user+sys s | peak MiB | GB/s | M ops/s | times `wc -l` |",
        "|---|--:|--:|---|--:|--:|--:|--:|--:|--:|--:|",
    ]
    for name, path in files.all_files(count):
        contestants = rows(path, threads)
        say(f"checking {name}")
        ops = check(contestants, count)
        read_through(path)
        for turn in range(rounds):
            say(f"{name}, round {turn + 1} of {rounds}")
            for row in contestants:
                row.runs.append(measure.measure(row.command))
        lines += [line(name, path, ops, row, contestants[0]) for row in contestants]
    commit = tables.first_line("git", "-C", str(files.BENCH.parents[1]), "describe", "--always", "--dirty", "--exclude=*")
    return [
        f"# Captures: {tables.cpu_model()}",
        "",
        f"- {datetime.date.today()}: `SLOTSCOPE_BENCH_COMMANDS={count} SLOTSCOPE_BENCH_ROUNDS={rounds} "
        f"SLOTSCOPE_BENCH_THREADS={threads} benches/captures`",
        f"- {tables.cpu_model()}, {os.cpu_count()} cores, load {load:.1f} at the start",
        f"- {tables.first_line(PROGRAM, '--version')} at {commit}",
        "- Medians of rounds in which all take turns, files in the page cache. All of slotscope find the same operations.",
        "",
        *lines,
    ]


def line(name, path, ops, row, plain):
    """Medians, of one contestant."""
    walls, wall = [run.wall for run in row.runs], row.wall()
    gigabytes = os.path.getsize(path) / 1e9
    cpu, peak = median(run.cpu for run in row.runs), max(run.peak_mib for run in row.runs)
    return (f"| {name} | {gigabytes:.2f} | {ops:,} | {row.name} | {wall:.3f} | {min(walls):.3f}..{max(walls):.3f} "
            f"| {cpu:.2f} | {peak:.0f} | {gigabytes / wall:.2f} | {ops / wall / 1e6:.1f} | {wall / plain.wall():.2f} |")


def main():
    count = number("SLOTSCOPE_BENCH_COMMANDS", 5_000_000)
    rounds = number("SLOTSCOPE_BENCH_ROUNDS", 7)
    threads = number("SLOTSCOPE_BENCH_THREADS", 2)
    print(report(compare, count, rounds, threads))


main()
