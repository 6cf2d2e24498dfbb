"""`plan_job`: place the tasks of one job, in rank order, each where it is done soonest.

The planning phase of Compass (arXiv 2402.17652), also with everything switched off that
makes it Compass: then it is the paper's stateless HEFT. Tasks are appended, never put
into idle gaps. Sums have the order of the paper's formulas, as ties depend on it.
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from placement_lab.policy import Profile, View
    from placement_lab.schedulers.compass import CompassOptions

__all__ = ["JobPlan", "fetch_s", "plan_job", "planning_order"]


class JobPlan(NamedTuple):
    """Worker and planned finish (seconds) of every task of a job, in declared order."""

    worker: list[int]
    finish_s: list[float]


def planning_order(profile: Profile, job: int, options: CompassOptions) -> list[int]:
    """Return the tasks of a job (counted from its first) in the order of planning.

    By upward rank: the mean runtime over the workers that can run the task, plus the
    largest sum of a successor's rank and the mean transfer to it. Equal ranks keep a
    topological order. With ``options.order == "topological"``: just that.
    """
    first, last = profile.job_ptr[job : job + 2]
    rows = [profile.task_row[task] for task in range(first, last)]
    by_position = sorted(
        range(last - first), key=lambda local: profile.row_position[rows[local]]
    )
    if options.order == "topological":
        return by_position
    rank_s = [0.0] * (last - first)
    for local in reversed(by_position):
        row = rows[local]
        workers = profile.eligible[row]
        mean_s = sum(profile.runtime_s[row][w] for w in workers) / len(workers)
        rank_s[local] = mean_s + max(
            (
                profile.edge_mean_s[edge] + rank_s[local + distance]
                for distance, edge in profile.row_succs[row]
            ),
            default=0.0,
        )
    return sorted(by_position, key=lambda local: -rank_s[local])


def plan_job(
    job: int, view: View, options: CompassOptions, order: Sequence[int] | None = None
) -> JobPlan:
    """Plan one job on the cluster as a view shows it.

    Parameters
    ----------
    job : int
    view : View
    options : CompassOptions
    order : sequence of int, optional
        `planning_order`, if it is known already.

    Returns
    -------
    JobPlan

    References
    ----------
    .. [1] Y. Yang et al., "Compass: A Decentralized Scheduler for Latency-Sensitive ML
       Workflows", arXiv 2402.17652, planning phase.
    """
    profile = view.profile
    first, last = profile.job_ptr[job : job + 2]
    if order is None:
        order = planning_order(profile, job, options)
    now_s = view.now_s
    plan = JobPlan([-1] * (last - first), [0.0] * (last - first))
    available_s = [now_s] * profile.n_workers
    if options.load_term:
        available_s = [now_s + wait_s for wait_s in view.queue_wait_s()]
    cache = _PlannedCache(view, options)
    for local in order:
        task = first + local
        row = profile.task_row[task]
        ready_s = max(now_s, profile.task_release_s[task])
        if profile.row_preds[row]:
            arrival_s = _inputs_s(profile, row, ready_s, plan, local)
        elif options.entry_transfer:
            src = profile.job_ingress[job]
            arrival_s = [
                ready_s + profile.input_transfer_s(row, src, w)
                for w in range(profile.n_workers)
            ]
        else:
            arrival_s = [ready_s] * profile.n_workers
        start_s = [
            (inputs_s if inputs_s > free_s else free_s) + fetched_s
            for free_s, inputs_s, fetched_s in zip(
                available_s, arrival_s, cache.fetch_at_s(row), strict=True
            )
        ]
        finish_s = list(map(operator.add, start_s, profile.runtime_s[row]))
        score = start_s if options.pick == "start" else finish_s
        # The first of equal ones, and workers_for() has the lowest first.
        best = min(view.workers_for(task), key=score.__getitem__)
        plan.worker[local] = best
        plan.finish_s[local] = available_s[best] = finish_s[best]
        cache.place(row, best)
    return plan


def _inputs_s(
    profile: Profile, row: int, ready_s: float, plan: JobPlan, local: int
) -> list[float]:
    """Return when the inputs of a task would be at each worker, by the plan so far."""
    n_workers = profile.n_workers
    arrival_s = [ready_s] * n_workers
    for distance, edge in profile.row_preds[row]:
        finish_s = plan.finish_s[local + distance]
        src = plan.worker[local + distance]
        flat_s = profile.edge_flat_s[edge]
        if flat_s is None:
            moved_s = [
                finish_s + profile.transfer_s(edge, src, w) for w in range(n_workers)
            ]
        else:
            moved_s = [finish_s + flat_s] * n_workers
            moved_s[src] = finish_s
        arrival_s = list(map(max, arrival_s, moved_s))
    return arrival_s


def fetch_s(
    profile: Profile, model: int, worker: int, *, free_bytes: int, penalty: str
) -> float:
    """Return the planned fetch time of a model that is not on a worker.

    Parameters
    ----------
    profile : Profile
    model, worker : int
    free_bytes : int
        Planned free memory.
    penalty : {'zero', 'flat2x', 'victims'}
        What a model that does not fit costs on top: nothing, a second fetch whatever
        leaves for it, or the eviction of as many bytes as are missing.
    """
    load_s = profile.load_s[model][worker]
    size_bytes = profile.model_size_bytes[model]
    if penalty == "zero" or size_bytes <= free_bytes:
        return load_s
    if penalty == "flat2x":
        return load_s + load_s
    return load_s + profile.evict_s[model] * (1.0 - free_bytes / size_bytes)


class _PlannedCache:
    """What each worker holds, as far as this plan knows."""

    def __init__(self, view: View, options: CompassOptions) -> None:
        self._profile = view.profile
        self._options = options
        self._none = [0.0] * view.profile.n_workers
        if not options.cache_term:
            return
        counts_coming = options.telemetry.pending_loads
        self._bits = view.expected_bits() if counts_coming else view.resident_bits()
        self._free: list[int] = []
        if options.eviction_penalty != "zero":
            self._free = view.free_bytes()

    def fetch_at_s(self, row: int) -> list[float]:
        """Return the fetch time of a task's model on each worker."""
        model = self._profile.row_model[row]
        if model < 0 or not self._options.cache_term:
            return self._none
        penalty = self._options.eviction_penalty
        if penalty == "zero":
            load_s = self._profile.load_s[model]
            return [
                0.0 if bits >> model & 1 else load_s[w]
                for w, bits in enumerate(self._bits)
            ]
        return [
            0.0
            if bits >> model & 1
            else fetch_s(
                self._profile, model, w, free_bytes=self._free[w], penalty=penalty
            )
            for w, bits in enumerate(self._bits)
        ]

    def place(self, row: int, worker: int) -> None:
        """Note that a task was placed, and with it the fetch of its model."""
        model = self._profile.row_model[row]
        if model < 0 or not self._options.cache_term:
            return
        if self._bits[worker] >> model & 1:
            return
        if self._options.updates_cache:
            self._bits[worker] |= 1 << model
        if not self._free:
            return
        size_bytes = self._profile.model_size_bytes[model]
        free_bytes = self._free[worker]
        if not self._options.subtracts_used:
            self._free[worker] = max(free_bytes - size_bytes, 0)
        elif size_bytes <= free_bytes:
            # Quirk Q2: the size comes off the used memory, where there is as much.
            used_bytes = self._profile.worker_memory_bytes[worker] - free_bytes
            if used_bytes >= size_bytes:
                self._free[worker] = free_bytes + size_bytes
