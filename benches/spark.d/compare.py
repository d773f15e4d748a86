"""Makes the dump, runs one process and the jobs of Spark in turn, compares their reports and prints the table;
benches/spark says what the variables mean."""

import datetime
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from statistics import median

import tables
from comparison import number, report, say
from measure import Failed, measure, read_through
from rows import BENCH, SLOTSCOPE, dump

HERE = Path(__file__).parent
UNITS = {"MiB": 20, "GiB": 30}
# Java logs a lot; a job that takes longer is killed.
JOB_SECS = 900
# The settings of the wheel's build, if they differ from the profile in the manifest.
PROFILE = "CARGO_PROFILE_DIST_"


class Job:
    """Reports by Spark on one dump, from splits of one size."""

    def __init__(self, size, path):
        found = re.fullmatch(r"([1-9]\d*)(MiB|GiB)", size)
        if not found:
            raise Failed(f"SLOTSCOPE_BENCH_SPLITS: '{size}' is not a number with MiB or GiB")
        self.size, self.bytes, self.path, self.runs = size, int(found[1]) << UNITS[found[2]], path, []
        self.splits = -(-os.path.getsize(path) // self.bytes)

    def run(self, expected):
        """Runs it and compares its report with that of one process."""
        command = [sys.executable, str(HERE / "job.py"), self.path, str(self.bytes), "report.json"]
        with open("log", "w+") as log:
            done = subprocess.run(command, stdout=subprocess.PIPE, stderr=log, text=True, timeout=JOB_SECS)
            if done.returncode != 0:
                log.seek(0)
                raise Failed(f"splits of {self.size}: {' '.join(log.read().split()[-60:])}")
        if comparable(Path("report.json").read_text()) != expected:
            raise Failed(f"splits of {self.size}: the report is not that of one process")
        self.runs.append(json.loads(done.stdout.splitlines()[-1]))

    def seconds(self, kind):
        return median(run["seconds"][kind] for run in self.runs)


def comparable(text):
    """report.json, without what differs from run to run."""
    return {part: value for part, value in json.loads(text).items() if part != "run"}


def compare(keys, sizes, rounds):
    """The lines of the report."""
    load = os.getloadavg()[0]
    path = os.path.abspath(dump(keys))
    Path("one.keys").write_text("user:1\n")
    start, jobs = Job("1MiB", os.path.abspath("one.keys")), [Job(size, path) for size in sizes]
    read_through(path)
    alone = []
    for turn in range(rounds):
        say(f"round {turn + 1} of {rounds}: one process")
        alone.append(one_process(path))
        expected = comparable(alone[-1].output)
        say(f"round {turn + 1} of {rounds}: Spark, one key")
        start.run(comparable(one_process(start.path).output))
        for job in jobs:
            say(f"round {turn + 1} of {rounds}: Spark, {job.splits} splits of {job.size}")
            job.run(expected)
    sent = json.loads(measure([sys.executable, str(HERE / "tallies.py"), path, str(64 << 20)]).output)
    return [*facts(path, keys, sizes, rounds, load, jobs), "", *table(alone, start, jobs), "", *notes(sent)]


def one_process(path):
    return measure([SLOTSCOPE, "analyze", path, "--json", "--nodes=6", "--threads=1"])


def facts(path, keys, sizes, rounds, load, jobs):
    commit = tables.first_line("git", "-C", str(BENCH), "describe", "--always", "--dirty", "--exclude=*")
    profile = [f"{name}={value}" for name, value in sorted(os.environ.items()) if name.startswith(PROFILE)]
    built = f", the wheel built with {' '.join(profile)}" if profile else ""
    java = subprocess.run(["java", "-version"], capture_output=True, text=True).stderr.splitlines()[0]
    return [
        f"# Spark, {keys:,} keys: {tables.cpu_model()}",
        "",
        f'- {datetime.date.today()}: `SLOTSCOPE_BENCH_KEYS={keys} SLOTSCOPE_BENCH_SPLITS="{" ".join(sizes)}" '
        f"SLOTSCOPE_BENCH_ROUNDS={rounds} benches/spark`",
        f"- {tables.cpu_model()}, {os.cpu_count()} cores, load {load:.1f} at the start",
        f"- {tables.first_line(SLOTSCOPE, '--version')} at {commit}{built}; Spark {jobs[0].runs[0]['spark']}, {java}",
        f"- one dump of {os.path.getsize(path):,} bytes in the page cache: `slotscope generate --profile commerce --keys {keys}`;"
        " two executors of one core, in a new session each time",
        "- every report is that of the one process, less `run`",
    ]


def table(alone, start, jobs):
    """Medians; a split takes the time of the workers beyond their start and the one process."""
    cpu = [run.cpu for run in alone]
    base, peak = median(cpu), max(run.peak_mib for run in alone)
    lines = [
        "| | splits | workers, user+sys s | min..max | over the start and one process | for a split | driver, s | JVMs, s "
        "| peak MiB of a worker |",
        "|---|--:|--:|--:|--:|--:|--:|--:|--:|",
        f"| one process, one thread | | {base:.2f} | {min(cpu):.2f}..{max(cpu):.2f} | | | | | {peak:.0f} |",
        row("start: a dump of one key", start, "|"),
    ]
    for job in jobs:
        over = job.seconds("workers") - start.seconds("workers") - base
        of_splits = f"{over:.2f} s, {over / base:.0%} | {over / job.splits * 1000:.0f} ms"
        lines.append(row(f"splits of {job.size}", job, of_splits))
    return lines


def row(name, job, of_splits):
    workers = [run["seconds"]["workers"] for run in job.runs]
    return (f"| {name} | {job.splits} | {median(workers):.2f} | {min(workers):.2f}..{max(workers):.2f} | {of_splits} "
            f"| {job.seconds('driver'):.1f} | {job.seconds('jvms'):.1f} | {max(run['peak_mib'] for run in job.runs):.0f} |")


def notes(sent):
    """The basis of the table."""
    return [
        "Processor seconds, medians of rounds in which all take turns: they can be compared on a machine that has other work,",
        "wall time cannot. The workers' are from the first Python on an executor on, with all merges there; JVMs are the driver's",
        "and two executors', from their start.",
        "",
        f"- the plan has {sent['plan_bytes']:,} bytes, the tally of a split of 64 MiB {sent['tally_bytes']:,.0f}; merging one takes "
        f"{sent['merge_ms']:.0f} ms",
    ]


def main():
    keys = number("SLOTSCOPE_BENCH_KEYS", 80_000_000)
    rounds = number("SLOTSCOPE_BENCH_ROUNDS", 3)
    sizes = (os.environ.get("SLOTSCOPE_BENCH_SPLITS") or "16MiB 64MiB 256MiB 1GiB").split()
    print(report(compare, keys, sizes, rounds))


main()
