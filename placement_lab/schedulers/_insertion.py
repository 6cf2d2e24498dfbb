"""Insertion-based list scheduling: the loop that HEFT, CPoP and PEFT share.

Of the tasks whose predecessors are placed, the one of highest priority (then lowest
index) goes where it ends first, into an idle gap if one is long enough. Where all
workers are linked a compiled kernel does this; `place_readable` says the same in plain
Python, gives the same bits, and also heeds missing links.
"""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from placement_lab.schedulers._domains import Choices, with_choices
from placement_lab.schedulers._planning import (
    Placement,
    inputs_ready_s,
    planning_input,
)
from placement_lab.schedulers._timeline import Timeline

if TYPE_CHECKING:
    from placement_lab.problem import InstanceArrays
    from placement_lab.schedulers._planning import PlanningInput
    from placement_lab.schedulers._timeline import Fit

__all__ = ["place", "place_readable"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


def place(
    arrays: InstanceArrays,
    priority: Floats,
    *,
    wanted: Ints | None = None,
    look_ahead_s: Floats | None = None,
) -> Placement:
    """Place all tasks, blind to models and memory.

    Parameters
    ----------
    arrays : InstanceArrays
    priority : ndarray of shape (N,)
        Higher first; a task waits for its predecessors whatever its priority.
    wanted : ndarray of shape (N,), optional
        The worker on which a task is put wherever it could end; -1: none.
    look_ahead_s : ndarray of shape (N, W), optional
        Added to the end when workers are compared.

    Raises
    ------
    InfeasiblePlanError
        If links are missing so that no assignment exists (or none was found).
    """
    problem = planning_input(arrays)
    if wanted is None:
        wanted = np.full(arrays.n_tasks, -1)
    if look_ahead_s is None:
        look_ahead_s = np.zeros((0, 0))
    if np.isfinite(arrays.link_latency_s).all():
        from placement_lab.schedulers import _kernels

        return Placement(*_kernels.place(problem, priority, wanted, look_ahead_s))
    return with_choices(
        arrays,
        lambda choices: place_readable(
            problem, priority, wanted, look_ahead_s, choices
        ),
    )


def place_readable(
    problem: PlanningInput,
    priority: Floats,
    wanted: Ints,
    look_ahead_s: Floats,
    choices: Choices,
) -> Placement:
    """Place all tasks; see `place`."""
    n = len(problem.row)
    placed = Placement(np.full(n, -1), np.zeros(n), np.zeros(n))
    slots = np.diff(problem.lane_ptr).tolist()
    keep_empty = problem.has_empty_runs
    timelines = [Timeline(count, keep_empty=keep_empty) for count in slots]
    waiting = np.diff(problem.pred_ptr)
    ready = [(-priority[task], task) for task in np.flatnonzero(waiting == 0)]
    heapq.heapify(ready)
    while ready:
        task = int(heapq.heappop(ready)[1])
        arrived_s = inputs_ready_s(problem, task, placed)
        fits: dict[int, Fit] = {}
        keys = []
        for worker in choices.workers(task):
            runtime_s = problem.row_runtime_s[problem.row[task], worker]
            fits[worker] = timelines[worker].earliest(arrived_s[worker], runtime_s)
            score_s = fits[worker].start_s + runtime_s
            if len(look_ahead_s):
                score_s += look_ahead_s[task, worker]
            keys.append((worker != wanted[task], score_s, worker))
        worker = choices.first_that_goes(task, [key[-1] for key in sorted(keys)])
        start_s, lane, gap = fits[worker]
        end_s = start_s + problem.row_runtime_s[problem.row[task], worker]
        timelines[worker].book(lane, gap, start_s, end_s)
        placed.worker[task] = worker
        placed.start_s[task], placed.end_s[task] = start_s, end_s
        for k in range(problem.succ_ptr[task], problem.succ_ptr[task + 1]):
            successor = problem.succ_task[k]
            waiting[successor] -= 1
            if waiting[successor] == 0:
                heapq.heappush(ready, (-priority[successor], successor))
    return placed
