"""One scheduler on one instance, judged by the referee."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from placement_lab.compare.results import Row
from placement_lab.completion import plan_of
from placement_lab.errors import PlacementError, RefereeError
from placement_lab.metrics import evaluate, objective_value
from placement_lab.replay import replay
from placement_lab.verify import verify

if TYPE_CHECKING:
    from placement_lab.plan import Plan
    from placement_lab.problem import Instance
    from placement_lab.schedule import Schedule

__all__ = ["BestKnown", "make_row"]

BOUND_SLACK = 1e-9
"""What rounding may do to an objective and its bound, absolute and relative."""


class BestKnown:
    """The best valid schedule seen so far of one instance.

    Parameters
    ----------
    instance : Instance
    objective_name : str
    """

    def __init__(self, instance: Instance, objective_name: str) -> None:
        self.instance = instance
        self.objective_name = objective_name
        self.objective: float | None = None
        self.schedule: Schedule | None = None
        self.who = ""

    def offer(self, schedule: Schedule, *, who: str = "a schedule") -> float:
        """Take a schedule if it is valid and better; return its objective.

        Raises
        ------
        RefereeError
            If it is not valid: what is offered here was made by this package.
        """
        found = verify(self.instance, schedule)
        if found:
            raise RefereeError(
                f"{who} breaks {len(found)} rules, the first: {found[0].message}; "
                "this is a bug, please report it with the instance"
            )
        return self.offer_valid(schedule, who=who)

    def offer_valid(self, schedule: Schedule, *, who: str) -> float:
        """Do the same with a schedule that the referee has passed already."""
        value = objective_value(self.instance, schedule, self.objective_name)
        if self.objective is None or value < self.objective:
            self.objective, self.schedule, self.who = value, schedule, who
        return value

    def plan(self) -> Plan | None:
        """Return the decisions of the best schedule."""
        return None if self.schedule is None else plan_of(self.instance, self.schedule)

    def refuse_below(self, bound: float | None) -> None:
        """Raise `RefereeError` if the best schedule is better than a proven bound."""
        if bound is None or self.objective is None:
            return
        slack = BOUND_SLACK * max(1.0, abs(bound))
        if self.objective < bound - slack:
            raise RefereeError(
                f"{self.who}: {self.objective_name} {self.objective!r} is below the "
                f"proven bound {bound!r}, and the referee finds no fault with the "
                "schedule; this is a bug, please report it with the instance"
            )


def make_row(known: BestKnown, name: str, seed: int) -> Row:
    """Run a scheduler and judge what it made; without gap and excess, as yet.

    A scheduler that cannot handle the instance, or whose schedule breaks the rules,
    gives an error row.
    """
    from placement_lab.schedulers import get_scheduler

    started = time.perf_counter()
    try:
        schedule = get_scheduler(name).schedule(known.instance, seed=seed)
    except PlacementError as error:
        seconds = time.perf_counter() - started
        return Row(name, seconds=seconds, error=str(error))
    seconds = time.perf_counter() - started
    violations = tuple(verify(known.instance, schedule))
    if violations:
        return Row(
            name,
            seconds=seconds,
            violations=violations,
            error=f"breaks the rules: {violations[0].message}",
            schedule=schedule,
        )
    value = known.offer_valid(schedule, who=name)
    return Row(
        name,
        value,
        _replayed(known, schedule, name),
        metrics=evaluate(known.instance, schedule),
        seconds=seconds,
        schedule=schedule,
    )


def _replayed(known: BestKnown, schedule: Schedule, name: str) -> float:
    """Return the objective of the same decisions, left-shifted (rule R7)."""
    shifted = replay(
        known.instance,
        plan_of(known.instance, schedule),
        made_by={**schedule.made_by, "replayed": True},
    )
    return known.offer(shifted, who=f"{name}, left-shifted")
