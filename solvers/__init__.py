"""Exact methods: proven optima and proven lower bounds."""

from __future__ import annotations

from placement_lab.solvers.bounds import lower_bound
from placement_lab.solvers.brute_force import brute_force
from placement_lab.solvers.result import BoundResult, Result, TracePoint
from placement_lab.solvers.solve import solve

__all__ = [
    "BoundResult",
    "Result",
    "TracePoint",
    "brute_force",
    "lower_bound",
    "solve",
]
