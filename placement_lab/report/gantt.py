"""The Gantt chart: what every worker runs, and what its memory holds, over time."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from placement_lab.report.lanes import (
    memory_blocks,
    model_of_tasks,
    run_bars,
    workers_of,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

    from placement_lab.problem import Instance
    from placement_lab.report.lanes import Bar
    from placement_lab.schedule import Schedule

__all__ = ["figure_size", "plot_gantt"]

# After Paul Tol's "bright" and "muted" schemes, without their greys: colour-blind
# readers tell them apart too. The likeliest to be confused come last.
PALETTE = (
    "#4477AA",
    "#EE6677",
    "#228833",
    "#CCBB44",
    "#66CCEE",
    "#AA3377",
    "#C05A10",
    "#44AA99",
    "#332288",
    "#DDCC77",
    "#882255",
    "#999933",
)
NO_MODEL = "#9A9A9A"

# A worker's lane is one unit high: runs above, memory below.
RUNS_TOP, RUNS_BOTTOM = 0.07, 0.51
MEMORY_TOP, MEMORY_BOTTOM = 0.57, 0.94
MAX_LABELS = 400
MAX_LEGEND = 24


class _Look(NamedTuple):
    """Colours by model (or by task, where the models are not known)."""

    colours: Mapping[str | None, str]
    group: Mapping[str, str | None]


def figure_size(n_workers: int) -> tuple[float, float]:
    """Return a good size for a chart of that many workers, in inches."""
    return 11.0, min(40.0, max(2.6, 1.3 + 0.62 * n_workers))


def plot_gantt(
    schedule: Schedule, *, instance: Instance | None = None, ax: Axes | None = None
) -> Axes:
    """Draw a schedule: per worker one row of runs, and below it the memory.

    With an instance, bars are coloured by model and the memory row shows what is
    resident, up to the worker's capacity; loads are hatched. Without one, models of
    tasks and sizes are not known: bars are coloured by task, and the memory row shows
    the loads alone.

    Parameters
    ----------
    schedule : Schedule
    instance : Instance, optional
        The one that the schedule answers.
    ax : matplotlib.axes.Axes, optional
        Where to draw. Default: a new pyplot figure.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> import matplotlib.figure
    >>> from placement_lab import Run, Schedule
    >>> axes = matplotlib.figure.Figure().add_subplot()
    >>> schedule = Schedule(runs=(Run("j0/a", "w0", 0.0, 1.0),))
    >>> plot_gantt(schedule, ax=axes).get_xlabel()
    'time (s)'
    """
    workers = workers_of(schedule, instance)
    if ax is None:
        from matplotlib import pyplot as plt

        _, ax = plt.subplots(figsize=figure_size(len(workers)), layout="constrained")
    look = _look(schedule, instance)
    lane = {worker: i for i, worker in enumerate(workers)}
    bars = run_bars(schedule, instance)
    _frame(ax, workers, schedule)
    _draw_runs(ax, bars, lane, look)
    _draw_memory(ax, schedule, instance, lane, look)
    marked = _mark_releases(ax, instance)
    _label_runs(ax, bars, lane, look)
    _legend(ax, look, shows_releases=marked)
    ax.set_title(_title(schedule, instance), loc="left", fontsize=10, pad=12)
    return ax


def _look(schedule: Schedule, instance: Instance | None) -> _Look:
    group: Mapping[str, str | None]
    if instance is None:
        group = {run.task: run.task.rpartition("/")[2] for run in schedule.runs}
        names = list(dict.fromkeys([*group.values()]))
        names += [load.model for load in schedule.loads]
    else:
        group = model_of_tasks(instance)
        used = {group.get(run.task) for run in schedule.runs}
        used |= {load.model for load in schedule.loads}
        used |= {name for worker in instance.workers for name in worker.resident}
        names = [model.id for model in instance.models if model.id in used]
    names = list(dict.fromkeys(names))
    colours: dict[str | None, str] = dict(zip(names, _palette(len(names)), strict=True))
    if None in group.values():
        colours[None] = NO_MODEL
    return _Look(colours, group)


def _palette(n: int) -> list[str]:
    if n <= len(PALETTE):
        return list(PALETTE[:n])
    from matplotlib import colormaps
    from matplotlib.colors import to_hex

    return [to_hex(colormaps["turbo"]((i + 0.5) / n)) for i in range(n)]


def _frame(ax: Axes, workers: list[str], schedule: Schedule) -> None:
    ends_s = [load.end_s for load in schedule.loads]
    end_s = max([schedule.makespan_s, *ends_s])
    ax.set_xlim(0.0, end_s * 1.01 if end_s > 0 else 1.0)
    ax.set_ylim(max(1, len(workers)), 0)
    ax.set_xlabel("time (s)")
    centres = [i + (RUNS_TOP + RUNS_BOTTOM) / 2 for i in range(len(workers))]
    ax.set_yticks(centres, workers, fontsize=9 if len(workers) <= 24 else 6)
    if len(workers) <= 12:
        memory = [i + (MEMORY_TOP + MEMORY_BOTTOM) / 2 for i in range(len(workers))]
        ax.set_yticks(memory, ["memory"] * len(workers), minor=True)
        ax.tick_params(
            axis="y", which="minor", labelsize=6.5, labelcolor="0.45", length=0
        )
    ax.tick_params(axis="y", which="major", length=0)
    for i in range(1, len(workers)):
        ax.axhline(i, color="0.85", linewidth=0.8, zorder=0)
    ax.grid(axis="x", color="0.92", linewidth=0.8)
    ax.set_axisbelow(True)
    for side in ("top", "right", "left"):
        ax.spines[side].set_visible(False)


def _rectangle(left: float, right: float, top: float, bottom: float) -> list[tuple]:
    return [(left, top), (right, top), (right, bottom), (left, bottom)]


def _draw_runs(ax: Axes, bars: list[Bar], lane: Mapping[str, int], look: _Look) -> None:
    from matplotlib.collections import PolyCollection

    corners, faces = [], []
    for bar in bars:
        top, bottom = _bar_span(bar, lane)
        corners.append(_rectangle(bar.start_s, bar.end_s, top, bottom))
        faces.append(look.colours[look.group.get(bar.task)])
    line = 0.6 if len(bars) <= MAX_LABELS else 0.15
    ax.add_collection(
        PolyCollection(
            corners, facecolors=faces, edgecolors="white", linewidths=line, zorder=3
        ),
        autolim=False,
    )


def _bar_span(bar: Bar, lane: Mapping[str, int]) -> tuple[float, float]:
    height = (RUNS_BOTTOM - RUNS_TOP) / bar.slots
    top = lane[bar.worker] + RUNS_TOP + bar.slot * height
    return top, top + height


def _draw_memory(
    ax: Axes,
    schedule: Schedule,
    instance: Instance | None,
    lane: Mapping[str, int],
    look: _Look,
) -> None:
    from matplotlib.collections import PolyCollection

    corners: dict[bool, list] = {True: [], False: []}
    faces: dict[bool, list] = {True: [], False: []}
    height = MEMORY_BOTTOM - MEMORY_TOP
    end_s = ax.get_xlim()[1]
    for block in memory_blocks(schedule, instance, end_s):
        bottom = lane[block.worker] + MEMORY_BOTTOM
        corners[block.loading].append(
            _rectangle(
                block.start_s,
                block.end_s,
                bottom - block.high * height,
                bottom - block.low * height,
            )
        )
        faces[block.loading].append(look.colours[block.model])
    ax.add_collection(
        PolyCollection(
            corners[False], facecolors=faces[False], alpha=0.35, linewidths=0, zorder=2
        ),
        autolim=False,
    )
    ax.add_collection(
        PolyCollection(
            corners[True],
            facecolors=faces[True],
            edgecolors="white",
            hatch="//////",
            linewidths=0.0,
            zorder=2,
        ),
        autolim=False,
    )
    for i in lane.values():
        top, bottom = i + MEMORY_TOP, i + MEMORY_BOTTOM
        ax.fill_between([0, end_s], top, bottom, color="0.95", linewidth=0, zorder=1)
        ax.plot([0, end_s], [bottom, bottom], color="0.6", linewidth=0.6, zorder=2)


def _mark_releases(ax: Axes, instance: Instance | None) -> bool:
    """Mark the top edge where jobs are released; say whether there are any."""
    if instance is None or not 0 < len(instance.jobs) <= MAX_LABELS:
        return False
    ax.add_line(_releases([job.release_s for job in instance.jobs]))
    return True


def _releases(times_s: list[float], label: str = "") -> Line2D:
    from matplotlib.lines import Line2D

    return Line2D(
        times_s,
        [0.0] * len(times_s),
        linestyle="none",
        marker="v",
        markersize=4,
        color="0.25",
        clip_on=False,
        zorder=4,
        label=label,
    )


def _label_runs(
    ax: Axes, bars: list[Bar], lane: Mapping[str, int], look: _Look
) -> None:
    """Write the job into every bar that has room for it."""
    if len(bars) > MAX_LABELS:
        return
    figure = ax.get_figure(root=True)
    if figure is None:
        return
    size_pt = 6.5
    width_pt = figure.get_figwidth() * ax.get_position().width * 72.0 * 0.85
    height_pt = figure.get_figheight() * ax.get_position().height * 72.0
    pt_per_s = width_pt / (ax.get_xlim()[1] - ax.get_xlim()[0])
    pt_per_lane = height_pt / (ax.get_ylim()[0] - ax.get_ylim()[1])
    for bar in bars:
        text = bar.task.partition("/")[0]
        top, bottom = _bar_span(bar, lane)
        fits = (bar.end_s - bar.start_s) * pt_per_s > 0.62 * size_pt * len(text) + 2
        if not fits or (bottom - top) * pt_per_lane < size_pt:
            continue
        colour = look.colours[look.group.get(bar.task)]
        ax.text(
            (bar.start_s + bar.end_s) / 2,
            (top + bottom) / 2,
            text,
            ha="center",
            va="center_baseline",
            fontsize=size_pt,
            color="black" if _is_light(colour) else "white",
            clip_on=True,
            zorder=4,
        )


def _is_light(colour: str) -> bool:
    from matplotlib.colors import to_rgb

    red, green, blue = to_rgb(colour)
    return 0.299 * red + 0.587 * green + 0.114 * blue > 0.6


def _legend(ax: Axes, look: _Look, *, shows_releases: bool) -> None:
    from matplotlib.patches import Patch

    names = list(look.colours)[:MAX_LEGEND]
    handles: list[Artist] = [
        Patch(facecolor=look.colours[name], label=name or "no model") for name in names
    ]
    left_out = len(look.colours) - len(names)
    if left_out:
        handles.append(Patch(facecolor="none", label=f"and {left_out} more"))
    handles.append(
        Patch(facecolor="0.6", edgecolor="white", hatch="//////", label="loading")
    )
    if shows_releases:
        handles.append(_releases([], label="job release"))
    ax.legend(
        handles=handles,
        loc="upper left",
        bbox_to_anchor=(1.005, 1.0),
        borderaxespad=0.0,
        frameon=False,
        fontsize=8,
        handlelength=1.4,
    )


def _title(schedule: Schedule, instance: Instance | None) -> str:
    who = str(schedule.made_by.get("scheduler", "")) or "schedule"
    where = f" on {instance.name}" if instance is not None and instance.name else ""
    return (
        f"{who}{where}: {len(schedule.runs)} tasks, {len(schedule.loads)} loads, "
        f"makespan {schedule.makespan_s:.3f} s"
    )
