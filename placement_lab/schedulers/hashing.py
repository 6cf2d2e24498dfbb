"""`Hash`: place every task by a hash of its name, blind to everything else."""

from __future__ import annotations

from hashlib import blake2b
from typing import TYPE_CHECKING

from placement_lab.schedulers._online import OnlineScheduler

if TYPE_CHECKING:
    from placement_lab.policy import Profile, View

__all__ = ["Hash", "hashed_plan"]


class Hash(OnlineScheduler):
    """Spread tasks evenly, without any state; never change a plan.

    Parameters
    ----------
    evict : str
        Eviction policy of the workers.

    References
    ----------
    .. [1] Y. Yang et al., "Compass: A Decentralized Scheduler for Latency-Sensitive ML
       Workflows", arXiv 2402.17652, baselines.
    """

    name = "hash"

    def __init__(self, *, evict: str = "lru") -> None:
        self.evict = evict
        self._seed = 0

    def begin(self, profile: Profile, seed: int) -> None:
        """Remember the seed."""
        del profile
        self._seed = seed

    def on_job(self, job: int, view: View) -> list[int]:
        """Place every task by its name."""
        return hashed_plan(job, view, self._seed)


def hashed_plan(job: int, view: View, seed: int) -> list[int]:
    """Return each task's worker: the hash of ``seed/job/task`` modulo its workers."""
    names = view.profile.task_names
    first, last = view.profile.job_ptr[job : job + 2]
    plan = []
    for task in range(first, last):
        workers = view.workers_for(task)
        digest = blake2b(f"{seed}/{names[task]}".encode(), digest_size=8).digest()
        plan.append(workers[int.from_bytes(digest, "big") % len(workers)])
    return plan
