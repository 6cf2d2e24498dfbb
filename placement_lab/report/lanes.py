"""A schedule as rectangles: runs in slots, models in memory."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from placement_lab.units import TIME_TOLERANCE_S

if TYPE_CHECKING:
    from collections.abc import Iterator

    from placement_lab.problem import Instance, Worker
    from placement_lab.schedule import Schedule

__all__ = [
    "Bar",
    "Block",
    "memory_blocks",
    "model_of_tasks",
    "run_bars",
    "workers_of",
]


class Bar(NamedTuple):
    """A run in one of its worker's slots."""

    task: str
    worker: str
    slot: int
    slots: int
    start_s: float
    end_s: float


class Block(NamedTuple):
    """A model in memory for a while; ``low``, ``high`` are shares of the capacity."""

    model: str
    worker: str
    loading: bool
    start_s: float
    end_s: float
    low: float
    high: float


class _Copy(NamedTuple):
    model: str
    start_s: float
    usable_s: float
    gone_s: float


def workers_of(schedule: Schedule, instance: Instance | None) -> list[str]:
    """Return the workers in declared order; without an instance, in natural order."""
    if instance is not None:
        return [worker.id for worker in instance.workers]
    found = {run.worker for run in schedule.runs}
    found |= {load.worker for load in schedule.loads}
    return sorted(found, key=lambda name: (len(name), name))


def model_of_tasks(instance: Instance) -> dict[str, str | None]:
    """Return the model of every task, by full name."""
    models = {
        flow.id: [(task.id, task.model) for task in flow.tasks]
        for flow in instance.workflows
    }
    return {
        f"{job.id}/{task}": model
        for job in instance.jobs
        for task, model in models[job.workflow]
    }


def run_bars(schedule: Schedule, instance: Instance | None) -> list[Bar]:
    """Return the runs, each in the first slot of its worker that is free."""
    free_s: dict[str, list[float]] = {}
    slots = {} if instance is None else {one.id: one.slots for one in instance.workers}
    placed = []
    for run in sorted(schedule.runs, key=lambda run: (run.start_s, run.end_s)):
        lane = free_s.setdefault(run.worker, [0.0] * slots.get(run.worker, 1))
        late = run.start_s + TIME_TOLERANCE_S
        slot = next((k for k, end_s in enumerate(lane) if end_s <= late), len(lane))
        if slot == len(lane):
            lane.append(0.0)  # an invalid schedule, or slots that we cannot know
        lane[slot] = run.end_s
        placed.append((run, slot))
    return [
        Bar(
            run.task,
            run.worker,
            slot,
            len(free_s[run.worker]),
            run.start_s,
            run.end_s,
        )
        for run, slot in placed
    ]


def memory_blocks(
    schedule: Schedule, instance: Instance | None, end_s: float
) -> Iterator[Block]:
    """Yield what is in memory; without an instance, the loads at full height.

    Parameters
    ----------
    schedule : Schedule
    instance : Instance or None
    end_s : float
        Where the picture ends: what is never evicted stays until then.
    """
    if instance is None:
        for load in schedule.loads:
            yield Block(load.model, load.worker, True, load.start_s, load.end_s, 0, 1)
        return
    sizes = {model.id: model.size_bytes for model in instance.models}
    for worker in instance.workers:
        copies = _copies(schedule, worker, end_s)
        yield from _stacked(copies, worker, sizes)


def _copies(schedule: Schedule, worker: Worker, end_s: float) -> list[_Copy]:
    """Return every stay of a model in a worker's memory, by start."""
    starts = [(name, 0.0, 0.0) for name in worker.resident]
    starts += [
        (load.model, load.start_s, load.end_s)
        for load in sorted(schedule.loads, key=lambda load: load.start_s)
        if load.worker == worker.id
    ]
    ends: dict[str, list[float]] = {}
    for eviction in sorted(schedule.evictions, key=lambda one: one.end_s):
        if eviction.worker == worker.id:
            ends.setdefault(eviction.model, []).append(eviction.end_s)
    return [
        _Copy(name, start_s, usable_s, _next_end(ends.get(name), usable_s, end_s))
        for name, start_s, usable_s in starts
    ]


def _next_end(ends: list[float] | None, usable_s: float, end_s: float) -> float:
    while ends:
        gone_s = ends.pop(0)
        if gone_s >= usable_s - TIME_TOLERANCE_S:
            return gone_s
    return max(end_s, usable_s)


def _stacked(
    copies: list[_Copy], worker: Worker, sizes: dict[str, int]
) -> Iterator[Block]:
    """Pile up the copies that are there at the same time, the oldest at the bottom."""
    cuts = sorted({time_s for copy in copies for time_s in copy[1:]})
    capacity = max(1, worker.memory_bytes)
    for left, right in pairwise(cuts):
        low = 0.0
        for copy in copies:
            if copy.start_s <= left and copy.gone_s >= right:
                high = low + sizes[copy.model] / capacity
                loading = left < copy.usable_s
                yield Block(copy.model, worker.id, loading, left, right, low, high)
                low = high
