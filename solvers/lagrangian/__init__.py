"""A strong certified bound on sums of latencies, by Lagrangian relaxation.

Three families of constraints are priced: a worker runs at most ``slots`` tasks at a
tick; a task runs only where its model is resident; and, under ``prefetch:
after_release``, every load serves a task of a job that was released before the load
began. What is left falls apart into jobs, each minimised exactly over its own
schedules (a task that triggers a load is paid for it, but has to wait for it), and the
workers' memories, each maximised over its own histories of loads and evictions.

*Proof.* Take a schedule in whole ticks and any prices >= 0. Its jobs pay for the runs
and earn for the loads that they trigger, one per task at most; its workers earn for the
residency that runs have to find there and pay for their loads. As every load has a task
that triggers it, the payments of loads cancel; as runs find free slots and resident
models, the other payments never exceed the prices of all slots and the earnings of the
histories. So the minimum of the jobs minus slots minus the maximum of the histories is
at most the schedule's cost, for every schedule.

Related: Moehring, Schulz, Stork, Uetz, *Management Science* 49 (2003), who bound
project scheduling in the same way with minimum cuts.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from placement_lab.solvers.objectives import Objective
from placement_lab.solvers.ticks import Tick, choose_tick, round_down
from placement_lab.solvers.windows import latest_completions

if TYPE_CHECKING:
    from collections.abc import Callable

    from placement_lab.problem import Instance

__all__ = ["can_relax", "raise_lagrangian_bound"]

_TICKS_PER_RUN = 40
"""Ticks of a mean run: rounding down takes half a tick of each."""

_MOST_TICKS = 8000
"""Ticks until the last job's end."""

_MOST_CELLS = 20_000_000
"""Tasks x types of workers x ticks that still fit into memory."""


def can_relax(instance: Instance, objective: str) -> bool:
    """Return whether the relaxation says anything about an objective."""
    return objective in ("latency", "slowdown") and bool(instance.jobs)


def raise_lagrangian_bound(
    instance: Instance,
    objective: str,
    value: float | None,
    progress: Callable[[], float],
    on_bound: Callable[[float], None],
) -> None:
    """Climb until the budget is used up, and report every better bound in true time.

    Parameters
    ----------
    instance : Instance
    objective : {'latency', 'slowdown'}
    value : float or None
        True value of a known schedule; only better ones matter.
    progress : callable
        Returns the used share of the budget.
    on_bound : callable
        Gets proven bounds, never above ``value``.
    """
    from placement_lab.solvers.lagrangian.ascent import best_prices
    from placement_lab.solvers.lagrangian.relaxation import Relaxation

    tick = _choose_tick(instance, objective, value)
    costs = round_down(instance, tick)
    integers = Objective.of(instance, objective, costs, tick)
    latest = latest_completions(instance, costs, integers, value)
    relaxation = Relaxation(instance, costs, integers, latest)
    types, _, horizon = relaxation.shape
    if not relaxation.is_small_enough:
        return
    if instance.n_tasks * types * horizon > _MOST_CELLS:
        return

    def report(dual: float) -> None:
        bound = integers.in_seconds(dual * relaxation.unit)
        on_bound(bound if value is None else min(bound, value))

    best_prices(relaxation, progress, report)


def _choose_tick(instance: Instance, objective: str, value: float | None) -> Tick:
    """Return a tick that resolves runs and keeps the horizon countable."""
    tick = choose_tick(instance, fine=False)
    costs = round_down(instance, tick)
    integers = Objective.of(instance, objective, costs, tick)
    latest = max(latest_completions(instance, costs, integers, value))
    shortest = np.where(costs.can_run, costs.run, np.inf).min(axis=1)
    per_run = float(shortest.mean()) / _TICKS_PER_RUN
    factor = math.ceil(max(per_run, latest / _MOST_TICKS))
    return tick if factor <= 1 else Tick(tick.seconds * factor, exact=False)
