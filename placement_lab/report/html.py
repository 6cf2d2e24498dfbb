"""The report of a comparison: a folder of files, and one page that shows them."""

from __future__ import annotations

import re
from base64 import b64encode
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from placement_lab.files import open_atomic, write_json, write_text
from placement_lab.report.formatting import instance_label
from placement_lab.report.pictures import gantt_png, gap_png
from placement_lab.report.tables import (
    comparison_caption,
    comparison_cells,
    comparison_notes,
    distribution_caption,
    distribution_cells,
)

if TYPE_CHECKING:
    from os import PathLike

    from placement_lab.compare.results import Comparison, InstanceComparison
    from placement_lab.schedule import Schedule

__all__ = ["write_report"]

STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; color: #222; max-width: 76rem;
       margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.15rem; margin-top: 2.2rem; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .25rem .8rem; text-align: right; border-bottom: 1px solid #ddd; }
th:first-child, td:first-child { text-align: left; }
tr.reference td { font-weight: 600; border-top: 2px solid #888; }
tr.failed td { color: #a00; }
figure { margin: 1.2rem 0; } img { max-width: 100%; height: auto; }
figcaption, .note { color: #555; font-size: .9rem; }
"""


def write_report(comparison: Comparison, folder: str | PathLike[str]) -> Path:
    """Write everything about a comparison into a folder.

    ``compare.json``; for every scheduler and for ``reference``: ``NAME.schedule.json``,
    ``NAME.gantt.png`` and ``NAME.trace.json`` (opens in Perfetto); ``gap.png``; and
    ``report.html``, one page that needs no other file. With several instances, each has
    a folder of its own beside the page.

    Parameters
    ----------
    comparison : Comparison
    folder : path
        Created where it is missing; files of the same names are replaced.

    Returns
    -------
    Path
        The page.

    Raises
    ------
    OSError
        If something cannot be written.
    """
    target = Path(folder)
    write_json(target / "compare.json", comparison.to_dict())
    many = len(comparison.instances) > 1
    sections = []
    for number, one in enumerate(comparison.instances):
        place = target / _folder_name(number, one) if many else target
        sections.append(_write_instance(comparison, one, place, pictures=not many))
    page = target / "report.html"
    write_text(page, _page(comparison, sections))
    return page


def _folder_name(number: int, one: InstanceComparison) -> str:
    return f"{number:03d}-{_file_name(instance_label(one.instance))}"


def _file_name(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9._-]+", "_", name).strip(".") or "unnamed"


def _write_instance(
    comparison: Comparison, one: InstanceComparison, place: Path, *, pictures: bool
) -> str:
    """Write the files of one instance; return its section of the page."""
    schedules = {row.scheduler: row.schedule for row in one.rows}
    schedules["reference"] = one.reference.schedule
    body = [_section_head(comparison, one)]
    curve = gap_png(one.reference)
    _write_bytes(place / "gap.png", curve)
    if pictures:
        body.append(_figure(curve, "Incumbent and bound while the solver worked"))
    for name, schedule in schedules.items():
        if schedule is None:
            continue
        chart = _write_schedule(one, place / _file_name(name), schedule)
        if pictures:
            body.append(_figure(chart, f"Gantt chart: {name}"))
    return "\n".join(body)


def _write_schedule(one: InstanceComparison, stem: Path, schedule: Schedule) -> bytes:
    chart = gantt_png(schedule, one.instance)
    schedule.to_json(stem.with_name(f"{stem.name}.schedule.json"))
    schedule.to_chrome_trace(stem.with_name(f"{stem.name}.trace.json"))
    _write_bytes(stem.with_name(f"{stem.name}.gantt.png"), chart)
    return chart


def _write_bytes(path: Path, content: bytes) -> None:
    with open_atomic(path, "wb") as stream:
        stream.write(content)


def _section_head(comparison: Comparison, one: InstanceComparison) -> str:
    notes = [*comparison_notes(one), comparison_caption(comparison, one)]
    lines = "".join(f'<p class="note">{escape(note)}</p>' for note in notes)
    title = escape(f"{instance_label(one.instance)}, {one.objective}")
    return f"<h2>{title}</h2>\n{_table(comparison_cells(one), last='reference')}{lines}"


def _table(cells: list[list[str]], last: str = "") -> str:
    header, *rows = cells
    lines = ["<table><thead>", _row(header, "th"), "</thead><tbody>"]
    for i, row in enumerate(rows):
        kind = last if i == len(rows) - 1 else ""
        lines.append(_row(row, "td", kind or ("failed" if row[2] == "-" else "")))
    return "\n".join([*lines, "</tbody></table>"])


def _row(cells: list[str], tag: str, kind: str = "") -> str:
    body = "".join(f"<{tag}>{escape(cell)}</{tag}>" for cell in cells)
    return f'<tr class="{kind}">{body}</tr>' if kind else f"<tr>{body}</tr>"


def _figure(png: bytes, caption: str) -> str:
    data = b64encode(png).decode("ascii")
    return (
        f'<figure><img alt="{escape(caption)}" src="data:image/png;base64,{data}">'
        f"<figcaption>{escape(caption)}</figcaption></figure>"
    )


def _page(comparison: Comparison, sections: list[str]) -> str:
    head = "Comparison of schedulers"
    body = list(sections)
    if comparison.distributions:
        table = _table(distribution_cells(comparison.distributions))
        note = f'<p class="note">{escape(distribution_caption(comparison))}</p>'
        body.insert(0, f"<h2>Gaps over all instances</h2>\n{table}{note}")
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{head}</title><style>{STYLE}</style></head>\n"
        f"<body><h1>{head}</h1>\n" + "\n".join(body) + "\n</body></html>\n"
    )
