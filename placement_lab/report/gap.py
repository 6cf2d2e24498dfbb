"""The gap curve: incumbent and bound over the solver's time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from placement_lab.report.formatting import IN_SECONDS, format_fraction

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from placement_lab.solvers import Result

__all__ = ["plot_gap"]

INCUMBENT, BOUND = "#EE6677", "#4477AA"


def plot_gap(result: Result, ax: Axes | None = None) -> Axes:
    """Draw how incumbent and bound approach each other while the solver works.

    Parameters
    ----------
    result : Result
        Of `placement_lab.solvers.solve`.
    ax : matplotlib.axes.Axes, optional
        Where to draw. Default: a new pyplot figure.

    Returns
    -------
    matplotlib.axes.Axes
    """
    if ax is None:
        from matplotlib import pyplot as plt

        _, ax = plt.subplots(figsize=(7.0, 3.2), layout="constrained")
    end_s = max([result.seconds, *(point.seconds for point in result.trace)])
    above = _steps([(p.seconds, p.objective) for p in result.trace], result.objective)
    below = _steps([(p.seconds, p.bound) for p in result.trace], result.bound)
    for points, colour, label in (
        (above, INCUMBENT, "incumbent"),
        (below, BOUND, "bound"),
    ):
        times_s = [time_s for time_s, _ in points] + [end_s]
        values = [value for _, value in points] + [value for _, value in points[-1:]]
        if values:
            ax.step(times_s, values, where="post", color=colour, label=label)
    unit = " (s)" if result.objective_name in IN_SECONDS else ""
    ax.set_xlabel("solver time (s)")
    ax.set_ylabel(f"{result.objective_name}{unit}")
    ax.set_xlim(0.0, end_s if end_s > 0 else 1.0)
    ax.grid(color="0.92", linewidth=0.8)
    ax.set_axisbelow(True)
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    if above or below:
        ax.legend(frameon=False, fontsize=8)
    title = f"{result.status}, gap {format_fraction(result.gap)}"
    ax.set_title(title, loc="left", fontsize=10)
    return ax


def _steps(
    points: list[tuple[float, float | None]], final: float | None
) -> list[tuple[float, float]]:
    """Return the known values; the final one alone where the trace has none."""
    known = [(time_s, value) for time_s, value in points if value is not None]
    if not known and final is not None:
        return [(0.0, final)]
    return known
