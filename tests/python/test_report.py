"""A report: its parts, tables, files and page; plans and comparisons."""

from __future__ import annotations

import csv
import html
import io
import json
import re
from pathlib import Path
from typing import Any

import duckdb
import pandas
import polars
import pyarrow
import pytest

import slotscope
from conftest import comparable, of_program, run

SAMPLE = "samples/commerce.keys"
TABLES = ("keys", "nodes", "patterns", "prefixes", "slots", "tags")


@pytest.fixture(scope="module")
def report() -> slotscope.Report:
    return slotscope.analyze(Path(__file__).parents[2] / SAMPLE, nodes=6)


def test_a_report_is_its_verdict(report: slotscope.Report) -> None:
    verdict = report["verdict"]
    assert (report.verdict, report.state, report.sentence) == (verdict["word"], verdict["state"], verdict["sentence"])
    assert repr(report) == report.sentence
    assert report.to_dict() == json.loads(report.to_json())
    report.to_dict().clear()
    assert report["schema"].startswith("slotscope.report/")
    with pytest.raises(KeyError, match="no part .nothing.; there are .*nodes"):
        report["nothing"]
    with pytest.raises(KeyError, match="findings.; is it report..verdict....findings.."):
        report["findings"]
    assert "nodes" in report and "findings" not in report
    assert report.get("nodes") == report["nodes"] and report.get("findings", 7) == 7


@pytest.mark.parametrize("name", TABLES)
def test_every_reader_of_arrow_reads_every_table(report: slotscope.Report, name: str) -> None:
    held = getattr(report, name)
    rows = pyarrow.table(held)
    rows.validate(full=True)
    assert (rows.num_rows, rows.column_names) == (len(held), held.columns)
    assert polars.DataFrame(held).rows() == [tuple(row.values()) for row in rows.to_pylist()]
    assert duckdb.sql("select * from rows").fetchall() == duckdb.sql("select * from held").fetchall()
    frame = pandas.DataFrame.from_arrow(held)
    assert frame.shape == (len(held), len(held.columns))
    assert pyarrow.table(held).equals(rows), "a table is read again"


def test_tables_have_the_rows_of_the_csv_files(report: slotscope.Report, tmp_path: Path) -> None:
    report.save(tmp_path / "new" / "report")
    assert list(pandas.DataFrame(report.tags).columns) == report.tags.columns
    assert list(report.tags) == pyarrow.table(report.tags).to_pylist()
    for name in ("nodes", "patterns", "prefixes", "slots", "tags"):
        with open(tmp_path / "new" / "report" / f"{name}.csv", newline="") as file:
            head, *lines = csv.reader(file)
        rows = polars.DataFrame(getattr(report, name))
        assert rows.columns == head
        assert rows.height == len(lines) > 0
        for row, line in zip(rows.rows(), lines):
            for value, text in zip(row, line):
                assert (text == "") if value is None else str(type(value)(text.lstrip("'"))) == str(value)
    assert [row["keys"] for row in pyarrow.table(report.slots).to_pylist()] == report["slots"]["keys"]
    assert sum(pyarrow.table(report.nodes)["keys"].to_pylist()) == report["input"]["keys"]


def test_a_report_is_saved_and_loaded(report: slotscope.Report, tmp_path: Path) -> None:
    report.save(tmp_path)
    names = {path.name for path in tmp_path.iterdir()}
    assert {"report.json", "report.html", "slots.csv"} < names
    assert any(name.endswith(".png") for name in names)
    assert slotscope.load(tmp_path).to_dict() == slotscope.load(tmp_path / "report.json").to_dict() == report.to_dict()
    (tmp_path / "report.json").write_text("mine")
    with pytest.raises(slotscope.Error, match="name another directory, or replace such files with force=True"):
        report.save(tmp_path)
    assert (tmp_path / "report.json").read_text() == "mine"
    report.save(tmp_path, force=True)
    assert slotscope.load(tmp_path).to_dict() == report.to_dict()


def test_a_notebook_shows_the_answer_and_on_request_the_page(report: slotscope.Report) -> None:
    answer = html.unescape(report._repr_html_())
    assert len(answer) < 5000 and "\x1b" not in answer and "<script" not in report._repr_html_()
    for finding in report.findings[:1]:
        assert finding["sentence"] in " ".join(answer.replace("\u2068", "").replace("\u2069", "").split())
    frame = report.show()._repr_html_()
    found = re.fullmatch(r'<iframe sandbox="allow-scripts" style="[^"]*" srcdoc="([^"]*)"></iframe>', frame)
    assert found and html.unescape(found[1]) == report.to_html()


def test_findings_steps_and_causes_are_those_of_report_json() -> None:
    report = slotscope.analyze("samples/shop.csv.zst", topology="samples/shop.nodes")
    verdict = report["verdict"]
    names = {node["id"]: node["name"] for node in report.nodes.to_polars().rename({"node_id": "id", "node": "name"}).to_dicts()}
    assert report.findings == [finding | {"node_name": names.get(finding["node"])} for finding in verdict["findings"]]
    assert report.steps == verdict["steps"]
    assert {cause["node_name"] for cause in report.causes} == {names.get(cause["node"]) for cause in report.causes} != {None}
    assert len(report.steps) >= 3 and all("command" in step for step in report.steps)
    assert [cause["name"] for cause in report.causes if cause["role"] == "load"][0] == "flash-sale"
    assert sum(len(role["causes"]) for role in verdict["roles"]) == len(pandas.DataFrame(report.causes))


def test_keys_have_one_list_for_each_weight(tmp_path: Path) -> None:
    report = slotscope.analyze("samples/shop.csv.zst", topology="samples/shop.nodes")
    report.save(tmp_path)
    with open(tmp_path / "keys.csv", newline="") as file:
        lines = list(csv.DictReader(file))
    rows = report.keys.to_polars()
    assert rows.columns == list(lines[0]) and [row["key"] for row in lines] == rows["key"].to_list()
    for by in ("bytes", "ops"):
        found = rows.filter(polars.col("by") == by)
        assert found.height == 1000 and found[by].is_sorted(descending=True)
        assert found["share"][0] == pytest.approx(found[by][0] / sum(report["slots"][by]))
    loaded = slotscope.load(tmp_path).keys.to_polars()
    assert loaded.drop("node").equals(rows.filter(polars.col("by") == report["keys"]["by"]).drop("node"))


def test_steps_name_no_file_that_does_not_exist() -> None:
    keys = [f"{{hot}}:{i}" for i in range(4000)] + [f"user:{i}" for i in range(9000)]
    frame = {"k": keys, "n": [100] * len(keys)}
    for report in (
        slotscope.analyze(keys=keys, nodes=6),
        slotscope.analyze(frame, key="k", bytes="n", nodes=6),
        slotscope.analyze(io.BytesIO("\n".join(keys).encode()), nodes=6, policy="oss"),
    ):
        assert report.steps and not any(step["command"] for step in report.steps)
        text = report._repr_html_() + report.to_html()
        assert not re.search("slotscope plan (?!on a new dump)", text)


def test_a_chart_is_that_of_save(report: slotscope.Report, tmp_path: Path) -> None:
    report.save(tmp_path)
    assert report.png("nodes") == (tmp_path / "nodes.png").read_bytes()
    with pytest.raises(slotscope.Error, match="no chart .colour.; this report has slot-heatmap, nodes"):
        report.png("colour")


def test_a_plan_is_that_of_the_program() -> None:
    assert slotscope.plan(SAMPLE, nodes=6, exclude=["0-5", "77"]) == json.loads(run("plan", SAMPLE, "--nodes=6", "--exclude=0-5", "--exclude=77", "--json").stdout)
    with pytest.raises(slotscope.Error, match="no nodes: say who owns which slot"):
        slotscope.plan(SAMPLE)


def test_what_if_is_that_of_the_program() -> None:
    assert slotscope.whatif(SAMPLE, nodes=6, to_nodes=9) == json.loads(run("whatif", SAMPLE, "--nodes=6", "--to-nodes=9", "--json").stdout)
    of_keys = slotscope.whatif(keys=[f"{{a}}:{i}" for i in range(100)], nodes=3, split="a = 4")
    assert of_keys["input"]["keys"] == 100


def test_advice_is_that_of_the_program(tmp_path: Path) -> None:
    commands = tmp_path / "commands"
    commands.write_text("".join(f"MGET cart:{i} user:{i}:p\n" for i in range(200)))
    keys = [key for i in range(2000) for key in (f"cart:{i}", f"user:{i}:p")]
    advice = slotscope.advise(keys=keys, batches=commands, nodes=6)
    assert (advice["advice"], advice["schemes"][0]["single_slot_share"]) == ("change", 1.0)
    names = tmp_path / "names"
    names.write_text("\n".join(keys) + "\n")
    assert advice == json.loads(run("advise", str(names), f"--batches={commands}", "--nodes=6", "--json").stdout)


def test_two_reports_are_compared(report: slotscope.Report, tmp_path: Path) -> None:
    other = slotscope.analyze("samples/hot-tag.keys", nodes=6)
    (tmp_path / "old").write_text(report.to_json())
    (tmp_path / "new").write_text(other.to_json())
    wanted = json.loads(run("diff", str(tmp_path / "old"), str(tmp_path / "new"), "--json").stdout)
    found = slotscope.diff(report, other)
    assert found == report.diff(other)
    assert {part for part in found if found[part] != wanted[part]} <= {"old", "new"}
    assert slotscope.diff(tmp_path / "old", str(tmp_path / "new")).keys() == wanted.keys()
    with pytest.raises(slotscope.Error):
        slotscope.diff(report, other, by="colour")


def test_names_are_spelled_as_in_report_json() -> None:
    report = slotscope.analyze(keys=[b"{\xff\n}:%d" % i for i in range(9)])
    assert pyarrow.table(report.tags)["tag"].to_pylist() == [r"\xff\n"] == [tag["tag"] for tag in report["tags"]["top"]]


def test_redaction_reaches_every_name() -> None:
    report = slotscope.analyze("samples/hot-tag.keys", redact=True)
    for text in (report.to_json(), report.to_html(), str(pyarrow.table(report.tags).to_pylist())):
        assert "config" not in text and "hot-tag" not in text


def test_the_same_options_give_the_same_report() -> None:
    first: dict[str, Any] = slotscope.analyze(SAMPLE, nodes=6).to_dict()
    assert comparable(first) == of_program("analyze", SAMPLE, "--nodes=6")
