"""Upward and downward ranks: how much work lies after, and before, each task.

References
----------
H. Topcuoglu, S. Hariri, M.-Y. Wu: Performance-effective and low-complexity task
scheduling for heterogeneous computing. IEEE TPDS 13(3), 2002, doi:10.1109/71.993206,
equations 8 to 10.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from placement_lab.schedulers._planning import mean_runtime_s, mean_transfer_s

if TYPE_CHECKING:
    from placement_lab.problem import Instance

__all__ = ["downward_rank_s", "longest_path_readable", "upward_rank_s"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


def upward_rank_s(instance: Instance) -> Floats:
    """Return the upward rank of every task, in seconds.

    The task's mean runtime over the workers that can run it, plus the largest sum of
    mean transfer time (over distinct pairs of linked workers) and rank of a successor.

    Parameters
    ----------
    instance : Instance

    Returns
    -------
    ndarray of shape (N,)
        In the order of ``instance.arrays``.
    """
    from placement_lab.schedulers._kernels import longest_path_s

    arrays = instance.arrays
    return longest_path_s(
        arrays.topological[::-1].copy(),
        arrays.succ_ptr,
        arrays.succ_task,
        mean_transfer_s(arrays)[arrays.succ_edge],
        mean_runtime_s(arrays),
    )


def downward_rank_s(instance: Instance) -> Floats:
    """Return the downward rank of every task, in seconds: 0 for entry tasks.

    The largest sum of rank, mean runtime and mean transfer time of a predecessor.

    Parameters
    ----------
    instance : Instance

    Returns
    -------
    ndarray of shape (N,)
        In the order of ``instance.arrays``.
    """
    from placement_lab.schedulers._kernels import longest_path_s

    arrays = instance.arrays
    return longest_path_s(
        arrays.topological,
        arrays.pred_ptr,
        arrays.pred_task,
        mean_transfer_s(arrays)[arrays.pred_edge]
        + mean_runtime_s(arrays)[arrays.pred_task],
        np.zeros(arrays.n_tasks),
    )


def longest_path_readable(
    order: Ints, ptr: Ints, neighbour: Ints, hop_s: Floats, own_s: Floats
) -> Floats:
    """Return the longest way from each task over its neighbours.

    Parameters
    ----------
    order : ndarray of shape (N,)
        Every task after its neighbours.
    ptr, neighbour : CSR over tasks
    hop_s : ndarray, one per entry of ``neighbour``
        What the step to that neighbour adds.
    own_s : ndarray of shape (N,)
        What the task itself adds.

    Returns
    -------
    ndarray of shape (N,)
    """
    longest = np.zeros(len(order))
    for task in order.tolist():
        steps = range(ptr[task], ptr[task + 1])
        ways = [hop_s[k] + longest[neighbour[k]] for k in steps]
        longest[task] = own_s[task] + max(ways, default=0.0)
    return longest
