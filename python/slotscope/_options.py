"""The options of the functions, generated from the flags of the program (tests/it/python_options.rs)."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TypedDict, Union

Path = Union[str, "os.PathLike[str]"]


class Analyze(TypedDict, total=False):
    """
    Options:
        address_map: Reach the node that announces FROM at TO, as from outside of Docker or a NAT; may be repeated: 172.17.0.2:6379=127.0.0.1:7001
        allocator: The server's allocator, for estimated sizes in memory; INFO memory names it
        by: What nodes are judged by: keys, bytes, ops, accesses, cpu, or several as in bytes,ops
        cluster_info: The output of `redis-cli --cluster info`
        date: The date of the input, as 2026-10-24, where its files do not have it: capacity goes by it
        db: Only keys of this database, where the input has it
        delimiter: The byte between keys, for the format `lines`: one character, or one of `\\0` `\\t` `\\n` `\\xHH` [default: the line end]
        depth: Levels of prefixes; 0: no prefixes and no patterns, which is faster
        escapes: Escapes of redis-cli in the keys of `csv` and `jsonl`, such as `\\xff`
        format: The format; `--format help` lists all
        growth: Growth of the data in percent per month: 8, 8%
        keep: Keep what is read from running servers in this new directory, as collect does
        kernel: How slots are computed; `slotscope bench` lists the kernels [default: the best that this CPU has]
        key_column: The column of the keys, for `csv` and `jsonl` [default: key or name]
        lfu_decay_time: The server's lfu-decay-time, in minutes [default: 1]
        lfu_log_factor: The server's lfu-log-factor, for accesses by LFU counters [default: 10]
        line: The pattern of the lines of a text, such as `{_} key={key} size={size}`; `{{` is a brace [default: found by the content]
        load: Measure load too, over these seconds: 10s
        match: Only keys with a name that matches, as SCAN MATCH does; repeat it for keys that match any
        match_regex: The same with a regular expression, which need not match all of the name
        max_load: The most of a node's time that reading may take
        max_size: Only keys of at most this size
        maxmemory: The memory limit of a node, as in redis.conf: 4gb
        min_size: Only keys of at least this size: bytes, or 10kb, 1mb
        monitor: With --load: MONITOR too, for as long after that, at most 10 s
        no_verify: Do not verify the checksum: values are then skipped unread
        nodes: An even split of the slots over N primaries
        one_pass: Never read a file to its end twice: past 65,536 tags, those of RDB and compressed files have bounds
        only: Only this part: the fastest, without tags
        ops_column: The column of the operations on them; of CLUSTER SLOT-STATS the statistic that counts as such [default: ops, hits, qps, requests or count]
        password_file: A file whose first line is the password
        policy: Which part of a key is hashed: oss, enterprise or regex:PATTERN [default: oss]
        previous: Previous report; stops the state flapping at a threshold
        redact: Hashes in place of names, in every output
        separator: The separator between the segments of a key
        service: The managed service that runs the servers: elasticache, memorydb, memorystore, azure ...
        size: What the sizes of keys are
        size_column: The column of their sizes in bytes; none: there is none [default: memory, size_in_bytes, bytes, used_memory, memory_usage or size]
        sni: The name in the certificates of the servers [default: the host of each]
        storage_option: An option of an object store, such as aws_region=eu-west-1; may be repeated; secrets are better in the environment
        strict: Fail at the first row that is not a key, without a report
        threads: Worker threads [default: all cores]
        timeout: Timeout per server
        title: A title for the page, such as the name of the cluster
        tls: Use TLS; implied by the other flags of TLS and by URLs that begin with `rediss://`
        tls_ca: Trusted authorities [default: the system's]
        tls_cert: The certificate to show to servers, a PEM file
        tls_key: The key of that certificate, a PEM file
        top: Rows in every table
        topology: The cluster's own listing: CLUSTER NODES
        ttl: Only keys that never expire (none), that expire (any), or that expire in a range: 1h..7d from now, 2026-12-01..2027-01-01
        type: Only keys of these types, such as string,hash
        used_memory: Memory that a node really uses; the node by hostname, address or id, or the start of one; may be repeated
        user: The ACL user [default: the default user]
        weight: Relative capacity of a node; 1 if not given
    """

    address_map: Mapping[str, str | float] | list[str] | str
    allocator: str
    by: list[str] | str
    cluster_info: Path
    date: str
    db: int
    delimiter: str
    depth: int
    escapes: str
    format: str
    growth: float
    keep: Path
    kernel: str
    key_column: str
    lfu_decay_time: int
    lfu_log_factor: int
    line: str
    load: str
    match: str | list[str]
    match_regex: str | list[str]
    max_load: float
    max_size: str
    maxmemory: str
    min_size: str
    monitor: bool
    no_verify: bool
    nodes: int
    one_pass: bool
    only: str
    ops_column: str
    password_file: Path
    policy: str | list[str]
    previous: Path
    redact: bool
    separator: str
    service: str
    size: str
    size_column: str
    sni: str
    storage_option: Mapping[str, str | float] | list[str] | str
    strict: bool
    threads: int
    timeout: str
    title: str
    tls: bool
    tls_ca: Path
    tls_cert: Path
    tls_key: Path
    top: int
    topology: Path
    ttl: str
    type: str | list[str]
    used_memory: Mapping[str, str | float] | list[str] | str
    user: str
    weight: Mapping[str, str | float] | list[str] | str


class Plan(TypedDict, total=False):
    """
    Options:
        add: Empty primaries that will be added: new-1, new-2 ...
        address_map: Reach the node that announces FROM at TO, as from outside of Docker or a NAT; may be repeated: 172.17.0.2:6379=127.0.0.1:7001
        allocator: The server's allocator, for estimated sizes in memory; INFO memory names it
        by: What nodes are judged by: keys, bytes, ops, accesses, cpu, or several as in bytes,ops
        db: Only keys of this database, where the input has it
        delimiter: The byte between keys, for the format `lines`: one character, or one of `\\0` `\\t` `\\n` `\\xHH` [default: the line end]
        escapes: Escapes of redis-cli in the keys of `csv` and `jsonl`, such as `\\xff`
        exclude: Slots that stay where they are: 0-5,77
        force: Plan even if the dump looks incomplete
        format: The format; `--format help` lists all
        growth: Growth of the data in percent per month: 8, 8%
        keep: Keep what is read from running servers in this new directory, as collect does
        kernel: How slots are computed; `slotscope bench` lists the kernels [default: the best that this CPU has]
        key_column: The column of the keys, for `csv` and `jsonl` [default: key or name]
        lfu_decay_time: The server's lfu-decay-time, in minutes [default: 1]
        lfu_log_factor: The server's lfu-log-factor, for accesses by LFU counters [default: 10]
        line: The pattern of the lines of a text, such as `{_} key={key} size={size}`; `{{` is a brace [default: found by the content]
        load: Measure load too, over these seconds: 10s
        match: Only keys with a name that matches, as SCAN MATCH does; repeat it for keys that match any
        match_regex: The same with a regular expression, which need not match all of the name
        max_block: Do not move slots whose largest key would block a node for longer: 100ms, 2s
        max_bytes: Move at most this many bytes, as in redis.conf: 4gb, 512mb
        max_load: The most of a node's time that reading may take
        max_size: Only keys of at most this size
        max_slots: Move at most this many slots
        maxmemory: The memory limit of a node, as in redis.conf: 4gb
        min_size: Only keys of at least this size: bytes, or 10kb, 1mb
        monitor: With --load: MONITOR too, for as long after that, at most 10 s
        move_big: Move slots with large keys too
        no_verify: Do not verify the checksum: values are then skipped unread
        nodes: An even split of the slots over N primaries
        ops_column: The column of the operations on them; of CLUSTER SLOT-STATS the statistic that counts as such [default: ops, hits, qps, requests or count]
        password_file: A file whose first line is the password
        policy: Which part of a key is hashed: oss, enterprise or regex:PATTERN [default: oss]
        remove: A primary to be emptied; may be repeated
        service: The managed service that runs the servers: elasticache, memorydb, memorystore, azure ...
        size: What the sizes of keys are
        size_column: The column of their sizes in bytes; none: there is none [default: memory, size_in_bytes, bytes, used_memory, memory_usage or size]
        sni: The name in the certificates of the servers [default: the host of each]
        storage_option: An option of an object store, such as aws_region=eu-west-1; may be repeated; secrets are better in the environment
        strict: Fail at the first row that is not a key, without a report
        threads: Worker threads [default: all cores]
        timeout: Timeout per server
        tls: Use TLS; implied by the other flags of TLS and by URLs that begin with `rediss://`
        tls_ca: Trusted authorities [default: the system's]
        tls_cert: The certificate to show to servers, a PEM file
        tls_key: The key of that certificate, a PEM file
        tolerance: How far above its fair share a node may stay; 3 for memory, 10 for load
        topology: The cluster's own listing: CLUSTER NODES
        ttl: Only keys that never expire (none), that expire (any), or that expire in a range: 1h..7d from now, 2026-12-01..2027-01-01
        type: Only keys of these types, such as string,hash
        used_memory: Memory that a node really uses; the node by hostname, address or id, or the start of one; may be repeated
        user: The ACL user [default: the default user]
        weight: Relative capacity of a node; 1 if not given
    """

    add: int
    address_map: Mapping[str, str | float] | list[str] | str
    allocator: str
    by: list[str] | str
    db: int
    delimiter: str
    escapes: str
    exclude: str | list[str]
    force: bool
    format: str
    growth: float
    keep: Path
    kernel: str
    key_column: str
    lfu_decay_time: int
    lfu_log_factor: int
    line: str
    load: str
    match: str | list[str]
    match_regex: str | list[str]
    max_block: str
    max_bytes: str
    max_load: float
    max_size: str
    max_slots: int
    maxmemory: str
    min_size: str
    monitor: bool
    move_big: bool
    no_verify: bool
    nodes: int
    ops_column: str
    password_file: Path
    policy: str | list[str]
    remove: str | list[str]
    service: str
    size: str
    size_column: str
    sni: str
    storage_option: Mapping[str, str | float] | list[str] | str
    strict: bool
    threads: int
    timeout: str
    tls: bool
    tls_ca: Path
    tls_cert: Path
    tls_key: Path
    tolerance: float
    topology: Path
    ttl: str
    type: str | list[str]
    used_memory: Mapping[str, str | float] | list[str] | str
    user: str
    weight: Mapping[str, str | float] | list[str] | str


class WhatIf(TypedDict, total=False):
    """
    Options:
        address_map: Reach the node that announces FROM at TO, as from outside of Docker or a NAT; may be repeated: 172.17.0.2:6379=127.0.0.1:7001
        allocator: The server's allocator, for estimated sizes in memory; INFO memory names it
        by: What nodes are judged by: keys, bytes, ops, accesses, cpu, or several as in bytes,ops
        db: Only keys of this database, where the input has it
        delimiter: The byte between keys, for the format `lines`: one character, or one of `\\0` `\\t` `\\n` `\\xHH` [default: the line end]
        escapes: Escapes of redis-cli in the keys of `csv` and `jsonl`, such as `\\xff`
        format: The format; `--format help` lists all
        keep: Keep what is read from running servers in this new directory, as collect does
        kernel: How slots are computed; `slotscope bench` lists the kernels [default: the best that this CPU has]
        key_column: The column of the keys, for `csv` and `jsonl` [default: key or name]
        lfu_decay_time: The server's lfu-decay-time, in minutes [default: 1]
        lfu_log_factor: The server's lfu-log-factor, for accesses by LFU counters [default: 10]
        line: The pattern of the lines of a text, such as `{_} key={key} size={size}`; `{{` is a brace [default: found by the content]
        load: Measure load too, over these seconds: 10s
        match: Only keys with a name that matches, as SCAN MATCH does; repeat it for keys that match any
        match_regex: The same with a regular expression, which need not match all of the name
        max_load: The most of a node's time that reading may take
        max_size: Only keys of at most this size
        maxmemory: The memory limit of a node, as in redis.conf: 4gb
        min_size: Only keys of at least this size: bytes, or 10kb, 1mb
        monitor: With --load: MONITOR too, for as long after that, at most 10 s
        no_verify: Do not verify the checksum: values are then skipped unread
        nodes: An even split of the slots over N primaries
        ops_column: The column of the operations on them; of CLUSTER SLOT-STATS the statistic that counts as such [default: ops, hits, qps, requests or count]
        password_file: A file whose first line is the password
        policy: Which part of a key is hashed: oss, enterprise or regex:PATTERN [default: oss]
        retag: Rename keys: $1 and ${name} are groups of REGEX
        size: What the sizes of keys are
        size_column: The column of their sizes in bytes; none: there is none [default: memory, size_in_bytes, bytes, used_memory, memory_usage or size]
        sni: The name in the certificates of the servers [default: the host of each]
        split: Split a tag into K: {TAG} becomes {TAG:k}
        storage_option: An option of an object store, such as aws_region=eu-west-1; may be repeated; secrets are better in the environment
        strict: Fail at the first row that is not a key, without a report
        threads: Worker threads [default: all cores]
        timeout: Timeout per server
        tls: Use TLS; implied by the other flags of TLS and by URLs that begin with `rediss://`
        tls_ca: Trusted authorities [default: the system's]
        tls_cert: The certificate to show to servers, a PEM file
        tls_key: The key of that certificate, a PEM file
        to_nodes: An even split of the slots over M primaries
        to_policy: Another hash policy: oss, enterprise or regex:PATTERN
        to_topology: The nodes of a listing, in any format that --topology reads
        topology: The cluster's own listing: CLUSTER NODES
        ttl: Only keys that never expire (none), that expire (any), or that expire in a range: 1h..7d from now, 2026-12-01..2027-01-01
        type: Only keys of these types, such as string,hash
        user: The ACL user [default: the default user]
    """

    address_map: Mapping[str, str | float] | list[str] | str
    allocator: str
    by: list[str] | str
    db: int
    delimiter: str
    escapes: str
    format: str
    keep: Path
    kernel: str
    key_column: str
    lfu_decay_time: int
    lfu_log_factor: int
    line: str
    load: str
    match: str | list[str]
    match_regex: str | list[str]
    max_load: float
    max_size: str
    maxmemory: str
    min_size: str
    monitor: bool
    no_verify: bool
    nodes: int
    ops_column: str
    password_file: Path
    policy: str | list[str]
    retag: Mapping[str, str | float] | list[str] | str
    size: str
    size_column: str
    sni: str
    split: Mapping[str, str | float] | list[str] | str
    storage_option: Mapping[str, str | float] | list[str] | str
    strict: bool
    threads: int
    timeout: str
    tls: bool
    tls_ca: Path
    tls_cert: Path
    tls_key: Path
    to_nodes: int
    to_policy: str | list[str]
    to_topology: Path
    topology: Path
    ttl: str
    type: str | list[str]
    user: str


class Advise(TypedDict, total=False):
    """
    Options:
        address_map: Reach the node that announces FROM at TO, as from outside of Docker or a NAT; may be repeated: 172.17.0.2:6379=127.0.0.1:7001
        allocator: The server's allocator, for estimated sizes in memory; INFO memory names it
        batches: Commands, as for fanout: lines of commands or keys, MONITOR, or an append-only file; may be repeated
        by: What nodes are judged by: keys, bytes, ops, accesses, cpu, or several as in bytes,ops
        db: Only keys of this database, where the input has it
        delimiter: The byte between keys, for the format `lines`: one character, or one of `\\0` `\\t` `\\n` `\\xHH` [default: the line end]
        escapes: Escapes of redis-cli in the keys of `csv` and `jsonl`, such as `\\xff`
        format: The format; `--format help` lists all
        keep: Names of this pattern must not change: as advise prints it, `cart:<n>:items`; may be repeated
        kernel: How slots are computed; `slotscope bench` lists the kernels [default: the best that this CPU has]
        key_column: The column of the keys, for `csv` and `jsonl` [default: key or name]
        lfu_decay_time: The server's lfu-decay-time, in minutes [default: 1]
        lfu_log_factor: The server's lfu-log-factor, for accesses by LFU counters [default: 10]
        line: The pattern of the lines of a text, such as `{_} key={key} size={size}`; `{{` is a brace [default: found by the content]
        match: Only keys with a name that matches, as SCAN MATCH does; repeat it for keys that match any
        match_regex: The same with a regular expression, which need not match all of the name
        max_load: The most of a node's time that reading may take
        max_size: Only keys of at most this size
        min_size: Only keys of at least this size: bytes, or 10kb, 1mb
        no_verify: Do not verify the checksum: values are then skipped unread
        nodes: An even split of the slots over N primaries
        ops_column: The column of the operations on them; of CLUSTER SLOT-STATS the statistic that counts as such [default: ops, hits, qps, requests or count]
        password_file: A file whose first line is the password
        size: What the sizes of keys are
        size_column: The column of their sizes in bytes; none: there is none [default: memory, size_in_bytes, bytes, used_memory, memory_usage or size]
        sni: The name in the certificates of the servers [default: the host of each]
        storage_option: An option of an object store, such as aws_region=eu-west-1; may be repeated; secrets are better in the environment
        strict: Fail at the first row that is not a key, without a report
        threads: Worker threads [default: all cores]
        timeout: Timeout per server
        tls: Use TLS; implied by the other flags of TLS and by URLs that begin with `rediss://`
        tls_ca: Trusted authorities [default: the system's]
        tls_cert: The certificate to show to servers, a PEM file
        tls_key: The key of that certificate, a PEM file
        together: Names of both patterns must share a slot where they share an id; may be repeated
        top: Rows in every table
        topology: The cluster's own listing: CLUSTER NODES
        ttl: Only keys that never expire (none), that expire (any), or that expire in a range: 1h..7d from now, 2026-12-01..2027-01-01
        type: Only keys of these types, such as string,hash
        user: The ACL user [default: the default user]
    """

    address_map: Mapping[str, str | float] | list[str] | str
    allocator: str
    batches: Path | list[Path]
    by: list[str] | str
    db: int
    delimiter: str
    escapes: str
    format: str
    keep: str | list[str]
    kernel: str
    key_column: str
    lfu_decay_time: int
    lfu_log_factor: int
    line: str
    match: str | list[str]
    match_regex: str | list[str]
    max_load: float
    max_size: str
    min_size: str
    no_verify: bool
    nodes: int
    ops_column: str
    password_file: Path
    size: str
    size_column: str
    sni: str
    storage_option: Mapping[str, str | float] | list[str] | str
    strict: bool
    threads: int
    timeout: str
    tls: bool
    tls_ca: Path
    tls_cert: Path
    tls_key: Path
    together: str | list[str]
    top: int
    topology: Path
    ttl: str
    type: str | list[str]
    user: str


class Capacity(TypedDict, total=False):
    """
    Options:
        by: The metric of the tables [default: bytes, else that of the newest report]
        date: Which date a report is of [default: that in the dump, else in its path, else of its file]
        force: Compare reports that differ in nodes, policy or kind of sizes, with a note
        full_at: The part of its limit at which a shard counts as full
        grow: Growth that is assumed: 40%, '{TAG}=2x' or 'PATTERN=1.5x'
        maxmemory: The memory limit of a shard, as in redis.conf: 4gb
        months: The months ahead that are shown
        shards: Numbers of shards to try, at most 16 [default: some from today's to twice that]
        with_doubtful: Count reports of incomplete, suspicious and partly seen inputs too
    """

    by: list[str] | str
    date: str
    force: bool
    full_at: float
    grow: str | list[str]
    maxmemory: str
    months: int | list[int]
    shards: int | list[int]
    with_doubtful: bool
