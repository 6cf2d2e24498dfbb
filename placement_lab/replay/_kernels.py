"""The event loop of replay, compiled; ``carry_out.py_func`` is its plain-Python form.

Time moves from event to event. At each one, the worker concerned starts whatever its
lanes allow. Everything about links and runtimes has been turned into numbers before.
"""

from __future__ import annotations

import heapq
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from placement_lab._compiled import njit

__all__ = ["Costs", "Graph", "Limits", "Order", "carry_out"]

RUN, LOAD, EVICT = 0, 1, 2
NEVER = np.inf

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


class Order(NamedTuple):
    """What is done, and in which order; see `Sequences`, `Stays` and `Times`."""

    kind: Ints
    target: Ints
    stay: Ints
    gate: Ints
    lane_ptr: Ints
    lane_action: Ints


class Costs(NamedTuple):
    """What each action takes: times in seconds, sizes in bytes."""

    duration_s: Floats
    earliest_s: Floats
    own_bytes: Ints
    size_bytes: Ints
    static_bytes: Ints


class Graph(NamedTuple):
    """Who waits for whom, and how long data travels between their workers."""

    n_before: Ints
    ready_s: Floats
    succ_ptr: Ints
    succ_task: Ints
    succ_delay_s: Floats
    worker_of: Ints


class Limits(NamedTuple):
    """Slots and memory of the workers; runs that each stay must serve.

    ``initial_bytes`` is in use at time 0; ``own_bytes`` is the most that running tasks
    can need for themselves at one time.
    """

    slots: Ints
    memory_bytes: Ints
    initial_bytes: Ints
    own_bytes: Ints
    uses: Ints


class State(NamedTuple):
    """What is true at the current event."""

    start_s: Floats
    end_s: Floats
    head: Ints
    waiting: Ints
    arrival_s: Floats
    uses_left: Ints
    slot_action: Ints
    engine_end_s: Floats
    leaving: Ints
    used_bytes: Ints
    n_wakes: Ints
    wake_s: Floats
    wake_worker: Ints
    expected_s: Floats


@njit(cache=True)
def _wake(state, time_s, w):
    """Note that a worker is to be looked at again; the main loop takes it up."""
    n = state.n_wakes[0]
    state.wake_s[n] = time_s
    state.wake_worker[n] = w
    state.n_wakes[0] = n + 1


@njit(cache=True)
def _settle(order, costs, state, w, now_s):
    """Free what ended by now: slots, tasks' own memory, evicted models' memory."""
    for k in range(state.slot_action.shape[1]):
        a = state.slot_action[w, k]
        if a >= 0 and state.end_s[a] <= now_s:
            state.slot_action[w, k] = -1
            if order.kind[a] == RUN:
                state.used_bytes[w] -= costs.own_bytes[a]
                if order.stay[a] >= 0:
                    state.uses_left[order.stay[a]] -= 1
    a = state.leaving[w]
    if a >= 0 and state.end_s[a] <= now_s:
        state.leaving[w] = -1
        state.used_bytes[w] -= costs.size_bytes[a]


@njit(cache=True)
def _slot_free_s(limits, state, w):
    """Return when a slot of the worker is free: 0 if one is, else the first end."""
    first_s = NEVER
    for k in range(limits.slots[w]):
        a = state.slot_action[w, k]
        if a < 0:
            return 0.0
        first_s = min(first_s, state.end_s[a])
    return first_s


@njit(cache=True)
def _arrival_s(state, task):
    """Return when all inputs of a task are at its worker, if that is known."""
    return NEVER if state.waiting[task] > 0 else state.arrival_s[task]


@njit(cache=True)
def _loaded_s(order, state, stay):
    """Return when the copy of a stay is usable, if that is known."""
    if stay < 0 or stay >= len(order.kind):
        return 0.0
    end_s = state.end_s[stay]
    return NEVER if np.isnan(end_s) else end_s


@njit(cache=True)
def _reserve_bytes(order, costs, limits, state, w, action):
    """Return the own memory that earlier runs of the sequence may need at one time.

    The largest ``slots`` of them, among those running and those still to start.
    """
    slots = limits.slots[w]
    largest = np.zeros(slots, np.int64)
    for k in range(slots):
        a = state.slot_action[w, k]
        if a >= 0:
            _keep_largest(largest, costs.own_bytes[a])
    for place in range(state.head[w], order.lane_ptr[w + 1]):
        a = order.lane_action[place]
        if a > action:
            break
        _keep_largest(largest, costs.own_bytes[a])
    return largest.sum()


@njit(cache=True)
def _keep_largest(largest, value):
    smallest = np.argmin(largest)
    largest[smallest] = max(largest[smallest], value)


@njit(cache=True)
def _run_ready_s(order, costs, limits, state, a, w, now_s):
    ready_s = _arrival_s(state, order.target[a])
    ready_s = max(ready_s, _loaded_s(order, state, order.stay[a]))
    ready_s = max(ready_s, _slot_free_s(limits, state, w))
    own = costs.own_bytes[a]
    is_due = ready_s <= now_s and own > 0
    if is_due and state.used_bytes[w] + own > limits.memory_bytes[w]:
        return NEVER
    return ready_s


@njit(cache=True)
def _has_room(order, costs, limits, state, a, w):
    """Return whether a load fits now, and leaves the earlier runs their room."""
    if state.used_bytes[w] + costs.size_bytes[a] > limits.memory_bytes[w]:
        return False
    room = limits.memory_bytes[w] - costs.static_bytes[a]
    if room >= limits.own_bytes[w]:
        return True
    return room >= _reserve_bytes(order, costs, limits, state, w, a)


@njit(cache=True)
def _load_ready_s(order, costs, limits, state, a, w, now_s, blocking):
    ready_s = max(costs.earliest_s[a], state.engine_end_s[w])
    if order.gate[a] >= 0:
        ready_s = max(ready_s, _arrival_s(state, order.gate[a]))
    if blocking:
        ready_s = max(ready_s, _slot_free_s(limits, state, w))
    if ready_s <= now_s and not _has_room(order, costs, limits, state, a, w):
        return NEVER
    return ready_s


@njit(cache=True)
def _evict_ready_s(order, costs, limits, state, a, w, blocking):
    if state.uses_left[order.stay[a]] > 0:
        return NEVER
    ready_s = _loaded_s(order, state, order.stay[a])
    if order.gate[a] >= 0:
        ready_s = max(ready_s, _arrival_s(state, order.gate[a]))
    if blocking:
        ready_s = max(ready_s, _slot_free_s(limits, state, w))
    if costs.duration_s[a] > 0:
        ready_s = max(ready_s, state.engine_end_s[w])
    return ready_s


@njit(cache=True)
def _take_slot(state, a, w):
    for k in range(state.slot_action.shape[1]):
        if state.slot_action[w, k] < 0:
            state.slot_action[w, k] = a
            return


@njit(cache=True)
def _start_run(order, costs, graph, state, a, w):
    state.used_bytes[w] += costs.own_bytes[a]
    _take_slot(state, a, w)
    task, end_s = order.target[a], state.end_s[a]
    for e in range(graph.succ_ptr[task], graph.succ_ptr[task + 1]):
        later = graph.succ_task[e]
        arrival_s = end_s + graph.succ_delay_s[e]
        state.arrival_s[later] = max(state.arrival_s[later], arrival_s)
        state.waiting[later] -= 1
        if state.waiting[later] == 0:
            _wake(state, state.arrival_s[later], graph.worker_of[later])


@njit(cache=True)
def _start_move(order, costs, state, a, w, blocking):
    """Start a load or an eviction."""
    if order.kind[a] == LOAD:
        state.used_bytes[w] += costs.size_bytes[a]
    elif costs.duration_s[a] > 0:
        state.leaving[w] = a
    else:
        state.used_bytes[w] -= costs.size_bytes[a]
        return
    state.engine_end_s[w] = state.end_s[a]
    if blocking:
        _take_slot(state, a, w)


@njit(cache=True)
def _try_start(order, costs, graph, limits, state, a, w, now_s, blocking):
    """Start an action if it can start now; otherwise come back when that is known."""
    kind = order.kind[a]
    if kind == RUN:
        ready_s = _run_ready_s(order, costs, limits, state, a, w, now_s)
    elif kind == LOAD:
        ready_s = _load_ready_s(order, costs, limits, state, a, w, now_s, blocking)
    else:
        ready_s = _evict_ready_s(order, costs, limits, state, a, w, blocking)
    if ready_s > now_s:
        # Ends and arrivals wake their worker by themselves; releases have to be noted.
        release_s = costs.earliest_s[a]
        if kind == LOAD and release_s > now_s and release_s != state.expected_s[w]:
            state.expected_s[w] = release_s  # once is enough
            _wake(state, release_s, w)
        return False
    state.start_s[a] = now_s
    state.end_s[a] = now_s + costs.duration_s[a]
    _wake(state, state.end_s[a], w)
    if kind == RUN:
        _start_run(order, costs, graph, state, a, w)
    else:
        _start_move(order, costs, state, a, w, blocking)
    return True


@njit(cache=True)
def _advance(order, costs, graph, limits, state, w, now_s, blocking):
    """Start everything that a worker's two lanes allow now."""
    n_workers = len(limits.slots)
    moved = True
    while moved:
        moved = False
        _settle(order, costs, state, w, now_s)
        for lane in (w, n_workers + w):
            place = state.head[lane]
            if place == order.lane_ptr[lane + 1]:
                continue
            a = order.lane_action[place]
            if _try_start(order, costs, graph, limits, state, a, w, now_s, blocking):
                state.head[lane] += 1
                moved = True


@njit(cache=True)
def carry_out(order, costs, graph, limits, blocking):
    """Give every action its times.

    Parameters
    ----------
    order : Order
    costs : Costs
    graph : Graph
    limits : Limits
    blocking : bool
        Loads and evictions that take time occupy slots.

    Returns
    -------
    start_s, end_s : ndarray of shape (A,)
        nan for actions that never could start.
    head : ndarray of shape (2 W,)
    waiting : ndarray of shape (N,)
    """
    n_actions, n_workers = len(order.kind), len(limits.slots)
    widest = 1
    for w in range(n_workers):
        widest = max(widest, limits.slots[w])
    # Reset through its own name: numba drops a store through a tuple built here.
    n_wakes = np.zeros(1, np.int64)
    state = State(
        np.full(n_actions, np.nan),
        np.full(n_actions, np.nan),
        order.lane_ptr[:-1].copy(),
        graph.n_before.copy(),
        graph.ready_s.copy(),
        limits.uses.copy(),
        np.full((n_workers, widest), -1),
        np.zeros(n_workers),
        np.full(n_workers, -1),
        limits.initial_bytes.copy(),
        n_wakes,
        np.empty(3 * n_actions + len(graph.n_before) + 4),
        np.empty(3 * n_actions + len(graph.n_before) + 4, np.int64),
        np.full(n_workers, -1.0),
    )
    heap = [(0.0, w) for w in range(n_workers)]
    for task in range(len(graph.n_before)):
        if graph.n_before[task] == 0:
            heapq.heappush(heap, (graph.ready_s[task], graph.worker_of[task]))
    while len(heap) > 0:
        now_s, w = heapq.heappop(heap)
        _advance(order, costs, graph, limits, state, w, now_s, blocking)
        for n in range(n_wakes[0]):
            heapq.heappush(heap, (state.wake_s[n], state.wake_worker[n]))
        n_wakes[0] = 0
    return state.start_s, state.end_s, state.head, state.waiting
