"""All cells of the example notebook run."""

from __future__ import annotations

from pathlib import Path

import nbformat
from nbclient import NotebookClient


def test_the_notebook_runs() -> None:
    folder = Path(__file__).parents[2] / "examples"
    notebook = nbformat.read(folder / "spark.ipynb", as_version=4)
    # Jupyter runs a notebook in its folder.
    NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(folder)}}).execute()
    outputs = {cell.id: cell.outputs for cell in notebook.cells if cell.cell_type == "code"}
    assert "hash tag {config}" in outputs["analyze"][-1].text
    assert "config" in outputs["tags"][-1].data["text/html"]
    assert outputs["show"][-1].data["text/html"].startswith('<iframe sandbox="allow-scripts"')
