"""The examples in the documents run, and print the output stated in their comments."""

from __future__ import annotations

import contextlib
import io
import re
import shutil
from pathlib import Path

import pytest

from conftest import ROOT

BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
# The output of a line, up to an ellipsis.
PRINTS = re.compile(r"^ *print\(.*\)  +# (.*?)(?: \.\.\.)?$", re.MULTILINE)


@pytest.mark.parametrize("document", ["python.md", "many-machines.md"])
def test_the_examples_of_a_document_run(document: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(ROOT / "samples", tmp_path / "samples")
    monkeypatch.chdir(tmp_path)
    blocks = BLOCK.findall((ROOT / "docs" / document).read_text())
    assert blocks
    names: dict[str, object] = {}
    for block in blocks:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(block, document, "exec"), names)
        for wanted in PRINTS.findall(block):
            assert wanted in printed.getvalue(), block
