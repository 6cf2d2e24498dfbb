"""`Profile`: the costs of an instance as a policy knows them beforehand.

Everything is numbered as in `placement_lab.problem.InstanceArrays` and held in plain
tuples, which Python reads faster than arrays, and which nobody can change.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from placement_lab.problem import InstanceArrays

__all__ = ["Profile"]

Floats = tuple[float, ...]
Ints = tuple[int, ...]
Neighbours = tuple[tuple[int, int], ...]


class Profile:
    """Costs of an instance, as far as they are known beforehand; seconds and bytes.

    What is the same for all jobs of a workflow is stored per *row*, a task of a
    workflow; ``task_row[task]`` leads there. The tasks of job ``j`` are ``job_ptr[j]``
    to ``job_ptr[j + 1] - 1``, their rows follow one another likewise.

    Parameters
    ----------
    arrays : InstanceArrays

    Attributes
    ----------
    n_workers : int
    worker_memory_bytes, model_size_bytes : tuple of int
    load_s : tuple of tuple of float
        By model and worker; inf where it cannot be loaded.
    evict_s : tuple of float
        By model.
    runtime_s : tuple of tuple of float
        By row and worker; inf where the worker cannot run the task.
    eligible : tuple of tuple of int
        By row: the workers that can run the task, lowest first.
    row_model, row_memory_bytes : tuple of int
        Model (-1: none) and own memory of each row.
    row_preds, row_succs : tuple of tuple of (int, int)
        Neighbours of each row: distance to the neighbour's row (its task is as far from
        the task), and the edge between them.
    edge_flat_s : tuple of float or None
        Transfer time of each edge where it is the same for all pairs of workers.
    task_row, task_job, task_release_s, job_ptr, job_ingress : tuple
    """

    def __init__(self, arrays: InstanceArrays) -> None:
        self._arrays = arrays
        self.n_workers = arrays.n_workers
        self.worker_memory_bytes: Ints = tuple(arrays.worker_memory_bytes.tolist())
        self.model_size_bytes: Ints = tuple(arrays.model_size_bytes.tolist())
        self.load_s = _table(arrays.load_s)
        self.evict_s: Floats = tuple(arrays.evict_s.tolist())
        self.runtime_s = _table(arrays.row_runtime_s)
        self.eligible = tuple(
            tuple(np.flatnonzero(able).tolist())
            for able in np.isfinite(arrays.row_runtime_s)
        )
        self.task_row: Ints = tuple(arrays.row.tolist())
        self.task_job: Ints = tuple(arrays.job.tolist())
        self.task_release_s: Floats = tuple(arrays.release_s.tolist())
        self.job_ptr: Ints = tuple(arrays.job_ptr.tolist())
        self.job_ingress: Ints = tuple(arrays.job_ingress.tolist())
        self._set_rows()
        self._set_transfers()

    @property
    def task_names(self) -> tuple[str, ...]:
        """Full names ``job/task`` of all tasks."""
        return self._arrays.task_names

    def _set_rows(self) -> None:
        """Read what belongs to a row off the first task of that row."""
        arrays = self._arrays
        n_rows = len(self.runtime_s)
        model, own, position = [-1] * n_rows, [0] * n_rows, [0] * n_rows
        preds: list[Neighbours] = [()] * n_rows
        succs: list[Neighbours] = [()] * n_rows
        place = np.empty(arrays.n_tasks, np.int64)
        place[arrays.topological] = np.arange(arrays.n_tasks)
        rows, firsts = np.unique(arrays.row, return_index=True)
        for row, task in zip(rows.tolist(), firsts.tolist(), strict=True):
            model[row] = int(arrays.model[task])
            own[row] = int(arrays.memory_bytes[task])
            position[row] = int(place[task])
            a, b = arrays.pred_ptr[task : task + 2].tolist()
            preds[row] = _neighbours(arrays.pred_task, arrays.pred_edge, a, b, task)
            a, b = arrays.succ_ptr[task : task + 2].tolist()
            succs[row] = _neighbours(arrays.succ_task, arrays.succ_edge, a, b, task)
        self.row_model: Ints = tuple(model)
        self.row_memory_bytes: Ints = tuple(own)
        self.row_position: Ints = tuple(position)
        self.row_preds = tuple(preds)
        self.row_succs = tuple(succs)

    def _set_transfers(self) -> None:
        arrays = self._arrays
        off_diagonal = ~np.eye(arrays.n_workers, dtype=bool)
        latency = arrays.link_latency_s[off_diagonal]
        speed = arrays.link_bandwidth_bytes_per_s[off_diagonal]
        self.is_linked = bool(np.isfinite(latency).all())
        is_flat = latency.size > 0 and bool(
            self.is_linked
            and (latency == latency[0]).all()
            and (speed == speed[0]).all()
        )
        flat = (float(latency[0]), float(speed[0])) if is_flat else None
        self._latency_s = _table(arrays.link_latency_s)
        self._speed = _table(arrays.link_bandwidth_bytes_per_s)
        self._edge_bytes: Floats = tuple(arrays.edge_bytes.tolist())
        self._input_bytes: Floats = tuple(arrays.row_input_bytes.tolist())
        self.edge_flat_s = _flat(self._edge_bytes, arrays.edge_transfer_s, flat)
        self.input_flat_s = _flat(self._input_bytes, arrays.row_input_transfer_s, flat)
        # Means over the pairs that have a link, for upward ranks.
        pairs = off_diagonal & np.isfinite(arrays.link_latency_s)
        mean_latency = (
            float(arrays.link_latency_s[pairs].mean()) if pairs.any() else 0.0
        )
        per_byte = arrays.link_bandwidth_bytes_per_s[pairs]
        mean_per_byte = float((1.0 / per_byte).mean()) if pairs.any() else 0.0
        own = arrays.edge_transfer_s
        mean = np.where(
            np.isnan(own), mean_latency + arrays.edge_bytes * mean_per_byte, own
        )
        self.edge_mean_s: Floats = tuple(mean.tolist())

    def transfer_s(self, edge: int, src: int, dst: int) -> float:
        """Return an edge's transfer time between two workers; inf without a link."""
        if src == dst:
            return 0.0
        flat = self.edge_flat_s[edge]
        if flat is not None:
            return flat
        size = self._edge_bytes[edge]
        return self._latency_s[src][dst] + size / self._speed[src][dst]

    def input_transfer_s(self, row: int, src: int, dst: int) -> float:
        """Return the transfer time of a task's input from an ingress (-1: none)."""
        if src in (-1, dst):
            return 0.0
        flat = self.input_flat_s[row]
        if flat is not None:
            return flat
        size = self._input_bytes[row]
        return self._latency_s[src][dst] + size / self._speed[src][dst]


def _table(array: Any) -> tuple[Floats, ...]:
    return tuple(tuple(line) for line in array.tolist())


def _neighbours(tasks: Any, edges: Any, a: int, b: int, task: int) -> Neighbours:
    pairs = zip((tasks[a:b] - task).tolist(), edges[a:b].tolist(), strict=True)
    return tuple(pairs)


def _flat(
    sizes: Floats, own: Any, link: tuple[float, float] | None
) -> tuple[float | None, ...]:
    """Return times that hold for all pairs of workers: an own one, or equal links."""
    flat: list[float | None] = []
    for size, own_s in zip(sizes, own.tolist(), strict=True):
        if not math.isnan(own_s):
            flat.append(own_s)
        else:
            flat.append(None if link is None else link[0] + size / link[1])
    return tuple(flat)
