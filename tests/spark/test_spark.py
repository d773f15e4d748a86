"""Reports by Spark equal those of the program: classic and Connect, with two executors as separate processes."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

import slotscope
import slotscope.spark

PROGRAM = Path(sys.executable).with_name("slotscope")
SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.sql.shuffle.partitions": "4",
    "spark.executor.memory": "1g",
    "spark.python.worker.reuse": "true",
}


@pytest.fixture(scope="module")
def spark() -> Iterator[SparkSession]:
    """A session of the kind in SLOTSCOPE_SPARK_KIND; a process has one kind."""
    builder = SparkSession.builder.appName("slotscope")
    for name, value in SETTINGS.items():
        builder = builder.config(name, value)
    if os.environ.get("SLOTSCOPE_SPARK_KIND") == "connect":
        session = builder.remote("local-cluster[2,1,1024]").getOrCreate()
    else:
        session = builder.master("local-cluster[2,1,1024]").getOrCreate()
    yield session
    session.stop()


@pytest.fixture(scope="module")
def dumps(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same shop in every format."""
    folder = tmp_path_factory.mktemp("dumps")
    keys = [f"session:{{{i * 7919 % 90_001}}}:{i}" for i in range(400_000)]
    lines = "".join(f"{key}\n" for key in keys).encode()
    (folder / "lines.keys").write_bytes(lines)
    (folder / "quoted.keys").write_bytes(b"".join(b'"%s"\n' % key.encode() for key in keys))
    (folder / "sizes.csv").write_text("key,size\n" + "".join(f"{key},{i % 1000}\n" for i, key in enumerate(keys)))
    (folder / "lines.keys.gz").write_bytes(gzip.compress(lines, 1))
    server = shutil.which("redis-server")
    assert server, "a redis-server makes the RDB file"
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    words = [server, "--port", port, "--bind", "127.0.0.1", "--dir", str(folder), "--dbfilename", "dump.rdb", "--save", ""]
    redis = subprocess.Popen(words, stdout=subprocess.DEVNULL)
    try:
        client = ["redis-cli", "-p", port]
        while subprocess.run([*client, "ping"], capture_output=True, check=False).stdout != b"PONG\n":
            time.sleep(0.05)
        commands = "".join(f"set {key} {'x' * (1 + i % 50)}\n" for i, key in enumerate(keys[:50_000]))
        subprocess.run([*client, "--pipe"], input=commands.replace("\n", "\r\n"), text=True, capture_output=True, check=True)
        subprocess.run([*client, "save"], capture_output=True, check=True)
    finally:
        redis.terminate()
        redis.wait()
    return folder


@pytest.fixture(scope="module")
def bucket(dumps: Path) -> Iterator[tuple[str, dict[str, str]]]:
    """The same dumps in an S3 bucket emulated by moto: their address, and the options to open it."""
    server = subprocess.Popen(
        [Path(sys.executable).with_name("moto_server"), "-H", "127.0.0.1", "-p", "0"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert server.stderr
    try:
        lines = iter(server.stderr.readline, "")
        address = next(line.split()[-1] for line in lines if "Running on" in line)
        # Read to its end, or the server would block on a full pipe.
        threading.Thread(target=server.stderr.read, daemon=True).start()

        def put(path: str, content: bytes) -> None:
            # Without a content type it would be parsed as a form.
            kind = {"Content-Type": "application/octet-stream"}
            request = urllib.request.Request(f"{address}/{path}", content, kind, method="PUT")
            urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request).close()

        put("bucket", b"")
        for dump in dumps.iterdir():
            put(f"bucket/dumps/{dump.name}", dump.read_bytes())
        options = {"aws_endpoint": address, "aws_access_key_id": "test", "aws_secret_access_key": "hunter2"}
        yield "s3://bucket/dumps", options
    finally:
        server.terminate()
        server.wait()


def of_program(*words: str) -> dict[str, Any]:
    done = subprocess.run([PROGRAM, "analyze", *words, "--json"], capture_output=True, text=True, check=False)
    assert done.stdout, done.stderr
    return comparable(json.loads(done.stdout))


def comparable(report: dict[str, Any]) -> dict[str, Any]:
    return {part: value for part, value in report.items() if part != "run"}


DUMPS = [
    ["lines.keys"],
    ["quoted.keys"],
    ["sizes.csv"],
    ["dump.rdb"],
    ["lines.keys.gz"],
    ["lines.keys", "sizes.csv", "dump.rdb", "lines.keys.gz"],
]


@pytest.mark.parametrize("names", DUMPS, ids=" ".join)
def test_a_report_is_that_of_the_program(spark: SparkSession, dumps: Path, names: list[str]) -> None:
    paths = [str(dumps / name) for name in names]
    report = slotscope.spark.analyze(spark, *paths, split="2MiB", nodes=6)
    assert comparable(report.to_dict()) == of_program(*paths, "--nodes=6")


@pytest.mark.parametrize("names", DUMPS, ids=" ".join)
def test_a_report_from_s3_is_that_of_the_program(
    spark: SparkSession, bucket: tuple[str, dict[str, str]], names: list[str]
) -> None:
    address, options = bucket
    paths = [f"{address}/{name}" for name in names]
    report = slotscope.spark.analyze(spark, *paths, split="2MiB", storage_options=options, nodes=6)
    given = [f"--storage-option={name}={value}" for name, value in options.items()]
    assert comparable(report.to_dict()) == of_program(*paths, "--nodes=6", *given)
    assert "hunter2" not in report.to_json()


def test_bad_input_is_raised_once_on_the_driver(spark: SparkSession, dumps: Path) -> None:
    table = dumps / "bad.csv"
    table.write_text("key,size\n" + "".join(f"k{i},{i}\n" for i in range(500_000)) + "k,many\n" * 300_000)
    try:
        with pytest.raises(slotscope.Error) as alone:
            slotscope.analyze(table, strict=True)
        with pytest.raises(slotscope.Error) as raised:
            slotscope.spark.analyze(spark, table, split="2MiB", strict=True)
        assert "bad.csv" in str(raised.value) and "\n" not in str(raised.value)
        assert str(raised.value).split(":")[0] == str(alone.value).split(":")[0]
    finally:
        table.unlink()
    with pytest.raises(slotscope.Error, match="no such file"):
        slotscope.spark.analyze(spark, str(dumps / "none.keys"))
    with pytest.raises(slotscope.Error, match="split 'a lot'"):
        slotscope.spark.analyze(spark, str(dumps / "lines.keys"), split="a lot")


def executors() -> list[int]:
    """The executor processes started by this process, directly or indirectly."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            line = (folder / "cmdline").read_bytes()
        except OSError:
            continue
        if b"CoarseGrainedExecutorBackend" in line and is_ours(int(folder.name)):
            found.append(int(folder.name))
    return found


def is_ours(process: int) -> bool:
    while process > 1 and process != os.getpid():
        try:
            process = int(Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[1])
        except OSError:
            return False
    return process == os.getpid()


def test_an_executor_that_dies_changes_nothing(spark: SparkSession, dumps: Path) -> None:
    name = str(dumps / "sizes.csv")
    killed: list[int] = []

    def kill() -> None:
        # Once workers are counting: the package is unpacked and Python runs as a child of an executor.
        deadline = time.monotonic() + 120
        while not killed and time.monotonic() < deadline:
            busy = [process for process in executors() if has_python(process)]
            if busy:
                os.kill(busy[0], signal.SIGKILL)
                killed.append(busy[0])
            time.sleep(0.02)

    def has_python(process: int) -> bool:
        children = Path(f"/proc/{process}/task").glob("*/children")
        return any(path.read_text().strip() for path in children)

    killer = threading.Thread(target=kill)
    killer.start()
    report = slotscope.spark.analyze(spark, name, split="2MiB", nodes=6)
    killer.join()
    assert killed, "no executor was killed"
    assert comparable(report.to_dict()) == of_program(name, "--nodes=6")


def test_a_split_that_is_read_twice_is_counted_once(
    spark: SparkSession, dumps: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name, first = str(dumps / "lines.keys"), str(tmp_path / "first")
    counter = slotscope.spark._counter

    def dies_once(*words: Any) -> Any:
        """Counts, and kills the worker of the first task before it returns its counts: Spark then reruns that task."""
        count = counter(*words)

        def counts(number: int) -> bytes:
            import os

            part = count(number)
            try:
                os.close(os.open(first, os.O_CREAT | os.O_EXCL))
            except FileExistsError:
                return part
            os._exit(1)

        return counts

    monkeypatch.setattr(slotscope.spark, "_counter", dies_once)
    report = slotscope.spark.analyze(spark, name, split="2MiB", nodes=6)
    assert Path(first).exists(), "no task was run again"
    assert comparable(report.to_dict()) == of_program(name, "--nodes=6")


def test_a_split_that_is_given_twice_is_refused(
    spark: SparkSession, dumps: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan_splits = slotscope.plan_splits

    def twice(*words: Any, **options: Any) -> Any:
        plan, splits = plan_splits(*words, **options)
        return plan, [*splits, splits[0]]

    monkeypatch.setattr(slotscope, "plan_splits", twice)
    with pytest.raises(slotscope.Error, match="counted twice"):
        slotscope.spark.analyze(spark, str(dumps / "lines.keys"), split="2MiB")
