"""One search: warm start, annealing, and CP-SAT, beside the Lagrangian relaxation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from placement_lab.errors import RefereeError
from placement_lab.schedule import Schedule
from placement_lab.solvers.background import Background, run_interruptibly
from placement_lab.solvers.bounds import lower_bound
from placement_lab.solvers.compilation import compile_kernels
from placement_lab.solvers.incumbent import MOST_SLACK, Incumbent
from placement_lab.solvers.lagrangian import can_relax
from placement_lab.solvers.objectives import Objective, job_costs
from placement_lab.solvers.result import Result, Status, TracePoint, gap_between
from placement_lab.solvers.ticks import choose_tick, round_down
from placement_lab.solvers.warm_start import warm_start

if TYPE_CHECKING:
    from collections.abc import Callable

    from placement_lab.plan import Plan
    from placement_lab.problem import Instance
    from placement_lab.solvers.cp_sat import Outcome
    from placement_lab.solvers.epochs import EpochModel

__all__ = ["Budget", "Search"]

_FIRST_SHARE = 0.3
"""Share of the time for the incumbent; the rest is for the bound."""

_SHORTEST_SEARCH_S = 0.02
"""Less time than this is not worth a search."""

_SMALL = 12
"""Up to so many tasks, ticks are fine from the beginning."""

_MIDDLE = 30
"""Beyond so many tasks, CP-SAT's bound on latencies stays behind the relaxation's."""

_ANNEALING_SHARE = 0.4
"""Share of the time for annealing, before CP-SAT."""

_STEPS_PER_UNIT = 20
"""Steps of the relaxation per unit of deterministic time."""

_MOST_BOOLEANS = 300_000
"""Beyond this, epochs are capped: good schedules, no proof from the model."""


class Search:
    """One run of `solve`: warm start, then every method under one budget."""

    def __init__(
        self,
        instance: Instance,
        objective: str,
        *,
        seed: int,
        deterministic: bool,
        num_workers: int | None,
        on_progress: Callable[[TracePoint], None] | None,
    ) -> None:
        self.instance, self.objective = instance, objective
        self.seed, self.deterministic = seed, deterministic
        self.num_workers = num_workers
        self.on_progress = on_progress
        self.best = Incumbent(instance, objective, on_progress)
        self.tick_s = 0.0
        self.is_infeasible = False
        self.used_clock = False
        self.interrupted = False
        self.stop = False

    def run(self, limit: float, hint: Plan | Schedule | None) -> None:
        """Search for so long; what is found stays, however this ends."""
        if not self.instance.jobs:
            self._answer_nothing()
            return
        first = lower_bound(self.instance, self.objective)
        if first.bound == float("inf"):
            self.is_infeasible = True
            return
        self.best.raise_bound(first.bound, first.source)
        warm_start(self.instance, self.best, hint, self.seed)
        if self.best.is_proven or limit < _SHORTEST_SEARCH_S:
            return
        if self.instance.n_tasks > _SMALL:
            run_interruptibly(compile_kernels, lambda: None)
        self.budget = Budget(limit, self.best, self.deterministic)
        if self.instance.n_tasks > _SMALL and can_relax(self.instance, self.objective):
            self._search_beside_relaxation(limit)
        else:
            self._search(limit)

    def _search(self, limit: float) -> None:
        """Look for schedules first, then for bounds."""
        is_small = self.instance.n_tasks <= _SMALL
        self._prepare(fine=is_small)
        if not is_small:
            self._anneal(_ANNEALING_SHARE)
        is_relaxed = self.best.bound_source == "lagrangian"
        is_large = self.instance.n_tasks > _MIDDLE
        share = 1.0 if is_large and is_relaxed else _FIRST_SHARE
        status = self._phase(share * limit, 2)
        if status != "OPTIMAL" and not self._is_over():
            status = self._phase(self.budget.left, 4, linearization_level=2)
        if status == "OPTIMAL" and not (is_small or self._is_over()):
            # Optimal in coarse ticks: what is left of the gap may be rounding.
            self._prepare(fine=True)
            self._phase(self.budget.left, 4, linearization_level=2)

    def _search_beside_relaxation(self, limit: float) -> None:
        """Search while the relaxation raises the bound in another thread."""
        if self.deterministic:
            run_interruptibly(self._raise_bound, self._stop)
            self._search(limit)
            return
        relaxed = Background(self._raise_bound)
        relaxed.start()
        try:
            self._search(limit)
        finally:
            self.stop = True
            relaxed.join()

    def _answer_nothing(self) -> None:
        made_by = {"scheduler": "solve"}
        self.best.schedule = Schedule((), (), (), self.instance.sha256, made_by)
        self.best.value, self.best.bound, self.best.bound_source = 0.0, 0.0, "no jobs"

    def _is_over(self) -> bool:
        """Return whether the answer is final, apart from what rounding hides."""
        return self.best.is_proven or self.is_infeasible

    def _prepare(self, *, fine: bool) -> None:
        """Round the instance down to ticks."""
        self.tick = choose_tick(self.instance, fine=fine)
        self.tick_s = self.tick.seconds
        self.costs = round_down(self.instance, self.tick)
        self.integers = Objective.of(
            self.instance, self.objective, self.costs, self.tick
        )
        self.best.slack = max(self.best.slack, self._rounding_slack())

    def _rounding_slack(self) -> float:
        """Return how far rounding down can take the optimum below the true one.

        Stretching the best rounded schedule to true time delays no chain of actions by
        more than a tick per run, load and transfer on it, and a tick for its release.
        """
        loss = self.integers.weight_loss * (self.best.value or 0.0)
        if self.tick.exact or self.objective == "late":
            return loss
        longest_s = (3 * self.instance.arrays.n_tasks + 1) * self.tick_s
        if self.objective == "makespan":
            return longest_s
        return longest_s * float(job_costs(self.instance, self.objective).sum()) + loss

    def _phase(self, limit: float, workers: int, **parameters: Any) -> str:
        """Search once; solutions and bounds go to the incumbent as they come."""
        from placement_lab.solvers.cp_sat import Effort, run_cp_sat

        if limit < _SHORTEST_SEARCH_S:
            return "UNKNOWN"
        model, is_whole = self._model()
        if model.is_empty:
            self._conclude_empty()
            return "INFEASIBLE"
        limit = min(limit, self.budget.left)
        workers = self.num_workers or workers
        self.used_clock |= not self.deterministic and (
            workers > 1 or self.instance.n_tasks > _SMALL
        )
        if limit < _SHORTEST_SEARCH_S:
            return "UNKNOWN"
        outcome = run_cp_sat(
            model.model,
            Effort(limit, workers, self.seed, self.deterministic),
            lambda value: self._take_solution(model, value),
            self._hear_bound if is_whole else lambda _bound: None,
            **parameters,
        )
        self.budget.spend(outcome.spent)
        self._conclude(outcome, is_whole)
        return outcome.status if is_whole else "UNKNOWN"

    def _anneal(self, share: float) -> None:
        """Improve the incumbent by annealing, for a share of the time."""
        from placement_lab.solvers.annealing import annealed_plans

        if self.best.schedule is None:
            return
        begin, rounds = self.budget.left, 0
        amount = share * self.budget.limit

        def progress() -> float:
            nonlocal rounds
            rounds += 1
            if self.stop or self.best.is_proven:
                return 1.0
            if self.deterministic:
                return (rounds - 1) / max(1.0, amount)
            return (begin - self.budget.left) / amount

        first = self.best.schedule

        def anneal() -> None:
            for plan in annealed_plans(
                self.instance, self.objective, first, self.seed, progress
            ):
                self.best.offer_plan(plan, "solve")

        run_interruptibly(anneal, self._stop)
        if self.deterministic:
            self.budget.spend(amount)

    def _stop(self) -> None:
        self.stop = True

    def _raise_bound(self) -> None:
        """Climb the Lagrangian dual until the time or the iterations are used up."""
        from placement_lab.solvers.lagrangian import raise_lagrangian_bound

        steps = 0
        most_steps = max(1.0, _STEPS_PER_UNIT * self.budget.left)

        def progress() -> float:
            nonlocal steps
            steps += 1
            if self.stop or self.best.is_proven:
                return 1.0
            if self.deterministic:
                return steps / most_steps
            return 1.0 - self.budget.left / self.budget.limit

        raise_lagrangian_bound(
            self.instance,
            self.objective,
            self.best.value,
            progress,
            lambda bound: self.best.raise_bound(bound, "lagrangian"),
        )

    def _model(self) -> tuple[EpochModel, bool]:
        """Build the model with the windows that the incumbent leaves, and its hint."""
        from placement_lab.solvers.epoch_hint import add_hint
        from placement_lab.solvers.epochs import EpochModel
        from placement_lab.solvers.tick_schedule import in_ticks
        from placement_lab.solvers.windows import latest_completions

        latest = latest_completions(
            self.instance, self.costs, self.integers, self.best.value
        )
        is_whole = _count_booleans(self.instance) <= _MOST_BOOLEANS
        cap = None if is_whole else 2
        model = EpochModel(self.instance, self.costs, self.integers, latest, cap)
        if self.best.schedule is not None and not model.is_empty:
            known = in_ticks(self.instance, self.best.schedule, self.costs, self.tick)
            add_hint(model, known)
        return model, is_whole

    def _take_solution(self, model: EpochModel, value: Callable[[Any], int]) -> None:
        from placement_lab.solvers.tick_schedule import plan_from

        plan = plan_from(self.instance, self.costs, model.read(value))
        self.best.offer_plan(plan, "solve")

    def _hear_bound(self, bound: float) -> None:
        """Take a bound in the middle of a search, or only report it.

        When these come is up to threads, so a deterministic answer leaves them out.
        """
        if not self.deterministic:
            self._take_bound(bound)
        elif self.on_progress is not None:
            true = max(self.integers.in_seconds(bound), self.best.bound or 0.0)
            point = TracePoint(self.best.seconds, self.best.value, true)
            self.on_progress(point)

    def _take_bound(self, bound: float) -> None:
        self.best.raise_bound(self.integers.in_seconds(bound), "cp-sat epochs")

    def _conclude(self, outcome: Outcome, is_whole: bool) -> None:
        if outcome.status == "INFEASIBLE" and is_whole:
            self._conclude_empty()
        elif outcome.bound is not None and is_whole:
            self._take_bound(outcome.bound)
        if outcome.status not in ("OPTIMAL", "INFEASIBLE"):
            self.used_clock |= not self.deterministic

    def _conclude_empty(self) -> None:
        if self.best.value is not None:
            raise RefereeError(
                f"the model excludes a valid schedule of value {self.best.value!r}"
            )
        self.is_infeasible = True

    def result(self) -> Result:
        """Return what has been found and proven."""
        best = self.best
        bound = None if self.is_infeasible else best.bound
        slack = best.slack
        if best.value is not None:
            slack = min(slack, MOST_SLACK * abs(best.value))
        return Result(
            status=self._status(),
            objective=best.value,
            objective_name=self.objective,
            bound=bound,
            gap=gap_between(best.value, bound),
            bound_source=best.bound_source,
            rounding_slack_s=slack,
            tick_s=self.tick_s,
            seconds=best.seconds,
            deterministic=not (self.used_clock or self.interrupted),
            seed=self.seed,
            schedule=best.schedule,
            trace=tuple(best.trace),
            interrupted=self.interrupted,
        )

    def _status(self) -> Status:
        if self.is_infeasible:
            return "infeasible"
        if self.best.value is None:
            return "unknown"
        return "optimal" if self.best.is_proven else "feasible"


class Budget:
    """What is left of the time limit, by wall clock or in deterministic time."""

    def __init__(self, limit: float, clock: Incumbent, deterministic: bool) -> None:
        self.limit, self._clock, self._deterministic = limit, clock, deterministic
        self._started, self._spent = clock.seconds, 0.0

    @property
    def left(self) -> float:
        """What is left of the limit."""
        if self._deterministic:
            return self.limit - self._spent
        return self.limit - (self._clock.seconds - self._started)

    def spend(self, deterministic_time: float) -> None:
        """Note what a deterministic search used up."""
        self._spent += deterministic_time


def _count_booleans(instance: Instance) -> int:
    """Return about how many epochs x tasks the model has."""
    import numpy as np

    models = instance.arrays.model[instance.arrays.model >= 0]
    users = np.bincount(models, minlength=1)
    return int((users**2).sum()) * instance.arrays.n_workers
