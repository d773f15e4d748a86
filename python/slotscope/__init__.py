"""How the keys of a Redis or Valkey Cluster spread over its hash slots and nodes.

    >>> import slotscope
    >>> slotscope.slot("{user1000}.following")
    3443

Options are the flags of the program with underscores: `--one-pass` is `one_pass=True`; a flag that may be repeated takes
a list, and one of NAME=VALUE a dict. `slotscope analyze --help` and docs/commands/analyze.md describe each.
"""

from __future__ import annotations

import functools
import json
import signal
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar, cast

from slotscope import _native
from slotscope._native import VERSION as __version__
from slotscope import options as _options
from slotscope._native import Capacity, Error, Page, Report, Slots, Table, load, slot, slots, tag
from slotscope._words import call, option_words, words_of
from slotscope.options import Advise, Analyze, Plan, WhatIf
from slotscope.parts import merge, needs_recount, plan_splits, recount, report, report_from_parts, tally

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from slotscope.options import Keys, Path
    from slotscope.results import AdviseResult, DiffResult, PlanResult, WhatIfResult

F = TypeVar("F", bound=Callable[..., Any])

__all__ = [
    "Capacity",
    "Error",
    "Page",
    "Report",
    "Slots",
    "Table",
    "__version__",
    "advise",
    "analyze",
    "capacity",
    "diff",
    "load",
    "merge",
    "needs_recount",
    "plan",
    "plan_splits",
    "recount",
    "report",
    "report_from_parts",
    "slot",
    "slots",
    "tag",
    "tally",
    "whatif",
]



def __dir__() -> list[str]:
    """The public names, and no others."""
    return __all__


def _with_options(known: Any) -> Callable[[F], F]:
    """Adds the options to the documentation of a function, and names flags in errors as options."""

    def add(function: F) -> F:
        @functools.wraps(function)
        def called(*inputs: Any, **options: Any) -> Any:
            try:
                return function(*inputs, **options)
            except Error as error:
                text = option_words(str(error), known)
                lists = (given for given in inputs if isinstance(given, (list, tuple)))
                if any(text.startswith(f"{each}: ") for given in lists for each in given):
                    text += "; inputs are files and servers, keys go to keys="
                raise Error(text) from error.__cause__

        called.__doc__ = f"{function.__doc__}\n{known.__doc__}"
        return cast("F", called)

    return add


@_with_options(Analyze)
def analyze(
    *inputs: Any,
    keys: Keys | None = None,
    key: str | None = None,
    bytes: str | None = None,
    ops: str | None = None,
    **options: Unpack[Analyze],
) -> Report:
    """Reads and counts key dumps, and judges how evenly the nodes are loaded.

    Each input is a path (a file, or a directory: every file in it), a pattern such as "dumps/*.rdb", a URL, or a binary
    file object, of which what follows its position is read; a list of them is as good as several. `keys` are keys in
    memory in place of inputs: an Arrow array or stream of text or binary, or an iterable of bytes or str. Iterators and
    streams are read once, so that beyond 65,536 distinct tags their counts come with bounds.

    With `key`, the one input is a data frame (pandas, polars, pyarrow, a dict of lists) with one row per key: `key` is its
    column of keys, `bytes` and `ops` those of their sizes and operations, in whole numbers; by default those of these names.

    Without `topology` or `nodes` several inputs that share no slot are a node each; else there are three equal nodes.

    Raises Error where an input or an option cannot be used, KeyboardInterrupt on Ctrl-C.
    """
    return _native.analyze(*call(Analyze, inputs, options, keys, key, bytes, ops))


@_with_options(Plan)
def plan(
    *inputs: Any,
    keys: Keys | None = None,
    key: str | None = None,
    bytes: str | None = None,
    ops: str | None = None,
    **options: Unpack[Plan],
) -> PlanResult:
    """Which slots to move where, to even out the nodes: the JSON of `slotscope plan --json`.

    Inputs and errors are those of `analyze`. Nothing is moved.
    """
    found: PlanResult = json.loads(_native.findings("plan", *call(Plan, inputs, options, keys, key, bytes, ops)))
    return found


@_with_options(WhatIf)
def whatif(
    *inputs: Any,
    keys: Keys | None = None,
    key: str | None = None,
    bytes: str | None = None,
    ops: str | None = None,
    **options: Unpack[WhatIf],
) -> WhatIfResult:
    """The same keys on other nodes, by another hash policy or with other tags: the JSON of `slotscope whatif --json`.

    Inputs and errors are those of `analyze`; one of `to_nodes`, `to_topology`, `to_policy`, `retag` and `split` says
    what is tried.
    """
    found: WhatIfResult = json.loads(_native.findings("whatif", *call(WhatIf, inputs, options, keys, key, bytes, ops)))
    return found


@_with_options(Advise)
def advise(
    *inputs: Any,
    keys: Keys | None = None,
    key: str | None = None,
    bytes: str | None = None,
    ops: str | None = None,
    **options: Unpack[Advise],
) -> AdviseResult:
    """Which part of a key belongs in braces: the JSON of `slotscope advise --json`.

    Inputs and errors are those of `analyze`; MONITOR captures and append-only files may be among them, and `batches` names
    files of commands.
    """
    found: AdviseResult = json.loads(_native.findings("advise", *call(Advise, inputs, options, keys, key, bytes, ops)))
    return found


def diff(old: Report | Path, new: Report | Path, *, by: str | None = None) -> DiffResult:
    """What grew and what got hot between two reports: the JSON of `slotscope diff --json`.

    A report is one of `analyze`, or the path of a report.json or of its directory. `by` is the metric that is compared:
    that of `new`, if `old` has it.
    """
    reports = [report if isinstance(report, Report) else load(report) for report in (old, new)]
    found: DiffResult = json.loads(_native.diff(reports[0], reports[1], by))
    return found


@_with_options(_options.Capacity)
def capacity(reports: list[Report | Path] | Report | Path, **options: Unpack[_options.Capacity]) -> Capacity:
    """What the shards of a cluster hold today, in some months and after growth, and how many shards that takes.

    A report is one of `analyze`, or the path of a report.json or of its directory; of several dates, they tell growth.

    Raises Error where reports cannot be compared, or do not have what is asked of them.
    """
    several = list(reports) if isinstance(reports, (list, tuple)) else [reports]
    if not several:
        raise Error("no report: give one of analyze, or the path of a report.json")
    return _native.capacity(several, words_of(options, _options.Capacity))


def main() -> None:
    """The program `slotscope`, with the words of the command line; it ends with the program's exit code."""

    def end(number: int, _: object) -> None:
        raise SystemExit(128 + number)

    for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"):
        number = getattr(signal, name, None)
        # A signal ignored at start, as under nohup, stays ignored.
        if number is not None and signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, end)
    sys.exit(_native.main(sys.argv))
