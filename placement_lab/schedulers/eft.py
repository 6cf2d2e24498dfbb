"""`Eft`: list scheduling by earliest finish time, best of several priority rules.

References
----------
M. L. Pinedo: Scheduling, 6th edition, Springer 2022, section 14.1 (priority rules);
that the best of several is kept is ours.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from placement_lab.errors import UnknownNameError
from placement_lab.schedulers._cache_planner import CachePlanner
from placement_lab.schedulers._domains import with_choices
from placement_lab.schedulers._finish import to_schedule
from placement_lab.schedulers.ranks import upward_rank_s

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt

    from placement_lab.problem import Instance
    from placement_lab.schedule import Schedule
    from placement_lab.schedulers._domains import Choices
    from placement_lab.schedulers._planning import Placement

    Floats = npt.NDArray[np.float64]

__all__ = ["RULES", "Eft"]


@dataclass(frozen=True)
class Eft:
    """Appends, task by task, where each ends first, loads counted; tries several rules.

    Time moves on as in a dispatcher: among the tasks that are known when a slot becomes
    free, the first by the rule is placed (ties by index). Each rule's plan is completed
    with each eviction policy and replayed; the best by the objective is returned (ties
    to the earlier rule, then policy).

    Parameters
    ----------
    objective : str
        What is compared; one of `placement_lab.metrics.OBJECTIVES`.
    rules : sequence of str
        Of `RULES`.
    evict : sequence of str, or str
        Eviction policies to try.

    Raises
    ------
    UnknownNameError
        If the objective or a rule is unknown.
    """

    objective: str = "latency"
    rules: tuple[str, ...] = (
        "fifo",
        "upward_rank",
        "shortest_job",
        "least_remaining",
        "least_slack",
    )
    evict: tuple[str, ...] = ("lru", "belady")

    name: ClassVar[str] = "eft"

    def __post_init__(self) -> None:
        from placement_lab.metrics import OBJECTIVES

        for field in ("rules", "evict"):
            value = getattr(self, field)
            many = (value,) if isinstance(value, str) else tuple(value)
            object.__setattr__(self, field, many)
        if self.objective not in OBJECTIVES:
            raise UnknownNameError(
                f"eft: unknown objective {self.objective!r}; "
                f"Available: {', '.join(OBJECTIVES)}"
            )
        unknown = [rule for rule in self.rules if rule not in RULES]
        if unknown or not self.rules or not self.evict:
            shown = repr(unknown[0]) if unknown else "none"
            raise UnknownNameError(
                f"eft: needs rules and eviction policies, got rule {shown}; "
                f"Available: {', '.join(RULES)}"
            )

    def schedule(self, instance: Instance, *, seed: int = 0) -> Schedule:
        """Return the best schedule found; ``seed`` has no effect.

        Raises
        ------
        InfeasiblePlanError
            If links are missing so that no assignment exists (or none was found).
        """
        from placement_lab.metrics import objective_value

        del seed
        best: Schedule | None = None
        best_value = float("inf")
        for rule in self.rules:
            placed = self.plan(instance, rule)
            for evict in self.evict:
                made_by = {
                    "scheduler": self.name,
                    "objective": self.objective,
                    "rule": rule,
                    "evict": evict,
                }
                found = to_schedule(instance, placed, evict=evict, made_by=made_by)
                value = objective_value(instance, found, self.objective)
                if best is None or value < best_value:
                    best, best_value = found, value
        assert best is not None  # there is a rule and a policy
        return best

    def plan(self, instance: Instance, rule: str) -> Placement:
        """Return one rule's placement alone, with estimated times."""
        urgency = RULES[rule](instance).tolist()

        def planner(choices: Choices) -> Placement:
            plan = CachePlanner(instance.arrays, choices, append_only=True)
            _dispatch(plan, urgency)
            return plan.placed

        return with_choices(instance.arrays, planner)


def _dispatch(plan: CachePlanner, urgency: list[float]) -> None:
    """Place all tasks in the order in which a dispatcher would take them up."""
    coming = [(plan.known_s(task), task) for task in plan.entries]
    heapq.heapify(coming)
    here: list[tuple[float, int]] = []
    while coming or here:
        now_s = plan.free_s
        if not here:
            now_s = max(now_s, coming[0][0])
        while coming and coming[0][0] <= now_s:
            task = heapq.heappop(coming)[1]
            heapq.heappush(here, (urgency[task], task))
        if not here:
            continue
        for task in plan.place(heapq.heappop(here)[1]):
            heapq.heappush(coming, (plan.known_s(task), task))


def _fifo(instance: Instance) -> Floats:
    """By the job's release."""
    arrays = instance.arrays
    return arrays.job_release_s[arrays.job]


def _upward_rank(instance: Instance) -> Floats:
    """Longest way to go first."""
    return -upward_rank_s(instance)


def _weight(instance: Instance) -> Floats:
    arrays = instance.arrays
    return np.maximum(arrays.job_weight, 1e-12)[arrays.job]


def _shortest_job(instance: Instance) -> Floats:
    """Least work of the whole job first, per weight."""
    from placement_lab.schedulers._planning import mean_runtime_s

    arrays = instance.arrays
    work_s = np.bincount(arrays.job, mean_runtime_s(arrays), minlength=arrays.n_jobs)
    return work_s[arrays.job] / _weight(instance)


def _least_remaining(instance: Instance) -> Floats:
    """Shortest way to go first, per weight."""
    return upward_rank_s(instance) / _weight(instance)


def _least_slack(instance: Instance) -> Floats:
    """Least time between a deadline and the way to go.

    Without a deadline: twice the job's longest way after its release.
    """
    arrays = instance.arrays
    rank = upward_rank_s(instance)
    longest_s = np.zeros(arrays.n_jobs)
    np.maximum.at(longest_s, arrays.job, rank)
    deadline_s = np.where(
        np.isfinite(arrays.job_deadline_s),
        arrays.job_deadline_s,
        arrays.job_release_s + 2 * longest_s,
    )
    return deadline_s[arrays.job] - rank


RULES: dict[str, Callable[[Instance], Floats]] = {
    "fifo": _fifo,
    "upward_rank": _upward_rank,
    "shortest_job": _shortest_job,
    "least_remaining": _least_remaining,
    "least_slack": _least_slack,
}
"""What each rule puts first: the smallest of these, per task."""
