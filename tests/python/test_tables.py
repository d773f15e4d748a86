"""Tables as people and other packages see them."""

from __future__ import annotations

import html
import re
import subprocess
import sys

import pandas
import polars
import pyarrow
import pytest

import slotscope

HOSTILE = [b"<script>alert(1)</script>", b"a\x1b[31m", "x\u202ey".encode(), b"&amp;\"'", b"\xff\xfe", b"x" * 5000]


@pytest.fixture(scope="module")
def report() -> slotscope.Report:
    return slotscope.analyze(keys=["user:1", "user:2", "{cart}:1"], nodes=3)


def test_a_table_becomes_a_frame_of_each_package(report: slotscope.Report) -> None:
    for name in ("nodes", "slots", "tags"):
        table = getattr(report, name)
        rows = table.to_arrow()
        assert isinstance(rows, pyarrow.Table) and rows.equals(pyarrow.table(table))
        assert isinstance(table.to_polars(), polars.DataFrame)
        assert table.to_polars().rows(named=True) == rows.to_pylist()
        assert isinstance(table.to_pandas(), pandas.DataFrame)
        assert table.to_pandas().shape == (len(table), len(table.columns))
    assert report.nodes.to_pandas()["keys"].sum() == 3


@pytest.mark.parametrize(
    ("method", "package"),
    [("to_pandas", "pandas"), ("to_pandas", "pyarrow"), ("to_polars", "polars"), ("to_arrow", "pyarrow")],
)
def test_a_missing_package_is_named(
    report: slotscope.Report, monkeypatch: pytest.MonkeyPatch, method: str, package: str
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ImportError, match=f"^{method} needs {package}: pip install {package}$"):
        getattr(report.nodes, method)()


def test_no_package_is_imported_before_it_is_needed() -> None:
    code = """import sys, slotscope
table = slotscope.analyze(keys=["a", "b"], nodes=3).nodes
repr(table), table._repr_html_()
assert not {"pandas", "polars", "pyarrow", "numpy"} & set(sys.modules)"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_table_shows_its_first_rows(report: slotscope.Report) -> None:
    head, columns, *rows = repr(report.nodes).splitlines()
    assert head == "<slotscope.Table nodes: 3 rows>"
    assert columns.split() == report.nodes.columns
    assert [row.split()[0] for row in rows] == ["even-1", "even-2", "even-3"]
    lines = repr(report.slots).splitlines()
    assert lines[0] == "<slotscope.Table slots: the first 10 of 16384 rows>" and len(lines) == 12
    shown = report.nodes._repr_html_()
    assert shown.count("<tr>") == 4 and ">even-1</bdi>" in shown


def test_hostile_names_are_shown_and_do_nothing() -> None:
    tags = slotscope.analyze(keys=[b"{%s}%d" % (name, i) for name in HOSTILE for i in range(9)], nodes=3).tags
    shown = tags._repr_html_()
    assert set(re.findall(r"</?(\w+)", shown)) <= {"table", "caption", "thead", "tbody", "tr", "th", "td", "bdi"}
    assert "<script>alert(1)</script>" in html.unescape(shown)
    for text in (repr(tags), shown):
        assert text.replace("\n", "").isprintable()
        assert len(text) < 10_000
