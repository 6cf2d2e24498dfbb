"""`World`: what all workers of a simulation share."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from placement_lab.caching import EvictionPolicy
    from placement_lab.policy import Profile, Telemetry
    from placement_lab.simulator.calendar import Calendar

__all__ = ["Log", "World"]

Record = tuple[int, int, float, float]


@dataclass
class Log:
    """What happened: (task or model, worker, start, end), in order of starts."""

    runs: list[Record] = field(default_factory=list)
    loads: list[Record] = field(default_factory=list)
    evictions: list[Record] = field(default_factory=list)


@dataclass
class World:
    """Costs, calendar, log and the rules that hold everywhere.

    Attributes
    ----------
    truth, profile : Profile
        The costs that hold, and the estimates that queue waits are made of.
    calendar : Calendar
    log : Log
    policy : EvictionPolicy
    telemetry : Telemetry
    load_ahead : int
        How many queued tasks, beside the claimed one, may have their model loaded.
    blocking, timed_evictions : bool
    on_turn : callable or None
        Told of every task and worker at its turn, before it leaves the queue.
    """

    truth: Profile
    profile: Profile
    calendar: Calendar
    log: Log
    policy: EvictionPolicy
    telemetry: Telemetry
    load_ahead: int
    blocking: bool
    timed_evictions: bool
    on_turn: Callable[[int, int], None] | None = None
