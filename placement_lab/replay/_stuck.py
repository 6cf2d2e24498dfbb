"""Say why a plan cannot go on: which worker, which action, and what it waits for."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from placement_lab.errors import InfeasiblePlanError
from placement_lab.replay._sequences import Sequences

if TYPE_CHECKING:
    import numpy as np

    from placement_lab.problem import InstanceArrays
    from placement_lab.replay._stays import Stays
    from placement_lab.replay._timing import Times

__all__ = ["explain_stuck"]


def explain_stuck(
    arrays: InstanceArrays, sequences: Sequences, stays: Stays, times: Times
) -> InfeasiblePlanError:
    """Return the error for a plan whose actions wait for each other.

    Follows the waiting from the first stuck action until it comes round to an action
    seen before, and names the actions of that circle.
    """
    heads = [
        int(times.lane_action[place])
        for lane, place in enumerate(times.head.tolist())
        if place < times.lane_ptr[lane + 1]
    ]
    chain: list[int] = []
    action = min(heads)
    while action not in chain:
        chain.append(action)
        blocker = _blocker(arrays, sequences, stays, times, action)
        if blocker is None:
            place = sequences.place(arrays, action)
            return InfeasiblePlanError(
                f"{place}: cannot start, because memory or a slot never becomes free; "
                "evict a model earlier, or move the task"
            )
        action = blocker
    circle = chain[chain.index(action) :]
    steps = " <- ".join(
        f"{arrays.worker_ids[int(sequences.worker[one])]}: "
        f"{sequences.label(arrays, one)}"
        for one in [*circle[:4], circle[0]]
    )
    return InfeasiblePlanError(
        f"{sequences.place(arrays, circle[0])}: cannot start, because actions wait for "
        f"each other in a circle ({steps}); change the order"
    )


def _blocker(
    arrays: InstanceArrays,
    sequences: Sequences,
    stays: Stays,
    times: Times,
    action: int,
) -> int | None:
    """Return an action that has not started and that ``action`` waits for, if any."""
    before = _earlier_in_lane(times, action)
    if before is not None:
        return before
    is_run = sequences.kind[action] == Sequences.RUN
    task = int(sequences.target[action]) if is_run else int(stays.gate[action])
    if task >= 0 and times.waiting[task] > 0:
        return _unstarted_predecessor(arrays, sequences, times, task)
    stay = int(stays.stay[action])
    if is_run and 0 <= stay < len(sequences.kind) and not _started(times, stay):
        return stay
    return _earlier_on_worker(sequences, times, action)


def _started(times: Times, action: int) -> bool:
    return not math.isnan(times.end_s[action])


def _earlier_in_lane(times: Times, action: int) -> int | None:
    for lane, place in enumerate(times.head.tolist()):
        lane_actions: np.ndarray = times.lane_action[place : times.lane_ptr[lane + 1]]
        if action in lane_actions[1:]:
            return int(lane_actions[0])
    return None


def _unstarted_predecessor(
    arrays: InstanceArrays, sequences: Sequences, times: Times, task: int
) -> int | None:
    first, last = arrays.pred_ptr[task : task + 2].tolist()
    for before in arrays.pred_task[first:last].tolist():
        action = int(sequences.action_of_task[before])
        if not _started(times, action):
            return action
    return None


def _earlier_on_worker(sequences: Sequences, times: Times, action: int) -> int | None:
    """Return an unstarted action that stands before this one in its sequence.

    An eviction waits for earlier runs of its model, a load for room that earlier runs
    still need, a run for earlier evictions.
    """
    first = int(sequences.worker_ptr[sequences.worker[action]])
    for earlier in range(first, action):
        if not _started(times, earlier):
            return earlier
    return None
