"""Calls that a type checker accepts and, if marked, calls that it rejects."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import slotscope

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

    from slotscope.results import AdviseResult, DiffResult, PlanResult, WhatIfResult


def typed(table: Any) -> None:
    number: int = slotscope.slot("user:1")
    numbers: list[int] = slotscope.slots([b"user:1", b"user:2"]).tolist()
    text: str | None = slotscope.tag("{cart}:1")
    raw: bytes | None = slotscope.tag(b"{cart}:1")
    with open("dump.keys", "rb") as file:
        report: slotscope.Report = slotscope.analyze(file, "more.rdb", nodes=6, one_pass=True)
    sentence: str = report.sentence
    plan: PlanResult = slotscope.plan("dump.rdb", topology="cluster.nodes", exclude=["0-5"])
    giver: str = plan["moves"][0]["from"]
    before: float = plan["goals"][0]["before"]
    tried: WhatIfResult = slotscope.whatif("dump.rdb", to_nodes=8)
    state: str = tried["after"]["verdict"]["state"]
    advice: AdviseResult = slotscope.advise("dump.rdb", nodes=6)
    becomes: str | None = advice["families"][0]["becomes"]
    changes: DiffResult = slotscope.diff("old", report)
    slotscope.whatif("dump.rdb", nodes=6, split="config = 8")
    sentences: list[str] = [finding["sentence"] for finding in report.diff(report) and report.findings]
    picture: bytes = report.png("nodes")
    print(sentences, picture, report.steps[0]["command"], slotscope.analyze(table, key="k", bytes="size"))
    frame: pandas.DataFrame = report.nodes.to_pandas()
    rows: polars.DataFrame = report.nodes.to_polars()
    arrow: pyarrow.Table = report.nodes.to_arrow()
    print(giver, before, state, becomes, changes["totals"], frame, rows, arrow)
    plan["gaols"]  # type: ignore[typeddict-item]
    print(number, numbers, text, raw, sentence, plan, slotscope.slots(report.tags), slotscope.slots(table))
    slotscope.plan(["a.rdb", "b.rdb"], by=["bytes", "ops"], weight={"a": 2})
    slotscope.analyze(keys=["user:1", b"\xff"], by="bytes")
    slotscope.advise(table, key="k", ops="hits")
    if report.state == "skewed":
        print(report.get("nodes"), report.findings[0]["node_name"], slotscope.slots([b"a"])[:1].tolist())
    report.state == "skew"  # type: ignore[comparison-overlap]
    slotscope.analyze("dump.rdb", nods=6)  # type: ignore[call-arg]
    slotscope.analyze("dump.rdb", nodes="six")  # type: ignore[arg-type]
    slotscope.slots([1, 2])  # type: ignore[list-item]
