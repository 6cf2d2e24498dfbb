"""`Violation`: one broken rule; `Report` collects them and knows everybody's name."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from placement_lab.units import format_seconds

if TYPE_CHECKING:
    from placement_lab.problem import InstanceArrays

__all__ = ["Report", "Violation"]


@dataclass(frozen=True, slots=True)
class Violation:
    """One rule that a schedule breaks.

    Attributes
    ----------
    rule : str
        ``R0`` to ``R6``.
    where : str
        Worker, and task or model, such as ``worker w0, task j0/opt``.
    time_s : float or None
        When; None if it has no time of its own (a task that never runs).
    amount : float
        By how much: seconds, bytes (memory), or a number of things; the message says
        which.
    message : str
        One line with all of this and a remedy.
    """

    rule: str
    where: str
    time_s: float | None
    amount: float
    message: str

    def __str__(self) -> str:
        return self.message

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON document of this violation."""
        return asdict(self)


class Report:
    """What was found so far.

    Parameters
    ----------
    arrays : InstanceArrays
        For the names.
    """

    def __init__(self, arrays: InstanceArrays) -> None:
        self._arrays = arrays
        self._found: list[Violation] = []

    def add(
        self, rule: str, where: str, time_s: float | None, amount: float, text: str
    ) -> None:
        """Add a violation; the message is ``rule, where, time: text``."""
        when = ""
        if time_s is not None:
            time_s = float(time_s)
            when = f" at {format_seconds(time_s)}"
        message = f"{rule}: {where}{when}: {text}"
        self._found.append(Violation(rule, where, time_s, float(amount), message))

    def violations(self) -> list[Violation]:
        """Return all violations in the order of time (none first), rule and place."""
        return sorted(
            self._found,
            key=lambda one: (
                -math.inf if one.time_s is None else one.time_s,
                one.rule,
                one.where,
                one.amount,
                one.message,
            ),
        )

    # Places, by number.

    def run(self, task: int, worker: int) -> str:
        """Return the place of a run."""
        return f"worker {self.worker(worker)}, task {self.task(task)}"

    def load(self, model: int, worker: int) -> str:
        """Return the place of a load."""
        return f"worker {self.worker(worker)}, load of {self.model(model)}"

    def eviction(self, model: int, worker: int) -> str:
        """Return the place of an eviction."""
        return f"worker {self.worker(worker)}, eviction of {self.model(model)}"

    def worker(self, worker: int) -> str:
        """Return a worker's id."""
        return self._arrays.worker_ids[worker]

    def model(self, model: int) -> str:
        """Return a model's id."""
        return self._arrays.model_ids[model]

    def task(self, task: int) -> str:
        """Return a task's full name."""
        return self._arrays.task_names[task]
