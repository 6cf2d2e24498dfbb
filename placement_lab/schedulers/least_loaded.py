"""`LeastLoaded`: join the shortest queue, in seconds of estimated work."""

from __future__ import annotations

from typing import TYPE_CHECKING

from placement_lab.schedulers._online import OnlineScheduler

if TYPE_CHECKING:
    from collections.abc import Sequence

    from placement_lab.policy import View

__all__ = ["LeastLoaded"]


class LeastLoaded(OnlineScheduler):
    """Send each task, when it is ready, to the worker with the least queue wait.

    At a job's arrival every task is planned so, counting the job's own tasks; entry
    tasks and joins keep that plan. Blind to models, except that pending loads are part
    of a queue wait. Ties go to the first declared worker.

    Parameters
    ----------
    evict : str
        Eviction policy of the workers.

    References
    ----------
    .. [1] W. Winston, "Optimality of the Shortest Line Discipline", J. Appl. Probab.
       14(1), 1977, doi:10.2307/3213271: where all tasks are alike it is optimal.
    """

    name = "least_loaded"

    def __init__(self, *, evict: str = "lru") -> None:
        self.evict = evict

    def on_job(self, job: int, view: View) -> list[int]:
        """Plan every task for the worker with the least work."""
        profile = view.profile
        waits_s = view.queue_wait_s()
        first, last = profile.job_ptr[job : job + 2]
        plan = []
        for task in range(first, last):
            worker = _least(view.workers_for(task), waits_s)
            waits_s[worker] += profile.runtime_s[profile.task_row[task]][worker]
            plan.append(worker)
        return plan

    def on_task_end(
        self, task: int, successor: int, planned_worker: int, view: View
    ) -> int:
        """Decide again, now that the task is ready."""
        del task, planned_worker
        return _least(view.workers_for(successor), view.queue_wait_s())


def _least(workers: Sequence[int], waits_s: Sequence[float]) -> int:
    return min(workers, key=waits_s.__getitem__)
