"""Objectives and statistics of a schedule, all computed from the schedule itself.

Nothing here trusts what a scheduler or simulator says about its own result.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from placement_lab.errors import ScheduleError, UnknownNameError
from placement_lab.problem.arrivals import arrivals_s
from placement_lab.units import TIME_TOLERANCE_S, time_slack_s

if TYPE_CHECKING:
    from collections.abc import Sequence

    from placement_lab.problem import Instance, InstanceArrays
    from placement_lab.schedule import Run, Schedule

__all__ = [
    "OBJECTIVES",
    "Metrics",
    "critical_path_s",
    "evaluate",
    "job_ends_s",
    "objective_of_ends",
    "objective_value",
]

OBJECTIVES = ("makespan", "latency", "slowdown", "late")
"""Names of the objectives; all of them are better when smaller (DESIGN section 3)."""

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Metrics:
    """Statistics of one schedule; times in seconds, sizes in bytes.

    Attributes
    ----------
    makespan_s : float
        Largest end of a run, from time 0.
    mean_latency_s : float
        Weighted mean of completion - release; 0 without jobs.
    mean_slow_down, median_slow_down, p95_slow_down, p99_slow_down : float or None
        Of latency / critical path of run times on the fastest workers.
    excluded_slow_down : int
        Jobs left out of these, because their critical path is 0.
    late_weight : float
        Weight of the jobs that end after their deadline.
    hits, lates, misses : int
        Tasks whose model was resident, still loading, or neither, at their turn.
    hit_rate : float or None
        Hits / (hits + lates + misses); None without tasks that need a model.
    n_loads, n_evictions : int
    bytes_loaded : int
    utilisation : float
        Share of the slots' time until the makespan in which tasks ran.
    workers_used : int
    """

    makespan_s: float
    mean_latency_s: float
    mean_slow_down: float | None
    median_slow_down: float | None
    p95_slow_down: float | None
    p99_slow_down: float | None
    excluded_slow_down: int
    late_weight: float
    hits: int
    lates: int
    misses: int
    hit_rate: float | None
    n_loads: int
    n_evictions: int
    bytes_loaded: int
    utilisation: float
    workers_used: int

    def to_dict(self) -> dict[str, Any]:
        """Return the metrics by name."""
        return asdict(self)


def objective_value(
    instance: Instance, schedule: Schedule, objective: str = "latency"
) -> float:
    """Return the value of an objective; 0 without jobs.

    Parameters
    ----------
    instance : Instance
    schedule : Schedule
    objective : {'makespan', 'latency', 'slowdown', 'late'}

    Raises
    ------
    UnknownNameError
        If there is no such objective.
    ScheduleError
        If a task of the instance has no run.
    """
    return objective_of_ends(instance, job_ends_s(instance, schedule), objective)


def objective_of_ends(
    instance: Instance, ends_s: Floats, objective: str = "latency"
) -> float:
    """Return the value of an objective from the jobs' completion times.

    Parameters
    ----------
    instance : Instance
    ends_s : ndarray of shape (J,)
    objective : str

    Raises
    ------
    UnknownNameError
        If there is no such objective.
    """
    arrays = instance.arrays
    if objective not in OBJECTIVES:
        known = ", ".join(OBJECTIVES)
        raise UnknownNameError(f"unknown objective {objective!r}; choose from {known}")
    if not arrays.n_jobs:
        return 0.0
    if objective == "makespan":
        return float(ends_s.max())
    latency_s = ends_s - arrays.job_release_s
    if objective == "latency":
        weight = arrays.job_weight
        return float(weight @ latency_s / weight.sum())
    if objective == "slowdown":
        slow_downs = _slow_downs(latency_s, critical_path_s(instance))
        return float(slow_downs.mean()) if slow_downs.size else 0.0
    return float(arrays.job_weight[_is_late(arrays, ends_s)].sum())


def critical_path_s(instance: Instance) -> Floats:
    """Return each job's longest chain of run times, every task on its fastest worker.

    No transfers, no loads, no releases: the denominator of the slow-down.

    Returns
    -------
    ndarray of shape (J,)
    """
    arrays = instance.arrays
    fastest_s = arrays.row_runtime_s.min(axis=1, initial=np.inf)
    index = {flow.id: f for f, flow in enumerate(instance.workflows)}
    rows = np.concatenate([[0], np.cumsum([len(f.tasks) for f in instance.workflows])])
    longest = np.array(
        [
            _longest_path_s(flow, fastest_s[rows[f] : rows[f + 1]].tolist())
            for f, flow in enumerate(instance.workflows)
        ]
    )
    return longest[[index[job.workflow] for job in instance.jobs]].astype(np.float64)


def _longest_path_s(flow: Any, runtime_s: list[float]) -> float:
    own = {task.id: runtime_s[i] for i, task in enumerate(flow.tasks)}
    successors: dict[str, list[str]] = {name: [] for name in own}
    waiting = dict.fromkeys(own, 0)
    for edge in flow.edges:
        successors[edge.src].append(edge.dst)
        waiting[edge.dst] += 1
    end_s = dict(own)
    ready = [name for name, count in waiting.items() if count == 0]
    while ready:
        name = ready.pop()
        for later in successors[name]:
            end_s[later] = max(end_s[later], end_s[name] + own[later])
            waiting[later] -= 1
            if waiting[later] == 0:
                ready.append(later)
    return max(end_s.values())


def evaluate(instance: Instance, schedule: Schedule) -> Metrics:
    """Return the statistics of a valid schedule.

    Raises
    ------
    ScheduleError
        If a task of the instance has no run.
    """
    arrays = instance.arrays
    runs = _runs_by_task(arrays, schedule)
    ends_s = _job_ends_s(arrays, runs)
    latency_s = ends_s - arrays.job_release_s
    critical_s = critical_path_s(instance)
    slow_downs = _slow_downs(latency_s, critical_s)
    hits, lates, misses = _hits(arrays, schedule, runs)
    asked = hits + lates + misses
    makespan_s = schedule.makespan_s
    busy_s = sum(run.end_s - run.start_s for run in schedule.runs)
    slot_time_s = makespan_s * int(arrays.worker_slots.sum())
    sizes = {model.id: model.size_bytes for model in instance.models}
    weight = arrays.job_weight
    return Metrics(
        makespan_s=makespan_s,
        mean_latency_s=float(weight @ latency_s / weight.sum()) if weight.size else 0.0,
        mean_slow_down=float(slow_downs.mean()) if slow_downs.size else None,
        median_slow_down=_quantile(slow_downs, 0.5),
        p95_slow_down=_quantile(slow_downs, 0.95),
        p99_slow_down=_quantile(slow_downs, 0.99),
        excluded_slow_down=int((critical_s <= 0).sum()),
        late_weight=float(weight[_is_late(arrays, ends_s)].sum()),
        hits=hits,
        lates=lates,
        misses=misses,
        hit_rate=hits / asked if asked else None,
        n_loads=len(schedule.loads),
        n_evictions=len(schedule.evictions),
        bytes_loaded=sum(sizes[load.model] for load in schedule.loads),
        utilisation=busy_s / slot_time_s if slot_time_s > 0 else 0.0,
        workers_used=len({run.worker for run in schedule.runs}),
    )


def job_ends_s(instance: Instance, schedule: Schedule) -> Floats:
    """Return the completion time of every job.

    Returns
    -------
    ndarray of shape (J,)

    Raises
    ------
    ScheduleError
        If a task of the instance has no run.
    """
    arrays = instance.arrays
    return _job_ends_s(arrays, _runs_by_task(arrays, schedule))


def _runs_by_task(arrays: InstanceArrays, schedule: Schedule) -> list[Run]:
    by_name = {run.task: run for run in schedule.runs}
    try:
        return [by_name[name] for name in arrays.task_names]
    except KeyError as error:
        raise ScheduleError(
            f"the schedule has no run of task {error.args[0]!r}; it cannot be scored"
        ) from None


def _job_ends_s(arrays: InstanceArrays, runs: Sequence[Run]) -> Floats:
    ends_s = np.array([run.end_s for run in runs])
    if not len(ends_s):
        return np.zeros(0)
    return np.asarray(np.maximum.reduceat(ends_s, arrays.job_ptr[:-1]), np.float64)


def _is_late(arrays: InstanceArrays, ends_s: Floats) -> npt.NDArray[np.bool_]:
    return ends_s > arrays.job_deadline_s + TIME_TOLERANCE_S


def _slow_downs(latency_s: Floats, critical_s: Floats) -> Floats:
    counted = critical_s > 0
    return latency_s[counted] / critical_s[counted]


def _quantile(values: Floats, q: float) -> float | None:
    return float(np.quantile(values, q)) if values.size else None


def _hits(
    arrays: InstanceArrays, schedule: Schedule, runs: Sequence[Run]
) -> tuple[int, int, int]:
    """Count hits, lates and misses; tasks without a model don't count."""
    turn_s = _turns_s(arrays, runs)
    copies = _copies(arrays, schedule)
    count = {"hit": 0, "late": 0, "miss": 0}
    models = arrays.model.tolist()
    for task, run in enumerate(runs):
        if models[task] >= 0:
            key = (arrays.worker_index[run.worker], models[task])
            count[_outcome(copies.get(key, []), turn_s[task])] += 1
    return count["hit"], count["late"], count["miss"]


def _outcome(copies: list[tuple[float, float, float]], turn_s: float) -> str:
    """Return what a task finds at its turn among its model's copies on its worker."""
    slack_s = time_slack_s(turn_s)
    place = bisect_right(copies, turn_s + slack_s, key=lambda copy: copy[0])
    if place == 0:
        return "miss"
    _, usable_s, gone_s = copies[place - 1]
    if gone_s < turn_s - slack_s:
        return "miss"
    return "hit" if usable_s <= turn_s + slack_s else "late"


def _turns_s(arrays: InstanceArrays, runs: Sequence[Run]) -> list[float]:
    """Return max(inputs arrived, slot free after the previous run) of each task."""
    turn_s = _arrivals_s(arrays, runs).tolist()
    by_worker: dict[str, list[int]] = {}
    for task, run in enumerate(runs):
        by_worker.setdefault(run.worker, []).append(task)
    for worker, tasks in by_worker.items():
        slots = int(arrays.worker_slots[arrays.worker_index[worker]])
        free_s = [0.0] * slots
        for task in sorted(tasks, key=lambda i: (runs[i].start_s, runs[i].end_s)):
            slot = min(range(slots), key=lambda k: free_s[k])
            turn_s[task] = max(turn_s[task], free_s[slot])
            free_s[slot] = runs[task].end_s
    return turn_s


def _arrivals_s(arrays: InstanceArrays, runs: Sequence[Run]) -> Floats:
    """Return when all inputs of each task had arrived at its worker (rule R5)."""
    index = arrays.worker_index
    worker = np.array([index[run.worker] for run in runs], np.int64)
    end_s = np.array([run.end_s for run in runs])
    return arrivals_s(arrays, worker, end_s)


def _copies(
    arrays: InstanceArrays, schedule: Schedule
) -> dict[tuple[int, int], list[tuple[float, float, float]]]:
    """Return (load start, usable from, usable until) of each copy, by worker, model."""
    workers, models = arrays.worker_index, arrays.model_index
    copies: dict[tuple[int, int], list[tuple[float, float, float]]] = {}
    ends: dict[tuple[int, int], list[float]] = {}
    for eviction in schedule.evictions:
        key = (workers[eviction.worker], models[eviction.model])
        ends.setdefault(key, []).append(eviction.start_s)
    for w in range(arrays.n_workers):
        first, last = arrays.resident_ptr[w : w + 2].tolist()
        for m in arrays.resident_model[first:last].tolist():
            copies[w, m] = [(-np.inf, -np.inf, np.inf)]
    for load in schedule.loads:
        key = (workers[load.worker], models[load.model])
        copies.setdefault(key, []).append((load.start_s, load.end_s, np.inf))
    for key, mine in copies.items():
        mine.sort()
        for i, gone_s in enumerate(sorted(ends.get(key, []))[: len(mine)]):
            mine[i] = (mine[i][0], mine[i][1], gone_s)
    return copies
