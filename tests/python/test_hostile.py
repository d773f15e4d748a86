"""Arrays and options with false claims: a Python exception, never a crash of the process."""

import numpy
import pyarrow
import pytest
import slotscope


def offsets(*values, width=4):
    return pyarrow.py_buffer(b"".join(value.to_bytes(width, "little", signed=True) for value in values))


def test_keys_that_lie_outside_of_their_array_are_refused():
    array = pyarrow.Array.from_buffers(pyarrow.binary(), 2, [None, offsets(0, 4, 3), pyarrow.py_buffer(b"abcd")])
    with pytest.raises(slotscope.Error):
        slotscope.slots(array)
    with pytest.raises(slotscope.Error):
        slotscope.analyze(keys=array)


def test_strange_arrays_are_read_as_what_they_hold():
    key = numpy.array([b"user:1"], dtype="S16")
    for array in (numpy.broadcast_to(key, 3), numpy.repeat(key, 6)[::-2]):
        assert list(slotscope.slots(array)) == [slotscope.slot(b"user:1")] * 3
    assert len(slotscope.slots(numpy.array([], dtype="S1"))) == 0
    assert list(slotscope.slots(numpy.zeros(2, dtype="S4"))) == [slotscope.slot(b"")] * 2


@pytest.mark.parametrize(
    "options",
    [
        {"nodes": 10**30},
        {"nodes": -1},
        {"nodes": float("nan")},
        {"nodes": "3\0"},
        {"title": "\ud800"},
        {"by": ["keys", object()]},
        {"topology": "\0"},
        {"format": "x" * 1_000_000},
        {"no_such_option": 1},
    ],
    ids=lambda options: next(iter(options)),
)
def test_options_that_mean_nothing_are_refused(options):
    with pytest.raises((slotscope.Error, TypeError, ValueError)):
        slotscope.analyze(keys=["user:1"], **options)
