"""Checks all contestants, times them in turn and writes the report.

benches/peers starts it and says what the variables mean."""

import datetime
import os
import re
import time

import tables
from comparison import give_up, number, report, say
from measure import Failed, measure, read_through
from rows import PROFILES, WAYS, ROOT, dump, our_rows, peer_rows

# A peer that takes longer runs in only a few rounds.
SLOW_SECS, FEW_ROUNDS = 5, 3


def compare(keys, rounds, threads, minutes, peers):
    """The lines of the report."""
    load = os.getloadavg()[0]
    # The command's memory includes that of launch.py itself.
    floor_mib = measure(["true"]).peak_mib
    failures = {}
    parts = [compare_on(profile, keys, rounds, threads, minutes / len(PROFILES), peers, failures) for profile in PROFILES]
    return [
        *tables.facts(rounds, threads, load, peers, keys), "",
        *(line for part in parts for line in part),
        *tables.notes(threads, floor_mib, peers, failures),
    ]


def compare_on(profile, keys, rounds, threads, minutes, peers, failures):
    """The lines about one dump."""
    deadline = time.monotonic() + 60 * minutes
    fewer = min(20_000_000, keys * 2 // 5)
    path, path_of_fewer = dump(keys, profile), dump(fewer, profile)
    rows = our_rows(path, keys, threads)
    ours = set(rows)
    if peers:
        rows |= peer_rows(path, profile, keys, threads)

    def attempt(name, work):
        """A peer that fails loses its row; without wc or slotscope there is nothing to compare."""
        try:
            return work()
        except Failed as failure:
            if name in ours:
                raise Failed(f"{rows[name].name}: {failure}") from None
            del rows[name]
            failures[f"{name} on {profile}"] = failure

    for name, row in list(rows.items()):
        say(f"{profile}: checking {name}")
        secs = attempt(name, row.check)
        row.rounds = min(rounds, FEW_ROUNDS) if name not in ours and secs and secs > SLOW_SECS else rounds
    for turn in range(rounds):
        if turn > 0 and time.monotonic() > deadline:
            say(f"{profile}: out of time after {turn} rounds")
            break
        say(f"{profile}: round {turn + 1} of {rounds}")
        read_through(path)  # others may have evicted it from the page cache
        for name, row in list(rows.items()):
            if turn < row.rounds:
                attempt(name, row.run)

    # As many runs as on the whole dump: the peak is that of the unluckiest run.
    peaks_of_fewer = {}
    for mode in WAYS:
        command = [path_of_fewer if part == path else part for part in rows[mode].command]
        peaks_of_fewer[mode] = max(measure(command).peak_mib for _ in rows[mode].runs)
    return [
        *tables.head(path, profile, keys), "",
        *tables.contestants(rows, keys), "",
        *tables.growth(rows, peaks_of_fewer, fewer, keys, threads), "",
    ]


def main():
    keys = number("SLOTSCOPE_BENCH_KEYS", 50_000_000)
    rounds = number("SLOTSCOPE_BENCH_ROUNDS", 7)
    threads = number("SLOTSCOPE_BENCH_THREADS", 2)
    minutes = number("SLOTSCOPE_BENCH_MINUTES", 60)
    peers = os.environ["SLOTSCOPE_BENCH_PEERS"] == "1"
    if keys < 100_000:
        give_up("SLOTSCOPE_BENCH_KEYS: fewer than 100,000 keys show nothing")

    text = report(compare, keys, rounds, threads, minutes, peers) + "\n"
    print(text, end="")
    if peers:
        cpu = re.sub(r"[^a-z0-9]+", "-", tables.cpu_model().lower()).strip("-")
        path = ROOT / "reports" / "bench" / f"{cpu}-{datetime.date.today()}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        say(f"written to {path.relative_to(ROOT)}")


main()
