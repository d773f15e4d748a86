"""Capacity reviews of reports in memory and of files."""

from __future__ import annotations

import pathlib

import pytest

import slotscope

KEYS = [f"user:{i}" for i in range(3000)]


def weekly() -> list[slotscope.Report]:
    days = ["2026-10-24", "2026-10-31", "2026-11-07", "2026-11-14"]
    return [
        slotscope.analyze(keys=KEYS[: 1000 + 200 * week] + ["{acme}:1", "{acme}:2"], nodes=3, date=day)
        for week, day in enumerate(days)
    ]


def test_a_report_is_asked_what_if() -> None:
    review = slotscope.capacity(weekly()[0], grow=["40%", "{acme}=2x"], shards=[3, 6])
    assert repr(review) == review.sentence
    assert [count["shards"] for count in review.counts] == [3, 6]
    assert sum(shard["keys"]["grown"] for shard in review.shards) in range(1402, 1407)
    assert review.tags == []  # two of 334 keys of a shard are not heavy
    with pytest.raises(slotscope.Error, match="no chart: two reports"):
        review.png()
    with pytest.raises(slotscope.Error, match="not among the 1 hash tag"):
        slotscope.capacity(weekly()[0], grow="{nobody}=2x")
    with pytest.raises(slotscope.Error, match="no such option of capacity"):
        slotscope.capacity(weekly()[0], growth=3)  # type: ignore[call-arg]


def test_reports_and_files_are_asked_until_when(tmp_path: pathlib.Path) -> None:
    reports = weekly()
    review = slotscope.capacity(reports, months=3)
    assert review["total"]["keys"]["reports"] == 4
    assert [ahead["months"] for ahead in review.shards[0]["keys"]["ahead"]] == [3]
    assert review.png().startswith(b"\x89PNG")
    for at, report in enumerate(reports):
        report.save(tmp_path / str(at))
    paths = [tmp_path / str(at) for at in range(4)]
    of_files = slotscope.capacity(paths, months=[3]).to_dict()
    assert of_files["total"] == review.to_dict()["total"]
    with pytest.raises(slotscope.Error, match="of the same time as report 1"):
        slotscope.capacity([reports[0], reports[0]])
    with pytest.raises(KeyError):
        review["nothing"]
