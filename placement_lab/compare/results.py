"""What `placement_lab.compare` returns: rows, references, and their JSON."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from placement_lab.report.formatting import (
    format_fraction,
    format_objective,
    instance_label,
)

if TYPE_CHECKING:
    from placement_lab.compare.distributions import Distribution
    from placement_lab.metrics import Metrics
    from placement_lab.problem import Instance
    from placement_lab.schedule import Schedule
    from placement_lab.solvers import Result
    from placement_lab.verify import Violation

__all__ = ["Comparison", "InstanceComparison", "Row", "excess_of", "gap_of"]


def gap_of(objective: float | None, bound: float | None) -> float | None:
    """Return (objective - bound) / objective, 0 where they are equal."""
    if objective is None or bound is None:
        return None
    if objective in (bound, 0.0):
        return 0.0
    # An objective below the bound by no more than rounding counts as equal.
    return max(0.0, (objective - bound) / objective)


def excess_of(objective: float | None, best_known: float | None) -> float | None:
    """Return objective / best known - 1; None where only the best known is 0."""
    if objective is None or best_known is None:
        return None
    if objective == best_known:
        return 0.0
    return objective / best_known - 1.0 if best_known > 0 else None


@dataclass(frozen=True)
class Row:
    """One scheduler on one instance.

    Attributes
    ----------
    scheduler : str
    objective : float or None
        Of the schedule as it happened; None for an error row.
    replayed_objective : float or None
        Of the same decisions, left-shifted (rule R7).
    gap : float or None
        (objective - bound) / objective, a fraction.
    excess : float or None
        objective / best known - 1, a fraction.
    metrics : Metrics or None
    seconds : float
        Wall-clock time that scheduling took.
    violations : tuple of Violation
        What the referee found; such a row has no objective.
    error : str or None
        Why there is no schedule.
    schedule : Schedule or None
    """

    scheduler: str
    objective: float | None = None
    replayed_objective: float | None = None
    gap: float | None = None
    excess: float | None = None
    metrics: Metrics | None = None
    seconds: float = 0.0
    violations: tuple[Violation, ...] = ()
    error: str | None = None
    schedule: Schedule | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON form."""
        known = self.metrics
        return {
            "scheduler": self.scheduler,
            "objective_s": self.objective,
            "replayed_objective_s": self.replayed_objective,
            "gap": self.gap,
            "excess": self.excess,
            "mean_slowdown": known.mean_slow_down if known else None,
            "p95_slowdown": known.p95_slow_down if known else None,
            "hit_rate": known.hit_rate if known else None,
            "bytes_loaded": known.bytes_loaded if known else None,
            "seconds": self.seconds,
            "violations": len(self.violations),
            "error": self.error,
        }


@dataclass(frozen=True)
class InstanceComparison:
    """All schedulers on one instance, beside one reference.

    Attributes
    ----------
    instance : Instance
    objective : str
    seed : int
        What the schedulers were given.
    rows : tuple of Row
    reference : Result
        The exact solver's; its ``bound`` is what the gaps are measured against.
    reference_metrics : Metrics or None
    best_known : float or None
        The smallest objective of any valid schedule seen, left-shifted ones included.
    clairvoyant : Result or None
        The same with ``prefetch: clairvoyant``, where the instance says
        ``after_release``: what foresight alone would be worth.
    """

    instance: Instance
    objective: str
    seed: int
    rows: tuple[Row, ...]
    reference: Result
    reference_metrics: Metrics | None = None
    best_known: float | None = None
    clairvoyant: Result | None = None

    @property
    def bound(self) -> float | None:
        """The proven lower bound of every schedule's objective."""
        return self.reference.bound

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON form of this instance's part."""
        other = self.clairvoyant
        return {
            "instance": {"name": self.instance.name, "sha256": self.instance.sha256},
            "seed": self.seed,
            "best_known_s": self.best_known,
            "reference": self.reference.to_dict(),
            "clairvoyant": None
            if other is None
            else {
                "status": other.status,
                "objective_s": other.objective,
                "bound_s": other.bound,
                "gap": other.gap,
                "bound_source": other.bound_source,
                "seconds": other.seconds,
            },
            "rows": [row.to_dict() for row in self.rows],
        }

    def summary(self) -> str:
        """Return some lines for people: the bound, the best schedulers, the worst."""
        ranked = sorted(
            (row for row in self.rows if row.objective is not None),
            key=lambda row: row.objective or 0.0,
        )
        lines = [
            (
                f"{instance_label(self.instance)}, {self.objective}: reference "
                f"{format_objective(self.reference.objective, self.objective)} "
                f"({self.reference.status}), "
                f"bound {format_objective(self.bound, self.objective)}"
            )
        ]
        shown = ranked if len(ranked) <= 6 else [*ranked[:5], ranked[-1]]
        lines += [
            f"  {row.scheduler}: {format_objective(row.objective, self.objective)}, "
            f"gap {format_fraction(row.gap)}, excess {format_fraction(row.excess)}"
            for row in shown
        ]
        failed = [row.scheduler for row in self.rows if row.objective is None]
        if failed:
            lines.append(f"  without a valid schedule: {', '.join(failed)}")
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.summary()


@dataclass(frozen=True)
class Comparison:
    """What `placement_lab.compare` returns.

    Attributes
    ----------
    objective : str
    time_limit_s : float
        Of the reference, for each instance.
    deterministic : bool
    seed : int
    instances : tuple of InstanceComparison
        One for each instance and seed.
    distributions : tuple of Distribution
        One for each scheduler; empty where there is only one instance and seed.
    interrupted : bool
        Whether it was stopped before everything was done.
    """

    objective: str
    time_limit_s: float
    deterministic: bool
    seed: int
    instances: tuple[InstanceComparison, ...]
    distributions: tuple[Distribution, ...] = ()
    interrupted: bool = False

    @property
    def rows(self) -> tuple[Row, ...]:
        """The rows of all instances, one after the other."""
        return tuple(row for one in self.instances for row in one.rows)

    @property
    def reference(self) -> Result:
        """The reference of the only instance.

        Raises
        ------
        ValueError
            If several instances were compared: each has its own reference.
        """
        if len(self.instances) != 1:
            raise ValueError(
                f"{len(self.instances)} instances were compared, each with its own "
                "reference; take comparison.instances[i].reference"
            )
        return self.instances[0].reference

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON form.

        One instance gives ``reference`` and ``rows`` at the top; several give a list
        ``instances``, each with its own, and ``distributions``.
        """
        head: dict[str, Any] = {
            "objective": self.objective,
            "time_limit_s": self.time_limit_s,
            "deterministic": self.deterministic,
            "interrupted": self.interrupted,
        }
        if len(self.instances) == 1:
            return head | self.instances[0].to_dict()
        return head | {
            "seed": self.seed,
            "instances": [one.to_dict() for one in self.instances],
            "distributions": [one.to_dict() for one in self.distributions],
        }

    def summary(self) -> str:
        """Return some lines for people."""
        if not self.distributions:
            return "\n".join(one.summary() for one in self.instances)
        ranked = sorted(
            self.distributions,
            key=lambda one: (one.mean_gap is None, one.mean_gap or 0.0),
        )
        lines = [f"{self.objective} on {len(self.instances)} instances, mean gap:"]
        lines += [
            f"  {one.scheduler}: {format_fraction(one.mean_gap)}" for one in ranked[:9]
        ]
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.summary()
