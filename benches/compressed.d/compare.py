"""Makes the dumps, checks that all give one report, times them in turn and prints the table; benches/compressed says what
the variables mean."""

import datetime
import json
import os
import shlex
import shutil
import subprocess
from statistics import median

import measure
import tables
from comparison import BENCH, number, report, say
from measure import Failed, read_through

PROGRAM = os.environ["SLOTSCOPE_BENCH_PROGRAM"]

# The compressors of dumps, and the options that they take.
COMPRESSORS = [
    ("gzip -1", "gz"),
    ("bgzip", "bgz"),
    ("pigz -i", "pigz"),
    ("zstd -T2 -3", "zst"),
    ("pzstd -3", "pzst"),
    ("lz4 -1", "lz4"),
]


class Row:
    """One way to read one file."""

    def __init__(self, name, path, how, command):
        self.name, self.path, self.how, self.command, self.runs = name, path, how, command, []

    def median(self, of):
        return median(getattr(run, of) for run in self.runs)


def made(path, command):
    """The path of a file that `command` writes to standard output, unless it is there."""
    if not path.exists():
        say(f"making {path.name}")
        unfinished = path.with_name(path.name + ".part")
        with open(unfinished, "wb") as file:
            subprocess.run(command, stdout=file, check=True)
        unfinished.rename(path)
    return path


def rows(keys, threads):
    """The plain dump, then each compressed one as a file and through a pipe."""
    plain = made(BENCH / f"compressed-{keys}.keys", [PROGRAM, "generate", "--profile", "commerce", "--keys", str(keys)])
    files = [("plain", plain)]
    for command, ending in COMPRESSORS:
        program, *options = command.split()
        if shutil.which(program):
            path = plain.with_suffix(f".{ending}")
            files.append((f"`{command}`", made(path, [program, *options, "-c", str(plain)])))
        else:
            say(f"no {program} here: left out")

    def ways(name, path, modes):
        for mode in modes:
            options = f"--json --threads {threads} {mode}"
            ours = f"exec {shlex.quote(PROGRAM)} analyze {options}"
            quoted = shlex.quote(str(path))
            how = f"`{mode}`" if mode else "default"
            yield Row(name, path, f"{how}, file", ["sh", "-c", f"{ours} {quoted}"])
            yield Row(name, path, f"{how}, one decoder", ["sh", "-c", f"{ours} - < {quoted}"])

    return [row for name, path in files for row in ways(name, path, ["--only slots", "--one-pass"])]


def check(contestants):
    """All find the same keys in the same slots."""
    found = {json.dumps(json.loads(measure.measure(row.command).output)["slots"]["keys"]) for row in contestants}
    if len(found) != 1:
        raise Failed("they do not find the same keys")


def compare(keys, rounds, threads):
    """The lines of the report."""
    load = os.getloadavg()[0]
    contestants = rows(keys, threads)
    for path in {row.path for row in contestants}:
        read_through(path)
    say("checking")
    check(contestants)
    for turn in range(rounds):
        say(f"round {turn + 1} of {rounds}")
        for row in contestants:
            row.runs.append(measure.measure(row.command))
    commit = tables.first_line("git", "-C", str(BENCH.parents[1]), "describe", "--always", "--dirty", "--exclude=*")
    plain = {row.how: row.median("cpu") for row in contestants if row.name == "plain"}
    lines = [line(row, plain[row.how], contestants[0].path) for row in contestants]
    return [
        f"# Compressed dumps: {tables.cpu_model()}",
        "",
        f"- {datetime.date.today()}: `SLOTSCOPE_BENCH_KEYS={keys} SLOTSCOPE_BENCH_ROUNDS={rounds} "
        f"SLOTSCOPE_BENCH_THREADS={threads} benches/compressed`",
        f"- {tables.cpu_model()}, {os.cpu_count()} cores, load {load:.1f} at the start",
        f"- {tables.first_line(PROGRAM, '--version')} at {commit}",
        "- Medians of rounds in which all take turns, files in the page cache. All find the same keys in the same slots. GB/s",
        "  are of the content; the last column is what of user+sys seconds the plain dump does not take.",
        "",
        "| file | | wall s | min..max | user+sys s | GB/s | peak MiB | for the compression |",
        "|---|---|--:|--:|--:|--:|--:|--:|",
        *lines,
    ]


def line(row, plain, dump):
    """Medians, of one contestant."""
    walls, cpu = [run.wall for run in row.runs], row.median("cpu")
    wall, peak = row.median("wall"), max(run.peak_mib for run in row.runs)
    share = "" if row.name == "plain" else f"{1 - plain / cpu:.0%}"
    return (f"| {row.name} | {row.how} | {wall:.3f} | {min(walls):.3f}..{max(walls):.3f} | {cpu:.2f} "
            f"| {os.path.getsize(dump) / wall / 1e9:.2f} | {peak:.0f} | {share} |")


def main():
    keys = number("SLOTSCOPE_BENCH_KEYS", 10_000_000)
    rounds = number("SLOTSCOPE_BENCH_ROUNDS", 7)
    threads = number("SLOTSCOPE_BENCH_THREADS", 2)
    print(report(compare, keys, rounds, threads))


main()
