"""Prepare the numbers that the event loop needs, and call it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from placement_lab.errors import InfeasiblePlanError
from placement_lab.problem.arrivals import arrivals_s, edge_delays_s
from placement_lab.replay._sequences import Sequences

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from placement_lab.problem import InstanceArrays
    from placement_lab.replay._stays import Stays

__all__ = ["Times", "give_times"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Times:
    """Start and end of every action; nan for what could not start.

    Attributes
    ----------
    start_s, end_s : ndarray of shape (A,)
    head : ndarray of shape (2 W,)
        Per lane, the place in ``lane_action`` that comes next.
    lane_ptr, lane_action : CSR over lanes
        Lane ``w`` of worker ``w``: its runs (blocking: everything); lane ``W + w``: its
        loads and evictions.
    waiting : ndarray of shape (N,)
        Predecessors of each task that have not started.
    """

    start_s: Floats
    end_s: Floats
    head: Ints
    lane_ptr: Ints
    lane_action: Ints
    waiting: Ints

    @property
    def is_complete(self) -> bool:
        """Whether every action got a time."""
        return not bool(np.isnan(self.end_s).any())


def give_times(
    arrays: InstanceArrays,
    sequences: Sequences,
    stays: Stays,
    *,
    loop: Callable[..., Any] | None = None,
) -> Times:
    """Run the event loop over a plan whose order is consistent.

    Parameters
    ----------
    loop : callable, optional
        The event loop; default: the compiled one. Its plain-Python form serves tests.

    Raises
    ------
    InfeasiblePlanError
        If two tasks that exchange data, or a job's ingress and an entry task, are on
        workers without a link.
    """
    from placement_lab.replay import _kernels

    lane_ptr, lane_action = _lanes(arrays, sequences)
    worker_of = sequences.worker[sequences.action_of_task]
    start_s, end_s, head, waiting = (loop or _kernels.carry_out)(
        _kernels.Order(
            kind=sequences.kind,
            target=sequences.target,
            stay=stays.stay,
            gate=stays.gate,
            lane_ptr=lane_ptr,
            lane_action=lane_action,
        ),
        _kernels.Costs(
            duration_s=_durations(arrays, sequences),
            earliest_s=stays.earliest_s,
            own_bytes=_own_bytes(arrays, sequences),
            size_bytes=_size_bytes(arrays, sequences),
            static_bytes=stays.static_bytes,
        ),
        _kernels.Graph(
            n_before=np.diff(arrays.pred_ptr),
            ready_s=_ready(arrays, sequences, worker_of),
            succ_ptr=arrays.succ_ptr,
            succ_task=arrays.succ_task,
            succ_delay_s=_delays(arrays, worker_of),
            worker_of=worker_of,
        ),
        _kernels.Limits(
            slots=arrays.worker_slots,
            memory_bytes=arrays.worker_memory_bytes,
            initial_bytes=_initial_bytes(arrays),
            own_bytes=_most_own_bytes(arrays, sequences),
            uses=stays.uses,
        ),
        not arrays.overlap,
    )
    return Times(start_s, end_s, head, lane_ptr, lane_action, waiting)


def _lanes(arrays: InstanceArrays, sequences: Sequences) -> tuple[Ints, Ints]:
    n = arrays.n_workers
    if arrays.overlap:
        lane = np.where(
            sequences.kind == Sequences.RUN, sequences.worker, n + sequences.worker
        )
    else:
        lane = sequences.worker
    ptr = np.zeros(2 * n + 1, np.int64)
    np.cumsum(np.bincount(lane, minlength=2 * n), out=ptr[1:])
    return ptr, np.argsort(lane, kind="stable").astype(np.int64)


def _durations(arrays: InstanceArrays, sequences: Sequences) -> Floats:
    kind, target, worker = sequences.kind, sequences.target, sequences.worker
    duration_s = np.empty(len(kind))
    runs, loads = kind == Sequences.RUN, kind == Sequences.LOAD
    evictions = kind == Sequences.EVICT
    rows = arrays.row[target[runs]]
    duration_s[runs] = arrays.row_runtime_s[rows, worker[runs]]
    duration_s[loads] = arrays.load_s[target[loads], worker[loads]]
    duration_s[evictions] = arrays.evict_s[target[evictions]]
    return duration_s


def _own_bytes(arrays: InstanceArrays, sequences: Sequences) -> Ints:
    own = np.zeros(len(sequences.kind), np.int64)
    runs = sequences.kind == Sequences.RUN
    own[runs] = arrays.memory_bytes[sequences.target[runs]]
    return own


def _size_bytes(arrays: InstanceArrays, sequences: Sequences) -> Ints:
    size = np.zeros(len(sequences.kind), np.int64)
    others = sequences.kind != Sequences.RUN
    size[others] = arrays.model_size_bytes[sequences.target[others]]
    return size


def _initial_bytes(arrays: InstanceArrays) -> Ints:
    total = np.concatenate(
        [[0], np.cumsum(arrays.model_size_bytes[arrays.resident_model])]
    )
    return np.asarray(np.diff(total[arrays.resident_ptr]), np.int64)


def _most_own_bytes(arrays: InstanceArrays, sequences: Sequences) -> Ints:
    most = np.zeros(arrays.n_workers, np.int64)
    np.maximum.at(most, sequences.worker, _own_bytes(arrays, sequences))
    return most * arrays.worker_slots


def _ready(arrays: InstanceArrays, sequences: Sequences, worker_of: Ints) -> Floats:
    """Return when each task may start at its worker, predecessors apart (R5, R6)."""
    ingress = arrays.job_ingress[arrays.job]
    nothing_yet = np.full(arrays.n_tasks, -np.inf)
    ready_s = arrivals_s(arrays, worker_of, nothing_yet)
    unreachable = np.flatnonzero(np.isinf(ready_s))
    if unreachable.size:
        task = int(unreachable[0])
        place = sequences.place(arrays, int(sequences.action_of_task[task]))
        source = arrays.worker_ids[int(ingress[task])]
        raise InfeasiblePlanError(
            f"{place}: no link leads here from the job's ingress {source!r}; place the "
            "task on a linked worker"
        )
    return ready_s


def _delays(arrays: InstanceArrays, worker_of: Ints) -> Floats:
    """Return the transfer time of every edge of every job (R5)."""
    src = np.repeat(np.arange(arrays.n_tasks), np.diff(arrays.succ_ptr))
    dst, edge = arrays.succ_task, arrays.succ_edge
    v, w = worker_of[src], worker_of[dst]
    delay_s = edge_delays_s(arrays, edge, v, w)
    missing = np.flatnonzero(np.isinf(delay_s))
    if missing.size:
        e = int(missing[0])
        names, workers = arrays.task_names, arrays.worker_ids
        raise InfeasiblePlanError(
            f"worker {workers[w[e]]!r}, run {names[dst[e]]}: no link leads here from "
            f"worker {workers[v[e]]!r} of its predecessor {names[src[e]]!r}; place "
            "both on one worker, or on linked ones"
        )
    return delay_s
