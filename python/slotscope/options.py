"""The types of inputs and options, for type checkers: the flags of the program with underscores."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol, TypedDict, Union

from slotscope._options import Advise, Analyze, Capacity, Path, Plan, WhatIf

__all__ = ["Advise", "Analyze", "ArrowArray", "ArrowStream", "Capacity", "Counting", "File", "Keys", "Path", "Plan", "Split", "WhatIf"]


class File(Protocol):
    """A binary file object. One that is `seekable()` is read at any offset, by several threads in turn."""

    def read(self, size: int, /) -> bytes: ...


class ArrowArray(Protocol):
    """An Arrow array in memory."""

    def __arrow_c_array__(self, requested_schema: object = None) -> tuple[object, object]: ...


class ArrowStream(Protocol):
    """Arrow arrays, one after the other."""

    def __arrow_c_stream__(self, requested_schema: object = None) -> object: ...


Keys = Union[Iterable[Union[str, bytes]], ArrowArray, ArrowStream]


#: A range of chunks of one input, which any process may count: `from` the first chunk `to` the one after the last.
#: `bytes` is their approximate size, 0 if unknown.
Split = TypedDict("Split", {"input": int, "from": int, "to": int, "bytes": int})


class Counting(TypedDict, total=False):
    """How a part is read; what is counted is in its plan."""

    threads: int
    kernel: str
    strict: bool
    storage_option: dict[str, str] | list[str]
