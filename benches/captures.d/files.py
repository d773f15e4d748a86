"""Captures of the same commands: as MONITOR shows them, and as an append-only file with times."""

import random
import sys
from pathlib import Path

BENCH = Path(__file__).resolve().parents[2] / "target" / "bench"

START = 1_795_216_373
EACH_SECOND = 20_000
VALUE = '{"name":"x","v":12345678901234567890}'


def commands(count):
    """Commands with their keys: profiles under hash tags, sessions, counters; a few keys are busy."""
    rng = random.Random(1)
    for i in range(count):
        part = rng.random()
        number = int(rng.paretovariate(0.6)) % 2_000_000
        if part < 0.5:
            yield ["GET", f"session:{number:08x}"]
        elif part < 0.9:
            yield ["SET", f"user:{{{number}}}:profile", VALUE]
        elif part < 0.99:
            yield ["INCR", f"count:{number % 1000}"]
        else:
            yield ["MGET", f"{{{number}}}:a", f"{{{number}}}:b"]


def quoted(word):
    return '"' + word.replace("\\", "\\\\").replace('"', '\\"') + '"'


def line(number, words):
    seconds, of_second = divmod(number, EACH_SECOND)
    micros = of_second * (1_000_000 // EACH_SECOND)
    client = 50_000 + number % 50
    return f"{START + seconds}.{micros:06} [0 127.0.0.1:{client}] {' '.join(map(quoted, words))}\n"


def as_resp(number, words):
    time = f"#TS:{START + number // EACH_SECOND}\r\n" if number % EACH_SECOND == 0 else ""
    return time + f"*{len(words)}\r\n" + "".join(f"${len(word)}\r\n{word}\r\n" for word in words)


def written(name, count, spell):
    """The path of a capture, made unless it is there."""
    path = BENCH / f"{name}-{count}"
    if not path.exists():
        print(f"making {path.name}", file=sys.stderr, flush=True)
        unfinished = path.with_suffix(".part")
        with open(unfinished, "w", newline="") as file:
            file.writelines(spell(number, words) for number, words in enumerate(commands(count)))
        unfinished.rename(path)
    return path


def all_files(count):
    """The captures to time: a name, and the path."""
    return [("MONITOR", written("monitor", count, line)), ("append-only file", written("aof", count, as_resp))]
