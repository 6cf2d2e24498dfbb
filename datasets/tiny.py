"""Tiny random instances that use every feature of the rules, for exhaustive checks."""

from __future__ import annotations

from typing import Any, get_args

import numpy as np

from placement_lab.datasets._options import check_choice, check_flag, check_whole
from placement_lab.problem import (
    Edge,
    Instance,
    Job,
    LinkSpeed,
    Model,
    Rules,
    Task,
    Worker,
    Workflow,
)
from placement_lab.problem.entities import Loading, Prefetch

__all__ = ["tiny_random"]

_UNIT_BYTES = 1_000_000_000


def tiny_random(
    seed: int = 0,
    *,
    max_tasks: int = 8,
    loading: Loading | None = None,
    prefetch: Prefetch | None = None,
    max_workers: int = 2,
    max_slots: int = 1,
    timed_evictions: bool | None = None,
) -> Instance:
    """Return a random instance of few tasks; some plan always exists.

    Times are multiples of a quarter second, sizes whole GB. Some instances have initial
    residents, runtimes and load times per kind, workers that cannot run a task, own
    memory of tasks, releases of tasks, ingress workers, deadlines, weights, zero-length
    tasks and zero-byte edges.

    Parameters
    ----------
    seed : int
    max_tasks : int
        At least three tasks are drawn, where this allows; 8 are fit for exhaustive
        search.
    loading : {'overlap', 'blocking'}, optional
        Default: drawn.
    prefetch : {'after_release', 'clairvoyant', 'on_demand'}, optional
        Default: one of the first two is drawn.
    max_workers, max_slots : int
    timed_evictions : bool, optional
        Default: one instance in four has them.

    Raises
    ------
    ProblemError
        If an option's value makes no sense.
    """
    check_whole("seed", seed, 0)
    check_whole("max_tasks", max_tasks, 1)
    check_whole("max_workers", max_workers, 1)
    check_whole("max_slots", max_slots, 1)
    if loading is not None:
        check_choice("loading", loading, get_args(Loading))
    if prefetch is not None:
        check_choice("prefetch", prefetch, get_args(Prefetch))
    if timed_evictions is not None:
        check_flag("timed_evictions", timed_evictions)
    rng = np.random.default_rng(seed)
    # All draws happen whatever is fixed, so that siblings differ in that alone.
    drawn_loading = ("overlap", "blocking")[int(rng.integers(2))]
    drawn_prefetch = ("after_release", "clairvoyant")[int(rng.integers(2))]
    drawn_evictions = bool(rng.integers(4) == 0)
    timed = drawn_evictions if timed_evictions is None else timed_evictions
    rules = Rules(
        loading=loading or drawn_loading,  # type: ignore[arg-type]
        prefetch=prefetch or drawn_prefetch,  # type: ignore[arg-type]
        evict_bandwidth_bytes_per_s=4 * _UNIT_BYTES if timed else None,
    )
    models = [
        Model(f"m{m}", int(rng.integers(1, 5)) * _UNIT_BYTES, _load_s(rng))
        for m in range(int(rng.integers(1, 5)))
    ]
    workers = [
        _worker(rng, w, models, max_slots)
        for w in range(int(rng.integers(1, max_workers + 1)))
    ]
    n_tasks = int(rng.integers(min(3, max_tasks), max_tasks + 1))
    workflows, jobs = _jobs(rng, n_tasks, models, workers)
    return Instance(
        name=f"tiny, seed {seed}",
        rules=rules,
        workers=tuple(workers),
        models=tuple(models),
        workflows=tuple(workflows),
        jobs=tuple(jobs),
        default_link=LinkSpeed(4 * _UNIT_BYTES, 0.25 * int(rng.integers(2))),
    )


def _load_s(rng: Any) -> float | dict[str, float] | None:
    """Draw a load time: from the bandwidth, one for all, or one for kind 'fast'."""
    choice, own_s = int(rng.integers(3)), 0.25 * int(rng.integers(1, 7))
    return (None, own_s, {"fast": own_s})[choice]


def _worker(rng: Any, w: int, models: list[Model], max_slots: int) -> Worker:
    kind = ("fast", "slow")[int(rng.integers(2))]
    memory_bytes = int(rng.integers(5, 9)) * _UNIT_BYTES
    resident, free = [], memory_bytes
    for m in rng.permutation(len(models)).tolist():
        if rng.integers(4) == 0 and models[m].size_bytes <= free:
            resident.append(models[m].id)
            free -= models[m].size_bytes
    return Worker(
        f"w{w}",
        memory_bytes,
        kind,
        slots=int(rng.integers(1, max_slots + 1)),
        resident=tuple(resident),
        load_bandwidth_bytes_per_s=4 * _UNIT_BYTES,
        load_latency_s=0.25 * int(rng.integers(2)),
    )


def _jobs(
    rng: Any, n_tasks: int, models: list[Model], workers: list[Worker]
) -> tuple[list[Workflow], list[Job]]:
    """Draw jobs with workflows of their own, or two jobs of one workflow."""
    workflows: list[Workflow] = []
    jobs: list[Job] = []
    left = n_tasks
    while left:
        size = int(rng.integers(1, left + 1))
        workflow = _workflow(rng, len(workflows), size, models, workers)
        workflows.append(workflow)
        repeats = 2 if 2 * size <= left and rng.integers(2) == 0 else 1
        for _ in range(repeats):
            jobs.append(_job(rng, len(jobs), workflow, workers))
        left -= repeats * size
    return workflows, jobs


def _job(rng: Any, j: int, workflow: Workflow, workers: list[Worker]) -> Job:
    release_s = 0.25 * int(rng.integers(0, 9))
    ingress = workers[int(rng.integers(len(workers)))].id
    return Job(
        f"j{j}",
        workflow.id,
        release_s,
        ingress if rng.integers(2) == 0 else None,
        release_s + 0.25 * int(rng.integers(4, 25)) if rng.integers(2) == 0 else None,
        float(rng.integers(1, 4)),
    )


def _workflow(
    rng: Any, f: int, size: int, models: list[Model], workers: list[Worker]
) -> Workflow:
    tasks = [_task(rng, t, models, workers) for t in range(size)]
    edges = []
    for dst in range(size):
        for src in range(dst):
            if rng.integers(3) == 0:
                own_s = 0.25 * int(rng.integers(0, 5))
                size_bytes = int(rng.integers(0, 3)) * _UNIT_BYTES
                edges.append(
                    Edge(f"t{src}", f"t{dst}", transfer_s=own_s)
                    if rng.integers(2) == 0
                    else Edge(f"t{src}", f"t{dst}", bytes=size_bytes)
                )
    return Workflow(f"f{f}", tuple(tasks), tuple(edges))


def _task(rng: Any, t: int, models: list[Model], workers: list[Worker]) -> Task:
    model = models[int(rng.integers(len(models)))].id if rng.integers(4) else None
    kinds = sorted({worker.kind for worker in workers})
    runtimes_s = {kind: 0.25 * int(rng.integers(0, 9)) for kind in kinds}
    choice = int(rng.integers(4))
    if choice == 0 and len(kinds) > 1:
        del runtimes_s[kinds[int(rng.integers(2))]]
    runtime_s = runtimes_s if choice < 2 else runtimes_s[kinds[0]]
    return Task(
        f"t{t}",
        runtime_s,
        model,
        input_bytes=int(rng.integers(0, 3)) * _UNIT_BYTES,
        release_s=0.25 * int(rng.integers(1, 4)) if rng.integers(4) == 0 else 0.0,
        memory_bytes=_UNIT_BYTES if rng.integers(4) == 0 else 0,
    )
