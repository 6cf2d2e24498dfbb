"""`OnlineScheduler`: a policy that makes schedules by being simulated."""

from __future__ import annotations

from typing import TYPE_CHECKING

from placement_lab.policy import OnlinePolicy
from placement_lab.simulator import simulate

if TYPE_CHECKING:
    from placement_lab.problem import Instance
    from placement_lab.schedule import Schedule

__all__ = ["OnlineScheduler"]


class OnlineScheduler(OnlinePolicy):
    """Base of the online schedulers: what they share beside `OnlinePolicy`."""

    def schedule(self, instance: Instance, *, seed: int = 0) -> Schedule:
        """Return what happens when this policy places the jobs as they arrive.

        Parameters
        ----------
        instance : Instance
        seed : int
            For policies that draw random numbers; the others ignore it.
        """
        return simulate(instance, self, seed=seed)
