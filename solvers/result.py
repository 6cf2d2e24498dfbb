"""What a solver answers: what was found, what was proven, how long it took."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from placement_lab.units import format_seconds

if TYPE_CHECKING:
    from collections.abc import Mapping

    from placement_lab.schedule import Schedule

__all__ = ["BoundResult", "Result", "Status", "TracePoint", "gap_between"]

Status = Literal["optimal", "feasible", "unknown", "infeasible"]

_TIMES = ("makespan", "latency")
"""Objectives measured in seconds; the others are plain numbers."""


def gap_between(objective: float | None, bound: float | None) -> float | None:
    """Return (objective - bound) / objective; 0 when equal, None without either."""
    if objective is None or bound is None:
        return None
    if objective == bound:
        return 0.0
    return (objective - bound) / objective


@dataclass(frozen=True, slots=True)
class TracePoint:
    """What was known after some time; sent to ``on_progress`` at every improvement.

    Attributes
    ----------
    seconds : float
        Since `solve` began.
    objective : float or None
        Value of the best schedule so far.
    bound : float or None
        Best proven lower bound so far.
    """

    seconds: float
    objective: float | None
    bound: float | None

    @property
    def gap(self) -> float | None:
        """(objective - bound) / objective, or None while one of them is missing."""
        return gap_between(self.objective, self.bound)


@dataclass(frozen=True, slots=True)
class BoundResult:
    """Lower bounds on one objective, proven without a search.

    Attributes
    ----------
    bound : float
        The best of them; inf if one proves that no schedule exists.
    bounds : mapping of str to float or None
        Each by name; None where it does not apply to the objective.
    source : str
        Name of the best one.
    """

    bound: float
    bounds: Mapping[str, float | None]
    source: str

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON document of `placement-lab bound`; null for infinite."""
        return {
            "bound_s": _finite(self.bound),
            "bounds": {name: _finite(value) for name, value in self.bounds.items()},
        }


def _finite(value: float | None) -> float | None:
    return None if value is None or value == float("inf") else value


@dataclass(frozen=True, slots=True)
class Result:
    """The answer of an exact solver; objective and bound are in true, unrounded time.

    Attributes
    ----------
    status : {'optimal', 'feasible', 'unknown', 'infeasible'}
        ``optimal``: objective - bound <= max(1e-9, ``rounding_slack_s``);
        ``unknown``: neither a schedule nor a proof that there is none.
    objective : float or None
        Value of ``schedule``; None without one.
    objective_name : str
    bound : float or None
        No schedule is better than this; None if the instance is infeasible.
    gap : float or None
        (objective - bound) / objective.
    bound_source : str
        What proved the bound.
    rounding_slack_s : float
        How far the bound can lie below the optimum because times were rounded down to
        whole ticks; at most 1e-4 of the objective, 0 if nothing was rounded.
    tick_s : float
        The unit of time of the integer model; 0 if none was built.
    seconds : float
        Wall clock, warm start included.
    deterministic : bool
        Whether every run gives the same answer; False if wall clock ended this one.
    seed : int
    schedule : Schedule or None
    trace : tuple of TracePoint
        Every improvement of objective or bound.
    interrupted : bool
        Whether Ctrl-C ended the search early.
    """

    status: Status
    objective: float | None
    objective_name: str
    bound: float | None
    gap: float | None
    bound_source: str
    rounding_slack_s: float
    tick_s: float
    seconds: float
    deterministic: bool
    seed: int
    schedule: Schedule | None
    trace: tuple[TracePoint, ...] = ()
    interrupted: bool = False

    def summary(self) -> str:
        """Return the answer in a few lines for people."""
        lines = [f"{self.objective_name}: {self.status}"]
        if self.interrupted:
            lines[0] += " (interrupted)"
        if self.objective is not None:
            lines.append(f"objective  {self._show(self.objective)}")
        if self.bound is not None:
            lines.append(f"bound      {self._show(self.bound)}  by {self.bound_source}")
        if self.gap is not None:
            lines.append(f"gap        {100 * self.gap:.2f} %")
        if self.rounding_slack_s:
            lines.append(f"rounding   at most {format_seconds(self.rounding_slack_s)}")
        lines.append(f"time       {self.seconds:.1f} s")
        return "\n".join(lines)

    def _show(self, value: float) -> str:
        return f"{value:.6g} s" if self.objective_name in _TIMES else f"{value:.6g}"

    def __str__(self) -> str:
        return self.summary()

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON document of `placement-lab solve`."""
        schedule = None if self.schedule is None else self.schedule.to_dict()
        return {
            "objective": self.objective_name,
            "status": self.status,
            "objective_s": self.objective,
            "bound_s": self.bound,
            "gap": self.gap,
            "bound_source": self.bound_source,
            "rounding_slack_s": self.rounding_slack_s,
            "tick_s": self.tick_s,
            "seconds": self.seconds,
            "deterministic": self.deterministic,
            "seed": self.seed,
            "trace": [
                {
                    "seconds": point.seconds,
                    "objective_s": point.objective,
                    "bound_s": point.bound,
                }
                for point in self.trace
            ],
            "schedule": schedule,
        }
