"""Numbers for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from placement_lab.units import format_bytes, format_seconds

if TYPE_CHECKING:
    from placement_lab.problem import Instance

__all__ = [
    "format_count_bytes",
    "format_fraction",
    "format_number",
    "format_objective",
    "format_wall",
    "instance_label",
]

NOTHING = "-"
IN_SECONDS = ("makespan", "latency")


def format_objective(value: float | None, objective: str) -> str:
    """Return an objective's value with its unit; slow-downs and weights have none."""
    if value is None:
        return NOTHING
    if objective in IN_SECONDS:
        # One unit per column: milliseconds only where seconds would show nothing.
        return f"{value:.3f} s" if 0.1 <= value < 1e4 else format_seconds(value)
    return f"{value:.4g}"


def format_fraction(value: float | None) -> str:
    """Return a fraction as a percentage: ``format_fraction(0.0425) == '4.2 %'``."""
    if value is None:
        return NOTHING
    return f"{100.0 * value:.1f} %"


def format_number(value: float | None) -> str:
    """Return a plain number with two decimals."""
    return NOTHING if value is None else f"{value:.2f}"


def format_count_bytes(value: float | None) -> str:
    """Return a size, or a dash."""
    return NOTHING if value is None else format_bytes(value)


def format_wall(seconds: float) -> str:
    """Return a wall-clock time: two digits are all it is worth."""
    return f"{seconds:.1f}" if seconds >= 1.0 else f"{seconds:.2g}"


def instance_label(instance: Instance) -> str:
    """Return a name to show, the start of the identity where there is none."""
    return instance.name or f"instance {instance.sha256[:8]}"
