"""Compiled list scheduling; the readable forms are named in each docstring."""

from __future__ import annotations

import heapq
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from placement_lab._compiled import njit

__all__ = ["longest_path_s", "place"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


class Gaps(NamedTuple):
    """Idle gaps of all lanes (rows), sorted; ``n_used`` of them are in use per lane."""

    start_s: Floats
    end_s: Floats
    n_used: Ints


@njit(cache=True)
def longest_path_s(order, ptr, neighbour, hop_s, own_s):
    """Return the longest way from each task over its neighbours.

    Readable form: `placement_lab.schedulers.ranks.longest_path_readable`.
    """
    longest = np.zeros(len(order))
    for task in order:
        best = 0.0
        for k in range(ptr[task], ptr[task + 1]):
            best = max(best, hop_s[k] + longest[neighbour[k]])
        longest[task] = own_s[task] + best
    return longest


@njit(cache=True)
def _inputs_ready_s(problem, task, worker, worker_of, end_s):
    ready = problem.release_s[task]
    first, last = problem.pred_ptr[task], problem.pred_ptr[task + 1]
    if first == last:
        return ready + _input_transfer_s(problem, task, worker)
    for k in range(first, last):
        pred = problem.pred_task[k]
        src = worker_of[pred]
        moved = 0.0
        if src != worker:
            edge = problem.pred_edge[k]
            moved = problem.edge_transfer_s[edge]
            if np.isnan(moved):
                moved = (
                    problem.link_latency_s[src, worker]
                    + problem.edge_bytes[edge]
                    / problem.link_bandwidth_bytes_per_s[src, worker]
                )
        ready = max(ready, end_s[pred] + moved)
    return ready


@njit(cache=True)
def _input_transfer_s(problem, task, worker):
    ingress = problem.ingress[task]
    if ingress in (-1, worker):
        return 0.0
    row = problem.row[task]
    own = problem.row_input_transfer_s[row]
    if not np.isnan(own):
        return own
    return (
        problem.link_latency_s[ingress, worker]
        + problem.row_input_bytes[row]
        / problem.link_bandwidth_bytes_per_s[ingress, worker]
    )


@njit(cache=True)
def _first_gap(ends, count, ready_s):
    """Return the first gap that ends at or after a time (``bisect_left``)."""
    low, high = 0, count
    while low < high:
        middle = (low + high) // 2
        if ends[middle] < ready_s:
            low = middle + 1
        else:
            high = middle
    return low


@njit(cache=True)
def _earliest(gaps, lane_ptr, worker, ready_s, duration_s):
    """Return start, lane and gap of the earliest place in the lanes of a worker."""
    best_s, best_lane, best_gap = np.inf, -1, -1
    for lane in range(lane_ptr[worker], lane_ptr[worker + 1]):
        gap = _first_gap(gaps.end_s[lane], gaps.n_used[lane], ready_s)
        start_s = max(gaps.start_s[lane, gap], ready_s)
        while start_s + duration_s > gaps.end_s[lane, gap]:
            gap += 1
            start_s = max(gaps.start_s[lane, gap], ready_s)
        if start_s < best_s:
            best_s, best_lane, best_gap = start_s, lane, gap
    return best_s, best_lane, best_gap


@njit(cache=True)
def _book(gaps, place, start_s, end_s, keep_empty):
    """Take a run out of a gap, given by lane and number; there must be room for one."""
    lane, gap = place
    starts, ends, count = gaps.start_s[lane], gaps.end_s[lane], gaps.n_used[lane]
    opens, closes = starts[gap], ends[gap]
    if opens == start_s and start_s == end_s and end_s == closes:
        return
    left = start_s > opens or keep_empty
    right = closes > end_s or keep_empty
    if left and right:
        for k in range(count, gap + 1, -1):
            starts[k], ends[k] = starts[k - 1], ends[k - 1]
        ends[gap] = start_s
        starts[gap + 1], ends[gap + 1] = end_s, closes
        gaps.n_used[lane] += 1
    elif left:
        ends[gap] = start_s
    elif right:
        starts[gap] = end_s
    else:
        for k in range(gap, count - 1):
            starts[k], ends[k] = starts[k + 1], ends[k + 1]
        gaps.n_used[lane] -= 1


@njit(cache=True)
def _widened(table):
    """Return a copy with room for twice as many gaps in every lane."""
    lanes, room = table.shape
    wide = np.empty((lanes, 2 * room))
    wide[:, :room] = table
    return wide


@njit(cache=True)
def _candidates(runtimes_s, wanted):
    """Return the range of workers to compare: all, or the wanted one alone."""
    if wanted >= 0 and runtimes_s[wanted] < np.inf:
        return wanted, wanted + 1
    return 0, len(runtimes_s)


@njit(cache=True)
def place(problem, priority, wanted, look_ahead_s):
    """Place all tasks by priority, where they end first, with insertion.

    Every worker must be linked with every other. Readable form:
    `placement_lab.schedulers._insertion.place_readable`.
    """
    n, n_lanes = len(problem.row), problem.lane_ptr[-1]
    worker_of = np.full(n, -1, np.int64)
    run_start_s, run_end_s = np.zeros(n), np.zeros(n)
    gaps = Gaps(
        np.zeros((n_lanes, 8)),
        np.full((n_lanes, 8), np.inf),
        np.ones(n_lanes, np.int64),
    )
    waiting = problem.pred_ptr[1:] - problem.pred_ptr[:-1]
    ready = [(-priority[task], task) for task in range(n) if waiting[task] == 0]
    heapq.heapify(ready)
    while len(ready) > 0:
        _, task = heapq.heappop(ready)
        runtimes_s = problem.row_runtime_s[problem.row[task]]
        best_score_s, best_start_s = np.inf, 0.0
        best_worker, best_lane, best_gap = -1, -1, -1
        first, last = _candidates(runtimes_s, wanted[task])
        for worker in range(first, last):
            if runtimes_s[worker] == np.inf:
                continue
            arrived_s = _inputs_ready_s(problem, task, worker, worker_of, run_end_s)
            start_s, lane, gap = _earliest(
                gaps, problem.lane_ptr, worker, arrived_s, runtimes_s[worker]
            )
            score_s = start_s + runtimes_s[worker]
            if len(look_ahead_s) > 0:
                score_s += look_ahead_s[task, worker]
            if best_worker < 0 or score_s < best_score_s:
                best_score_s, best_start_s = score_s, start_s
                best_worker, best_lane, best_gap = worker, lane, gap
        end_s = best_start_s + runtimes_s[best_worker]
        if gaps.n_used[best_lane] == gaps.start_s.shape[1]:
            gaps = Gaps(_widened(gaps.start_s), _widened(gaps.end_s), gaps.n_used)
        _book(gaps, (best_lane, best_gap), best_start_s, end_s, problem.has_empty_runs)
        worker_of[task] = best_worker
        run_start_s[task], run_end_s[task] = best_start_s, end_s
        for k in range(problem.succ_ptr[task], problem.succ_ptr[task + 1]):
            successor = problem.succ_task[k]
            waiting[successor] -= 1
            if waiting[successor] == 0:
                heapq.heappush(ready, (-priority[successor], successor))
    return worker_of, run_start_s, run_end_s
