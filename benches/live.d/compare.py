"""Starts clusters of three primaries, lets clients run alone and watched in turn, and prints the tables."""

import csv
import datetime
import io
import os
import pty
import re
import subprocess
import sys
import tempfile
import textwrap
import time
from contextlib import ExitStack, contextmanager
from pathlib import Path
from statistics import median

PROGRAM = os.environ["SLOTSCOPE_BENCH_PROGRAM"]
SERVERS = Path(os.environ["SLOTSCOPE_BENCH_SERVERS"])
KEYS = int(os.environ.get("SLOTSCOPE_BENCH_KEYS", "300_000"))
ROUNDS = int(os.environ.get("SLOTSCOPE_BENCH_ROUNDS", "5"))
PORT = int(os.environ.get("SLOTSCOPE_BENCH_PORT", "7490"))

CLIENTS = 20
# Approximate duration of a measurement of clients, and of the watching around it, in seconds.
SECONDS = 3
WATCHED = 10
PORTS = [PORT, PORT + 1, PORT + 2]
COUNTS = ["--cluster-slot-stats-enabled", "yes"]
KINDS = {
    "Redis 7.0": (["redis-server"], []),
    "Redis 8.2": ([str(SERVERS / "redis-8.2.3/redis-server")], COUNTS),
    "Valkey 9.1": ([str(SERVERS / "valkey-9.1.2/valkey-server")], COUNTS),
}


def give_up(what):
    sys.exit(f"benches/live: {what}")


def cli(port, *words):
    command = ["redis-cli", "-p", str(port), *map(str, words)]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def wait_for(what, ready, seconds=60):
    deadline = time.monotonic() + seconds
    while not ready():
        if time.monotonic() > deadline:
            give_up(f"after {seconds} s: {what}")
        time.sleep(0.05)


def answers(port):
    return subprocess.run(["redis-cli", "-p", str(port), "PING"], capture_output=True).stdout == b"PONG\n"


@contextmanager
def cluster(program, options):
    """Three primaries on loopback, which end with the block."""
    with ExitStack() as stack:
        for port in PORTS:
            if answers(port):
                give_up(f"port {port} is taken; SLOTSCOPE_BENCH_PORT names another")
            folder = stack.enter_context(tempfile.TemporaryDirectory())
            command = [*program, "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", folder, "--cluster-enabled", "yes", *options]
            child = subprocess.Popen(command, stdout=subprocess.DEVNULL)
            stack.callback(child.wait)
            stack.callback(child.kill)
        for port in PORTS:
            wait_for(f"no server at port {port}", lambda: answers(port))
        nodes = [f"127.0.0.1:{port}" for port in PORTS]
        subprocess.run(["redis-cli", "--cluster", "create", *nodes, "--cluster-yes"], check=True, capture_output=True)
        for port in PORTS:
            wait_for(f"port {port} is not in a cluster that is well", lambda: "cluster_state:ok" in cli(port, "CLUSTER", "INFO"))
        benchmark("set", KEYS)
        yield


def benchmark(test, requests):
    """Latencies in ms, requests a second, and CPU time of the servers for a request, in µs."""
    command = ["redis-benchmark", "-p", PORT, "--cluster", "-t", test, "-n", requests, "-c", CLIENTS, "-r", KEYS, "-d", 100, "--csv"]
    before = sum(map(cpu_time, PORTS))
    output = subprocess.run(list(map(str, command)), check=True, capture_output=True, text=True).stdout
    used = sum(map(cpu_time, PORTS)) - before
    # The lines before the table list the nodes.
    table = output[output.index('"test"'):]
    row = next(csv.DictReader(io.StringIO(table)))
    return {name: float(value) for name, value in row.items() if name != "test"} | {"cpu": 1e6 * used / requests}


def idle():
    """The part of a node's time that is used while no client sends anything, in percent."""
    start, before = time.monotonic(), sum(map(cpu_time, PORTS))
    time.sleep(2)
    used = sum(map(cpu_time, PORTS)) - before
    return 100 * used / len(PORTS) / (time.monotonic() - start)


def cpu_time(port):
    info = cli(port, "INFO", "cpu")
    return sum(float(re.search(rf"used_cpu_{of}:(\S+)", info)[1]) for of in ["sys", "user"])


def is_monitored():
    return all("cmd=monitor" in cli(port, "CLIENT", "LIST") for port in PORTS)


@contextmanager
def running(*words, ready):
    """The program on a terminal of its own, from when `ready` says that it watches; it must still do so when the block ends."""
    with tempfile.TemporaryDirectory() as folder:
        ours, its = pty.openpty()
        command = [PROGRAM, *words]
        child = subprocess.Popen(command, stdin=its, stdout=its, stderr=its, cwd=folder, env=os.environ | {"TERM": "xterm-256color"})
        os.close(its)
        drain = subprocess.Popen(["cat"], stdin=ours, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(ours)
        try:
            wait_for(f"{' '.join(words)} does not begin", lambda: child.poll() is not None or ready())
            if child.poll() is not None:
                give_up(f"{' '.join(words)} fails")
            yield
            if child.poll() is not None or not ready():
                give_up(f"{' '.join(words)} ended before the clients did; the machine is too busy to measure")
        finally:
            child.kill()
            child.wait()
            drain.kill()
            drain.wait()


def is_watched():
    """Whether somebody but this redis-cli is connected to each of the servers."""
    return all(cli(port, "CLIENT", "LIST", "TYPE", "normal").count("id=") > 1 for port in PORTS)


def cases():
    url = f"redis://127.0.0.1:{PORT}"
    collect = ["collect", url, "-o", "all", "--load", f"{WATCHED}s"]
    cases = {
        "alone": None,
        "`collect --load 10s`": lambda: running(*collect, "--slots-only", ready=is_watched),
        "`collect --load 10s --monitor`": lambda: running(*collect, "--monitor", ready=is_monitored),
        "`exporter --interval 1s`": lambda: running("exporter", url, "--interval", "1s", "--listen", f"127.0.0.1:{PORT + 9}", ready=is_watched),
    }
    if subprocess.run([PROGRAM, "top", "--help"], capture_output=True).returncode == 0:
        cases["`top`"] = lambda: running("top", url, ready=is_watched)
    else:
        print("benches/live: NOT MEASURED: top, which this program does not have", file=sys.stderr)
    return cases


def measured():
    """The runs of each case."""
    requests = int(benchmark("get", 50_000)["rps"] * SECONDS)
    of = cases()
    runs = {case: [] for case in of}
    for _ in range(ROUNDS):
        for case, watch in of.items():
            with watch() if watch else ExitStack():
                runs[case].append(benchmark("get", requests) | {"idle": idle()})
    return runs


def rows(kind, runs):
    for case, of in runs.items():
        middle = {name: median(run[name] for run in of) for name in of[0]}
        alone = [run["cpu"] for run in runs["alone"]]
        cost = median(run["cpu"] / base for run, base in zip(of, alone))
        p99 = sorted(run["p99_latency_ms"] for run in of)
        yield [f"{kind}, {case}", f"{middle['rps']:,.0f}", f"{middle['p50_latency_ms']:.3f}", f"{middle['p99_latency_ms']:.3f}",
               f"{p99[0]:.3f} to {p99[-1]:.3f}", f"{middle['max_latency_ms']:.1f}", f"{middle['cpu']:.1f}", f"{cost:.2f}", f"{middle['idle']:.1f}%"]


def processor():
    path = Path("/proc/cpuinfo")
    found = re.search(r"model name\s*: (.*)", path.read_text() if path.exists() else "")
    return found[1] if found else "unknown CPU"


def main():
    print(f"`SLOTSCOPE_BENCH_KEYS={KEYS} SLOTSCOPE_BENCH_ROUNDS={ROUNDS} benches/live` repeats this: what clients of a cluster notice while "
          "slotscope\nwatches it.\n")
    busy = os.getloadavg()[0]
    print(textwrap.fill(
        f"{datetime.date.today()}, {processor()}, {os.cpu_count()} cores with a load of {busy:.1f} before the first round. Three primaries on "
        f"loopback, {KEYS:,} keys; {CLIENTS} clients send GET as fast as they can for about {SECONDS} s. Medians of {ROUNDS} rounds, in which "
        "the cases take turns. CPU is the time of all servers for a request, and beside it its median ratio to the same round alone. The last "
        "column is what a node uses while no client sends anything.", 128) + "\n")
    columns = ["", "requests/s", "p50 ms", "p99 ms", "p99 of the rounds", "max ms", "CPU µs", "times alone", "of an idle node"]
    print("| " + " | ".join(columns) + " |")
    print("|---" + "|--:" * (len(columns) - 1) + "|")
    for kind, (program, options) in KINDS.items():
        with cluster(program, options):
            for row in rows(kind, measured()):
                print("| " + " | ".join(row) + " |", flush=True)


if __name__ == "__main__":
    main()
