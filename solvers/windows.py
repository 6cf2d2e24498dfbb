"""How late a job may end in a schedule that is no worse than the incumbent."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from placement_lab.solvers.bounds import earliest_completions, heads, tails

if TYPE_CHECKING:
    from placement_lab.problem import Instance
    from placement_lab.solvers.objectives import Objective
    from placement_lab.solvers.ticks import Quantities

__all__ = ["latest_completions"]

_MARGIN = 2.0
"""Ticks of grace, so that rounding never excludes the incumbent itself."""


def latest_completions(
    instance: Instance, costs: Quantities, objective: Objective, value: float | None
) -> list[int]:
    """Return, per job, a tick after which it ends in no schedule worth finding.

    With costs w and least latencies l, a schedule of value V leaves job j at most
    (V - sum of the others' w l) / w of latency. Without an incumbent, and for jobs that
    cost nothing, doing one thing at a time is over by the horizon.

    Parameters
    ----------
    instance : Instance
    costs : Quantities
        In whole ticks.
    objective : Objective
    value : float or None
        True value of the incumbent.
    """
    arrays = instance.arrays
    latest = [int(costs.horizon)] * arrays.n_jobs
    if value is None or objective.name == "late":
        return latest
    if objective.name == "makespan":
        most = math.floor(objective.in_ticks(value) + _MARGIN)
        return [min(most, end) for end in latest]
    first = earliest_completions(arrays, heads(arrays, costs), tails(arrays, costs))
    least = np.maximum(0.0, first - costs.release)
    weights = np.array(objective.weights, np.float64)
    spare = objective.in_ticks(value) - float(weights @ least) + _MARGIN * weights.sum()
    for j in np.flatnonzero(weights).tolist():
        most = costs.release[j] + least[j] + spare / weights[j]
        latest[j] = min(latest[j], math.floor(most))
    return latest
