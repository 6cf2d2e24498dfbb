"""`Policy`: the decisions that the online world asks for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Protocol

from placement_lab.policy.view import Telemetry

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from placement_lab.caching import EvictionPolicy
    from placement_lab.policy.profile import Profile
    from placement_lab.policy.view import View

__all__ = ["OnlinePolicy", "Policy"]


class Policy(Protocol):
    """Decides where tasks go. `OnlinePolicy` has all of it but ``on_job``.

    Attributes
    ----------
    name : str
    evict : str or EvictionPolicy
        Names the victims on every worker; ``simulate(evict=...)`` overrides it.
    telemetry : Telemetry
        What workers tell about themselves in its views.
    decides_at : {'end', 'start'}
        Whether ``on_task_end`` is asked when the task has ended, or already at its turn
        (quirk Q12 of the Compass authors' simulator).
    options : mapping
        Options for the ``made_by`` record of schedules, as JSON values.
    """

    @property
    def name(self) -> str:
        """Name, for records and messages."""
        ...

    @property
    def evict(self) -> str | EvictionPolicy:
        """Eviction policy of every worker."""
        ...

    @property
    def telemetry(self) -> Telemetry:
        """What workers tell about themselves."""
        ...

    @property
    def decides_at(self) -> Literal["end", "start"]:
        """When ``on_task_end`` is asked."""
        ...

    @property
    def options(self) -> Mapping[str, Any]:
        """Options for the record."""
        ...

    def begin(self, profile: Profile, seed: int) -> None:
        """Forget every earlier run; a new one starts."""
        ...

    def on_job(self, job: int, view: View) -> Sequence[int]:
        """Return a worker for every task of a job that was just released."""
        ...

    def on_task_end(
        self, task: int, successor: int, planned_worker: int, view: View
    ) -> int:
        """Return the worker of a task whose only predecessor has ended."""
        ...

    def on_gathered(self, task: int, worker: int, view: View) -> int:
        """Return the worker of a join, all of whose inputs are at ``worker``.

        Another worker costs one more hop of its inputs.
        """
        ...


class OnlinePolicy:
    """A policy that keeps its plans; override what should decide otherwise.

    Examples
    --------
    >>> class Lowest(OnlinePolicy):
    ...     name = "lowest"
    ...
    ...     def on_job(self, job, view):
    ...         first, last = view.profile.job_ptr[job : job + 2]
    ...         return [view.workers_for(task)[0] for task in range(first, last)]
    """

    name: str = "policy"
    evict: str | EvictionPolicy = "lru"
    telemetry: Telemetry = Telemetry()
    decides_at: Literal["end", "start"] = "end"

    @property
    def options(self) -> Mapping[str, Any]:
        """No options."""
        return {}

    def begin(self, profile: Profile, seed: int) -> None:
        """Forget nothing, as nothing is remembered."""

    def on_job(self, job: int, view: View) -> Sequence[int]:
        """Return a worker for every task of a job that was just released."""
        raise NotImplementedError

    def on_task_end(
        self, task: int, successor: int, planned_worker: int, view: View
    ) -> int:
        """Keep the plan."""
        del task, successor, view
        return planned_worker

    def on_gathered(self, task: int, worker: int, view: View) -> int:
        """Keep the plan."""
        del task, view
        return worker
