"""Slots and tags equal those of redis-py, for any memory layout of the keys."""

from __future__ import annotations

import random
import resource
from typing import Any, Callable

import duckdb
import numpy
import pandas
import polars
import pyarrow
import pytest
import redis.crc

import slotscope

# Braces at odd places, keys of every length from 0, several batches, and more than fit next to the ends of a buffer.
RANDOM = random.Random(16384)
KEYS = [bytes(RANDOM.choice(b"{{}}ab:17") for _ in range(RANDOM.randrange(70))) for _ in range(5000)]
KEYS += [b"", b"{}", b"{}{a}", b"{", b"}", b"a{{b}}", b"{" + b"x" * 5000 + b"}y"]
TEXTS = [key.decode() for key in KEYS]
BYTES = [RANDOM.randbytes(RANDOM.randrange(70)) for _ in range(5000)]


def expected(keys: list[bytes]) -> list[int]:
    return [redis.crc.key_slot(key, 16384) for key in keys]


@pytest.mark.parametrize("keys", [KEYS, BYTES])
def test_the_slot_of_a_key_is_that_of_redis_py(keys: list[bytes]) -> None:
    assert [slotscope.slot(key) for key in keys] == expected(keys)


HOLDERS: dict[str, Callable[[list[bytes]], Any]] = {
    "list": list,
    "tuple": tuple,
    "generator": iter,
    "numpy objects": lambda keys: numpy.array(keys, dtype=object),
    "pyarrow binary": pyarrow.array,
    "pyarrow large_binary": lambda keys: pyarrow.array(keys, pyarrow.large_binary()),
    "pyarrow binary_view": lambda keys: pyarrow.array(keys, pyarrow.binary_view()),
    "pyarrow slice": lambda keys: pyarrow.array([b"before", *keys, b"after"])[1:-1],
    "pyarrow chunks": lambda keys: pyarrow.chunked_array([keys[:99], [], keys[99:]]),
    "pyarrow table": lambda keys: pyarrow.table({"key": keys}),
    "pyarrow table slice": lambda keys: pyarrow.table({"key": [b"before", *keys]}).slice(1),
    "pyarrow batch slice": lambda keys: pyarrow.record_batch({"key": [b"before", *keys]}).slice(1),
    "pyarrow reader": lambda keys: pyarrow.table({"key": keys}).to_reader(1000),
    "polars series": polars.Series,
    "polars slice": lambda keys: polars.Series([b"before", *keys])[1:],
    "polars frame": lambda keys: polars.DataFrame({"key": keys}),
}


@pytest.mark.parametrize("holder", HOLDERS)
@pytest.mark.parametrize("keys", [KEYS, BYTES, []], ids=["braces", "bytes", "none"])
def test_keys_may_lie_anywhere(holder: str, keys: list[bytes]) -> None:
    if not keys and holder in ("pyarrow binary", "pyarrow chunks", "pyarrow table", "pyarrow reader", "polars series", "polars frame"):
        keys = [b"x"]  # an empty list would become an array of another type
    if not keys and holder == "numpy objects":
        assert len(slotscope.slots([])) == 0
    assert slotscope.slots(HOLDERS[holder](keys)).tolist() == expected(keys)


def test_slots_are_a_column_of_pandas() -> None:
    frame = pandas.DataFrame({"key": ["foo", "{name}3", "bar"]})
    frame["slot"] = slotscope.slots(frame["key"])
    assert frame["slot"].tolist() == [12182, 5798, 5061]
    assert len(frame.groupby("slot")) == 3


def test_text_is_hashed_as_utf8() -> None:
    texts = [*TEXTS, "ключ{тег}", "鍵", "🔑{}"]
    wanted = expected([text.encode() for text in texts])
    series = polars.Series(texts)
    relation = duckdb.from_arrow(series.to_frame("key").to_arrow())
    for keys in [texts, pyarrow.array(texts), pyarrow.array(texts, pyarrow.string_view()), series, relation, numpy.array(texts)]:
        assert slotscope.slots(keys).tolist() == wanted, type(keys)
    assert slotscope.slot("ключ{тег}") == slotscope.slot("тег".encode())


def test_fixed_bytes_of_numpy_are_read_in_any_order() -> None:
    keys = [key for key in KEYS if len(key) < 70]
    array = numpy.array(keys)
    assert array.dtype.kind == "S"
    assert slotscope.slots(array).tolist() == expected(keys)
    assert slotscope.slots(array[::-3]).tolist() == expected(keys[::-3])
    assert slotscope.slots(array[:0]).tolist() == []


def test_the_tag_has_the_type_of_the_key() -> None:
    assert slotscope.tag("{cart}:1") == "cart"
    assert slotscope.tag(b"x{\xff}") == b"\xff"
    assert slotscope.tag("鍵{тег}") == "тег"
    assert [slotscope.tag(key) for key in ("", "{}", "{}{a}", "a", "}{")] == [None] * 5


def test_slots_are_taken_over_without_a_copy() -> None:
    slots = slotscope.slots(KEYS)
    array = numpy.asarray(slots)
    assert (array.dtype, array.tolist()) == (numpy.uint16, slots.tolist())
    assert array.__array_interface__["data"][0] == slots.__array_interface__["data"][0]
    with pytest.raises(ValueError):
        array[0] = 1
    del slots
    assert array.tolist() == expected(KEYS)
    slots = slotscope.slots(KEYS)
    assert pyarrow.array(slots).to_pylist() == polars.Series(slots).to_list() == list(slots) == expected(KEYS)
    assert pyarrow.array(slots).buffers()[1].address == slots.__array_interface__["data"][0]
    assert (len(slots), slots[-1], repr(slotscope.slots([b"a"]))) == (
        len(KEYS),
        expected(KEYS)[-1],
        "<slotscope.Slots of 1 keys: 15495>",
    )
    with pytest.raises(IndexError):
        slots[len(slots)]
    assert slots[:-9:2].tolist() == expected(KEYS)[:-9:2]


@pytest.mark.parametrize(
    ("keys", "error", "message"),
    [
        ([b"a", None], slotscope.Error, "key 1: is null; drop what is no key first"),
        ([b"a", 1], TypeError, "key 1 is int; keys are bytes or str"),
        (7, TypeError, "not iterable"),
        (b"key", slotscope.Error, "keys: one key, not several; slot(key) has its slot"),
        (["\udc80"], slotscope.Error, "key 0: text with lone surrogates has no bytes; give the key as bytes"),
        (pyarrow.array([b"a", None]), slotscope.Error, "key 1: is null; drop what is no key first"),
        (polars.Series(["a", None]), slotscope.Error, "key 1: is null; drop what is no key first"),
        (pyarrow.array([1]), slotscope.Error, 'keys: Arrow type Int64; cast them to text or binary'),
        (pyarrow.array(["a"]).dictionary_encode(), slotscope.Error, "dictionary-encoded"),
        (pyarrow.table({"a": ["x"], "b": ["y"]}), slotscope.Error, "keys: a table of 2 columns; select the one with the keys"),
    ],
)
def test_what_is_no_key_is_refused(keys: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error) as raised:
        slotscope.slots(keys)
    assert message in str(raised.value)


def test_an_error_in_the_middle_of_a_stream_is_raised() -> None:
    def batches() -> Any:
        yield pyarrow.record_batch({"key": ["a"]})
        raise RuntimeError("no more")

    def reader() -> Any:
        return pyarrow.RecordBatchReader.from_batches(pyarrow.schema([("key", pyarrow.string())]), batches())

    for use in (slotscope.slots, lambda keys: slotscope.analyze(keys=keys)):
        with pytest.raises(slotscope.Error, match="no more"):
            use(reader())


def test_no_memory_stays_behind() -> None:
    array, report = pyarrow.array(KEYS * 4), slotscope.analyze("samples/hot-tag.keys")
    names = [f"column{i}" for i in range(3)]

    def work() -> None:
        pyarrow.array(slotscope.slots(array))
        slotscope.slots(polars.Series(array))
        polars.DataFrame(report.slots)
        slotscope.slots(array).__arrow_c_array__()
        report.slots.__arrow_c_stream__()
        for name in names:
            with pytest.raises(slotscope.Error):
                slotscope.analyze("samples/hot-tag.keys", format="csv", key_column=name)

    def peak() -> int:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    for _ in range(6):
        work()
    before = peak()
    for _ in range(18):
        work()
    # A round allocates about 2 MB.
    assert peak() - before < 12_000
