"""The types of results match the schemas: `python tests/python/results.py` writes them."""

from __future__ import annotations

from typing import Any

import slotscope
from results import FILE, results

SAMPLE = "samples/hot-tag.keys"


def test_the_types_are_those_of_the_schemas() -> None:
    assert FILE.read_text() == results(), "run target/python-venv/bin/python tests/python/results.py"


def test_results_have_the_members_of_their_types() -> None:
    from slotscope import results as types

    found: dict[str, Any] = {
        "PlanResult": slotscope.plan(SAMPLE, nodes=6),
        "WhatIfResult": slotscope.whatif(SAMPLE, nodes=6, to_nodes=8),
        "AdviseResult": slotscope.advise(SAMPLE, nodes=6),
        "DiffResult": slotscope.diff(slotscope.analyze(SAMPLE, nodes=3), slotscope.analyze(SAMPLE, nodes=6)),
    }
    for name, result in found.items():
        known = getattr(types, name).__annotations__
        assert set(result) <= set(known)
        assert {field for field, kind in known.items() if not str(kind).startswith("ForwardRef('NotRequired")} <= set(result)
