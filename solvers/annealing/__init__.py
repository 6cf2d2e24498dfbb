"""Better schedules fast: simulated annealing over orders and workers.

A compiled decoder turns an order of tasks and a worker for each into a value some tens
of thousands of times a second; the winner becomes a full plan through `complete`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from placement_lab.completion import complete
from placement_lab.solvers.objectives import job_costs
from placement_lab.solvers.ticks import in_seconds

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from placement_lab.plan import Plan
    from placement_lab.problem import Instance
    from placement_lab.schedule import Schedule
    from placement_lab.solvers.annealing._kernels import Case

__all__ = ["annealed_plans"]

_FIRST_WORK, _MOST_WORK = 2_000_000, 25_000_000
"""Moves x tasks of the first round and of the longest; each round doubles the last."""

_COOLING = 300.0
"""Temperature of the first move over that of the last."""


def annealed_plans(
    instance: Instance,
    objective: str,
    first: Schedule,
    seed: int,
    progress: Callable[[], float],
    *,
    first_work: int = _FIRST_WORK,
) -> Iterator[Plan]:
    """Yield plans of ever new annealing rounds, until the budget is used up.

    Parameters
    ----------
    instance : Instance
    objective : str
    first : Schedule
        Where every round starts, until a better one is found.
    seed : int
    progress : callable
        Returns the used share of the budget.
    first_work : int
        Moves x tasks of the first round.
    """
    from placement_lab.solvers.annealing import _kernels

    case = _case(instance, objective)
    order, worker = _decisions(instance, first)
    value = _kernels.decode(case, order, worker)
    rng = np.random.default_rng(seed)
    work = first_work
    while progress() < 1.0:
        hot = _temperature(instance, objective, value)
        steps = max(100, work // instance.n_tasks)
        found, new_order, new_worker = _kernels.anneal(
            case, order, worker, rng, steps, hot, hot / _COOLING
        )
        work = min(2 * work, _MOST_WORK)
        if found < value:
            value, order, worker = found, new_order, new_worker
            for evict in ("lru", "belady"):
                yield _plan(instance, order, worker, evict)


def _temperature(instance: Instance, objective: str, value: float) -> float:
    """Return what a single move typically changes: a third of one job's part."""
    scale = abs(value) if np.isfinite(value) and value else 1.0
    return 0.03 * scale if objective == "makespan" else 0.3 * scale / len(instance.jobs)


def _decisions(instance: Instance, schedule: Schedule) -> tuple[np.ndarray, np.ndarray]:
    """Return a schedule's order of starts (predecessors first) and its workers."""
    arrays = instance.arrays
    runs = {run.task: run for run in schedule.runs}
    starts = np.array([runs[name].start_s for name in arrays.task_names])
    rank = np.empty(arrays.n_tasks, np.int64)
    rank[arrays.topological] = np.arange(arrays.n_tasks)
    worker = [arrays.worker_index[runs[name].worker] for name in arrays.task_names]
    return np.lexsort((rank, starts)), np.array(worker, np.int64)


def _plan(
    instance: Instance, order: np.ndarray, worker: np.ndarray, evict: str
) -> Plan:
    arrays = instance.arrays
    by_worker: dict[str, list[str]] = {name: [] for name in arrays.worker_ids}
    for i in order.tolist():
        by_worker[arrays.worker_ids[int(worker[i])]].append(arrays.task_names[i])
    return complete(instance, by_worker, evict)


def _case(instance: Instance, objective: str) -> Case:
    from placement_lab.solvers.annealing._kernels import LATE, MAKESPAN, WEIGHTED, Case

    arrays, costs = instance.arrays, in_seconds(instance)
    return Case(
        run=costs.run,
        ready=costs.ready,
        delay=costs.delay,
        pred_ptr=arrays.pred_ptr,
        pred_task=arrays.pred_task,
        pred_edge=arrays.pred_edge,
        succ_ptr=arrays.succ_ptr,
        succ_task=arrays.succ_task,
        model=arrays.model,
        own=arrays.memory_bytes,
        job=arrays.job,
        release=costs.release,
        due=costs.due,
        cost=job_costs(instance, objective),
        load=costs.load,
        size=arrays.model_size_bytes,
        resident=costs.resident,
        capacity=arrays.worker_memory_bytes,
        slots=arrays.worker_slots,
        objective={"makespan": MAKESPAN, "late": LATE}.get(objective, WEIGHTED),
        blocking=not arrays.overlap,
        after_release=arrays.prefetch == "after_release",
    )
