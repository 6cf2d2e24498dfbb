"""Hypothesis strategies: small random instances that use every option of the format.

The first worker is able to run everything, and every job's input can get there, so that
each instance has a valid schedule.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, get_args

from hypothesis import strategies as st

from placement_lab.problem import (
    Edge,
    Instance,
    Job,
    Link,
    LinkSpeed,
    Model,
    Rules,
    Task,
    Worker,
    Workflow,
)
from placement_lab.problem.entities import Loading, Prefetch

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["durations_s", "instances", "rules"]

LOADINGS: tuple[str, ...] = get_args(Loading)
PREFETCHES: tuple[str, ...] = get_args(Prefetch)
KINDS = ("fast", "slow")

_DURATIONS_S = (0.0, 0.1, 0.2, 0.3, 0.7, 1.0, 1.5, 2.0)


def durations_s() -> st.SearchStrategy[float]:
    """Draw seconds; sums of them show rounding errors and meet in ties."""
    return st.sampled_from(_DURATIONS_S)


def rules(
    loadings: Sequence[str] = LOADINGS,
    prefetches: Sequence[str] = PREFETCHES,
    *,
    timed_evictions: bool | None = None,
) -> st.SearchStrategy[Rules]:
    """Draw rules of the world; ``timed_evictions`` None means either."""
    speeds: dict[bool | None, list[float | None]] = {
        None: [None, 4.0],
        False: [None],
        True: [4.0],
    }
    return st.builds(
        Rules,
        st.sampled_from(loadings),
        st.sampled_from(prefetches),
        st.sampled_from(speeds[timed_evictions]),
    )


@st.composite
def instances(
    draw: Callable[[st.SearchStrategy[Any]], Any],
    *,
    loadings: Sequence[str] = LOADINGS,
    prefetches: Sequence[str] = PREFETCHES,
    timed_evictions: bool | None = None,
    max_workers: int = 3,
    max_models: int = 3,
    max_tasks: int = 4,
    max_jobs: int = 3,
    max_slots: int = 2,
) -> Instance:
    """Draw an instance with up to ``max_tasks`` tasks in each of ``max_jobs`` jobs."""
    models = [
        Model(
            f"m{i}",
            draw(st.sampled_from([0, 1, 2, 3, 5])),
            load_s=draw(_per_kind(missing=True)),
        )
        for i in range(draw(st.integers(0, max_models)))
    ]
    n_flows = draw(st.integers(1, 2))
    flows = [_workflow(draw, f"f{i}", models, max_tasks) for i in range(n_flows)]
    workers = _workers(draw, models, flows, max_workers, max_slots)
    default_link, links = _links(draw, workers)
    reachable = [None, *(w.id for w in workers)] if default_link else [None, "w0"]
    jobs = [
        Job(
            f"j{i}",
            draw(st.sampled_from(flows)).id,
            release_s=draw(st.sampled_from([0.0, 0.0, 0.3, 2.5])),
            ingress=draw(st.sampled_from(reachable)),
            deadline_s=draw(st.sampled_from([None, 1.0, 3.0])),
            weight=draw(st.sampled_from([1.0, 1.0, 2.0])),
        )
        for i in range(draw(st.integers(1, max_jobs)))
    ]
    chosen = draw(rules(loadings, prefetches, timed_evictions=timed_evictions))
    return Instance(
        tuple(workers),
        tuple(models),
        tuple(flows),
        tuple(jobs),
        rules=chosen,
        links=tuple(links),
        default_link=default_link,
    )


@st.composite
def _per_kind(
    draw: Callable[[st.SearchStrategy[Any]], Any], *, missing: bool = False
) -> Any:
    """Draw one duration for all kinds, or a mapping that has at least the first."""
    if missing and draw(st.booleans()):
        return draw(st.sampled_from([None, {"fast": 0.5}]))
    if draw(st.booleans()):
        return draw(durations_s())
    kinds = KINDS if draw(st.booleans()) else KINDS[:1]
    return {kind: draw(durations_s()) for kind in kinds}


def _workflow(
    draw: Callable[[st.SearchStrategy[Any]], Any],
    name: str,
    models: Sequence[Model],
    max_tasks: int,
) -> Workflow:
    tasks = []
    for i in range(draw(st.integers(1, max_tasks))):
        model = draw(st.sampled_from([None, *(one.id for one in models)]))
        needs_memory = model is not None and draw(st.booleans())
        tasks.append(
            Task(
                f"t{i}",
                draw(_per_kind()),
                model=model,
                input_bytes=draw(st.sampled_from([0.0, 1.0])),
                input_transfer_s=draw(st.sampled_from([None, None, 0.0, 0.4])),
                release_s=draw(st.sampled_from([0.0, 0.0, 0.2])),
                memory_bytes=draw(st.integers(1, 2)) if needs_memory else 0,
            )
        )
    edges = [
        Edge(
            f"t{i}",
            f"t{k}",
            bytes=draw(st.sampled_from([0.0, 1.0, 3.0])),
            transfer_s=draw(st.sampled_from([None, None, 0.0, 0.6])),
        )
        for k in range(len(tasks))
        for i in range(k)
        if draw(st.booleans())
    ]
    return Workflow(name, tuple(tasks), tuple(edges))


def _workers(
    draw: Callable[[st.SearchStrategy[Any]], Any],
    models: Sequence[Model],
    flows: Sequence[Workflow],
    max_workers: int,
    max_slots: int,
) -> list[Worker]:
    largest = max((model.size_bytes for model in models), default=0)
    own = max(task.memory_bytes for flow in flows for task in flow.tasks)
    workers = []
    for i in range(draw(st.integers(1, max_workers))):
        at_least = largest + own if i == 0 else 0
        memory_bytes = at_least + draw(st.integers(0, 5))
        workers.append(
            Worker(
                f"w{i}",
                memory_bytes,
                kind=KINDS[0] if i == 0 else draw(st.sampled_from(KINDS)),
                slots=draw(st.integers(1, max_slots)),
                resident=_resident(draw, models, memory_bytes),
                load_bandwidth_bytes_per_s=draw(st.sampled_from([2.0, 10.0])),
                load_latency_s=draw(st.sampled_from([0.0, 0.1])),
            )
        )
    return workers


def _resident(
    draw: Callable[[st.SearchStrategy[Any]], Any],
    models: Sequence[Model],
    memory_bytes: int,
) -> tuple[str, ...]:
    chosen: list[str] = []
    for model in models:
        if model.size_bytes <= memory_bytes and draw(st.booleans()):
            chosen.append(model.id)
            memory_bytes -= model.size_bytes
    return tuple(chosen)


def _links(
    draw: Callable[[st.SearchStrategy[Any]], Any], workers: Sequence[Worker]
) -> tuple[LinkSpeed | None, list[Link]]:
    default = LinkSpeed(10.0, 0.05) if draw(st.booleans()) else None
    links = [
        Link(a.id, b.id, 2.0, draw(st.sampled_from([0.0, 0.1])))
        for k, b in enumerate(workers)
        for a in workers[:k]
        if draw(st.booleans())
    ]
    return default, links
