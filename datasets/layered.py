"""Random layered DAGs, as the literature on list scheduling draws them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, get_args

import numpy as np

from placement_lab.datasets._options import check_choice, check_real, check_whole
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

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["layered"]

_LINK_BYTES_PER_S = 1e9
_LOAD_BYTES_PER_S = 1e10
_SPEEDS = (0.5, 1.0, 2.0, 4.0)  # divide multiples of 4 ms into whole milliseconds


def layered(
    n_tasks: int = 50,
    n_workers: int = 4,
    *,
    seed: int = 0,
    machines: str = "unrelated",
    n_layers: int | None = None,
    mean_runtime_s: float = 1.0,
    ccr: float = 1.0,
    n_models: int = 0,
    loading: Loading = "overlap",
    prefetch: Prefetch = "after_release",
) -> Instance:
    """Return one job of random tasks in layers.

    Every task below the first layer has one to three predecessors, at least one of
    them in the layer above. All times are whole milliseconds.

    Parameters
    ----------
    n_tasks, n_workers : int
    seed : int
    machines : {'unrelated', 'related', 'identical'}
        Runtimes drawn per task and worker; or work divided by a worker's speed of
        0.5, 1, 2 or 4; or equal on all workers.
    n_layers : int, optional
        Default: the square root of ``n_tasks``.
    mean_runtime_s : float
        Runtimes are uniform between 0.2 and 1.8 times this, before machines differ.
    ccr : float
        Communication to computation: mean transfer time over mean runtime.
    n_models : int
        Every task uses one of so many models of 1 to 6 GB, loaded at 10 GB/s into 16 GB
        of memory; 0 for none.
    loading : {'overlap', 'blocking'}
    prefetch : {'after_release', 'clairvoyant', 'on_demand'}

    Raises
    ------
    ProblemError
        If an option's value makes no sense.
    """
    check_whole("n_tasks", n_tasks, 1)
    check_whole("n_workers", n_workers, 1)
    check_whole("seed", seed, 0)
    check_choice("machines", machines, ("unrelated", "related", "identical"))
    check_real("mean_runtime_s", mean_runtime_s)
    check_real("ccr", ccr, positive=False)
    check_whole("n_models", n_models, 0)
    check_choice("loading", loading, get_args(Loading))
    check_choice("prefetch", prefetch, get_args(Prefetch))
    depth = n_layers if n_layers is not None else max(1, round(n_tasks**0.5))
    check_whole("n_layers", depth, 1, n_tasks)
    rng = np.random.default_rng(seed)
    models = [
        Model(f"m{m}", int(rng.integers(10, 61)) * 100_000_000) for m in range(n_models)
    ]
    workers = [
        Worker(f"w{w}", 16_000_000_000, load_bandwidth_bytes_per_s=_LOAD_BYTES_PER_S)
        for w in range(n_workers)
    ]
    factors = _factors(rng, machines, n_tasks, n_workers)
    tasks = [
        Task(
            f"t{i}",
            _runtime(rng, mean_runtime_s, factors[i]),
            model=f"m{rng.integers(n_models)}" if n_models else None,
        )
        for i in range(n_tasks)
    ]
    mean_bytes = ccr * mean_runtime_s * _LINK_BYTES_PER_S
    edges = [
        Edge(f"t{src}", f"t{dst}", bytes=round(rng.uniform(0.2, 1.8) * mean_bytes, -6))
        for src, dst in _arcs(rng, n_tasks, depth)
    ]
    return Instance(
        name=f"layered, {n_tasks} tasks, seed {seed}",
        rules=Rules(loading=loading, prefetch=prefetch),
        workers=tuple(workers),
        models=tuple(models),
        workflows=(Workflow("layered", tuple(tasks), tuple(edges)),),
        jobs=(Job("j0", "layered"),),
        default_link=LinkSpeed(_LINK_BYTES_PER_S),
    )


def _factors(rng: Any, machines: str, n_tasks: int, n_workers: int) -> Any:
    """Return by how much each worker (last axis) stretches each task's runtime."""
    if machines == "identical":
        return np.ones((n_tasks, 1))
    if machines == "related":
        speeds = rng.choice(_SPEEDS, size=n_workers)
        return np.broadcast_to(1.0 / speeds, (n_tasks, n_workers))
    return rng.uniform(0.5, 2.0, size=(n_tasks, n_workers))


def _runtime(
    rng: Any, mean_s: float, factors: Sequence[float]
) -> float | dict[str, float]:
    base_ms = 4 * max(1, round(rng.uniform(0.2, 1.8) * mean_s * 1000 / 4))
    runtimes_s = [max(1, round(base_ms * factor)) / 1000 for factor in factors]
    if len(factors) == 1:
        return runtimes_s[0]
    return {f"w{w}": runtime_s for w, runtime_s in enumerate(runtimes_s)}


def _arcs(rng: Any, n_tasks: int, depth: int) -> list[tuple[int, int]]:
    """Return arcs (src, dst) between layers of random sizes, by dst and src."""
    cuts = rng.choice(np.arange(1, n_tasks), size=depth - 1, replace=False)
    first = [0, *sorted(cuts.tolist()), n_tasks]
    arcs = []
    for layer in range(1, depth):
        above, here = first[layer - 1], first[layer]
        for dst in range(here, first[layer + 1]):
            sources = {int(rng.integers(above, here))}
            for _ in range(int(rng.integers(3))):
                sources.add(int(rng.integers(here)))
            arcs += [(src, dst) for src in sorted(sources)]
    return arcs
