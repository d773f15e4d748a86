"""Columns of a data frame: pandas, polars, pyarrow, or a dict of lists."""

from __future__ import annotations

import os
from typing import Any

from slotscope._native import Error


#: The columns that are read without being named.
USUAL = {"size": "bytes", "ops": "ops"}


def is_frame(given: Any) -> bool:
    """Whether `given` looks like a data frame."""
    return isinstance(given, dict) or any(hasattr(given, name) for name in ("columns", "read_all", "collect_schema"))


def columns_of(frame: Any, names: dict[str, str | None]) -> dict[str, Any]:
    """The columns of `frame` with these names, to which those of usual columns are added."""
    if isinstance(frame, (str, os.PathLike)) or hasattr(frame, "read"):
        raise Error("key, bytes and ops name columns of a data frame; of files: key_column, size_column, ops_column")
    if type(frame).__name__ == "LazyFrame":
        raise Error("a LazyFrame has no rows yet: call .collect() first")
    if hasattr(frame, "read_all"):  # a stream of record batches
        frame = frame.read_all()
    known = list(getattr(frame, "column_names", getattr(frame, "columns", frame if isinstance(frame, dict) else ())))
    for role, usual in USUAL.items():
        if names[role] is None and usual in known:
            names[role] = usual
    found = {}
    for role, name in names.items():
        if name is None:
            continue
        if name not in known:
            there = f"; there are: {', '.join(map(str, known))}" if known else ""
            raise Error(f"{name}: no such column{there}")
        found[role] = frame[name]
    return found
