"""Compile the search's kernels before the clock starts.

On a fresh installation compilation takes some ten seconds, once. Counted as search, it
would eat the time limit of the first answer that a user gets.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from placement_lab.completion import complete
from placement_lab.problem import Instance, InstanceBuilder
from placement_lab.replay import replay
from placement_lab.solvers.annealing import annealed_plans
from placement_lab.solvers.lagrangian import raise_lagrangian_bound

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["compile_kernels"]

_SHARES = (0.0, 0.3, 0.6, 0.9, 1.0)
"""Used shares of an imagined budget, so that every stage of the ascent is entered."""


@cache
def compile_kernels() -> None:
    """Run every kernel of the search on a tiny instance, once in a process."""
    instance = _tiny()
    order = {"w0": ["j0/a", "j0/b"], "w1": ["j1/a", "j1/b"]}
    schedule = replay(instance, complete(instance, order))
    list(annealed_plans(instance, "latency", schedule, 0, _shares(), first_work=1))
    raise_lagrangian_bound(instance, "latency", None, _shares(), lambda _bound: None)


def _shares() -> Callable[[], float]:
    shares = iter(_SHARES)
    return lambda: next(shares, 1.0)


def _tiny() -> Instance:
    build = InstanceBuilder("kernels")
    for worker in ("w0", "w1"):
        build.worker(worker, 2, load_bandwidth_bytes_per_s=1)
    build.default_link(1, 1)
    build.model("m", 1)
    build.model("n", 1)
    flow = build.workflow("f").task("a", 1, model="m").task("b", 1, model="n")
    flow.edge("a", "b", bytes=1)
    build.job("j0", "f")
    build.job("j1", "f", release_s=1)
    return build.build()
