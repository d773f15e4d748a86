"""The example notebook runs from its first cell to its last."""

from __future__ import annotations

from pathlib import Path

import nbformat
from nbclient import NotebookClient

ROOT = Path(__file__).parents[2]


def test_the_notebook_runs() -> None:
    notebook = nbformat.read(ROOT / "examples" / "spark.ipynb", as_version=4)
    NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(ROOT)}}).execute()
    outputs = {cell.id: cell.outputs for cell in notebook.cells if cell.cell_type == "code"}
    assert "hash tag {config}" in outputs["analyze"][-1].text
    assert "config" in outputs["tags"][-1].data["text/html"]
    assert outputs["show"][-1].data["text/html"].startswith('<iframe sandbox="allow-scripts"')
