"""`compare`: how far every scheduler is from the optimum, on the same footing.

Every schedule passes the referee before it becomes a number. The heuristics run first;
the exact solver starts from the best of them, and its bound is what gaps are measured
against.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from placement_lab.compare.distributions import gap_distributions
from placement_lab.compare.reference import (
    Limits,
    find_reference,
    relaxed,
    strengthened,
    without_solver,
)
from placement_lab.compare.results import (
    Comparison,
    InstanceComparison,
    Row,
    excess_of,
    gap_of,
)
from placement_lab.compare.rows import BestKnown, make_row
from placement_lab.errors import UnknownNameError, was_interrupted
from placement_lab.metrics import OBJECTIVES, evaluate
from placement_lab.problem import Instance

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from placement_lab.solvers import Result, TracePoint

__all__ = ["ComparisonInterrupted", "Progress", "compare"]

CLAIRVOYANT_SHARE = 0.2
"""Part of the time limit that the second line, foresight, gets."""


@dataclass(frozen=True, slots=True)
class Progress:
    """Where a comparison is.

    Attributes
    ----------
    stage : {'schedule', 'solve', 'clairvoyant'}
    step, steps : int
        Instance and seed under way, counted from 0, and how many there are.
    name : str
        Instance, or scheduler in the first stage.
    limit_s : float
        Time limit of the stage; 0 without one.
    seconds : float
        Since the start of the stage.
    objective, bound : float or None
        Of the incumbent and the proven bound so far.
    """

    stage: Literal["schedule", "solve", "clairvoyant"]
    step: int
    steps: int
    name: str
    limit_s: float = 0.0
    seconds: float = 0.0
    objective: float | None = None
    bound: float | None = None


class ComparisonInterrupted(KeyboardInterrupt):
    """Ctrl-C during a comparison; ``partial`` is what was found until then."""

    def __init__(self, partial: Comparison) -> None:
        super().__init__("interrupted")
        self.partial = partial


@dataclass(frozen=True, slots=True)
class _Task:
    """What is the same for every instance of a comparison."""

    schedulers: tuple[str, ...]
    objective: str
    time_limit_s: float
    seed: int
    seeds: int
    deterministic: bool
    report: Callable[[Progress], None]

    def limits(self, share: float) -> Limits:
        return Limits(share * self.time_limit_s, self.seed, self.deterministic)


def compare(
    instances: Instance | Iterable[Instance] | None = None,
    schedulers: Sequence[str] | None = None,
    objective: str = "latency",
    time_limit_s: float = 20.0,
    *,
    seeds: int = 1,
    seed: int = 0,
    deterministic: bool = False,
    on_progress: Callable[[Progress], None] | None = None,
) -> Comparison:
    """Compare schedulers with each other, and with a proven bound.

    Parameters
    ----------
    instances : Instance, iterable of Instance, or None
        None: the bundled workload ``compass-5w``.
    schedulers : sequence of str, optional
        Registered names. Default: all of them.
    objective : {'latency', 'makespan', 'slowdown', 'late'}
    time_limit_s : float
        Of the exact solver, for each instance. Where the instance says ``prefetch:
        after_release``, a fifth of it goes to the clairvoyant sibling.
    seeds : int
        Every scheduler runs with this many seeds: ``seed``, ``seed + 1``, ...
    seed : int
    deterministic : bool
        Same result on the same machine and versions, whatever its load.
    on_progress : callable, optional
        Called with `Progress` as the work goes on.

    Returns
    -------
    Comparison

    Raises
    ------
    UnknownNameError
        If a scheduler or the objective is unknown; before any work is done.
    RefereeError
        If a valid schedule is better than the proven bound, or the solver's schedule is
        not valid: a bug of this package, never a result.
    ComparisonInterrupted
        On Ctrl-C; carries what was found until then.

    Examples
    --------
    >>> import placement_lab as pl
    >>> build = pl.InstanceBuilder("demo")
    >>> build.worker("w0", memory_bytes=16e9, load_bandwidth_bytes_per_s=1e10)
    >>> build.model("opt", size_bytes=6e9)
    >>> qa = build.workflow("qa").task("ask", runtime_s=0.5, model="opt")
    >>> build.job("j0", "qa")
    >>> found = pl.compare(build.build(), ["heft"], time_limit_s=5)
    >>> [round(row.gap, 6) for row in found.rows]
    [0.0]
    """
    task = _Task(
        _known_schedulers(schedulers),
        _known_objective(objective),
        float(time_limit_s),
        seed,
        max(1, seeds),
        deterministic,
        on_progress or (lambda progress: None),
    )
    parts: list[InstanceComparison] = []
    asked = _instances(instances)
    try:
        for number, instance in enumerate(asked):
            parts += _compare_one(task, instance, number, len(asked))
    except ComparisonInterrupted as interruption:
        parts += interruption.partial.instances
        partial = _comparison(task, parts, interrupted=True)
        raise ComparisonInterrupted(partial) from None
    return _comparison(task, parts)


def _instances(instances: Instance | Iterable[Instance] | None) -> list[Instance]:
    if instances is None:
        from placement_lab.datasets import load_dataset

        return [load_dataset("compass-5w")]
    return [instances] if isinstance(instances, Instance) else list(instances)


def _known_schedulers(names: Sequence[str] | None) -> tuple[str, ...]:
    """Return the names, each once; loading all of them first shows a wrong one."""
    from placement_lab.schedulers import available_schedulers, get_scheduler

    if isinstance(names, str):
        names = [names]
    chosen = tuple(dict.fromkeys(available_schedulers() if names is None else names))
    for name in chosen:
        get_scheduler(name)
    return chosen


def _known_objective(name: str) -> str:
    if name not in OBJECTIVES:
        from difflib import get_close_matches

        close = get_close_matches(str(name), OBJECTIVES, n=1)
        hint = f"; did you mean {close[0]!r}?" if close else "."
        raise UnknownNameError(
            f"unknown objective {name!r}{hint} Available: {', '.join(OBJECTIVES)}"
        )
    return name


def _compare_one(
    task: _Task, instance: Instance, step: int, steps: int
) -> list[InstanceComparison]:
    """Compare on one instance: one part for each seed, all with the same reference."""
    at = Progress("schedule", step, steps, instance.name)
    known = BestKnown(instance, task.objective)
    rows: list[list[Row]] = []
    reference: Result | None = None
    clairvoyant: Result | None = None
    try:
        for seed in range(task.seed, task.seed + task.seeds):
            rows.append([])
            for name in task.schedulers:
                task.report(replace(at, name=name))
                rows[-1].append(make_row(known, name, seed))
        reference = _reference(task, known, at)
        if not reference.interrupted:
            clairvoyant = _clairvoyant(task, instance, reference, at)
            reference = strengthened(reference, clairvoyant)
    except (KeyboardInterrupt, SystemError) as stop:
        if not was_interrupted(stop):
            raise
        if reference is None:
            reference = without_solver(known, "none: interrupted")
        parts = _judge(task, known, rows, reference, clairvoyant)
        raise ComparisonInterrupted(_comparison(task, parts)) from stop
    parts = _judge(task, known, rows, reference, clairvoyant)
    if any(one is not None and one.interrupted for one in (reference, clairvoyant)):
        raise ComparisonInterrupted(_comparison(task, parts))
    return parts


def _reference(task: _Task, known: BestKnown, at: Progress) -> Result:
    share = 1.0 - CLAIRVOYANT_SHARE if _has_sibling(known.instance) else 1.0
    stage = replace(at, stage="solve", limit_s=share * task.time_limit_s)
    task.report(stage)
    found = find_reference(known, task.limits(share), _reporter(task, stage))
    if found.schedule is not None:
        known.offer(found.schedule, who="the reference")
    return found


def _clairvoyant(
    task: _Task, instance: Instance, reference: Result, at: Progress
) -> Result | None:
    """Solve the sibling that may load at any time: its bound holds for every policy."""
    if not _has_sibling(instance):
        return None
    share = CLAIRVOYANT_SHARE
    stage = replace(at, stage="clairvoyant", limit_s=share * task.time_limit_s)
    task.report(stage)
    sibling = relaxed(instance, prefetch="clairvoyant")
    known = BestKnown(sibling, task.objective)
    if reference.schedule is not None:
        foreseen = replace(reference.schedule, instance_sha256=None)
        known.offer(foreseen, who="the reference, with foresight")
    return find_reference(known, task.limits(share), _reporter(task, stage))


def _has_sibling(instance: Instance) -> bool:
    """Say whether foresight allows more: some load could come before a release."""
    waits = any(job.release_s > 0 for job in instance.jobs)
    return (
        instance.rules.prefetch == "after_release" and waits and bool(instance.models)
    )


def _reporter(task: _Task, stage: Progress) -> Callable[[TracePoint], None]:
    def report(point: TracePoint) -> None:
        task.report(
            replace(
                stage,
                seconds=point.seconds,
                objective=point.objective,
                bound=point.bound,
            )
        )

    return report


def _judge(
    task: _Task,
    known: BestKnown,
    rows: list[list[Row]],
    reference: Result,
    clairvoyant: Result | None,
) -> list[InstanceComparison]:
    """Measure every row against the bound and the best known schedule."""
    instance = known.instance
    metrics = None
    if reference.schedule is not None:
        metrics = evaluate(instance, reference.schedule)
    for bound in (reference.bound, clairvoyant.bound if clairvoyant else None):
        known.refuse_below(bound)
    return [
        InstanceComparison(
            instance,
            task.objective,
            task.seed + k,
            tuple(
                replace(
                    row,
                    gap=gap_of(row.objective, reference.bound),
                    excess=excess_of(row.objective, known.objective),
                )
                for row in some
            ),
            reference,
            metrics,
            known.objective,
            clairvoyant,
        )
        for k, some in enumerate(rows)
    ]


def _comparison(
    task: _Task, parts: list[InstanceComparison], *, interrupted: bool = False
) -> Comparison:
    gaps = {name: [_gap(one, name) for one in parts] for name in task.schedulers}
    return Comparison(
        task.objective,
        task.time_limit_s,
        task.deterministic,
        task.seed,
        tuple(parts),
        gap_distributions(gaps, seed=task.seed) if len(parts) > 1 else (),
        interrupted,
    )


def _gap(part: InstanceComparison, name: str) -> float | None:
    """Return a scheduler's gap; None where an interruption came before its row."""
    return next((row.gap for row in part.rows if row.scheduler == name), None)
