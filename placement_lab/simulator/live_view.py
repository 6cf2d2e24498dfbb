"""`LiveView`: a view of the workers as they are now, without copying anything."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from placement_lab.policy import Profile
    from placement_lab.simulator.reach import Reach
    from placement_lab.simulator.worker import WorkerState

__all__ = ["LiveView"]


class LiveView:
    """Fresh answers to a policy's questions; see `placement_lab.policy.View`.

    Attributes
    ----------
    profile : Profile
    now_s : float
    here : int
    """

    __slots__ = ("_reach", "_workers", "here", "now_s", "profile")

    def __init__(
        self, profile: Profile, workers: Sequence[WorkerState], reach: Reach
    ) -> None:
        self.profile = profile
        self.now_s = 0.0
        self.here = -1
        self._workers = workers
        self._reach = reach

    def queue_wait_s(self) -> list[float]:
        """Return the estimated wait of a task that joins each worker's queue now."""
        now_s = self.now_s
        return [worker.wait_s(now_s) for worker in self._workers]

    def queue_wait_at_s(self, worker: int) -> float:
        """Return the same for one worker."""
        return self._workers[worker].wait_s(self.now_s)

    def resident_bits(self) -> list[int]:
        """Return each worker's usable models, as bits."""
        now_s = self.now_s
        return [worker.memory.shown(now_s) for worker in self._workers]

    def expected_bits(self) -> list[int]:
        """Return resident models, those being loaded, and those the queue needs."""
        return [worker.memory.expected for worker in self._workers]

    def free_bytes(self) -> list[int]:
        """Return the memory of each worker that nothing occupies."""
        now_s = self.now_s
        return [worker.memory.shown_free_bytes(now_s) for worker in self._workers]

    def workers_for(self, task: int) -> Sequence[int]:
        """Return the workers that a task may be placed on, lowest first."""
        return self._reach.workers_for(task)
