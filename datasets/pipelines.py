"""Random streams of small serving pipelines, and the overload stream "20x4x5"."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, get_args

import numpy as np

from placement_lab.datasets._options import check_choice, check_real, check_whole
from placement_lab.datasets.compass import (
    COMPASS_WORKFLOWS,
    compass_models,
    compass_workers,
    compass_workflow,
    g2g_s,
)
from placement_lab.problem import (
    Edge,
    Instance,
    Job,
    Link,
    Model,
    Rules,
    Task,
    Worker,
    Workflow,
)
from placement_lab.problem.entities import Loading, Prefetch

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["compass_like", "overload"]


class _Shape(NamedTuple):
    """A pipeline: the model of every task, and the arcs between them."""

    models: tuple[int, ...]
    arcs: tuple[tuple[int, int], ...]


_DIAMOND = ((0, 1), (0, 2), (1, 3), (2, 3))
_SHAPES = (
    _Shape((0, 1, 2, 3), _DIAMOND),
    _Shape((4, 0, 5), ((0, 1), (1, 2))),
    _Shape((6, 2, 7, 3, 1), (*_DIAMOND, (3, 4))),
    _Shape((5, 4, 6, 7), ((0, 1), (0, 2), (0, 3))),
)
_N_MODELS = 8


def compass_like(
    n_jobs: int = 20,
    n_workers: int = 5,
    *,
    rate_per_s: float = 2.0,
    arrivals: str = "poisson",
    cv: float = 2.0,
    pipelines: str = "compass",
    loading: Loading = "overlap",
    prefetch: Prefetch = "after_release",
    seed: int = 0,
) -> Instance:
    """Return jobs that arrive at random at Compass's T4 workers.

    Every job's workflow and its planning worker (the ingress) are uniform. Releases
    are whole milliseconds; the first job comes at 0.

    Parameters
    ----------
    n_jobs, n_workers : int
    rate_per_s : float
        Mean arrivals per second.
    arrivals : {'poisson', 'gamma'}
        Exponential gaps, or gamma ones with coefficient of variation ``cv``.
    cv : float
        Only for ``gamma``; above 1 is burstier than Poisson.
    pipelines : {'compass', 'random'}
        The four profiled workflows, or four random ones (a diamond, a chain, a diamond
        with a tail, a fork) over Compass's models, runtimes uniform 20 to 800 ms.
    loading : {'overlap', 'blocking'}
    prefetch : {'after_release', 'clairvoyant', 'on_demand'}
    seed : int

    Raises
    ------
    ProblemError
        If an option's value makes no sense.
    """
    _check_stream(n_jobs, n_workers, rate_per_s, seed=seed)
    _check_rules(loading, prefetch)
    check_choice("arrivals", arrivals, ("poisson", "gamma"))
    check_real("cv", cv)
    check_choice("pipelines", pipelines, ("compass", "random"))
    rng = np.random.default_rng(seed)
    if pipelines == "compass":
        workflows = [compass_workflow(profile) for profile in COMPASS_WORKFLOWS]
    else:
        workflows = [_random_pipeline(rng, k) for k in range(len(_SHAPES))]
    gap_s = 1.0 / rate_per_s
    if arrivals == "poisson":
        gaps_s = rng.exponential(gap_s, size=n_jobs)
    else:
        gaps_s = rng.gamma(cv**-2, gap_s * cv**2, size=n_jobs)
    kinds = rng.integers(len(workflows), size=n_jobs).tolist()
    planners = rng.integers(n_workers, size=n_jobs).tolist()
    jobs = [
        Job(f"j{j}", workflows[kinds[j]].id, release_ms / 1000, f"w{planners[j]}")
        for j, release_ms in enumerate(_releases(gaps_s, 1e-3))
    ]
    return Instance(
        name=f"compass-like, {n_jobs} jobs, {rate_per_s:g}/s, seed {seed}",
        rules=Rules(loading=loading, prefetch=prefetch),
        workers=compass_workers(n_workers),
        models=_used(compass_models(), workflows),
        workflows=tuple(workflows),
        jobs=tuple(jobs),
    )


def overload(
    n_jobs: int = 20,
    n_workers: int = 5,
    *,
    rate_per_s: float = 2.0,
    mix: str = "diamond",
    loading: Loading = "overlap",
    prefetch: Prefetch = "after_release",
    seed: int = 0,
) -> Instance:
    """Return a stream of pipelines on workers of different speeds, in ticks of 10 ms.

    With the default options this is "20x4x5": 20 jobs of 4 tasks on 5 workers, in
    overload. 8 models of 2 to 7 GB; a base runtime of 150 to 1200 ms per model, times
    0.8 to 1.2 per task, times 1 to 1.5 per worker; loads take 50 ms and 8 GB/s;
    transfers take 5 to 60 ms by pair of workers; 16 GB per worker, caches cold.
    Everything is uniform but the exponential gaps between jobs, and rounded up to
    ticks. The first job comes at 0.

    Parameters
    ----------
    n_jobs, n_workers : int
    rate_per_s : float
        Mean arrivals per second.
    mix : {'diamond', 'mixed'}
        All jobs are 0 -> {1, 2} -> 3 with models 0 to 3; or each is one of that
        diamond, a chain of 3, a diamond with a tail, and a fork into 3.
    loading : {'overlap', 'blocking'}
    prefetch : {'after_release', 'clairvoyant', 'on_demand'}
    seed : int

    Raises
    ------
    ProblemError
        If an option's value makes no sense.
    """
    _check_stream(n_jobs, n_workers, rate_per_s, seed=seed)
    _check_rules(loading, prefetch)
    check_choice("mix", mix, ("diamond", "mixed"))
    rng = np.random.default_rng(seed)
    sizes_gb = rng.integers(2, 8, size=_N_MODELS).tolist()
    base_ms = rng.uniform(150, 1200, size=_N_MODELS)
    slowness = rng.uniform(1, 1.5, size=n_workers)
    workers = [Worker(f"w{w}", 16_000_000_000) for w in range(n_workers)]
    links = [
        Link(f"w{a}", f"w{b}", _LINK_BYTES_PER_S, _ticks_s(rng.uniform(5, 60)))
        for a in range(n_workers)
        for b in range(a + 1, n_workers)
    ]
    models = [
        Model(f"m{m}", size_gb * 1_000_000_000, _ticks_s(50 + size_gb * 125))
        for m, size_gb in enumerate(sizes_gb)
    ]
    gaps_s = rng.exponential(1.0 / rate_per_s, size=n_jobs)
    workflows, jobs = [], []
    for j, release_ticks in enumerate(_releases(gaps_s, 1e-2)):
        shape = _SHAPES[int(rng.integers(len(_SHAPES))) if mix == "mixed" else 0]
        tasks = []
        for t, model in enumerate(shape.models):
            own_ms = base_ms[model] * rng.uniform(0.8, 1.2)
            runtime_s = {
                f"w{w}": _ticks_s(own_ms * slowness[w]) for w in range(n_workers)
            }
            tasks.append(Task(f"t{t}", runtime_s, f"m{model}"))
        edges = [Edge(f"t{src}", f"t{dst}") for src, dst in shape.arcs]
        workflows.append(Workflow(f"f{j}", tuple(tasks), tuple(edges)))
        jobs.append(Job(f"j{j}", f"f{j}", release_ticks / 100))
    return Instance(
        name=f"overload, {n_jobs} {mix} jobs, {rate_per_s:g}/s, seed {seed}",
        rules=Rules(loading=loading, prefetch=prefetch),
        workers=tuple(workers),
        models=_used(models, workflows),
        workflows=tuple(workflows),
        jobs=tuple(jobs),
        links=tuple(links),
    )


_LINK_BYTES_PER_S = 1e9  # never used: the edges carry no bytes, only the latency counts


def _check_stream(n_jobs: int, n_workers: int, rate_per_s: float, *, seed: int) -> None:
    check_whole("n_jobs", n_jobs, 0)
    check_whole("n_workers", n_workers, 1)
    check_real("rate_per_s", rate_per_s)
    check_whole("seed", seed, 0)


def _check_rules(loading: str, prefetch: str) -> None:
    check_choice("loading", loading, get_args(Loading))
    check_choice("prefetch", prefetch, get_args(Prefetch))


def _ticks_s(value_ms: float) -> float:
    """Return milliseconds rounded up to ticks of 10 ms, in seconds."""
    return int(np.ceil(value_ms / 10)) / 100


def _releases(gaps_s: Any, tick_s: float) -> list[int]:
    """Return releases in ticks, the first at 0."""
    if len(gaps_s) == 0:
        return []
    times_s = np.cumsum([0.0, *gaps_s[:-1]])
    return [round(one) for one in (times_s / tick_s).tolist()]


def _used(models: Sequence[Model], workflows: Sequence[Workflow]) -> tuple[Model, ...]:
    used = {task.model for workflow in workflows for task in workflow.tasks}
    return tuple([model for model in models if model.id in used])


def _random_pipeline(rng: Any, k: int) -> Workflow:
    """Return a pipeline of the given shape over models that Compass uses."""
    names = [model.id for model in compass_models()]
    shape = _SHAPES[k]
    tasks = [
        Task(
            f"t{t}",
            int(rng.integers(20, 801)) / 1000,
            names[int(rng.integers(len(names)))],
        )
        for t in range(len(shape.models))
    ]
    edges = [
        Edge(
            f"t{src}", f"t{dst}", transfer_s=g2g_s(1000.0 * int(rng.integers(1, 3001)))
        )
        for src, dst in shape.arcs
    ]
    return Workflow(f"pipeline{k}", tuple(tasks), tuple(edges))
