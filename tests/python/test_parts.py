"""A report from parts equals that of one process."""

from __future__ import annotations

import pickle
import random
from pathlib import Path
from typing import Any

import pytest

import slotscope
from conftest import comparable, of_program


def counted(names: list[str], split: int, **options: Any) -> slotscope.Report:
    """The report from parts, merged in a random tree."""
    plan, splits = slotscope.plan_splits(*names, split=split, **options)
    shuffled = random.Random(1)

    def merged(parts: list[bytes]) -> bytes:
        while len(parts) > 1:
            shuffled.shuffle(parts)
            parts = [slotscope.merge(parts[i : i + 3]) for i in range(0, len(parts), 3)]
        return parts[0]

    tally = merged([slotscope.tally(plan, [pickle.loads(pickle.dumps(split))], threads=1) for split in splits])
    again = []
    if slotscope.needs_recount(tally):
        again = [merged([slotscope.recount(tally, [split]) for split in splits])]
    return slotscope.report_from_parts(tally, again, **options)


def test_parts_of_several_files_give_the_report_of_the_program(tmp_path: Path) -> None:
    names = []
    for number in range(2):
        names.append(str(tmp_path / f"{number}.keys"))
        lines = (f"session:{{{i * 7919 % 40_009}}}:{i}\n" for i in range(number, 300_000, 2))
        Path(names[-1]).write_text("".join(lines))
    report = counted(names, 2 << 20, nodes=6)
    assert comparable(report.to_dict()) == of_program("analyze", *names, "--nodes=6")


def test_options_hold_for_parts(tmp_path: Path) -> None:
    path = tmp_path / "keys.csv"
    path.write_text("name;k,n\n" + "".join(f"{i},u-{i % 99}\n" for i in range(9999)))
    words = ["--format=csv", "--key-column=n", "--separator=-", "--depth=1", "--only=slots", "--nodes=4", "--title=t"]
    report = counted([str(path)], 1 << 20, format="csv", key_column="n", separator="-", depth=1, only="slots", nodes=4, title="t")
    assert comparable(report.to_dict()) == of_program("analyze", str(path), *words)
    assert report["run"]["title"] == "t"


def test_what_does_not_belong_together_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.keys"
    path.write_bytes(b"a:1\n" * (3 << 20))
    plan, splits = slotscope.plan_splits(path, split=4 << 20)
    assert len(splits) == 3
    parts = [slotscope.tally(plan, [split]) for split in splits]
    with pytest.raises(slotscope.Error):
        slotscope.report_from_parts(parts[0])
    with pytest.raises(slotscope.Error):
        slotscope.merge([parts[0], parts[0]])
    with pytest.raises(slotscope.Error):
        slotscope.merge([b"no tally"])
    with pytest.raises(slotscope.Error):
        slotscope.tally(plan, [{"input": 7, "from": 0, "to": 1, "bytes": 0}])
    with pytest.raises(slotscope.Error, match="splits: not those of plan_splits"):
        slotscope.tally(plan, [{"input": -7}])  # type: ignore[typeddict-item]
    with pytest.raises(slotscope.Error, match="inputs are paths and URLs"):
        slotscope.plan_splits(open(path, "rb"))  # type: ignore[arg-type]
    path.write_bytes(b"changed\n")
    with pytest.raises(slotscope.Error, match=str(path)):
        slotscope.tally(plan, splits)
