"""Calls that a type checker accepts, and, where it says so, calls that it refuses."""

from __future__ import annotations

from typing import Any

import slotscope


def typed(table: Any) -> None:
    number: int = slotscope.slot("user:1")
    numbers: list[int] = slotscope.slots([b"user:1", b"user:2"]).tolist()
    text: str | None = slotscope.tag("{cart}:1")
    raw: bytes | None = slotscope.tag(b"{cart}:1")
    with open("dump.keys", "rb") as file:
        report: slotscope.Report = slotscope.analyze(file, "more.rdb", nodes=6, one_pass=True)
    sentence: str = report.sentence
    plan: dict[str, Any] = slotscope.plan("dump.rdb", topology="cluster.nodes", exclude=["0-5"])
    print(number, numbers, text, raw, sentence, plan, slotscope.slots(report.tags), slotscope.slots(table))
    slotscope.analyze("dump.rdb", nods=6)  # type: ignore[call-arg]
    slotscope.analyze("dump.rdb", nodes="six")  # type: ignore[arg-type]
    slotscope.slots([1, 2])  # type: ignore[arg-type]
