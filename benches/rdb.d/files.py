"""RDB files that real servers write, kept in target/bench, and one of huge values, which is mostly holes."""

import os
import random
import shutil
import socket
import struct
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from measure import Failed

ROOT = Path(__file__).resolve().parents[2]
BENCH = ROOT / "target" / "bench"
SERVERS = Path(os.environ["SLOTSCOPE_BENCH_SERVERS"])
SERVER_SECS = 1800

REDIS, VALKEY = "redis-7.4.1", "valkey-9.1.2"
PROGRAMS = {REDIS: "redis-server", VALKEY: "valkey-server"}


@dataclass
class File:
    """Files that are read together, their content and the servers that wrote them."""

    name: str
    paths: list
    keys: int
    writer: str

    def bytes(self):
        return sum(os.path.getsize(path) for path in self.paths)


class Server:
    """A server that holds all slots, on loopback, in a folder that goes with it."""

    def __init__(self, kind, folder, *options):
        self.folder = Path(folder)
        self.folder.mkdir()
        self.child = None
        # If another process has this port or the cluster bus port, the server exits: try another.
        for _ in range(10):
            self.socket = self.started(SERVERS / kind / PROGRAMS[kind], random.randrange(20_000, 30_000, 2), options)
            if self.socket:
                break
        else:
            log = (self.folder / "log").read_text()
            self.__exit__()
            raise Failed(f"{kind} does not start: {' '.join(log.splitlines()[-3:])}")
        self.socket.settimeout(SERVER_SECS)
        self.replies = self.socket.makefile("rb")

    def started(self, program, port, options):
        """A connection to a new server, once it listens; None where it ends."""
        command = [program, "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--enable-debug-command", "local",
                   "--cluster-port", str(port + 1), "--logfile", "log", *options]
        self.child = subprocess.Popen(command, cwd=self.folder, stdin=subprocess.DEVNULL,
                                      env={**os.environ, "LD_LIBRARY_PATH": str(program.parent)})
        while self.child.poll() is None:
            time.sleep(0.05)
            try:
                return socket.create_connection(("127.0.0.1", port))
            except ConnectionRefusedError:
                pass
        return None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.child.kill()
        self.child.wait()
        shutil.rmtree(self.folder)

    def call(self, *words):
        self.send([words])

    def send(self, commands):
        """Sends commands together and reads their replies, of one line each."""
        self.socket.sendall(b"".join(encoded(words) for words in commands))
        for _ in commands:
            reply = self.replies.readline()
            if not reply or reply.startswith(b"-"):
                raise Failed(f"a server refused a command: {reply!r}")

    def fill(self, commands):
        """Sends many commands, some hundred at a time: as many replies fit into the socket's buffer."""
        batch = []
        for words in commands:
            batch.append(words)
            if len(batch) == 500:
                self.send(batch)
                batch = []
        self.send(batch)

    def save(self, path):
        self.call("SAVE")
        os.replace(self.folder / "dump.rdb", path)


def encoded(words):
    words = [word if isinstance(word, bytes) else str(word).encode() for word in words]
    return b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(word), word) for word in words)


def written(name, kind, fill, *options, cluster=True):
    """The path of a file that a server writes with what `fill` puts into it; made unless it is there."""
    path = BENCH / f"{name}-{kind}.rdb"
    if not path.exists():
        print(f"making {path.name}", file=sys.stderr, flush=True)
        cluster_options = ("--cluster-enabled", "yes") if cluster else ()
        with Server(kind, BENCH / f"server-{os.getpid()}", *cluster_options, *options) as server:
            if cluster:
                server.call("CLUSTER", "ADDSLOTSRANGE", 0, 16383)
                # A cluster refuses keys until it is up.
                for _ in range(200):
                    server.socket.sendall(encoded(["SET", "k", "v"]))
                    if server.replies.readline() == b"+OK\r\n":
                        break
                    time.sleep(0.05)
                server.call("DEL", "k")
            fill(server)
            server.save(path)
    return path


def values(bytes_each):
    """Values that do not compress, without end."""
    pool = os.urandom(1 << 20)
    at = 0
    while True:
        at = (at + 7919) % (len(pool) - bytes_each)
        yield pool[at:at + bytes_each]


def small_strings(name, kind, keys, prefix="user", **how):
    """Strings of 16 bytes, as DEBUG POPULATE makes them."""
    return written(f"{name}-{keys}", kind, lambda server: server.call("DEBUG", "POPULATE", keys, prefix, 16), **how)


def kib_strings(keys):
    def fill(server):
        each = values(1024)
        server.fill(("SET", f"page:{i}", next(each)) for i in range(keys))
    return written(f"kib-{keys}", REDIS, fill)


def hashes(name, keys, fields, *options):
    def fill(server):
        each = values(10)
        server.fill(("HSET", f"cart:{i}", *(word for n in range(fields) for word in (f"field{n}", next(each))))
                    for i in range(keys))
    return written(f"{name}-{keys}", REDIS, fill, *options)


def of_version_9(keys):
    """Small strings as rdb-tools reads them: up to version 12 strings are written in one way, but for the number in front."""
    path = small_strings("old", REDIS, keys, cluster=False)
    with open(path, "r+b") as file:
        file.seek(5)
        file.write(b"0009")
        file.seek(-8, os.SEEK_END)
        file.write(bytes(8))  # no checksum
    return path


def sparse(gib):
    """Values of 100 MiB that are holes in the file."""
    count, len_each = max(1, gib * 1024 // 100), 100 << 20
    path = BENCH / f"sparse-{gib}.rdb"
    with open(path, "wb") as file:
        file.write(b"REDIS0011\xfe\x00")
        for i in range(count):
            key = b"huge:%d" % i
            file.write(b"\x00" + bytes([len(key)]) + key + b"\x80" + struct.pack(">I", len_each))
            file.seek(len_each, os.SEEK_CUR)
        file.write(b"\xff" + bytes(8))
    return path, count


def all_files(keys, sparse_gib):
    """The files to time."""
    parts = [small_strings(f"part{n}", REDIS, keys // 4, f"user{n}") for n in range(4)]
    huge, huge_keys = sparse(sparse_gib)
    kib, packed, tables = keys // 10, keys // 20, keys // 200
    return [
        File("small strings", [small_strings("small", REDIS, keys)], keys, REDIS),
        File("small strings", [small_strings("small", VALKEY, keys)], keys, VALKEY),
        File("1 KiB strings", [kib_strings(kib)], kib, REDIS),
        File("packed hashes of 10 fields", [hashes("packed", packed, 10)], packed, REDIS),
        File("hashtables of 100 fields", [hashes("tables", tables, 100, "--hash-max-listpack-entries", "10")], tables, REDIS),
        File("4 files of small strings", parts, keys // 4 * 4, REDIS),
        File(f"sparse, {sparse_gib} GiB of 100 MiB values", [huge], huge_keys, "this script"),
    ]
