"""The exact reference: the best schedule, the best bound, and the gap between."""

from __future__ import annotations

from typing import TYPE_CHECKING

from placement_lab.errors import UnsupportedError, was_interrupted
from placement_lab.solvers.objectives import check_objective
from placement_lab.solvers.search import Search

if TYPE_CHECKING:
    from collections.abc import Callable

    from placement_lab.plan import Plan
    from placement_lab.problem import Instance
    from placement_lab.schedule import Schedule
    from placement_lab.solvers.result import Result, TracePoint

__all__ = ["solve"]


def solve(
    instance: Instance,
    objective: str = "latency",
    time_limit_s: float = 20.0,
    *,
    formulation: str = "epochs",
    hint: Plan | Schedule | None = None,
    seed: int = 0,
    deterministic: bool = False,
    num_workers: int | None = None,
    on_progress: Callable[[TracePoint], None] | None = None,
) -> Result:
    """Find the best schedule and prove how good it is.

    The best heuristic's schedule is the first incumbent and the bounds without a search
    the first bound. Up to 12 tasks, CP-SAT does the rest on the residency-epochs model,
    in two phases: few workers find better schedules, more workers raise the bound.
    Beyond that, annealing comes before CP-SAT, and for latency and slow-down the
    Lagrangian bound climbs beside both. Every schedule is replayed in true time and
    verified; every bound comes from times rounded down.

    Parameters
    ----------
    instance : Instance
    objective : {'latency', 'makespan', 'slowdown', 'late'}
    time_limit_s : float
        Wall clock for the search, or units of deterministic time; the warm start and,
        on a fresh installation, compiling the kernels come before it.
    formulation : {'epochs'}
    hint : Plan or Schedule, optional
        A schedule to start from, beside the heuristics'.
    seed : int
    deterministic : bool
        Count deterministic time instead of wall clock, in one thread.
    num_workers : int, optional
        Threads of both phases; default: 2, then 4.
    on_progress : callable, optional
        Called with a `TracePoint` at every improvement, from any thread.

    Returns
    -------
    Result
        Also after Ctrl-C, with the best so far and ``interrupted`` set.

    Raises
    ------
    UnsupportedError
        For rules that the formulation cannot express.
    UnknownNameError
        If there is no such objective.
    PlanError, ScheduleError
        If the hint was made for another instance.
    """
    check_objective(objective)
    _check_supported(instance, formulation)
    search = Search(
        instance,
        objective,
        seed=seed,
        deterministic=deterministic,
        num_workers=num_workers,
        on_progress=on_progress,
    )
    try:
        search.run(max(0.0, time_limit_s), hint)
    except (KeyboardInterrupt, SystemError) as error:
        if not was_interrupted(error):
            raise
        search.interrupted = True
    return search.result()


def _check_supported(instance: Instance, formulation: str) -> None:
    if formulation != "epochs":
        raise UnsupportedError(
            f"unknown formulation {formulation!r:.60}; the one there is is 'epochs'"
        )
    rules = instance.rules
    if rules.prefetch == "on_demand":
        raise UnsupportedError(
            "formulation 'epochs' cannot express prefetch 'on_demand'; the optimum "
            "under 'after_release' is a lower bound for it"
        )
    if rules.evict_bandwidth_bytes_per_s is not None:
        raise UnsupportedError(
            "formulation 'epochs' cannot express timed evictions "
            "(evict_bandwidth_bytes_per_s); the optimum with free ones is a lower bound"
        )
