"""A first schedule: the best of the heuristics and of what the user gives."""

from __future__ import annotations

import logging
from functools import cache
from typing import TYPE_CHECKING

from placement_lab import registry
from placement_lab.completion import plan_of
from placement_lab.errors import PlacementError, PlanError, ScheduleError
from placement_lab.plan import Plan
from placement_lab.schedulers import get_scheduler

if TYPE_CHECKING:
    from placement_lab.problem import Instance
    from placement_lab.schedule import Schedule
    from placement_lab.schedulers import Scheduler
    from placement_lab.solvers.incumbent import Incumbent

__all__ = ["HEURISTICS", "warm_start"]

_log = logging.getLogger(__name__)

HEURISTICS = ("eft", "heft_cache", "min_min", "heft", "compass")
"""Schedulers that are asked for a first schedule, where they are registered."""


def warm_start(
    instance: Instance, incumbent: Incumbent, hint: Plan | Schedule | None, seed: int
) -> None:
    """Offer the user's hint and every heuristic's schedule, left-shifted.

    A heuristic that fails is logged and left out: the search can begin without it.

    Raises
    ------
    PlanError, ScheduleError
        If the user's hint belongs to another instance.
    """
    if hint is not None:
        _check_owner(instance, hint)
        plan = hint if isinstance(hint, Plan) else plan_of(instance, hint)
        incumbent.offer_plan(plan, "hint")
    for name in _installed():
        if not incumbent.is_proven:
            _try(instance, incumbent, name, seed)


def _check_owner(instance: Instance, hint: Plan | Schedule) -> None:
    made_for = hint.instance_sha256
    if made_for is None or made_for == instance.sha256:
        return
    error = PlanError if isinstance(hint, Plan) else ScheduleError
    raise error(
        f"the hint was made for instance {made_for[:12]}..., this is "
        f"{instance.sha256[:12]}...; give a hint for this instance"
    )


@cache  # looking through all installed packages takes tens of milliseconds
def _installed() -> tuple[str, ...]:
    known = registry.available("placement_lab.schedulers")
    return tuple(name for name in HEURISTICS if name in known)


@cache
def _heuristic(name: str) -> Scheduler:
    return get_scheduler(name)


def _try(instance: Instance, incumbent: Incumbent, name: str, seed: int) -> None:
    try:
        schedule = _heuristic(name).schedule(instance, seed=seed)
    except (PlacementError, ImportError, AttributeError) as error:
        _log.warning("scheduler %s gave no first schedule: %s", name, error)
        return
    incumbent.offer_schedule(schedule, name)
