"""`RoundRobin`: workers take turns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from placement_lab.schedulers._online import OnlineScheduler

if TYPE_CHECKING:
    from placement_lab.policy import Profile, View

__all__ = ["RoundRobin"]


class RoundRobin(OnlineScheduler):
    """Give each task to the next worker in declared order that can run it.

    Parameters
    ----------
    evict : str
        Eviction policy of the workers.
    """

    name = "round_robin"

    def __init__(self, *, evict: str = "lru") -> None:
        self.evict = evict
        self._next = 0

    def begin(self, profile: Profile, seed: int) -> None:
        """Start with the first worker."""
        del profile, seed
        self._next = 0

    def on_job(self, job: int, view: View) -> list[int]:
        """Deal out the tasks in declared order."""
        first, last = view.profile.job_ptr[job : job + 2]
        plan = []
        for task in range(first, last):
            workers = view.workers_for(task)
            worker = next((w for w in workers if w >= self._next), workers[0])
            self._next = (worker + 1) % view.profile.n_workers
            plan.append(worker)
        return plan
