"""Tables and pages: text for people, from made-up comparisons."""

from __future__ import annotations

from html.parser import HTMLParser
from io import StringIO

import pytest
from rich.console import Console

import placement_lab as pl
from placement_lab.compare import Comparison, InstanceComparison, Row
from placement_lab.report import comparison_table, write_report
from placement_lab.report.formatting import (
    format_fraction,
    format_objective,
    format_wall,
)
from placement_lab.report.tables import (
    comparison_caption,
    comparison_cells,
    comparison_notes,
)
from placement_lab.solvers import Result


def reference(**changes) -> Result:
    fields = {
        "status": "feasible",
        "objective": 3.0,
        "objective_name": "latency",
        "bound": 2.0,
        "gap": 1 / 3,
        "bound_source": "a proof",
        "rounding_slack_s": 0.0,
        "tick_s": 0.0,
        "seconds": 4.0,
        "deterministic": False,
        "seed": 0,
        "schedule": None,
    }
    return Result(**(fields | changes))


def compared(*rows: Row, name: str = "made up", **changes) -> Comparison:
    instance = pl.Instance(workers=(pl.Worker("w0", 1),), name=name)
    one = InstanceComparison(
        instance, "latency", 0, rows, reference(**changes), best_known=3.0
    )
    return Comparison("latency", 20.0, False, 0, (one,))


ROWS = (
    Row("slow", 6.0, 5.0, gap=2 / 3, excess=1.0, seconds=0.0123),
    Row("broken", violations=(), error="cannot do this", seconds=1.0),
    Row("fast", 3.0, 3.0, gap=1 / 3, excess=0.0, seconds=12.34),
)


def test_rows_are_ranked_errors_come_last_and_the_reference_ends_the_table():
    (one,) = compared(*ROWS).instances
    cells = comparison_cells(one)
    assert [row[0] for row in cells] == [
        "scheduler",
        "fast",
        "slow",
        "broken",
        "reference",
    ]
    assert len({len(row) for row in cells}) == 1
    assert cells[2][1:5] == ["6.000 s", "66.7 %", "100.0 %", "5.000 s"]
    assert cells[3][1] == "error"


@pytest.mark.parametrize("width", [80, 100, 130])
def test_the_table_fits_its_terminal(width):
    (one,) = compared(*ROWS).instances
    stream = StringIO()
    Console(file=stream, width=width).print(comparison_table(one, width))
    text = stream.getvalue()
    assert max(map(len, text.splitlines())) <= width
    assert "…" not in text
    assert ("left-shifted" in text) == (width == 130)


@pytest.mark.parametrize(
    ("status", "words"),
    [
        ("optimal", "proven optimal"),
        ("feasible", "between the bound and 3.000 s"),
        ("infeasible", "no schedule exists"),
    ],
)
def test_the_notes_say_what_is_proven_and_what_failed(status, words):
    (one,) = compared(*ROWS, status=status).instances
    notes = comparison_notes(one)
    assert notes[0].startswith("bound 2.000 s (a proof); ")
    assert words in notes[0]
    assert "broken: cannot do this" in notes


def test_without_a_bound_nothing_is_claimed():
    (one,) = compared(*ROWS, bound=None, gap=None).instances
    assert "nothing is proven" in comparison_notes(one)[0]


def test_the_caption_has_what_a_repetition_needs():
    comparison = compared(*ROWS)
    (one,) = comparison.instances
    caption = comparison_caption(comparison, one)
    assert one.instance.sha256[:12] in caption
    assert "seed 0, time limit 20 s, deterministic: no" in caption


class Balanced(HTMLParser):
    """Fails on a tag that is closed without being open."""

    EMPTY = ("meta", "img")

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[str] = []

    def handle_starttag(self, tag, attrs):
        self.seen.append(tag)
        if tag not in self.EMPTY:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_the_page_is_well_formed_and_escapes_names(tmp_path):
    page = write_report(compared(*ROWS, name="<script>&"), tmp_path / "out")
    text = page.read_text(encoding="utf-8")
    parser = Balanced()
    parser.feed(text)
    assert parser.open == []
    assert "script" not in parser.seen
    assert "&lt;script&gt;&amp;" in text
    assert '<tr class="failed"><td>broken</td>' in text
    assert (tmp_path / "out" / "compare.json").exists()


def test_names_of_schedulers_never_leave_the_folder(tmp_path):
    row = Row("../../evil name", 3.0, 3.0, schedule=pl.Schedule())
    write_report(compared(row), tmp_path / "out")
    names = {path.name for path in (tmp_path / "out").iterdir()}
    assert "_.._evil_name.schedule.json" in names
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_one_column_has_one_unit():
    assert format_objective(0.859854, "latency") == "0.860 s"
    assert format_objective(1234.5, "makespan") == "1234.500 s"
    assert format_objective(2e-6, "makespan") == "2.000 us"
    assert format_objective(1.5e9, "makespan") == "1500000000 s"
    assert format_objective(2.5, "slowdown") == "2.5"
    assert format_objective(None, "latency") == "-"
    assert format_fraction(0.0425) == "4.2 %"
    assert (format_wall(0.0123), format_wall(12.34)) == ("0.012", "12.3")
