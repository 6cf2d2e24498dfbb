"""Check the options of data sets: users type them, so every fault names its option."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from placement_lab.errors import Fault, ProblemError

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["check_choice", "check_flag", "check_real", "check_whole"]


def check_choice(option: str, value: Any, choices: Sequence[str]) -> None:
    """Raise ProblemError unless the value is one of the choices."""
    if value not in choices:
        raise _bad(option, f"must be one of {', '.join(choices)}, got {value!r}")


def check_flag(option: str, value: Any) -> None:
    """Raise ProblemError unless the value is True or False."""
    if not isinstance(value, bool):
        raise _bad(option, f"must be true or false, got {value!r}")


def check_whole(option: str, value: Any, least: int, most: int | None = None) -> None:
    """Raise ProblemError unless the value is a whole number in the range."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise _bad(option, f"must be a whole number, got {value!r}")
    if value < least or (most is not None and value > most):
        wanted = f"at least {least}" if most is None else f"{least} to {most}"
        raise _bad(option, f"must be {wanted}, got {value!r}")


def check_real(option: str, value: Any, *, positive: bool = True) -> None:
    """Raise ProblemError unless the value is a finite positive (or zero) number."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise _bad(option, f"must be a number, got {value!r}")
    if not math.isfinite(value) or value < 0 or (positive and value == 0):
        wanted = "positive" if positive else "at least 0"
        raise _bad(option, f"must be finite and {wanted}, got {value!r}")


def _bad(option: str, message: str) -> ProblemError:
    return ProblemError([Fault(option, message)], source="data set")
