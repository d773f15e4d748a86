"""Counting in parts, by any engine: functions from bytes to bytes, which docs/many-machines.md describes.

    plan, splits = plan_splits("dumps/*.csv", split=256 << 20)
    parts = [tally(plan, [split]) for split in splits]      # anywhere, in any order
    counted = merge(parts)                                  # in any tree
    again = [recount(counted, [split]) for split in splits] if needs_recount(counted) else []
    print(report_from_parts(counted, again, nodes=6))
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING

from slotscope import _native
from slotscope._native import Report, merge, needs_recount
from slotscope._words import inputs_of, words_of
from slotscope.options import Analyze, Counting

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from slotscope.options import Path, Split

__all__ = ["merge", "needs_recount", "plan_splits", "recount", "report", "report_from_parts", "tally"]


def plan_splits(
    *inputs: Path, split: int = 256 << 20, **options: Unpack[Analyze]
) -> tuple[bytes, list[Split]]:
    """The plan of the inputs, and its splits of about `split` bytes; both can be sent anywhere.

    Inputs and options are those of `analyze`, except file objects and keys. An input that can only be read from its start,
    such as a compressed or an RDB file, is one split.

    Raises Error where an input cannot be opened, or an option cannot be used.
    """
    plan, splits = _native.plan_splits(inputs_of(inputs, None), words_of(options, Analyze), split)
    found: list[Split] = json.loads(splits)
    return plan, found


def tally(plan: bytes, splits: Sequence[Split], **options: Unpack[Counting]) -> bytes:
    """Counts splits of a plan: a tally file.

    Raises Error where an input is not what was planned, or cannot be opened.
    """
    return _native.tally(plan, json.dumps(list(splits)), words_of(options, Counting))


def recount(counted: bytes, splits: Sequence[Split], **options: Unpack[Counting]) -> bytes:
    """The second pass over splits of the plan, for the merged tally file `counted`: a recount file. Errors as of `tally`."""
    return _native.recount(counted, json.dumps(list(splits)), words_of(options, Counting))


def report_from_parts(counted: bytes, again: Sequence[bytes] = (), **options: Unpack[Analyze]) -> Report:
    """The report of a merged tally file and of the recount files, where it needs them: that of `analyze` on all inputs.

    Options are those of `plan_splits`; those that do not decide what is counted may differ.

    Raises Error where a part is missing.
    """
    return _native.report_from_parts(counted, list(again), words_of(options, Analyze))


def report(counted: bytes, again: Sequence[bytes] = (), **options: Unpack[Analyze]) -> Report:
    """The old name of `report_from_parts`."""
    warnings.warn("slotscope.report is called report_from_parts", DeprecationWarning, stacklevel=2)
    return report_from_parts(counted, again, **options)
