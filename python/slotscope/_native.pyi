"""The native part of slotscope."""

import os
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, final, overload, type_check_only

from slotscope.options import Keys, Path
from slotscope.results import DiffResult, Finding, State, Step

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

__all__ = [
    "Capacity",
    "Error",
    "Page",
    "Report",
    "Slots",
    "Table",
    "VERSION",
    "analyze",
    "capacity",
    "diff",
    "findings",
    "load",
    "main",
    "merge",
    "needs_recount",
    "plan_splits",
    "recount",
    "report_from_parts",
    "slot",
    "slots",
    "tag",
    "tally",
]

VERSION: str

class Error(ValueError):
    """An input, an option or a file that cannot be used: the line that the program would print."""

@final
class Slots:
    """Hash slots, one for each key, as unsigned 16-bit numbers."""

    def __len__(self) -> int: ...
    @overload
    def __getitem__(self, index: int, /) -> int: ...
    @overload
    def __getitem__(self, index: slice, /) -> Slots: ...
    def __iter__(self) -> Iterator[int]: ...
    def tolist(self) -> list[int]:
        """The slots as a list."""
    @property
    def __array_interface__(self) -> dict[str, Any]:
        """How NumPy reads the slots without a copy."""
    def __arrow_c_array__(self, requested_schema: object = None) -> tuple[object, object]: ...

@final
class Table:
    """A table of a report, which every reader of Arrow streams takes: `polars.DataFrame(table)`, `pyarrow.table(table)`.

    Its `repr` shows the first rows.
    """

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
    def to_pandas(self) -> pandas.DataFrame:
        """The table as a pandas DataFrame; ImportError if pandas or pyarrow is not installed."""
    def to_polars(self) -> polars.DataFrame:
        """The table as a polars DataFrame; ImportError if polars is not installed."""
    def to_arrow(self) -> pyarrow.Table:
        """The table as a pyarrow Table; ImportError if pyarrow is not installed."""
    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[dict[str, Any]]: ...
    def __arrow_c_stream__(self, requested_schema: object = None) -> object: ...
    def _repr_html_(self) -> str: ...

@final
class Capacity:
    """What the shards of a cluster hold today, later and after growth. Its `repr` is the review in a sentence."""

    @property
    def sentence(self) -> str:
        """The review in a sentence."""
    @property
    def answer(self) -> str | None:
        """How many shards it takes, in a sentence; None where nothing is known of that."""
    @property
    def shards(self) -> list[dict[str, Any]]:
        """The shards of the newest report, each with what it holds of each metric."""
    @property
    def counts(self) -> list[dict[str, Any]]:
        """The cluster with other numbers of shards."""
    @property
    def tags(self) -> list[dict[str, Any]]:
        """The heaviest hash tags."""
    @property
    def keys(self) -> list[dict[str, Any]]:
        """The heaviest keys."""
    def to_json(self) -> str:
        """The JSON of `slotscope capacity --json` as text."""
    def to_dict(self) -> dict[str, Any]:
        """The same as a new dict."""
    def __getitem__(self, part: str, /) -> Any:
        """A part of it: `review["total"]`."""
    def png(self) -> bytes:
        """The shards over time with their limit, as a PNG file.

        Raises Error where the reports tell no growth.
        """

@final
class Page:
    """The page of a report, which a notebook shows in a frame of its own."""

    def _repr_html_(self) -> str: ...

@type_check_only
class _Finding(Finding):
    node_name: str | None

@final
class Report:
    """The result of an analysis. Its `repr` is the verdict in a sentence; a notebook shows what a terminal shows."""

    @property
    def verdict(self) -> str:
        """The word of the first line: HOT, SKEWED, BALANCED and others, which docs/verdict.md lists."""
    @property
    def state(self) -> State:
        """The state that the word stands for."""
    @property
    def sentence(self) -> str:
        """The verdict in a sentence."""
    @property
    def findings(self) -> list[_Finding]:
        """The findings, most urgent first, as in report.json, with the names of their nodes."""
    @property
    def steps(self) -> list[Step]:
        """The steps in their order, as in report.json."""
    @property
    def causes(self) -> list[dict[str, Any]]:
        """The causes of the excess of the fullest node, of memory and then of load, each with its role and metric."""
    def diff(self, new: Report, *, by: str | None = None) -> DiffResult:
        """What changed from this report to `new`: the JSON of `slotscope diff --json`."""
    def png(self, chart: str) -> bytes:
        """A chart as a PNG file: `png("nodes")`. Raises Error with the names of its charts if there is none of this name."""
    def show(self) -> Page:
        """The page of the report, for a notebook."""
    @property
    def keys(self) -> Table:
        """The heaviest single keys by each weight that keys have; `by` names the list that a row is of."""
    @property
    def nodes(self) -> Table:
        """The nodes: node, address, slots, and their load in every metric of the input."""
    @property
    def patterns(self) -> Table:
        """Patterns of key names, such as `user:<n>`: name, load, share (0 to 1), share in tags, slots."""
    @property
    def prefixes(self) -> Table:
        """Prefixes of key names, level by level; columns as in `patterns`."""
    @property
    def slots(self) -> Table:
        """All 16384 slots: slot, node, and their load."""
    @property
    def tags(self) -> Table:
        """The heaviest hash tags: tag, slot, node, load, share (0 to 1)."""
    def __getitem__(self, part: str, /) -> Any:
        """A part of report.json, such as `report["nodes"]`; KeyError if there is none of this name."""
    def __contains__(self, part: object, /) -> bool: ...
    def get(self, part: str, default: Any = None) -> Any:
        """A part of report.json, or `default` if there is none of this name."""
    def to_dict(self) -> dict[str, Any]:
        """report.json as a new dict."""
    def to_json(self) -> str:
        """report.json as text."""
    def to_html(self) -> str:
        """The page of the report: one HTML document that loads nothing."""
    def save(self, directory: str | os.PathLike[str], *, force: bool = False) -> None:
        """Writes report.json, report.html, charts and CSV files into a directory, which is created.

        Raises Error if a file there is not one of slotscope; `force` replaces such files.
        """
    def _repr_html_(self) -> str: ...

def slot(key: bytes | str, /) -> int:
    """The hash slot of a key, 0 to 16383, as CLUSTER KEYSLOT answers; str is UTF-8."""

def slots(keys: Keys, /) -> Slots:
    """The hash slots of many keys, in their order. Arrow and NumPy arrays are read without a copy.

    Raises Error if a key is null, TypeError if it is neither bytes nor str.
    """

@overload
def tag(key: bytes, /) -> bytes | None: ...
@overload
def tag(key: str, /) -> str | None: ...
def load(path: str | os.PathLike[str], /) -> Report:
    """The report in a report.json, or in the directory that has one. Raises Error if it cannot be read."""

def analyze(inputs: dict[str, Any], words: list[str]) -> Report: ...
def capacity(reports: list[Report | Path], words: list[str]) -> Capacity: ...
def findings(name: str, inputs: dict[str, Any], words: list[str]) -> str: ...
def diff(old: Report, new: Report, by: str | None = None) -> str: ...
def plan_splits(inputs: dict[str, Any], words: list[str], bytes: int) -> tuple[bytes, str]: ...
def tally(plan: bytes, splits: str, words: list[str]) -> bytes: ...
def merge(files: Sequence[bytes], /) -> bytes: ...
def needs_recount(tally: bytes, /) -> bool: ...
def recount(tally: bytes, splits: str, words: list[str]) -> bytes: ...
def report_from_parts(tally: bytes, again: Sequence[bytes], words: list[str]) -> Report: ...
def main(words: list[str]) -> int: ...
