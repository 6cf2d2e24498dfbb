"""When data arrives: rule R5 for a whole placement at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from placement_lab.problem.arrays import InstanceArrays

__all__ = ["arrivals_s", "edge_delays_s"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


def edge_delays_s(
    arrays: InstanceArrays, edge: Ints, src_worker: Ints, dst_worker: Ints
) -> Floats:
    """Return the transfer times of edges between given workers.

    Parameters
    ----------
    arrays : InstanceArrays
    edge : ndarray of shape (E,)
        Template edges.
    src_worker, dst_worker : ndarray of shape (E,)

    Returns
    -------
    ndarray of shape (E,)
        In seconds; 0 on the same worker, inf without a link.
    """
    own_s = arrays.edge_transfer_s[edge]
    speed = arrays.link_bandwidth_bytes_per_s[src_worker, dst_worker]
    latency_s = arrays.link_latency_s[src_worker, dst_worker]
    by_link_s = latency_s + arrays.edge_bytes[edge] / speed
    apart_s = np.where(np.isnan(own_s), by_link_s, own_s)
    return np.asarray(np.where(src_worker == dst_worker, 0.0, apart_s), np.float64)


def arrivals_s(arrays: InstanceArrays, worker: Ints, end_s: Floats) -> Floats:
    """Return when each task is released and all its inputs are at its worker.

    Parameters
    ----------
    arrays : InstanceArrays
    worker : ndarray of shape (N,)
        Where each task runs.
    end_s : ndarray of shape (N,)
        When each task ends; 0 for all gives the entry tasks' times alone.

    Returns
    -------
    ndarray of shape (N,)
        inf where a link is missing.
    """
    ready_s: Floats = arrays.release_s.copy()
    ingress = arrays.job_ingress[arrays.job]
    entry = np.diff(arrays.pred_ptr) == 0
    moved = np.flatnonzero(entry & (ingress >= 0) & (ingress != worker))
    own_s = arrays.row_input_transfer_s[arrays.row[moved]]
    latency_s = arrays.link_latency_s[ingress[moved], worker[moved]]
    speed = arrays.link_bandwidth_bytes_per_s[ingress[moved], worker[moved]]
    by_link_s = latency_s + arrays.row_input_bytes[arrays.row[moved]] / speed
    ready_s[moved] += np.where(np.isnan(own_s), by_link_s, own_s)
    dst = np.repeat(np.arange(arrays.n_tasks), np.diff(arrays.pred_ptr))
    src = arrays.pred_task
    delay_s = edge_delays_s(arrays, arrays.pred_edge, worker[src], worker[dst])
    np.maximum.at(ready_s, dst, end_s[src] + delay_s)
    return ready_s
