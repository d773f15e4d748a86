"""The figures of `slotscope bench --file` beside those of wc, measured here; called by benches/scan."""

import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

PROGRAM = os.environ["SLOTSCOPE_BENCH_PROGRAM"]
KEYS = int(os.environ.get("SLOTSCOPE_BENCH_KEYS", "5_000_000"))
ROUNDS = int(os.environ.get("SLOTSCOPE_BENCH_ROUNDS", "7"))
FOLDER = Path(os.environ["CARGO_TARGET_DIR"], "bench")
STAGES = ["line_ends", "read", "cut", "hash", "count"]


def dumps():
    """A list of keys, and a table of the same keys with sizes."""
    names = [FOLDER / f"scan-{KEYS}.{end}" for end in ("keys", "csv")]
    if not all(name.exists() for name in names):
        with open(names[0], "wb") as out:
            subprocess.run([PROGRAM, "generate", "--keys", str(KEYS)], check=True, stdout=out)
        with open(names[0]) as keys, open(names[1], "w") as out:
            out.write("key,size\n")
            out.writelines(f"{key[:-1]},{at % 997}\n" for at, key in enumerate(keys))
    return names


def wc(name):
    """Rounds of wc: its line ends, and the seconds for them without those of starting a process."""
    def timed(path):
        start = time.perf_counter()
        answer = subprocess.run(["wc", "-l", path], check=True, capture_output=True, text=True)
        return time.perf_counter() - start, int(answer.stdout.split()[0])

    empty = statistics.median(timed(os.devnull)[0] for _ in range(ROUNDS))
    rounds = [timed(name) for _ in range(ROUNDS)]
    return rounds[0][1], [max(secs - empty, 1e-9) for secs, _ in rounds]


def keys_of(name):
    """The keys in a dump, by a plain loop."""
    with open(name, "rb") as lines:
        return sum(1 for _ in lines) - (name.suffix == ".csv")


def main():
    print(f"{KEYS} keys, medians of {ROUNDS} rounds, load before {os.getloadavg()[0]:.2f}\n")
    print("| dump | by | threads | seconds | GB/s | × `wc -l` | spread |\n|---|---|--:|--:|--:|--:|--:|")
    for name in dumps():
        before = wc(name)[1]
        command = [PROGRAM, "bench", "--json", "--rounds", str(ROUNDS), "--file", name]
        found = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)["scan"]
        line_ends, after = wc(name)
        secs = statistics.median(before + after)
        spread = (max(before + after) - min(before + after)) / secs
        size, keys = name.stat().st_size, keys_of(name)
        counted = {"bytes": size, "line_ends": line_ends, "keys": keys}
        differs = [f"{it}: {found[it]}, not {right}" for it, right in counted.items() if found[it] != right]
        if differs:
            sys.exit(f"benches/scan: {name}: " + "; ".join(differs))
        print(f"| {name.suffix[1:]} | `wc -l` | 1 | {secs:.4f} | {size / secs / 1e9:.2f} | 1.00 | {spread:.1%} |")
        for row in found["stages"]:
            if abs(row["secs"] * row["bytes_per_sec"] / size - 1) > 1e-6:
                sys.exit(f"benches/scan: {name}: {row}: seconds and bytes a second contradict each other")
            spread = "-" if row["spread"] is None else f"{row['spread']:.1%}"
            cells = [name.suffix[1:], row["stage"].replace("_", " "), row["threads"], f"{row['secs']:.4f}",
                     f"{row['bytes_per_sec'] / 1e9:.2f}", f"{row['secs'] / secs:.2f}", spread]
            print("| " + " | ".join(map(str, cells)) + " |")
        if [row["stage"] for row in found["stages"]] != STAGES * (len(found["stages"]) // len(STAGES)):
            sys.exit(f"benches/scan: {name}: other stages than {STAGES}")


main()
