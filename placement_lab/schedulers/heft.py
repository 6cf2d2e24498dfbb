"""`Heft`: heterogeneous earliest finish time, the textbook algorithm.

References
----------
H. Topcuoglu, S. Hariri, M.-Y. Wu: Performance-effective and low-complexity task
scheduling for heterogeneous computing. IEEE TPDS 13(3), 2002, doi:10.1109/71.993206,
section 4.1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from placement_lab.schedulers._finish import to_schedule
from placement_lab.schedulers._insertion import place
from placement_lab.schedulers.ranks import upward_rank_s

if TYPE_CHECKING:
    from placement_lab.problem import Instance
    from placement_lab.schedule import Schedule
    from placement_lab.schedulers._planning import Placement

__all__ = ["Heft"]


@dataclass(frozen=True)
class Heft:
    """HEFT with insertion; blind to models, memory and residency.

    All jobs are one DAG, with releases as earliest starts. Tasks go, by descending
    upward rank (ties by index), into the first idle gap of the worker where they end
    first (ties to the first worker). Loads and evictions are added afterwards.

    Parameters
    ----------
    evict : str
        Eviction policy for the loads that are added.
    """

    evict: str = "lru"

    name: ClassVar[str] = "heft"

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
        """Return the placement alone, with the times that HEFT itself believes in."""
        return place(instance.arrays, upward_rank_s(instance))
