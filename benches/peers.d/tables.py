"""The report of a comparison, in Markdown: the facts, the contestants, the growth, the notes."""

import datetime
import os
import platform
import re
import subprocess
from importlib import metadata
from statistics import median

from measure import Failed, measure
from rows import ROOT, SLOTSCOPE

# Limits: the gain from 1 thread to 2, the memory with 2 threads, and its growth between 20 and 50 million keys.
GROWTH, PEAK_MIB, PEAKS_APART_MIB = 1.7, 48, 4


def facts(rounds, threads, load, peers, keys):
    """The subject of the measurement, and its tools."""
    commit = first_line("git", "-C", str(ROOT), "describe", "--always", "--dirty", "--exclude=*")
    versions = [f"{first_line(SLOTSCOPE, '--version')} at {commit}", first_line("wc", "--version")]
    if peers:
        versions += [f"{name} {metadata.version(name)}" for name in ("chdb", "duckdb", "redis")]
        versions += [f"Python {platform.python_version()}"]
        versions += [first_line(tool, "--version") for tool in ("grep", "sort", "uniq")]
    return [
        f"# slotscope beside its peers: {cpu_model()}",
        "",
        f"- {datetime.date.today()}: `SLOTSCOPE_BENCH_KEYS={keys} SLOTSCOPE_BENCH_ROUNDS={rounds} "
        f"SLOTSCOPE_BENCH_THREADS={threads} SLOTSCOPE_BENCH_PEERS={peers:d} benches/peers`",
        f"- {cpu_model()}, {os.cpu_count()} cores, {platform.system()} {platform.release()}, load {load:.1f} at the start",
        f"- {', '.join(versions)}",
        f"- {keys:,} keys in each dump, which is in the page cache",
        f"- {threads} threads where nothing else is said" + (", for ClickHouse, DuckDB and sort too" if peers else ""),
    ]


def head(path, profile, keys):
    """The dump that the next tables are about."""
    made = f"slotscope generate --profile {profile} --keys {keys}"
    return [f"## {profile}", "", f"{os.path.getsize(path):,} bytes: `{made}`"]


def contestants(rows, keys):
    """A line each: medians, scaled to the whole dump where it read a smaller one."""
    wc, default = rows["wc"].wall(), rows["default"].wall()
    lines = [
        "| | finds | rounds | wall s | min..max | user+sys s | peak MiB | M keys/s | times user+sys of `--only slots` "
        "| times `wc -l` | times default | target, user+sys | target, `wc -l` |",
        "|---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|---|---|",
    ]
    for row in rows.values():
        scale = keys / row.keys
        walls = [run.wall * scale for run in row.runs]
        wall, cpu = median(walls), row.cpu() * scale
        name = row.name if scale == 1 else f"{row.name}; {row.keys:,} keys, scaled"
        times = (cpu / row.slots.cpu() if row.slots else None, wall / wc)
        targets = [verdict(found <= limit, f"{found:.2f}", f"at most {limit}") if limit else ""
                   for found, limit in zip(times, row.limits)]
        of_slots = f"{times[0]:.2f}" if times[0] else ""
        lines.append(f"| {name} | {row.finds} | {len(row.runs)} | {wall:.3f} | {min(walls):.3f}..{max(walls):.3f} "
                     f"| {cpu:.2f} | {row.peak_mib():.1f} | {keys / wall / 1e6:.1f} | {of_slots} | {wall / wc:.2f} "
                     f"| {wall / default:.2f} | {targets[0]} | {targets[1]} |")
    return lines


def growth(rows, peaks_of_fewer, fewer, keys, threads):
    """The gain by threads, and that memory does not follow the keys. `peaks_of_fewer` has the modes of slotscope."""
    faster = rows["one thread"].wall() / rows["`--only slots`"].wall()
    peaks = {mode: rows[mode].peak_mib() for mode in peaks_of_fewer}
    most = max(peaks.values())
    apart = max(abs(peaks[mode] - peaks_of_fewer[mode]) for mode in peaks)
    pairs = ", ".join(f"{mode} {peaks_of_fewer[mode]:.1f} and {peaks[mode]:.1f}" for mode in peaks)
    return [
        "| slotscope | | target |",
        "|---|---|---|",
        f"| `--only slots`, {threads} threads against 1 | {faster:.2f} times as fast "
        f"| {verdict(faster >= GROWTH, f'{faster:.2f}', f'at least {GROWTH}')} |",
        f"| highest peak | {most:.1f} MiB "
        f"| {verdict(most <= PEAK_MIB, f'{most:.1f} MiB', f'at most {PEAK_MIB}')} |",
        f"| peak MiB at {fewer:,} and {keys:,} keys | {pairs} "
        f"| {verdict(apart <= PEAKS_APART_MIB, f'{apart:.1f} MiB apart', f'at most {PEAKS_APART_MIB}')} |",
    ]


def notes(threads, floor_mib, peers, failures):
    """Notes that a reader of the figures needs."""
    text = ["Medians of rounds in which all take turns, in this order. A peak is the largest of the rounds and, in a "
            f"pipeline, of its processes; below {floor_mib:.0f} MiB it is that of the program that starts the commands."]
    if threads != 2:
        text += [f"The targets are for 2 threads; these are {threads}."]
    if peers:
        text += ["All were checked to give slotscope's answer before they were timed: the slots, or the five heaviest hash "
                 "tags with their keys. ClickHouse and DuckDB cannot compute slots.",
                 "The times of ClickHouse, DuckDB and redis-py are those of the query or the loop, without the loading of "
                 "the module; their peaks are those of the whole process. Where a row is scaled, the times are "
                 "multiplied, which is in favour of a tool that sorts, and the peak is not."]
    text += [f"{name} is left out: {failure}." for name, failure in failures.items()]
    return "\n\n".join(text).splitlines()


def verdict(reached, figure, wanted):
    return f"{'reached' if reached else '**missed**'}: {figure} ({wanted})"


def first_line(*command):
    try:
        return measure(list(command)).output.splitlines()[0]
    except (Failed, IndexError):
        return f"{os.path.basename(command[0])} of unknown version"


def cpu_model():
    try:
        found = re.search(r"Model name:\s*(.+)", subprocess.run(["lscpu"], capture_output=True, text=True).stdout)
    except OSError:
        found = None
    return found.group(1).strip() if found else platform.machine()
