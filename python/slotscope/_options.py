"""The options of the functions, generated from the flags of the program (tests/it/python_options.rs)."""

from __future__ import annotations

import os
from typing import TypedDict, Union

Path = Union[str, "os.PathLike[str]"]


class Analyze(TypedDict, total=False):
    """The options of `analyze`."""

    #: Reach the node that announces FROM at TO, as from outside of Docker or a NAT; may be repeated: 172.17.0.2:6379=127.0.0.1:7001
    address_map: dict[str, str] | list[str]

    #: The allocator of the server, for estimated sizes in memory: INFO memory names it, distributions have their own
    allocator: str

    #: What nodes are judged by: keys, bytes, ops, accesses, or several as in bytes=2,ops=1
    by: str

    #: The nodes that captures are of, where these do not show it: ids, addresses or hostnames
    captured: str | list[str]

    #: What `redis-cli --cluster info` printed
    cluster_info: Path

    #: What is between columns: one character, `tab`, `blank`, or text such as ` -> ` [default: found by the content]
    column_separator: str

    #: The columns of a table without a header, from left to right: `key,size,_`, where `_` is not read
    columns: str | list[str]

    #: Only keys of this database, where the input has it
    db: int

    #: The byte between keys, for the format `lines`: one character, or one of `\0` `\t` `\n` `\xHH` [default: the line end]
    delimiter: str

    #: Levels of prefixes; 0: no prefixes and no patterns, which is faster
    depth: int

    #: Escapes of redis-cli in the keys of `csv` and `jsonl`, such as `\xff`
    escapes: str

    #: The format; `--format help` lists all
    format: str

    #: How much the data grows in a month, in percent: 8, 8%
    growth: float

    #: Keep what is read of running servers in this new directory, as collect does
    keep: Path

    #: How slots are computed; `slotscope bench` lists the kernels [default: the best that this CPU has]
    kernel: str

    #: The column of the keys, for `csv` and `jsonl` [default: key or name]
    key_column: str

    #: The server's lfu-decay-time, in minutes [default: 1]
    lfu_decay_time: int

    #: The server's lfu-log-factor, for accesses by LFU counters [default: 10]
    lfu_log_factor: int

    #: Measure load too, over these seconds: 10s
    load: str

    #: Only keys with a name that matches, as SCAN MATCH does; repeat it for keys that match any
    match: str | list[str]

    #: The same with a regular expression, which need not match all of the name
    match_regex: str | list[str]

    #: The most of a node's time that reading may take
    max_load: float

    #: Only keys of at most this size
    max_size: str

    #: The memory limit of a node, as in redis.conf: 4gb
    maxmemory: str

    #: Only keys of at least this size: bytes, or 10kb, 1mb
    min_size: str

    #: With --load: MONITOR too, for as long after that, at most 10 s
    monitor: bool

    #: Do not verify the checksum: values are then passed over without reading them
    no_verify: bool

    #: An even split of the slots over N primaries
    nodes: int

    #: Never read a file again to its end: past 65,536 tags, those of RDB and compressed files come with bounds
    one_pass: bool

    #: Only this part: the fastest, without tags
    only: str

    #: The column of the operations on them [default: ops, hits, qps, requests or count]; of CLUSTER SLOT-STATS the statistic that counts as such
    ops_column: str

    #: A file whose first line is the password
    password_file: Path

    #: What part of a key is hashed: oss, enterprise or regex:PATTERN [default: oss]
    policy: str | list[str]

    #: The report before, so that a figure that wanders around a limit does not change the state every time
    previous: Path

    #: Hashes in place of names, in every output
    redact: bool

    #: The separator between the segments of a key
    separator: str

    #: The managed service that runs the servers: elasticache, memorydb, memorystore, azure ...
    service: str

    #: What the sizes of keys are
    size: str

    #: The column of their sizes in bytes [default: memory, size, size_in_bytes, bytes, used_memory or memory_usage]
    size_column: str

    #: The name in the certificates of the servers [default: the host of each]
    sni: str

    #: An option of an object store, such as aws_region=eu-west-1; may be repeated; secrets are better in the environment
    storage_option: dict[str, str] | list[str]

    #: Fail at the first row that is not a key, without a report
    strict: bool

    #: Worker threads [default: all cores]
    threads: int

    #: A server that has not answered within this time is given up
    timeout: str

    #: A title for the page, such as the name of the cluster
    title: str

    #: Use TLS; implied by the other flags of TLS and by URLs that begin with `rediss://`
    tls: bool

    #: Trusted authorities [default: the system's]
    tls_ca: Path

    #: The certificate to show to servers, a PEM file
    tls_cert: Path

    #: The key of that certificate, a PEM file
    tls_key: Path

    #: Rows in every table
    top: int

    #: The cluster's own listing: CLUSTER NODES
    topology: Path

    #: Only keys that never expire (none), that expire (any), or that expire in a range: 1h..7d from now, 2026-12-01..2027-01-01
    ttl: str

    #: Only keys of these types, such as string,hash
    type: str | list[str]

    #: The memory that a node really uses; the node by hostname, address or id, or the start of one; may be repeated
    used_memory: dict[str, str] | list[str]

    #: The ACL user [default: the default user]
    user: str

    #: Relative capacity of a node, 1 where it is not said
    weight: dict[str, str] | list[str]


class Plan(TypedDict, total=False):
    """The options of `plan`."""

    #: Empty primaries that will be added: new-1, new-2 ...
    add: int

    #: Reach the node that announces FROM at TO, as from outside of Docker or a NAT; may be repeated: 172.17.0.2:6379=127.0.0.1:7001
    address_map: dict[str, str] | list[str]

    #: The allocator of the server, for estimated sizes in memory: INFO memory names it, distributions have their own
    allocator: str

    #: What nodes are judged by: keys, bytes, ops, accesses, or several as in bytes=2,ops=1
    by: str

    #: The nodes that captures are of, where these do not show it: ids, addresses or hostnames
    captured: str | list[str]

    #: What is between columns: one character, `tab`, `blank`, or text such as ` -> ` [default: found by the content]
    column_separator: str

    #: The columns of a table without a header, from left to right: `key,size,_`, where `_` is not read
    columns: str | list[str]

    #: Only keys of this database, where the input has it
    db: int

    #: The byte between keys, for the format `lines`: one character, or one of `\0` `\t` `\n` `\xHH` [default: the line end]
    delimiter: str

    #: Escapes of redis-cli in the keys of `csv` and `jsonl`, such as `\xff`
    escapes: str

    #: Slots that stay where they are: 0-5,77
    exclude: str | list[str]

    #: Plan with a dump that does not look whole
    force: bool

    #: The format; `--format help` lists all
    format: str

    #: How much the data grows in a month, in percent: 8, 8%
    growth: float

    #: Keep what is read of running servers in this new directory, as collect does
    keep: Path

    #: How slots are computed; `slotscope bench` lists the kernels [default: the best that this CPU has]
    kernel: str

    #: The column of the keys, for `csv` and `jsonl` [default: key or name]
    key_column: str

    #: The server's lfu-decay-time, in minutes [default: 1]
    lfu_decay_time: int

    #: The server's lfu-log-factor, for accesses by LFU counters [default: 10]
    lfu_log_factor: int

    #: Measure load too, over these seconds: 10s
    load: str

    #: Only keys with a name that matches, as SCAN MATCH does; repeat it for keys that match any
    match: str | list[str]

    #: The same with a regular expression, which need not match all of the name
    match_regex: str | list[str]

    #: Leave slots where they are whose largest key would block a node for longer: 100ms, 2s
    max_block: str

    #: Move at most so much, as in redis.conf: 4gb, 512mb
    max_bytes: str

    #: The most of a node's time that reading may take
    max_load: float

    #: Only keys of at most this size
    max_size: str

    #: Move at most this many slots
    max_slots: int

    #: The memory limit of a node, as in redis.conf: 4gb
    maxmemory: str

    #: Only keys of at least this size: bytes, or 10kb, 1mb
    min_size: str

    #: With --load: MONITOR too, for as long after that, at most 10 s
    monitor: bool

    #: Move slots with large keys too
    move_big: bool

    #: Do not verify the checksum: values are then passed over without reading them
    no_verify: bool

    #: An even split of the slots over N primaries
    nodes: int

    #: The column of the operations on them [default: ops, hits, qps, requests or count]; of CLUSTER SLOT-STATS the statistic that counts as such
    ops_column: str

    #: A file whose first line is the password
    password_file: Path

    #: What part of a key is hashed: oss, enterprise or regex:PATTERN [default: oss]
    policy: str | list[str]

    #: A primary to be emptied; may be repeated
    remove: str | list[str]

    #: The managed service that runs the servers: elasticache, memorydb, memorystore, azure ...
    service: str

    #: What the sizes of keys are
    size: str

    #: The column of their sizes in bytes [default: memory, size, size_in_bytes, bytes, used_memory or memory_usage]
    size_column: str

    #: The name in the certificates of the servers [default: the host of each]
    sni: str

    #: An option of an object store, such as aws_region=eu-west-1; may be repeated; secrets are better in the environment
    storage_option: dict[str, str] | list[str]

    #: Fail at the first row that is not a key, without a report
    strict: bool

    #: Worker threads [default: all cores]
    threads: int

    #: A server that has not answered within this time is given up
    timeout: str

    #: Use TLS; implied by the other flags of TLS and by URLs that begin with `rediss://`
    tls: bool

    #: Trusted authorities [default: the system's]
    tls_ca: Path

    #: The certificate to show to servers, a PEM file
    tls_cert: Path

    #: The key of that certificate, a PEM file
    tls_key: Path

    #: How far above its fair share a node may stay; 3 for memory, 10 for load
    tolerance: float

    #: The cluster's own listing: CLUSTER NODES
    topology: Path

    #: Only keys that never expire (none), that expire (any), or that expire in a range: 1h..7d from now, 2026-12-01..2027-01-01
    ttl: str

    #: Only keys of these types, such as string,hash
    type: str | list[str]

    #: The memory that a node really uses; the node by hostname, address or id, or the start of one; may be repeated
    used_memory: dict[str, str] | list[str]

    #: The ACL user [default: the default user]
    user: str

    #: Relative capacity of a node, 1 where it is not said
    weight: dict[str, str] | list[str]


class WhatIf(TypedDict, total=False):
    """The options of `whatif`."""

    #: Reach the node that announces FROM at TO, as from outside of Docker or a NAT; may be repeated: 172.17.0.2:6379=127.0.0.1:7001
    address_map: dict[str, str] | list[str]

    #: The allocator of the server, for estimated sizes in memory: INFO memory names it, distributions have their own
    allocator: str

    #: What nodes are judged by: keys, bytes, ops, accesses, or several as in bytes=2,ops=1
    by: str

    #: What is between columns: one character, `tab`, `blank`, or text such as ` -> ` [default: found by the content]
    column_separator: str

    #: The columns of a table without a header, from left to right: `key,size,_`, where `_` is not read
    columns: str | list[str]

    #: Only keys of this database, where the input has it
    db: int

    #: The byte between keys, for the format `lines`: one character, or one of `\0` `\t` `\n` `\xHH` [default: the line end]
    delimiter: str

    #: Escapes of redis-cli in the keys of `csv` and `jsonl`, such as `\xff`
    escapes: str

    #: The format; `--format help` lists all
    format: str

    #: Keys that begin with PREFIX count N times, 1.5 or 20
    grow: dict[str, str] | list[str]

    #: Keep what is read of running servers in this new directory, as collect does
    keep: Path

    #: How slots are computed; `slotscope bench` lists the kernels [default: the best that this CPU has]
    kernel: str

    #: The column of the keys, for `csv` and `jsonl` [default: key or name]
    key_column: str

    #: The server's lfu-decay-time, in minutes [default: 1]
    lfu_decay_time: int

    #: The server's lfu-log-factor, for accesses by LFU counters [default: 10]
    lfu_log_factor: int

    #: Measure load too, over these seconds: 10s
    load: str

    #: Only keys with a name that matches, as SCAN MATCH does; repeat it for keys that match any
    match: str | list[str]

    #: The same with a regular expression, which need not match all of the name
    match_regex: str | list[str]

    #: The most of a node's time that reading may take
    max_load: float

    #: Only keys of at most this size
    max_size: str

    #: Only keys of at least this size: bytes, or 10kb, 1mb
    min_size: str

    #: With --load: MONITOR too, for as long after that, at most 10 s
    monitor: bool

    #: Do not verify the checksum: values are then passed over without reading them
    no_verify: bool

    #: An even split of the slots over N primaries
    nodes: int

    #: The column of the operations on them [default: ops, hits, qps, requests or count]; of CLUSTER SLOT-STATS the statistic that counts as such
    ops_column: str

    #: A file whose first line is the password
    password_file: Path

    #: What part of a key is hashed: oss, enterprise or regex:PATTERN [default: oss]
    policy: str | list[str]

    #: Rename keys: $1 and ${name} are groups of REGEX
    retag: dict[str, str] | list[str]

    #: What the sizes of keys are
    size: str

    #: The column of their sizes in bytes [default: memory, size, size_in_bytes, bytes, used_memory or memory_usage]
    size_column: str

    #: The name in the certificates of the servers [default: the host of each]
    sni: str

    #: Split a tag into K: {TAG} becomes {TAG:k}
    split: dict[str, str] | list[str]

    #: An option of an object store, such as aws_region=eu-west-1; may be repeated; secrets are better in the environment
    storage_option: dict[str, str] | list[str]

    #: Fail at the first row that is not a key, without a report
    strict: bool

    #: Worker threads [default: all cores]
    threads: int

    #: A server that has not answered within this time is given up
    timeout: str

    #: Use TLS; implied by the other flags of TLS and by URLs that begin with `rediss://`
    tls: bool

    #: Trusted authorities [default: the system's]
    tls_ca: Path

    #: The certificate to show to servers, a PEM file
    tls_cert: Path

    #: The key of that certificate, a PEM file
    tls_key: Path

    #: An even split of the slots over M primaries
    to_nodes: int

    #: Another hash policy: oss, enterprise or regex:PATTERN
    to_policy: str | list[str]

    #: The nodes of a listing, in any format that --topology reads
    to_topology: Path

    #: The cluster's own listing: CLUSTER NODES
    topology: Path

    #: Only keys that never expire (none), that expire (any), or that expire in a range: 1h..7d from now, 2026-12-01..2027-01-01
    ttl: str

    #: Only keys of these types, such as string,hash
    type: str | list[str]

    #: Take the braces out of keys that REGEX matches; may be repeated
    untag: str | list[str]

    #: The ACL user [default: the default user]
    user: str


class Advise(TypedDict, total=False):
    """The options of `advise`."""

    #: Reach the node that announces FROM at TO, as from outside of Docker or a NAT; may be repeated: 172.17.0.2:6379=127.0.0.1:7001
    address_map: dict[str, str] | list[str]

    #: The allocator of the server, for estimated sizes in memory: INFO memory names it, distributions have their own
    allocator: str

    #: Commands or keys, a batch a line, MONITOR or an append-only file: as of fanout; may be repeated
    batches: Path | list[Path]

    #: What nodes are judged by: keys, bytes, ops, accesses, or several as in bytes=2,ops=1
    by: str

    #: What is between columns: one character, `tab`, `blank`, or text such as ` -> ` [default: found by the content]
    column_separator: str

    #: The columns of a table without a header, from left to right: `key,size,_`, where `_` is not read
    columns: str | list[str]

    #: Only keys of this database, where the input has it
    db: int

    #: The byte between keys, for the format `lines`: one character, or one of `\0` `\t` `\n` `\xHH` [default: the line end]
    delimiter: str

    #: Escapes of redis-cli in the keys of `csv` and `jsonl`, such as `\xff`
    escapes: str

    #: The format; `--format help` lists all
    format: str

    #: Names of this pattern must not change: as advise prints it, `cart:<n>:items`; may be repeated
    keep: str | list[str]

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

    #: The most of a node's time that reading may take
    max_load: float

    #: Only keys of at most this size
    max_size: str

    #: Only keys of at least this size: bytes, or 10kb, 1mb
    min_size: str

    #: Do not verify the checksum: values are then passed over without reading them
    no_verify: bool

    #: An even split of the slots over N primaries
    nodes: int

    #: The column of the operations on them [default: ops, hits, qps, requests or count]; of CLUSTER SLOT-STATS the statistic that counts as such
    ops_column: str

    #: A file whose first line is the password
    password_file: Path

    #: What the sizes of keys are
    size: str

    #: The column of their sizes in bytes [default: memory, size, size_in_bytes, bytes, used_memory or memory_usage]
    size_column: str

    #: The name in the certificates of the servers [default: the host of each]
    sni: str

    #: An option of an object store, such as aws_region=eu-west-1; may be repeated; secrets are better in the environment
    storage_option: dict[str, str] | list[str]

    #: Fail at the first row that is not a key, without a report
    strict: bool

    #: Worker threads [default: all cores]
    threads: int

    #: A server that has not answered within this time is given up
    timeout: str

    #: Use TLS; implied by the other flags of TLS and by URLs that begin with `rediss://`
    tls: bool

    #: Trusted authorities [default: the system's]
    tls_ca: Path

    #: The certificate to show to servers, a PEM file
    tls_cert: Path

    #: The key of that certificate, a PEM file
    tls_key: Path

    #: Names of both patterns must share a slot where they share an id; may be repeated
    together: str | list[str]

    #: Rows in every table
    top: int

    #: The cluster's own listing: CLUSTER NODES
    topology: Path

    #: Only keys that never expire (none), that expire (any), or that expire in a range: 1h..7d from now, 2026-12-01..2027-01-01
    ttl: str

    #: Only keys of these types, such as string,hash
    type: str | list[str]

    #: The ACL user [default: the default user]
    user: str
