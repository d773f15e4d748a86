"""Reports by Apache Spark: the splits of the dumps are counted by its tasks, and their tallies are merged on executors.

Only the DataFrame API is used, so that it works on classic Spark, Spark Connect and managed clusters alike, from Spark 3.4
on. The package sends itself to the executors, which need Python of the driver's version and nothing else.
"""

from __future__ import annotations

import json
import math
import os
import re
import tempfile
import zipfile
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Callable

import slotscope
from slotscope import Error, Report

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from typing_extensions import Unpack

    from slotscope.options import Analyze, Path, Split

__all__ = ["analyze"]

# Smaller splits do not pay for a task; larger ones make retrying a task expensive.
SPLIT = "256MiB"
UNITS = {"": 0, "KIB": 10, "MIB": 20, "GIB": 30}
# The folder into which executors unpack the package, one per version: a session may outlive an installation.
PACKAGE = f"slotscope-{slotscope.__version__}"
# Set on a session whose executors have the package. A task's result is byte 0 and a tally, or byte 1 and an error.
SHIPPED = "_slotscope_is_shipped"


def analyze(
    spark: SparkSession,
    *inputs: Path,
    split: str | int = SPLIT,
    storage_options: dict[str, str] | None = None,
    **options: Unpack[Analyze],
) -> Report:
    """The report of `slotscope.analyze` on the inputs, counted by the executors of `spark`, which must reach them all.

    `split` is how many bytes a task reads: "256MiB" or a number. An input that can only be read from its start, such as a
    compressed or an RDB file, is one task. `storage_options` are those of object stores, as `storage_option` of `analyze`;
    they travel to the tasks and are in no report and no plan. Tasks use as many threads as spark.task.cpus says.

    Raises Error once, for the first input that cannot be read.
    """
    if storage_options:
        options["storage_option"] = storage_options
    # Executors have other working directories than the driver.
    paths = [os.fspath(path) for path in inputs]
    paths = [path if "://" in path else os.path.abspath(path) for path in paths]
    plan, splits = slotscope.plan_splits(*paths, split=_bytes(split), **options)
    # Largest first: a long task at the end would delay the whole job.
    splits.sort(key=lambda split: -split["bytes"])
    given: dict[str, Any] = {**options}
    counting: dict[str, Any] = {name: given[name] for name in ("kernel", "strict", "storage_option") if name in given}
    counting["threads"] = int(spark.conf.get("spark.task.cpus", "1") or 1)
    _ship(spark)

    counted = _round(spark, "counting", "tally", plan, splits, counting)
    again = []
    if slotscope.needs_recount(counted):
        again.append(_round(spark, "recounting names", "recount", counted, splits, counting))
    return slotscope.report_from_parts(counted, again, **options)


def _round(
    spark: SparkSession, title: str, function: str, of: bytes, splits: list[Split], counting: dict[str, Any]
) -> bytes:
    """Counts all splits, one per task, and merges the results."""
    from pyspark.sql import functions as F

    # `range` yields exactly one row per task; `repartition` of a list does not.
    rows = spark.range(0, len(splits), 1, len(splits))
    rows = rows.select("id", _udf(_counter(function, of, json.dumps(splits), counting))("id").alias("part"))
    # As many groups as parts per group, so that neither an executor nor the driver merges all of them.
    groups = rows.groupBy(F.col("id") % math.isqrt(len(splits))).agg(F.collect_list("part").alias("parts"))
    merged = groups.select(_udf(_merger())("parts").alias("part"))
    with _described(spark, f"slotscope: {title}, {len(splits)} splits"):
        parts = [bytes(row["part"]) for row in merged.collect()]
    return _unwrapped(_merger()(parts))


def _counter(function: str, of: bytes, splits: str, counting: dict[str, Any]) -> Callable[[int], bytes]:
    """The function that a task runs. It is self-contained: on an executor, `load` finds this module."""
    load = _loader()

    def count(number: int) -> bytes:
        slotscope = load()
        split = json.loads(splits)[number]
        try:
            counted: bytes = getattr(slotscope, function)(of, [split], **counting)
            return b"\0" + counted
        except slotscope.Error as error:
            # Retries cannot fix bad input: an exception here would make Spark read it four times.
            return b"\1" + json.dumps([split["input"], split["from"], str(error)]).encode()

    return count


def _merger() -> Callable[[Iterable[bytes]], bytes]:
    """Returns the function that merges parts; of several failures it keeps the first in input order."""
    load = _loader()

    def merge(parts: Iterable[bytes]) -> bytes:
        slotscope = load()
        parts = [bytes(part) for part in parts]
        failures = [json.loads(part[1:]) for part in parts if part[:1] == b"\1"]
        if failures:
            return b"\1" + json.dumps(min(failures)).encode()
        try:
            merged: bytes = slotscope.merge([part[1:] for part in parts])
            return b"\0" + merged
        except slotscope.Error as error:
            # The error belongs to no input, so it sorts after those that do.
            return b"\1" + json.dumps([1 << 32, 0, str(error)]).encode()

    return merge


def _loader() -> Callable[[], Any]:
    """Returns the function that imports slotscope in a task: the package sent by the driver, or else the installed one."""
    package = PACKAGE

    def load() -> Any:
        import importlib
        import os
        import sys

        if "slotscope" not in sys.modules:
            from pyspark import SparkFiles

            for place in (SparkFiles.getRootDirectory(), os.getcwd()):
                sent = os.path.join(place, package)
                if os.path.isdir(sent):
                    sys.path.insert(0, sent)
                    break
        return importlib.import_module("slotscope")

    return load


def _unwrapped(part: bytes) -> bytes:
    if part[:1] == b"\1":
        raise Error(json.loads(part[1:])[2])
    return part[1:]


def _udf(function: Callable[..., bytes]) -> Any:
    """`function` as a user-defined function, without Arrow, for which workers would need pyarrow."""
    from pyspark.sql import functions as F
    from pyspark.sql.types import BinaryType

    try:
        return F.udf(function, BinaryType(), useArrow=False)
    except TypeError:  # Spark before 3.5
        return F.udf(function, BinaryType())


def _ship(spark: SparkSession) -> None:
    """Sends this package to the executors, once per session."""
    if getattr(spark, SHIPPED, False):
        return
    archive = os.path.join(tempfile.mkdtemp(prefix="slotscope-"), f"{PACKAGE}.zip")
    folder = os.path.dirname(slotscope.__file__)
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as package:
        for name in sorted(os.listdir(folder)):
            if os.path.isfile(os.path.join(folder, name)):
                package.write(os.path.join(folder, name), f"slotscope/{name}")
    named = f"{archive}#{PACKAGE}"
    if _is_connect(spark) or int(spark.version.split(".")[0]) >= 4:
        spark.addArtifacts(named, archive=True)
    else:
        spark.sparkContext.addArchive(named)
    setattr(spark, SHIPPED, True)


def _is_connect(spark: SparkSession) -> bool:
    return "connect" in type(spark).__module__


class _described:
    """Names the jobs run within it, for Spark's UI."""

    def __init__(self, spark: SparkSession, text: str) -> None:
        self.spark, self.text = spark, text

    def __enter__(self) -> None:
        if _is_connect(self.spark):
            self.spark.addTag(self.text.replace(",", ""))
        else:
            self.spark.sparkContext.setJobDescription(self.text)

    def __exit__(self, *_: object) -> None:
        if _is_connect(self.spark):
            self.spark.removeTag(self.text.replace(",", ""))
        else:
            self.spark.sparkContext.setJobDescription(None)


def _bytes(size: str | int) -> int:
    found = re.fullmatch(r"(\d+) ?([KMG]iB)?", str(size), re.IGNORECASE)
    if not found or not int(found[1]):
        raise Error(f"split {size!r}: write a number of bytes, or one with KiB, MiB or GiB")
    return int(found[1]) << UNITS[(found[2] or "").upper()]
