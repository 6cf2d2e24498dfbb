"""A list decoder and simulated annealing over its input, compiled.

``.py_func`` of each function is plain Python.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from placement_lab._compiled import njit

__all__ = ["Case", "anneal", "decode"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

MAKESPAN, WEIGHTED, LATE = 0, 1, 2


class Case(NamedTuple):
    """An instance in numbers; shapes as in `Quantities` and `InstanceArrays`."""

    run: Floats
    ready: Floats
    delay: Floats
    pred_ptr: Ints
    pred_task: Ints
    pred_edge: Ints
    succ_ptr: Ints
    succ_task: Ints
    model: Ints
    own: Ints
    job: Ints
    release: Floats
    due: Floats
    cost: Floats
    load: Floats
    size: Ints
    resident: Bools
    capacity: Ints
    slots: Ints
    objective: int
    blocking: bool
    after_release: bool


@njit(cache=True, nogil=True)
def _make_room(case, present, last_use, w, need, keep):
    """Evict least recently used models; return from when their room is free."""
    room = case.capacity[w] - need
    for m in range(len(case.size)):
        if present[m, w]:
            room -= case.size[m]
    since = 0.0
    while room < 0:
        victim = -1
        for m in range(len(case.size)):
            is_older = victim < 0 or last_use[m, w] < last_use[victim, w]
            if present[m, w] and m != keep and is_older:
                victim = m
        if victim < 0:
            return np.inf
        present[victim, w] = False
        room += case.size[victim]
        since = max(since, last_use[victim, w])
    return since


@njit(cache=True, nogil=True)
def decode(case, order, worker):
    """Return the objective of running tasks in an order on given workers.

    Each task is appended to its worker, after a load of its model where that is not
    resident, as early as inputs, slots, the copy engine and memory allow.

    Parameters
    ----------
    case : Case
    order : ndarray of shape (N,)
        Predecessors first.
    worker : ndarray of shape (N,)

    Returns
    -------
    float
        inf if a worker cannot take its task.
    """
    n = len(order)
    workers = len(case.capacity)
    slot_free = np.zeros((workers, case.slots.max()))
    engine_free = np.zeros(workers)
    present = case.resident.copy()
    usable = np.zeros(case.resident.shape)
    last_use = np.zeros(case.resident.shape)
    end = np.zeros(n)
    completion = np.zeros(len(case.release))
    for i in order:
        w, m = worker[i], case.model[i]
        start = case.ready[i, w]
        for at in range(case.pred_ptr[i], case.pred_ptr[i + 1]):
            k = case.pred_task[at]
            arrival = end[k] + case.delay[case.pred_edge[at], worker[k], w]
            start = max(start, arrival)
        slots = case.slots[w]
        if m >= 0:
            if not present[m, w]:
                since = _make_room(
                    case, present, last_use, w, case.size[m] + case.own[i], m
                )
                since = max(since, engine_free[w])
                if case.after_release:
                    since = max(since, case.release[case.job[i]])
                if case.blocking:
                    slot = np.argmin(slot_free[w, :slots])
                    since = max(since, slot_free[w, slot])
                    slot_free[w, slot] = since + case.load[m, w]
                present[m, w] = True
                usable[m, w] = engine_free[w] = since + case.load[m, w]
            elif case.own[i] > 0:
                since = _make_room(case, present, last_use, w, case.own[i], m)
                start = max(start, since)
            start = max(start, usable[m, w])
        elif case.own[i] > 0:
            start = max(start, _make_room(case, present, last_use, w, case.own[i], -1))
        slot = np.argmin(slot_free[w, :slots])
        start = max(start, slot_free[w, slot])
        end[i] = slot_free[w, slot] = start + case.run[i, w]
        if m >= 0:
            last_use[m, w] = max(last_use[m, w], end[i])
        completion[case.job[i]] = max(completion[case.job[i]], end[i])
    if case.objective == MAKESPAN:
        return completion.max()
    total = 0.0
    for j in range(len(completion)):
        if case.objective == WEIGHTED:
            total += case.cost[j] * (completion[j] - case.release[j])
        elif completion[j] > case.due[j]:
            total += case.cost[j]
    return total


@njit(cache=True, nogil=True)
def _move(case, order, place, rng):
    """Move a random task to a random place between its predecessors and successors."""
    n = len(order)
    p = rng.integers(0, n)
    i = order[p]
    low, high = 0, n - 1
    for at in range(case.pred_ptr[i], case.pred_ptr[i + 1]):
        low = max(low, place[case.pred_task[at]] + 1)
    for at in range(case.succ_ptr[i], case.succ_ptr[i + 1]):
        high = min(high, place[case.succ_task[at]] - 1)
    q = low + rng.integers(0, high - low + 1)
    step = 1 if q > p else -1
    for at in range(p, q, step):
        order[at] = order[at + step]
    order[q] = i
    for at in range(min(p, q), max(p, q) + 1):
        place[order[at]] = at


@njit(cache=True, nogil=True)
def anneal(case, order, worker, rng, steps, hot, cold):
    """Anneal an order and an assignment; return the best ones and their value.

    A move sends a task elsewhere in the order, to another worker, or both; a worse
    result is kept with probability exp(-loss / temperature), which falls from ``hot``
    to ``cold`` (Kirkpatrick, Gelatt, Vecchi 1983).
    """
    n, workers = case.run.shape
    order, worker = order.copy(), worker.copy()
    place = np.empty(n, np.int64)
    place[order] = np.arange(n)
    value = decode(case, order, worker)
    best, best_order, best_worker = value, order.copy(), worker.copy()
    old_order, old_place = order.copy(), place.copy()
    for step in range(steps):
        heat = hot * (cold / hot) ** (step / steps)
        draw = rng.random()
        i, old_worker = -1, 0
        if draw < 0.6:
            i = rng.integers(0, n)
            old_worker = worker[i]
            w = rng.integers(0, workers)
            if case.ready[i, w] < np.inf:
                worker[i] = w
        is_moved = draw > 0.4
        if is_moved:
            old_order[:] = order
            old_place[:] = place
            _move(case, order, place, rng)
        new = decode(case, order, worker)
        if new <= value or rng.random() < np.exp((value - new) / heat):
            value = new
            if new < best:
                best = new
                best_order[:] = order
                best_worker[:] = worker
        else:
            if i >= 0:
                worker[i] = old_worker
            if is_moved:
                order[:] = old_order
                place[:] = old_place
    return best, best_order, best_worker
