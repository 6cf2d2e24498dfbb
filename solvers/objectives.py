"""Objectives as whole-number costs of the jobs' completion ticks, and back.

``latency`` and ``slowdown`` are weighted sums of latencies, ``late`` a weighted count,
``makespan`` a maximum. Weights become integers, rounded down. Latencies are never
negative, so smaller weights give a smaller sum: the integer optimum, brought back to
true time by `Objective.in_seconds`, is a lower bound.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from placement_lab.errors import UnknownNameError
from placement_lab.metrics import OBJECTIVES, critical_path_s

if TYPE_CHECKING:
    from placement_lab.problem import Instance
    from placement_lab.solvers.ticks import Quantities, Tick

__all__ = ["Objective", "check_objective", "job_costs"]

_WEIGHT_UNITS = 10**9
"""Weights that are no decimal fractions keep up to nine digits."""

_MOST_SUM = 2**52
"""Keep objective values exact in a double, which is how CP-SAT reports bounds."""


def check_objective(name: str) -> None:
    """Refuse unknown objectives.

    Raises
    ------
    UnknownNameError
        Naming the objective and the known ones.
    """
    if name not in OBJECTIVES:
        known = ", ".join(OBJECTIVES)
        raise UnknownNameError(f"unknown objective {name!r:.60}; choose from {known}")


def job_costs(instance: Instance, name: str) -> np.ndarray:
    """Return what each job's latency (or lateness) weighs in an objective.

    Returns
    -------
    ndarray of shape (J,)
        So that the objective is the sum of cost x latency (``late``: of the costs of
        late jobs). All zero where only the largest end counts (``makespan``).
    """
    weight = instance.arrays.job_weight
    if name == "latency":
        return np.asarray(weight / weight.sum())
    if name == "late":
        return np.asarray(weight)
    if name == "slowdown":
        critical_s = critical_path_s(instance)
        counted = critical_s > 0
        inverse = np.divide(1.0, critical_s, where=counted, out=np.zeros(len(weight)))
        return np.asarray(inverse / max(1, int(counted.sum())))
    return np.zeros(len(weight))


@dataclass(frozen=True)
class Objective:
    """An objective in integers.

    Attributes
    ----------
    name : str
    weights : tuple of int
        Per job: of its latency in ticks, or of its being late.
    scale : float
        Integer value = true value x ``scale``, up to rounding.
    offset : float
        True value of an integer value of 0.
    weight_loss : float
        Share of a value that rounding the weights may have taken.
    """

    name: str
    weights: tuple[int, ...]
    scale: float
    offset: float
    weight_loss: float = 0.0

    @classmethod
    def of(
        cls, instance: Instance, name: str, data: Quantities, tick: Tick
    ) -> Objective:
        """Return an objective in the integers of ``data``."""
        tick_s = tick.seconds
        if name == "makespan":
            return cls(name, (), 1 / tick_s, data.origin * tick_s)
        costs = job_costs(instance, name)
        length = 1.0 if name == "late" else data.horizon
        per_unit, is_exact = _integer_scale(instance, name, costs, length)
        weights = tuple(int(np.floor(c * per_unit * (1 + 1e-15))) for c in costs)
        least = min((weight for weight in weights if weight), default=1)
        loss = 0.0 if is_exact else 1 / least
        if name == "late":
            return cls(name, weights, per_unit, 0.0, loss)
        # Latency counts from the true release, not from the one rounded down.
        begin_s = (data.release + data.origin) * tick_s
        rest_s = instance.arrays.job_release_s - begin_s
        offset = -float(np.array(weights) @ rest_s) / per_unit
        return cls(name, weights, per_unit / tick_s, offset, loss)

    def in_seconds(self, value: float) -> float:
        """Return the true value that an integer value stands for, never below 0."""
        return max(0.0, value / self.scale + self.offset)

    def in_ticks(self, true_value: float) -> float:
        """Return the integer value that a true value stands for, unrounded."""
        return (true_value - self.offset) * self.scale


def _integer_scale(
    instance: Instance, name: str, costs: np.ndarray, length: float
) -> tuple[float, bool]:
    """Return integers per unit of cost, and whether weights keep their value."""
    most = _MOST_SUM / max(1, length) / max(1, len(costs))
    weight = instance.arrays.job_weight
    if name in ("latency", "late"):
        unit = 1.0 if name == "late" else float(weight.sum())
        for digits in range(7):
            whole = weight * 10**digits
            if (whole == np.round(whole)).all() and whole.max() <= most:
                divisor = np.gcd.reduce(np.round(whole).astype(np.int64))
                return unit * 10**digits / float(max(1, divisor)), True
    units = min(float(_WEIGHT_UNITS), most)
    return units / float(costs.max(initial=0.0) or 1.0), False
