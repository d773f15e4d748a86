"""Starts a server with keys of all types, lets clients and collections take turns and prints the tables."""

import csv
import datetime
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path
from statistics import median

PROGRAM = os.environ["SLOTSCOPE_BENCH_PROGRAM"]
KEYS = int(os.environ.get("SLOTSCOPE_BENCH_KEYS", "1_000_000"))
ROUNDS = int(os.environ.get("SLOTSCOPE_BENCH_ROUNDS", "5"))
PORT = int(os.environ.get("SLOTSCOPE_BENCH_PORT", "7390"))

# Requests per measurement of clients: a few seconds.
REQUESTS = 400_000
CLIENTS = 20

# A fifth of the keys has each of these types, with eight elements.
FILL = """
local kinds = {'SET', 'HSET', 'SADD', 'ZADD', 'RPUSH'}
for id = tonumber(ARGV[1]), tonumber(ARGV[2]) do
    local kind = kinds[id % 5 + 1]
    local words = {kind, 'shop:' .. kind .. ':' .. id}
    for i = 1, kind == 'SET' and 0 or 8 do
        if kind == 'HSET' then words[#words + 1] = 'field' .. i end
        if kind == 'ZADD' then words[#words + 1] = i end
        words[#words + 1] = 'value' .. i
    end
    if kind == 'SET' then words[3] = string.rep('x', 100) end
    redis.call(unpack(words))
end
"""


def cli(*words, **options):
    return subprocess.run(["redis-cli", "-p", str(PORT), *map(str, words)], check=True, capture_output=True, text=True, **options).stdout


@contextmanager
def server():
    """A server of its own, on loopback, which ends with the block."""
    with tempfile.TemporaryDirectory() as folder:
        command = ["redis-server", "--port", str(PORT), "--bind", "127.0.0.1", "--save", "", "--dir", folder]
        child = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        try:
            deadline = time.monotonic() + 30
            while True:
                try:
                    cli("PING")
                    break
                except subprocess.CalledProcessError:
                    if child.poll() is not None or time.monotonic() > deadline:
                        sys.exit(f"benches/collect: no server at port {PORT}; is the port free?")
                    time.sleep(0.05)
            for first in range(0, KEYS, 10_000):
                cli("EVAL", FILL, 0, first, min(first + 10_000, KEYS) - 1)
            yield
        finally:
            child.kill()
            child.wait()


@contextmanager
def collecting(load):
    """Collections one after the other, while the block runs."""
    with tempfile.TemporaryDirectory() as folder:
        words = ["collect", f"127.0.0.1:{PORT}", "-o", f"{folder}/all", "--force", "--max-load", str(load)]
        script = 'while :; do "$@" >/dev/null 2>&1; done'
        child = subprocess.Popen(["bash", "-c", script, "bash", PROGRAM, *words], start_new_session=True)
        try:
            yield
        finally:
            os.killpg(child.pid, 9)
            child.wait()


def clients():
    """Latencies in ms and requests a second of clients that read and write."""
    command = ["redis-benchmark", "-p", PORT, "-t", "set,get", "-n", REQUESTS, "-c", CLIENTS, "-r", KEYS, "-d", 100, "--csv"]
    output = subprocess.run(list(map(str, command)), check=True, capture_output=True, text=True).stdout
    rows = list(csv.DictReader(io.StringIO(output)))
    return {row["test"]: {name: float(value) for name, value in row.items() if name != "test"} for row in rows}


def timed(command, count):
    """Keys a second of a command, whose output says how many keys it found."""
    start = time.perf_counter()
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    elapsed = time.perf_counter() - start
    found = count(output)
    # The clients of the other measurement have written keys, too.
    if found < KEYS:
        sys.exit(f"benches/collect: {command} finds {found} keys, not {KEYS}")
    return found / elapsed


def collected(folder, *flags):
    def run():
        command = [PROGRAM, "collect", f"127.0.0.1:{PORT}", "-o", f"{folder}/all", "--force", "--max-load", "100", *flags, "--json"]
        return timed(command, lambda output: json.loads(output)["keys"])
    return run


def print_table(columns, rows):
    print("| " + " | ".join(columns) + " |")
    print("|---" + "|--:" * (len(columns) - 1) + "|")
    for row in rows:
        print("| " + " | ".join(row) + " |")
    print()


def print_clients():
    cases = {"no collection": None, "a collection, as by default": 25, "a collection with `--max-load 100`": 100}
    runs = {case: [] for case in cases}
    for _ in range(ROUNDS):
        for case, load in cases.items():
            if load is None:
                runs[case].append(clients())
            else:
                with collecting(load):
                    runs[case].append(clients())
    print(f"## {CLIENTS} clients\n")
    rows = []
    for test in ["SET", "GET"]:
        for case, of in runs.items():
            middle = {name: median(run[test][name] for run in of) for name in of[0][test]}
            spread = [run[test]["p99_latency_ms"] for run in of]
            rows.append([f"{test}, {case}", f"{middle['rps']:,.0f}", f"{middle['p50_latency_ms']:.3f}", f"{middle['p99_latency_ms']:.3f}",
                         f"{min(spread):.3f} to {max(spread):.3f}", f"{middle['max_latency_ms']:.1f}"])
    print_table(["", "requests/s", "p50 ms", "p99 ms", "p99 of the rounds", "max ms"], rows)


def print_speed(folder):
    sampled = lambda output: int(re.search(r"Sampled (\d+) keys", output)[1])
    names = lambda output: output.count("\n")
    rows = {
        "slotscope collect `--max-load 100`": collected(folder),
        "the same, `--keys`": collected(folder, "--keys"),
        "redis-cli `--memkeys`": lambda: timed(["redis-cli", "-p", str(PORT), "--memkeys"], sampled),
        "redis-cli `--scan`": lambda: timed(["redis-cli", "-p", str(PORT), "--scan"], names),
    }
    runs = {name: [] for name in rows}
    for _ in range(ROUNDS):
        for name, run in rows.items():
            runs[name].append(run())
    print("## Keys a second\n")
    base = median(runs["redis-cli `--memkeys`"])
    print_table(["", "keys/s", "times --memkeys"], [[name, f"{median(of):,.0f}", f"{median(of) / base:.2f}"] for name, of in runs.items()])


def cpu():
    text = Path("/proc/cpuinfo").read_text() if Path("/proc/cpuinfo").exists() else ""
    found = re.search(r"model name\s*: (.*)", text)
    return found[1] if found else "unknown CPU"


def main():
    with server(), tempfile.TemporaryDirectory() as folder:
        version = re.search(r"redis_version:(\S+)", cli("INFO", "server"))[1]
        print("# A collection next to clients\n")
        print(f"{datetime.date.today()}, {cpu()}, {os.cpu_count()} cores; Redis {version} with {KEYS:,} keys of all types, one server on the "
              f"same machine; medians of {ROUNDS} rounds in turn.\n")
        print_speed(folder)
        print_clients()


if __name__ == "__main__":
    if not shutil.which("redis-benchmark"):
        sys.exit("benches/collect: no redis-benchmark here")
    main()
