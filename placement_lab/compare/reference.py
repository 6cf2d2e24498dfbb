"""The reference of a comparison: the exact solver, or the best bound there is."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from placement_lab.compare.results import gap_of
from placement_lab.completion import plan_of
from placement_lab.errors import InfeasiblePlanError, PlanError, UnsupportedError
from placement_lab.replay import replay
from placement_lab.units import TIME_TOLERANCE_S

if TYPE_CHECKING:
    from collections.abc import Callable

    from placement_lab.compare.rows import BestKnown
    from placement_lab.problem import Instance
    from placement_lab.schedule import Schedule
    from placement_lab.solvers import Result, TracePoint
    from placement_lab.solvers.result import Status

__all__ = [
    "Limits",
    "find_reference",
    "relaxed",
    "strengthened",
    "without_solver",
]


@dataclass(frozen=True, slots=True)
class Limits:
    """How long the solver may work, and how repeatably."""

    time_limit_s: float
    seed: int
    deterministic: bool


def relaxed(instance: Instance, **rules: Any) -> Instance:
    """Return the sibling with other rules.

    Its optimum bounds the instance's own if the rules only allow more.
    """
    return replace(instance, rules=replace(instance.rules, **rules))


def find_reference(
    known: BestKnown,
    limits: Limits,
    on_progress: Callable[[TracePoint], None] | None = None,
) -> Result:
    """Solve the instance, starting from the best schedule known.

    Where the exact formulations refuse a rule (evictions that take time, ``prefetch:
    on_demand``), the sibling without that rule is solved: its bound holds, and its
    plan is tried on the instance itself.
    """
    try:
        return _solve(known.instance, known, limits, on_progress)
    except UnsupportedError as error:
        sibling = _supported_sibling(known.instance)
        if sibling is None:
            return without_solver(known, f"none: {error}")
        return _from_sibling(known, sibling, limits, on_progress)


def _solve(
    instance: Instance,
    known: BestKnown,
    limits: Limits,
    on_progress: Callable[[TracePoint], None] | None,
) -> Result:
    from placement_lab.solvers import solve

    plan = known.plan()
    return solve(
        instance,
        known.objective_name,
        limits.time_limit_s,
        hint=None if plan is None else replace(plan, instance_sha256=None),
        seed=limits.seed,
        deterministic=limits.deterministic,
        on_progress=on_progress,
    )


def _supported_sibling(instance: Instance) -> Instance | None:
    rules = instance.rules
    prefetch = "after_release" if rules.prefetch == "on_demand" else rules.prefetch
    sibling = relaxed(instance, prefetch=prefetch, evict_bandwidth_bytes_per_s=None)
    return None if sibling.rules == rules else sibling


def _from_sibling(
    known: BestKnown,
    sibling: Instance,
    limits: Limits,
    on_progress: Callable[[TracePoint], None] | None,
) -> Result:
    """Keep a sibling's bound; its plan counts only as replayed under our rules."""
    started = time.perf_counter()
    found = _solve(sibling, known, limits, on_progress)
    if found.schedule is not None:
        _try_plan_of(known, sibling, found.schedule)
    rules = sibling.rules
    infeasible = found.status == "infeasible"  # and so are we: our rules allow less
    return replace(
        found,
        status="infeasible" if infeasible else _status(known.objective, found.bound),
        objective=known.objective,
        gap=gap_of(known.objective, found.bound),
        bound_source=f"{found.bound_source}, of the relaxed sibling "
        f"(prefetch {rules.prefetch}, free evictions)",
        seconds=time.perf_counter() - started,
        schedule=known.schedule,
        trace=(),
    )


def _try_plan_of(known: BestKnown, sibling: Instance, found: Schedule) -> None:
    plan = replace(plan_of(sibling, found), instance_sha256=None)
    try:
        schedule = replay(known.instance, plan, made_by={"scheduler": "reference"})
    except (InfeasiblePlanError, PlanError):
        return
    known.offer(schedule, who="the sibling's plan")


def strengthened(reference: Result, sibling: Result | None) -> Result:
    """Take over the bound of a sibling whose rules allow more, where it is better."""
    ours, theirs = reference.bound, None if sibling is None else sibling.bound
    if sibling is None or ours is None or theirs is None or theirs <= ours:
        return reference
    return replace(
        reference,
        status=_status(reference.objective, theirs),
        bound=theirs,
        gap=gap_of(reference.objective, theirs),
        bound_source=f"{sibling.bound_source}, of the clairvoyant sibling",
    )


def _status(objective: float | None, bound: float | None) -> Status:
    if objective is None:
        return "unknown"
    proven = bound is not None and objective - bound <= TIME_TOLERANCE_S
    return "optimal" if proven else "feasible"


def without_solver(known: BestKnown, bound_source: str) -> Result:
    """Return the best schedule known, beside the bounds that need no solver."""
    from placement_lab.solvers import Result, lower_bound

    bound = None
    try:
        simple = lower_bound(known.instance, known.objective_name)
    except UnsupportedError:
        pass
    else:
        bound, bound_source = simple.bound, simple.source
    infeasible = bound == math.inf
    bound = None if infeasible else bound
    return Result(
        status="infeasible" if infeasible else _status(known.objective, bound),
        objective=known.objective,
        objective_name=known.objective_name,
        bound=bound,
        gap=gap_of(known.objective, bound),
        bound_source=bound_source,
        rounding_slack_s=0.0,
        tick_s=0.0,
        seconds=0.0,
        deterministic=True,
        seed=0,
        schedule=known.schedule,
    )
