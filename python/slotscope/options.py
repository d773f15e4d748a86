"""The types of inputs and options, for type checkers: the flags of the program with underscores."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Protocol, TypedDict, Union

from slotscope._spec import CountSpec, HashSpec, NodeSpec, ReadSpec

Path = Union[str, "os.PathLike[str]"]


class File(Protocol):
    """A binary file object. One that is `seekable()` is read at any offset, by several threads in turn."""

    def read(self, size: int, /) -> bytes: ...


class ArrowArray(Protocol):
    """An Arrow array in memory."""

    def __arrow_c_array__(self, requested_schema: object = None) -> tuple[object, object]: ...


class ArrowStream(Protocol):
    """Arrow arrays, one after the other."""

    def __arrow_c_stream__(self, requested_schema: object = None) -> object: ...


Keys = Union[Iterable[bytes], Iterable[str], ArrowArray, ArrowStream]


class Reading(ReadSpec, NodeSpec, total=False):
    """What is read and how, and the nodes."""

    storage_option: dict[str, str] | list[str]


class Hashing(Reading, HashSpec, total=False):
    """The same, and what part of a key is hashed."""


#: A range of chunks of one input, which any process may count: from the first on, to the one behind the last; about how
#: many bytes these are, 0 where that is not known.
Split = TypedDict("Split", {"input": int, "from": int, "to": int, "bytes": int})


class Counting(TypedDict, total=False):
    """How a part is read; what is counted is in its plan."""

    threads: int
    kernel: str
    strict: bool
    storage_option: dict[str, str] | list[str]


class Live(TypedDict, total=False):
    """How running servers are reached."""

    user: str
    password_file: Path
    tls_ca: Path
    tls_cert: Path
    tls_key: Path
    address_map: dict[str, str] | list[str]
    max_load: float
    timeout: str


class Servers(Live, total=False):
    """The same, and where what is read of them is kept."""

    keep: Path


class Analyze(Hashing, CountSpec, Servers, total=False):
    """The options of `analyze`."""

    cluster_info: Path
    by: str
    weight: dict[str, float] | list[str]
    previous: Path
    captured: str | list[str]
    service: str
    top: int
    title: str
    redact: bool
    maxmemory: str
    growth: float
    used_memory: dict[str, str] | list[str]


class Plan(Hashing, Servers, total=False):
    """The options of `plan`."""

    by: str
    weight: dict[str, float] | list[str]
    add: int
    remove: str | list[str]
    max_slots: int
    max_bytes: str
    exclude: str | list[str]
    tolerance: float
    maxmemory: str
    max_block: str
    move_big: bool
    service: str
    force: bool


class WhatIf(Hashing, Servers, total=False):
    """The options of `whatif`."""

    by: str
    to_nodes: int
    to_topology: Path
    to_policy: str | list[str]
    retag: str | list[str]
    untag: str | list[str]
    split: str | list[str]
    grow: str | list[str]


class Advise(Reading, Live, total=False):
    """The options of `advise`."""

    batches: Path | list[Path]
    by: str
    keep: str | list[str]
    together: str | list[str]
    top: int
