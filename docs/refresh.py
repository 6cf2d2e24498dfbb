"""Make README's table and picture anew: ``.venv/bin/python docs/refresh.py``.

The table is what ``placement-lab compare`` prints with its defaults, on this machine;
the picture is the reference's Gantt chart. Takes about half a minute.
"""

from __future__ import annotations

import os
import platform
import sys
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

import placement_lab as pl
from placement_lab.files import open_atomic, write_text
from placement_lab.report.pictures import gantt_png
from placement_lab.report.tables import (
    comparison_caption,
    comparison_cells,
    comparison_notes,
)

if TYPE_CHECKING:
    from placement_lab.compare import Comparison

ROOT = Path(__file__).resolve().parent.parent
README = ROOT / "README.md"
PICTURE = ROOT / "docs" / "images" / "compass-5w.png"
BEGIN, END = "<!-- table: docs/refresh.py -->", "<!-- end of table -->"
VERSIONS = ("placement-lab", "ortools", "numpy", "numba")


def main() -> int:
    """Compare, then replace the picture and the part of README between the marks."""
    found = pl.compare()
    (one,) = found.instances
    if one.reference.schedule is None:
        raise RuntimeError("the reference has no schedule; the picture needs one")
    chart = gantt_png(one.reference.schedule, one.instance)
    with open_atomic(PICTURE, "wb") as stream:
        stream.write(chart)
    text = README.read_text(encoding="utf-8")
    head, _, rest = text.partition(BEGIN)
    _, _, tail = rest.partition(END)
    if not tail:
        raise RuntimeError(f"README.md must hold the marks {BEGIN} and {END}")
    write_text(README, f"{head}{BEGIN}\n{_table(found)}\n{END}{tail}")
    return 0


def _table(found: Comparison) -> str:
    (one,) = found.instances
    header, *rows = comparison_cells(one)
    rows[-1] = [f"**{cell}**" for cell in rows[-1]]
    lines = [
        _row(header),
        _row([":--", *["--:"] * (len(header) - 1)]),
        *map(_row, rows),
    ]
    day = datetime.now(tz=UTC).date().isoformat()
    versions = ", ".join(
        [f"Python {platform.python_version()}"]
        + [f"{name} {version(name)}" for name in VERSIONS]
    )
    lines += [
        "",
        *(f"{note}  " for note in comparison_notes(one)),
        f"{comparison_caption(found, one)}  ",
        f"`placement-lab compare`, {day}, {_machine()}, {versions}",
    ]
    return "\n".join(lines)


def _row(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _machine() -> str:

    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else None
    cores = usable or os.cpu_count()
    return f"{cores} cores ({_processor()}), {platform.system()}"


def _processor() -> str:
    """Return the processor's name where the system tells it."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    named = (line.partition(":")[2].strip() for line in lines if "model name" in line)
    return next(named, platform.machine())


if __name__ == "__main__":
    sys.exit(main())
