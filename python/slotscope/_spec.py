"""What is read and counted, generated from the specs of the library (tests/it/python_options.rs)."""

from __future__ import annotations

from typing import TypedDict


class ReadSpec(TypedDict, total=False):
    """What is read and how."""

    #: The allocator of the server, for estimated sizes in memory: INFO memory names it, distributions have their own
    allocator: str

    #: Only keys of this database, where the input has it
    db: int

    #: The byte between keys, for the format `lines`: one character, or one of `\0` `\t` `\n` `\xHH` [default: the line end]
    delimiter: str

    #: Escapes of redis-cli in the keys of `csv` and `jsonl`, such as `\xff`
    escapes: str

    #: The format; `--format help` lists all
    format: str

    #: How slots are computed; `slotscope bench` lists the kernels [default: the best that this CPU has]
    kernel: str

    #: The column of the keys, for `csv` and `jsonl` [default: key or name]
    key_column: str

    #: The server's lfu-decay-time, in minutes [default: 1]
    lfu_decay_time: int

    #: The server's lfu-log-factor, for accesses by LFU counters [default: 10]
    lfu_log_factor: int

    #: Only keys with a name that matches, as SCAN MATCH does; repeat it for keys that match any
    match: str | list[str]

    #: The same with a regular expression, which need not match all of the name
    match_regex: str | list[str]

    #: Only keys of at most this size
    max_size: str

    #: Only keys of at least this size: bytes, or 10kb, 1mb
    min_size: str

    #: Do not verify the checksum: values are then passed over without reading them
    no_verify: bool

    #: The column of the operations on them [default: ops, hits, qps, requests or count]; of CLUSTER SLOT-STATS the statistic that counts as such
    ops_column: str

    #: What the sizes of keys are
    size: str

    #: The column of their sizes in bytes [default: memory, size, size_in_bytes, bytes, used_memory or memory_usage]
    size_column: str

    #: Fail at the first row that is not a key, without a report
    strict: bool

    #: Worker threads [default: all cores]
    threads: int

    #: Only keys that never expire (none), that expire (any), or that expire in a range: 1h..7d from now, 2026-12-01..2027-01-01
    ttl: str

    #: Only keys of these types, such as string,hash
    type: str | list[str]


class NodeSpec(TypedDict, total=False):
    """Where the nodes come from."""

    #: An even split of the slots over N primaries
    nodes: int

    #: The cluster's own listing: CLUSTER NODES
    topology: str


class HashSpec(TypedDict, total=False):
    """What part of a key is hashed."""

    #: What part of a key is hashed: oss, enterprise or regex:PATTERN [default: oss]
    policy: str | list[str]


class CountSpec(TypedDict, total=False):
    """What is counted besides slots."""

    #: Levels of prefixes; 0: no prefixes and no patterns, which is faster
    depth: int

    #: Never read a file twice: past 65,536 distinct tags their counts come with bounds
    one_pass: bool

    #: Only this part: the fastest, without tags
    only: str

    #: The separator between the segments of a key
    separator: str
