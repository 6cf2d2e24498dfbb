"""`View`: the cluster as a policy sees it at the moment it decides."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from placement_lab.policy.profile import Profile

__all__ = ["FixedView", "Telemetry", "View"]


@dataclass(frozen=True, slots=True)
class Telemetry:
    """What workers tell about themselves.

    Attributes
    ----------
    running : {'remaining', 'full', 'excluded'}
        How running tasks count in a queue wait: what is left of them, their whole
        runtime, or not at all. The last two are what the Compass authors' C++ code and
        simulator do.
    pending_loads : bool
        Whether a queue wait counts the load in progress and those the queue will need.
    cache : {'now', 'load_first'}
        Whether a worker shows the models it holds; or an eviction and the load that
        needed it together, at the time the load would have ended had it come first, as
        in the Compass authors' simulator.
    """

    running: Literal["remaining", "full", "excluded"] = "remaining"
    pending_loads: bool = True
    cache: Literal["now", "load_first"] = "now"


class View(Protocol):
    """The cluster as a policy sees it when it decides. Lists are copies, by worker.

    Attributes
    ----------
    profile : Profile
        Estimated costs.
    now_s : float
    here : int
        The worker that decides (a job's ingress, or where the task ran); -1: none.
    """

    @property
    def profile(self) -> Profile:
        """Estimated costs."""
        ...

    @property
    def now_s(self) -> float:
        """The time."""
        ...

    @property
    def here(self) -> int:
        """The worker that decides."""
        ...

    def queue_wait_s(self) -> list[float]:
        """Return the estimated wait of a task that joins each worker's queue now."""
        ...

    def queue_wait_at_s(self, worker: int) -> float:
        """Return the same for one worker."""
        ...

    def resident_bits(self) -> list[int]:
        """Return each worker's usable models; bit ``m`` is set for model ``m``."""
        ...

    def expected_bits(self) -> list[int]:
        """Return resident models, those being loaded, and those the queue needs."""
        ...

    def free_bytes(self) -> list[int]:
        """Return the memory of each worker that nothing occupies."""
        ...

    def workers_for(self, task: int) -> Sequence[int]:
        """Return the workers that a task may be placed on, lowest first."""
        ...


@dataclass(frozen=True)
class FixedView:
    """A view made of given numbers, to try a policy without a simulator.

    Attributes
    ----------
    profile, now_s, here
        As in `View`.
    wait_s : sequence of float
        Queue wait of each worker; empty: none waits.
    resident : sequence of int
        Resident models of each worker, as bits; empty: all are cold.
    """

    profile: Profile
    now_s: float = 0.0
    here: int = -1
    wait_s: Sequence[float] = ()
    resident: Sequence[int] = ()

    def queue_wait_s(self) -> list[float]:
        """Return the given waits."""
        return list(self.wait_s) or [0.0] * self.profile.n_workers

    def queue_wait_at_s(self, worker: int) -> float:
        """Return one of the given waits."""
        return self.wait_s[worker] if self.wait_s else 0.0

    def resident_bits(self) -> list[int]:
        """Return the given resident models."""
        return list(self.resident) or [0] * self.profile.n_workers

    def expected_bits(self) -> list[int]:
        """Return the given resident models; nothing else is under way."""
        return self.resident_bits()

    def free_bytes(self) -> list[int]:
        """Return what the given resident models leave free."""
        sizes = self.profile.model_size_bytes
        return [
            memory - sum(size for m, size in enumerate(sizes) if bits >> m & 1)
            for memory, bits in zip(
                self.profile.worker_memory_bytes, self.resident_bits(), strict=True
            )
        ]

    def workers_for(self, task: int) -> Sequence[int]:
        """Return the workers that can run a task."""
        return self.profile.eligible[self.profile.task_row[task]]
