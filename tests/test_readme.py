"""What README shows works, and is there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
LINKS = [link for link in re.findall(r"\]\(([^)#]+)", README) if "://" not in link]


def test_the_lines_of_python_run(capsys):
    from matplotlib import pyplot as plt

    plt.switch_backend("agg")
    (code,) = re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)
    shorter = code.replace("time_limit_s=20", "time_limit_s=0.5")
    assert shorter != code
    exec(compile(shorter, "README.md", "exec"), {})  # noqa: S102 -- our own text
    plt.close("all")
    assert "reference" in capsys.readouterr().out


@pytest.mark.parametrize("link", LINKS)
def test_links_lead_somewhere(link):
    assert (ROOT / link).exists()


def test_the_table_is_between_the_marks_that_refresh_it():
    text = (ROOT / "docs/refresh.py").read_text(encoding="utf-8")
    begin, end = re.search(r'BEGIN, END = "(.+?)", "(.+?)"', text).groups()
    table = README.partition(begin)[2].partition(end)[0]
    assert "| **reference** |" in table
    assert "`placement-lab compare`" in table


def test_every_command_is_listed():
    from typer.main import get_command

    from placement_lab.cli._app import app

    for name in get_command(app).commands:
        assert f"| `{name}" in README
