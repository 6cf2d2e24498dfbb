"""The best schedule and the best bound so far, in true time, and their history."""

from __future__ import annotations

import logging
import threading
import time
from typing import TYPE_CHECKING

from placement_lab.completion import plan_of
from placement_lab.errors import PlanError, RefereeError
from placement_lab.metrics import objective_value
from placement_lab.replay import replay
from placement_lab.solvers.result import TracePoint
from placement_lab.units import TIME_TOLERANCE_S, time_slack_s

if TYPE_CHECKING:
    from collections.abc import Callable

    from placement_lab.plan import Plan
    from placement_lab.problem import Instance
    from placement_lab.schedule import Schedule

__all__ = ["Incumbent"]

_log = logging.getLogger(__name__)

MOST_SLACK = 1e-4
"""Largest share of the objective that rounding may explain."""


class Incumbent:
    """Collects candidates and bounds; keeps the best, and watches that bound <= value.

    Parameters
    ----------
    instance : Instance
    objective : str
    on_progress : callable, optional
        Called with a `TracePoint` at every improvement, from the thread that found it.
    """

    def __init__(
        self,
        instance: Instance,
        objective: str,
        on_progress: Callable[[TracePoint], None] | None = None,
    ) -> None:
        self.instance, self.objective = instance, objective
        self.schedule: Schedule | None = None
        self.value: float | None = None
        self.bound: float | None = None
        self.bound_source = "none"
        self.slack = _resolution_s(instance)
        self.trace: list[TracePoint] = []
        self._on_progress = on_progress
        self._started = time.perf_counter()
        self._lock = threading.RLock()

    @property
    def seconds(self) -> float:
        """Wall clock since the beginning."""
        return time.perf_counter() - self._started

    @property
    def allowed_slack(self) -> float:
        """How far apart objective and bound may be and still be called equal."""
        most = MOST_SLACK * abs(self.value or 0.0)
        return max(1e-9, min(self.slack, most))

    @property
    def is_proven(self) -> bool:
        """Whether the best schedule is optimal."""
        if self.value is None or self.bound is None:
            return False
        return self.value - self.bound <= self.allowed_slack

    def offer_plan(self, plan: Plan, who: str) -> bool:
        """Replay a plan in true time; return whether it is the best so far.

        A plan that cannot be carried out is noted and dropped: rounding may have let
        two actions trade places.
        """
        try:
            schedule = replay(self.instance, plan, made_by={"scheduler": who})
        except PlanError as error:
            _log.warning("a plan of %s cannot be carried out: %s", who, error)
            return False
        value = objective_value(self.instance, schedule, self.objective)
        with self._lock:
            if self.value is not None and value >= self.value - time_slack_s(value) / 8:
                return False
            self._check(schedule, who)
            self.schedule, self.value = schedule, value
            self._check_order()
            self._record()
            return True

    def offer_schedule(self, schedule: Schedule, who: str) -> bool:
        """Left-shift a schedule and offer it."""
        return self.offer_plan(plan_of(self.instance, schedule), who)

    def raise_bound(self, bound: float, source: str) -> None:
        """Note a proven lower bound; only better ones count."""
        with self._lock:
            if self.bound is not None and bound <= self.bound:
                return
            self.bound, self.bound_source = bound, source
            self._check_order()
            self._record()

    def _check(self, schedule: Schedule, who: str) -> None:
        from placement_lab.verify import verify

        violations = verify(self.instance, schedule)
        if violations:
            raise RefereeError(
                f"a schedule of {who} breaks rule {violations[0].rule}: "
                f"{violations[0].message} ({len(violations)} violations in all)"
            )

    def _check_order(self) -> None:
        """Hold bound <= objective: equal up to rounding errors, or a bug."""
        if self.value is None or self.bound is None or self.bound <= self.value:
            return
        if self.bound - self.value > 8 * time_slack_s(self.value):
            raise RefereeError(
                f"the bound {self.bound!r} ({self.bound_source}) exceeds the objective "
                f"{self.value!r} of a valid schedule"
            )
        self.bound = self.value

    def _record(self) -> None:
        bound = self.bound
        if self.trace and (self.trace[-1].objective, self.trace[-1].bound) == (
            self.value,
            bound,
        ):
            return
        point = TracePoint(self.seconds, self.value, bound)
        self.trace.append(point)
        if self._on_progress is not None:
            self._on_progress(point)


def _resolution_s(instance: Instance) -> float:
    """Return how finely doubles tell late times apart, where that exceeds 1e-9 s."""
    latest_s = float(instance.arrays.release_s.max(initial=0.0))
    slack_s = time_slack_s(latest_s)
    return slack_s if slack_s > TIME_TOLERANCE_S else 0.0
