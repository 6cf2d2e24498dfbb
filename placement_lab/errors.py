"""The errors this package raises on purpose, as one tree.

``PlacementError``
 |- ``ProblemError`` (ValueError): the question is wrong; lists every fault found
 |- ``PlanError`` (ValueError): the plan cannot be read or does not match
 |   `- ``InfeasiblePlanError``: the plan is well-formed, but cannot go on
 |- ``ScheduleError`` (ValueError): the schedule cannot be read
 |- ``UnsupportedError`` (ValueError): right question, but not for this method
 |- ``UnknownNameError`` (ValueError): no scheduler, policy, data set ... of that name
 |- ``RefereeError``: something of ours made a schedule that ``verify`` refuses (a bug)
 `- ``MissingDependencyError`` (ImportError): an optional package is not installed

Infeasible instances and exhausted time limits are results with a status, not errors.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = [
    "Fault",
    "InfeasiblePlanError",
    "MissingDependencyError",
    "PlacementError",
    "PlanError",
    "ProblemError",
    "RefereeError",
    "ScheduleError",
    "UnknownNameError",
    "UnsupportedError",
    "was_interrupted",
]


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that is wrong in an input, and where.

    Attributes
    ----------
    path : str
        Place in the input, such as ``workers[0].memory_bytes``; empty for the whole.
    message : str
        What is wrong there, the value found, and what to do about it.
    """

    path: str
    message: str

    def __str__(self) -> str:
        return f"{self.path}: {self.message}" if self.path else self.message


class PlacementError(Exception):
    """Base of every error that this package raises on purpose."""


class ProblemError(PlacementError, ValueError):
    """An instance that is not a valid question.

    Attributes
    ----------
    faults : tuple of Fault
        Everything that was found wrong, in document order.
    """

    def __init__(self, faults: Iterable[Fault], source: str = "instance") -> None:
        self.faults = tuple(faults)
        self.source = source
        lines = [f"{source}: {fault}" for fault in self.faults]
        super().__init__("\n".join(lines))


class PlanError(PlacementError, ValueError):
    """A plan that cannot be read, or that names what the instance does not have."""


class InfeasiblePlanError(PlanError):
    """A plan whose order can never be carried out; names worker and action."""


class ScheduleError(PlacementError, ValueError):
    """A schedule that cannot be read, or that belongs to another instance."""


class UnsupportedError(PlacementError, ValueError):
    """A rule or objective that the chosen method cannot express."""


class UnknownNameError(PlacementError, ValueError):
    """A name that is not registered."""


class RefereeError(PlacementError):
    """A schedule made by this package broke the rules: our bug, never a result."""


class MissingDependencyError(PlacementError, ImportError):
    """An optional package is needed and not installed."""


def was_interrupted(error: BaseException) -> bool:
    """Return whether an error is Ctrl-C, or what compiled code made of it.

    numba answers a KeyboardInterrupt that arrives while a kernel runs with a
    SystemError that has it among its causes.
    """
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, KeyboardInterrupt):
            return True
        cause = cause.__cause__
    return False
