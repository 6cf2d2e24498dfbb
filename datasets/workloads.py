"""Bundled Compass workloads: windows of the golden traces as questions to solve.

Arrivals and planning workers are those of a trace; where its tasks ran does not matter
here, except for the caches that a preceding stretch leaves behind.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, get_args

from placement_lab.datasets._options import check_choice, check_flag, check_whole
from placement_lab.datasets.compass import (
    COMPASS_WORKFLOWS,
    WORKER_MEMORY_BYTES,
    compass_models,
    compass_workers,
    compass_workflow,
)
from placement_lab.datasets.golden import (
    golden_arrivals,
    golden_summary,
    golden_timeline,
)
from placement_lab.problem import Instance, Job, Rules
from placement_lab.problem.entities import Loading, Prefetch

if TYPE_CHECKING:
    from collections.abc import Sequence

    from placement_lab.datasets.golden import Arrival

__all__ = ["VARIANTS", "WARM_UP_JOBS", "compass_window"]

VARIANTS: dict[str, dict[str, Any]] = {
    "blocking": {"loading": "blocking"},
    "clairvoyant": {"prefetch": "clairvoyant"},
    "30-jobs": {"n_jobs": 30},
    "100-jobs": {"n_jobs": 100},
}
"""Named siblings of a workload: what each changes."""

WARM_UP_JOBS = 100
"""Jobs that come before a warm window, where none is asked for by ``first_job``."""


def compass_window(
    trace: str,
    *,
    variant: str | None = None,
    n_jobs: int = 12,
    first_job: int | None = None,
    warm: bool = False,
    loading: Loading = "overlap",
    prefetch: Prefetch = "after_release",
    shared_models: bool = True,
) -> Instance:
    """Return some consecutive jobs of a golden trace, as whole workflows.

    Parameters
    ----------
    trace : str
        A golden timeline with planning workers, such as ``compass_5w_2rps``.
    variant : {'blocking', 'clairvoyant', '30-jobs', '100-jobs'}, optional
        A named sibling; what it changes goes before the options below.
    n_jobs : int
        Jobs in the window, in order of creation.
    first_job : int, optional
        How many jobs of the trace come before the window (default 0, or 100 for a warm
        one). The window's time 0 is its first job's creation.
    warm : bool
        Start with the models that least-recently-used caches hold after the tasks that
        the trace has started on each worker before the window. Needs a window that
        starts later than the trace.
    loading : {'overlap', 'blocking'}
    prefetch : {'after_release', 'clairvoyant', 'on_demand'}
    shared_models : bool
        False: every workflow has models of its own, as in the authors' simulator.

    Raises
    ------
    ProblemError
        If an option has a value that the trace does not allow.
    """
    options: dict[str, Any] = {
        "n_jobs": n_jobs,
        "loading": loading,
        "prefetch": prefetch,
    }
    if variant is not None:
        check_choice("variant", variant, tuple(VARIANTS))
        options |= VARIANTS[variant]
    check_choice("loading", options["loading"], get_args(Loading))
    check_choice("prefetch", options["prefetch"], get_args(Prefetch))
    check_flag("warm", warm)
    check_flag("shared_models", shared_models)
    if first_job is None:
        first_job = WARM_UP_JOBS if warm else 0
    arrivals = golden_arrivals(trace)
    check_whole("first_job", first_job, 1 if warm else 0, len(arrivals))
    check_whole("n_jobs", options["n_jobs"], 0, len(arrivals) - first_job)
    window = arrivals[first_job : first_job + options["n_jobs"]]
    start_s = window[0].created_s if window else 0.0
    before = _resident(trace, start_s, shared=shared_models) if warm else None
    label = [trace.replace("_", "-")]
    label += [f"jobs {first_job} to {first_job + len(window) - 1}"] if window else []
    return Instance(
        name=", ".join(label + ["warm"] * warm),
        rules=Rules(loading=options["loading"], prefetch=options["prefetch"]),
        workers=compass_workers(golden_summary(trace)["workers"], before),
        models=compass_models(shared=shared_models),
        workflows=tuple(
            [
                compass_workflow(profile, shared_models=shared_models)
                for profile in COMPASS_WORKFLOWS
            ]
        ),
        jobs=tuple([_job(arrival, start_s) for arrival in window]),
    )


def _job(arrival: Arrival, start_s: float) -> Job:
    return Job(
        f"j{arrival.job}",
        COMPASS_WORKFLOWS[arrival.workflow].id,
        arrival.created_s - start_s,
        arrival.planning_worker,
    )


def _resident(
    trace: str, until_s: float, *, shared: bool
) -> dict[str, tuple[str, ...]]:
    """Return what each worker holds after the runs that start before ``until_s``."""
    golden = golden_timeline(trace)
    used: dict[str, list[str]] = {worker.id: [] for worker in golden.instance.workers}
    model_of = {
        f"{job.id}/{task.id}": task.model
        for job in golden.instance.jobs
        for task in golden.instance.workflow(job.workflow).tasks
    }
    for row in sorted(golden.rows, key=lambda one: one.run_start_s):
        model = model_of[row.task]
        if model is not None and row.run_start_s < until_s:
            used[row.worker].append(model.partition(".")[2] if shared else model)
    size_bytes = {one.id: one.size_bytes for one in compass_models(shared=shared)}
    return {
        worker: _least_recent(models, size_bytes) for worker, models in used.items()
    }


def _least_recent(uses: Sequence[str], size_bytes: dict[str, int]) -> tuple[str, ...]:
    """Return an LRU cache's content after these uses, least recently used first."""
    cache: list[str] = []
    for model in uses:
        if model in cache:
            cache.remove(model)
        cache.append(model)
        while sum(size_bytes[one] for one in cache) > WORKER_MEMORY_BYTES:
            cache.pop(0)
    return tuple(cache)
