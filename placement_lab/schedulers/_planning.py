"""What list schedulers plan with: graph, runtimes, transfers, and their means.

`PlanningInput` holds the columns of `InstanceArrays` that a planner reads, as a named
tuple, because compiled kernels take one. Models and memory are not in it.
"""

from __future__ import annotations

from math import isnan
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from placement_lab.problem import InstanceArrays

__all__ = [
    "Placement",
    "PlanningInput",
    "inputs_ready_s",
    "mean_runtime_s",
    "mean_transfer_s",
    "planning_input",
]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


class PlanningInput(NamedTuple):
    """Columns of `InstanceArrays`, named as there; times in seconds.

    ``ingress`` is per task, ``lane_ptr`` counts the slots of the workers before each,
    and ``has_empty_runs`` says whether some task takes no time.
    """

    row: Ints
    row_runtime_s: Floats
    release_s: Floats
    ingress: Ints
    row_input_bytes: Floats
    row_input_transfer_s: Floats
    pred_ptr: Ints
    pred_task: Ints
    pred_edge: Ints
    succ_ptr: Ints
    succ_task: Ints
    edge_bytes: Floats
    edge_transfer_s: Floats
    link_latency_s: Floats
    link_bandwidth_bytes_per_s: Floats
    lane_ptr: Ints
    has_empty_runs: bool


class Placement(NamedTuple):
    """Where and when a planner puts the tasks; each of shape (N,)."""

    worker: Ints
    start_s: Floats
    end_s: Floats


def planning_input(arrays: InstanceArrays) -> PlanningInput:
    """Return what a planner reads of an instance."""
    lane_ptr = np.zeros(arrays.n_workers + 1, np.int64)
    np.cumsum(arrays.worker_slots, out=lane_ptr[1:])
    return PlanningInput(
        row=arrays.row,
        row_runtime_s=arrays.row_runtime_s,
        release_s=arrays.release_s,
        ingress=arrays.job_ingress[arrays.job],
        row_input_bytes=arrays.row_input_bytes,
        row_input_transfer_s=arrays.row_input_transfer_s,
        pred_ptr=arrays.pred_ptr,
        pred_task=arrays.pred_task,
        pred_edge=arrays.pred_edge,
        succ_ptr=arrays.succ_ptr,
        succ_task=arrays.succ_task,
        edge_bytes=arrays.edge_bytes,
        edge_transfer_s=arrays.edge_transfer_s,
        link_latency_s=arrays.link_latency_s,
        link_bandwidth_bytes_per_s=arrays.link_bandwidth_bytes_per_s,
        lane_ptr=lane_ptr,
        has_empty_runs=bool((arrays.row_runtime_s == 0).any()),
    )


def mean_runtime_s(arrays: InstanceArrays) -> Floats:
    """Return each task's mean runtime over the workers that can run it; shape (N,)."""
    runtimes = arrays.row_runtime_s
    able = np.isfinite(runtimes)
    total = np.where(able, runtimes, 0.0).sum(axis=1)
    return (total / np.maximum(able.sum(axis=1), 1))[arrays.row]


def mean_transfer_s(arrays: InstanceArrays) -> Floats:
    """Return each template edge's mean transfer time; shape (T,).

    Over the distinct pairs of workers that have a link, or the edge's own time; zero
    where nothing can ever be sent (one worker, or no links).
    """
    pairs = np.isfinite(arrays.link_latency_s)
    np.fill_diagonal(pairs, val=False)
    latency_s = per_byte_s = 0.0
    if pairs.any():
        latency_s = float(arrays.link_latency_s[pairs].mean())
        per_byte_s = float((1.0 / arrays.link_bandwidth_bytes_per_s[pairs]).mean())
    own = arrays.edge_transfer_s
    linked = latency_s + arrays.edge_bytes * per_byte_s
    if arrays.n_workers < 2:
        return np.zeros_like(own)
    return np.where(np.isnan(own), linked, own)


def inputs_ready_s(problem: PlanningInput, task: int, placed: Placement) -> Floats:
    """Return when all inputs of a task are at each worker; inf without a link (R5).

    Returns
    -------
    ndarray of shape (W,)
    """
    release_s = problem.release_s[task]
    first, last = problem.pred_ptr[task], problem.pred_ptr[task + 1]
    if first == last:
        return np.asarray(release_s + _input_transfer_s(problem, task))
    ready_s = np.full(len(problem.lane_ptr) - 1, release_s)
    for k in range(first, last):
        pred, edge = problem.pred_task[k], problem.pred_edge[k]
        moved_s = _moved_s(
            problem,
            int(placed.worker[pred]),
            float(problem.edge_bytes[edge]),
            float(problem.edge_transfer_s[edge]),
        )
        np.maximum(ready_s, placed.end_s[pred] + moved_s, out=ready_s)
    return ready_s


def _moved_s(
    problem: PlanningInput, src: int, size_bytes: float, own_s: float
) -> Floats:
    """Return the transfer time from a worker to each one; its own is 0."""
    if isnan(own_s):
        speed = problem.link_bandwidth_bytes_per_s[src]
        return problem.link_latency_s[src] + size_bytes / speed
    moved_s = np.full(len(problem.lane_ptr) - 1, own_s)
    moved_s[src] = 0.0
    return moved_s


def _input_transfer_s(problem: PlanningInput, task: int) -> Floats:
    ingress, row = int(problem.ingress[task]), problem.row[task]
    if ingress < 0:
        return np.zeros(len(problem.lane_ptr) - 1)
    return _moved_s(
        problem,
        ingress,
        float(problem.row_input_bytes[row]),
        float(problem.row_input_transfer_s[row]),
    )
