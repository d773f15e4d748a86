"""The same dump as many inputs: how long, how much memory, and whether each count is that of one times their number."""

import datetime
import json
import os
import sys
from statistics import median

from measure import Failed, read_through
from rows import BENCH, SLOTSCOPE, dump, measure
from tables import cpu_model, first_line

KEYS = int(os.environ.get("SLOTSCOPE_BENCH_KEYS", "50_000_000"))
TIMES = int(os.environ.get("SLOTSCOPE_BENCH_TIMES", "20"))
ROUNDS = int(os.environ.get("SLOTSCOPE_BENCH_ROUNDS", "3"))

# The members whose numbers in the report of many inputs must be those of one input times their number.
EXACT = ["slots", "nodes", "tags", "patterns", "prefixes"]


def analyze(path, times, threads, *options):
    names = [path] * times
    return measure([SLOTSCOPE, "analyze", "--nodes", "3", "--json", "--threads", str(threads), *options, *names])


def counts(report):
    """Slots, nodes, and every listed name that no unlisted one can exceed."""
    sure = {}
    for part in ("tags", "patterns", "prefixes"):
        table = report.get(part)
        for row in table["top"] if table else []:
            if row["keys"] > table["max_error"]:
                name = row.get("tag") or row.get("pattern") or row.get("prefix")
                sure[part, name] = row["keys"]
    return {"slots": report["slots"]["keys"], "nodes": [node["keys"] for node in report["nodes"]["list"]], **sure}


def times_as_many(one, many, times):
    """Whether every count of `many` is one of `one`, times their number."""
    slots = [keys * times for keys in one["slots"]] == many["slots"]
    nodes = [keys * times for keys in one["nodes"]] == many["nodes"]
    # The light names that are listed depend on the sample, which is spread over all inputs.
    listed = {name for name in one if isinstance(name, tuple)} & many.keys()
    found = listed or not any(isinstance(name, tuple) for name in one)
    return slots and nodes and bool(found) and all(one[name] * times == many[name] for name in listed)


def threads_here():
    cores = os.cpu_count() or 1
    return [threads for threads in (1, 2, 4, 8, 16, 32) if threads <= cores]


def main():
    os.chdir(BENCH)
    path = dump(KEYS)
    read_through(path)
    modes = {"`--only slots`": ["--only", "slots"], "`--depth 0`": ["--depth", "0"], "default": []}
    one = {name: counts(json.loads(analyze(path, 1, 2, *options).output)) for name, options in modes.items()}
    runs = {(name, threads): [] for name in modes for threads in threads_here()}
    load = os.getloadavg()[0]
    for number in range(ROUNDS):
        for (name, threads), done in runs.items():
            print(f"round {number + 1}: {name}, {threads} threads", file=sys.stderr)
            run = analyze(path, TIMES, threads, *modes[name])
            if not times_as_many(one[name], counts(json.loads(run.output)), TIMES):
                raise Failed(f"{name} on {threads} threads: the counts are not {TIMES} times those of one input")
            done.append(run)
    commit = first_line("git", "-C", str(BENCH), "describe", "--always", "--dirty", "--exclude=*")
    print(f"# {KEYS * TIMES:,} keys in one run: {cpu_model()}\n")
    print(f"- {datetime.date.today()}: `SLOTSCOPE_BENCH_KEYS={KEYS} SLOTSCOPE_BENCH_TIMES={TIMES} "
          f"SLOTSCOPE_BENCH_ROUNDS={ROUNDS} benches/scale`")
    print(f"- {cpu_model()}, {os.cpu_count()} cores, load {load:.1f} at the start")
    print(f"- {first_line(SLOTSCOPE, '--version')} at {commit}")
    print(f"- {TIMES} inputs, each a dump of {KEYS:,} keys and {os.path.getsize(path):,} bytes in the page cache; every count "
          f"of slots, nodes and names is {TIMES} times that of one input\n")
    print("| | threads | wall s | min..max | user+sys s | peak MiB | M keys/s | times 1 thread |")
    print("|---|--:|--:|--:|--:|--:|--:|--:|")
    for (name, threads), done in runs.items():
        walls = [run.wall for run in done]
        single = median(run.wall for run in runs[name, 1])
        print(f"| {name} | {threads} | {median(walls):.2f} | {min(walls):.2f}..{max(walls):.2f} "
              f"| {median(run.cpu for run in done):.1f} | {max(run.peak_mib for run in done):.0f} "
              f"| {KEYS * TIMES / median(walls) / 1e6:.0f} | {single / median(walls):.2f} |")


try:
    main()
except (Failed, OSError, ValueError, KeyError) as error:
    sys.exit(f"benches/scale: {error}")
