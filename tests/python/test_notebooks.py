"""The example notebooks run, and print the outputs stored in them: `python tests/python/test_notebooks.py` updates these."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from conftest import ROOT

NOTEBOOKS = ["advise", "analyst"]


def executed(name: str) -> nbformat.NotebookNode:
    """The notebook after a run in the root of the repository, next to the samples."""
    notebook = nbformat.read(ROOT / "examples" / f"{name}.ipynb", as_version=4)
    NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(ROOT)}}).execute()
    return notebook


def shown(notebook: nbformat.NotebookNode) -> list[str]:
    """The text output of each code cell, which the kernel may send in pieces.

    Pictures vary with the version of the plotting library.
    """
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    return ["".join(output.text for output in cell.outputs if output.output_type == "stream") for cell in cells]


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_a_notebook_prints_what_it_shows(name: str) -> None:
    committed = shown(nbformat.read(ROOT / "examples" / f"{name}.ipynb", as_version=4))
    assert sum(map(bool, committed)) >= 4
    assert shown(executed(name)) == committed


def write(name: str) -> None:
    notebook = executed(name)
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)
    text = nbformat.writes(notebook)
    Path(ROOT / "examples" / f"{name}.ipynb").write_text(text + "\n")


if __name__ == "__main__":
    for name in NOTEBOOKS:
        write(name)
