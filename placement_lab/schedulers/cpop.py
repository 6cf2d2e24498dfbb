"""`Cpop`: critical path on a processor.

References
----------
H. Topcuoglu, S. Hariri, M.-Y. Wu: Performance-effective and low-complexity task
scheduling for heterogeneous computing. IEEE TPDS 13(3), 2002, doi:10.1109/71.993206,
section 4.2.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import numpy.typing as npt

from placement_lab.schedulers._finish import to_schedule
from placement_lab.schedulers._insertion import place
from placement_lab.schedulers.ranks import downward_rank_s, upward_rank_s

if TYPE_CHECKING:
    from placement_lab.problem import Instance, InstanceArrays
    from placement_lab.schedule import Schedule
    from placement_lab.schedulers._planning import Placement

__all__ = ["Cpop"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Cpop:
    """CPoP: one worker takes the critical path, the rest goes where it ends first.

    Blind to models, memory and residency; all jobs are one DAG, so one critical path.
    Its worker is the one that can run most of it, then the one that does so fastest.

    Parameters
    ----------
    evict : str
        Eviction policy for the loads that are added.
    """

    evict: str = "lru"

    name: ClassVar[str] = "cpop"

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
        """Return the placement alone, with the times that CPoP itself believes in."""
        arrays = instance.arrays
        priority = upward_rank_s(instance) + downward_rank_s(instance)
        path = critical_path(arrays, priority)
        wanted = np.full(arrays.n_tasks, -1)
        if path:
            wanted[path] = _worker_for(arrays, path)
        return place(arrays, priority, wanted=wanted)


def critical_path(arrays: InstanceArrays, priority: Floats) -> list[int]:
    """Return the tasks of one longest path, entry first; ties to the lowest index.

    Parameters
    ----------
    arrays : InstanceArrays
    priority : ndarray of shape (N,)
        Upward plus downward rank: the longest way through each task.
    """
    entries = np.flatnonzero(np.diff(arrays.pred_ptr) == 0)
    if not len(entries):
        return []
    path = [int(entries[np.argmax(priority[entries])])]
    while True:
        first, last = arrays.succ_ptr[path[-1]], arrays.succ_ptr[path[-1] + 1]
        if first == last:
            return path
        successors = arrays.succ_task[first:last]
        path.append(int(successors[np.argmax(priority[successors])]))


def _worker_for(arrays: InstanceArrays, path: list[int]) -> int:
    runtimes = arrays.row_runtime_s[arrays.row[path]]
    able = np.isfinite(runtimes)
    total = np.where(able, runtimes, 0.0).sum(axis=0)
    return int(np.lexsort((total, -able.sum(axis=0)))[0])
