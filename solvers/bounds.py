"""Lower bounds that need no search, valid for every rule of the exact solver.

`heads` and `tails` say how early each task can end on each worker and how much must
follow it; the epochs model takes its time windows from them. Each bound's proof is in
its docstring; ``docs/bounds.md`` puts them side by side.
"""

from __future__ import annotations

import heapq
import math
from typing import TYPE_CHECKING

import numpy as np

from placement_lab.solvers.objectives import check_objective, job_costs
from placement_lab.solvers.result import BoundResult
from placement_lab.solvers.ticks import in_seconds

if TYPE_CHECKING:
    from collections.abc import Iterable

    import numpy.typing as npt

    from placement_lab.problem import Instance, InstanceArrays
    from placement_lab.solvers.ticks import Quantities

    Floats = npt.NDArray[np.float64]

__all__ = ["BOUNDS", "earliest_completions", "heads", "lower_bound", "tails"]


def lower_bound(
    instance: Instance,
    objective: str = "latency",
    kinds: Iterable[str] | None = None,
) -> BoundResult:
    """Return a lower bound on an objective, proven in true time without a search.

    Parameters
    ----------
    instance : Instance
        Under any rules: bounds that need more than the rules give are left out.
    objective : {'latency', 'makespan', 'slowdown', 'late'}
    kinds : iterable of str, optional
        Which of `BOUNDS` to compute; default: all.

    Returns
    -------
    BoundResult
        inf if no schedule exists at all.

    Raises
    ------
    UnknownNameError
        If there is no such objective or bound.

    Examples
    --------
    >>> from placement_lab.problem import InstanceBuilder
    >>> build = InstanceBuilder()
    >>> build.worker("w0", memory_bytes=8)
    >>> build.model("m", size_bytes=8, load_s=2.0)
    >>> flow = build.workflow("f").task("t", runtime_s=1.0, model="m")
    >>> build.job("j", "f")
    >>> lower_bound(build.build(), "makespan").bound
    3.0
    """
    check_objective(objective)
    wanted = tuple(BOUNDS) if kinds is None else tuple(kinds)
    _check_kinds(wanted)
    if not instance.jobs:
        return BoundResult(0.0, dict.fromkeys(wanted, 0.0), wanted[0] if wanted else "")
    problem = _Problem(instance, objective)
    bounds = {name: BOUNDS[name](problem) for name in wanted}
    known = {name: value for name, value in bounds.items() if value is not None}
    if not known:
        return BoundResult(0.0, bounds, "trivial")
    source = max(known, key=lambda name: known[name])
    return BoundResult(known[source], bounds, source)


def _check_kinds(kinds: tuple[str, ...]) -> None:
    from placement_lab.errors import UnknownNameError

    for kind in kinds:
        if kind not in BOUNDS:
            known = ", ".join(BOUNDS)
            raise UnknownNameError(f"unknown bound {kind!r:.60}; choose from {known}")


class _Problem:
    """What the bounds share: quantities in seconds, heads and tails."""

    def __init__(self, instance: Instance, objective: str) -> None:
        self.instance, self.objective = instance, objective
        self.arrays = instance.arrays
        self.costs = in_seconds(instance)
        self.ends_s = heads(self.arrays, self.costs)
        impossible = ~np.isfinite(self.ends_s)
        run_s = np.where(impossible, 0.0, self.costs.run)
        self.starts_s = self.ends_s - run_s
        self.tails_s = tails(self.arrays, self.costs)
        self.completions_s = earliest_completions(
            self.arrays, self.ends_s, self.tails_s
        )


def heads(arrays: InstanceArrays, costs: Quantities) -> Floats:
    """Return the earliest end of each task on each worker, of shape (N, W).

    A run starts when it is released and its input is there, when a copy of its model
    can be usable there (`Quantities.usable`: an initial resident at once, else after
    one load, which rule R6 allows from time 0 or from the first release of a job that
    could use it), and when each predecessor's data has come from wherever the
    predecessor can have ended soonest. By induction along the DAG no schedule is
    earlier. (LB1 of Fernandez & Bussell 1973, with loads.)
    """
    end = np.full(costs.run.shape, np.inf)
    for task in arrays.topological.tolist():
        start = costs.ready[task].copy()
        model = arrays.model[task]
        if model >= 0:
            np.maximum(start, costs.usable[model], out=start)
        for at in range(arrays.pred_ptr[task], arrays.pred_ptr[task + 1]):
            earlier, edge = arrays.pred_task[at], arrays.pred_edge[at]
            arrival = (end[earlier][:, None] + costs.delay[edge]).min(axis=0)
            np.maximum(start, arrival, out=start)
        end[task] = start + costs.run[task]
    return end


def tails(arrays: InstanceArrays, costs: Quantities) -> Floats:
    """Return the least time from each task's end to its job's end, of shape (N, W).

    After a task on a worker, each successor still has to get its data and run, on the
    worker where that and what follows takes least. Loads may have been done before.
    """
    after = np.zeros(costs.run.shape)
    run = np.where(costs.can_run, costs.run, np.inf)
    for task in arrays.topological[::-1].tolist():
        for at in range(arrays.succ_ptr[task], arrays.succ_ptr[task + 1]):
            later, edge = arrays.succ_task[at], arrays.succ_edge[at]
            rest = (costs.delay[edge] + run[later] + after[later]).min(axis=1)
            np.maximum(after[task], rest, out=after[task])
    return after


def earliest_completions(arrays: InstanceArrays, ends: Floats, after: Floats) -> Floats:
    """Return a lower bound on every job's completion time, of shape (J,).

    A job ends no earlier than any of its tasks can end, on the best worker, plus what
    must follow it.
    """
    through = (ends + after).min(axis=1)
    return np.asarray(np.maximum.reduceat(through, arrays.job_ptr[:-1]), np.float64)


def _critical_path(problem: _Problem) -> float:
    """Score every job as if it were alone: `earliest_completions`."""
    completions_s = problem.completions_s
    if np.isinf(completions_s).any():
        return float("inf")
    if problem.objective == "makespan":
        return float(completions_s.max() + problem.costs.origin)
    weights = job_costs(problem.instance, problem.objective)
    if problem.objective == "late":
        return float(weights[completions_s > problem.costs.due].sum())
    return float(weights @ np.maximum(0.0, completions_s - problem.costs.release))


def _area(problem: _Problem) -> float | None:
    """Bound the makespan by work: all of it has to fit before the end (LB2).

    For prices u >= 0 with sum of slots x u = 1, the makespan Z is at least
    ``sum over workers of u x (time occupied there)``, because no worker is occupied for
    longer than slots x Z. Every task pays at least its cheapest ``u x run``, and with
    blocking loads every model at least one load on some worker that does not have it.
    What runs after time ``a`` and is followed by ``q`` adds both (runs: Z - a - q).
    """
    if problem.objective != "makespan":
        return None
    if np.isinf(problem.completions_s).any():
        return float("inf")
    costs, arrays = problem.costs, problem.arrays
    run = np.where(costs.can_run, costs.run, np.inf)
    load = _first_loads(arrays, costs)
    begin = problem.starts_s
    head, tail = float(begin.min()), float(problem.tails_s.min(axis=1).min())
    runs_only = head + tail + _priced_area(arrays, run)
    best = max(runs_only, _staircase(problem, run))
    if not arrays.overlap:
        first_load = 0.0 if arrays.prefetch == "clairvoyant" else costs.release.min()
        best = max(
            best, first_load + tail + _priced_area(arrays, np.vstack([run, load]))
        )
    elif len(load):
        # The last model to come still has to be used by some run.
        engines = _priced_area(arrays, load, one_at_a_time=True)
        best = max(best, engines + float(run[arrays.model >= 0].min()))
    return float(best + costs.origin)


def _first_loads(arrays: InstanceArrays, costs: Quantities) -> Floats:
    """Return what a first load of each needed model costs on each worker."""
    needed = np.unique(arrays.model[arrays.model >= 0])
    usable_by_some = np.zeros(costs.load.shape, bool)
    for task in np.flatnonzero(arrays.model >= 0).tolist():
        usable_by_some[arrays.model[task]] |= costs.can_run[task]
    load = np.where(costs.resident, 0.0, costs.load)
    return np.where(usable_by_some, load, np.inf)[needed]


def _priced_area(
    arrays: InstanceArrays, work: Floats, *, one_at_a_time: bool = False
) -> float:
    """Return the best priced area found: each row goes to its cheapest worker.

    Any prices are valid, so the search for good ones (projected steps towards the
    workers that the cheapest assignment overloads) needs no care.
    """
    slots = np.ones(arrays.n_workers) if one_at_a_time else arrays.worker_slots
    price = np.full(arrays.n_workers, 1.0 / slots.sum())
    best = math.fsum(work.min(axis=1).tolist()) / float(slots.sum())
    if (work == work[:, :1]).all():
        return best  # identical workers: uniform prices are best
    for step in range(200):
        cheapest = np.argmin(work * price, axis=1)
        amount = work[np.arange(len(work)), cheapest]
        load = np.bincount(cheapest, amount, minlength=len(price)) / slots
        price = price * np.exp((load / max(load.max(), 1e-300) - 1) * 2 / (step + 5))
        price /= (price * slots).sum()
        best = max(best, float((work * price).min(axis=1).sum()))
    return best


def _staircase(problem: _Problem, run: Floats) -> float:
    """Return the best of: what cannot start before e has to fit after e."""
    begin = problem.starts_s.min(axis=1)
    least = run.min(axis=1)
    after = problem.tails_s.min(axis=1)
    order = np.argsort(-begin, kind="stable")
    work = np.cumsum(least[order]) / problem.arrays.worker_slots.sum()
    tail = np.minimum.accumulate(after[order])
    return float((begin[order] + work + tail).max())


def _srpt(problem: _Problem) -> float | None:
    """Bound equally weighted latencies by one preemptive machine (LB4).

    A machine as fast as all slots together, which may interrupt jobs and needs of each
    only its tasks' shortest runs, can imitate any schedule; for the sum of completion
    times, shortest remaining time first is optimal on it (Schrage 1968). Where weights
    differ, all count as the smallest.
    """
    if problem.objective not in ("latency", "slowdown"):
        return None
    if np.isinf(problem.completions_s).any():
        return float("inf")
    arrays = problem.arrays
    run = np.where(problem.costs.can_run, problem.costs.run, np.inf).min(axis=1)
    work = np.add.reduceat(run, arrays.job_ptr[:-1]) / arrays.worker_slots.sum()
    weight = job_costs(problem.instance, problem.objective).min()
    total = _srpt_total(problem.costs.release.tolist(), work.tolist())
    return float(weight * total)


def _srpt_total(release: list[float], work: list[float]) -> float:
    """Return the sum of latencies under shortest remaining processing time first."""
    total, now = 0.0, 0.0
    arrivals = sorted(range(len(work)), key=lambda j: release[j])
    waiting: list[tuple[float, float]] = []  # remaining work, release
    place = 0
    while waiting or place < len(arrivals):
        if not waiting:
            now = max(now, release[arrivals[place]])
        while place < len(arrivals) and release[arrivals[place]] <= now:
            job = arrivals[place]
            heapq.heappush(waiting, (work[job], release[job]))
            place += 1
        left, released = heapq.heappop(waiting)
        until = release[arrivals[place]] if place < len(arrivals) else np.inf
        if now + left <= until:
            now += left
            total += now - released
        else:
            heapq.heappush(waiting, (left - (until - now), released))
            now = until
    return total


BOUNDS = {"critical_path": _critical_path, "area": _area, "srpt": _srpt}
"""The bounds by name; each takes a problem and returns a value, or None."""
