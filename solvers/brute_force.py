"""The oracle: the best schedule of a small instance by exhaustive search."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np

from placement_lab.errors import RefereeError, UnsupportedError
from placement_lab.metrics import objective_value
from placement_lab.schedule import Eviction, Load, Run, Schedule
from placement_lab.solvers.objectives import check_objective, job_costs
from placement_lab.solvers.result import Result

if TYPE_CHECKING:
    from placement_lab.problem import Instance
    from placement_lab.solvers._kernels import Case

__all__ = ["MOST_TASKS", "brute_force"]

MOST_TASKS = 8
_MOST_MODELS = 12
_MOST_NODES = 2_000_000_000


def brute_force(instance: Instance, objective: str = "latency") -> Result:
    """Find the best schedule by trying them all; the oracle that tests compare with.

    Parameters
    ----------
    instance : Instance
        With at most eight tasks.
    objective : {'latency', 'makespan', 'slowdown', 'late'}

    Returns
    -------
    Result
        ``optimal`` or ``infeasible``.

    Raises
    ------
    UnsupportedError
        If the instance is too large, or for timed evictions and ``on_demand``.
    UnknownNameError
        If there is no such objective.
    """
    check_objective(objective)
    _check_supported(instance)
    started = time.perf_counter()
    schedule: Schedule | None = None
    if instance.jobs:
        schedule = _search(instance, objective)
    else:
        schedule = Schedule((), (), (), instance.sha256, _MADE_BY)
    seconds = time.perf_counter() - started
    value = None
    if schedule is not None:
        _check(instance, schedule)
        value = objective_value(instance, schedule, objective)
    return Result(
        status="infeasible" if value is None else "optimal",
        objective=value,
        objective_name=objective,
        bound=value,
        gap=None if value is None else 0.0,
        bound_source="brute force",
        rounding_slack_s=0.0,
        tick_s=0.0,
        seconds=seconds,
        deterministic=True,
        seed=0,
        schedule=schedule,
        trace=(),
    )


_MADE_BY = {"scheduler": "brute_force"}


def _check_supported(instance: Instance) -> None:
    if instance.n_tasks > MOST_TASKS:
        raise UnsupportedError(
            f"brute force takes at most {MOST_TASKS} tasks, this instance has "
            f"{instance.n_tasks}; use solve"
        )
    if instance.rules.prefetch == "on_demand":
        raise UnsupportedError("brute force does not know prefetch 'on_demand'")
    if instance.rules.evict_bandwidth_bytes_per_s is not None:
        raise UnsupportedError("brute force does not know timed evictions")


def _check(instance: Instance, schedule: Schedule) -> None:
    from placement_lab.verify import verify

    violations = verify(instance, schedule)
    if violations:
        raise RefereeError(f"brute force broke a rule: {violations[0].message}")


def _search(instance: Instance, objective: str) -> Schedule | None:
    from placement_lab.solvers import _kernels

    models = _relevant_models(instance)
    case = _case(instance, objective, models)
    value, length, path, starts, nodes = _kernels.explore(case, _MOST_NODES)
    if nodes >= _MOST_NODES:
        raise UnsupportedError("brute force found too many schedules; use solve")
    if np.isinf(value):
        return None
    return _schedule(instance, case, models, path[:, :length].T, starts[:length])


def _relevant_models(instance: Instance) -> list[int]:
    """Return the models that tasks use or that are resident somewhere."""
    arrays = instance.arrays
    used = set(arrays.model[arrays.model >= 0].tolist())
    models = sorted(used | set(arrays.resident_model.tolist()))
    if len(models) > _MOST_MODELS:
        raise UnsupportedError(
            f"brute force takes at most {_MOST_MODELS} models that are used or "
            f"resident, this instance has {len(models)}; use solve"
        )
    return models


def _case(instance: Instance, objective: str, models: list[int]) -> Case:
    from placement_lab.solvers._kernels import LATE, MAKESPAN, WEIGHTED, Case

    arrays = instance.arrays
    n, workers = arrays.n_tasks, range(arrays.n_workers)
    before = np.zeros((n, n), bool)
    delay = np.zeros((n, n, arrays.n_workers, arrays.n_workers))
    for i in range(n):
        for at in range(arrays.pred_ptr[i], arrays.pred_ptr[i + 1]):
            k, edge = arrays.pred_task[at], int(arrays.pred_edge[at])
            before[k, i] = True
            delay[k, i] = [
                [arrays.transfer_s(edge, v, w) for w in workers] for v in workers
            ]
    ready = [
        [
            float(arrays.release_s[i])
            + (arrays.input_transfer_s(i, w) if not before[:, i].any() else 0.0)
            for w in workers
        ]
        for i in range(n)
    ]
    local = {m: at for at, m in enumerate(models)}
    resident = np.zeros((len(models), arrays.n_workers), bool)
    for w, worker in enumerate(instance.workers):
        for name in worker.resident:
            resident[local[arrays.model_index[name]], w] = True
    return Case(
        run=arrays.runtime_s,
        ready=np.array(ready),
        delay=delay,
        before=before,
        topological=arrays.topological,
        model=np.array([local.get(m, -1) for m in arrays.model.tolist()], np.int64),
        own=arrays.memory_bytes,
        job=arrays.job,
        release=arrays.job_release_s,
        due=arrays.job_deadline_s,
        cost=np.ascontiguousarray(job_costs(instance, objective)),
        load=arrays.load_s[models],
        size=arrays.model_size_bytes[models],
        resident=resident,
        capacity=arrays.worker_memory_bytes,
        slots=arrays.worker_slots,
        objective={"makespan": MAKESPAN, "late": LATE}.get(objective, WEIGHTED),
        blocking=not arrays.overlap,
        after_release=arrays.prefetch == "after_release",
    )


def _schedule(
    instance: Instance,
    case: Case,
    models: list[int],
    path: np.ndarray,
    starts: np.ndarray,
) -> Schedule:
    """Turn the appends of the search into records."""
    arrays = instance.arrays
    runs, loads, evictions = [], [], []
    for (kind, target, w, leaving), start in zip(
        path.tolist(), starts.tolist(), strict=True
    ):
        at = arrays.worker_ids[w]
        for bit, m in enumerate(models):
            if leaving >> bit & 1:
                evictions.append(Eviction(arrays.model_ids[m], at, start, start))
        if kind == 0:
            end = start + float(case.run[target, w])
            runs.append(Run(arrays.task_names[target], at, start, end))
        else:
            end = start + float(case.load[target, w])
            loads.append(Load(arrays.model_ids[models[target]], at, start, end))
    return Schedule(
        tuple(runs), tuple(loads), tuple(evictions), instance.sha256, _MADE_BY
    )
