"""`Jit`: decide just in time, when a task is ready."""

from __future__ import annotations

from typing import TYPE_CHECKING

from placement_lab.schedulers._online import OnlineScheduler
from placement_lab.schedulers.hashing import hashed_plan

if TYPE_CHECKING:
    from placement_lab.policy import Profile, View

__all__ = ["Jit"]


class Jit(OnlineScheduler):
    """Keep a hashed plan while the planned worker is idle; else wait and fetch least.

    A task whose planned worker has something to do goes, once it is ready, to the
    worker with the least sum of queue wait and fetch time of its model. A join is
    decided by the worker that gathered its inputs; if it moves, they travel once more.
    Entry tasks keep the plan.

    Parameters
    ----------
    evict : str
        Eviction policy of the workers.

    References
    ----------
    .. [1] Y. Yang et al., "Compass: A Decentralized Scheduler for Latency-Sensitive ML
       Workflows", arXiv 2402.17652, baselines.
    """

    name = "jit"

    def __init__(self, *, evict: str = "lru") -> None:
        self.evict = evict
        self._seed = 0

    def begin(self, profile: Profile, seed: int) -> None:
        """Remember the seed."""
        del profile
        self._seed = seed

    def on_job(self, job: int, view: View) -> list[int]:
        """Place every task by its name, for the time being."""
        return hashed_plan(job, view, self._seed)

    def on_task_end(
        self, task: int, successor: int, planned_worker: int, view: View
    ) -> int:
        """Decide for a task that is ready."""
        del task
        return _decide(successor, planned_worker, view)

    def on_gathered(self, task: int, worker: int, view: View) -> int:
        """Decide for a join that is ready."""
        return _decide(task, worker, view)


def _decide(task: int, planned_worker: int, view: View) -> int:
    if view.queue_wait_at_s(planned_worker) <= 0.0:
        return planned_worker
    profile = view.profile
    model = profile.row_model[profile.task_row[task]]
    waits_s, coming = view.queue_wait_s(), view.expected_bits()
    best, best_score = planned_worker, float("inf")
    for w in view.workers_for(task):
        score = waits_s[w]
        if model >= 0 and not coming[w] >> model & 1:
            score += profile.load_s[model][w]
        if score < best_score:
            best, best_score = w, score
    return best
