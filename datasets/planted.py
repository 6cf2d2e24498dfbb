"""Instances of any size whose best makespan is known, because it was planted.

A schedule without idle time is drawn first: its makespan is total work over workers,
which no schedule can beat. Jobs, arcs, models and releases are then chosen so that this
schedule obeys them. Times are multiples of 1/1024 s, so all sums are exact.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple, get_args

import numpy as np

from placement_lab.datasets._options import check_choice, check_real, check_whole
from placement_lab.problem import (
    Edge,
    Instance,
    Job,
    Model,
    Rules,
    Task,
    Worker,
    Workflow,
)
from placement_lab.problem.entities import Loading
from placement_lab.schedule import Eviction, Load, Run, Schedule

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Planted", "planted"]

_TICKS_PER_S = 1024
_MEMORY_BYTES = 16_000_000_000
_TRIES_PER_ARC = 4


@dataclass(frozen=True)
class Planted:
    """An instance with its best makespan.

    Attributes
    ----------
    instance : Instance
    makespan_s : float
        The optimum, equal to total runtime / number of workers.
    schedule : Schedule
        A witness that reaches it.
    """

    instance: Instance
    makespan_s: float
    schedule: Schedule


class _Piece(NamedTuple):
    """A task as planted; ``since`` is when its copy's load starts, if one does."""

    start: int
    worker: int
    end: int
    model: int | None
    since: int | None


class _Lane(NamedTuple):
    """What one worker does; loads and evictions as (start, worker, model)."""

    pieces: list[_Piece]
    resident: tuple[int, ...]
    loads: list[tuple[int, int, int]]
    evictions: list[tuple[int, int, int]]


def planted(
    n_tasks: int = 1000,
    n_workers: int = 8,
    *,
    n_models: int = 12,
    tasks_per_job: int = 40,
    arcs_per_task: float = 1.5,
    mean_runtime_s: float = 0.5,
    loading: Loading = "overlap",
    seed: int = 0,
) -> Planted:
    """Return an instance whose best makespan is known by construction.

    Runtimes are the same on all workers. With overlapping loads every worker changes
    its model after some tasks, and its next model is loaded meanwhile; with blocking
    ones it keeps the two models that it starts with, as a load would cost time.

    Parameters
    ----------
    n_tasks, n_workers : int
        At least one task per worker.
    n_models : int
        Models of 2 to 8 GB; 0 for none. At most two are on a worker at a time.
    tasks_per_job : int
        Consecutive tasks form jobs of this size (the last may be smaller).
    arcs_per_task : float
        Arcs that are wanted for each task; of tasks that run at the same time there are
        fewer.
    mean_runtime_s : float
    loading : {'overlap', 'blocking'}
    seed : int

    Raises
    ------
    ProblemError
        If an option's value makes no sense.
    """
    check_whole("n_workers", n_workers, 1)
    check_whole("n_tasks", n_tasks, n_workers)
    check_whole("n_models", n_models, 0)
    check_whole("tasks_per_job", tasks_per_job, 1)
    check_real("arcs_per_task", arcs_per_task, positive=False)
    check_real("mean_runtime_s", mean_runtime_s)
    check_choice("loading", loading, get_args(Loading))
    check_whole("seed", seed, 0)
    rng = np.random.default_rng(seed)
    per_worker = -(-n_tasks // n_workers)
    horizon = max(round(mean_runtime_s * _TICKS_PER_S), 2) * per_worker
    sizes_bytes = (rng.integers(2, 9, size=n_models) * 1_000_000_000).tolist()
    loads = rng.integers(1, 4 * horizon // per_worker, size=n_models).tolist()
    counts = [len(part) for part in np.array_split(np.arange(n_tasks), n_workers)]
    # A load would cost time in blocking mode: two models are all that a worker needs.
    usable = loads if loading == "overlap" else [horizon + 1] * n_models
    lanes = [
        _lane(worker, _cut(rng, horizon, count), usable, rng)
        for worker, count in enumerate(counts)
    ]
    pieces = sorted(
        [piece for lane in lanes for piece in lane.pieces], key=lambda one: one[:2]
    )
    parts = [
        pieces[i : i + tasks_per_job] for i in range(0, len(pieces), tasks_per_job)
    ]
    instance = Instance(
        name=f"planted, {n_tasks} tasks, {n_workers} workers, seed {seed}",
        rules=Rules(loading=loading),
        workers=tuple(
            [
                Worker(
                    f"w{w}",
                    _MEMORY_BYTES,
                    "gpu",
                    resident=tuple([f"m{m}" for m in lane.resident]),
                )
                for w, lane in enumerate(lanes)
            ]
        ),
        models=tuple(
            [
                Model(f"m{m}", size_bytes, loads[m] / _TICKS_PER_S)
                for m, size_bytes in enumerate(sizes_bytes)
            ]
        ),
        workflows=tuple(
            [_workflow(rng, j, part, arcs_per_task) for j, part in enumerate(parts)]
        ),
        jobs=tuple([_job(j, part) for j, part in enumerate(parts)]),
    )
    makespan_s = horizon / _TICKS_PER_S
    return Planted(instance, makespan_s, _witness(instance, parts, lanes, loads))


def _cut(rng: Any, horizon: int, count: int) -> list[tuple[int, int]]:
    """Cut [0, horizon) into ``count`` intervals of at least one tick."""
    cuts = np.sort(rng.choice(horizon - 1, size=count - 1, replace=False)) + 1
    ends = [0, *cuts.tolist(), horizon]
    return list(pairwise(ends))


def _lane(
    worker: int, intervals: list[tuple[int, int]], loads: Sequence[int], rng: Any
) -> _Lane:
    """Give models to the tasks of one worker; without loads there are none to give.

    A worker goes through stretches of one model each. While one runs, the model of the
    next is loaded in the place of the model of the one before.
    """
    lane = _Lane([], (), [], [])
    if not loads:
        lane.pieces.extend(
            [_Piece(start, worker, end, None, None) for start, end in intervals]
        )
        return lane
    stretches = _stretches(intervals, rng)
    now = _draw(rng, len(loads), other_than=None)
    after = _draw(rng, len(loads), other_than=now)
    lane = lane._replace(resident=tuple(dict.fromkeys((after, now))))
    since: dict[int, int | None] = {now: None, after: None}
    before = after
    for k, stretch in enumerate(stretches):
        start, end = stretch[0][0], stretch[-1][1]
        if k > 0:
            before, now = now, after
            after = _draw(rng, len(loads), other_than=now)
            if loads[after] > end - start or k + 1 == len(stretches):
                after = before  # no time to load another, or none to use it
            if after != before:
                lane.evictions.append((start, worker, before))
                lane.loads.append((start, worker, after))
                since[after] = start
        for i, (task_start, task_end) in enumerate(stretch):
            bare = i > 0 and rng.integers(8) == 0  # the first one proves the load's use
            model = None if bare else now
            copy_since = None if bare else since[now]
            lane.pieces.append(_Piece(task_start, worker, task_end, model, copy_since))
    return lane


def _stretches(
    intervals: list[tuple[int, int]], rng: Any
) -> list[list[tuple[int, int]]]:
    stretches = []
    while intervals:
        length = int(rng.integers(4, 13))
        stretches.append(intervals[:length])
        intervals = intervals[length:]
    return stretches


def _draw(rng: Any, n_models: int, *, other_than: int | None) -> int:
    """Return a random model, another one than the last where there is another."""
    choices = [m for m in range(n_models) if m != other_than]
    return int(rng.choice(choices)) if choices else 0


def _workflow(
    rng: Any, j: int, part: Sequence[_Piece], arcs_per_task: float
) -> Workflow:
    tasks = [
        Task(
            f"t{i}",
            (piece.end - piece.start) / _TICKS_PER_S,
            None if piece.model is None else f"m{piece.model}",
        )
        for i, piece in enumerate(part)
    ]
    arcs: dict[tuple[int, int], float] = {}
    wanted = round(arcs_per_task * len(part))
    for _ in range(_TRIES_PER_ARC * wanted):
        src, dst = sorted(rng.integers(len(part), size=2).tolist())
        gap = part[dst].start - part[src].end
        if src == dst or gap < 0 or len(arcs) == wanted:
            continue
        # On one worker the schedule pays no transfer, so it may take any time.
        longest = gap if part[src].worker != part[dst].worker else _TICKS_PER_S
        arcs[src, dst] = int(rng.integers(0, longest + 1)) / _TICKS_PER_S
    edges = [
        Edge(f"t{src}", f"t{dst}", transfer_s=transfer_s)
        for (src, dst), transfer_s in sorted(arcs.items())
    ]
    return Workflow(f"f{j}", tuple(tasks), tuple(edges))


def _job(j: int, part: Sequence[_Piece]) -> Job:
    """Release a job as late as the schedule allows, loads of its copies included."""
    starts = [piece.start for piece in part]
    loads = [piece.since for piece in part if piece.since is not None]
    return Job(f"j{j}", f"f{j}", min(starts + loads) / _TICKS_PER_S)


def _witness(
    instance: Instance,
    parts: Sequence[Sequence[_Piece]],
    lanes: Sequence[_Lane],
    load_ticks: Sequence[int],
) -> Schedule:
    runs = [
        Run(
            f"j{j}/t{i}",
            f"w{piece.worker}",
            piece.start / _TICKS_PER_S,
            piece.end / _TICKS_PER_S,
        )
        for j, part in enumerate(parts)
        for i, piece in enumerate(part)
    ]
    loaded = [
        Load(
            f"m{model}",
            f"w{worker}",
            start / _TICKS_PER_S,
            (start + load_ticks[model]) / _TICKS_PER_S,
        )
        for lane in lanes
        for start, worker, model in lane.loads
    ]
    evictions = [
        Eviction(f"m{model}", f"w{worker}", start / _TICKS_PER_S, start / _TICKS_PER_S)
        for lane in lanes
        for start, worker, model in lane.evictions
    ]
    return Schedule(
        tuple(runs),
        tuple(loaded),
        tuple(evictions),
        instance.sha256,
        {"scheduler": "planted"},
    )
