"""Pictures as files: PNG bytes from a canvas of their own, never from pyplot."""

from __future__ import annotations

from io import BytesIO
from typing import TYPE_CHECKING

from placement_lab.files import open_atomic
from placement_lab.report.gantt import figure_size, plot_gantt
from placement_lab.report.gap import plot_gap
from placement_lab.report.lanes import workers_of

if TYPE_CHECKING:
    from os import PathLike

    from matplotlib.figure import Figure

    from placement_lab.problem import Instance
    from placement_lab.schedule import Schedule
    from placement_lab.solvers import Result

__all__ = ["gantt_png", "gap_png", "write_gantt"]

DPI = 110


def gantt_png(schedule: Schedule, instance: Instance | None = None) -> bytes:
    """Return the Gantt chart as a PNG file's bytes."""
    figure = _figure(figure_size(len(workers_of(schedule, instance))))
    plot_gantt(schedule, instance=instance, ax=figure.add_subplot())
    return _png(figure)


def gap_png(result: Result) -> bytes:
    """Return the gap curve as a PNG file's bytes."""
    figure = _figure((7.5, 3.2))
    plot_gap(result, ax=figure.add_subplot())
    return _png(figure)


def write_gantt(
    path: str | PathLike[str], schedule: Schedule, instance: Instance | None = None
) -> None:
    """Write the Gantt chart as a PNG file, whole or not at all."""
    content = gantt_png(schedule, instance)
    with open_atomic(path, "wb") as stream:
        stream.write(content)


def _figure(size: tuple[float, float]) -> Figure:
    # Without pyplot there is no window, no global state, and the user's backend stays.
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=size, layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def _png(figure: Figure) -> bytes:
    stream = BytesIO()
    figure.savefig(stream, format="png", dpi=DPI)
    return stream.getvalue()
