"""`HeftStateless`: the weak baseline that the Compass paper calls HEFT.

The list scheduler of Compass without any knowledge of the cluster: every job is planned
as if all workers were idle, held every model and had every input, so that load piles up
on the first ones. Textbook HEFT, with insertion and over all jobs, is something else:
`placement_lab.schedulers.heft`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from placement_lab.schedulers._job_plan import plan_job, planning_order
from placement_lab.schedulers._online import OnlineScheduler
from placement_lab.schedulers.compass import CompassOptions

if TYPE_CHECKING:
    from placement_lab.policy import Profile, View

__all__ = ["HeftStateless"]


class HeftStateless(OnlineScheduler):
    """Plan every job for an idle cluster; never change a plan.

    Parameters
    ----------
    evict : str
        Eviction policy of the workers.

    References
    ----------
    .. [1] Y. Yang et al., "Compass: A Decentralized Scheduler for Latency-Sensitive ML
       Workflows", arXiv 2402.17652, baselines.
    """

    name = "heft_stateless"

    def __init__(self, *, evict: str = "lru") -> None:
        self.evict = evict
        self._plan_options = CompassOptions(
            adjust=False, load_term=False, cache_term=False, entry_transfer=False
        )
        self._orders: dict[int, list[int]] = {}

    def begin(self, profile: Profile, seed: int) -> None:
        """Forget the ranks of another instance."""
        del profile, seed
        self._orders = {}

    def on_job(self, job: int, view: View) -> list[int]:
        """Plan the job as if it were alone."""
        profile, options = view.profile, self._plan_options
        row = profile.task_row[profile.job_ptr[job]]
        if row not in self._orders:
            self._orders[row] = planning_order(profile, job, options)
        return plan_job(job, view, options, self._orders[row]).worker
