"""Rows of a data frame as CSV for the native part."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any

from slotscope._native import Error

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

#: Rows formatted at a time.
ROWS = 4096


class Frame:
    """Columns of a data frame (pandas, polars, pyarrow, a dict of lists) as a binary file of CSV, read once."""

    name = "frame"

    def __init__(self, frame: Any, columns: dict[str, str | None]) -> None:
        named = {role: name for role, name in columns.items() if name is not None}
        if "key" not in named:
            raise Error("key: no such column; name the column of the keys: key='name'")
        values = [_column(frame, name) for name in named.values()]
        head = ",".join(named).encode() + b"\n"
        self._blocks = _blocks(head, zip(*values))
        self._rest = b""

    def read(self, size: int, /) -> bytes:
        """The next bytes, at most `size`."""
        if not self._rest:
            self._rest = next(self._blocks, b"")
        block, self._rest = self._rest[:size], self._rest[size:]
        return block


def _column(frame: Any, name: str) -> Iterable[Any]:
    try:
        column = frame[name]
    except (KeyError, IndexError, TypeError) as error:
        names = getattr(frame, "column_names", getattr(frame, "columns", frame if isinstance(frame, dict) else ()))
        known = ", ".join(map(str, names))
        raise Error(f"{name}: no such column" + (f"; there are: {known}" if known else "")) from error
    for method in ("to_pylist", "to_list", "tolist"):
        if hasattr(column, method):
            values: Iterable[Any] = getattr(column, method)()
            return values
    listed: Iterable[Any] = column
    return listed


def _blocks(head: bytes, rows: Iterator[tuple[Any, ...]]) -> Iterator[bytes]:
    yield head
    at = 0
    while block := [_line(at + i, *row) for i, row in enumerate(islice(rows, ROWS))]:
        yield b"".join(block)
        at += len(block)


def _line(at: int, key: Any, *amounts: Any) -> bytes:
    name = key.encode() if isinstance(key, str) else key
    if not isinstance(name, bytes):
        raise TypeError(f"row {at}: a key is bytes or str, not {type(key).__name__}")
    # None and NaN (which does not equal itself) are unknown values.
    known = (b"" if amount is None or amount != amount else b"%d" % int(amount) for amount in amounts)
    return b",".join([b'"' + name.replace(b'"', b'""') + b'"', *known]) + b"\n"
