"""One report by Spark in a session of its own, as users have it: prints what its processes took while all of them still run.

Arguments: the dump, the bytes of a split, the file for the report."""

import json
import os
import sys
import threading
from pathlib import Path

import slotscope.spark
from pyspark.sql import SparkSession

TICKS = os.sysconf("SC_CLK_TCK")
DRIVER, JVMS, WORKERS = "driver", "jvms", "workers"


def ours():
    """The processes that this one started, directly or not, and itself: what each is and its fields of /proc/PID/stat."""
    found = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            fields = (folder / "stat").read_text().rsplit(")", 1)[1].split()
            command = (folder / "cmdline").read_bytes()
        except OSError:
            continue  # the process just exited
        kind = WORKERS if b"pyspark.daemon" in command else JVMS
        found[int(folder.name)] = (kind, fields)
    me = os.getpid()

    def is_ours(process):
        while process in found and process != me:
            process = int(found[process][1][1])
        return process == me

    mine = {process: of for process, of in found.items() if is_ours(process)}
    return {**mine, me: (DRIVER, found[me][1])}


def processor_seconds():
    """User and system seconds of each kind of process. Those of workers that ended count where their parent waited for them."""
    seconds = {DRIVER: 0.0, JVMS: 0.0, WORKERS: 0.0}
    for process, (kind, fields) in ours().items():
        # The driver's exited children are a shell that became a JVM.
        ended = [] if kind == DRIVER else fields[13:15]
        seconds[kind] += sum(map(int, [*fields[11:13], *ended])) / TICKS
    return seconds


class Peak(threading.Thread):
    """The most memory that a worker held, as the kernel keeps it for each."""

    def __init__(self):
        super().__init__(daemon=True)
        self.mib, self.over = 0.0, threading.Event()

    def run(self):
        while not self.over.wait(0.25):
            self.look()

    def look(self):
        for process, (kind, _) in ours().items():
            try:
                status = Path(f"/proc/{process}/status").read_text() if kind == WORKERS else ""
            except OSError:
                continue
            for line in status.splitlines():
                if line.startswith("VmHWM:"):
                    self.mib = max(self.mib, int(line.split()[1]) / 1024)


def main():
    path, split, out = sys.argv[1:]
    session = SparkSession.builder.appName("benches/spark").master("local-cluster[2,1,1024]")
    spark = session.config("spark.ui.enabled", "false").getOrCreate()
    peak = Peak()
    peak.start()
    report = slotscope.spark.analyze(spark, path, split=split, nodes=6)
    seconds = processor_seconds()
    peak.over.set()
    peak.look()
    Path(out).write_text(json.dumps(report.to_dict()))
    version = spark.version
    spark.stop()
    print(json.dumps({"seconds": seconds, "peak_mib": peak.mib, "spark": version}))


main()
