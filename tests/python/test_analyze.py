"""Reports equal those of the program, for any kind of input."""

from __future__ import annotations

import gzip
import inspect
import io
import os
import re
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pandas
import polars
import pyarrow
import pytest

import slotscope
import slotscope.options
from conftest import comparable, of_program, run, samples


@pytest.mark.parametrize("sample", samples())
def test_a_report_is_that_of_the_program(sample: str) -> None:
    done = run("analyze", sample, "--nodes=6", "--json")
    if done.returncode != 0 and not done.stdout:
        with pytest.raises(slotscope.Error) as raised:
            slotscope.analyze(sample, nodes=6)
        assert f"slotscope: {raised.value}\n" == done.stderr
        return
    assert comparable(slotscope.analyze(sample, nodes=6).to_dict()) == of_program("analyze", sample, "--nodes=6")


def test_options_are_the_flags_of_the_program() -> None:
    options = dict(nodes=5, depth=2, separator=":", one_pass=True, by="keys", strict=False, title="a b", threads=2)
    words = ["--nodes=5", "--depth=2", "--separator=:", "--one-pass", "--by=keys", "--title=a b", "--threads=2"]
    name = "samples/hot-tag.keys"
    found = slotscope.analyze(name, **options)  # type: ignore[arg-type]
    assert comparable(found.to_dict()) == of_program("analyze", name, *words)
    assert found["run"]["command"] == f"slotscope analyze {' '.join(words)} --progress=never -- {name}"


# Flags for the destination of results, which a function returns, or for prompts on a terminal.
OF_THE_TERMINAL = {"progress", "color", "help", "version", "json", "out", "no_files", "full", "fail_on", "openmetrics"}
OF_THE_TERMINAL |= {"ask_password", "csv"}


@pytest.mark.parametrize(
    ("command", "options", "left_out"),
    [
        ("analyze", slotscope.options.Analyze, {"force"}),
        ("plan", slotscope.options.Plan, {"commands", "rollback", "max_job_bytes", "check"}),
        ("whatif", slotscope.options.WhatIf, set()),
        ("advise", slotscope.options.Advise, {"force"}),
    ],
)
def test_every_flag_is_an_option(command: str, options: Any, left_out: set[str]) -> None:
    flags = re.findall(r"^ +(?:-\w, )?--([a-z-]+)", run(command, "--help").stdout, re.MULTILINE)
    wanted = {flag.replace("-", "_") for flag in flags} - OF_THE_TERMINAL - left_out
    assert set(inspect.get_annotations(options)) | set(options.__annotations__) == wanted


def test_help_has_every_option_and_an_error_names_it() -> None:
    about = slotscope.analyze.__doc__ or ""
    for option in slotscope.options.Analyze.__annotations__:
        assert f"\n        {option}: " in about, option
    with pytest.raises(slotscope.Error) as raised:
        slotscope.analyze("samples/hot-tag.keys", lfu_log_factor=-1)
    assert "lfu_log_factor" in str(raised.value) and "--" not in str(raised.value)


def test_a_data_frame_is_an_input(tmp_path: Path) -> None:
    rows = {"name": ['a"b', "c,d", "e\nf", "{g}1"], "size": [10, None, 30, 40], "hits": [1.0, 2.0, float("nan"), 4.0]}
    wanted = slotscope.analyze(polars.DataFrame(rows), key="name", bytes="size", ops="hits", nodes=3)
    assert (wanted["input"]["keys"], sum(pyarrow.table(wanted.nodes)["bytes"].to_pylist())) == (4, 80)
    assert sum(pyarrow.table(wanted.nodes)["ops"].to_pylist()) == 7
    assert wanted["input"]["rejected"]["count"] == 0
    for frame in (pandas.DataFrame(rows), pyarrow.table(rows), rows):
        found = slotscope.analyze(frame, key="name", bytes="size", ops="hits", nodes=3)
        assert comparable(found.to_dict()) == comparable(wanted.to_dict()), type(frame)
    for reader in (pyarrow.table(rows).to_reader(2), pandas.DataFrame(rows).astype({"size": "Int64"}), pandas.DataFrame(rows, dtype=object)):
        found = slotscope.analyze(reader, key="name", bytes="size", ops="hits", nodes=3)
        assert comparable(found.to_dict()) == comparable(wanted.to_dict()), type(reader)


def test_a_data_frame_may_have_no_rows_and_no_amounts() -> None:
    for frame in ({"k": [], "n": []}, polars.DataFrame(schema={"k": polars.String, "n": polars.Int64})):
        assert slotscope.analyze(frame, key="k", bytes="n").state == "empty"
    found = slotscope.analyze(polars.DataFrame({"k": ["a", "b"], "n": [None, None]}), key="k", bytes="n", nodes=2)
    assert found["input"]["keys"] == 2


def test_a_data_frame_of_pandas_needs_no_other_package() -> None:
    code = """import sys
sys.modules["pyarrow"] = None
import pandas, slotscope
frame = pandas.DataFrame({"k": ["a", "b"], "n": pandas.array([1, None], dtype="Int64"), "q": [1.0, float("nan")]})
report = slotscope.analyze(frame, key="k", bytes="n", ops="q", nodes=2)
assert [sum(report["slots"][by]) for by in ("keys", "bytes", "ops")] == [2, 1, 1]"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_data_frame_is_an_input_of_every_function() -> None:
    rows = {"name": [f"{{a{i % 9}}}:{i}" for i in range(900)], "size": list(range(900))}
    frame, options = polars.DataFrame(rows), {"key": "name", "bytes": "size", "nodes": 3}
    assert slotscope.plan(frame, by=["bytes"], **options)["goals"]
    assert slotscope.whatif(frame, to_nodes=4, **options)["input"]["keys"] == 900
    assert slotscope.advise(frame, **options)["keys"] == 900


def test_a_large_data_frame_is_counted_to_the_last_tag() -> None:
    frame = polars.DataFrame({"name": [f"{{{i}}}:{j}" for j in range(2) for i in range(70_000)]})
    assert slotscope.analyze(frame, key="name")["tags"]["exact"]


def test_metrics_have_an_order_and_no_weights() -> None:
    frame = {"k": ["a", "b"], "n": [1, 2], "q": [3, 4]}
    for by in ("bytes,ops", ["bytes", "ops"]):
        found = slotscope.analyze(frame, key="k", bytes="n", ops="q", by=by, nodes=2, weight={"even-1": 2})
        assert found["by"] == "bytes"
    with pytest.raises(slotscope.Error, match="metrics have no weights"):
        slotscope.analyze(frame, key="k", bytes="n", ops="q", by="bytes=2,ops=1", nodes=2)


def test_columns_of_usual_names_are_found() -> None:
    frame = {"k": ["a", "b"], "bytes": [1, 2], "ops": [3, 4]}
    found = slotscope.analyze(frame, key="k", nodes=2)
    assert [found["input"]["weights"][name] for name in ("bytes", "ops")] == [2, 2]


FRAME = {"k": ["a", "b"], "n": [1.0, 1.9], "t": ["1", "2"], "d": [pandas.Timestamp(0)] * 2, "big": [1, float("inf")], "no": ["a", None]}
WHOLE = "amounts are whole numbers from 0 on; multiply or round the column first"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: slotscope.analyze(FRAME, key="nome"), "nome: no such column; there are: k, n, t, d, big, no"),
        (lambda: slotscope.analyze(polars.DataFrame({"k": ["a"]}), key="nome"), "nome: no such column; there are: k"),
        (lambda: slotscope.analyze(key="name"), "give the frame alone"),
        (lambda: slotscope.analyze(FRAME, bytes="n"), "key: name the column of the keys"),
        (lambda: slotscope.analyze("samples/hot-tag.keys", key="key"), "of files: key_column, size_column, ops_column"),
        (lambda: slotscope.analyze(polars.LazyFrame({"k": ["a"]}), key="k"), "a LazyFrame has no rows yet: call .collect() first"),
        (lambda: slotscope.analyze(FRAME, key="k", size_column="n"), "size_column: names a column of a file; of a data frame: bytes='n'"),
        (lambda: slotscope.analyze(FRAME, key="k", ops="n"), f"n, row 1: 1.9: {WHOLE}"),
        (lambda: slotscope.analyze(pyarrow.table({"k": ["a", "b"], "n": [1, 1.9]}), key="k", ops="n"), f"n, row 1: 1.9: {WHOLE}"),
        (lambda: slotscope.analyze(pandas.DataFrame({"k": ["a"], "n": [-3]}), key="k", bytes="n"), f"n, row 0: -3: {WHOLE}"),
        (lambda: slotscope.analyze(FRAME, key="k", bytes="t"), f"t, row 0: '1': {WHOLE}"),
        (lambda: slotscope.analyze(FRAME, key="k", bytes="d"), "d, row 0: Timestamp('1970-01-01 00:00:00'): amounts"),
        (lambda: slotscope.analyze(FRAME, key="k", bytes="big"), f"big, row 1: inf: {WHOLE}"),
        (lambda: slotscope.analyze(polars.DataFrame({"k": ["a"], "n": ["x"]}), key="k", bytes="n"), "n: Arrow type Utf8View; cast them to numbers"),
        (lambda: slotscope.analyze({"k": ["a"], "n": [1, 2]}, key="k", bytes="n"), "n: 2 rows, and 1 keys"),
        (lambda: slotscope.analyze(FRAME, key="no"), "key 1: is null; drop what is no key first"),
        (lambda: slotscope.analyze(pandas.DataFrame(FRAME), key="no"), "key 1: is null; drop what is no key first"),
        (lambda: slotscope.analyze(FRAME), 'a data frame: name its column of keys: analyze(frame, key="column")'),
        (lambda: slotscope.analyze(polars.DataFrame({"k": ["a"]})), 'analyze(frame, key="column")'),
        (lambda: slotscope.analyze(keys=open("samples/hot-tag.keys")), "keys: a file, whose lines end in line ends"),  # noqa: SIM115
        (lambda: slotscope.analyze([]), "no input: name a key dump, or give keys="),
        (lambda: slotscope.analyze(["no-such-key", "another"]), "keys go to keys="),
        (lambda: slotscope.analyze("samples/hot-tag.keys", only="bad"), "possible values: "),
        (lambda: slotscope.plan("samples/hot-tag.keys"), "which slot: topology=FILE, or nodes=N for an even split, as in slotscope plan dumps --topology"),
        (lambda: slotscope.plan("samples/hot-tag.keys", nodes=3, by="ops"), "by=ops: the input has no ops"),
        (lambda: slotscope.whatif("samples/hot-tag.keys", nodes=3), "name what to try: to_nodes, to_topology"),
    ],
)
def test_what_is_wrong_with_a_frame_is_said(call: Any, message: str) -> None:
    with pytest.raises(slotscope.Error) as raised:
        call()
    assert message in str(raised.value)


def test_rows_that_are_requests_are_no_damaged_dump() -> None:
    frame = {"k": [f"user:{i % 500}" for i in range(20_000)]}
    assert "one row per key" in slotscope.analyze(frame, key="k", nodes=3).sentence


def test_a_list_of_inputs_is_as_good_as_several(tmp_path: Path) -> None:
    for name in "ab":
        (tmp_path / name).write_text(f"{name}:1\n")
    paths = [tmp_path / "a", str(tmp_path / "b")]
    assert comparable(slotscope.analyze(paths).to_dict()) == comparable(slotscope.analyze(*paths).to_dict())


def test_patterns_and_directories_name_files(tmp_path: Path) -> None:
    for name in ("b.keys", "a.keys"):
        (tmp_path / name).write_text(f"{name}:1\n")
    of_pattern = slotscope.analyze(f"{tmp_path}/*.keys", nodes=3)
    assert [Path(file["name"]).name for file in of_pattern["input"]["files"]] == ["a.keys", "b.keys"]
    assert comparable(of_pattern.to_dict()) == comparable(slotscope.analyze(tmp_path, nodes=3).to_dict())
    odd = tmp_path / "[x].keys"
    odd.write_text("k\n")
    assert slotscope.analyze(odd)["input"]["keys"] == 1
    with pytest.raises(slotscope.Error, match="no file has such a name"):
        slotscope.analyze(f"{tmp_path}/*.rdb")


class OnlyRead:
    """A file object that is not seekable, like a socket's."""

    def __init__(self, content: bytes) -> None:
        self.file = io.BytesIO(content)

    def read(self, size: int) -> bytes:
        return self.file.read(min(size, 1000))


def test_file_objects_are_inputs(tmp_path: Path) -> None:
    path = "samples/hot-tag.keys"
    content = Path(path).read_bytes()
    wanted = of_program("analyze", path)
    with open(path, "rb") as file:
        assert comparable(slotscope.analyze(file).to_dict()) == wanted
    for file in (io.BytesIO(content), io.BytesIO(gzip.compress(content)), OnlyRead(content)):
        found = slotscope.analyze(file)
        assert (found["input"]["keys"], found.sentence, found["tags"]["top"]) == (
            wanted["input"]["keys"],
            wanted["verdict"]["sentence"],
            wanted["tags"]["top"],
        )
    file = io.BytesIO(b"header\n" + content)
    file.readline()
    assert slotscope.analyze(file)["input"]["keys"] == wanted["input"]["keys"]


def test_a_large_file_object_is_read_by_several_threads() -> None:
    content = b"".join(b"user:{%d}:%d\n" % (i % 70_000, i) for i in range(400_000))
    found = slotscope.analyze(io.BytesIO(content), threads=4)
    assert (found["input"]["keys"], found["tags"]["exact"], found["run"]["passes"]) == (400_000, True, 1)


def test_a_file_object_that_fails_raises_what_it_raised() -> None:
    class Failing(OnlyRead):
        def read(self, size: int) -> bytes:
            if self.file.tell() > 3000:
                raise TimeoutError("no answer for 3 s")
            return super().read(size)

    with pytest.raises(TimeoutError, match="no answer for 3 s"):
        slotscope.analyze(Failing(b"user:1\n" * 1000))
    with pytest.raises(slotscope.Error, match="open it in binary mode"), open("samples/hot-tag.keys") as text:
        slotscope.analyze(text)  # type: ignore[arg-type]


def test_keys_in_memory_are_an_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    keys = [b"user:%d" % i for i in range(9000)] + [b"{cart}:%d" % i for i in range(999)] + [b"GET", b"a\nb\r\n", b"\xff", b""]
    page = b"*%d\r\n" % len(keys) + b"".join(b"$%d\r\n%b\r\n" % (len(key), key) for key in keys)
    (tmp_path / "keys").write_bytes(page)
    monkeypatch.chdir(tmp_path)
    wanted = of_program("analyze", "keys", "--format=resp", "--nodes=4")
    for facts in (wanted["input"], wanted["input"]["files"][0]):
        facts.update(bytes=0, bytes_read=0)
    wanted["input"]["files"][0].update(name="<keys>", format="memory")
    for step in wanted["verdict"]["steps"]:
        for each in (step, *step.get("alternatives", ())):
            each["command"] = None
    for held in (keys, tuple(keys), iter(keys), pyarrow.array(keys), pyarrow.chunked_array([keys[:9], [], keys[9:]]), polars.Series(keys), pyarrow.table({"key": keys}).to_reader(1000)):
        found = slotscope.analyze(keys=held, nodes=4).to_dict()
        # The headers of pages are bytes, too.
        for facts in (found["input"], found["input"]["files"][0]):
            facts.update(bytes=0, bytes_read=0)
        assert comparable(found) == wanted, type(held)
    assert slotscope.analyze(keys=[]).state == "empty"


def test_keys_that_are_commands_are_keys() -> None:
    keys = ["get", "set", "del", "*2", "$3", "+OK", "-ERR"] * 3
    assert slotscope.analyze(keys=keys)["input"]["keys"] == len(keys)


def test_iterables_are_read_twice_and_iterators_once() -> None:
    keys = [f"{{{i}}}:{j}" for j in range(2) for i in range(70_000)]
    assert slotscope.analyze(keys=keys)["tags"]["exact"]
    assert not slotscope.analyze(keys=iter(keys))["tags"]["exact"]


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: slotscope.analyze(), slotscope.Error, "no input: name a key dump, or give keys="),
        (lambda: slotscope.analyze("no/such.keys"), slotscope.Error, "no/such.keys: no such file or directory; check the spelling and the current directory"),
        (lambda: slotscope.analyze("samples/hot-tag.keys", nodes=0), slotscope.Error, "nodes=0: "),
        (lambda: slotscope.analyze("samples/hot-tag.keys", threads=0), slotscope.Error, "threads=0: the number of threads"),
        (lambda: slotscope.analyze("samples/hot-tag.keys", type="hash"), slotscope.Error, "type=: the format lines of "),
        (lambda: slotscope.analyze("samples/hot-tag.keys", nodes="six"), slotscope.Error, "invalid value 'six' for nodes"),
        (lambda: slotscope.analyze("samples/hot-tag.keys", nods=6), slotscope.Error, "nods: no such option of analyze; did you mean nodes?"),
        (lambda: slotscope.analyze("samples/hot-tag.keys", json=True), slotscope.Error, "json: no such option of analyze; "),
        (lambda: slotscope.analyze(keys="user:1"), slotscope.Error, "keys: one key, not several; give a list of keys"),
        (lambda: slotscope.analyze("samples/hot-tag.keys", keys=["a"]), slotscope.Error, "keys: next to other inputs; give one or the other"),
        (lambda: slotscope.analyze(7), TypeError, "keys go to keys="),
        (lambda: slotscope.analyze(["a.keys"]), slotscope.Error, "a.keys: no such file"),
        (lambda: slotscope.analyze({"a"}), TypeError, "not set; keys go to keys="),
        (lambda: slotscope.analyze(keys=["a", 1]), TypeError, "key 1 is int; keys are bytes or str"),
        (lambda: slotscope.analyze(keys=pyarrow.array(["a", None])), slotscope.Error, "key 1: is null"),
        (lambda: slotscope.load("samples/hot-tag.keys"), slotscope.Error, "no report.json of analyze"),
    ],
)
def test_an_error_is_the_line_of_the_program(call: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error) as raised:
        call()
    assert message in str(raised.value)
    assert issubclass(slotscope.Error, ValueError)


def test_ctrl_c_ends_a_scan() -> None:
    class Endless:
        """An endless input that sends the signal once the scan runs."""

        reads = 0

        def read(self, size: int) -> bytes:
            self.reads += 1
            if self.reads == 3:
                os.kill(os.getpid(), signal.SIGINT)
            return (b"user:1\n" * 1000)[:size]

    with pytest.raises(KeyboardInterrupt):
        slotscope.analyze(Endless())


def test_other_threads_run_during_a_scan() -> None:
    others = threading.Event()

    class Waiting(OnlyRead):
        def read(self, size: int) -> bytes:
            assert others.wait(60), "the scan holds the GIL"
            return super().read(size)

    thread = threading.Thread(target=others.set)
    threading.Timer(0.05, thread.start).start()
    assert slotscope.analyze(Waiting(b"a\nb\n"))["input"]["keys"] == 2
