"""Every notebook runs from top to bottom, and is stored without output."""

from __future__ import annotations

import time
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

FOLDER = Path(__file__).parent.parent / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
BUDGET_S = 20.0
# What a busy machine may add: the budget is for a quiet one with two cores.
PATIENCE = 4.0


def read(path: Path):
    return nbformat.read(path, as_version=4)


def test_there_are_notebooks():
    assert NOTEBOOKS


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_stored_without_output(path):
    code = [cell for cell in read(path).cells if cell.cell_type == "code"]
    assert code
    assert [cell.source for cell in code if cell.outputs] == []
    assert {cell.execution_count for cell in code} == {None}


# jupyter_client and its asyncio helpers leave sockets to the garbage collector.
@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_within_its_budget(path, tmp_path):
    notebook = read(path)
    client = NotebookClient(
        notebook,
        timeout=BUDGET_S * PATIENCE,
        kernel_name="python3",
        resources={"metadata": {"path": str(tmp_path)}},
    )
    started = time.monotonic()
    client.execute()
    assert time.monotonic() - started < BUDGET_S * PATIENCE
    printed = [
        output
        for cell in notebook.cells
        for output in cell.get("outputs", ())
        if output.output_type == "stream" and output.name == "stderr"
    ]
    assert printed == []
