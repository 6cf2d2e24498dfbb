"""Run CP-SAT: parameters, progress, and Ctrl-C."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ortools.sat.python import cp_model

from placement_lab.errors import UnsupportedError
from placement_lab.solvers.background import run_interruptibly

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Effort", "Outcome", "run_cp_sat"]

_DETERMINISTIC_WORKERS = 8
"""Sub-solvers that take turns in one thread, so that every run is the same."""


@dataclass(frozen=True, slots=True)
class Effort:
    """How hard and how repeatably to search.

    Attributes
    ----------
    limit : float
        Seconds, or units of deterministic time (about a second each).
    workers : int
    seed : int
    deterministic : bool
    """

    limit: float
    workers: int
    seed: int
    deterministic: bool


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a search ended.

    Attributes
    ----------
    status : str
        ``OPTIMAL``, ``FEASIBLE``, ``INFEASIBLE`` or ``UNKNOWN``.
    bound : float or None
        Proven bound on the integer objective.
    spent : float
        Deterministic time.
    """

    status: str
    bound: float | None
    spent: float


class _Watcher(cp_model.CpSolverSolutionCallback):
    """Hands every solution on; an error in doing so ends the search."""

    def __init__(self, on_solution: Callable[[Callable[[Any], int]], None]) -> None:
        super().__init__()
        self._on_solution = on_solution
        self.error: BaseException | None = None

    def on_solution_callback(self) -> None:
        try:
            self._on_solution(self.value)
        except BaseException as error:  # noqa: BLE001 (raised again by run_cp_sat)
            self.error = error
            self.stop_search()


def run_cp_sat(
    model: cp_model.CpModel,
    effort: Effort,
    on_solution: Callable[[Callable[[Any], int]], None],
    on_bound: Callable[[float], None],
    **parameters: Any,
) -> Outcome:
    """Search until the limit or a proof.

    Parameters
    ----------
    model : CpModel
    effort : Effort
    on_solution : callable
        Gets a function from variables to values.
    on_bound : callable
    **parameters
        More of CP-SAT's parameters.

    Raises
    ------
    UnsupportedError
        If the numbers are too large for 64 bits.
    KeyboardInterrupt
        On Ctrl-C, after the search has stopped.
    """
    solver = cp_model.CpSolver()
    _set_parameters(solver, effort, parameters)
    watcher = _Watcher(on_solution)
    solver.best_bound_callback = on_bound
    statuses: list[Any] = []
    run_interruptibly(
        lambda: statuses.append(solver.solve(model, watcher)), solver.stop_search
    )
    [status] = statuses
    if watcher.error is not None:
        raise watcher.error
    if status == cp_model.MODEL_INVALID:
        raise UnsupportedError(
            "times, sizes or weights of this instance span too wide a range for "
            f"the solver's 64-bit integers ({model.validate():.200}); scale them down"
        )
    name = solver.status_name(status)
    known = name in ("OPTIMAL", "FEASIBLE", "UNKNOWN")
    bound = solver.best_objective_bound if known else None
    return Outcome(name, bound, solver.deterministic_time)


def _set_parameters(
    solver: cp_model.CpSolver, effort: Effort, more: dict[str, Any]
) -> None:
    parameters = solver.parameters
    parameters.random_seed = effort.seed % 2**31
    parameters.absolute_gap_limit = 0.0
    parameters.relative_gap_limit = 0.0
    parameters.catch_sigint_signal = False
    parameters.num_workers = effort.workers
    if effort.deterministic:
        parameters.max_deterministic_time = effort.limit
        parameters.interleave_search = True
        parameters.num_workers = max(effort.workers, _DETERMINISTIC_WORKERS)
    else:
        parameters.max_time_in_seconds = effort.limit
    for name, value in more.items():
        setattr(parameters, name, value)
