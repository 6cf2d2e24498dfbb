"""`HeftCache`: HEFT that knows what a load costs and what is already resident.

References
----------
H. Topcuoglu, S. Hariri, M.-Y. Wu: Performance-effective and low-complexity task
scheduling for heterogeneous computing. IEEE TPDS 13(3), 2002, doi:10.1109/71.993206;
the treatment of models is ours.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from placement_lab.schedulers._cache_planner import CachePlanner
from placement_lab.schedulers._domains import with_choices
from placement_lab.schedulers._finish import to_schedule
from placement_lab.schedulers.ranks import upward_rank_s

if TYPE_CHECKING:
    from placement_lab.problem import Instance
    from placement_lab.schedule import Schedule
    from placement_lab.schedulers._domains import Choices
    from placement_lab.schedulers._planning import Placement

__all__ = ["HeftCache"]


@dataclass(frozen=True)
class HeftCache:
    """HEFT with insertion, where a run waits for the load of its model.

    Ranks are those of HEFT. A task's end on a worker counts the load that its model
    needs there, as early as the copy engine, the memory and rule R6 let it start; the
    planned memory is managed as least-recently-used in the order of planned starts.
    This is an estimate: a run in an earlier gap may change what later ones find.

    Parameters
    ----------
    evict : str
        Eviction policy for the loads of the final plan.
    """

    evict: str = "lru"

    name: ClassVar[str] = "heft_cache"

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
        """Return the placement alone, with estimated times."""
        rank = upward_rank_s(instance).tolist()

        def planner(choices: Choices) -> Placement:
            plan = CachePlanner(instance.arrays, choices, append_only=False)
            ready = [(-rank[task], task) for task in plan.entries]
            heapq.heapify(ready)
            while ready:
                for task in plan.place(heapq.heappop(ready)[1]):
                    heapq.heappush(ready, (-rank[task], task))
            return plan.placed

        return with_choices(instance.arrays, planner)
