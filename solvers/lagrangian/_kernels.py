"""The subproblems of the Lagrangian bound, compiled; ``.py_func`` is plain Python.

Prices are multiples of 2^-16 and times whole ticks, so that every sum below is exact.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from placement_lab._compiled import njit

__all__ = ["Histories", "Jobs", "Prices", "Sums", "best_history", "cheapest_jobs"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


class Jobs(NamedTuple):
    """Jobs shaped head chain -> middle tasks -> tail chain; G types of workers.

    ``order`` lists each job's tasks, head first; ``n_head`` and ``n_middle`` count.
    """

    ptr: Ints  # (J + 1,)
    order: Ints  # (N,)
    n_head: Ints  # (J,)
    n_middle: Ints  # (J,)
    release: Ints  # (J,)
    weight: Floats  # (J,)
    model: Ints  # (N,), -1 if always resident
    run: Ints  # (N, G)
    first: Ints  # (N, G) earliest start, beyond the horizon where it cannot run
    last: Ints  # (N,) latest end
    load: Ints  # (M, G)


class Prices(NamedTuple):
    """Prices by type of worker (G), model (M) and tick (T); zero beyond."""

    busy: Floats  # (G, T)
    resident: Floats  # (G, M, T)
    load: Floats  # (G, M, T)


class Sums(NamedTuple):
    """Prices summed over the first 0, 1, ..., T ticks."""

    busy: Floats  # (G, T + 1)
    resident: Floats  # (G, M, T + 1)


class Histories(NamedTuple):
    """What a worker of one type may do with its memory."""

    size: Ints  # (M,)
    capacity: int
    load: Ints  # (M,), 0: cannot be loaded
    first_load: Ints  # (M,) earliest start of a load
    initial: int  # bits of the models resident at the beginning
    slots: int
    blocking: bool


@njit(cache=True, nogil=True)
def _task_costs(jobs, prices, sums, i, j, cost, trigger):
    """Fill in what a task pays at each type and start, and the load it triggers."""
    types, horizon = prices.busy.shape
    cost[:] = np.inf
    m = jobs.model[i]
    for g in range(types):
        length = jobs.run[i, g]
        reward, at = 0.0, -1
        following = jobs.release[j]
        for s in range(jobs.first[i, g], min(horizon, jobs.last[i]) - length + 1):
            paid = sums.busy[g, s + length] - sums.busy[g, s]
            if m >= 0:
                paid += sums.resident[g, m, s + length] - sums.resident[g, m, s]
                while following <= s - jobs.load[m, g]:
                    if prices.load[g, m, following] > reward:
                        reward, at = prices.load[g, m, following], following
                    following += 1
                paid -= reward
            cost[g, s], trigger[g, s] = paid, at


@njit(cache=True, nogil=True)
def _head(jobs, costs, j, by, start, kind):
    """Return the cheapest head that is over by each tick, and fill in its choices."""
    types, width = costs.shape[1:]
    by[:] = 0.0
    following = np.empty(width)
    for place in range(jobs.n_head[j]):
        i = jobs.order[jobs.ptr[j] + place]
        following[:] = np.inf
        for g in range(types):
            for s in range(width - jobs.run[i, g]):
                total = by[s] + costs[i, g, s]
                end = s + jobs.run[i, g]
                if total < following[end]:
                    following[end] = total
                    start[place, end], kind[place, end] = s, g
        for t in range(1, width):
            if following[t - 1] <= following[t]:
                following[t] = following[t - 1]
                start[place, t] = start[place, t - 1]
                kind[place, t] = kind[place, t - 1]
        by[:] = following


@njit(cache=True, nogil=True)
def _tail(jobs, costs, j, by, start, kind):
    """Return the cheapest tail from each tick on, with what the completion costs."""
    types, width = costs.shape[1:]
    for t in range(width):
        by[t] = jobs.weight[j] * t
    first = jobs.ptr[j] + jobs.n_head[j] + jobs.n_middle[j]
    earlier = np.empty(width)
    for at in range(jobs.ptr[j + 1] - 1, first - 1, -1):
        i = jobs.order[at]
        earlier[:] = np.inf
        for g in range(types):
            for s in range(width - jobs.run[i, g]):
                total = costs[i, g, s] + by[s + jobs.run[i, g]]
                if total < earlier[s]:
                    earlier[s] = total
                    start[at - first, s], kind[at - first, s] = s, g
        for s in range(width - 2, -1, -1):
            if earlier[s + 1] < earlier[s]:
                earlier[s] = earlier[s + 1]
                start[at - first, s] = start[at - first, s + 1]
                kind[at - first, s] = kind[at - first, s + 1]
        by[:] = earlier


@njit(cache=True, nogil=True)
def _middle(jobs, costs, j, head, tail, starts, kinds):
    """Return the cheapest job and when its head ends and its tail begins.

    The window [a, b] of the middle tasks grows for every useful end a of the head. The
    tail's cost never falls in b, so growth stops where even the cheapest middle cannot
    win any more.
    """
    types, width = costs.shape[1:]
    n = jobs.n_middle[j]
    first = jobs.ptr[j] + jobs.n_head[j]
    least = np.full((n + 1, width + 1), np.inf)  # cheapest start from a on
    least[n] = 0.0
    longest = 0
    for k in range(n):
        i = jobs.order[first + k]
        longest = max(longest, jobs.run[i].min())
        for s in range(width - 1, -1, -1):
            least[k, s] = least[k, s + 1]
            for g in range(types):
                least[k, s] = min(least[k, s], costs[i, g, s])
        least[n] += least[k]
    best, best_a, best_b = np.inf, -1, -1
    now = np.empty(n)
    chosen = np.zeros((n, 2), np.int64)
    for a in range(width):
        if head[a] == np.inf or (a > 0 and head[a] == head[a - 1]):
            continue
        floor = head[a] + least[n, a]
        b = a + longest
        if b >= width or floor + tail[b] >= best:
            continue
        now[:] = np.inf
        for k in range(n):
            i = jobs.order[first + k]
            for g in range(types):
                for s in range(a, b - jobs.run[i, g] + 1):
                    if costs[i, g, s] < now[k]:
                        now[k] = costs[i, g, s]
                        chosen[k, 0], chosen[k, 1] = s, g
        while True:
            total = head[a] + tail[b]
            for k in range(n):
                total += now[k]
            if total < best:
                best, best_a, best_b = total, a, b
                for k in range(n):
                    starts[jobs.order[first + k]] = chosen[k, 0]
                    kinds[jobs.order[first + k]] = chosen[k, 1]
            b += 1
            if b >= width or floor + tail[b] >= best:
                break
            for k in range(n):
                i = jobs.order[first + k]
                for g in range(types):
                    s = b - jobs.run[i, g]
                    if s >= a and costs[i, g, s] < now[k]:
                        now[k] = costs[i, g, s]
                        chosen[k, 0], chosen[k, 1] = s, g
    return best, best_a, best_b


@njit(cache=True, nogil=True)
def cheapest_jobs(jobs, prices, sums):
    """Minimise every job on its own at the given prices.

    Returns
    -------
    total : float
        Sum of weight x completion + what runs pay - what triggers earn; inf if a job
        cannot meet its window.
    starts, kinds, triggers : ndarray of shape (N,)
        Each task's start, type of worker and triggered load (-1: none).
    """
    n, types, width = len(jobs.model), prices.busy.shape[0], prices.busy.shape[1] + 1
    costs = np.full((n, types, width), np.inf)
    trigger_of = np.full((n, types, width), -1)
    starts, kinds, triggers = np.full(n, -1), np.zeros(n, np.int64), np.full(n, -1)
    head, tail = np.zeros(width), np.zeros(width)
    deepest = 1
    for j in range(len(jobs.release)):
        deepest = max(deepest, jobs.ptr[j + 1] - jobs.ptr[j])
    head_start, head_kind = np.full((deepest, width), -1), np.full((deepest, width), -1)
    tail_start, tail_kind = np.full((deepest, width), -1), np.full((deepest, width), -1)
    total = 0.0
    for j in range(len(jobs.release)):
        for at in range(jobs.ptr[j], jobs.ptr[j + 1]):
            i = jobs.order[at]
            _task_costs(jobs, prices, sums, i, j, costs[i], trigger_of[i])
        _head(jobs, costs, j, head, head_start, head_kind)
        _tail(jobs, costs, j, tail, tail_start, tail_kind)
        value, a, b = _middle(jobs, costs, j, head, tail, starts, kinds)
        total += value
        if value == np.inf:
            return total, starts, kinds, triggers
        for place in range(jobs.n_head[j] - 1, -1, -1):
            i = jobs.order[jobs.ptr[j] + place]
            starts[i], kinds[i] = head_start[place, a], head_kind[place, a]
            a = starts[i]
        first = jobs.ptr[j] + jobs.n_head[j] + jobs.n_middle[j]
        for at in range(first, jobs.ptr[j + 1]):
            i = jobs.order[at]
            starts[i], kinds[i] = tail_start[at - first, b], tail_kind[at - first, b]
            b = starts[i] + jobs.run[i, kinds[i]]
    for i in range(n):
        triggers[i] = trigger_of[i, kinds[i], starts[i]]
    return total, starts, kinds, triggers


@njit(cache=True, nogil=True)
def best_history(world, busy_sum, resident_sum, load_price):
    """Return the most that one worker can earn with its memory, and how.

    Backwards in time over the sets of resident models that fit: wait, evict one, or
    load one, which pays its price and, in blocking mode, the worker's time.

    Parameters
    ----------
    world : Histories
    busy_sum : ndarray of shape (T + 1,)
    resident_sum : ndarray of shape (M, T + 1)
    load_price : ndarray of shape (M, T)

    Returns
    -------
    value : float
    resident : ndarray of bool, shape (M, T)
    loads : ndarray of int, shape (M, T)
        Starts of loads.
    """
    models, horizon = load_price.shape
    n_sets = 1 << models
    fits = np.zeros(n_sets, np.bool_)
    earned = np.zeros((horizon + 1, n_sets))
    for bits in range(n_sets):
        used = 0
        for m in range(models):
            if bits >> m & 1:
                used += world.size[m]
        fits[bits] = used <= world.capacity
    for t in range(horizon + 1):
        for bits in range(1, n_sets):
            m = 0
            while not bits >> m & 1:
                m += 1
            rest = earned[t, bits & ~(1 << m)]
            earned[t, bits] = rest + world.slots * resident_sum[m, t]
    value = np.zeros((horizon + 1, n_sets))
    move = np.full((horizon + 1, n_sets), -1, np.int8)  # -1 wait, m load, M + m evict
    for t in range(horizon - 1, -1, -1):
        for bits in range(n_sets):
            if not fits[bits]:
                continue
            best = earned[t + 1, bits] - earned[t, bits] + value[t + 1, bits]
            chosen = -1
            for m in range(models):
                if bits >> m & 1:
                    other = value[t, bits & ~(1 << m)]
                    if other > best:
                        best, chosen = other, models + m
                elif world.load[m] > 0 and t >= world.first_load[m]:
                    after = bits | 1 << m
                    if fits[after]:
                        end = min(horizon, t + world.load[m])
                        gain = earned[end, bits] - earned[t, bits] + value[end, after]
                        gain -= load_price[m, t]
                        if world.blocking:
                            gain -= busy_sum[end] - busy_sum[t]
                        if gain > best:
                            best, chosen = gain, m
            value[t, bits] = best
            move[t, bits] = chosen
    resident = np.zeros((models, horizon), np.bool_)
    loads = np.zeros((models, horizon), np.int64)
    bits, t = world.initial, 0
    while t < horizon:
        chosen = move[t, bits]
        if chosen >= models:
            bits &= ~(1 << (chosen - models))
            continue
        until = t + 1 if chosen < 0 else min(horizon, t + world.load[chosen])
        for m in range(models):
            if bits >> m & 1:
                resident[m, t:until] = True
        if chosen >= 0:
            loads[chosen, t] = 1
            bits |= 1 << chosen
        t = until
    return value[0, world.initial], resident, loads
