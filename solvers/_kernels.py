"""Exhaustive search over small instances, compiled; `explore.py_func` is plain Python.

It shares nothing with the CP-SAT model: no ticks, no epochs, no bounds of `bounds.py`.
A schedule is built by appending runs and loads in the order of their starts, each as
early as what was appended before allows. Every schedule can be shifted left into one of
this kind without any job ending later, so the best one is among them. An append states:

* for a run: task, worker, and which models leave for the task's own memory;
* for a load: model, worker, which models leave, and, under ``after_release``, which
  release it waits for; the copy must then serve a job released by its start.

Models leave only when room is needed; sets from which one model could have stayed
without a later start are left out. Only used copies and initial residents may leave.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from placement_lab._compiled import njit

__all__ = ["Case", "explore"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

RUN, LOAD = 0, 1
EPS = 1e-9
MAKESPAN, WEIGHTED, LATE = 0, 1, 2


class Case(NamedTuple):
    """A small instance in numbers: N tasks, W workers, M models, J jobs."""

    run: Floats  # (N, W), inf where it cannot run
    ready: Floats  # (N, W)
    delay: Floats  # (N, N, W, W): k, i, worker of k, worker of i
    before: Bools  # (N, N): k precedes i
    topological: Ints  # (N,)
    model: Ints  # (N,), -1 without
    own: Ints  # (N,)
    job: Ints  # (N,)
    release: Floats  # (J,)
    due: Floats  # (J,)
    cost: Floats  # (J,)
    load: Floats  # (M, W)
    size: Ints  # (M,)
    resident: Bools  # (M, W)
    capacity: Ints  # (W,)
    slots: Ints  # (W,)
    objective: int
    blocking: bool
    after_release: bool


class State(NamedTuple):
    """What has been appended; the first axis is the depth of the search."""

    last: Floats  # (D,) start of the last append
    end: Floats  # (D, N), nan before its run is appended
    at: Ints  # (D, N)
    slot_free: Floats  # (D, W, S)
    engine_free: Floats  # (D, W)
    present: Bools  # (D, M, W)
    usable: Floats  # (D, M, W)
    begun: Floats  # (D, M, W) start of the load, -1 for an initial resident
    used_until: Floats  # (D, M, W)
    uses: Ints  # (D, M, W)
    is_due: Bools  # (D, M, W) copy still needs a user released by its load's start


class Appends(NamedTuple):
    """Possible appends at each depth."""

    n_appends: Ints  # (D,)
    kind: Ints  # (D, A)
    target: Ints  # (D, A)
    worker: Ints  # (D, A)
    leaving: Ints  # (D, A) bits of models
    start: Floats  # (D, A), inf once it has been tried


@njit(cache=True)
def _new_state(case, depth):
    n, workers = case.run.shape
    models = len(case.size)
    state = State(
        np.zeros(depth),
        np.full((depth, n), np.nan),
        np.full((depth, n), -1),
        np.zeros((depth, workers, case.slots.max())),
        np.zeros((depth, workers)),
        np.zeros((depth, models, workers), np.bool_),
        np.zeros((depth, models, workers)),
        np.full((depth, models, workers), -1.0),
        np.zeros((depth, models, workers)),
        np.zeros((depth, models, workers), np.int64),
        np.zeros((depth, models, workers), np.bool_),
    )
    state.present[0] = case.resident
    for w in range(workers):
        state.slot_free[:, w, case.slots[w] :] = np.inf
    return state


@njit(cache=True)
def _copy_down(state, d):
    state.last[d + 1] = state.last[d]
    state.end[d + 1] = state.end[d]
    state.at[d + 1] = state.at[d]
    state.slot_free[d + 1] = state.slot_free[d]
    state.engine_free[d + 1] = state.engine_free[d]
    state.present[d + 1] = state.present[d]
    state.usable[d + 1] = state.usable[d]
    state.begun[d + 1] = state.begun[d]
    state.used_until[d + 1] = state.used_until[d]
    state.uses[d + 1] = state.uses[d]
    state.is_due[d + 1] = state.is_due[d]


@njit(cache=True)
def _start_with_room(case, state, d, w, base, need, leaving):
    """Return when ``need`` bytes are free at the latest after ``base``."""
    start = base
    free = case.capacity[w]
    for m in range(len(case.size)):
        if state.present[d, m, w]:
            if leaving >> m & 1:
                start = max(start, state.usable[d, m, w], state.used_until[d, m, w])
            else:
                free -= case.size[m]
    while True:
        room = free
        following = np.inf
        for i in range(len(case.own)):
            if state.at[d, i] == w and state.end[d, i] > start:
                room -= case.own[i]
                if case.own[i] > 0:
                    following = min(following, state.end[d, i])
        if room >= need or following == np.inf:
            return start if room >= need else np.inf
        start = following


@njit(cache=True)
def _may_leave(case, state, d, w, keep):
    """Return the bits of the models that may leave a worker's memory."""
    bits = 0
    for m in range(len(case.size)):
        has_served = state.begun[d, m, w] < 0 or state.uses[d, m, w] > 0
        may = state.present[d, m, w] and has_served and not state.is_due[d, m, w]
        if may and m != keep:
            bits |= 1 << m
    return bits


@njit(cache=True)
def _is_minimal(case, state, d, w, base, need, leaving, start):
    """Return whether no single model could stay without a later start."""
    for m in range(len(case.size)):
        if leaving >> m & 1:
            fewer = leaving & ~(1 << m)
            if _start_with_room(case, state, d, w, base, need, fewer) <= start:
                return False
    return True


@njit(cache=True)
def _push(appends, d, kind, target, w, leaving, start):
    a = appends.n_appends[d]
    appends.kind[d, a] = kind
    appends.target[d, a] = target
    appends.worker[d, a] = w
    appends.leaving[d, a] = leaving
    appends.start[d, a] = start
    appends.n_appends[d] += 1


@njit(cache=True)
def _offer(case, state, appends, d, kind, target, w, base, need, keep):
    """Add every useful way to make room for one run or load."""
    most = _may_leave(case, state, d, w, keep) if need > 0 else 0
    leaving = most
    while True:
        start = _start_with_room(case, state, d, w, base, need, leaving)
        is_next = start < np.inf and start >= state.last[d] - EPS
        if is_next and _is_minimal(case, state, d, w, base, need, leaving, start):
            _push(appends, d, kind, target, w, leaving, max(start, state.last[d]))
        if leaving == 0:
            return
        leaving = (leaving - 1) & most


@njit(cache=True)
def _inputs_at(case, state, d, i, w):
    """Return when a task's inputs are at a worker; inf while one is not appended."""
    arrival = case.ready[i, w]
    for k in range(len(case.model)):
        if case.before[k, i]:
            if np.isnan(state.end[d, k]):
                return np.inf
            arrival = max(
                arrival, state.end[d, k] + case.delay[k, i, state.at[d, k], w]
            )
    return arrival


@njit(cache=True)
def _offer_runs(case, state, appends, d):
    n, workers = case.run.shape
    for i in range(n):
        if not np.isnan(state.end[d, i]):
            continue
        m = case.model[i]
        for w in range(workers):
            if m >= 0 and not state.present[d, m, w]:
                continue
            base = max(_inputs_at(case, state, d, i, w), state.slot_free[d, w].min())
            if m >= 0:
                base = max(base, state.usable[d, m, w])
            if base < np.inf and case.run[i, w] < np.inf:
                _offer(case, state, appends, d, RUN, i, w, base, case.own[i], m)


@njit(cache=True)
def _spare_users(case, state, d, m):
    """Return how many more unused copies of a model its remaining tasks can use."""
    spare = 0
    for i in range(len(case.model)):
        if case.model[i] == m and np.isnan(state.end[d, i]):
            spare += 1
    for w in range(len(case.capacity)):
        is_loaded = state.present[d, m, w] and state.begun[d, m, w] >= 0
        if is_loaded and state.uses[d, m, w] == 0:
            spare -= 1
    return spare


@njit(cache=True)
def _offer_loads(case, state, appends, d):
    models, workers = case.load.shape
    for m in range(models):
        if _spare_users(case, state, d, m) <= 0:
            continue
        for w in range(workers):
            if state.present[d, m, w] or case.load[m, w] == np.inf:
                continue
            base = state.engine_free[d, w]
            if case.blocking:
                base = max(base, state.slot_free[d, w].min())
            if case.after_release:
                _offer_loads_by_release(case, state, appends, d, m, w, base)
            else:
                _offer(case, state, appends, d, LOAD, m, w, base, case.size[m], -1)


@njit(cache=True)
def _offer_loads_by_release(case, state, appends, d, m, w, base):
    """Offer a load at the first moment after each release that could justify it."""
    for i in range(len(case.model)):
        if case.model[i] != m or not np.isnan(state.end[d, i]):
            continue
        if case.run[i, w] == np.inf:
            continue
        release = case.release[case.job[i]]
        is_new = True
        for k in range(i):
            is_left = case.model[k] == m and np.isnan(state.end[d, k])
            if is_left and case.run[k, w] < np.inf:
                other = case.release[case.job[k]]
                is_new = is_new and max(other, base) != max(release, base)
        if is_new:
            wait = max(base, release)
            _offer(case, state, appends, d, LOAD, m, w, wait, case.size[m], -1)


@njit(cache=True)
def _append(case, state, d, kind, target, w, leaving, start):
    """Write the state after an append into depth d + 1."""
    _copy_down(state, d)
    e = d + 1
    state.last[e] = start
    for m in range(len(case.size)):
        if leaving >> m & 1:
            state.present[e, m, w] = False
    slot = np.argmin(state.slot_free[e, w])
    if kind == RUN:
        end = start + case.run[target, w]
        state.end[e, target] = end
        state.at[e, target] = w
        state.slot_free[e, w, slot] = end
        m = case.model[target]
        if m >= 0:
            state.uses[e, m, w] += 1
            state.used_until[e, m, w] = max(state.used_until[e, m, w], end)
            if case.release[case.job[target]] <= state.begun[e, m, w] + EPS:
                state.is_due[e, m, w] = False
        return
    end = start + case.load[target, w]
    state.engine_free[e, w] = end
    if case.blocking:
        state.slot_free[e, w, slot] = end
    state.present[e, target, w] = True
    state.usable[e, target, w] = end
    state.begun[e, target, w] = start
    state.used_until[e, target, w] = 0.0
    state.uses[e, target, w] = 0
    state.is_due[e, target, w] = case.after_release


@njit(cache=True)
def _model_from(case, state, d, m, w):
    """Return when a worker can have a model at the earliest, as things stand."""
    if state.present[d, m, w]:
        return state.usable[d, m, w]
    return max(state.last[d], state.engine_free[d, w]) + case.load[m, w]


@njit(cache=True)
def _least_ends(case, state, d, ends):
    """Fill in lower bounds on all ends: nothing new starts before the last append."""
    workers = len(case.capacity)
    for i in case.topological:
        if not np.isnan(state.end[d, i]):
            ends[i] = state.end[d, i]
            continue
        best = np.inf
        for w in range(workers):
            start = max(state.last[d], case.ready[i, w], state.slot_free[d, w].min())
            if case.model[i] >= 0:
                start = max(start, _model_from(case, state, d, case.model[i], w))
            for k in range(len(case.model)):
                if case.before[k, i]:
                    arrival = ends[k]
                    if state.at[d, k] >= 0:
                        arrival += case.delay[k, i, state.at[d, k], w]
                    start = max(start, arrival)
            best = min(best, start + case.run[i, w])
        ends[i] = best


@njit(cache=True)
def _value(case, ends):
    """Return the objective of some ends of tasks."""
    completion = np.zeros(len(case.release))
    for i in range(len(ends)):
        completion[case.job[i]] = max(completion[case.job[i]], ends[i])
    if case.objective == MAKESPAN:
        return completion.max()
    total = 0.0
    for j in range(len(completion)):
        if case.objective == WEIGHTED:
            total += case.cost[j] * (completion[j] - case.release[j])
        elif completion[j] > case.due[j] + EPS:
            total += case.cost[j]
    return total


@njit(cache=True)
def _is_complete(state, d):
    """Return whether all tasks are there and every load has its user."""
    if np.isnan(state.end[d]).any():
        return False
    idle = state.present[d] & (state.begun[d] >= 0) & (state.uses[d] == 0)
    return not (idle.any() or (state.present[d] & state.is_due[d]).any())


@njit(cache=True)
def _new_appends(depth, widest):
    shape = (depth, widest)
    return Appends(
        np.zeros(depth, np.int64),
        np.zeros(shape, np.int64),
        np.zeros(shape, np.int64),
        np.zeros(shape, np.int64),
        np.zeros(shape, np.int64),
        np.zeros(shape),
    )


@njit(cache=True)
def _earliest(appends, d):
    """Return the append of the smallest start that has not been tried, or -1."""
    best = -1
    for a in range(appends.n_appends[d]):
        start = appends.start[d, a]
        if start < np.inf and (best < 0 or start < appends.start[d, best]):
            best = a
    return best


@njit(cache=True)
def _note_path(state, appends, chosen, d, path, path_start):
    for e in range(d):
        a = chosen[e]
        path[0, e] = appends.kind[e, a]
        path[1, e] = appends.target[e, a]
        path[2, e] = appends.worker[e, a]
        path[3, e] = appends.leaving[e, a]
        path_start[e] = state.last[e + 1]


@njit(cache=True)
def explore(case, most_nodes):
    """Return the best schedule of a small instance.

    Parameters
    ----------
    case : Case
    most_nodes : int
        Give up after so many appends.

    Returns
    -------
    value : float
        inf if there is no schedule.
    length : int
        Number of appends of the best schedule.
    path : ndarray of shape (4, D)
        Kind, target, worker and leaving models (bits) of its appends.
    path_start : ndarray of shape (D,)
    nodes : int
        Appends tried; ``most_nodes`` if the search gave up.
    """
    n, workers = case.run.shape
    models = len(case.size)
    depth = 2 * n + 1
    widest = (n * workers + n * models * workers) * 2**models + 1
    state = _new_state(case, depth + 1)
    appends = _new_appends(depth + 1, widest)
    chosen = np.zeros(depth + 1, np.int64)
    path = np.zeros((4, depth + 1), np.int64)
    path_start = np.zeros(depth + 1)
    ends = np.zeros(n)
    best, length, nodes, d = np.inf, 0, 0, 0
    is_new = True
    while d >= 0:
        if is_new:
            appends.n_appends[d] = 0
            _least_ends(case, state, d, ends)
            value = _value(case, ends)
            if value < best - EPS * 1e-3:
                if _is_complete(state, d):
                    best, length = value, d
                    _note_path(state, appends, chosen, d, path, path_start)
                elif d < depth:
                    _offer_runs(case, state, appends, d)
                    _offer_loads(case, state, appends, d)
        a = _earliest(appends, d)
        if a < 0:
            d -= 1
            is_new = False
            continue
        if nodes == most_nodes:
            break
        nodes += 1
        _append(
            case,
            state,
            d,
            appends.kind[d, a],
            appends.target[d, a],
            appends.worker[d, a],
            appends.leaving[d, a],
            appends.start[d, a],
        )
        appends.start[d, a] = np.inf
        chosen[d] = a
        d += 1
        is_new = True
    return best, length, path, path_start, nodes
