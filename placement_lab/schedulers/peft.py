"""`Peft`: predict earliest finish time, list scheduling that looks ahead.

References
----------
H. Arabnejad, J. G. Barbosa: List scheduling algorithm for heterogeneous systems by an
optimistic cost table. IEEE TPDS 25(3), 2014, doi:10.1109/TPDS.2013.57, section 4.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import numpy.typing as npt

from placement_lab.schedulers._finish import to_schedule
from placement_lab.schedulers._insertion import place
from placement_lab.schedulers._planning import mean_transfer_s

if TYPE_CHECKING:
    from placement_lab.problem import Instance, InstanceArrays
    from placement_lab.schedule import Schedule
    from placement_lab.schedulers._planning import Placement

__all__ = ["Peft", "optimistic_cost_s"]

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Peft:
    """PEFT: like HEFT, but what comes after a task counts when its worker is chosen.

    Ready tasks go by descending mean optimistic cost, each to the worker where its end
    plus optimistic cost is least, with insertion. Blind to models and residency.

    Parameters
    ----------
    evict : str
        Eviction policy for the loads that are added.
    """

    evict: str = "lru"

    name: ClassVar[str] = "peft"

    def schedule(self, instance: Instance, *, seed: int = 0) -> Schedule:
        """Return the schedule; ``seed`` has no effect.

        Raises
        ------
        InfeasiblePlanError
            If links are missing so that no assignment exists (or none was found).
        """
        del seed
        return to_schedule(
            instance,
            self.plan(instance),
            evict=self.evict,
            made_by={"scheduler": self.name, "evict": self.evict},
        )

    def plan(self, instance: Instance) -> Placement:
        """Return the placement alone, with the times that PEFT itself believes in."""
        arrays = instance.arrays
        costs = optimistic_cost_s(instance)
        able = np.isfinite(arrays.row_runtime_s)[arrays.row] & np.isfinite(costs)
        total = np.where(able, costs, 0.0).sum(axis=1)
        rank = total / np.maximum(able.sum(axis=1), 1)
        return place(arrays, rank, look_ahead_s=costs)


def optimistic_cost_s(instance: Instance) -> Floats:
    """Return the optimistic cost table: the least time from a task's end to the last.

    Parameters
    ----------
    instance : Instance

    Returns
    -------
    ndarray of shape (N, W)
        If the task runs on that worker and every later one on its best; inf where
        missing links rule that out.
    """
    arrays = instance.arrays
    mean_s = mean_transfer_s(arrays)
    linked = np.isfinite(arrays.link_latency_s)
    costs = np.zeros((arrays.n_tasks, arrays.n_workers))
    for task in arrays.topological[::-1].tolist():
        for k in range(arrays.succ_ptr[task], arrays.succ_ptr[task + 1]):
            after = int(arrays.succ_task[k])
            there = costs[after] + arrays.row_runtime_s[arrays.row[after]]
            edge = int(arrays.succ_edge[k])
            moved = _least_after_move(arrays, linked, edge, there) + mean_s[edge]
            np.maximum(costs[task], np.minimum(there, moved), out=costs[task])
    return costs


def _least_after_move(
    arrays: InstanceArrays, linked: npt.NDArray[np.bool_], edge: int, there: Floats
) -> Floats | float:
    """Return the least of ``there`` over the workers that each one can send to."""
    if linked.all() or not np.isnan(arrays.edge_transfer_s[edge]):
        return float(there.min(initial=np.inf))
    return np.asarray(np.where(linked, there[None, :], np.inf).min(axis=1), np.float64)
